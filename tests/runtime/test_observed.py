"""Observers: what they are told, and what they cannot do."""

from __future__ import annotations

import pytest

from lawful import (
    Machine,
    Nat,
    Refused,
    Timer,
    Undefined,
    transition,
)
from lawful.runtime.observed import Stepped
from lawful.runtime.timers import SimulatedClock

from .desk import PARCEL, Desk, Life, Who


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
    )
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
        wrong.lawful.take("look", "x")
    assert heard == []
