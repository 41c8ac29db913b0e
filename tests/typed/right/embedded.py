"""A service that embeds a machine: its outputs, refusals, faults, timers, snapshots, observers."""

import copy
from collections.abc import Mapping
from typing import Any, assert_type

from lawful import (
    Ambiguous,
    DeclarationError,
    Machine,
    Nat,
    Param,
    PropertyViolated,
    Record,
    Refused,
    Scope,
    Sort,
    State,
    Timer,
    Undefined,
    ignore,
    require,
    transition,
)
from lawful.runtime.timers import SimulatedClock


class Door(State):
    OPEN = "open"
    SHUT = "shut"


class Guest(Sort):
    """Who comes in."""


class Seen(Record):
    who: Guest
    times: Nat


class Hall(Machine):
    state: Door = Door.SHUT
    seen: dict[Guest, Nat] = {}
    idle: Timer = Timer()
    most: Param[Nat] = 2

    @transition(source=(Door.OPEN, Door.SHUT), target=Door.OPEN)
    def enter(self, who: Guest) -> Seen | None:
        require(self.seen.get(who, 0) < self.most, f"{who} was here")
        self.seen[who] = self.seen.get(who, 0) + 1
        self.idle.start(5.0)
        return Seen(who, self.seen[who])

    @transition(source=Door.OPEN, target=Door.SHUT, timer="idle")
    def shut(self) -> tuple[Seen, ...]:
        return ()

    @transition()
    def average(self) -> int:
        return sum(self.seen.values()) // len(self.seen)

    full = ignore("enter", when=lambda self, who: self.seen[who] > 9, because="too often")

    deadlock_ok = True
    scope = Scope({"enter.who": 2}, Guest=2, Nat=range(0, 4), most=(1, 2))
    large = Scope(Guest=3)


class Heard:
    """What an observer makes of steps."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def hear(self, stepped: Any) -> None:
        self.events.append(stepped.event)


def outcomes(hall: Hall) -> None:
    try:
        hall.enter(Guest("a"))
    except Refused as refused:
        assert_type(refused.machine, str)
        assert_type(refused.clause, str)
        assert_type(refused.reasons[0].transition, str)
    except (PropertyViolated, Undefined, Ambiguous) as fault:
        assert_type(fault.what, str)
    except DeclarationError as error:
        assert_type(error.problems[0].number, str)


def embed() -> None:
    clock, heard = SimulatedClock(), Heard()
    hall = Hall(most=1, universe={Guest: ["a", "b"]}, clock=clock)
    forget = hall.lawful.observe(heard.hear)
    outcomes(hall)
    seen = hall.enter(Guest("b"))
    if seen is not None:
        assert_type(seen.who, Guest)
        assert_type(seen.replace(times=3), Seen)
    for reason in hall.lawful.explain("enter", Guest("b")):
        assert_type(reason.why, str)
        values: Mapping[str, Any] = reason.values
        assert sorted(values) == sorted(reason.values)
    due = hall.lawful.next_deadline()
    if due is not None:
        clock.advance(due - clock.now())
    assert_type([fired.transition for fired in hall.lawful.fire_due(clock.now())], list[str])
    forget()
    kept: dict[str, Any] = hall.lawful.snapshot()
    again = Hall.lawful.restore(kept, universe={Guest: ["a", "b"]}, clock=clock)
    assert_type(again, Hall)
    assert again == hall == copy.copy(hall) and again.state is Door.SHUT
    assert heard.events == ["enter", "enter", "shut"]
    assert_type(Hall.lawful.state(seen={Guest("a"): 1}).average(), int)
    assert_type(Hall.lawful.fingerprint.behaviour, str)
    assert_type(hall.lawful.take("average"), Any)
    assert_type(Hall.lawful.ir.events[0].name, str)
