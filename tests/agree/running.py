"""The runtime beside the reference: an instance in any state, one event, and what came of it."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from lawful import Ambiguous, PropertyViolated, Refused, Undefined
from lawful.checks.boxes import PartState
from lawful.runtime import persist
from lawful.runtime.make import bare
from lawful.runtime.timers import SimulatedClock
from lawful.runtime.views import native
from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.resolve import Resolved
from lawful.spec.ticks import clock_of, passed
from lawful.spec.values import FrozenBag, FrozenMap

from .kinds import SIZES

NONE = object()
Outcome = tuple[str, Any, Any]  # What happened, the state after, the output.


class Running:
    """Instances of one machine; without a clock their armed timers are all due.

    With one, states are those of `machine`, whose timers count: an instance has its time at 0,
    its clock began so many ticks before, and its timers are due so many ticks later.
    """

    def __init__(self, cls: Any, resolved: Resolved, machine: ir.Machine) -> None:
        self.cls = cls
        self.resolved = resolved
        self.machine = machine
        self.machines = {m.name: m for m in (machine, *machine.parts)}
        self.classes: dict[str, Any] = {machine.name: cls, **resolved.parts}
        clock = clock_of(machine)
        self.tick = clock.type.tick if clock and isinstance(clock.type, t.Clock) else 0.0
        self.universe = {
            sort: [f"{name}{i + 1}" for i in range(SIZES[name])]
            for name, sort in resolved.world.sorts.items()
        }

    def instance(self, state: tuple[Any, ...]) -> Any:
        """An instance in that state."""
        made = bare(self.cls, self.universe, SimulatedClock())
        persist.fill(made, self._kept(self.machine.name, state), 0.0)
        return made

    def later(self, instance: Any) -> tuple[Any, ...]:
        """The state of an instance after one tick of its clock."""
        instance.__state__.__time__.clock.advance(self.tick)
        return self.state(instance)

    def _kept(self, name: str, state: tuple[Any, ...]) -> persist.Kept:
        m = self.machines[name]
        rows = list(zip(m.variables, state, strict=False))
        held = {v.name: self._inside(value, v.type) for v, value in rows if not v.ghost}
        fixed = zip(m.parameters, state[len(m.variables) :], strict=True)
        parameters = {p.name: native(value, p.type) for p, value in fixed}
        return persist.Kept(self.classes[name], parameters, held)

    def _inside(self, value: Any, kind: t.Type) -> Any:
        match kind:
            case t.Timer(ticks=True):
                return None if value is None else value * self.tick
            case t.Timer():
                return -1.0 if value else None
            case t.Clock():
                return value * self.tick
            case t.Part(machine=name):
                return self._kept(name, value)
            case t.Map(value=t.Timer() | t.Part() as of):
                return {k: self._inside(v, of) for k, v in value.items()}
            case _:
                return native(value, kind)

    def state(self, instance: Any) -> tuple[Any, ...]:
        """The state of an instance; a ghost, which it has not, is None."""
        inside = instance.__state__
        m = self.machines[type(instance).__name__]
        rows = [
            None if v.ghost else self._outside(getattr(inside, v.name, None), v.type, inside)
            for v in m.variables
        ]
        return PartState([*rows, *(getattr(inside, p.name) for p in m.parameters)])

    def _outside(self, value: Any, kind: t.Type, inside: Any) -> Any:
        match kind:
            case t.Timer(ticks=True):
                return None if value is None else self._left(value, inside.__time__.ticks)
            case t.Timer():
                return value is not None
            case t.Clock():
                return value.now
            case t.Part():
                return self.state(value)
            case t.Map(value=t.Timer() | t.Part() as of):
                return FrozenMap({k: self._outside(v, of, inside) for k, v in value.items()})
            case _:
                return frozen(value, kind)

    def _left(self, due: float, ticks: Any) -> int:
        """In how many ticks a deadline is."""
        now: int = ticks.now
        return max(0, passed(due - ticks.begun, self.tick) - now)

    def take(self, instance: Any, name: str, args: tuple[Any, ...]) -> Outcome:
        """What an event does to an instance."""
        try:
            output = instance.lawful.take(name, *args)
        except Refused:
            return "refused", None, None
        except Undefined:
            return "undefined", None, None
        except PropertyViolated as violated:
            return violated.name, None, None
        except Ambiguous:
            return "ambiguous", None, None
        return "done", self.state(instance), output

    def without_ghosts(self, state: Any, name: str = "") -> Any:
        """A state of the reference, as an instance has it."""
        if state is None:
            return None
        m = self.machines[name or self.machine.name]
        rows: list[Any] = []
        for v, value in zip(m.variables, state, strict=False):
            match v.type:
                case t.Part(machine=inner):
                    rows.append(self.without_ghosts(value, inner))
                case t.Map(value=t.Part(machine=inner)):
                    rows.append(FrozenMap(
                        {k: self.without_ghosts(each, inner) for k, each in value.items()}
                    ))
                case _:
                    rows.append(None if v.ghost else value)
        return PartState([*rows, *state[len(m.variables) :]])


def frozen(value: Any, kind: t.Type) -> Any:
    """The immutable value of a field as it is inside an instance."""
    match kind:
        case t.Set(mutable=True):
            return frozenset(value)
        case t.Seq(item=item, mutable=True):
            return tuple(frozen(v, item) for v in value)
        case t.Map(value=of, mutable=True):
            return FrozenMap({k: frozen(v, of) for k, v in value.items()})
        case t.Bag():
            return FrozenBag(dict(value))
        case _:
            return value


def loosened(value: Any, kind: t.Type) -> Any:
    """An argument as a careless caller gives it: in containers that can be changed later."""
    match kind:
        case t.Seq(item=item):
            return tuple(loosened(v, item) for v in value)
        case t.Map(value=of):
            return {k: loosened(v, of) for k, v in value.items()}
        case t.Tuple(items=items):
            return tuple(loosened(v, of) for v, of in zip(value, items, strict=True))
        case t.Union(options=options) if value is not None:
            rest = [o for o in options if not isinstance(o, t.Record | t.Nothing)]
            return loosened(value, rest[0]) if rest else value
        case _:
            return value


def spoil(value: Any) -> None:
    """What that caller does with them afterwards."""
    if value.__class__ is dict:
        for each in value.values():
            spoil(each)
        value.clear()
    elif value.__class__ is tuple:
        for each in value:
            spoil(each)


def forced(view: Any) -> None:
    """What a rude caller tries with what was read: it is refused, or changes a copy."""
    for change in ("clear", "popitem", "reverse"):
        method = getattr(view, change, None)
        if method is not None:
            with contextlib.suppress(TypeError, AttributeError, KeyError):
                method()


def typed(value: Any, kind: t.Type) -> bool:
    """Whether a value, and all in it, is of exactly the class that the type says."""
    match kind:
        case t.Timer(ticks=True):
            return value is None or type(value) is int
        case t.Bool() | t.Timer():
            return value is True or value is False
        case t.Int():
            return type(value) is int
        case t.Nothing():
            return value is None
        case t.Enum(name=name) | t.Sort(name=name):
            return type(value).__name__ == name
        case t.Record(name=name, fields=fields):
            same = type(value).__name__ == name
            return same and all(typed(getattr(value, n), of) for n, of in fields)
        case t.Union(options=options):
            return any(typed(value, option) for option in options)
        case t.Tuple(items=items):
            same = value.__class__ is tuple and len(value) == len(items)
            return same and all(map(typed, value, items))
        case t.Seq(item=item):
            return value.__class__ is tuple and all(typed(v, item) for v in value)
        case t.Set(item=item):
            return value.__class__ is frozenset and all(typed(v, item) for v in value)
        case t.Bag(item=item):
            return all(typed(v, item) and type(n) is int for v, n in _pairs(value))
        case t.Map(key=key, value=of):
            return all(typed(k, key) and typed(v, of) for k, v in _pairs(value))
        case _:
            return True


def _pairs(value: Any) -> list[tuple[Any, Any]]:
    """The rows of a map; one that nothing has where it is none."""
    return list(value.items()) if issubclass(value.__class__, Mapping) else [(NONE, NONE)]


def typed_state(state: tuple[Any, ...], machine: ir.Machine, parts: Mapping[str, ir.Machine],
                ghosts: bool = True) -> bool:
    """The same of a whole state."""
    for v, value in zip(machine.variables, state, strict=False):
        part = t.part_of(v.type)
        if part is not None:
            members = value.values() if isinstance(v.type, t.Map) else (value,)
            inner = parts[part.machine]
            if not all(typed_state(each, inner, parts, ghosts) for each in members):
                return False
        elif (ghosts or not v.ghost) and not typed(value, v.type):
            return False
    return True
