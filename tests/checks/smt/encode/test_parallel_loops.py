"""Loops over sets without a bound are proved of all at once, or refused by name."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful.checks.smt.encode.sorts import Options
from lawful.checks.smt.system import TransitionSystem
from lawful.spec.values.time import with_ticks
from lawful.spec.values.world import FrozenBag, FrozenMap
from tests.checks.declarations.parallel_loops import Post, Shelf
from tests.checks.smt.both_engines import Both

numbers = st.integers(0, 3)
POSTS = st.tuples(
    st.dictionaries(numbers, st.integers(1, 2), max_size=3).map(FrozenBag),
    st.dictionaries(numbers, st.integers(-1, 3), max_size=3).map(FrozenMap),
    st.frozensets(numbers, max_size=3),
    st.frozensets(numbers, max_size=3),
)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("name", ["put", "mark", "copy"])
@settings(max_examples=15, deadline=None)
@given(state=POSTS, letters=st.frozensets(numbers, max_size=3), over=st.integers(-1, 3))
def test_all_at_once_is_what_one_after_the_other_is(
    name: str, late: bool, state: tuple[Any, ...], letters: frozenset[int], over: int
) -> None:
    both = Both(Post, {})  # Made anew, so that what Z3 does is the same in any order of the tests.
    row = both.machine.transition(name)
    args = {"letters": letters, "over": over}
    both.compare(row, state, {n: args[n] for n, _ in row.function.params}, late)


places = st.integers(-1, 4)
SHELVES = st.tuples(
    st.dictionaries(places, st.integers(0, 3), max_size=3).map(FrozenMap), st.integers(0, 1)
)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ["fill", "clear", "some", "count", "none"])
@settings(max_examples=8, deadline=None)
@given(state=SHELVES, low=places, high=places, up=st.booleans())
def test_one_of_several_ranges_and_what_is_empty(
    name: str, state: tuple[Any, ...], **args: Any
) -> None:
    """Values are put in late: where they are known, the elements are listed."""
    both = Both(Shelf, {})  # Made anew, so that what Z3 does is the same in any order of the tests.
    row = both.machine.transition(name)
    both.compare(row, state, {n: args[n] for n, _ in row.function.params}, late=True)


@pytest.mark.parametrize("name", ["check", "shift", "add_up"])
def test_what_rounds_do_to_each_other_is_refused_by_name(name: str) -> None:
    case = TransitionSystem(with_ticks(Both(Post, {}).machine), Options({})).case(name)
    assert str(case).endswith("a loop over a frozenset[Nat], which has no bound")
    assert "parallel_loops.py:" in str(case)
