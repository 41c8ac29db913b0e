"""A failing list of faults becomes the smallest one that fails."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.machines.shrinking import smallest


@given(st.sets(st.integers(0, 30)))
def test_exactly_those_remain_that_are_needed(needed: set[int]) -> None:
    assert smallest(range(31), lambda items: needed <= {*items}) == sorted(needed)


@given(st.lists(st.booleans(), min_size=1, max_size=12))
def test_none_of_those_that_remain_can_be_left_out(marks: list[bool]) -> None:
    def fails(items: Sequence[tuple[int, bool]]) -> bool:
        return sum(mark for _, mark in items) >= sum(marks) / 2 and len(items) % 2 == len(marks) % 2

    found = smallest([*enumerate(marks)], fails)
    assert fails(found)
    assert not any(fails(found[:n] + found[n + 1 :]) for n in range(len(found)))


def test_what_does_not_fail_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing fails"):
        smallest([1, 2], lambda _: False)
