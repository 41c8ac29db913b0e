"""Elements of sorts in a value that are none of those which an instance was told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from lawful.runtime.elements import Members
from lawful.spec import types as t
from lawful.spec.values.world import chosen


def stranger(value: Any, kind: t.Type, told: Members) -> str:
    """What is wrong with a value that has an element which was not told; nothing where none is."""
    found = next(_strangers(value, kind, told), None)
    return "" if found is None else f"{found} is no element that its universe= told"


def _strangers(value: Any, kind: t.Type, told: Members) -> Iterator[Any]:
    match kind:
        case t.Sort(name=name):
            if str(value) not in told[name]:
                yield value
        case t.Record(fields=fields):
            for field, of in fields:
                yield from _strangers(getattr(value, field), of, told)
        case t.Union():
            yield from _strangers(value, chosen(value, kind), told)
        case t.Tuple(items=items):
            for each, of in zip(value, items, strict=True):
                yield from _strangers(each, of, told)
        case t.Seq(item=item) | t.Set(item=item) | t.Bag(item=item):
            yield from _in_each(value, item, told)
        case t.Map(key=key, value=of):
            yield from _in_each(value, key, told)
            yield from _in_each(value.values(), of, told)
        case _:
            return


def _in_each(values: Iterable[Any], kind: t.Type, told: Members) -> Iterator[Any]:
    if any(isinstance(each, t.Sort) for each in t.inside(kind)):
        for each in values:
            yield from _strangers(each, kind, told)
