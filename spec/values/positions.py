"""The position of a value among all values of its type, in the order of `Values.of`, without making
them all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import types as t
from .bounds import Values
from .world import chosen

Key = Any  # Comparable with those of the same type.


class Positions:
    """Keys of values, each worked out once."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self._known: dict[tuple[t.Type, Any], Key] = {}
        self._places: dict[t.Type, dict[Any, int]] = {}

    def of(self, type: t.Type, value: Any) -> Key:
        """A key by which values of this type are in the order of `Values.of`."""
        if isinstance(type, t.Int):
            return value
        known = self._known.get((type, value))
        if known is None:
            known = self._known[type, value] = self._key(type, value)
        return known

    def _key(self, type: t.Type, value: Any) -> Key:
        match type:
            case t.Record(fields=fields):
                return [self.of(kind, getattr(value, name)) for name, kind in fields]
            case t.Union(options=options):
                option = chosen(value, type)
                return [options.index(option), self.of(option, value)]
            case t.Tuple(items=items):
                return [self.of(kind, each) for kind, each in zip(items, value, strict=True)]
            case t.Seq(item=item):
                return [len(value), *(self.of(item, each) for each in value)]
            case t.Set(item=item):
                return sorted((self.of(item, each) for each in value), reverse=True)
            case t.Map(key=key, value=of):
                return self._of_map(self.values.of(key), of, value)
            case t.Bag(item=item):
                rows = sorted((self.of(item, each), n) for each, n in value.items())
                return [sum(n for _, n in rows), *(key for key, n in rows for _ in range(n))]
            case _:
                return self._place(type, value)

    def _of_map(self, keys: tuple[Any, ...], of: t.Type, value: Mapping[Any, Any]) -> Key:
        return [[self.of(of, value[key])] if key in value else [] for key in keys]

    def _place(self, type: t.Type, value: Any) -> int:
        known = self._places.get(type)
        if known is None:
            known = {each: i for i, each in enumerate(self.values.of(type))}
            self._places[type] = known
        return known[value]
