"""Equality, copies, pickles and snapshots."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest

from lawful import (
    Ambiguous,
    Machine,
    Nat,
    PropertyViolated,
    Refused,
    Timer,
    Undefined,
    transition,
)
from lawful.runtime.kernel.event_record import Stepped
from lawful.runtime.timers import SimulatedClock
from lawful.spec.outcomes import Reason
from tests.runtime.declarations.every_variable import Desk, Life, Parcel, Who, busy


class Other(Machine):
    n: Nat = 0

    @transition()
    def up(self) -> None:
        self.n += 1


def test_equality_repr_and_hash() -> None:
    assert busy() == busy()
    assert busy() != Desk(limit=5)
    assert Desk() != Other()
    with pytest.raises(TypeError, match="unhashable"):
        hash(Desk())
    assert repr(Other()) == "Other(n=0)"
    assert "nap=armed" in repr(busy()) and "nap=stopped" in repr(Desk())


def pickled(desk: Desk) -> Desk:
    again = pickle.loads(pickle.dumps(desk))
    assert isinstance(again, Desk)
    return again


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, pickled])
def test_copies_are_equal_and_independent(again: Any) -> None:
    desk = busy()
    other = again(desk)
    assert other == desk
    other.take(Who("bob"), Parcel(8, b""))
    assert (desk.count, other.count, desk.pairs) == (1, 2, {7: {1}})
    desk.close()
    assert other.state is Life.LIVE
    assert other.lawful.next_deadline() is None  # Its timers fire nothing.


def test_a_copy_is_on_the_same_clock_and_unobserved() -> None:
    clock, heard = SimulatedClock(), list[Stepped]()
    desk = busy(clock)
    desk.lawful.observe(heard.append)
    other = copy.copy(desk)
    other.close()
    assert heard == []
    assert other.nap == desk.nap
    clock.advance(1)
    assert other.lawful.snapshot()["variables"]["nap"] == 0.5


def test_a_snapshot_is_json_and_comes_back() -> None:
    clock = SimulatedClock(10.0)
    desk = busy(clock)
    clock.advance(0.5)
    data = json.loads(json.dumps(desk.lawful.snapshot()))
    assert data["variables"]["nap"] == 1.0
    later = SimulatedClock(1000.0)
    other = Desk.lawful.restore(data, clock=later)
    assert other == desk
    assert other.parcels[7].body == b"\x00seven"
    assert other.nap == Timer(deadline=1001.0)
    assert other.take(Who("bob"), Parcel(8, b"")) == 2


def test_what_is_no_snapshot_is_refused() -> None:
    data = busy().lawful.snapshot()
    with pytest.raises(ValueError, match="a snapshot of another Other"):
        Other.lawful.restore(data)
    for name, value, text in [
        ("count", -1, "count: -1 is below 0"),
        ("count", "x", "expected a Nat"),
        ("state", "NONE", "expected a Life"),
        ("parcels", {"$map": [[1, {"$": "Other"}]]}, "expected"),
    ]:
        broken = copy.deepcopy(data)
        broken["variables"][name] = value
        with pytest.raises(ValueError, match=text):
            Desk.lawful.restore(broken)
    del data["variables"]["count"]
    with pytest.raises(ValueError, match=r"has .*'count'"):
        Desk.lawful.restore(data)


@pytest.mark.parametrize(
    "error",
    [
        Refused("M", "e", "S", [Reason("t", "1 < 0 is false", "no", {"n": 1})]),
        Undefined("M", "e", "nothing"),
        PropertyViolated("M", "e", "bounds", "n: -1 is below 0"),
        Ambiguous("M", "e", "two"),
    ],
)
def test_errors_can_be_pickled(error: Exception) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


class Inner(Machine):
    n: Nat = 0
    nap: Timer = Timer()

    @transition()
    def up(self) -> None:
        self.n += 1
        self.nap.start(3)


class Outer(Machine):
    one: Inner = Inner()
    two: Inner = Inner()

    @transition()
    def up(self, both: bool) -> None:
        self.one.up()
        if both:
            self.two.up()

    @transition(timer="two.nap")
    def wake(self) -> Nat:
        return self.two.n


def test_parts_are_copied_restored_and_observed() -> None:
    clock = SimulatedClock()
    outer, heard = Outer(clock=clock), list[Stepped]()
    outer.lawful.observe(heard.append)
    outer.up(True)
    outer.up(False)
    assert [sorted(done.changed) for done in heard] == [["one", "two"], ["one"]]
    assert [done.changed["one"].n for done in heard] == [1, 2]
    for other in (
        copy.copy(outer),
        pickle.loads(pickle.dumps(outer)),
        Outer.lawful.restore(json.loads(json.dumps(outer.lawful.snapshot()))),
    ):
        assert other == outer
        other.up(True)
        assert (other.two.n, outer.two.n) == (2, 1)
    clock.advance(3)
    assert [f.output for f in outer.lawful.fire_due(clock.now())] == [1]
    assert outer.lawful.next_deadline() is None
    assert outer.one.nap.armed


class Wait(Machine):
    ring: Timer = Timer()
    rings: dict[int, Timer] = {}


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"v": 2}, "a snapshot of version 2; this lawful reads 1"),
        ({"parameters": [1]}, r"a snapshot of Wait has \[\]"),
        ({"parameters": None}, r"a snapshot of Wait has \[\]"),
        (
            {"variables": {"ring": float("nan"), "rings": {"$map": []}}},
            "nan seconds is not a valid time",
        ),
        ({"variables": {"ring": None, "rings": {"$map": [[1, float("inf")]]}}}, "inf seconds"),
        ({"variables": {"ring": None, "rings": {"$map": [[float("inf"), 1]]}}}, "found Infinity"),
    ],
)
def test_forged_snapshots_are_refused(changes: dict[str, object], what: str) -> None:
    snapshot = Wait().lawful.snapshot()
    assert Wait.lawful.restore(snapshot) == Wait()
    with pytest.raises(ValueError, match=what):
        Wait.lawful.restore({**snapshot, **changes})


@pytest.mark.parametrize("data", [None, 1, [], "x"])
def test_what_is_no_object_is_refused(data: Any) -> None:
    with pytest.raises(ValueError, match="not a snapshot of Wait"):
        Wait.lawful.restore(data)


@pytest.mark.parametrize("named", [{}, [], None, "Wait"])
def test_parts_of_another_machine_are_refused(named: object) -> None:
    snapshot = Outer().lawful.snapshot()
    snapshot["variables"]["one"]["machine"] = named
    with pytest.raises(ValueError, match=r"one is a .*, not "):
        Outer.lawful.restore(snapshot)
