"""The record that an observer gets: it is worked out when it is read, and never changes."""

from __future__ import annotations

import contextlib
import copy
import pickle
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful import Machine, Nat, Record, Refused, State, Timer, ignore, require, transition
from lawful.runtime.kernel.event_record import Fields, Stepped


class Phase(State):
    OPEN = "open"
    FULL = "full"


class Book(Record):
    number: Nat
    pages: Nat


class Shelf(Machine):
    """Its observed events run in a method of their own."""

    state: Phase = Phase.OPEN
    total: Nat = 0
    known: set[Nat] = set()
    copies: dict[Nat, Nat] = {}
    order: list[Nat] = []
    bag: Counter[Nat] = Counter()
    rows: dict[Nat, set[Nat]] = {}
    last: Book | None = None

    @transition(source=Phase.OPEN)
    def put(self, book: Book) -> Nat | None:
        require(book.number < 4, "there is no such place")
        self.known.add(book.number)
        self.copies[book.number] = self.total
        self.order.append(book.number)
        self.bag[book.number] += 1
        if book.number in self.rows:
            self.rows[book.number].add(self.total)
        else:
            self.rows[book.number] = {self.total}
        self.last = book
        self.total += 1
        return self.total

    @transition(event="turn", source=Phase.OPEN, target=Phase.FULL)
    def shut(self) -> None: ...

    @transition(event="turn", source=Phase.FULL, target=Phase.OPEN)
    def empty(self) -> None:
        for number in (0, 1, 2, 3):
            self.known.discard(number)
        self.order.clear()

    @transition(event="take", source=Phase.OPEN)
    def take_first(self) -> Nat:
        require(len(self.order) > 0, "it is empty")
        first = self.order[0]
        self.order.pop(0)
        self.known.discard(first)
        return first

    @transition(event="take", source=Phase.FULL)
    def take_none(self) -> Nat:
        require(self.total > 2, "nothing was ever there")
        return 0

    quiet = ignore("put", source=Phase.FULL, because="it is full")


class TimedShelf(Shelf):
    """The same, whose observed events run as those of stored instances do."""

    lapse: Timer = Timer()


def putting(number: int) -> Callable[[Any], object]:
    return lambda shelf: shelf.put(Book(number, 100))


ACTS: dict[str, Callable[[Any], object]] = {
    **{f"put {number}": putting(number) for number in range(5)},
    "turn": lambda shelf: shelf.turn(),
    "take": lambda shelf: shelf.take(),
    "first": lambda shelf: shelf.take_first(),
    "shut": lambda shelf: shelf.shut(),
}
DIFFER = ("instance", "time")  # Between instances.


def fields(done: Stepped) -> dict[str, Any]:
    return {name: plainly(getattr(done, name)) for name in Fields._fields if name not in DIFFER}


def plainly(value: Any) -> Any:
    """A copy, which nothing changes later."""
    known: Any = value
    if isinstance(value, Mapping):
        return {key: plainly(each) for key, each in known.items()}
    if isinstance(value, list):
        return [plainly(each) for each in known]
    return frozenset(known) if isinstance(value, set | frozenset) else value


def act(shelf: Any, acts: list[str], each: Callable[[], object] = lambda: None) -> None:
    for name in acts:
        with contextlib.suppress(Refused):
            ACTS[name](shelf)
        each()


@given(st.lists(st.sampled_from(sorted(ACTS)), max_size=12))
def test_a_record_read_late_says_what_it_said_at_once(acts: list[str]) -> None:
    read, kept, timed = list[Any](), list[Stepped](), list[Stepped]()
    now, late, other = Shelf(), Shelf(), TimedShelf()
    now.lawful.observe(lambda done: read.append(fields(done)))
    end = late.lawful.observe(kept.append)
    other.lawful.observe(timed.append)
    for shelf in (now, late, other):
        act(shelf, acts)
    end()
    act(late, acts)  # Nobody observes these, so containers may change in place.
    assert [fields(done) for done in kept] == read
    assert [fields(done) for done in timed] == read
    assert [done.inside.keys() for done in kept] == [done.inside.keys() for done in timed]


def test_of_each_event_it_is_told_what_changed() -> None:
    shelf, heard = Shelf(), list[Stepped]()
    shelf.lawful.observe(heard.append)
    act(shelf, ["put 1", "put 4", "turn", "put 1", "take", "shut", "turn", "first"])
    told = [(d.event, d.transition, d.outcome, d.before, d.after, d.output) for d in heard]
    assert told == [
        ("put", "put", "done", "OPEN", "OPEN", 1),
        ("put", None, "refused", "OPEN", "OPEN", None),
        ("turn", "shut", "done", "OPEN", "FULL", None),
        ("put", None, "ignored", "FULL", "FULL", None),
        ("take", None, "refused", "FULL", "FULL", None),
        ("turn", "shut", "refused", "FULL", "FULL", None),
        ("turn", "empty", "done", "FULL", "OPEN", None),
        ("take", "take_first", "refused", "OPEN", "OPEN", None),
    ]
    assert dict(heard[0].changed) == {
        "total": 1,
        "known": {1},
        "copies": {1: 0},
        "order": [1],
        "bag": {1: 1},
        "rows": {1: {0}},
        "last": Book(1, 100),
    }
    assert dict(heard[6].changed) == {"state": Phase.OPEN, "known": set(), "order": []}
    assert [str(reason) for reason in heard[1].reasons] == [
        "there is no such place (4 < 4 is false)"
    ]
    assert len(heard[4].reasons) == 2
    assert heard[0].args == {"book": Book(1, 100)}


def test_a_record_is_read_only_and_can_be_compared_and_pickled() -> None:
    shelf, heard = Shelf(), list[Stepped]()
    shelf.lawful.observe(heard.append)
    act(shelf, ["turn", "put 4", "shut"])
    for done in heard:
        for name in Fields._fields:
            with pytest.raises(AttributeError):
                setattr(done, name, None)
        with pytest.raises(AttributeError):
            done.other = None  # type: ignore[attr-defined]  # that is the point
        again = pickle.loads(pickle.dumps(done))
        assert (again, repr(again)) == (done, repr(done))
        assert copy.copy(done) == done
        assert again.inside == {}
    assert heard[0] != heard[1]
    act(shelf, ["turn", "put 1"])
    with pytest.raises(TypeError):
        heard[-1].changed["copies"][1] = 7


class Settings(Machine):
    most: Nat = 0

    @transition()
    def set(self, of: Mapping[bool, Nat]) -> None:
        require(of[True] < 9, "too many")
        self.most = of[True]


def test_a_mapping_that_the_caller_changes_later_is_told_as_it_was() -> None:
    settings, heard = Settings(), list[Stepped]()
    settings.lawful.observe(heard.append)
    mine = {False: 0, True: 1}
    settings.set(mine)
    mine[True] = 9
    with pytest.raises(Refused):
        settings.set(mine)
    mine[True] = 5
    assert [done.args for done in heard] == [{"of": {False: 0, True: n}} for n in (1, 9)]
