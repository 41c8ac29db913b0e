"""Discrete time: seconds in ticks, exactly; and the step `tick` of a machine with a clock.

A number of seconds counts as the decimal number that it is written as: 0.3 seconds are exactly
3 ticks of 0.1 seconds, although the doubles are not. Every engine asks here, so all agree.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

from .. import ir
from .. import types as t
from ..flat import Timed

if TYPE_CHECKING:
    from fractions import Fraction

TICK = "tick"  # The name of the step.
DOC = "One tick of the clock passes."


def until_due(seconds: float, tick: float) -> int:
    """After how many ticks a timer is due that was started with so many seconds; 0 is at once.

    ValueError where that is no number of ticks: infinity and NaN.
    """
    return max(0, math.ceil(_exact(seconds) / _exact(tick)))


def passed(seconds: float | Fraction, tick: float) -> int:
    """How many whole ticks so many seconds are. ValueError for infinity and NaN."""
    return math.floor(_exact(seconds) / _exact(tick))


def _exact(seconds: float | Fraction) -> Fraction:
    """The decimal number that Python writes for it."""
    from fractions import Fraction  # Machines without a clock have no use for it.

    if isinstance(seconds, Fraction):
        return seconds
    try:
        return Fraction(repr(seconds))
    except ValueError as error:
        raise ValueError(f"{seconds} seconds are no number of ticks") from error


def clock_of(machine: ir.Machine) -> ir.Variable | None:
    """The variable that is the machine's clock, if it has one."""
    return next((v for v in machine.variables if isinstance(v.type, t.Clock)), None)


def counted_by(machine: ir.Machine) -> ir.Variable | None:
    """The clock by whose ticks the timers count: of a machine that has the step `tick`."""
    clock = clock_of(machine)
    steps = any(is_tick(row) for row in machine.transitions)
    return clock if steps else None


def tick_of(machine: ir.Machine) -> Fraction | None:
    """The seconds of a tick by which the timers count; None where they do not."""
    clock = counted_by(machine)
    return _exact(clock.type.tick) if clock and isinstance(clock.type, t.Clock) else None


def is_tick(row: ir.Transition) -> bool:
    """Whether this is the step of time itself."""
    return any(isinstance(stmt, ir.Tick) for stmt in row.function.body)


def with_ticks(machine: ir.Machine) -> Timed:
    """The machine with a step `tick` and timers that count ticks; unchanged if it has no clock, or
    has them already."""
    clock = clock_of(machine)
    if clock is None or counted_by(machine) is not None:
        return Timed(machine)
    place = clock.place
    at = ir.Field(place, clock.type, ir.Self(place, t.Part(machine.name)), clock.name)
    function = ir.Function(place, TICK, (), t.NOTHING, (ir.Tick(place, at),))
    step = ir.Transition(place, TICK, TICK, None, None, None, None, function, DOC)
    event = ir.Event(place, TICK, (), t.NOTHING, False, DOC)
    return Timed(
        dataclasses.replace(
            _counting(machine),
            transitions=(*machine.transitions, step),
            events=(*machine.events, event),
            parts=tuple(map(_counting, machine.parts)),
        )
    )


def _counting(machine: ir.Machine) -> ir.Machine:
    rows = (dataclasses.replace(v, type=_with_count(v.type)) for v in machine.variables)
    return dataclasses.replace(machine, variables=tuple(rows))


def _with_count(kind: t.Type) -> t.Type:
    match kind:
        case t.Timer():
            return dataclasses.replace(kind, ticks=True)
        case t.Map(value=t.Timer() as timer):
            return dataclasses.replace(kind, value=dataclasses.replace(timer, ticks=True))
        case _:
            return kind
