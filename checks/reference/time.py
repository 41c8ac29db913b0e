"""Time in a state: clocks and timers, what a tick changes, and the urgent timers that stop it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.walk import everything
from lawful.spec.values.time import counted_by, until_due
from lawful.spec.values.world import FrozenMap

from .states import State, WorkingCopy, freeze, thaw

Machines = Mapping[str, ir.Machine]
TimerAt = tuple[str, t.Timer, Any]


def timers(machines: Machines, name: str, state: WorkingCopy | State) -> Iterator[TimerAt]:
    """The timers of a state, parts included: place, type and value."""
    for v, value in zip(machines[name].variables, state, strict=False):
        match v.type:
            case t.Timer() as timer:
                yield v.name, timer, value
            case t.Map(value=t.Timer() as timer):
                yield from ((f"{v.name}[{k}]", timer, each) for k, each in value.items())
            case t.Part(machine=part):
                yield from _inside(v.name, timers(machines, part, value))
            case t.Map(value=t.Part(machine=part)):
                for k, each in value.items():
                    yield from _inside(f"{v.name}[{k}]", timers(machines, part, each))
            case _:
                pass


def _inside(place: str, found: Iterator[TimerAt]) -> Iterator[TimerAt]:
    return ((f"{place}.{at}", timer, value) for at, timer, value in found)


def urgent_and_due(machines: Machines, name: str, working: WorkingCopy) -> Iterator[str]:
    """The places of the urgent timers that are due, where timers count."""
    found = timers(machines, name, working)
    return (place for place, timer, left in found if timer.urgent and left == 0)


def advance(machines: Machines, name: str, working: WorkingCopy) -> None:
    """One tick passes: clocks go on, and every armed timer is due one tick sooner."""
    _change(machines, name, working, (lambda now: now + 1, _sooner))


def _sooner(left: int | None) -> int | None:
    return None if left is None else max(0, left - 1)


def at_tick(machines: Machines, name: str, state: State, now: int) -> State:
    """The state with its clocks advanced to `now` and its timers unchanged."""
    working = thaw(state)
    _change(machines, name, working, (lambda _: now, lambda timer: timer))
    return freeze(working)


Changes = tuple[Callable[[int], int], Callable[[Any], Any]]


def _change(machines: Machines, name: str, working: WorkingCopy, changes: Changes) -> None:
    """Change all clocks and timers, those of parts included."""
    of_clock, of_timer = changes
    for i, v in enumerate(machines[name].variables):
        match v.type:
            case t.Clock():
                working[i] = of_clock(working[i])
            case t.Timer():
                working[i] = of_timer(working[i])
            case t.Map(value=t.Timer()):
                working[i] = FrozenMap({k: of_timer(each) for k, each in working[i].items()})
            case t.Part(machine=part):
                _change(machines, part, working[i], changes)
            case t.Map(value=t.Part(machine=part)):
                for each in working[i].values():
                    _change(machines, part, each, changes)
            case _:
                pass


# Transitions of timers.


def waiting(machine: ir.Machine) -> frozenset[str]:
    """The machine's transitions that wait for a timer: their own, or one of a part they step."""
    bodies: dict[str, list[ir.Function]] = {}
    timed: set[str] = set()
    for m in (machine, *machine.parts):
        for f in m.functions:
            bodies.setdefault(f.name, []).append(f)
        for row in m.bases if m is machine else (*m.bases, *m.transitions):
            for name in {row.name, row.event}:
                bodies.setdefault(name, []).append(row.function)
                timed.update({name} if row.timer is not None else ())

    def waits(function: ir.Function, seen: set[str]) -> bool:
        names = set(_called(function)) - seen
        inside = [f for name in names for f in bodies.get(name, ())]
        return bool(names & timed) or any(waits(f, seen | names) for f in inside)

    rows = machine.transitions
    return frozenset(r.name for r in rows if r.timer is not None or waits(r.function, set()))


def _called(function: ir.Function) -> Iterator[str]:
    """The names of the transitions and helpers that a body calls or tests."""
    for node in everything(function.body):
        match node:
            case ir.Step(name=name) | ir.Can(name=name) | ir.Base(name=name):
                yield name
            case ir.Call(function=name):
                yield name
            case _:
                pass


# Single timers.


def any_time(_timer: Any) -> str:
    """An armed timer is due."""
    return ""


def ticks_left(left: int) -> str:
    """The time until the timer is due, in words; empty where it is due."""
    return f"{left} tick{'s are' if left > 1 else ' is'}" if left else ""


def armed_by(machine: ir.Machine) -> Callable[[float], Any]:
    """The value of a timer that is started with this many seconds."""
    clock = counted_by(machine)
    if clock is None:
        return lambda _: True
    assert isinstance(clock.type, t.Clock)
    tick = clock.type.tick
    return lambda seconds: until_due(seconds, tick)
