"""The order in which loops visit unordered collections."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lawful import OrderedSort
from lawful.spec.sorting import in_order, order_key


class Node(OrderedSort):
    """An element, which is a text of its own kind."""


INTEGERS = st.integers(-3, 3)
MIXED = st.one_of(INTEGERS, st.booleans(), st.text("ab'", max_size=2), st.text("ab").map(Node))
KEYS = st.one_of(st.lists(INTEGERS, unique=True), st.lists(MIXED, unique_by=order_key))


@given(KEYS)
def test_integers_alone_are_visited_in_the_order_of_all_values(keys: list[object]) -> None:
    held = {key: str(key) for key in keys}
    wanted = sorted(held, key=order_key)  # True and 1 are one key.
    assert [*in_order(held)] == wanted
    assert [*map(type, in_order(held))] == [*map(type, wanted)]
    assert [*in_order(frozenset(held))] == wanted
    assert [*in_order(held.items())] == [(key, held[key]) for key in wanted]
    assert [*in_order(held.values())] == [held[key] for key in wanted]
