"""Ctrl-C between any two instructions of a step, which happens whole or not at all."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable
from typing import Any

import pytest

from lawful import Machine, Nat, Record, State, Undefined, event, require, transition
from lawful.spec.syntax.declare import slot
from tests.runtime.services.interrupting import at_every_place


class Shop(Machine):
    sold: Nat = 0
    stock: dict[int, Nat] = {}
    names: set[int] = set()
    last: list[int] = []

    @transition()
    def sell(self, name: int, n: Nat) -> Nat:
        require(n < 9, "too many")
        self.names.add(name)
        self.stock[name] = self.stock.get(name, 0) + n
        self.last.append(name)
        self.sold += n
        return self.sold

    @transition()
    def clear(self) -> None:
        for name in sorted(self.names):
            self.sold -= self.stock[name]
            self.stock[name] = 0
        self.last = []

    @transition(event="move")
    def up(self, name: int, n: Nat) -> None:
        require(n > 2, "few")
        self.names.add(name)
        self.sold += n
        if name in self.stock:
            self.stock[name] = n
        else:
            self.stock[name] = len(self.last)

    @transition(event="move")
    def down(self, name: int, n: Nat) -> None:
        require(n <= 2 or name in self.stock, "many")
        self.sold = n


@pytest.mark.parametrize("event", ["sell", "clear", "move"])
def test_an_interrupted_step_is_undone_or_done(event: str) -> None:
    def whole(shop: Shop) -> Any:
        return shop.sold, dict(shop.stock), set(shop.names), list(shop.last)

    def act(shop: Shop) -> None:
        shop.lawful.take(event, *(() if event == "clear" else (2, 3)))

    def fresh() -> Shop:
        shop = Shop()
        shop.sell(1, 2)
        return shop

    before, after = whole(fresh()), fresh()
    act(after)

    def play(attempt: Callable[..., bool]) -> None:
        shop = fresh()
        was = attempt(lambda: act(shop))
        assert whole(shop) in ((before, whole(after)) if was else (whole(after),))

    assert at_every_place((__file__,), play) > 4


class Till(Machine):
    sums: dict[int, Nat] = {}
    total: Nat = 0

    @event
    def book(self, name: int, n: Nat) -> Nat:
        """Two transitions serve it."""
        raise NotImplementedError

    @transition(event="book")
    def more(self, name: int, n: Nat) -> Nat:
        require(n > 1, "little")
        self.sums[name] = n
        self.total += n
        return self.total

    @transition(event="book")
    def less(self, name: int, n: Nat) -> Nat:
        require(n < 2, "much")
        self.total += n
        return self.total

    @transition()
    def count(self, n: Nat) -> None:
        self.total += n
        self.sums[n] = 1


class Mall(Machine):
    """Its events call those of parts."""

    first: Till = Till()
    tills: dict[int, Till] = {}
    sold: Nat = 0

    @transition()
    def open(self, number: int) -> None:
        self.tills[number] = Till()

    @transition()
    def sell(self, number: int, n: Nat) -> Nat:
        require(number in self.tills, "no till")
        self.sold += n
        self.first.count(n)
        if n > 1:
            self.tills[number].count(n)
        booked = self.first.book(number, n)
        self.tills[number].count(5 // (4 - n))
        return booked


@pytest.mark.parametrize("number", [1, 3, 4])
def test_an_interrupted_step_is_undone_or_done_in_all_parts(number: int) -> None:
    """With the number 4 the step fails at its end."""

    def whole(mall: Mall) -> Any:
        tills = mall.first, *mall.tills.values()
        return mall.sold, [(dict(till.sums), till.total) for till in tills]

    def fresh() -> Mall:
        mall = Mall()
        mall.open(7)
        mall.sell(7, 2)
        return mall

    def act(mall: Mall) -> None:
        with contextlib.suppress(Undefined):
            mall.sell(7, number)

    before, after = whole(fresh()), fresh()
    act(after)
    assert (whole(after) == before) == (number == 4)

    def play(attempt: Callable[..., bool]) -> None:
        mall = fresh()
        was = attempt(lambda: act(mall))
        assert whole(mall) in ((before, whole(after)) if was else (whole(after),))

    assert at_every_place((), play) > 20


class Tag(Record):
    """Its hash and its comparison are Python code."""

    id: int


class Color(State):
    RED = "red"
    BLUE = "blue"


class Tagged(Machine):
    """Its steps change containers in place, and then fail."""

    tags: dict[Tag, Nat] = {}
    colors: dict[Color, Nat] = {}
    seen: set[Tag] = set()
    queue: list[int] = []
    shelves: dict[Tag, dict[Tag, Nat]] = {}

    @transition()
    def put(self, tag: Tag, color: Color, number: int) -> int:
        self.tags[tag] = 1
        self.colors[color] = 1
        self.seen.add(tag)
        self.queue.append(number)
        if tag in self.shelves:
            self.shelves[tag][tag] = 1
        else:
            self.shelves[tag] = {tag: 1}
        return 1 // number

    @transition()
    def drop(self, tag: Tag, color: Color, number: int) -> int:
        del self.tags[tag]
        del self.colors[color]
        self.seen.remove(tag)
        self.queue.pop(0)
        self.shelves[tag][Tag(9)] = 1
        self.shelves[tag][tag] = 2
        return 1 // number


Tagged.lawful.generated()  # What is interrupted are its events, not their compilation.


def contents(tagged: Tagged) -> Any:
    return {slot(n): copy.deepcopy(getattr(tagged, slot(n))) for n in tagged.lawful.plan.variables}


@pytest.mark.parametrize("event", ["put", "drop"])
@pytest.mark.parametrize("number", [0, 1])
def test_what_changed_in_place_is_undone_whatever_comes(event: str, number: int) -> None:
    """With the number 0 the step fails at its end, so that its undoing is interrupted."""

    def play(attempt: Callable[..., bool]) -> None:
        tagged = Tagged()
        tagged.put(Tag(1), Color.RED, 1)
        before = contents(tagged)
        of = Tag(2 if event == "put" else 1), Color.BLUE if event == "put" else Color.RED

        def act() -> None:
            with contextlib.suppress(Undefined):
                tagged.lawful.take(event, *of, number)

        attempt(act)
        undone = contents(tagged) == before
        assert undone or number == 1
        tagged.put(Tag(3), Color.RED, 1)
        later = {Tag(1), Tag(2), Tag(3)} if event == "put" else {Tag(3)}
        wanted = {Tag(1), Tag(3)} if undone else later
        assert tagged.seen == wanted == set(tagged.tags)

    assert at_every_place((), play) > 20
