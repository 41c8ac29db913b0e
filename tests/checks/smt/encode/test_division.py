"""`//` and `%` by a number, of terms whose ends are known: written as cases, as Python divides."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.checks.prove import How, prove
from lawful.checks.prove.bounded import Bounded
from lawful.checks.smt.algebra.logic import Logic
from lawful.checks.smt.algebra.term import Term, subterms
from lawful.checks.smt.solver.budget import Effort
from lawful.checks.verdict import Verdict
from lawful.spec.lower import sized
from tests.checks.smt.deciding import decide
from tests.spec import texts

SMALL = st.integers(-30, 30)
DIVISORS = st.integers(-12, 12).filter(bool)


def divided(low: int, high: int) -> tuple[Logic, Term, Callable[[Term, int], int | None]]:
    """A logic, a constant between these two, and what a term is where the constant is a number."""
    logic = Logic()
    x = logic.const("x", logic.int)
    logic.limit(x, low, high)

    def at(term: Term, value: int) -> int | None:
        return logic.known(logic.replace(term, [(x, logic.number(value))]))

    return logic, x, at


@given(low=SMALL, width=st.integers(0, 25), by=DIVISORS, scale=st.integers(-3, 3), more=SMALL)
def test_cases_are_what_python_makes_of_it(
    low: int, width: int, by: int, scale: int, more: int
) -> None:
    logic, x, at = divided(low, low + width)
    dividend = logic.add(logic.times(logic.number(scale), x), logic.number(more))
    quotient = logic.floor_divide(dividend, logic.number(by))
    rest = logic.remainder(dividend, logic.number(by))
    ends = logic.limited(quotient), logic.limited(rest)
    for value in range(low, low + width + 1):
        found = at(quotient, value), at(rest, value)
        assert found == divmod(scale * value + more, by)
        for n, span in zip(found, ends, strict=True):
            assert n is not None and (span is None or span[0] <= n <= span[1])


@given(low=SMALL, width=st.integers(0, 25), by=DIVISORS, of=DIVISORS)
def test_what_is_divided_may_be_divided_again(low: int, width: int, by: int, of: int) -> None:
    logic, x, at = divided(low, low + width)
    term = logic.remainder(logic.floor_divide(x, logic.number(by)), logic.number(of))
    for value in range(low, low + width + 1):
        assert at(term, value) == value // by % of


@pytest.mark.parametrize("by", [7, -7, 1, -1])
def test_z3_finds_the_same(by: int) -> None:
    logic, x, _ = divided(-10, 17)
    free = logic.const("free", logic.int)
    facts = [
        logic.equal(x, free),
        logic.at_most(logic.number(-10), x),
        logic.at_most(x, logic.number(17)),
    ]
    for work in (logic.floor_divide, logic.remainder):
        cases, whole = (work(each, logic.number(by)) for each in (x, free))
        assert not {"div", "mod"} & {each.op for each in subterms(cases)}
        assert abs(by) == 1 or {"div", "mod"} & {each.op for each in subterms(whole)}
        same = logic.equal(cases, whole)
        assert decide(logic, same, facts, Effort(2_000_000).begin()) is True


def test_of_many_quotients_or_unknown_ends_nothing_is_written_as_cases() -> None:
    logic, x, _ = divided(0, 1000)
    far, free = logic.remainder(x, logic.number(10)), logic.const("free", logic.int)
    assert far.op == "mod" and logic.limited(far) == (0, 9)
    assert logic.remainder(free, logic.number(10)).op == "mod"
    assert logic.remainder(logic.number(5), free).op == "if"  # By whichever sign it has.


ADDING = """
class Adding(Machine):
    x: Nat = 0
    y: Nat = 0

    @transition()
    def tick(self) -> None:
        self.y = NEXT

    @transition()
    def count(self) -> None:
        self.x += self.y

    @invariant
    def never(self) -> bool:
        return self.x + self.y < 111

    deadlock_ok = True
"""


@pytest.mark.parametrize(
    "then",
    [
        pytest.param("0 if self.y == 99 else self.y + 1", marks=pytest.mark.nightly),
        pytest.param("(self.y + 1) % 100", marks=pytest.mark.nightly),
    ],
)
def test_a_long_run_around_a_counter_is_found(then: str) -> None:
    """With what is Z3's own `mod`, four hundred million units lead to runs of 8 events."""
    machine = texts.resolved(ADDING.replace("NEXT", then)).machine
    budget = Effort(100_000_000).begin()
    (found,) = Bounded(sized(machine, {}), Effort(50_000_000), ["never"]).search(22, None, budget)
    assert (found.verdict, found.note) == (Verdict.VIOLATED, "after 21 events")


AROUND = """
class Around(Machine):
    at: Annotated[int, Interval(ge=0, le=99)] = 0
    turns: int = 0

    @transition()
    def go(self, by: Annotated[int, Interval(ge=0, le=50)]) -> None:
        self.turns += (self.at + by) // 100
        self.at = (self.at + by) % 100

    @step_property
    def goes_on(self, after: "Around") -> bool:
        return 100 * after.turns + after.at >= 100 * self.turns + self.at

    deadlock_ok = True
"""


def test_the_bounds_of_types_are_ends() -> None:
    result = prove(texts.resolved(AROUND).machine, sizes={}, how=How(effort=Effort(1_000_000)))
    assert {o.verdict for o in result.obligations} == {Verdict.PROVED}
