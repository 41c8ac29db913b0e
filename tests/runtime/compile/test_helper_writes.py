"""Helpers and inherited transitions write into containers in place, and a failed step undoes it."""

from __future__ import annotations

import contextlib
import copy
import itertools
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful import Machine, Nat, OrderedSort, Record, Refused, Undefined, require, transition
from lawful.runtime.kernel import write_log
from tests.runtime.services.interrupting import at_every_place
from tests.runtime.services.test_recursion import at_every_depth


class Item(OrderedSort):
    """What is stored."""


class Place(Record):
    """Its hash is code of Python."""

    shelf: int
    item: Item


X, Y, Z = map(Item, "xyz")


class Shelves(Machine):
    held: set[Place] = set()
    names: dict[Item, int] = {}
    rows: dict[int, list[Item]] = {}
    marks: dict[int, set[Item]] = {}
    log: list[Item] = []
    count: Nat = 0

    @transition()
    def add(self, shelf: int, item: Item, n: int) -> None:
        """It fails at its end where n is 0."""
        if shelf not in self.rows:
            self.rows[shelf] = []
            self.marks[shelf] = set()
        self.place(shelf, item)
        self.names[item] = 10 // n

    def place(self, shelf: int, item: Item) -> None:
        self.note(item)
        self.held.add(Place(shelf, item))
        self.rows[shelf].append(item)
        self.marks[shelf].add(item)
        self.names[item] = shelf

    def note(self, item: Item) -> None:
        self.log.append(item)
        self.count += 1

    @transition()
    def take(self, shelf: int, item: Item, n: int) -> None:
        require(shelf in self.rows, "no such shelf")
        self.lose(shelf, item)
        require(n != 0, "nothing is taken")

    def lose(self, shelf: int, item: Item) -> None:
        self.held.discard(Place(shelf, item))
        self.marks[shelf].discard(item)
        self.held.add(Place(shelf + 1, item))
        self.held.discard(Place(shelf + 1, item))

    @transition()
    def renew(self, shelf: int, item: Item, n: int) -> None:
        """Containers are replaced, written into, and replaced again."""
        self.note(item)
        self.log = [item]
        self.note(item)
        self.held = {Place(shelf, item)}
        self.rows = {shelf: [item]}
        self.marks = {shelf: {item}}
        self.place(shelf, item)
        self.log = self.log + [item]
        self.names[item] = 10 // n

    @transition()
    def empty(self, shelf: int, item: Item, n: int) -> None:
        """A container in a map is replaced, and then written into."""
        self.clean(shelf)
        self.place(shelf, item)
        self.names[item] = 10 // n

    def clean(self, shelf: int) -> None:
        self.rows[shelf] = []
        self.marks[shelf] = set()

    @transition()
    def twice(self, shelf: int, item: Item, n: int) -> None:
        """A loop goes over what a helper changes."""
        require(len(self.log) < 20, "enough")
        for each in tuple(self.log):
            self.note(each)
        self.note(item)
        self.names[item] = 10 // n


class Stocked(Shelves):
    @transition()
    def add(self, shelf: int, item: Item, n: int) -> None:
        self.held.add(Place(0, item))
        super().add(shelf, item, n)
        self.held.discard(Place(0, item))

    @transition()
    def take(self, shelf: int, item: Item, n: int) -> None:
        self.held.discard(Place(shelf, item))
        super().take(shelf, item, n)
        self.held.add(Place(9, item))


def whole(made: Shelves) -> Any:
    """Everything, in its order where a container has one."""
    return (
        set(made.held),
        list(made.names.items()),
        [(shelf, list(row)) for shelf, row in made.rows.items()],
        [(shelf, set(row)) for shelf, row in made.marks.items()],
        list(made.log),
        made.count,
    )


EVENTS = "add", "take", "renew", "empty", "twice"
CASES = list(itertools.product((Shelves, Stocked), EVENTS, (1, 2), (X, Z), (0, 1)))


def filled(cls: type[Shelves]) -> Shelves:
    made = cls()
    made.add(1, X, 1)
    made.add(1, Y, 2)
    return made


def act(made: Shelves, event: str, *args: Any) -> bool:
    """Whether it was done."""
    with contextlib.suppress(Refused, Undefined):
        made.lawful.take(event, *args)
        return True
    return False


