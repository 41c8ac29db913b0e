"""Properties that are asserted of running instances; and states of an older version taken over."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lawful import (
    Ghost,
    Machine,
    Nat,
    Param,
    PropertyViolated,
    Refused,
    Sort,
    State,
    Undefined,
    initial,
    invariant,
    require,
    step_property,
    transition,
)
from lawful.cli import main
from lawful.runtime.instances.enforcement import ERASED, PROVED
from lawful.runtime.migration import Migration
from lawful.targets import machines


class Who(Sort):
    """Somebody."""


class Room(State):
    FREE = "free"
    TAKEN = "taken"


class Door(Machine):
    """A part whose invariant is false after two knocks."""

    knocks: Nat = 0

    @transition()
    def knock(self) -> None:
        self.knocks += 1

    @invariant
    def quiet(self) -> bool:
        return self.knocks < 2


class House(Machine):
    """All of its invariants can be broken, by the event that says so."""

    room: Room = Room.FREE
    guests: set[Who] = set()
    beds: dict[Who, Nat] = {}
    level: int = 0
    seen: Ghost[Nat] = 0
    doors: dict[Who, Door] = {}
    most: Param[Nat] = 2

    @transition()
    def add(self, who: Who) -> Nat:
        require(who not in self.guests, "there already")
        self.guests.add(who)
        self.seen += 1
        return len(self.guests)

    @transition()
    def make(self, who: Who) -> None:
        self.doors[who] = Door()

    @transition()
    def knock(self, who: Who) -> None:
        self.doors[who].knock()

    @transition()
    def fall(self) -> None:
        self.level -= 1

    @transition()
    def stop(self) -> None:
        self.level = 100

    @invariant
    def room_for_all(self) -> bool:
        return len(self.guests) <= self.most

    @invariant
    def not_both(self, one: Who, other: Who) -> bool:
        return one == other or not (one in self.guests and other in self.doors)

    @invariant
    def few(self, n: Nat) -> bool:
        return n < 5 or self.level != n + 90

    @invariant
    def remembered(self) -> bool:
        return self.seen == len(self.guests)

    @invariant
    def has_a_bed(self) -> bool:
        return self.level < 50 or all(self.beds[w] > 0 for w in self.guests)

    @step_property
    def never_down(self, after: House) -> bool:
        return after.level >= self.level


@pytest.fixture(autouse=True)
def off_again() -> Iterator[None]:
    yield
    House.lawful.enforce("off")


def house(**more: Any) -> House:
    return House(universe={Who: ["a", "b", "c"]}, **more)


def test_what_can_be_asserted_is_and_of_the_rest_it_is_said_why() -> None:
    found = House.lawful.enforce("all")
    assert found.names == ("room_for_all", "not_both", "has_a_bed", "never_down", "doors.quiet")
    assert found.left == {
        "few": "the values of its parameter n cannot be enumerated",
        "remembered": ERASED,
    }


def test_an_event_that_breaks_an_invariant_has_not_happened() -> None:
    House.lawful.enforce("all")
    mine = house(most=1)
    assert mine.add(Who("a")) == 1
    before = mine.lawful.snapshot()
    with pytest.raises(PropertyViolated, match=r"House.add: room_for_all: false") as told:
        mine.add(Who("b"))
    assert told.value.name == "room_for_all"
    assert mine.lawful.snapshot() == before
    with pytest.raises(Refused, match="there already"):
        mine.add(Who("a"))
    with pytest.raises(PropertyViolated, match=r"not_both: false with one = .*a.*, other = .*b"):
        mine.make(Who("b"))
    assert mine.doors == {}
    with pytest.raises(PropertyViolated, match="never_down: false"):
        mine.fall()
    assert mine.lawful.snapshot() == before


def test_a_property_without_a_value_is_undefined() -> None:
    House.lawful.enforce("all")
    mine = house()
    mine.add(Who("a"))
    with pytest.raises(Undefined, match=r"House.stop: has_a_bed: KeyError"):
        mine.stop()
    assert mine.level == 0


def test_parts_keep_theirs() -> None:
    House.lawful.enforce("all")
    mine = house()
    mine.make(Who("a"))
    mine.knock(Who("a"))
    with pytest.raises(PropertyViolated, match=r"doors.quiet: false at \(.*a"):
        mine.knock(Who("a"))
    assert mine.doors[Who("a")].knocks == 1


def test_it_is_of_instances_that_are_made_from_then_on() -> None:
    before = house()
    House.lawful.enforce("all")
    after = house()
    House.lawful.enforce("off")
    later = house()
    for each in (before, later):
        each.fall()
        assert each.level == -1
    with pytest.raises(PropertyViolated):
        after.fall()


def test_observers_hear_what_happened_alone() -> None:
    House.lawful.enforce("all")
    mine, heard = house(most=1), list[str]()
    end = mine.lawful.observe(lambda stepped: heard.append(f"{stepped.event} {stepped.outcome}"))
    mine.add(Who("a"))
    with pytest.raises(PropertyViolated):
        mine.add(Who("b"))
    end()
    with pytest.raises(PropertyViolated):
        mine.add(Who("b"))
    assert heard == ["add done"]


class Began(Machine):
    """Begins with any number; only some are good."""

    n: int

    @initial
    def begin(self, n: int) -> None:
        self.n = n

    @invariant
    def small(self) -> bool:
        return self.n < 3


def test_a_start_is_asserted_too() -> None:
    Began.lawful.enforce("all")
    try:
        mine = Began()
        with pytest.raises(PropertyViolated, match=r"Began.begin: small: false"):
            mine.begin(7)
        mine.begin(2)
        assert mine.n == 2
        with pytest.raises(PropertyViolated, match=r"Wrong.initial: never: false"):
            Wrong.lawful.enforce("all")
            Wrong()
    finally:
        Began.lawful.enforce("off")
        Wrong.lawful.enforce("off")


class Wrong(Machine):
    n: int = 0

    @invariant
    def never(self) -> bool:
        return self.n > 0


# What is proved.

PROVABLE = """
from lawful import Machine, Nat, Scope, invariant, transition

