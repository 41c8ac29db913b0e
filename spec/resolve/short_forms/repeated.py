"""`[0] * n`: a list or a tuple again and again, as a comprehension over a range."""

from __future__ import annotations

from ... import ir
from ... import types as t
from ...analysis.partiality import always_defined
from ...errors import Place, a
from .. import tuples
from ..context import Body


def repeated(b: Body, place: Place, sides: tuple[ir.Expr, ir.Expr]) -> ir.Expr | None:
    """`q * n` or `n * q`; None where the sides are no sequence and no integer."""
    match sides:
        case (ir.Expr(type=t.Seq() | t.Tuple()) as of, ir.Expr(type=t.Int()) as count):
            pass
        case (ir.Expr(type=t.Int()) as count, ir.Expr(type=t.Seq() | t.Tuple()) as of):
            pass
        case _:
            return None
    if isinstance(of.type, t.Tuple):
        return _tuple(b, place, of, count)
    assert isinstance(of.type, t.Seq)
    if not t.immutable(of.type.item) or not always_defined(of, unsure=b.unsure):
        _refused(b, place, of)
        return b.wrong(place)
    return _sequence(b, place, of, count)


def _tuple(b: Body, place: Place, of: ir.Expr, count: ir.Expr) -> ir.Expr | None:
    items = tuples.given(of)
    if isinstance(count, ir.Const) and 0 < int(str(count.value)) * len(items) <= MOST:
        return tuples.made(place, items * int(str(count.value)))
    whole = tuples.as_sequence(of)
    if whole is None or not always_defined(of, unsure=b.unsure):
        _refused(b, place, of)
        return b.wrong(place)
    return _sequence(b, place, whole[0], count)


MOST = 32  # A tuple of more items is one of any length.


def _sequence(b: Body, place: Place, of: ir.Expr, count: ir.Expr) -> ir.Expr:
    assert isinstance(of.type, t.Seq)
    rounds = ir.Op(place, t.Iter(t.INT, True), "range", (count,))
    b.fresh += 2
    clauses = [ir.Clause(place, (f"_{b.fresh}",), rounds, ())]
    element: ir.Expr = ir.Local(place, of.type.item, f"_{b.fresh - 1}")
    if isinstance(of, ir.Op) and of.op in ("list", "tuple") and len(of.args) == 1:
        (element,) = of.args
    else:
        clauses.append(ir.Clause(place, (f"_{b.fresh - 1}",), of, ()))
    kind = t.Seq(of.type.item, mutable=of.type.mutable)
    made: ir.CompKind = "list" if kind.mutable else "tuple"
    return ir.Comp(place, kind, made, element, None, tuple(clauses))


def _refused(b: Body, place: Place, of: ir.Expr) -> None:
    if always_defined(of, unsure=b.unsure):
        b.problem(
            "L211",
            place,
            f"{a(of.type)} * n, in which one container stands several times",
            "a container of its own at each place",
            "write [[] for _ in range(n)], with what each is to hold",
        )
    else:
        b.problem(
            "L203",
            place,
            f"{a(of.type)} * n, with an element that may have no value",
            "elements that always have a value",
            "assign the element to a local first: x = self.m[k]; then [x] * n",
        )
