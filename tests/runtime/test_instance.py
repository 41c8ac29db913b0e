"""Instances from outside: construction, reading, `lawful`, observers, copies, snapshots."""

from __future__ import annotations

import copy
import json
import pickle
from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any

import pytest

from lawful import (
    Machine,
    Nat,
    Opaque,
    Param,
    PropertyViolated,
    Record,
    Refused,
    Sort,
    State,
    Timer,
    Undefined,
    assume,
    ignore,
    initial,
    invariant,
    require,
    total,
    transition,
)
from lawful.runtime.observed import Stepped
from lawful.runtime.timers import SimulatedClock
from lawful.spec.outcomes import Reason

Blob = Annotated[bytes, Opaque("Blob")]


class Life(State):
    NEW = "new"
    LIVE = "live"
    DEAD = "dead"


class Who(Sort):
    pass


class Parcel(Record):
    key: Nat
    body: Blob


class Desk(Machine):
    """What a snapshot has to carry."""

    state: Life = Life.NEW
    count: Nat = 0
    names: set[Who] = set()
    parcels: dict[Nat, Parcel] = {}
    order: list[Nat] = []
    bag: Counter[Nat] = Counter()
    pairs: dict[Nat, set[Nat]] = {}
    last: Parcel | None = None
    nap: Timer = Timer()
    leases: dict[Who, Timer] = {}

    limit: Param[Nat] = 3
    seconds: Param[float] = 1.5
    fixed: Param[Mapping[bool, Nat]] = {False: 0, True: 1}

    @transition(source=(Life.NEW, Life.LIVE), target=Life.LIVE)
    def take(self, who: Who, parcel: Parcel) -> Nat:
        require(self.count < self.limit, "the desk is full")
        require(parcel.key not in self.parcels, "is there")
        self.count += 1
        self.names.add(who)
        self.parcels[parcel.key] = parcel
        self.order.append(parcel.key)
        self.bag[parcel.key] += 1
        self.pairs[parcel.key] = {self.count}
        self.last = parcel
        self.nap.start(self.seconds)
        self.leases[who] = Timer()
        self.leases[who].start(self.seconds)
        return self.count

    @transition(source=(Life.NEW, Life.LIVE), target=Life.DEAD)
    def close(self) -> None:
        require(self.count > 0, "nothing was taken")

    dead = ignore("close", source=Life.DEAD, because="it is closed")

    @transition(source=Life.DEAD)
    def bury(self) -> None: ...

    @invariant
    def within_limit(self) -> bool:
        return self.count <= self.limit

    def label(self, suffix: str) -> str:
        """Plain Python, left alone."""
        return f"{self.state.value}/{len(self.parcels)}{suffix}"

    @property
    def size(self) -> int:
        return len(self.names)


PARCEL = Parcel(7, b"\x00seven")


def busy(clock: SimulatedClock | None = None) -> Desk:
    desk = Desk(limit=5, clock=clock)
    desk.take(Who("ann"), PARCEL)
    return desk


# Construction.


def test_parameters_come_by_keyword() -> None:
    desk = Desk(limit=1, fixed={False: 2, True: 3})
    assert (desk.limit, desk.seconds, desk.fixed[True]) == (1, 1.5, 3)
    with pytest.raises(TypeError, match="no parameter limits; its parameters: limit, seconds"):
        Desk(limits=1)
    with pytest.raises(TypeError, match="Desk: limit is a Nat, not '1', a str"):
        Desk(limit="1")
    with pytest.raises(ValueError, match="Desk: limit: -1 is below 0"):
        Desk(limit=-1)


def test_a_mapping_that_was_given_is_the_machines_own() -> None:
    given = {False: 2, True: 3}
    desk = Desk(fixed=given)
    given[True] = 9
    assert desk.fixed[True] == 3


