"""Observers: what they are told, and what they cannot do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lawful import (
    Machine,
    Nat,
    Refused,
    Timer,
    Undefined,
    transition,
)
from lawful.runtime.journal import Journal, read
from lawful.runtime.kernel.event_record import Fields, Stepped
from lawful.runtime.timers import SimulatedClock
from tests.runtime.declarations.every_variable import PARCEL, Desk, Life, Who


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
    assert first.fields() == Fields(
        desk,
        "take",
        "take",
        {"who": ann, "parcel": PARCEL},
        "done",
        "NEW",
        "LIVE",
        {
            "state": Life.LIVE,
            "count": 1,
            "names": {ann},
            "parcels": {7: PARCEL},
            "order": [7],
            "bag": {7: 1},
            "pairs": {7: {1}},
            "last": PARCEL,
            "nap": Timer(deadline=6.5),
            "leases": {ann: Timer(deadline=6.5)},
        },
        1,
        (),
        5.0,
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


class Twice(Machine):
    count: Nat = 0
    counts: list[Nat] = []
    lapse: Timer = Timer()

    @transition()
    def first(self) -> Nat:
        self.count += 1
        self.counts.append(self.count)
        self.lapse.start(1)
        return self.count

    @transition()
    def second(self) -> None:
        self.count += 10
        self.counts.append(self.count)
        self.lapse.stop()


def causing(twice: Twice) -> None:
    """The second event is an observer's, before anybody else hears of the first."""
    twice.lawful.observe(lambda done: twice.second() if done.event == "first" else None)


def test_what_an_observer_causes_is_told_after_what_caused_it() -> None:
    twice, heard = Twice(), list[tuple[str, object, object]]()
    causing(twice)
    twice.lawful.observe(lambda d: heard.append((d.event, d.changed["counts"], d.output)))
    assert twice.first() == 1
    assert heard == [("first", [1], 1), ("second", [1, 11], None)]


@pytest.mark.parametrize("largest", [None, 1])
def test_what_an_observer_causes_is_replayed(tmp_path: Path, largest: int | None) -> None:
    twice = Twice()
    causing(twice)
    with Journal(tmp_path / "j", buffer=0, largest=largest) as journal:
        journal.attach(twice, "a")
        twice.first()
        twice.lawful.take("first")
    rows = [row for path in sorted(tmp_path.iterdir(), key=_number) for row in read(path)]
    assert [(row["seq"], row["event"]) for row in rows if row["event"]] == (
        [(1, "first"), (2, "second"), (3, "first"), (4, "second")]
        if largest is None
        else [(2, "first"), (3, "second"), (5, "first"), (6, "second")]
    )
    told = [(row["changed"]["counts"], row["changed"].get("lapse")) for row in rows if row["event"]]
    assert told == [([1], True), ([1, 11], False), ([1, 11, 12], True), ([1, 11, 12, 22], False)]
    for row in rows:
        if row["event"] is None:  # A file begins where the one before it ends.
            assert row["changed"]["counts"] in ([], [1, 11], [1, 11, 12, 22])


def _number(path: Path) -> int:
    """Of a file of a journal; the last one has none."""
    return int(path.suffix[1:]) if path.suffix else 99


def test_an_interrupted_observer_keeps_no_other_from_hearing() -> None:
    twice, heard = Twice(), list[str]()

    def interrupted(_: Stepped) -> None:
        raise KeyboardInterrupt

    def broken(_: Stepped) -> None:
        raise OSError("the disk is full")

    twice.lawful.observe(broken)
    twice.lawful.observe(interrupted)
    twice.lawful.observe(lambda done: heard.append(done.event))
    with pytest.raises(KeyboardInterrupt) as caught:
        twice.first()
    assert caught.value.__notes__ == ["another observer raised OSError('the disk is full')"]
    assert (twice.count, heard) == (1, ["first"])


def test_who_is_forgotten_hears_nothing_more() -> None:
    twice, heard = Twice(), list[str]()
    ends = list[Callable[[], None]]()
    twice.lawful.observe(lambda _: ends[0]())
    ends.append(twice.lawful.observe(lambda done: heard.append(done.event)))
    twice.first()
    assert heard == []
