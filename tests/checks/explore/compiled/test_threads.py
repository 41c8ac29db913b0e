"""Several threads find what one finds, in its order, and stop where it stops."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Generator
from typing import Annotated, Any

import numpy as np
import pytest
from annotated_types import Interval

from lawful import (
    Fairness,
    Machine,
    OrderedSort,
    Scope,
    Weak,
    eventually,
    invariant,
    predecessor,
    require,
    total,
    transition,
)
from lawful.checks.explore.compiled import arrays, llvm, threads
from lawful.checks.explore.compiled.counting import coverage
from lawful.checks.explore.compiled.engine import PackedSearch, search
from lawful.checks.explore.compiled.memory import Memory
from lawful.checks.explore.compiled.state_store import Span, Stopped
from lawful.checks.explore.expansion.successors import Text
from lawful.checks.explore.limits import Limits
from lawful.checks.explore.native import kernel_rows
from lawful.checks.explore.native.kernel_rows import PIECE_ROOM, PIECED
from lawful.checks.explore.space import Space
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from tests.classics.two_phase import TwoPhase

pytestmark = pytest.mark.optimised
IDLE = 1.0  # Seconds of processor time without progress: a chunk takes a thousandth of it.


@pytest.fixture(autouse=True)
def none_waits_for_ever(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """Threads that wait for one another for ever are sent home, and the search fails."""
    advance, over = threads.Workers.advance, threading.Event()
    working, stuck = list[threads.Workers](), list[bool]()

    def progress() -> list[int]:
        rows = (workers.memory.arrays.control for workers in tuple(working))
        return [int(c[at]) for c in rows for at in (kernel_rows.TURN, kernel_rows.CLAIMED)]

    def watch() -> None:
        known, since = progress(), time.process_time()
        while not over.wait(0.1):
            before, known = known, progress()
            if known != before or not working:
                since = time.process_time()
            elif time.process_time() - since > IDLE:
                stuck.append(True)
                for workers in tuple(working):
                    workers.memory.arrays.control[kernel_rows.TURN] = -1

    def watched(self: threads.Workers, span: Span) -> Stopped | None:
        working.append(self)
        stopped = advance(self, span)
        working.remove(self)
        assert not stuck, "the threads wait for ever"
        return stopped

    monkeypatch.setattr(threads.Workers, "advance", watched)
    watcher = threading.Thread(target=watch)
    watcher.start()
    yield
    over.set()
    watcher.join()


class Walk(Machine):
    """A corner of the plane; a wide level of many states, some of which break what is said."""

    x: int = 0
    y: int = 0
    z: int = 0

    @transition()
    def east(self) -> None:
        self.x += 1

    @transition()
    def north(self) -> None:
        self.y += 1

    @transition()
    def up(self) -> None:
        self.z += 1

    @invariant
    def near(self) -> bool:
        return self.x + 2 * self.y + 3 * self.z != 301

    deadlock_ok = True
    scope = Scope(int=range(0, 120))


def space_of(cls: type[Machine], scope: Scope | None = None) -> Space:
    resolved = resolve(cls)
    scope = scope or resolved.scopes["scope"]
    return Space(lower(resolved.machine, scope), resolved.world)


def found(space: Space, workers: int, **limits: Any) -> PackedSearch:
    return search(space, Limits(workers=workers, **limits), tier="compiled")


def told(s: PackedSearch) -> dict[str, Any]:
    failures = {name: (f.at, f.verdict, f.why) for name, f in s.failures.items()}
    return {
        "counts": (s.count, s.generated, s.depth, s.complete, s.expanded),
        "by": (s.enabled, s.new, dict(s.cut_by), failures, sorted(s.escaped)),
        "states": [tuple(s.store.words_of(n)) for n in range(0, s.count, 97)],
        "parents": [s.store.parent(n) for n in range(0, s.count, 89)],
    }


@pytest.mark.one_in(2)
@pytest.mark.parametrize("workers", [2, 3])
def test_several_find_what_one_finds(workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "LARGE", 1 << 14)
    taken, teams = counted(monkeypatch), teams_made(monkeypatch)
    two_phase = space_of(TwoPhase, Scope(RM=6))
    one = told(found(two_phase, 1))
    assert not taken
    two = found(two_phase, workers)
    assert told(two) == one
    assert sum(taken) > 25_000
    assert isinstance(two.store, Memory)
    places = len(two.store.arrays.table)
    assert places == 8 * threads.LARGE and len(two.store.threads.shares(places)) == workers
    assert len(teams) == 1  # However often the table has grown.
    assert one["counts"][:2] == (50_816, 402_306)


Side = Annotated[int, Interval(ge=0, le=29)]


class Cube(Machine):
    """Wide levels by an event with arguments. There is liveness, so its steps have labels."""

    at: dict[Annotated[int, Interval(ge=0, le=2)], Side] = {0: 0, 1: 0, 2: 0}

    @transition()
    def go(
        self, axis: Annotated[int, Interval(ge=0, le=2)], by: Annotated[int, Interval(ge=1, le=3)]
    ) -> None:
        require(self.at[axis] + by < 30, "the end")
        self.at[axis] += by

    @eventually
    def arrives(self) -> bool:
        return self.at[0] == 29

    deadlock_ok = True
    fairness = Fairness(Weak("go"))
    scope = Scope()


@pytest.mark.nightly
def test_several_know_the_parents_where_steps_have_labels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(threads, "LEAST", 2 * kernel_rows.CHUNK)
    taken, cube = counted(monkeypatch), space_of(Cube)
    one, two = found(cube, 1), found(cube, 2)
    assert one.stepping.labelled and sum(taken) > 1_000 and one.count == 27_000
    assert told(one) == told(two)
    parents = [[s.store.parent(n) for n in range(s.count)] for s in (one, two)]
    assert parents[0] == parents[1]
    assert [two.parents[n][:2] for n in range(1, 27_000, 997)] == parents[0][1::997]


class Node(OrderedSort):
    """A node of a ring."""


class Ring(Machine):
    """Numbers go round a ring of channels, the greater ones further: states of many words."""

    sent: dict[Node, bool] = total(False)
    to: dict[Node, list[Node]] = total([])

    @transition()
    def send(self, n: Node) -> None:
        require(not self.sent[n], "it was sent")
        self.sent[n] = True
        self.to[predecessor(n)].append(n)

    @transition()
    def hear(self, n: Node) -> None:
        require(len(self.to[n]) > 0, "nothing to hear")
        m = self.to[n].pop(0)
        if m > n:
            self.to[predecessor(n)].append(m)

    deadlock_ok = True
    scope = Scope(Node=9, to=9)


@pytest.mark.nightly
def test_folded_states_are_the_same_by_one_by_several_and_unfolded() -> None:
    space = space_of(Ring)
    one, two = found(space, 1, states=6_000), found(space, 2, states=6_000)
    assert isinstance(one.store, Memory) and one.store.shape.pieces == 5
    unfolded = search(space, Limits(states=6_000), tier="generated")
    assert told(one) == told(two) == told(unfolded)
    kept = {name: bytes(item) for name, item in one.store.kept(one.count)}
    assert kept == {name: bytes(item) for name, item in unfolded.store.kept(unfolded.count)}
    assert one.store.arrays.control[PIECED] < 10_000
    masks = [(1 << 62) - 1, 0xFFFF]
    rows = [sorted(map(tuple, s.store.distinct([1, 4], masks, 6_000))) for s in (one, unfolded)]
    assert rows[0] == rows[1]
    seen = [coverage(s, Limits()) for s in (one, unfolded)]
    assert seen[0].values == seen[1].values and seen[0].guards == seen[1].guards


@pytest.mark.nightly
@pytest.mark.one_in(2)
@pytest.mark.parametrize("workers", [1, 2])
def test_where_the_room_for_pieces_ends_no_state_is_forgotten(
    workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With little room it ends in the middle of the successors of a state, again and again; and
    each piece has one number, whichever thread was first to find it."""
    space = space_of(Ring)
    wanted = told(search(space, Limits(states=30_000), tier="generated"))
    monkeypatch.setattr(arrays, "INDEX", 1 << 6)
    monkeypatch.setattr(arrays, "PLACES", 1 << 16)  # States have room: only pieces have none.
    monkeypatch.setattr(threads, "LEAST", 2 * kernel_rows.CHUNK)
    taken = counted(monkeypatch)

    full = list[int]()

    def noted(self: Memory, count: int) -> None:
        """Room for as little as a step may need."""
        c = self.arrays.control
        full.append(int(c[PIECED]))
        more = (self.room + 1) * self.shape.pieces
        self.grow(count, self.room + 1, more)
        c[PIECE_ROOM] = c[PIECED] + more

    monkeypatch.setattr(Memory, "grow_on", noted)
    one = found(space, workers, states=30_000)
    assert told(one) == wanted
    assert isinstance(one.store, Memory)
    count = one.store.arrays.control[PIECED]
    pieces = np.asarray(one.store.arrays.pieces).reshape(-1, 2)[:count]
    assert len(np.unique(pieces, axis=0)) == count
    assert len(full) > 3, full
    assert bool(taken) == (workers > 1)