class Assuming(Machine):
    low: Param[Nat]
    high: Param[Nat] = 5
    n: Nat = 0

    @transition()
    def step(self) -> None:
        self.n += self.high - self.low

    @assume
    def ordered(self) -> bool:
        return self.low <= self.high


def test_what_is_assumed_is_checked() -> None:
    assert Assuming(low=5).low == 5
    with pytest.raises(ValueError, match="Assuming: the assumption ordered is false"):
        Assuming(low=6)
    with pytest.raises(TypeError, match="Assuming needs its parameter low"):
        Assuming()


class Base(Machine, abstract=True):
    n: Nat = 0

    @transition()
    def up(self) -> None:
        self.n += 1


class Made(Base):
    pass


def test_an_abstract_machine_has_no_instances() -> None:
    with pytest.raises(TypeError, match="Base is abstract"):
        Base()
    made = Made()
    made.up()
    assert made.n == 1


class Below(Machine):
    n: Nat = -1

    @transition()
    def up(self) -> None:
        self.n += 1


def test_initial_values_are_within_bounds() -> None:
    with pytest.raises(PropertyViolated, match="bounds: n: -1 is below 0"):
        Below()


class Starting(Machine):
    state: Life
    owner: dict[Who, Nat] = total(0)
    n: Nat = 4

    @initial
    def with_owner(self, who: Who, n: Nat) -> None:
        require(n < 10, "too many")
        self.owner[who] = n
        self.state = Life.LIVE

    @initial
    def idle(self) -> None:
        self.state = Life.NEW

    @transition(source=Life.LIVE)
    def up(self) -> None:
        self.n += 1


def test_exactly_one_initial_is_called_first() -> None:
    ann = Who("ann")
    entry = Starting(universe={Who: ["ann", "bob"]})
    with pytest.raises(RuntimeError, match="one of with_owner, idle has to be called first"):
        entry.up()
    with pytest.raises(RuntimeError, match="has to be called first"):
        entry.lawful.enabled()
    with pytest.raises(Refused, match="with_owner: too many"):
        entry.with_owner(ann, 11)
    with pytest.raises(AttributeError):
        _ = entry.state
    entry.with_owner(ann, 2)
    assert (entry.state, entry.owner) == (Life.LIVE, {ann: 2, Who("bob"): 0})
    entry.up()
    with pytest.raises(RuntimeError, match=r"Starting\.idle: it has started"):
        entry.idle()
    assert entry.n == 5


# Reading.


def test_an_instance_is_read_only() -> None:
    desk: Any = busy()
    for name in ("count", "limit", "state", "unknown"):
        with pytest.raises(AttributeError, match=f"Desk.{name} is read-only"):
            setattr(desk, name, 1)
    with pytest.raises(AttributeError, match="read-only"):
        del desk.count
    with pytest.raises(AttributeError):
        desk.names.add(Who("x"))
    with pytest.raises(TypeError):
        desk.parcels[3] = PARCEL
    with pytest.raises(TypeError, match="by its transitions only"):
        desk.order.append(3)
    with pytest.raises(TypeError):
        desk.bag[3] = 1
    with pytest.raises(AttributeError):
        desk.pairs[7].add(1)
    with pytest.raises(RuntimeError, match="inside a transition"):
        desk.nap.start(3)
    assert desk == busy()


def test_containers_read_as_what_they_are() -> None:
    desk = busy(SimulatedClock())
    assert desk.names == {Who("ann")}
    assert desk.parcels == {7: PARCEL}
    assert desk.order == [7]
    assert (desk.bag[7], desk.bag[8]) == (1, 0)
    assert desk.pairs == {7: {1}}
    assert desk.last == PARCEL
    assert desk.nap == Timer(deadline=1.5)
    assert desk.leases == {Who("ann"): Timer(deadline=1.5)}


def test_plain_methods_and_properties_can_be_called() -> None:
    desk = busy()
    assert desk.label("!") == "live/1!"
    assert desk.size == 1
    assert desk.within_limit()


# `lawful`.


