"""The opaque values inside a value: other values in their places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from .. import types as t
from .text import shown
from .world import FrozenBag, FrozenMap

Change = Callable[[Any, str], Any]


def replaced(value: Any, kind: t.Type, change: Change) -> Any:
    """The value with `change` made to each opaque value in it, which gets the value and the name of
    its type. Containers become immutable. ValueError where two items or keys become one."""
    if not t.contains(kind, t.Opaque):
        return value
    match kind:
        case t.Opaque(name=name):
            return change(value, name)
        case t.Record(fields=fields):
            return type(value)(*(replaced(getattr(value, f), of, change) for f, of in fields))
        case t.Union(options=options):
            return _in_union(value, options, change)
        case t.Tuple(items=items):
            return tuple(replaced(v, of, change) for v, of in zip(value, items, strict=True))
        case t.Seq(item=item):
            return type(value)(replaced(v, item, change) for v in value)
        case t.Set(item=item):
            return frozenset(_each(value, kind, item, change))
        case t.Bag(item=item):
            keys = _each(value, kind, item, change)
            return FrozenBag(dict(zip(keys, value.values(), strict=True)))
        case t.Map(key=key, value=of):
            keys = _each(value, kind, key, change)
            values = (replaced(v, of, change) for v in value.values())
            return FrozenMap(dict(zip(keys, values, strict=True)))
        case _:
            return value


def _each(held: Iterable[Any], kind: t.Type, item: t.Type, change: Change) -> list[Any]:
    """The same of each element or key; ValueError where texts that differ are of one value."""
    out = [replaced(each, item, change) for each in held]
    if len(set(out)) != len(out):
        ((twice, _),) = Counter(out).most_common(1)
        raise ValueError(f"expected a {kind}, found {shown(twice)} twice")
    return out


def _in_union(value: Any, options: tuple[t.Type, ...], change: Change) -> Any:
    if value is None:
        return None
    for option in options:
        if isinstance(option, t.Record) and option.name == type(value).__name__:
            return replaced(value, option, change)
    rest = [o for o in options if not isinstance(o, t.Record | t.Nothing)]
    return replaced(value, rest[0], change) if rest else value