class Lamp(OrderedSort):
    """One of many lamps."""


class Panel(Machine):
    """Lamps of sixty bits each: states of seventy words, of which a step changes one or two."""

    lamps: dict[Lamp, int] = total(0)

    @transition()
    def brighter(self, n: Lamp) -> None:
        require(self.lamps[n] < 2, "it is bright")
        self.lamps[n] += 1

    @transition()
    def dim(self, n: Lamp) -> None:
        require(self.lamps[n] > 0 and self.lamps[predecessor(n)] > 0, "it is dark")
        self.lamps[n] = 0
        self.lamps[predecessor(n)] -= 1

    deadlock_ok = True
    scope = Scope(Lamp=70, int=range(0, 1 << 60))


@pytest.mark.nightly
def test_of_many_words_each_that_changes_is_seen() -> None:
    space = space_of(Panel)
    one = found(space, 1, states=4_000)
    assert isinstance(one.store, Memory) and one.store.words == 70
    assert told(one) == told(search(space, Limits(states=4_000), tier="generated"))


@pytest.mark.nightly
def test_they_stop_where_one_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = counted(monkeypatch)
    space = space_of(Walk)
    for limits in ({}, {"states": 200_001}, {"states": 200_500}, {"first": True}):
        taken.clear()
        one = told(found(space, 1, **limits))
        assert told(found(space, 2, **limits)) == one
        assert bool(taken) == ("first" not in limits)  # Where it stops is one thread's to say.