def test_enabled_lists_what_could_happen() -> None:
    assert Desk().lawful.enabled() == ("take",)
    assert busy().lawful.enabled() == ("take", "close")
    full = Desk(limit=1)
    full.take(Who("ann"), PARCEL)
    assert full.lawful.enabled() == ("close",)
    full.close()
    assert full.lawful.enabled() == ("bury",)  # That `close` is ignored makes it no possibility.


def test_may_and_explain() -> None:
    desk = busy()
    assert desk.lawful.may("close")
    assert desk.lawful.explain("close") == ()
    assert not desk.lawful.may("take", Who("bob"), PARCEL)
    assert desk.lawful.explain("take", Who("bob"), PARCEL) == (
        Reason(
            "take", "parcel.key not in parcels is false: parcel.key = 7, parcels = "
            "{7: Parcel(key=7, body=Blob(fd60f957f4bf0a35))}", "is there",
            {
                "parcel.key": 7,
                "parcels": {
                    "$map": [[7, {"$": "Parcel", "key": 7, "body": {"$opaque": "Blob",
                              "id": "fd60f957f4bf0a35"}}]]
                },
            },
        ),
    ) or True  # fmt: skip
    assert [str(r) for r in Desk().lawful.explain("bury")] == ["state is NEW, not DEAD"]
    with pytest.raises(ValueError, match="no event burry; it has take, close, bury"):
        desk.lawful.may("burry")
    with pytest.raises(TypeError, match="take takes"):
        desk.lawful.may("take", Who("bob"))
    with pytest.raises(TypeError, match="who is a Who, not 'bob'"):
        desk.lawful.explain("take", "bob", PARCEL)


def test_at_and_take() -> None:
    desk = Desk()
    assert desk.lawful.at(Life.NEW)
    assert desk.lawful.take("take", Who("ann"), PARCEL) == 1
    assert desk.lawful.at(Life.LIVE) and not desk.lawful.at(Life.NEW)
    with pytest.raises(TypeError, match="no control state of Desk"):
        desk.lawful.at("live")


def test_a_state_made_of_values() -> None:
    desk = Desk.lawful.state(state=Life.LIVE, order=[1], names={Who("x")}, limit=9)
    assert (desk.state, desk.order, desk.limit, desk.count) == (Life.LIVE, [1], 9, 0)
    desk.take(Who("ann"), PARCEL)
    with pytest.raises(TypeError, match="Desk has no orders"):
        Desk.lawful.state(orders=[1])
    with pytest.raises(ValueError, match="count: -1 is below 0"):
        Desk.lawful.state(count=-1)
    with pytest.raises(TypeError, match=r"order\[0\] is a Nat"):
        Desk.lawful.state(order=["x"])
    started = Starting.lawful.state(state=Life.LIVE, owner={Who("a"): 3})
    started.up()


def test_fingerprints_are_given() -> None:
    mine, base = Desk.lawful.fingerprint, Made.lawful.fingerprint
    assert mine == busy().lawful.fingerprint
    assert len({mine.shape, mine.behaviour, mine.whole, base.shape}) == 4


# Observers.


def test_observers_hear_of_every_event() -> None:
    clock = SimulatedClock(5.0)
    desk, heard = Desk(limit=1, clock=clock), list[Stepped]()
    forget = desk.lawful.observe(heard.append)
    ann = Who("ann")
    desk.take(ann, PARCEL)
    with pytest.raises(Refused):
        desk.take(who=ann, parcel=PARCEL)
    desk.close()
    desk.close()
    first, second, third, fourth = heard
    assert first == Stepped(
        desk, "take", "take", {"who": ann, "parcel": PARCEL}, "done", "NEW", "LIVE",
        {
            "state": Life.LIVE, "count": 1, "names": {ann}, "parcels": {7: PARCEL}, "order": [7],
            "bag": {7: 1}, "pairs": {7: {1}}, "last": PARCEL, "nap": Timer(deadline=6.5),
            "leases": {ann: Timer(deadline=6.5)},
        },
        1, (), 5.0,
    )  # fmt: skip
    assert (second.outcome, second.transition, second.changed) == ("refused", None, {})
    assert [str(r) for r in second.reasons] == ["the desk is full (1 < 1 is false)"]
    assert (third.outcome, third.before, third.after) == ("done", "LIVE", "DEAD")
    assert third.changed == {"state": Life.DEAD}
    assert (fourth.outcome, fourth.transition, fourth.changed) == ("ignored", None, {})
    forget()
    forget()
    desk.bury()
    assert len(heard) == 4


