"""JSON arguments as their schema describes them, before they are decoded.

Rows and snapshots are what lawful wrote; arguments come from anybody. So nothing in them is passed
over: no further member of an object, no element or key that comes twice. A whole number may be
written as 1.0, since JSON has one kind of numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from lawful.spec import types as t
from lawful.spec.values.json_schema import DIGITS
from lawful.spec.values.other_forms import another_form, text_of
from lawful.spec.values.world import EXACT


def as_described(data: Any, kind: t.Type) -> Any:
    """The data with integers for whole numbers; ValueError for what no schema describes, or what
    has something twice. What is wrong otherwise is for `decode` to say."""
    match kind:
        case t.Int():
            return _integer(data, kind)
        case t.Union(options=options):
            return as_described(data, _chosen(data, options))
        case t.Record(fields=fields) if data.__class__ is dict:
            kinds = dict(fields)
            return {k: as_described(v, kinds[k]) if k in kinds else v for k, v in data.items()}
        case t.Opaque() if data.__class__ is dict and set(data) != {"$opaque", "id"}:
            raise another_form(data, kind)
        case t.Map(key=key, value=value):
            return _map(data, kind, key, value)
        case t.Bag(item=item):
            return _map(data, kind, item, t.INT)
        case t.Tuple() | t.Seq() | t.Set():
            return _row(data, kind)
        case _:
            return data


def _integer(data: Any, kind: t.Type) -> Any:
    if data.__class__ is float and data.is_integer() and abs(data) <= EXACT:
        return int(data)
    if data.__class__ is dict:
        digits: Any = data.get("$int")
        known = len(data) == 1 and digits.__class__ is str
        if not known or re.fullmatch(DIGITS[1:-1], digits) is None:
            raise another_form(data, kind)
    return data


def _chosen(data: Any, options: Iterable[t.Type]) -> t.Type:
    """The alternative that the data are of, as far as it matters here."""
    named = data.get("$") if data.__class__ is dict else None
    rest: t.Type = t.NOTHING
    for option in options:
        if isinstance(option, t.Record):
            if option.name == named:
                return option
        elif not isinstance(option, t.Nothing):
            rest = option
    return t.NOTHING if data is None or named is not None else rest


def _row(data: Any, kind: t.Tuple | t.Seq | t.Set) -> Any:
    """A tuple, a list, or a set, in which nothing comes twice."""
    tag = "$set" if isinstance(kind, t.Set) else "$tuple"
    plain = isinstance(kind, t.Seq) and kind.mutable
    held: Any = data if plain else data.get(tag) if data.__class__ is dict else None
    if held.__class__ is not list:
        return data
    if not plain and len(data) != 1:
        raise another_form(data, kind)
    if isinstance(kind, t.Tuple):
        kinds = kind.items if len(kind.items) == len(held) else ()
        out: Any = [as_described(each, of) for each, of in zip(held, kinds, strict=False)] or held
    else:
        out = [as_described(each, kind.item) for each in held]
    if isinstance(kind, t.Set):
        _once(out, "element", kind)
    return out if plain else {tag: out}


def _map(data: Any, kind: t.Type, key: t.Type, value: t.Type) -> Any:
    if data.__class__ is not dict:
        return data
    if "$map" not in data:
        return {k: as_described(v, value) for k, v in data.items()}
    rows = data["$map"]
    if rows.__class__ is not list or not all(r.__class__ is list and len(r) == 2 for r in rows):
        return data
    if len(data) != 1:
        raise another_form(data, kind)
    out = [[as_described(k, key), as_described(v, value)] for k, v in rows]
    _once([k for k, _ in out], "key", kind)
    return {"$map": out}


def _once(held: list[Any], what: str, kind: t.Type) -> None:
    """ValueError where something comes twice."""
    seen: set[str] = set()
    for each in held:
        try:
            text = json.dumps(each, sort_keys=True)
        except (RecursionError, TypeError):  # It is no value of any type.
            return
        if text in seen:
            raise ValueError(f"expected a {kind}, found the {what} {text_of(each)} twice")
        seen.add(text)