@pytest.mark.nightly
def test_they_go_on_after_what_was_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """They stop again and again, with chunks expanded that are expanded anew later."""
    taken = counted(monkeypatch)
    advance = threads.Workers.advance

    def briefly(self: threads.Workers, span: Span) -> Stopped | None:
        return advance(self, dataclasses.replace(span, most=span.count + 700))

    space = space_of(TwoPhase, Scope(RM=6))
    one = told(found(space, 1))
    monkeypatch.setattr(threads.Workers, "advance", briefly)
    assert told(found(space, 2)) == one
    assert len(taken) > 20


@pytest.mark.nightly
def test_none_takes_a_slot_that_is_not_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two slots for chunks of eight states: the threads wait for them all the time."""
    space = space_of(TwoPhase, Scope(RM=6))
    one = told(found(space, 1))
    for name, number in (("SLOTS", 2), ("CHUNK", 8)):
        monkeypatch.setattr(kernel_rows, name, number)
        monkeypatch.setitem(llvm.NUMBERS, name, number)

    def nowhere(_text: Text, _speed: int) -> None:
        return None

    monkeypatch.setattr(llvm, "kept", nowhere)
    assert told(found(space, 3)) == one


def test_there_are_as_many_as_processors() -> None:
    assert 1 <= threads.processors() <= 4096
    assert threads.LEAST > kernel_rows.CHUNK


def teams_made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """For how many threads arrays are made from now on, one time after the other."""
    made = list[int]()
    for_team = Memory.for_team

    def noted(self: Memory, count: int) -> Any:
        made.append(count)
        return for_team(self, count)

    monkeypatch.setattr(Memory, "for_team", noted)
    return made


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of states that the threads expand from now on."""
    taken: list[int] = []
    advance = threads.Workers.advance

    def noted(self: threads.Workers, span: Any) -> Any:
        stopped = advance(self, span)
        if stopped is not None:
            taken.append(stopped.next - span.next)
        return stopped

    monkeypatch.setattr(threads.Workers, "advance", noted)
    return taken
