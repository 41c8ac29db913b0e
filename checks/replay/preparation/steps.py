"""The records that are made of one record of a foreign trace: the steps of a preparation."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lawful.spec.codec.as_json import is_list
from lawful.spec.ir import Json

from .masks import mask
from .path_templates import (
    Filled,
    MissingPath,
    Record,
    as_text,
    computing,
    condition,
    put,
    value_at,
)
from .preparation_table import FIXED, Preparation
from .record_paths import names_in

WHOLE = re.compile(r"[+-]?[0-9]{1,300}")
DECIMAL = re.compile(r"([+-]?)([0-9]{1,300})(?:\.([0-9]{1,300}))?")
# With a decimal comma; points, spaces or apostrophes stand between groups of three digits.
WITH_COMMA = re.compile(
    r"([+-]?)([0-9]{1,3}(?:[. '\u2019\u00a0\u202f][0-9]{3})+|[0-9]{1,300})(?:,([0-9]{1,300}))?"
)
TRUE_OR_FALSE = {"true": True, "1": True, "false": False, "0": False}
ANY_OTHER = "*"


class Preparer:
    """Does the steps of a preparation; its templates, conditions and patterns are compiled once."""

    def __init__(self, how: Preparation) -> None:
        self.how = how
        self.changes = {path: _changing(how, path) for path in (*how.casts, *how.values)}
        self.changed = _changed_later(how)
        self.later = frozenset(self.changed)
        self.patterns = [(each, re.compile(each.pattern).search) for each in how.patterns]
        every = _fields(how.fields)
        spread = frozenset(names_in(path)[0] for path in how.spreads)
        self.fields = [(name, make) for name, make in every if name not in spread]
        self.every = every
        self.spread_names = spread & how.fields.keys()
        self.when = condition(how.when)
        self.forms = [(condition(form.when), _fields(form.fields)) for form in how.rows]

    def records(self, record: Record) -> Iterator[tuple[int, Record]]:
        """The records that become rows: each with its number among them, from 0. It is that of its
        element where a list is spread, times the number of forms, plus that of its form."""
        how = self.how
        if self.patterns:
            found = self._matched(record)
            if found is None and how.pass_unmatched:
                return
            record = record | (found or {})
        for element, each in enumerate(self._spread(record)):
            first = element * max(1, len(self.forms))
            # What a record itself has is changed before fields are computed; else what is computed.
            later = self.later - each.keys() if self.later else self.later
            for path, value in how.defaults.items():
                _default(each, path, value)
            for path, change in self.changes.items():
                _change_at(each, path, change)
            self._compute(each, self.fields, later)
            if not self.when(each):
                continue
            if not self.forms:
                mask(how, each)
                yield first, each
            for number, (when, fields) in enumerate(self.forms):
                if when(each):
                    made = each.copy()
                    self._compute(made, fields, later)
                    mask(how, made)
                    yield first + number, made

    def _compute(self, record: Record, fields: Fields, later: frozenset[str]) -> None:
        """Add computed fields, and change those of `later`."""
        for name in _compute(record, fields):
            for path in self.changed.get(name, ()) if name in later else ():
                _change_at(record, path, self.changes[path])

    def _matched(self, record: Mapping[str, Any]) -> Record | None:
        """The fields that the first pattern adds which is found; None where none is."""
        for each, search in self.patterns:
            try:
                text = value_at(each.of, record)
            except MissingPath:
                continue
            match = search(text) if isinstance(text, str) else None
            if match is not None:
                groups = match.groupdict().items()
                return {k: value for k, value in groups if value is not None} | {
                    "event": each.event
                }
        return None

    def _spread(self, record: Record) -> Iterator[Record]:
        """A copy of the record for each element of the lists that are spread, which may be
        computed."""
        if not self.how.spreads:
            return iter((record.copy(),))
        return self._elements(record, self.how.spreads, self.spread_names)

    def _elements(
        self, record: Record, paths: tuple[str, ...], computed: frozenset[str]
    ) -> Iterator[Record]:
        """A copy of the record for each element of the list at the first path, and in it for each
        at the others; a record without such a list stays as it is. `computed` fields are computed
        when their list is spread, so they may read elements of an earlier list."""
        if not paths:
            yield record.copy()
            return
        name = names_in(paths[0])[0]
        if name in computed:
            whole = record.copy()
            self._compute(whole, self.every, frozenset())
            record = record | {name: whole[name]} if name in whole else record
        try:
            found = value_at(paths[0], record)
        except MissingPath:
            found = None
        for value in found if is_list(found) else [found]:
            made = record.copy()
            if found is not None:
                put(paths[0], made, value)
            yield from self._elements(made, paths[1:], computed - {name})


def prepared(how: Preparation, record: Record) -> Iterator[tuple[int, Record]]:
    """The records that become rows, of one record."""
    return Preparer(how).records(record)


Fields = list[tuple[str, Filled]]


def _fields(templates: Mapping[str, Json]) -> Fields:
    return [(name, computing(template)) for name, template in templates.items()]


def _default(record: Record, path: str, value: Json) -> None:
    try:
        value_at(path, record)
    except MissingPath:
        put(path, record, value)


def _changed_later(how: Preparation) -> dict[str, list[str]]:
    """The paths in computed fields that are cast, or whose values are replaced, by field."""
    computed = {*how.fields, *(name for form in how.rows for name in form.fields)}
    out: dict[str, list[str]] = {}
    for path in dict.fromkeys((*how.casts, *how.values)):
        name = names_in(path)[0]
        if name in computed:
            out.setdefault(name, []).append(path)
    return out


Change = Callable[[Any], Any]


def _changing(how: Preparation, path: str) -> Change:
    """What casts the value at a path, and puts another one in its place."""
    kind, others = how.casts.get(path), how.values.get(path)
    casts = _same if kind is None else casting(kind)
    if others is None:
        return casts

    def change(value: Any) -> Any:
        made = casts(value)
        return others.get(as_text(made), others.get(ANY_OTHER, made))

    return change


def _same(value: Any) -> Any:
    return value


def _change_at(record: Record, path: str, change: Change) -> None:
    try:
        value = value_at(path, record)
    except MissingPath:
        return
    put(path, record, change(value))


def _compute(record: Record, fields: Fields) -> Iterator[str]:
    """Add computed fields, and give their names; one that reads a path without a value is not
    added."""
    for name, make in fields:
        try:
            record[name] = make(record)
        except MissingPath:
            continue
        yield name


def cast(value: Any, kind: str) -> Any:
    """The value as one of this kind; where it is none, as it is."""
    return casting(kind)(value)


def casting(kind: str) -> Change:
    """The function that casts to one of this kind."""
    fixed = FIXED.fullmatch(kind)
    if fixed is not None:
        digits, form = int(fixed[1]), WITH_COMMA if fixed[2] else DECIMAL
        return lambda value: _in_units(value, digits, form)
    return OF_KIND[kind]


def _whole(value: Any) -> Any:
    text = value.strip() if isinstance(value, str) else ""
    return int(text) if WHOLE.fullmatch(text) else value


def _truth(value: Any) -> Any:
    return TRUE_OR_FALSE.get(value.strip().lower(), value) if isinstance(value, str) else value


def _number(value: Any) -> Any:
    try:
        number = float(value.strip()) if isinstance(value, str) else math.inf
    except ValueError:
        return value
    return number if math.isfinite(number) else value


OF_KIND: dict[str, Change] = {"text": as_text, "int": _whole, "bool": _truth, "float": _number}


def _in_units(value: Any, digits: int, form: re.Pattern[str]) -> Any:
    """A decimal number as the number of units of which one has so many decimal digits: 12.5 is
    1,250 hundredths. As it is where it is no decimal number, or has more digits."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    text = value.strip() if isinstance(value, str) else repr(value) if number else ""
    match = (form if isinstance(value, str) else DECIMAL).fullmatch(text)
    if match is None:
        return value
    sign, whole = match[1], "".join(filter(str.isdigit, match[2]))
    rest = (match[3] or "").rstrip("0")
    return value if len(rest) > digits else int(sign + whole + rest.ljust(digits, "0"))
