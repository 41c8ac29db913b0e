"""The records that are made of one record of a foreign trace: the steps of a preparation."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from lawful.spec.codec.as_json import is_list
from lawful.spec.ir import Json

from .masks import mask
from .path_templates import MissingPath, Record, as_text, computed, holds, put, value_at
from .preparation_table import LinePattern, Preparation

WHOLE = re.compile(r"[+-]?[0-9]{1,300}")
TRUE_OR_FALSE = {"true": True, "1": True, "false": False, "0": False}
ANY_OTHER = "*"


def prepared(how: Preparation, record: Record) -> Iterator[tuple[int, Record]]:
    """The records that become rows: each with the number of its form among several, from 0."""
    if how.patterns:
        found = _matched(how.patterns, record)
        if found is None and how.pass_unmatched:
            return
        record = record | (found or {})
    fields = {name: made for name, made in how.fields.items() if f"$.{name}" != how.spread}
    for each in _spread(how, record):
        for path, value in how.defaults.items():
            _default(each, path, value)
        _change(each, how)
        _compute(each, fields)
        if not holds(how.when, each):
            continue
        if not how.rows:
            mask(how, each)
            yield 0, each
        for number, form in enumerate(how.rows):
            if holds(form.when, each):
                made = copy.deepcopy(each)
                _compute(made, form.fields)
                mask(how, made)
                yield number, made


def _matched(patterns: tuple[LinePattern, ...], record: Mapping[str, Any]) -> Record | None:
    """The fields that the first pattern adds which is found; None where none is."""
    for each in patterns:
        try:
            text = value_at(each.of, record)
        except MissingPath:
            continue
        match = re.search(each.pattern, text) if isinstance(text, str) else None
        if match is not None:
            groups = {name: value for name, value in match.groupdict().items() if value is not None}
            return groups | {"event": each.event}
    return None


def _spread(how: Preparation, record: Record) -> Iterator[Record]:
    """A copy of the record for each element of the list at `spread`, which may be computed."""
    if not how.spread:
        yield copy.deepcopy(record)
        return
    whole = copy.deepcopy(record)
    _compute(whole, how.fields)
    try:
        found = value_at(how.spread, whole)
    except MissingPath:
        yield whole
        return
    for value in found if is_list(found) else [found]:
        made = copy.deepcopy(record)
        put(how.spread, made, value)
        yield made


def _default(record: Record, path: str, value: Json) -> None:
    try:
        value_at(path, record)
    except MissingPath:
        put(path, record, copy.deepcopy(value))


def _change(record: Record, how: Preparation) -> None:
    """Cast values, and put others in their places."""
    for path, kind in how.casts.items():
        try:
            put(path, record, cast(value_at(path, record), kind))
        except MissingPath:
            continue
    for path, others in how.values.items():
        try:
            value = value_at(path, record)
        except MissingPath:
            continue
        found = others.get(as_text(value), others.get(ANY_OTHER, value))
        put(path, record, copy.deepcopy(found))


def _compute(record: Record, fields: Mapping[str, Json]) -> None:
    """Add computed fields; one that reads a path without a value is not added."""
    for name, template in fields.items():
        try:
            record[name] = computed(template, record)
        except MissingPath:
            continue


def cast(value: Any, kind: str) -> Any:
    """The value as one of this kind; where it is none, as it is."""
    if kind == "text":
        return as_text(value)
    if not isinstance(value, str):
        return value
    text = value.strip()
    if kind == "int":
        return int(text) if WHOLE.fullmatch(text) else value
    if kind == "bool":
        return TRUE_OR_FALSE.get(text.lower(), value)
    try:
        number = float(text)
    except ValueError:
        return value
    return number if math.isfinite(number) else value
