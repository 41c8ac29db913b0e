"""Instances from outside: construction, reading, `lawful`."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from lawful import (
    Machine,
    Nat,
    Param,
    PropertyViolated,
    Refused,
    Timer,
    assume,
    event,
    initial,
    require,
    total,
    transition,
)
from lawful.runtime.compile.compiler import Compiler
from lawful.runtime.kernel.plan import Plan
from lawful.runtime.timers import SimulatedClock
from lawful.spec import ir
from lawful.spec.outcomes import Reason
from tests.runtime.declarations.every_variable import PARCEL, Desk, Life, Who, busy

# Construction.


def test_parameters_come_by_keyword() -> None:
    desk = Desk(limit=1, fixed={False: 2, True: 3})
    assert (desk.limit, desk.seconds, desk.fixed[True]) == (1, 1.5, 3)
    with pytest.raises(TypeError, match=r"Desk\(\) got an unexpected keyword argument 'limits'"):
        Desk(limits=1)
    with pytest.raises(TypeError, match="Desk: limit is a Nat, not '1', a str"):
        Desk(limit="1")
    with pytest.raises(ValueError, match="Desk: limit: -1 is below 0"):
        Desk(limit=-1)


class Tray(Machine):
    held: set[int] = set()
    rest: Timer = Timer()

    @transition()
    def put(self, n: int) -> None:
        self.held.add(n)
        self.rest.start(1.0)

    @transition(timer="rest")
    def clear(self) -> None:
        self.held.clear()


class Deep(Tray):
    depth: Nat = 3


def test_instances_that_need_nothing_share_nothing() -> None:
    first, second, third = Tray(), Tray(), Tray()
    second.put(1)
    assert (first, second.held, third) == (Tray(), {1}, Tray())
    assert (first.rest.armed, second.rest.armed, third.rest.armed) == (False, True, False)
    # Each class has its own initial values, whichever was made first.
    assert (Deep().depth, len(Deep().held), repr(Tray())) == (3, 0, repr(first))
    clock = SimulatedClock(5.0)
    late = Tray(clock=clock)
    late.put(2)
    assert late.lawful.next_deadline() == 6.0


def test_a_part_in_a_class_statement_is_compiled_when_it_is_printed_or_made() -> None:
    class Cup(Machine):
        full: bool = False
        size: Param[Nat] = 1

        @transition()
        def fill(self) -> None:
            self.full = True

    class Shelf(Machine):
        cup: Cup = Cup(size=3)

        @transition()
        def fill(self) -> None:
            self.cup.fill()

    assert "__plan__" not in vars(Cup)
    assert repr(Shelf.cup) == "Cup(full=False, size=3)"
    assert "__plan__" in vars(Cup)
    shelf = Shelf()
    shelf.fill()
    assert (shelf.cup.full, shelf.cup.size) == (True, 3)
    with pytest.raises(TypeError, match="Base is abstract"):

        class Abstract(Machine):  # pyright: ignore[reportUnusedClass]  # it is never made
            base: Base = Base()


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
    with pytest.raises(RuntimeError, match="with_owner or idle has to be called first"):
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
    for name in ("count", "limit", "state"):
        with pytest.raises(AttributeError, match=f"Desk.{name} is read-only"):
            setattr(desk, name, 1)
    with pytest.raises(AttributeError):
        desk.__class__ = Desk
    for name in ("unknown", "lawful", "take"):  # There is no room for anything else.
        with pytest.raises(AttributeError):
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
    (reason,) = desk.lawful.explain("take", Who("bob"), PARCEL)
    blob: ir.Json = {"$opaque": "Blob", "id": "d90d0fe63491f937"}
    assert reason == Reason(
        "take",
        "parcel.key not in parcels is false: parcel.key = 7, parcels = "
        f"{{7: Parcel(key=7, body={PARCEL.body!r})}}",
        "is there",
        {"parcel.key": 7, "parcels": {"$map": [[7, {"$": "Parcel", "key": 7, "body": blob}]]}},
    )
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


class Gate(Machine):
    """Two transitions of one event that refuse alike, and a third that does not."""

    raised: bool = False
    lit: bool = False

    @event
    def enter(self) -> None: ...

    @transition(event="enter")
    def walk(self) -> None:
        require(self.raised, "the gate is down")

    @transition(event="enter")
    def drive(self) -> None:
        require(self.raised, "the gate is down")

    @transition(event="enter")
    def at_night(self) -> None:
        require(self.lit, "too dark")


def test_a_refusal_names_the_transitions_that_each_reason_is_of() -> None:
    with pytest.raises(Refused) as caught:
        Gate().enter()
    assert str(caught.value) == (
        "enter: walk, drive: the gate is down (raised is false); at_night: too dark (lit is false)"
    )
    assert [r.transition for r in caught.value.reasons] == ["walk", "drive", "at_night"]


class Dial(Machine):
    turned: Nat = 0

    @transition()
    def turn(self) -> Nat:
        self.turned += 1
        return self.turned


class Panel:
    """No declaration: what its statement makes are instances like any others."""

    dial = Dial()
    several = (Dial(), Dial())


def test_an_instance_in_a_class_that_is_no_declaration_is_one() -> None:
    assert [Panel.dial.turn(), Panel.dial.turn(), Panel.several[1].turn()] == [1, 2, 1]
    assert (Panel.dial.turned, Panel.several[0].turned) == (2, 0)


class Raced(Machine):
    count: Nat = 0

    @transition()
    def up(self) -> Nat:
        self.count += 1
        return self.count


def test_a_class_is_made_by_one_of_the_threads_that_need_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts, others, real = list[int](), list[threading.Thread](), Compiler.run

    def run(compiler: Compiler) -> Plan:
        if not others:
            others.append(threading.Thread(target=lambda: counts.append(Raced().up())))
            others[0].start()
            others[0].join(0.2)  # As far as it comes.
            assert counts == []
        return real(compiler)

    monkeypatch.setattr(Compiler, "run", run)
    raced = Raced()
    plan = Raced.lawful.plan
    others[0].join()
    assert (raced.up(), counts, Raced.lawful.plan is plan) == (1, [1], True)
