"""A search ends when its budget is used up, or at its outer limit."""

from __future__ import annotations

import threading

import pytest

from lawful.checks.prove import How, Method, prove
from lawful.checks.smt.algebra.logic import Logic
from lawful.checks.smt.solver.budget import USED_UP, Effort
from lawful.checks.smt.solver.solve import Horn, ask, limited, reach
from lawful.checks.smt.solver.z3_terms import forget, translation, z3
from lawful.spec.resolve import resolve
from tests.checks.declarations.provable import Hard

LOGIC = Logic()
X, Y, Z = (LOGIC.const(name, LOGIC.int) for name in "xyz")
CUBES = LOGIC.add(*(LOGIC.times(LOGIC.times(v, v), v) for v in (X, Y, Z)))
HARD = LOGIC.equal(CUBES, LOGIC.number(114))  # Nobody knows of any.
NONE = 0  # Z3's own word for no limit.


def test_a_search_that_forgets_its_limit_is_interrupted() -> None:
    made = translation(LOGIC)
    solver = z3.Solver(ctx=made.context)
    solver.add(made(HARD))
    budget = Effort(seconds=0.05).begin()
    with limited(solver, budget):
        solver.set(rlimit=NONE)
        assert solver.check() == z3.unknown
    assert budget.late
    assert "lawful outer limit" not in {thread.name for thread in threading.enumerate()}


def test_the_next_search_knows_nothing_of_it() -> None:
    assert ask(LOGIC, [HARD], Effort(100_000).begin()).status == "unknown"
    assert ask(LOGIC, [LOGIC.equal(X, LOGIC.number(3))], Effort().begin()).status == "sat"


def test_an_answer_says_what_ended_the_search() -> None:
    assert ask(LOGIC, [HARD], Effort(100_000).begin()).why == USED_UP
    late = ask(LOGIC, [HARD], Effort(seconds=0.05).begin())
    assert late.why == "the outer limit of 0.05 s ended the search"


def test_after_the_outer_limit_no_search_begins() -> None:
    budget = Effort(seconds=0).begin()
    trivial = LOGIC.equal(X, LOGIC.number(3))
    assert ask(LOGIC, [trivial], budget).why == "the outer limit of 0 s ended the search"
    assert budget.spent == 0


def test_the_same_search_takes_the_same_units() -> None:
    def taken() -> float:
        forget()
        budget = Effort(500_000).begin()
        ask(LOGIC, [HARD], budget)
        return budget.spent

    first = taken()
    assert 500_000 <= first < 600_000
    assert [taken(), taken()] == [first, first]


def test_a_budget_is_spent_by_each_search_within_it() -> None:
    whole = Effort(1_000_000).begin()
    part = whole.units(300_000)
    assert ask(LOGIC, [HARD], part).why == USED_UP
    assert part.over and not whole.over
    assert whole.spent == part.spent >= 300_000
    assert ask(LOGIC, [HARD], whole.units(2_000_000)).why == USED_UP
    assert whole.over and whole.spent < 1_100_000


def test_of_a_budget_that_is_overspent_nothing_is_left() -> None:
    """A search ends a little after its units, so that it takes more than there are."""
    whole = Effort(1_000).begin()
    whole.units(600).spend(1_500)
    assert (whole.spent, whole.left) == (1_500, 0)
    assert [part.left for part in (whole.units(whole.left / 2), whole.apart(whole.left))] == [0, 0]


@pytest.mark.parametrize("method", ["induction", "k-induction", "spacer", "bounded"])
def test_the_smallest_budget_leaves_open_what_it_does_not_decide(method: Method) -> None:
    result = prove(resolve(Hard).machine, sizes={}, how=How(method, Effort(1), 2))
    assert {p.name for p in result.properties if not p.verdict.good} >= {"fermat"}


def test_what_is_reached_is_sought_within_a_budget() -> None:
    """Spacer counts as the others do."""
    x, y, a, b = (LOGIC.const(name, LOGIC.int) for name in ("x", "y", "a", "b"))
    one, zero = LOGIC.number(1), LOGIC.number(0)
    start = ((LOGIC.equal(x, zero), LOGIC.equal(y, zero)), None, (x, y))
    step = LOGIC.equal(a, LOGIC.add(x, y, one)), LOGIC.equal(b, LOGIC.add(y, LOGIC.times(x, x)))
    horn = Horn((x, y), (start, (step, (x, y), (a, b))))
    budget = Effort(300_000).begin()
    far = LOGIC.equal(LOGIC.times(x, y), LOGIC.number(1_000_003))
    found = reach(LOGIC, horn, ((), far), budget)
    assert (found.status, found.why) == ("unknown", USED_UP)
    assert 300_000 <= budget.spent < 400_000


@pytest.mark.parametrize("method", ["induction", "k-induction", "spacer", "bounded"])
def test_a_verdict_says_that_the_outer_limit_weakened_it(method: Method) -> None:
    how = How(method, Effort(seconds=1e-6), 2)
    result = prove(resolve(Hard).machine, sizes={}, how=how)
    said = {o.note for o in result.obligations if not o.verdict.good}
    said |= {p.note for p in result.properties if p.method != "none" and not p.verdict.good}
    assert any("the outer limit of 1e-06 s ended the search" in note for note in said), said


@pytest.mark.parametrize("given", [float("nan"), -1.0])
def test_an_effort_is_a_number_from_0(given: float) -> None:
    with pytest.raises(ValueError, match=f"the timeout is {given}; it must be 0 or more"):
        Effort(seconds=given)
    with pytest.raises(ValueError, match=f"the budget is {given}; it must be 0 or more"):
        Effort(given)