@given(
    st.sampled_from((Shelves, Stocked)),
    st.lists(
        st.tuples(
            st.sampled_from(EVENTS),
            st.integers(0, 2),
            st.sampled_from((X, Y, Z)),
            st.integers(0, 2),
        ),
        max_size=12,
    ),
)
def test_in_place_and_by_copies_is_the_same(
    cls: type[Shelves], events: list[tuple[str, int, Item, int]]
) -> None:
    made, observed, copying = cls(), cls(), cls()
    observed.lawful.observe(lambda _: None)
    for event in events:
        before = whole(made)
        done = act(made, *event)
        assert act(observed, *event) == done
        held = copy.copy(copying)  # So that nothing of it may be changed in place.
        assert act(copying, *event) == done
        del held
        assert whole(made) == whole(observed) == whole(copying)
        assert done or whole(made) == before


@pytest.mark.parametrize("cls", [Shelves, Stocked])
def test_nothing_is_copied_that_nobody_holds(cls: type[Shelves]) -> None:
    made = filled(cls)

    def inside() -> list[int]:
        raw: Any = made
        rows, marks = raw._rows_, raw._marks_
        held = [raw._held_, raw._names_, rows, rows[1], marks, marks[1], raw._log_]
        return [id(each) for each in held]

    before = inside()
    for item in (Z, X):
        made.add(1, item, 1)
    made.take(1, X, 1)
    assert inside() == before


Held = Callable[[Shelves], Any]


def views(made: Shelves) -> Any:
    return made.held, made.names, made.rows, made.marks, made.log


def inner(made: Any) -> Any:
    """As a record of an event has them."""
    return made._rows_[1], made._marks_[1]


@pytest.mark.parametrize("n", [0, 1])
@pytest.mark.parametrize("hold", [views, inner, copy.deepcopy])
def test_what_somebody_holds_is_copied(hold: Held, n: int) -> None:
    made = filled(Shelves)
    held = hold(made)
    before, was = repr(held), whole(made)
    assert act(made, "add", 1, Z, n) == (n == 1)
    assert repr(held) == before
    assert list(made.log) == [X, Y, Z][: 2 + n]
    assert (whole(made) == was) == (n == 0)


@pytest.mark.one_in(5)
@pytest.mark.parametrize(("cls", "event", "shelf", "item", "n"), CASES)
def test_an_interrupted_step_is_undone_or_done(
    cls: type[Shelves], event: str, shelf: int, item: Item, n: int
) -> None:
    before, after = whole(filled(cls)), filled(cls)
    act(after, event, shelf, item, n)

    def play(attempt: Callable[..., bool]) -> None:
        made = filled(cls)
        was = attempt(lambda: act(made, event, shelf, item, n))
        assert whole(made) in ((before, whole(after)) if was else (whole(after),))

    assert at_every_place((__file__, write_log.__file__), play) > 3


def test_a_step_is_undone_at_every_depth() -> None:
    def play(attempt: Callable[..., bool]) -> None:
        for event, n in (("add", 1), ("add", 0), ("renew", 0), ("take", 0), ("take", 1)):
            made = filled(Stocked)
            before = whole(made)
            ran_out = attempt(lambda: act(made, event, 1, X, n))  # noqa: B023  # called at once
            assert (whole(made) == before) is (ran_out or n == 0)

    out, done = at_every_depth(play)
    assert out > 9 < done


def replaced() -> tuple[dict[int, Any], dict[str, Any]]:
    """A map whose containers were replaced, and then written into; and the log of it."""
    held: dict[int, Any] = {1: ["a"], 2: {"a"}}
    log: dict[str, Any] = {"held": held, write_log.NOTES: []}
    made = Holder(held)
    of, popped = ("held", "held", False), ("held", "held", True)
    write_log.put_inside(made, popped, log, 1, None).pop(0)
    for key, empty in ((1, list[str]()), (2, set[str]())):
        write_log.put(made, of, log, key)[key] = empty
    write_log.put_inside(made, of, log, 1, None).append("b")
    write_log.put_inside(made, popped, log, 1, None).pop(0)
    write_log.put_inside(made, of, log, 2, "a").add("a")
    write_log.put_inside(made, of, log, 2, "a").discard("a")
    return held, log


class Holder:
    def __init__(self, held: dict[int, Any]) -> None:
        self.held = held


def test_undoing_goes_on_after_an_interrupt_at_any_instruction() -> None:
    for number in itertools.count():
        held, log = replaced()
        left = number

        def interrupt(frame: FrameType, event: str, _: object) -> Any:
            nonlocal left
            if frame.f_code is not write_log.undo.__code__:
                return None
            frame.f_trace_opcodes = True
            left -= event == "opcode"
            if left < 0:
                sys.settrace(None)
                raise KeyboardInterrupt
            return interrupt

        kept = sys.gettrace()
        sys.settrace(interrupt)
        with contextlib.suppress(KeyboardInterrupt):
            write_log.undo(log)
        sys.settrace(kept)
        write_log.undo(log)
        assert held == {1: ["a"], 2: {"a"}}
        if left >= 0:
            assert number > 50
            return
