"""Integers that a step cannot bring out of their bounds, so that nothing has to be tested.

Every variable is within its bounds when a step begins. If no assignment of the body can break the
bounds of some variables as long as these variables keep theirs, they all keep them.
"""

from __future__ import annotations

from collections.abc import Iterable

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.effects import assigned
from lawful.spec.analysis.walk import statements, written
from lawful.spec.quick_dataclass import dataclass

Range = tuple[int | None, int | None]  # None: no bound on this side.


@dataclass(frozen=True, slots=True)
class Kept:
    """What a step keeps within its bounds: these variables, and its output."""

    variables: frozenset[str]
    output: bool


def kept_within(
    params: Iterable[tuple[str, t.Type]],
    output: t.Type,
    body: tuple[ir.Stmt, ...],
    kinds: dict[str, t.Type],
) -> Kept:
    """What a body keeps within its bounds, as far as its text tells."""
    gone = assigned(body)
    known = frozenset(n for n, _ in params if n not in gone)
    sure = {n: k for n, k in kinds.items() if isinstance(k, t.Int)}
    stmts = [*statements(body)]
    while True:
        lost = {n for stmt in stmts for n in _breaks(stmt, sure, known)}
        if not lost & sure.keys():
            break
        sure = {n: k for n, k in sure.items() if n not in lost}
    given = [stmt.value for stmt in stmts if isinstance(stmt, ir.Return)]
    inside = isinstance(output, t.Int) and all(
        value is not None and _within(_range(value, sure, known), _bounds(output))
        for value in given
    )
    return Kept(frozenset(sure), inside)


def _breaks(stmt: ir.Stmt, sure: dict[str, t.Int], known: frozenset[str]) -> set[str]:
    """The variables that the statement may bring out of their bounds."""
    match stmt:
        case ir.Assign(target=ir.Field(of=ir.Self(), name=name), value=value):
            kind = sure.get(name)
            fits = kind is not None and _within(_range(value, sure, known), _bounds(kind))
            return set() if fits else {name}
        case ir.Do() | ir.Base():
            return set(sure)
        case _:
            places = (p for p in written(stmt) if isinstance(p, ir.Field))
            return {p.name for p in places if isinstance(p.of, ir.Self)}


def _range(e: ir.Expr, sure: dict[str, t.Int], known: frozenset[str]) -> Range:
    """The range of an integer; of anything else no bounds."""
    match e:
        case ir.Const(value=bool()):
            return None, None
        case ir.Const(value=int() as value):
            return value, value
        case ir.Narrow(of=of):
            return _range(of, sure, known)
        case ir.Field(of=ir.Self(), name=name):
            return _bounds(sure[name]) if name in sure else (None, None)
        case ir.Local(type=t.Int() as kind) | ir.Field(type=t.Int() as kind):
            return _bounds(kind) if _argument(e, known) else (None, None)
        case ir.Op(op="len"):
            return 0, None
        case ir.Op(op="add", args=(one, other)) if not isinstance(e.type, t.Serial):
            (low, high), (low2, high2) = _range(one, sure, known), _range(other, sure, known)
            return _sum(low, low2), _sum(high, high2)
        case ir.Op(op="max", args=args):
            ranges = [_range(arg, sure, known) for arg in args]
            lows = [low for low, _ in ranges if low is not None]
            highs = [high for _, high in ranges if high is not None]
            return max(lows, default=None), max(highs) if len(highs) == len(ranges) else None
        case ir.Op(op="min", args=args):
            ranges = [_range(arg, sure, known) for arg in args]
            lows = [low for low, _ in ranges if low is not None]
            highs = [high for _, high in ranges if high is not None]
            return min(lows) if len(lows) == len(ranges) else None, min(highs, default=None)
        case ir.If(then=then, other=other):
            (low, high), (low2, high2) = _range(then, sure, known), _range(other, sure, known)
            return (
                None if low is None or low2 is None else min(low, low2),
                None if high is None or high2 is None else max(high, high2),
            )
        case _:
            return None, None


def _argument(e: ir.Expr, known: frozenset[str]) -> bool:
    """Whether it is an argument that the body leaves as it is, or a field of one."""
    place = e
    while isinstance(place, ir.Field | ir.Narrow):
        place = place.of
    return isinstance(place, ir.Local) and place.name in known


def _bounds(kind: t.Int) -> Range:
    return kind.low, kind.high


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def _within(mine: Range, theirs: Range) -> bool:
    low = theirs[0] is None or (mine[0] is not None and mine[0] >= theirs[0])
    return low and (theirs[1] is None or (mine[1] is not None and mine[1] <= theirs[1]))
