"""Instances of the runtime that a check controls: put into a state, given an event, read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from lawful.runtime.instance import Machine
from lawful.runtime.instances import snapshots
from lawful.runtime.instances.enforcement import NOTHING
from lawful.runtime.instances.growth import grow
from lawful.runtime.instances.make import bare
from lawful.runtime.kernel.views import native
from lawful.runtime.timers import SimulatedClock
from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.growth import grown_by, universes
from lawful.spec.outcomes import Ambiguous, PropertyViolated, Refused, Undefined
from lawful.spec.resolve import Resolved, resolve
from lawful.spec.syntax.declare import slot
from lawful.spec.values.time import clock_of, passed
from lawful.spec.values.world import FrozenBag, FrozenMap
from lawful.spec.words import OrderedSort

from ..reference.states import PartState

Universe = Mapping[type[Any], tuple[Any, ...]]
Outcome = tuple[str, Any, Any]  # What happened ("done", "refused", ...), state after, output.


class InstanceDriver:
    """Makes and observes instances of one machine.

    Without a clock all armed timers of an instance are due. With a clock, timers in states of
    `machine` count ticks: an instance is made at time 0, its clock began the state's ticks
    earlier, and its timers are due their ticks later.
    """

    def __init__(
        self, cls: type[Machine], resolved: Resolved, machine: ir.Machine, universe: Universe
    ) -> None:
        self.cls = cls
        self.resolved = resolved
        self.universe = universe
        self.machine = machine
        self.machines = {m.name: m for m in (machine, *machine.parts)}
        self.classes: dict[str, Any] = {machine.name: cls, **_parts(resolved)}
        self.growing = {v.name: resolved.world.sorts[s.name] for s, v in universes(machine)}
        self.declared = {f.name for f in resolved.machine.initials}
        self.outputs = {e.name: e.output for e in machine.events}
        self.outputs.update((tr.name, tr.function.output) for tr in machine.transitions)
        clock = clock_of(machine)
        self.tick = clock.type.tick if clock and isinstance(clock.type, t.Clock) else 0.0

    def instance(self, state: tuple[Any, ...]) -> Any:
        """An instance in that state."""
        given = [p.name for p in self.machine.parameters]
        names = {v.name: i for i, v in enumerate(self.machine.variables)}
        there = self._with({name: state[names[name]] for name in self.growing})
        made = bare(self.cls, there, SimulatedClock(), given)
        snapshots.fill(made, self._kept(self.machine.name, state), 0.0)
        return made

    def _with(self, elements: Mapping[str, Any]) -> Universe:
        """The universe with these elements of growing sorts, by the names of their variables."""
        rows = {sort: elements[name] for name, sort in self.growing.items()}
        grown = {
            sort: tuple(each for each in self.universe[sort] if each in there)
            for sort, there in rows.items()
        }
        return {**self.universe, **grown}

    def _has(self, made: Any, there: Mapping[str, Any]) -> bool:
        """Whether a new instance has these elements of growing sorts, of ordered ones the first:
        otherwise no start of the machine has them."""
        for name, elements in there.items():
            sort = self.growing[name]
            mine = made.__environment__.universe[sort.__name__]
            first = self.universe[sort][: len(mine)]
            if {*mine} != {*elements} or (issubclass(sort, OrderedSort) and mine != first):
                return False
        return True

    def later(self, instance: Any) -> tuple[Any, ...]:
        """The state of an instance after one tick of its clock."""
        instance.__environment__.clock.advance(self.tick)
        return self.state(instance)

    def _kept(self, name: str, state: tuple[Any, ...]) -> snapshots.Kept:
        m = self.machines[name]
        rows = list(zip(m.variables, state, strict=False))
        held = {
            v.name: self._inside(value, v.type)
            for v, value in rows
            if not v.ghost and v.name not in self.growing
        }
        fixed = zip(m.parameters, state[len(m.variables) :], strict=True)
        parameters = {p.name: native(value, p.type) for p, value in fixed}
        return snapshots.Kept(self.classes[name], parameters, held)

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
        """The state of an instance. It has no ghosts: they are None."""
        m = self.machines[type(instance).__name__]
        held = {v.name: getattr(instance, slot(v.name), None) for v in m.variables}
        if m is self.machine:
            known = instance.__environment__.universe
            held |= {name: frozenset(known[s.__name__]) for name, s in self.growing.items()}
        rows = [
            None if v.ghost else self._outside(held[v.name], v.type, instance) for v in m.variables
        ]
        return PartState([*rows, *(getattr(instance, slot(p.name)) for p in m.parameters)])

    def _outside(self, value: Any, kind: t.Type, inside: Any) -> Any:
        match kind:
            case t.Timer(ticks=True):
                return None if value is None else self._left(value, inside.__environment__.ticks)
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
        """The number of ticks until a deadline."""
        now: int = ticks.now
        return max(0, passed(due - ticks.begun, self.tick) - now)

    def start(
        self, parameters: Mapping[str, Any], function: ir.Function | None, args: tuple[Any, ...]
    ) -> Outcome:
        """The outcome of a start; see `begin`."""
        return self.begin(parameters, function, args)[1]

    def begin(
        self, parameters: Mapping[str, Any], function: ir.Function | None, args: tuple[Any, ...]
    ) -> tuple[Any, Outcome]:
        """A new instance with these parameters, on which `function`, an `@initial`, was called, and
        the outcome. The instance is None where that raises. The first arguments are the elements
        of growing sorts."""
        there, own = dict(zip(self.growing, args, strict=False)), args[len(self.growing) :]
        universe = self._with(there) if self.growing else self.universe
        try:
            made = self.cls(universe=universe, clock=SimulatedClock(), **parameters)
            if not self._has(made, there):
                return None, ("refused", None, None)
            if function is not None and function.name in self.declared:
                getattr(made, function.name)(*own)
        except Exception as error:
            refused = self.growing and type(error) is ValueError
            return None, ("refused" if refused else _kind(error), None, None)
        return made, ("done", self.state(made), None)

    def take(self, instance: Any, name: str, args: tuple[Any, ...]) -> Outcome:
        """The outcome of an event; of an exception that no step should raise, its text."""
        instance.__environment__.last_transition = name
        sort = grown_by(self.machine, name)
        try:
            if sort is not None:
                new: Any = args[0]
                grow(instance, self.resolved.world.sorts[sort.name], new, NOTHING)
                return "done", self.state(instance), None
            output = instance.lawful.take(name, *args)
            output = _given_out(output, self.outputs[name])
        except Exception as error:
            return _kind(error), self.state(instance), None
        return "ignored" if _untaken(instance) else "done", self.state(instance), output

    def without_ghosts(self, state: Any, name: str = "") -> Any:
        """A state of the reference engine with None for ghosts, as `state` gives it."""
        if state is None:
            return None
        m = self.machines[name or self.machine.name]
        rows: list[Any] = []
        for v, value in zip(m.variables, state, strict=False):
            match v.type:
                case t.Part(machine=inner):
                    rows.append(self.without_ghosts(value, inner))
                case t.Map(value=t.Part(machine=inner)):
                    rows.append(
                        FrozenMap(
                            {k: self.without_ghosts(each, inner) for k, each in value.items()}
                        )
                    )
                case _:
                    rows.append(None if v.ghost else value)
        return PartState([*rows, *state[len(m.variables) :]])


def frozen(value: Any, kind: t.Type) -> Any:
    """The immutable form of a field's value in an instance."""
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


# The classes of the containers that a caller gets as outputs.
CLASSES: dict[type[t.Type], type] = {t.Set: set, t.Seq: list, t.Map: dict, t.Bag: Counter}


def _given_out(value: Any, kind: t.Type) -> Any:
    """The immutable form of an output; one that has another class than its type says stays."""
    if t.immutable(kind):
        return value
    right = value.__class__ is CLASSES.get(type(kind))
    return frozen(value, kind) if right else ("of another class", value)


def _kind(error: Exception) -> str:
    match error:
        case Refused():
            return "refused"
        case Undefined():
            return "undefined"
        case PropertyViolated(name=name):
            return name
        case Ambiguous():
            return "ambiguous"
        case _:
            return repr(error)


def _untaken(instance: Any) -> bool:
    """Whether the last event was ignored."""
    return instance.__environment__.last_transition is None


def _parts(resolved: Resolved) -> dict[str, Any]:
    """The classes of the parts by name, parts of parts included.

    `resolved.parts` may have more: a method that no step calls may name any machine, its own, too.
    """
    found: dict[str, Any] = {}
    names = {part.name for part in resolved.machine.parts}
    for name, cls in resolved.parts.items():
        if name in names:
            found |= {name: cls, **_parts(resolve(cls))}
    return found
