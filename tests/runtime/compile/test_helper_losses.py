"""Helpers take keys from maps and items from lists in place, and a failed step undoes it.

A key that comes back is the last one of its map. So where a later statement may refuse, a helper
takes it from a copy: a refused event leaves the order as it was.
"""

from __future__ import annotations

import contextlib
import copy
import itertools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful import Machine, Nat, Refused, Undefined, require, transition
from lawful.runtime.kernel import write_log
from tests.runtime.compile.test_in_place import counted
from tests.runtime.services.interrupting import at_every_place
from tests.runtime.services.test_recursion import at_every_depth


class Ledger(Machine):
    names: dict[int, int] = {}
    pages: dict[int, dict[int, int]] = {}
    rows: dict[int, list[int]] = {}
    queue: list[int] = []
    done: Nat = 0

    @transition()
    def put(self, key: int, n: int) -> int:
        self.enter(key, n)
        return 6 // n

    def enter(self, key: int, n: int) -> None:
        if key not in self.pages:
            self.pages[key] = {}
            self.rows[key] = []
        self.names[key] = n
        self.pages[key][n] = key
        self.rows[key].append(n)
        self.queue.append(key)

    @transition()
    def drop(self, key: int, n: int) -> int:
        """Nothing refuses after the helper, which refuses itself before it takes anything."""
        self.done += 1
        self.lose(key, n)
        return 6 // n

    def lose(self, key: int, n: int) -> None:
        require(key in self.names and key in self.pages, "it is not there")
        self.names[key + 1] = n
        del self.names[key]
        if n in self.pages[key]:
            del self.pages[key][n]

    @transition()
    def spare(self, key: int, n: int) -> None:
        self.lose(key, n)
        self.count(n)

    def count(self, n: int) -> None:
        require(n > 0, "too few")
        self.done += n

    @transition()
    def serve(self, key: int, n: int) -> int:
        self.advance(key)
        self.queue.append(n)
        self.advance(key)
        return 6 // n

    def advance(self, key: int) -> None:
        first = self.queue.pop(0)
        if first in self.names and key in self.rows and len(self.rows[key]) > 0:
            self.rows[key].pop(0)
            self.rows[key].append(first)

    @transition()
    def clear(self, key: int, n: int) -> int:
        """A loop calls the helper that takes."""
        for each in tuple(self.queue):
            if each in self.names:
                self.forget(each)
        self.pages[key] = {n: n}
        self.forget(key)
        return 6 // n

    def forget(self, key: int) -> None:
        if key in self.names:
            del self.names[key]
        if key in self.pages:
            self.pages[key][0] = 1
            del self.pages[key]


class Heir(Ledger):
    @transition()
    def drop(self, key: int, n: int) -> int:
        self.names[9] = n
        given = super().drop(key, n)
        del self.names[9]
        return given


EVENTS = "put", "drop", "spare", "serve", "clear"
FAULTS = Refused, Undefined
CLASSES = pytest.mark.parametrize("cls", [Ledger, Heir])


def whole(made: Ledger) -> Any:
    """Everything, whatever the order of keys."""
    pages = {key: dict(page) for key, page in made.pages.items()}
    rows = {key: list(row) for key, row in made.rows.items()}
    return dict(made.names), pages, rows, list(made.queue), made.done


def orders(made: Ledger) -> Any:
    return [*made.names], [*made.pages], [[*page] for page in made.pages.values()]


def act(made: Ledger, event: str, *args: int) -> Any:
    """The output, or the class of what was raised."""
    try:
        return made.lawful.take(event, *args)
    except FAULTS as error:
        return type(error)


def filled(cls: type[Ledger]) -> Ledger:
    made = cls()
    for key in (1, 2, 3):
        made.put(key, 2)
        made.put(key, 3)
    return made


ACTS = st.lists(
    st.tuples(st.sampled_from(EVENTS), st.integers(0, 3), st.integers(0, 3)), max_size=12
)


@given(st.sampled_from((Ledger, Heir)), ACTS)
def test_in_place_and_by_copies_is_the_same(
    cls: type[Ledger], acts: list[tuple[str, int, int]]
) -> None:
    made, copying = cls(), cls()
    for event in acts:
        before, order = whole(made), orders(made)
        held = copy.copy(copying)  # So that nothing of it may be changed in place.
        answer = act(copying, *event)
        del held
        assert act(made, *event) == answer
        assert whole(made) == whole(copying)
        if answer in FAULTS:
            assert whole(made) == before
        if answer is Refused:
            assert orders(made) == order


@counted
@CLASSES
def test_nothing_is_copied_that_nobody_holds(cls: type[Ledger]) -> None:
    made: Any = filled(cls)

    def inside() -> list[int]:
        held = [made._names_, made._pages_, made._pages_[1], made._rows_, made._rows_[1]]
        return [id(each) for each in (*held, made._queue_)]

    before = inside()
    made.drop(1, 2)
    made.serve(1, 1)
    made.clear(3, 1)
    assert inside() == before


@CLASSES
def test_what_somebody_holds_is_copied(cls: type[Ledger]) -> None:
    for event in EVENTS:
        made = filled(cls)
        held = made.names, made.pages, made.rows, made.queue
        before = repr(held)
        act(made, event, 1, 2)
        assert repr(held) == before


@counted
def test_where_a_later_statement_may_refuse_a_key_is_taken_from_a_copy() -> None:
    made: Any = filled(Ledger)
    before, order, names = whole(made), orders(made), id(made._names_)
    with pytest.raises(Refused, match="too few"):
        made.spare(1, 0)
    assert (whole(made), orders(made), id(made._names_)) == (before, order, names)
    made.spare(1, 2)
    assert id(made._names_) != names


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("cls", "event", "n"), list(itertools.product((Ledger, Heir), EVENTS, (0, 2)))
)
def test_an_interrupted_step_is_undone_or_done(cls: type[Ledger], event: str, n: int) -> None:
    before, after = whole(filled(cls)), filled(cls)
    act(after, event, 1, n)

    def play(attempt: Callable[..., bool]) -> None:
        made = filled(cls)
        was = attempt(lambda: act(made, event, 1, n))
        assert whole(made) in ((before, whole(after)) if was else (whole(after),))

    assert at_every_place((__file__, write_log.__file__), play) > 3


def test_a_step_is_undone_at_every_depth() -> None:
    def play(attempt: Callable[..., bool]) -> None:
        for event, n in (("drop", 2), ("drop", 0), ("serve", 0), ("clear", 0), ("clear", 1)):
            made = filled(Heir)
            before = whole(made)
            ran_out = attempt(lambda: act(made, event, 1, n))  # noqa: B023  # called at once
            assert (whole(made) == before) is (ran_out or n == 0)

    out, done = at_every_depth(play)
    assert out > 9 < done


class Holder:
    def __init__(self, held: Any) -> None:
        self.held = held


@given(st.lists(st.integers(), max_size=3), st.lists(st.sampled_from((True, False)), max_size=5))
def test_a_list_that_grew_and_lost_its_first_items_is_as_before(
    items: list[int], pops: list[bool]
) -> None:
    held = items.copy()
    log: dict[str, Any] = {"q": held, write_log.NOTES: []}
    made = Holder(held)
    for each in pops:
        there = write_log.put(made, ("q", "held", each), log, None)
        with contextlib.suppress(IndexError):
            _ = there.pop(0) if each else there.append(7)
    write_log.undo(log)
    assert held == items
