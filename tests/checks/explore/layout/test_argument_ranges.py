"""What a part is made with may be beyond the scope's integers; the fast engine has room for it."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.checks.explore import explore
from lawful.checks.explore.layout.argument_ranges import WIDEST, range_of
from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.errors import Place
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from tests.spec import texts

HERE = Place("test.py", 1, 0, 1, 0)
STAFF = """
class Worker(Machine):
    limit: Param[int] = 2
    n: Nat = 0

    @transition
    def up(self) -> None:
        require(self.n < self.limit, "full")
        self.n += 1

class M(Machine):
    staff: dict[int, Worker] = {{}}

    @transition
    def hire(self, k: Nat, j: Nat) -> None:
        if k not in self.staff:
            self.staff[k] = Worker(limit={limit})

    @transition
    def up(self, k: Nat) -> None:
        require(k in self.staff, "not here")
        self.staff[k].up()

    scope = Scope(Nat=range(0, 3), int=range(0, 3))
"""


@pytest.mark.parametrize(
    ("limit", "distinct"),
    [("j + 1", 9**3), ("1 - j", 5**3), ("max(j * j, 3)", 7**3), ("j if j else 7", 9**3)],
)
def test_no_state_is_handed_back(limit: str, distinct: int) -> None:
    found = resolve(texts.machine(STAFF.format(limit=limit)))
    flat = lower(found.machine, found.scopes["scope"])
    answers = [explore(flat, found.world, {}, engine=e) for e in ("reference", "generated")]
    assert [(each.distinct, each.handed_back) for each in answers] == [(distinct, 0)] * 2


def local(name: str) -> ir.Expr:
    return ir.Local(HERE, t.INT, name)


def number(n: int) -> ir.Expr:
    return ir.Const(HERE, t.INT, n)


def either(a: ir.Expr, b: ir.Expr) -> ir.Expr:
    return ir.If(HERE, t.INT, TRUTH, a, b)


def op(name: str, args: tuple[ir.Expr, ...]) -> ir.Expr:
    return ir.Op(HERE, t.INT, name, args)


NUMBERS = st.integers(-5, 5)
LEAVES = st.builds(number, NUMBERS) | st.builds(local, st.sampled_from("ab"))
MEANING: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "min": min,
    "max": max,
    "neg": partial(operator.sub, 0),
}


def grown(inner: st.SearchStrategy[ir.Expr]) -> st.SearchStrategy[ir.Expr]:
    both = st.tuples(inner, inner)
    return (
        st.builds(op, st.sampled_from(["add", "sub", "mul", "min", "max"]), both)
        | st.builds(partial(op, "neg"), st.tuples(inner))
        | st.builds(either, inner, inner)
    )


TRUTH = ir.Const(HERE, t.BOOL, True)


def value(e: ir.Expr, names: dict[str, int], which: bool) -> int:
    match e:
        case ir.Const(value=int() as made):
            return made
        case ir.Local(name=name):
            return names[name]
        case ir.If(then=then, other=other):
            return value(then if which else other, names, which)
        case ir.Op(op=name, args=args):
            found: int = MEANING[name](*(value(a, names, which) for a in args))
            return found
        case _:
            raise AssertionError(e)


@given(grown(st.recursive(LEAVES, grown, max_leaves=4)), NUMBERS, NUMBERS, st.booleans())
def test_every_value_is_in_the_range(e: ir.Expr, a: int, b: int, which: bool) -> None:
    low, high = range_of(e, (-5, 5))
    assert low <= value(e, {"a": a, "b": b}, which) <= high
    assert high - low < WIDEST
