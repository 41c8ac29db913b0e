"""Time in TLA+: the effect of a tick on clocks and timers, and deadlines in ticks."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.walk import everything
from lawful.spec.flat import Flat
from lawful.spec.values.time import clock_of, until_due

from .kinds import NONE, both, integer
from .names import CannotWrite, word
from .terms import Writer, seconds


def ticked(w: Writer, self_: str) -> tuple[str | None, str]:
    """The condition that no urgent timer is due, and the state after a tick, parts included."""
    tests, changed = _passed(w, w.machine, self_)
    assert changed is not None  # It has a clock.
    return both(tests), changed


Passed = tuple[list[str], str | None]  # Conditions for a tick; the new value if it changes.


def _passed(w: Writer, machine: ir.Machine, self_: str) -> Passed:
    """The effect of a tick on a machine."""
    tests: list[str] = []
    rows: list[str] = []
    for v in machine.variables:
        more, changed = _value(w, v.type, f"{self_}.{word(v.name)}")
        tests += more
        rows += [] if changed is None else [f"!.{word(v.name)} = {changed}"]
    return tests, f"[{self_} EXCEPT {', '.join(rows)}]" if rows else None


def _value(w: Writer, kind: t.Type, at: str) -> Passed:
    match kind:
        case t.Clock():
            return [], f"{at} + 1"
        case t.Timer(urgent=urgent):
            return [f"({at} # 0)"] if urgent else [], _sooner(at)
        case t.Part(machine=name):
            return _passed(w, w.module.machine(name), at)
        case t.Map(value=t.Timer() | t.Part() as value):
            one = w.names.fresh("k")
            tests, changed = _value(w, value, f"{at}[{one}]")
            tests = [f"(\\A {one} \\in DOMAIN {at} : {test})" for test in tests]
            return tests, None if changed is None else f"[{one} \\in DOMAIN {at} |-> {changed}]"
        case _:
            return [], None


def _sooner(text: str) -> str:
    return f"(IF {text} \\in {{{NONE}, 0}} THEN {text} ELSE {text} - 1)"


def due(flat: Flat, kind: t.Type, text: str) -> str:
    """The number of ticks after which a timer is due that was started with `text` seconds."""
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
    """Every number of seconds in the machine and its scope."""
    machines = (flat.machine, *flat.machine.parts)
    for node in everything(machines):
        if isinstance(node, ir.Const) and isinstance(node.type, t.Float):
            assert isinstance(node.value, int | float)
            yield float(node.value)
    kinds = {p.name: p.type for p in flat.machine.parameters}
    for name, values in flat.parameters:
        if isinstance(kinds[name], t.Float):
            yield from (float(v) for v in values if isinstance(v, int | float))
