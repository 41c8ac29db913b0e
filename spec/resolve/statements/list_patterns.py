"""`case [first, *rest]`: patterns of lists, and of tuples of any length."""

from __future__ import annotations

from collections.abc import Callable

from ... import ir
from ... import types as t
from ...errors import Place
from ...syntax import tree
from .. import expressions
from ..context import Body

Alternatives = Callable[[Body, Place, tuple[tree.Pattern, ...], ir.Expr], ir.Expr]


def list_test(
    b: Body, pattern: tree.Pattern, subject: ir.Expr, alternatives: Alternatives
) -> ir.Expr:
    """The test of a list: its length, then item by item; a star takes those in the middle."""
    assert isinstance(subject.type, t.Seq)
    place, kind, given = pattern.place, subject.type.item, pattern.items or ()
    length = ir.Op(place, t.INT, "len", (subject,))
    count = ir.Const(place, t.INT, len(given))
    compare = "eq" if pattern.rest is None else "ge"
    tests: list[ir.Expr] = [ir.Op(place, t.BOOL, compare, (length, count))]
    at, name = (len(given), None) if pattern.rest is None else pattern.rest
    for i, patterns in enumerate(given):
        index = ir.Const(place, t.INT, i if i < at else i - len(given))
        item = ir.Item(place, kind, subject, index)
        tests.append(alternatives(b, place, patterns, expressions.narrowed(b, item)))
    if name is not None:
        behind = len(given) - at
        low = ir.Const(place, t.INT, at)
        high = ir.Const(place, t.INT, -behind) if behind else ir.Const(place, t.NOTHING, None)
        made = t.Seq(kind, mutable=True)
        b.aliases[name] = ir.Op(place, made, "list_of", (_cut(place, subject, low, high),))
    if pattern.rest is not None and not given:
        del tests[0]
    wanted = [test for test in tests if not is_certain(test)]
    if len(wanted) > 1:
        return ir.And(place, t.BOOL, tuple(wanted))
    return wanted[0] if wanted else ir.Const(place, t.BOOL, True)


def _cut(place: Place, subject: ir.Expr, low: ir.Expr, high: ir.Expr) -> ir.Expr:
    return ir.Op(place, subject.type, "slice", (subject, low, high))


def is_certain(test: ir.Expr) -> bool:
    """Whether a test is written as true."""
    return isinstance(test, ir.Const) and test.value is True


def of_list(value: ir.Expr) -> bool:
    """Whether a captured value is inside a list, which may change after it was captured."""
    match value:
        case ir.Op(op="list_of"):
            return True
        case ir.If(then=then, other=other):
            return of_list(then) or of_list(other)
        case ir.Item(of=of) if isinstance(of.type, t.Seq):
            return True
        case ir.Item(of=of) | ir.Field(of=of) | ir.Narrow(of=of):
            return of_list(of)
        case _:
            return False


class Lengths:
    """The lengths of a list that no case has matched yet."""

    def __init__(self) -> None:
        self.matched: set[int] = set()
        self.from_here: int | None = None

    @property
    def nothing(self) -> bool:
        """Whether a list of any length has its case."""
        return self.from_here is not None and self.matched >= set(range(self.from_here))

    def take(self, op: str, count: int) -> None:
        """A case takes the lists with so many items, or with so many or more."""
        if op == "eq":
            self.matched.add(count)
        elif op == "ge":
            self.from_here = count if self.from_here is None else min(count, self.from_here)
