"""Rewriting leaves: values and states in which chosen plain values are replaced by others."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.values.world import FrozenBag, FrozenMap, chosen

from ..reference.states import PartState, State

Change = Callable[[Any, t.Type], Any]


class Leaves:
    """The plain values inside of a machine's values whose types are `wanted`."""

    def __init__(self, machine: ir.Machine, wanted: Callable[[t.Type], bool]) -> None:
        self.machine = machine
        self.wanted = wanted
        self.touches = cache(self._touches)

    def _touches(self, kind: t.Type) -> bool:
        """Whether values of this type may hold a wanted one."""
        return any(isinstance(each, t.Part) or self.wanted(each) for each in t.inside(kind))

    def state(self, state: State, change: Change) -> State:
        """A state of the machine with every wanted value in it changed."""
        return self._state(state, self.machine, change)

    def _state(self, state: State, machine: ir.Machine, change: Change) -> State:
        kinds = [v.type for v in machine.variables] + [p.type for p in machine.parameters]
        return PartState(
            self.value(value, kind, change) for value, kind in zip(state, kinds, strict=True)
        )

    def value(self, value: Any, kind: t.Type, change: Change) -> Any:
        """A value of this type with every wanted value in it changed."""
        if self.wanted(kind):
            return change(value, kind)
        if not self.touches(kind):
            return value
        match kind:
            case t.Record(fields=fields):
                rows = {name: self.value(getattr(value, name), of, change) for name, of in fields}
                return type(value)(**rows)
            case t.Union():
                return self.value(value, chosen(value, kind), change)
            case t.Tuple(items=items):
                pairs = zip(value, items, strict=True)
                return tuple(self.value(each, of, change) for each, of in pairs)
            case t.Seq(item=item):
                return tuple(self.value(each, item, change) for each in value)
            case t.Set(item=item):
                return frozenset(self.value(each, item, change) for each in value)
            case t.Bag(item=item):
                return FrozenBag({self.value(k, item, change): n for k, n in value.items()})
            case t.Map(key=key, value=of):
                rows = value.items()
                return FrozenMap(
                    {self.value(k, key, change): self.value(v, of, change) for k, v in rows}
                )
            case t.Part(machine=name):
                return self._state(value, self.machine.part(name), change)
            case _:
                return value
