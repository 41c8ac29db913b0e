"""What is refused or fails changes nothing, whatever a body did before."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

import pytest
from annotated_types import Interval, MaxLen

from lawful import (
    Machine,
    Nat,
    PropertyViolated,
    Record,
    Refused,
    Undefined,
    needed,
    require,
    transition,
)


class Item(Record):
    key: Nat
    tags: frozenset[Nat] = frozenset()


Short = Annotated[list[int], MaxLen(3)]
Digit = Annotated[int, Interval(ge=0, le=9)]


class Store(Machine):
    """One container of each kind, and bodies that fail after they have changed them."""

    known: set[int] = {1}
    queue: list[int] = [1, 2]
    short: Short = []
    by_key: dict[Nat, int] = {1: 10}
    groups: dict[Nat, set[Nat]] = {1: {1}}
    grid: dict[Nat, dict[Nat, list[int]]] = {1: {1: [1]}}
    bag: Counter[int] = Counter([7])
    items: set[Item] = set()
    last: Item | None = None
    digit: Digit = 0
    n: Nat = 0

    def spoil(self) -> None:
        """Change everything where it stands."""
        self.known.add(99)
        self.queue.append(99)
        self.by_key[99] = 99
        self.groups[1].add(99)
        self.grid[1][1].append(99)
        self.bag[99] += 1
        self.items.add(Item(99))
        self.last = Item(99)
        self.n += 99

    @transition()
    def spoil_and_refuse(self) -> None:
        self.spoil()
        require(self.n < 0, "never")

    @transition()
    def spoil_and_lack(self, key: Nat) -> None:
        self.spoil()
        self.n = self.by_key[key]

    @transition()
    def spoil_and_assert(self) -> None:
        self.spoil()
        assert self.n == 0

    @transition()
    def spoil_and_sink(self) -> None:
        self.spoil()
        self.n -= 1_000

    @transition()
    def spoil_and_output(self) -> Nat:
        self.spoil()
        return self.n - 1_000

    @transition()
    def spoil_it(self) -> None:
        self.spoil()

    @transition()
    def first(self) -> int:
        return self.queue.pop(0)

    @transition()
    def half(self, by: Nat) -> int:
        return 10 // by

    @transition()
    def smallest(self) -> int:
        return min(q for q in self.queue)

    @transition()
    def whose(self) -> Nat:
        return needed(self.last, "there is none").key

    @transition()
    def push(self, x: int) -> None:
        self.short.append(x)

    @transition()
    def dial(self, x: Digit) -> None:
        self.digit = x + 1

    @transition()
    def lend(self, key: int) -> None:
        """Below 0 in between, and in a container, is no breach: bounds are judged at the end."""
        self.n -= 5
        self.by_key[self.n + 5] = 1
        self.groups[1].add(key)
        self.groups[1].discard(-1)
        self.n += 5

    @transition()
    def take(self, x: int) -> None:
        self.bag[x] -= 1

    @transition()
    def add(self, items: frozenset[Item]) -> None:
        for item in items:
            self.items.add(item)
        self.known = {i.key for i in self.items if i.key not in self.known}


FAILING: list[tuple[str, tuple[Any, ...], type[Exception], str]] = [
    ("spoil_and_refuse", (), Refused, "spoil_and_refuse: never (99 < 0 is false)"),
    ("spoil_and_lack", (5,), Undefined, "KeyError: 5"),
    ("spoil_and_assert", (), PropertyViolated, "asserts: n == 0 is false (n = 99)"),
    ("spoil_and_sink", (), PropertyViolated, "bounds: n: -901 is below 0"),
    ("spoil_and_output", (), PropertyViolated, "bounds: the output: -901 is below 0"),
    ("half", (0,), Undefined, "ZeroDivisionError"),
    ("whose", (), Refused, "whose: there is none"),
    ("dial", (9,), PropertyViolated, "bounds: digit: 10 is above 9"),
    ("lend", (-2,), PropertyViolated, "bounds: groups[1]: -2 is below 0"),
    ("take", (8,), PropertyViolated, "bounds: bag: the count of 8 is below 0"),
]


@pytest.mark.parametrize(("name", "args", "kind", "text"), FAILING)
def test_what_fails_changes_nothing(
    name: str, args: tuple[Any, ...], kind: type[Exception], text: str
) -> None:
    store = Store()
    with pytest.raises(kind) as caught:
        store.lawful.take(name, *args)
    assert text in str(caught.value)
    assert store == Store()
    assert store.lawful.snapshot() == Store().lawful.snapshot()
    store.spoil_it()
    assert (store.n, store.known, store.bag[99]) == (99, {1, 99}, 1)
    assert store.grid == {1: {1: [1, 99]}}


def test_instances_share_nothing() -> None:
    one, two = Store(), Store()
    one.spoil_it()
    assert two == Store() != one


def test_a_view_stays_as_it_was_read() -> None:
    store = Store()
    known, queue, by_key, grid = store.known, store.queue, store.by_key, store.grid
    store.spoil_it()
    assert (known, queue, by_key) == ({1}, [1, 2], {1: 10})
    assert grid == {1: {1: [1]}}


def test_lists_are_fifo_and_run_empty() -> None:
    store = Store()
    assert (store.first(), store.first()) == (1, 2)
    with pytest.raises(Undefined, match="IndexError"):
        store.first()
    with pytest.raises(Undefined, match="ValueError"):
        store.smallest()


def test_the_greatest_length_is_a_bound() -> None:
    store = Store()
    for x in range(3):
        store.push(x)
    with pytest.raises(PropertyViolated, match="short: length 4 is above 3"):
        store.push(3)
    assert store.short == [0, 1, 2]


def test_bounds_are_judged_at_the_end() -> None:
    store = Store()
    store.lend(-1)  # Added and discarded again.
    assert (store.n, store.groups) == (0, {1: {1}})
    assert store.by_key == {0: 1, 1: 10}
    store.lend(3)
    assert store.groups == {1: {1, 3}}


def test_what_has_count_0_is_absent_from_a_bag() -> None:
    store = Store()
    store.take(7)
    assert store.bag == {}
    assert 7 not in store.bag


def test_arguments_of_another_type_are_no_refusal() -> None:
    store = Store()
    wrong: list[tuple[str, object, type[Exception], str]] = [
        ("half", "x", TypeError, r"half: by is a Nat, not 'x', a str"),
        ("half", True, TypeError, "by is a Nat, not True, a bool"),
        ("half", -1, ValueError, "half: by: -1 is below 0"),
        ("add", [Item(1)], TypeError, "items is a frozenset"),
        ("add", frozenset({Item(-1)}), ValueError, "-1 is below 0"),
        ("add", frozenset({Item(1, frozenset({-2}))}), ValueError, "-2 is below 0"),
        ("add", frozenset({1}), TypeError, "an element of add: items is a Item, not 1"),
        ("dial", 10, ValueError, "10 is above 9"),
    ]
    for name, value, kind, text in wrong:
        with pytest.raises(kind, match=text):
            store.lawful.take(name, value)
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        store.lawful.take("half")
    assert store == Store()
    store.add(items=frozenset({Item(1), Item(2)}))
    assert store.known == {2}
