"""The first of a range without a bound, and how many elements a set without a bound has."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful.checks.prove import prove
from lawful.checks.prove.bounded import Bounded
from lawful.checks.prove.result import TO_INDUCTION
from lawful.checks.smt.encode.sorts import Options
from lawful.checks.smt.solver.solve import COUNTS
from lawful.checks.smt.system import TransitionSystem
from lawful.spec.lower import sized
from lawful.spec.resolve import resolve
from lawful.spec.values.time import with_ticks
from tests.checks.declarations.first_of_range import Counted, Desk, Found, Uncounted
from tests.checks.smt.both_engines import Both

numbers = st.integers(0, 3)
DESKS = st.tuples(
    st.frozensets(numbers, max_size=4),
    st.frozensets(st.integers(-2, 4), max_size=4),
    st.integers(-2, 4),
    numbers,
)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("name", ["call", "leap", "divide", "lowest", "grow", "swap"])
@settings(max_examples=10, deadline=None)
@given(
    state=DESKS,
    low=st.integers(-2, 4),
    high=st.integers(-2, 5),
    n=numbers,
    m=numbers,
    all_go=st.booleans(),
)
def test_it_is_what_the_reference_says(
    name: str, late: bool, state: tuple[Any, ...], **given: Any
) -> None:
    both = Both(Desk, {})  # Made anew, so that what Z3 does is the same in any order of the tests.
    row = both.machine.transition(name)
    args = {**given, "above": given["low"]}
    both.compare(row, state, {n: args[n] for n, _ in row.function.params}, late)


def test_the_first_is_free() -> None:
    result = prove(resolve(Found).machine, sizes={})
    left = [(o.obligation, o.property, o.note) for o in result.obligations if not o.verdict.good]
    assert left == [("take", "below_three", TO_INDUCTION)]


def test_what_is_not_known_of_sizes_is_no_counterexample() -> None:
    result = prove(resolve(Counted).machine, sizes={})
    left = [(o.obligation, o.property, o.note) for o in result.obligations if not o.verdict.good]
    assert left == [
        ("enter", "few", TO_INDUCTION),
        ("leave", "nobody_or_somebody", f"Z3 does not decide it: {COUNTS}"),
        ("leave", "two_are_two", f"Z3 does not decide it: {COUNTS}"),
        ("leave", "few", "holds only with invariants that are not proved: few"),
    ]


def test_from_a_start_everything_is_counted() -> None:
    """So that a violation is one."""
    found = {p.name: p for p in Bounded(sized(resolve(Counted).machine, {})).search(3)}
    assert {name: p.verdict.value for name, p in found.items()} == {
        **dict.fromkeys(found, "bounded"),
        "few": "violated",
    }
    trace = found["few"].trace
    assert trace is not None
    assert [state["count"] for state in trace.states] == [0, 1, 2, 3]
    assert [step.transition for step in trace.steps] == ["enter", "enter", "enter"]


def test_other_sets_are_not_counted() -> None:
    for name in ("joined", "held", "shared"):
        case = TransitionSystem(with_ticks(resolve(Uncounted).machine), Options({})).case(name)
        assert str(case).endswith(", which has no bound") and ": len of a " in str(case)
