"""Which expressions may be undefined, and what that decides about the order of a loop."""

from __future__ import annotations

import enum
from typing import Annotated

import pytest
from annotated_types import Interval

from lawful import Machine, Refused, require, total, transition
from lawful.spec import ir, ops
from lawful.spec import types as t
from lawful.spec.analysis.partiality import always_defined, may_be_undefined
from lawful.spec.errors import NOWHERE

UpTo40 = Annotated[int, Interval(ge=0, le=40)]
COLOR = t.Enum("Color", ("RED", "GREEN"))
SHORT = t.Int(0, 40)


class Color(enum.Enum):
    RED = "red"
    GREEN = "green"


class Flags(Machine):
    """A total map has an item for every key of its type; a sum can be a key beyond it."""

    flags: dict[UpTo40, bool] = total(False)
    found: set[UpTo40] = set()

    @transition()
    def find(self, x: UpTo40) -> None:
        self.found.add(x)

    @transition()
    def go(self) -> None:
        for x in self.found:
            require(x != 1, "one")
            require(not self.flags[x + 10], "a flag")


def a_map(key: t.Type, total: bool = True) -> ir.Expr:
    return ir.Local(NOWHERE, t.Map(key, t.BOOL, mutable=True, total=total), "m")


def item(of: ir.Expr) -> ir.Expr:
    return ir.Item(NOWHERE, t.BOOL, of, ir.Local(NOWHERE, t.INT, "k"))


ITEMS = (
    (item(a_map(SHORT)), True),
    (item(a_map(t.Tuple((COLOR, SHORT)))), True),
    (item(a_map(t.serial(3))), False),
    (item(a_map(COLOR)), False),
    (item(a_map(t.Tuple((COLOR, t.BOOL)))), False),
    (item(a_map(COLOR, total=False)), True),
    (item(ir.Local(NOWHERE, t.Bag(t.INT), "b")), False),
    (item(ir.Local(NOWHERE, t.Seq(t.BOOL, mutable=True), "l")), True),
    (item(ir.Local(NOWHERE, t.Tuple((t.BOOL, t.BOOL)), "p")), False),
)


@pytest.mark.parametrize(
    ("e", "expected"), ITEMS, ids=[str(e.of.type) for e, _ in ITEMS if isinstance(e, ir.Item)]
)
def test_an_item_may_be_missing(e: ir.Expr, expected: bool) -> None:
    assert may_be_undefined(e) is expected
    assert always_defined(e) is not expected


@pytest.mark.parametrize("op", ops.TABLE)
def test_the_table_says_which_operators_are_partial(op: str) -> None:
    assert may_be_undefined(ir.Op(NOWHERE, t.INT, op, ())) is ops.TABLE[op].partial


@pytest.mark.parametrize("order", [(32, 1), (1, 32)])
def test_what_stops_a_loop_first_does_not_depend_on_the_order_of_a_set(
    order: tuple[int, int],
) -> None:
    flags = Flags()
    for x in order:
        flags.find(x)
    with pytest.raises(Refused, match="one"):
        flags.go()
    assert (flags.found, any(flags.flags.values())) == ({1, 32}, False)
