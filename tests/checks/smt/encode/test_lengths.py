"""Lengths of sequences in proofs: the same keys of the scope give them as in exploration."""

from __future__ import annotations

from collections import Counter

import pytest

from lawful import Machine, Scope, transition
from lawful.checks.smt.encode.lengths import Lengths, erase
from lawful.spec import types as t
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve


class Bags(Machine):
    beans: Counter[tuple[int, ...]] = Counter()

    @transition()
    def put(self, row: tuple[int, ...]) -> None:
        self.beans[row] += 1


@pytest.mark.parametrize(
    ("sizes", "used"),
    [
        ({"beans": 3}, {}),  # How many beans there are, not how long they are.
        ({"beans.item": 2}, {"beans.item": 2, "row": 2}),
        ({"Bags.beans.item": 2, "put.row": 3}, {"Bags.beans.item": 2, "put.row": 3}),
    ],
)
def test_the_key_of_a_bag_is_no_length_of_its_items(
    sizes: dict[str, int], used: dict[str, int]
) -> None:
    assert Lengths(resolve(Bags).machine, sizes).used == used


def test_nor_is_it_in_exploration() -> None:
    scope = Scope({"beans": 3, "beans.item": 2, "row": 1, "int": range(2)})
    ((_, _, kind),) = lower(resolve(Bags).machine, scope).fields
    assert isinstance(kind, t.Bag) and kind.most == 3
    assert isinstance(kind.item, t.Seq) and kind.item.most == 2


def test_bounds_of_equal_types_are_erased_once() -> None:
    """A third of the time of encoding goals was to erase the same types again."""
    one, other = (
        t.Record("Row", (("n", t.Int(0, 3)), ("ns", t.Seq(t.INT, mutable=True)))) for _ in range(2)
    )
    assert one is not other
    assert erase(one) is erase(other)
