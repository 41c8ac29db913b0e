"""Time in TLA+: what a tick makes of clocks and timers, and after how many a timer is due."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.flat import Flat
from lawful.spec.ticks import clock_of, until_due
from lawful.spec.walk import everything

from .kinds import NONE, both, integer
from .names import CannotWrite, word
from .terms import Writer, seconds, unwritten


def ticked(w: Writer, self_: str) -> tuple[str | None, str]:
    """That no urgent timer is due, and the state after a tick."""
    tests: list[str] = []
    rows: list[str] = []
    for v in w.machine.variables:
        at = f"{self_}.{word(v.name)}"
        one = w.names.fresh("k")
        match v.type:
            case t.Clock():
                rows.append(f"!.{word(v.name)} = {at} + 1")
            case t.Timer(urgent=urgent):
                rows.append(f"!.{word(v.name)} = {_sooner(at)}")
                tests += [f"({at} # 0)"] if urgent else []
            case t.Map(value=t.Timer(urgent=urgent)):
                each = f"{at}[{one}]"
                rows.append(f"!.{word(v.name)} = [{one} \\in DOMAIN {at} |-> {_sooner(each)}]")
                tests += [f"(\\A {one} \\in DOMAIN {at} : {each} # 0)"] if urgent else []
            case t.Part(machine=name) | t.Map(value=t.Part(machine=name)) if _in_time(w, name):
                raise unwritten(v, "time that passes in a part")
            case _:
                pass
    return both(tests), f"[{self_} EXCEPT {', '.join(rows)}]"


def _in_time(w: Writer, name: str) -> bool:
    kinds = (t.Clock, t.Timer, t.Part)
    return any(
        isinstance(v.type.value if isinstance(v.type, t.Map) else v.type, kinds)
        for v in w.module.machine(name).variables
    )


def _sooner(text: str) -> str:
    return f"(IF {text} \\in {{{NONE}, 0}} THEN {text} ELSE {text} - 1)"


def due(flat: Flat, kind: t.Type, text: str) -> str:
    """After how many ticks a timer is due that was started with so many seconds."""
    clock = clock_of(flat.machine)
    assert clock is not None and isinstance(clock.type, t.Clock)
    tick = clock.type.tick
    if isinstance(kind, t.Int):
        exact = 1 / Fraction(repr(tick))
        up = f"(-(((-{text}) * {integer(exact.numerator)}) \\div {integer(exact.denominator)}))"
        return f"(IF {text} <= 0 THEN 0 ELSE {up})"
    known = sorted(set(_given(flat)))
    if not known:
        raise CannotWrite("a timer's seconds that no parameter gives")
    cases = " [] ".join(
        f"{text} = {seconds(value)} -> {integer(until_due(value, tick))}" for value in known
    )
    return f"(CASE {cases})"


def _given(flat: Flat) -> Iterator[float]:
    """Every number of seconds that the machine and its scope name."""
    machines = (flat.machine, *flat.machine.parts)
    for node in everything(machines):
        if isinstance(node, ir.Const) and isinstance(node.type, t.Float):
            assert isinstance(node.value, int | float)
            yield float(node.value)
    kinds = {p.name: p.type for p in flat.machine.parameters}
    for name, values in flat.parameters:
        if isinstance(kinds[name], t.Float):
            yield from (float(v) for v in values if isinstance(v, int | float))
