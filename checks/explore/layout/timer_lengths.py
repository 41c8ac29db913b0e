"""How long a timer may run: the most ticks that a machine within its scope starts one with."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.walk import everything
from lawful.spec.flat import Flat
from lawful.spec.values.time import counted_by, until_due

MOST_TICKS = 1 << 16  # A timer that runs longer makes states too large.


def most_ticks(flat: Flat, given: Mapping[str, Iterable[Any]]) -> int:
    """The most ticks of any timer, or a guess where an expression does not tell.

    `given` has the values of each parameter by its name. A guess is safe: a step that starts a
    timer for longer leaves it to the reference engine.
    """
    clock = counted_by(flat.machine)
    if clock is None:
        return 0
    assert isinstance(clock.type, t.Clock)
    tick = clock.type.tick
    last = last_tick(flat)
    highs = _highs(flat, given)
    machines = (flat.machine, *flat.machine.parts)
    starts = (n for n in everything(machines) if isinstance(n, ir.Update) and n.op == "start")
    seconds = [_high(s.args[0], highs) for s in starts if isinstance(s.target.type, t.Timer)]
    known = [until_due(s, tick) for s in seconds if s is not None]
    return min(MOST_TICKS, max([*known, last if len(known) < len(seconds) else 0]))


def last_tick(flat: Flat) -> int:
    """The last tick that the scope allows; 0 where there is no clock."""
    lasts = [kind.most for _, _, kind in flat.fields if isinstance(kind, t.Clock)]
    return max((last or 0 for last in lasts), default=0)


def _highs(flat: Flat, given: Mapping[str, Iterable[Any]]) -> dict[str, float]:
    """The highest number that a variable, parameter or argument of that name has."""
    found: dict[str, float] = {}
    numbers: list[tuple[str, float | None]] = []
    numbers += [(name, k.high) for _, name, k in flat.fields if isinstance(k, t.Int)]
    rules = (*flat.rules, *flat.initials)
    numbers += [(p.name, p.type.high) for r in rules for p in r.plans if isinstance(p.type, t.Int)]
    for name, values in given.items():
        numbers += [(name, value) for value in values if isinstance(value, int | float)]
    for name, high in numbers:
        if high is not None:
            found[name] = max(high, found.get(name, high))
    return found


def _high(e: ir.Expr, highs: Mapping[str, float]) -> float | None:
    """The highest value of a number of seconds, if it can be told from the names in it."""
    match e:
        case ir.Const(value=bool() | int() | float() as value):
            return value
        case ir.Field(name=name) | ir.Local(name=name):
            return highs.get(name)
        case ir.If(then=then, other=other):
            return _most([_high(then, highs), _high(other, highs)], max)
        case ir.Op(op="add", args=args):
            return _most([_high(a, highs) for a in args], sum)
        case ir.Op(op="mul", args=(a, b)):
            return _most([_high(a, highs), _high(b, highs)], math.prod)
        case ir.Op(op="sub" | "floordiv" | "mod" | "min", args=(a, *_)):
            return _high(a, highs)
        case ir.Op(op="max", args=args):
            return _most([_high(a, highs) for a in args], max)
        case _:
            return None


def _most(rows: list[float | None], of: Any) -> float | None:
    known = [row for row in rows if row is not None]
    return of(known) if len(known) == len(rows) else None
