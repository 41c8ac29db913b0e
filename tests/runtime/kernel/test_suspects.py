"""`SUSPECT`: no step leaves an entry, however it ends."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from lawful import Machine, Nat, PropertyViolated, Refused, Undefined, event, require, transition
from lawful.runtime.kernel import commit, dispatch, operators, suspects
from lawful.runtime.kernel.suspects import SUSPECT, suspect
from tests.runtime.services.interrupting import at_every_place

KERNEL = (__file__, *(str(each.__file__) for each in (commit, dispatch, operators, suspects)))


class Cell(Machine):
    held: dict[Nat, Nat] = {}
    sealed: bool = False

    @transition()
    def put(self, at: int, x: int) -> None:
        self.held[at] = x

    @transition()
    def put_some(self, at: int, x: int) -> None:
        self.held[at] = x
        require(at > 0, "no place")

    @transition()
    def put_lost(self, at: int, x: int) -> None:
        self.held[at] = x
        self.held[at] = self.held[77]

    @event
    def seal(self) -> None: ...

    @transition(event="seal")
    def empty(self) -> None:
        require(not self.held, "not empty")
        self.sealed = True

    @transition(event="seal")
    def full(self) -> None:
        self.sealed = True
        require(len(self.held) > 0, "empty")


class Rack(Machine):
    main: Cell = Cell()
    cells: dict[int, Cell] = {}
    last: dict[int, Nat] = {}

    @transition()
    def write(self, x: int) -> None:
        self.last[0] = x

    @transition()
    def overwrite(self, x: int) -> None:
        self.last[0] = x
        self.last[0] = 1

    @transition()
    def write_some(self, x: int) -> None:
        self.note(x)
        require(x > 0, "nothing")

    def note(self, x: int) -> None:
        self.last[0] = x

    @transition()
    def fill(self, x: int) -> None:
        self.main.put(1, x)

    @transition()
    def fill_and_seal(self, x: int) -> None:
        self.main.put(1, x)
        self.main.seal()

    @transition()
    def fill_all(self, x: int) -> None:
        for at in (1, 2):
            self.main.put(at, x)

    @transition()
    def add(self, x: int) -> None:
        self.cells[0] = Cell()
        self.cells[0].put(1, x)

    @transition()
    def add_some(self, x: int) -> None:
        self.cells[0] = Cell()
        self.cells[0].put_some(x, 1)

    @transition()
    def drop(self, x: int) -> None:
        self.cells[1] = Cell()
        self.cells[1].put(1, x)
        del self.cells[1]

    @transition(event="move")
    def left(self, x: int) -> None:
        self.cells[0] = Cell()
        self.cells[0].put_some(x, 1)

    @transition(event="move")
    def right(self, x: int) -> None:
        self.cells[0] = Cell()
        self.cells[0].put(1, x)
        require(x > 0, "not that way")

    @transition(event="note_one")
    def note_left(self, x: int) -> None:
        self.last[0] = x
        require(x > 0, "nothing")

    @transition(event="note_one")
    def note_right(self, x: int) -> None:
        self.last[1] = x
        require(x > 0, "nothing")

    @transition(event="lose")
    def lose_left(self, x: int) -> None:
        self.cells[0] = Cell()
        self.cells[0].put_some(x, 1)

    @transition(event="lose")
    def lose_right(self, x: int) -> None:
        self.cells[0] = Cell()
        self.cells[0].put_lost(1, x)


OUTCOMES: dict[str, type[Exception] | None] = {  # With -1 as the argument.
    "write": PropertyViolated,
    "overwrite": None,
    "write_some": Refused,
    "fill": PropertyViolated,
    "fill_and_seal": PropertyViolated,
    "fill_all": PropertyViolated,
    "add": PropertyViolated,
    "add_some": Refused,
    "drop": None,
    "move": Refused,
    "note_one": Refused,
    "lose": Undefined,
}


def _bare(rack: Any) -> None:
    pass


def _observed(rack: Any) -> None:
    rack.lawful.observe(list[object]().append)


WATCHES = {"bare": _bare, "observed": _observed}


def _call(rack: Any, event: str) -> type[Exception] | None:
    """How the event ends."""
    try:
        getattr(rack, event)(-1)
    except (PropertyViolated, Refused, Undefined) as error:
        return type(error)
    return None


def _whole(rack: Any) -> Any:
    return dict(rack.main.held), {k: dict(c.held) for k, c in rack.cells.items()}, dict(rack.last)


@pytest.fixture(autouse=True)
def only_freed_at_once() -> Iterator[None]:
    """Without the collector, so that an exception that leads to itself would be noticed."""
    gc.disable()
    SUSPECT.clear()
    yield
    gc.enable()


@pytest.mark.parametrize("watch", WATCHES)
@pytest.mark.parametrize("event", OUTCOMES)
def test_no_step_leaves_an_entry(event: str, watch: str) -> None:
    rack: Any = Rack()
    WATCHES[watch](rack)
    before = _whole(rack)
    assert _call(rack, event) is OUTCOMES[event]
    assert SUSPECT == {}
    assert (_whole(rack) == before) == (event != "overwrite")


@pytest.mark.parametrize("event", OUTCOMES)
def test_asking_leaves_no_entry(event: str) -> None:
    rack: Any = Rack()
    assert rack.lawful.may(event, -1) == (OUTCOMES[event] is not Refused)
    assert SUSPECT == {}


@pytest.mark.one_in(6)
@pytest.mark.parametrize("watch", WATCHES)
@pytest.mark.parametrize("event", OUTCOMES)
def test_no_interrupted_step_leaves_an_entry(event: str, watch: str) -> None:
    def play(attempt: Callable[..., bool]) -> None:
        rack: Any = Rack()
        WATCHES[watch](rack)
        attempt(lambda: _call(rack, event))
        if OUTCOMES[event] is Refused:  # Interrupted before its refusal was handled.
            assert SUSPECT.keys() <= {id(rack)}
            rack.lawful.take("write", 1)
        if OUTCOMES[event] is Undefined:  # Interrupted while a frame held its fault.
            gc.collect()
        assert SUSPECT == {}

    assert at_every_place(KERNEL, play) > 10


def test_an_instance_that_is_freed_leaves() -> None:
    cell = Cell()
    suspect(cell)
    suspect(cell)
    assert SUSPECT.keys() == {id(cell)}
    del cell
    assert SUSPECT == {}


class Choice(Machine):
    """The one transition that runs is undone while the one after it is tried."""

    held: dict[Nat, Nat] = {}

    @event
    def go(self, x: int) -> None: ...

    @transition(event="go")
    def put(self, x: int) -> None:
        self.held = {1: x}

    @transition(event="go")
    def refuse(self, x: int) -> None:
        self.held[2] = 5
        require(x > 99, "too small")


def test_a_transition_that_ran_before_another_was_refused_is_judged() -> None:
    choice = Choice()
    choice.go(4)
    with pytest.raises(PropertyViolated, match=r"bounds: held\[1\]: -1 is below 0"):
        choice.go(-1)
    assert (choice.held, SUSPECT) == ({1: 4}, {})


def test_of_parts_too() -> None:
    class Holder(Machine):
        inner: Choice = Choice()

        @transition()
        def pass_on(self, x: int) -> None:
            self.inner.go(x)

    holder = Holder()
    with pytest.raises(PropertyViolated, match=r"bounds: inner.held\[1\]: -1 is below 0"):
        holder.pass_on(-1)
    assert (holder.inner.held, SUSPECT) == ({}, {})
