"""A loop over an unordered collection that ends early in one way only: `for x in s: if p(x): return
False` asks whether any element is such, in whatever order.

As in `any(...)`, the condition has to have a value for every element.
"""

from __future__ import annotations

from collections.abc import Sequence

from ... import ir
from ... import types as t
from ...analysis.places import mentions
from ...errors import Place

End = tuple[ir.Stmt, ...]


def early_end(loop: ir.Loop) -> ir.Stmt | None:
    """The loop as a branch on `any(...)`; None where its rounds do more than end it one way: by a
    `return` of a constant, or by assigning constants to locals, with or without a `break`."""
    found: set[End] = set()
    test = _any(loop, found)
    end = found.pop() if len(found) == 1 else ()
    if test is None or not end or any(_reads(test, stmt) for stmt in end):
        return None
    return ir.Branch(loop.place, test, end, ())


def _reads(test: ir.Expr, stmt: ir.Stmt) -> bool:
    """Whether the test has another value once this statement has run, as later rounds see it."""
    return isinstance(stmt, ir.Assign) and mentions(test, stmt.target)


def _any(loop: ir.Loop, found: set[End]) -> ir.Expr | None:
    asked = _asked(loop.body, found, loop.place)
    if asked is None:
        return None
    clause = ir.Clause(loop.place, loop.names, loop.over, ())
    return ir.Comp(loop.place, t.BOOL, "any", asked, None, (clause,))


def _asked(body: Sequence[ir.Stmt], found: set[End], place: Place) -> ir.Expr | None:
    """When a round comes to an end of the loop; these are noted. None where it does more."""
    if not body:
        return _truth(place, False)
    first, rest = body[0], body[1:]
    match first:
        case ir.Continue():
            return _truth(first.place, False)
        case ir.Return(value=None | ir.Const()):
            found.add((first,))
            return _truth(first.place, True)
        case ir.Assign() | ir.Break():
            return _assigned(body, found)
        case ir.Loop() if not rest:
            return _any(first, found)
        case ir.Branch(then=then, other=other):
            taken = _asked((*then, *rest), found, first.place)
            left = _asked((*other, *rest), found, first.place)
            return None if taken is None or left is None else _branch(first, taken, left)
        case _:
            return None


def _assigned(body: Sequence[ir.Stmt], found: set[End]) -> ir.Expr | None:
    """Constants that are assigned to locals, up to the end of the round or of the loop."""
    end: list[ir.Stmt] = []
    for stmt in body:
        match stmt:
            case ir.Assign(target=ir.Local(), value=ir.Const()):
                end.append(stmt)
            case ir.Break() | ir.Continue():
                break
            case _:
                return None
    found.add(tuple(end))
    return _truth(body[0].place, True)


def _branch(stmt: ir.Branch, then: ir.Expr, other: ir.Expr) -> ir.Expr:
    test, place = stmt.test, stmt.place
    negated = ir.Op(test.place, t.BOOL, "not", (test,))
    match then, other:
        case ir.Const(value=True), ir.Const(value=False):
            return test
        case ir.Const(value=False), ir.Const(value=True):
            return negated
        case ir.Const(value=True), _:
            return ir.Or(place, t.BOOL, (test, other))
        case _, ir.Const(value=False):
            return ir.And(place, t.BOOL, (test, then))
        case ir.Const(value=False), _:
            return ir.And(place, t.BOOL, (negated, other))
        case _:
            return ir.If(place, t.BOOL, test, then, other)


def _truth(place: Place, value: bool) -> ir.Const:
    return ir.Const(place, t.BOOL, value)