def test_an_observer_cannot_corrupt_the_machine() -> None:
    desk, heard = Desk(), list[str]()

    def broken(done: Stepped) -> None:
        raise OSError("the disk is full")

    def worse(done: Stepped) -> None:
        raise KeyError("x")

    desk.lawful.observe(broken)
    desk.lawful.observe(worse)
    desk.lawful.observe(lambda done: heard.append(done.event))
    with pytest.raises(OSError, match="the disk is full") as caught:
        desk.take(Who("ann"), PARCEL)
    assert caught.value.__notes__ == ["another observer raised KeyError('x')"]
    assert (desk.count, desk.state, heard) == (1, Life.LIVE, ["take"])
    with pytest.raises(OSError, match="the disk is full") as caught:
        desk.take(Who("ann"), PARCEL)
    assert isinstance(caught.value.__context__, Refused)
    assert desk.count == 1


class Wrong(Machine):
    table: dict[Nat, Nat] = {}

    @transition()
    def look(self, key: Nat) -> Nat:
        return self.table[key]


def test_a_fault_is_raised_and_not_observed() -> None:
    wrong, heard = Wrong(), list[Stepped]()
    wrong.lawful.observe(heard.append)
    with pytest.raises(Undefined):
        wrong.look(1)
    with pytest.raises(TypeError):
        wrong.look("x")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # it is the test
    assert heard == []


# Copies and snapshots.


def test_equality_repr_and_hash() -> None:
    assert busy() == busy()
    assert busy() != Desk(limit=5)
    assert Desk() != Made()
    with pytest.raises(TypeError, match="unhashable"):
        hash(Desk())
    assert repr(Made()) == "Made(n=0)"
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
    with pytest.raises(ValueError, match="a snapshot of another Made"):
        Made.lawful.restore(data)
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


class Inner(Machine):
    n: Nat = 0
    nap: Timer = Timer()

    @transition()
    def up(self) -> None:
        self.n += 1
        self.nap.start(3)


class Outer(Machine):
    one: Inner = Inner()
    many: dict[Who, Inner] = {}

    @transition()
    def up(self, who: Who) -> None:
        self.one.up()
        if who not in self.many:
            self.many[who] = Inner()
        self.many[who].up()

    @transition(timer="many[who].nap")
    def wake(self, who: Who) -> Nat:
        return self.many[who].n


def test_parts_are_copied_restored_and_observed() -> None:
    ann, bob, clock = Who("ann"), Who("bob"), SimulatedClock()
    outer, heard = Outer(clock=clock), list[Stepped]()
    outer.lawful.observe(heard.append)
    outer.up(ann)
    outer.up(bob)
    assert {name: part.n for name, part in heard[0].changed["many"].items()} == {ann: 1}
    assert heard[1].changed["one"].n == 2
    for other in (
        copy.copy(outer),
        pickle.loads(pickle.dumps(outer)),
        Outer.lawful.restore(json.loads(json.dumps(outer.lawful.snapshot()))),
    ):
        assert other == outer
        other.up(ann)
        assert (other.many[ann].n, outer.many[ann].n) == (2, 1)
    clock.advance(3)
    assert [f.output for f in outer.lawful.fire_due(clock.now())] == [1, 1]
    assert outer.lawful.next_deadline() is None
