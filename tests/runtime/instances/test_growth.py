"""An element joins the universe of an instance: whole or not at all, and everybody hears of it."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from lawful import (
    Machine,
    Nat,
    PropertyViolated,
    Sort,
    Undefined,
    initial,
    invariant,
    step_property,
    total,
    transition,
)
from lawful.runtime.instances import growth
from lawful.runtime.kernel.event_record import Stepped
from tests.checks.declarations.growing import Cluster, Desk, Job, Node, Queue, Ring, Seat
from tests.runtime.services.interrupting import at_every_place

A, B, C = Node("a"), Node("b"), Node("c")


def cluster(*nodes: str) -> Cluster:
    return Cluster(universe={Node: list(nodes)})


def test_total_maps_get_their_default_and_nothing_else_changes() -> None:
    made = cluster("a")
    made.start(A)
    made.put(A)
    made.lawful.grow(Node, "b")
    assert made.load == {A: 1, B: 0}
    assert made.links == {(A, A): False, (A, B): False, (B, A): False, (B, B): True}
    assert (made.up, made.leader) == ({A}, A)
    assert made.lawful.snapshot()["universe"] == {"Node": ["a", "b"]}
    with pytest.raises(ValueError, match=r"^start: n: Node\('c'\) is no element of the universe$"):
        made.start(C)
    made.lawful.grow(Node, C)
    assert made.load == {A: 1, B: 0, C: 0}
    made.start(C)


def ring() -> Ring:
    made = Ring(universe={Seat: ["Seat1"], Queue: ["q"]})
    made.begin(Seat("Seat1"))
    return made


def test_parts_timers_and_a_ring_grow_with_it() -> None:
    made = ring()
    assert made.give() == Seat("Seat1")
    made.lawful.grow(Seat, "Seat0")  # By text it would come first.
    made.lawful.grow(Queue, "r")
    assert (made.give(), made.give()) == (Seat("Seat0"), Seat("Seat1"))
    assert made.order() == (Seat("Seat1"), Seat("Seat0"))
    assert made.desks == {Seat("Seat1"): Desk(), Seat("Seat0"): Desk()}
    assert {q: timer.armed for q, timer in made.idle.items()} == {
        Queue("q"): False,
        Queue("r"): False,
    }
    made.lawful.grow(Seat, "Seat9")
    made.post(Job(Seat("Seat9"), Queue("r")))
    made.lawful.fire_due(1e12)
    assert [desk.done for desk in made.desks.values()] == [1, 1, 1]


class Other(Sort):
    """A fixed sort."""


class Fixed(Machine):
    seen: dict[Other, Nat] = total(0)


@pytest.mark.parametrize(
    ("grow", "error", "what"),
    [
        (lambda: cluster("a").lawful.grow(Node, "a"), ValueError, "in the universe already"),
        (lambda: cluster("a").lawful.grow(Other, "a"), TypeError, "is no sort of Cluster"),
        (lambda: cluster("a").lawful.grow(Node, Other("b")), TypeError, "is no Node"),
        (
            lambda: Desk().lawful.grow(Seat, "b"),
            ValueError,
            r"made without universe={Seat: \[...\]}",
        ),
        (
            lambda: Fixed(universe={Other: ["a"]}).lawful.grow(Other, "b"),
            TypeError,
            r"Other has the elements that it has; declare class Other\(Sort, growing=True\)",
        ),
        (
            lambda: Ring(universe={Seat: ["Seat1"], Queue: ["q"]}).lawful.grow(Seat, "b"),
            RuntimeError,
            "begin has to be called first",
        ),
        (lambda: ring().desks[Seat("Seat1")].lawful.grow(Seat, "b"), RuntimeError, "a part"),
    ],
)
def test_what_cannot_be_is_refused(
    grow: Callable[[], None], error: type[Exception], what: str
) -> None:
    with pytest.raises(error, match=what):
        grow()


class Few(Machine):
    """Two nodes at most, and of a small rank."""

    number: dict[Node, Nat] = total(0)
    limit: Nat = 2

    @transition()
    def lower(self) -> None:
        self.limit = 1

    @invariant
    def few(self) -> bool:
        return len(Node) <= self.limit

    @step_property
    def none_is_lost(self, after: Few) -> bool:
        return all(after.number[n] == self.number[n] for n in Node) and self.limit < 3


class Uneven(Machine):
    """A default that has no value where there are three."""

    share: dict[Node, int] = total(lambda n: 6 // (3 - sum(1 for _ in Node)))


def test_invariants_are_judged_and_the_growth_is_undone() -> None:
    made = Few(universe={Node: ["a"]})
    made.lawful.grow(Node, "b")
    before = made.lawful.snapshot()
    with pytest.raises(PropertyViolated, match=r"^Few.grow_Node: few: false"):
        made.lawful.grow(Node, "c")
    assert made.lawful.snapshot() == before
    uneven = Uneven(universe={Node: ["a"]})
    uneven.lawful.grow(Node, "b")
    assert uneven.share == {A: 3, B: 6}
    before = uneven.lawful.snapshot()
    with pytest.raises(Undefined, match=r"^Uneven.grow_Node: .*ZeroDivisionError"):
        uneven.lawful.grow(Node, "c")
    assert uneven.lawful.snapshot() == before


def test_asserted_step_properties_go_through_the_elements_before() -> None:
    asserted = Few.lawful.enforce("all")
    try:
        made = Few(universe={Node: ["a"]})
        made.lawful.grow(Node, "b")
        assert asserted.names == ("few", "none_is_lost") and made.number == {A: 0, B: 0}
    finally:
        Few.lawful.enforce("off")


def test_observers_hear_of_it_and_copies_have_their_own() -> None:
    made, heard = cluster("a"), list[Stepped]()
    end = made.lawful.observe(heard.append)
    made.lawful.grow(Node, "b")
    end()
    (done,) = heard
    assert (done.event, done.transition, done.outcome) == ("grow_Node", "grow_Node", "done")
    assert (done.args, dict(done.changed["load"])) == ({"element": B}, {A: 0, B: 0})
    other = copy.deepcopy(made)
    other.lawful.grow(Node, "c")
    assert len(made.load) == 2 and len(other.load) == 3
    again = pickle.loads(pickle.dumps(other))
    again.lawful.grow(Node, "d")
    assert len(again.load) == 4
    back = Cluster.lawful.restore(other.lawful.snapshot())
    back.lawful.grow(Node, "d")
    assert back == again


class _Full(Exception):
    """No room."""


def test_it_is_undone_where_its_log_does_not_take_it() -> None:
    class Log:
        kept: Any = ()
        at: Any = 0
        next: Any = 0
        held = False

        def begin(self) -> None: ...

        def write(self, done: Stepped) -> None:
            raise _Full

    made = cluster("a")
    watch = made.lawful.watched("test")
    watch.log = Log()
    before = made.lawful.snapshot()
    with pytest.raises(_Full):
        made.lawful.grow(Node, "b")
    assert made.lawful.snapshot() == before
    watch.log = None
    made.lawful.grow(Node, "b")
    assert made.load == {A: 0, B: 0}


@pytest.mark.parametrize("observed", [False, True])
def test_an_interrupted_growth_is_whole_or_none(observed: bool) -> None:
    def fresh() -> Ring:
        made = ring()
        if observed:
            made.lawful.observe(lambda _: None)
        return made

    def act(made: Ring) -> None:
        made.lawful.grow(Seat, "Seat2")

    before, done = fresh().lawful.snapshot(), fresh()
    act(done)
    after = done.lawful.snapshot()

    def play(attempt: Callable[..., bool]) -> None:
        made = fresh()
        was = attempt(lambda: act(made))
        assert made.lawful.snapshot() in ((before, after) if was else (after,))
        known = made.__environment__
        assert known.members == known.universe.members
        assert len(made.desks) == len(known.universe["Seat"])

    assert at_every_place((growth.__file__,), play) > 20


class Begun(Machine):
    """Which has an `@initial` beside defaults."""

    size: Nat

    @initial
    def begin(self) -> None:
        self.size = len(Node)


def test_an_initial_goes_through_the_elements_that_there_are() -> None:
    made = Begun(universe={Node: ["a", "b"]})
    made.begin()
    made.lawful.grow(Node, "c")
    assert made.size == 2
