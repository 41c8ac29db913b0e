"""Search of a value for elements of sorts that are not in the universe of an instance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from lawful.runtime.elements import Members
from lawful.spec import types as t
from lawful.spec.values.world import chosen


def unknown_element(value: Any, kind: t.Type, known: Members) -> str:
    """The first unknown element in the value, as a sentence; empty where all are known."""
    found = next(_unknown_elements(value, kind, known), None)
    return "" if found is None else f"{found} is not in the universe= of the instance"


def _unknown_elements(value: Any, kind: t.Type, known: Members) -> Iterator[Any]:
    match kind:
        case t.Sort(name=name):
            if str(value) not in known[name]:
                yield value
        case t.Record(fields=fields):
            for field, of in fields:
                yield from _unknown_elements(getattr(value, field), of, known)
        case t.Union():
            yield from _unknown_elements(value, chosen(value, kind), known)
        case t.Tuple(items=items):
            for each, of in zip(value, items, strict=True):
                yield from _unknown_elements(each, of, known)
        case t.Seq(item=item) | t.Set(item=item) | t.Bag(item=item):
            yield from _in_each(value, item, known)
        case t.Map(key=key, value=of):
            yield from _in_each(value, key, known)
            yield from _in_each(value.values(), of, known)
        case _:
            return


def _in_each(values: Iterable[Any], kind: t.Type, known: Members) -> Iterator[Any]:
    if any(isinstance(each, t.Sort) for each in t.inside(kind)):
        for each in values:
            yield from _unknown_elements(each, kind, known)
