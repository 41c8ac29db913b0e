"""Legality of clocks: one clock for a machine and its parts, a free name for the step `tick`."""

from __future__ import annotations

from .. import ir
from .. import types as t
from ..errors import Place, Problems
from ..syntax.members import Members
from ..values.time import TICK, clock_of

EXAMPLE = "clock: Clock = Clock(tick=0.5)"


def clocks_fit(machine: ir.Machine, members: Members, problems: Problems) -> None:
    """A machine and its parts share one clock; urgent timers and the name `tick` belong to it."""
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
    _parts_share(machine, problems)
    if not clocks:
        _nothing_is_urgent(machine, problems)
    else:
        _tick_is_free(machine, clocks[0], problems)


def _parts_share(machine: ir.Machine, problems: Problems) -> None:
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
                "a clock: no tick happens while the timer is due",
                f"declare {EXAMPLE}, or leave urgent=True out",
            )


def _tick_is_free(machine: ir.Machine, clock: ir.Variable, problems: Problems) -> None:
    def note(place: Place, what: str) -> None:
        problems.add(
            "L223",
            place,
            f"{what} named {TICK}, beside {clock.name}: Clock",
            f"the name {TICK} for the step of the clock alone",
            "rename it, for example on_tick",
        )

    for row in machine.transitions:
        if TICK in (row.name, row.event):
            note(row.place, "a transition" if row.name == TICK else "the event of a transition")
    for event in machine.events:
        if event.name == TICK and not machine.serving(TICK):
            note(event.place, "an event")