class Till(Machine):
    paid: Nat = 0
    count: Nat = 0
    deadlock_ok = True

    @transition()
    def pay(self, n: Nat) -> None:
        self.paid += n
        self.count += 1

    @invariant
    def nothing_for_nothing(self) -> bool:
        return self.count > 0 or self.paid == 0

    @invariant
    def not_seven(self) -> bool:
        return self.paid != 7

    scope = Scope(Nat=range(0, 5))
"""


def test_what_is_proved_is_left_out(tmp_path: Path) -> None:
    path, lock = tmp_path / "till.py", tmp_path / "lawful.lock"
    path.write_text(PROVABLE, encoding="utf-8")
    assert main(["lock", str(path), "--file", str(lock), "--quiet"]) == 0
    (Till,) = machines(str(path))
    found = Till.lawful.enforce("unproved", lock)
    assert (found.names, found.left) == (("not_seven",), {"nothing_for_nothing": PROVED})
    with pytest.raises(PropertyViolated, match="not_seven"):
        Till().lawful.take("pay", 7)
    rows = json.loads(lock.read_text(encoding="utf-8"))
    rows["machines"][f"{path}:Till"]["fingerprint"] = "another"
    lock.write_text(json.dumps(rows), encoding="utf-8")
    with pytest.raises(ValueError, match="is of another Till: another, not"):
        Till.lawful.enforce("unproved", lock)
    with pytest.raises(ValueError, match="says nothing of House"):
        House.lawful.enforce("unproved", lock)
    lock.write_text("[]", encoding="utf-8")
    with pytest.raises(ValueError, match="is no file of lawful lock"):
        Till.lawful.enforce("unproved", lock)
    with pytest.raises(ValueError, match="'unproved' without a lock"):
        Till.lawful.enforce("unproved")
    with pytest.raises(ValueError, match="'all' with a lock"):
        Till.lawful.enforce("all", lock)


def test_what_was_proved_within_a_bound_is_asserted(tmp_path: Path) -> None:
    fingerprint = House.lawful.fingerprint.whole
    proofs = {"room_for_all": "proved-within", "never_down": "proved", "not_both": "unknown"}
    row = {
        "fingerprint": fingerprint,
        "prove": {"properties": {name: {"verdict": said} for name, said in proofs.items()}},
    }
    lock = tmp_path / "lawful.lock"
    lock.write_text(json.dumps({"version": 1, "machines": {"a.b:House": row}}), encoding="utf-8")
    found = House.lawful.enforce("unproved", lock)
    assert found.names == ("room_for_all", "not_both", "has_a_bed", "doors.quiet")
    assert found.left["never_down"] == PROVED


# States of an older version.


class OldAccount:
    """Where the older version of a machine of the same name is made."""

    class Account(Machine):
        sent: Nat = 0
        gone: Nat = 4
        limit: Param[int] = 10

        @transition()
        def send(self, n: Nat) -> None:
            self.sent += n


class Account(Machine):
    total: Nat = 0
    fees: Nat = 1
    limit: Param[int] = 10

    @invariant
    def within_the_limit(self) -> bool:
        return self.total <= self.limit

    @step_property
    def grows(self, after: Account, n: Nat) -> bool:
        return n < 9 or after.total >= self.total


def old(sent: int, limit: int = 10) -> dict[str, Any]:
    made = OldAccount.Account(limit=limit)
    made.send(sent)
    return made.lawful.snapshot()


def test_a_state_of_an_older_version_is_taken_over() -> None:
    mine = Account.lawful.restore(old(7, limit=8), renamed={"total": "sent"})
    assert mine == Account.lawful.state(total=7, fees=1, limit=8)
    assert Account.lawful.restore(mine.lawful.snapshot(), renamed={}) == mine
    fresh = Account.lawful.restore(old(7), renamed={})
    assert fresh == Account()  # Nothing of the same name was there but the limit.


def test_invariants_are_judged_of_an_older_version_that_has_the_same_shape() -> None:
    """Only properties or transitions changed: the shape does not tell."""
    data = Account.lawful.state(total=11).lawful.snapshot()
    assert Account.lawful.restore(data).total == 11
    with pytest.raises(ValueError, match=r"is of no state of Account: .*within_the_limit: false"):
        Account.lawful.restore(data, renamed={})


def test_a_state_that_the_invariants_do_not_allow_is_refused() -> None:
    with pytest.raises(ValueError, match=r"of no state of Account: .*within_the_limit: false"):
        Account.lawful.restore(old(11), renamed={"total": "sent"})
    with pytest.raises(ValueError, match="a snapshot of another Account: shape"):
        Account.lawful.restore(old(7))
    for wrong in ({"total": "none"}, {"none": "sent"}, {"limit": "sent"}):
        with pytest.raises(ValueError, match="there are no such"):
            Account.lawful.restore(old(7), renamed=wrong)


def by_halves(old: dict[str, Any]) -> dict[str, Any]:
    return {"total": old["sent"] // 2, "limit": old.pop("limit") + 1}


def test_a_function_gives_what_names_do_not_say() -> None:
    data = old(7, limit=8)
    mine = Account.lawful.restore(data, renamed=Migration({}, by_halves))
    assert mine == Account.lawful.state(total=3, fees=1, limit=9)
    assert data == old(7, limit=8)  # What the function was given was its own.
    more = Migration({"total": "sent"}, lambda held: {"fees": held["sent"]})
    assert Account.lawful.restore(data, renamed=more) == Account.lawful.state(
        total=7, fees=7, limit=8
    )
    same = Account.lawful.restore(mine.lawful.snapshot(), renamed=Migration({}, by_halves))
    assert same == mine  # What is of this version is no matter of a migration.


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"total": 11}, r"within_the_limit: false: Account\(total=11, fees=1, limit=10\)"),
        ({"total": 3, "limit": 2}, r"within_the_limit: false: .*total=3.*limit=2"),
        ({"total": -1}, "-1"),
        ({"total": "3"}, "expected a Nat, found .3."),
        ({"total": {3}}, r"gives \{'total': \{3\}\}, no JSON by name"),
        ([3], r"gives \[3\], no JSON by name"),
        ({"limit": None}, "expected a int, found null"),
        ({"sum": 3, "sent": 3}, "Account has no sent, sum, which the migration gives"),
    ],
    ids=str,
)
def test_what_a_function_gives_is_judged(given: Any, what: str) -> None:
    with pytest.raises(ValueError, match=what):
        Account.lawful.restore(old(7), renamed=Migration({}, lambda held: given))


def test_an_invariant_that_nobody_can_judge_takes_over_nothing() -> None:
    data: dict[str, Any] = {"v": 1, "shape": "older", "parameters": {}, "variables": {}}
    data["machine"] = "House"
    with pytest.raises(ValueError, match="few cannot be evaluated in a single state"):
        House.lawful.restore(data, renamed={})
    data = {**data, "machine": "Began"}
    with pytest.raises(ValueError, match="Began: n is new, and begins with no value"):
        Began.lawful.restore(data, renamed={})
