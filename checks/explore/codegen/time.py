"""Generated code of time: what starts and stops a timer, and the step `tick`.

The cell of a timer is 0 while it is stopped. Armed it is 1 where nothing counts the time; beside
the step `tick` it is one more than the number of ticks until the timer is due.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.values.time import tick_of, until_due

from ..layout.layouts import (
    Index,
    MachineLayout,
    MapLayout,
    NotGenerated,
    Number,
    SparseMap,
    key_count,
    offsets,
    stride,
    width,
)
from .body import Body
from .expressions import Expressions, Owner
from .text import REFUSED, Value, plus


class TimeCell(NamedTuple):
    """A clock or a timer: its cell, and the cells that are not 0 while it exists, both counted
    from where the machine begins."""

    kind: t.Clock | t.Timer
    at: int
    present: tuple[int, ...]


def start_timer(f: Body, s: ir.Update, _layout: Index, at: str) -> None:
    """`start` of a timer."""
    (seconds,) = [f.value(arg) for arg in s.args]
    if f.program.codec.counting:
        _start(f, at, seconds)
    else:
        f.line(f"w[{at}] = 1")


def stop_timer(f: Body, _s: ir.Update, _layout: Index, at: str) -> None:
    """`stop` of a timer."""
    f.line(f"w[{at}] = 0")


def _start(f: Body, at: str, seconds: Value) -> None:
    """The timer is due after as many ticks as these seconds have, parts of a tick counted whole."""
    codec, layout = f.program.codec, seconds.layout
    tick = tick_of(codec.flat.machine)
    assert tick is not None
    match layout:
        case Number():
            many, n = tick.denominator, tick.numerator
            f.line(f"w[{at}] = 1")
            with f.block(f"if {seconds.text} > 0:"):
                f.line(f"w[{at}] = 1 + ({seconds.text} * {many} + {n - 1}) // {n}")
        case Index(type=t.Float(), values=values) if values:
            for i, value in enumerate(values):
                f.line(f"if {seconds.text} == {i}: w[{at}] = {1 + until_due(value, float(tick))}")
        case _:
            raise NotGenerated("a timer started with such a number of seconds")
    f.escape_if(f"w[{at}] > {codec.most_ticks + 1}")


def tick(f: Body, s: ir.Tick) -> None:
    """One tick passes, unless an urgent timer is due; see `reference.time`."""
    cells = list(time_cells(f.module, f.machine))
    with f.guard(s):
        for cell in cells:
            if isinstance(cell.kind, t.Timer) and cell.kind.urgent:
                f.stop_if(f"w[{plus(f.me, cell.at)}] == 1", REFUSED)
    f.was_true(s)
    f.writes(ir.Self(s.place, t.Part(f.machine.name)))
    for cell in cells:
        at = plus(f.me, cell.at)
        if isinstance(cell.kind, t.Timer):
            f.line(f"if w[{at}] > 1: w[{at}] -= 1")
            continue
        there = " and ".join(f"w[{plus(f.me, each)}] != 0" for each in cell.present)
        f.line(f"{f'if {there}: ' if there else ''}w[{at}] += 1")


def set_clocks(f: Expressions, machine: ir.Machine, at: str) -> None:
    """The clocks of a part that is made in this step tell the time of the whole."""
    clocks = [c for c in time_cells(f.module, machine) if isinstance(c.kind, t.Clock)]
    whole = f.program.codec.flat.machine
    now = next((c.at for c in time_cells(f.module, whole) if isinstance(c.kind, t.Clock)), None)
    for clock in clocks:
        if not clock.present:
            f.line(f"w[{plus(at, clock.at)}] = w[{now}]")


def time_cells(
    m: Owner, machine: ir.Machine, at: int = 0, present: tuple[int, ...] = ()
) -> Iterator[TimeCell]:
    """The clocks and timers of a machine whose cells begin there, those of its parts included."""
    fields = m.codec.machine(machine.name).fields
    places = offsets(layout for _, layout in fields)
    for v, (_, layout), place in zip(machine.variables, fields, places, strict=False):
        match v.type:
            case t.Clock() | t.Timer():
                yield TimeCell(v.type, at + place, present)
            case t.Part(machine=part):
                yield from time_cells(m, m.machines[part], at + place, present)
            case t.Map(value=t.Timer() as timer) if isinstance(layout, SparseMap):
                first = at + place + 1 + width(layout.key)  # An absent one is 0, as if stopped.
                for i in range(layout.room):
                    yield TimeCell(timer, first + i * stride(layout), present)
            case t.Map(value=t.Timer() | t.Part() as kind):
                assert isinstance(layout, MapLayout)
                yield from _in_map(m, kind, layout, (at + place, present))
            case _:
                pass


def _in_map(
    m: Owner, kind: t.Timer | t.Part, layout: MapLayout, where: tuple[int, tuple[int, ...]]
) -> Iterator[TimeCell]:
    begin, present = where
    for i in range(key_count(layout.key)):
        entry = begin + i * stride(layout)
        known = present if layout.total else (*present, entry)
        at = entry + (not layout.total)
        if isinstance(kind, t.Timer):
            yield TimeCell(kind, at, known)
        else:
            assert isinstance(layout.value, MachineLayout)
            yield from time_cells(m, m.machines[kind.machine], at, known)
