"""Clocks and timers in declarations: what `Clock(...)` and `Timer(...)` say, and which may be."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, TypeGuard

from lawful.spec import ir, words
from lawful.spec import types as t
from lawful.spec.errors import Place, Problems
from lawful.spec.syntax import tree
from lawful.spec.syntax.declare import Declared, Names, declared
from lawful.spec.syntax.members import Members
from lawful.spec.values.time import TICK, clock_of

from .context import Body
from .methods import refused

EXAMPLE = "clock: Clock = Clock(tick=0.5)"


def made(b: Body, node: tree.Apply, cls: type[words.Timer | words.Clock]) -> ir.Expr:
    """The initial value that `Timer(...)` or `Clock(...)` is."""
    if issubclass(cls, words.Timer):
        urgent = _urgent(node)
        if urgent is None:
            return refused(b, node, "Timer() or Timer(urgent=True)")
        return ir.Const(node.place, t.Timer(urgent), False)
    tick = _tick(node, b.names)
    if tick is None:
        return refused(b, node, "Clock(tick=0.5), a number of seconds above 0")
    return ir.Const(node.place, t.Clock(tick), 0)


def settled(kind: t.Type, default: tree.Expression | None, names: Names) -> t.Type:
    """The type of a field, of which its default tells how urgent or how long a tick is."""
    match kind:
        case t.Clock() if isinstance(default, tree.Apply):
            return t.Clock(_tick(default, names) or kind.tick)
        case t.Timer():
            return t.Timer(any(_urgent(node) for node in _calls(default)))
        case t.Map(value=t.Timer()):
            return dataclasses.replace(kind, value=settled(kind.value, default, names))
        case _:
            return kind


def _calls(node: object) -> Iterator[tree.Apply]:
    """The calls in an expression, outer ones first."""
    if isinstance(node, tree.Apply):
        yield node
    if isinstance(node, tree.Tree):
        for f in dataclasses.fields(node):
            yield from _calls(getattr(node, f.name))
    elif _is_tuple(node):
        for each in node:
            yield from _calls(each)


def _is_tuple(value: object) -> TypeGuard[tuple[object, ...]]:
    return isinstance(value, tuple)


def _urgent(node: tree.Apply) -> bool | None:
    """What a call says of `urgent`; None where it says something else."""
    match node.args, node.keywords:
        case (), ():
            return False
        case (), (("urgent", tree.Literal(value=bool() as urgent)),):
            return urgent
        case _:
            return None


def _tick(node: tree.Apply, names: Names) -> float | None:
    """The seconds of a tick; None where the call says something else."""
    match node.args, node.keywords:
        case (), ():
            return words.Clock().tick
        case ((given,), ()) | ((), (("tick", given),)):
            value = _constant(given, names)
        case _:
            return None
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if number and 0 < value < float("inf") else None


def _constant(node: tree.Expression, names: Names) -> Any:
    match node:
        case tree.Literal(value=value):
            return value
        case tree.Name(name=name) if name in names:
            return names[name]
        case _:
            return None


def clocks_fit(machine: ir.Machine, members: Members, problems: Problems) -> None:
    """One clock for the whole; urgency and the step `tick` are its own."""
    statement = declared(members.chain[-1])
    found = [v for v in machine.variables if isinstance(v.type, t.Clock)]
    clocks = [v for v in found if not v.ghost]
    for again in clocks[1:]:
        problems.add(
            "L221",
            again.place,
            f"{again.name}, a second clock beside {clocks[0].name}",
            "one clock",
            f"use self.{clocks[0].name}.now, with differences of its ticks",
        )
    for ghost in (v for v in found if v.ghost):
        problems.add(
            "L221",
            ghost.place,
            f"{ghost.name}, a ghost",
            "a clock that runs",
            f"declare {EXAMPLE}, without Ghost",
        )
    _parts_share(machine, statement, problems)
    if not clocks:
        _nothing_is_urgent(machine, problems)
    else:
        _tick_is_free(machine, clocks[0], problems)


def _parts_share(machine: ir.Machine, statement: Declared, problems: Problems) -> None:
    """A part that has a clock has that of its whole."""
    own = clock_of(machine)
    for v in machine.variables:
        kind = v.type.value if isinstance(v.type, t.Map) else v.type
        part = next((p for p in machine.parts if t.Part(p.name) == kind), None)
        clock = None if part is None else clock_of(part)
        if (
            clock is None
            or not isinstance(clock.type, t.Clock)
            or (own is not None and own.type == clock.type)
        ):
            continue
        wanted = f"{clock.name}: Clock = Clock(tick={clock.type.tick})"
        what = "no clock" if own is None else f"{own.name} of other ticks"
        problems.add(
            "L221",
            v.place,
            f"{v.name}, {kind} with {wanted}, in a machine with {what}",
            "the same clock in the whole: its parts share it",
            f"write {wanted} here, too",
        )


def _nothing_is_urgent(machine: ir.Machine, problems: Problems) -> None:
    for v in machine.variables:
        kind = v.type.value if isinstance(v.type, t.Map) else v.type
        if isinstance(kind, t.Timer) and kind.urgent:
            problems.add(
                "L222",
                v.place,
                f"{v.name}, an urgent timer in a machine without a clock",
                "a clock, whose time stands still while it is due",
                f"declare {EXAMPLE}, or leave urgent=True out",
            )


def _tick_is_free(machine: ir.Machine, clock: ir.Variable, problems: Problems) -> None:
    def note(place: Place, what: str) -> None:
        problems.add(
            "L223",
            place,
            f"{what} named {TICK}, beside {clock.name}: Clock",
            f"{TICK} to be the step in which the clock goes on",
            "rename it, for example on_tick",
        )

    for row in machine.transitions:
        if TICK in (row.name, row.event):
            note(row.place, "a transition" if row.name == TICK else "the event of a transition")
    for event in machine.events:
        if event.name == TICK and not machine.serving(TICK):
            note(event.place, "an event")
