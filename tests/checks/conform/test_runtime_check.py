"""The embedded step in every state: it is the explored one, and one that is not is found."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from lawful import Machine, Scope
from lawful.checks.conform.runtime_check import compare
from lawful.checks.explore.result import Comparison, Disagreement
from lawful.checks.explore.search import Limits
from lawful.checks.explore.space import Space
from lawful.cli import main
from lawful.machines.message_scheduler.declaration import Scheduler
from lawful.machines.queue_cluster.as_seed import QueueOwnerAsSeed
from lawful.machines.unicast.declaration import ReceiverEntryFixed
from lawful.machines.unicast.system import LinkFixed
from lawful.runtime.kernel.plan import Way
from lawful.runtime.timers import SimulatedClock
from lawful.spec.lower import lower
from lawful.spec.resolve import abstract_scopes, resolve
from tests.checks.declarations.families import Hub, Rack
from tests.checks.declarations.timed import Fischer, House, Patient, Rooms
from tests.classics.peterson import Peterson
from tests.classics.table import CLASSICS
from tests.spec import texts

WHOLE: list[type[Machine]] = [c.machine for c in CLASSICS if c.counts[1] < 90]
SOME: list[type[Machine]] = [
    *(Hub, Rack, Fischer, House, Patient, Rooms),
    *(Scheduler, QueueOwnerAsSeed, ReceiverEntryFixed, LinkFixed),
]
MORE: list[type[Machine]] = [*SOME, *(c.machine for c in CLASSICS)]


def compared(cls: type[Machine], limits: Limits | None = None) -> Comparison:
    found = resolve(cls)
    flat = lower(found.machine, found.scopes.get("scope", Scope()), abstract_scopes(found))
    return compare(Space(flat, found.world), cls, limits or Limits())


@pytest.mark.parametrize("cls", WHOLE, ids=lambda c: c.__name__)
def test_every_step_of_small_classics_is_the_explored_one(cls: type[Machine]) -> None:
    found = compared(cls)
    (counts,) = (c.counts for c in CLASSICS if c.machine is cls)
    assert found.complete
    assert (found.states, found.differing, found.set_aside) == (counts[0], 0, 0)


@pytest.mark.parametrize("cls", SOME, ids=lambda c: c.__name__)
def test_the_first_steps_of_larger_ones_are_the_explored_ones(cls: type[Machine]) -> None:
    found = compared(cls, Limits(states=2))
    assert not found.complete
    assert (found.states, found.differing) == (2, 0)
    assert found.outcomes["done"]


@pytest.mark.nightly
@pytest.mark.parametrize("cls", MORE, ids=lambda c: c.__name__)
def test_so_are_the_others(cls: type[Machine]) -> None:
    assert compared(cls, Limits(states=2_000, seconds=60)).differing == 0


LOCK = """
class Door(State):
    OPEN = "open"
    SHUT = "shut"

class Lock(Machine):
    state: Door = Door.OPEN
    turns: Nat = 0
    keys: set[int] = set()
    last: Ghost[int] = 0
    least: Param[int] = 0

    @initial
    def begin(self, turned: Nat) -> None:
        require(turned >= self.least, "too little")
        self.turns = turned

    @event
    def turn(self, by: int) -> int: ...

    @transition(source=Door.OPEN, target=Door.SHUT, event="turn")
    def close(self, by: int) -> int:
        require(by > 0, "to the right")
        self.turns += by
        self.keys.add(by)
        return self.turns

    @transition(source=Door.SHUT, target=Door.OPEN, event="turn")
    def unlock(self, by: int) -> int:
        require(by in self.keys, "not with this key")
        self.last = 1 // (self.turns - 2)
        return 10 // (self.turns - 4)

    @transition(source=Door.SHUT)
    def rattle(self) -> None: ...

    quiet = ignore("rattle", source=Door.OPEN, because="it is open")
    deadlock_ok = True
    scope = Scope(Nat=range(0, 4), int=range(-1, 3), least=(0, 1))
"""


def lock() -> type[Machine]:
    return texts.last_machine(texts.module(LOCK))


def test_what_was_compared_is_counted() -> None:
    found = compared(lock())
    assert found.events == ("turn", "rattle", "close", "unlock")
    assert (found.complete, found.states, found.narrowed) == (True, 23, ())
    assert found.outcomes == {"done": 83, "refused": 203, "ignored": 13, "undefined": 8}
    # Where only the ghost has no value, the instance, which has no ghost, goes on.
    assert (found.set_aside, found.differing, found.disagreements) == (8, 0, [])


Step = Callable[..., Any]


def _other_state(step: Step) -> Step:
    def turn(self: Any, by: int) -> Any:
        output = step(self, by)
        self._turns_ += 1
        return output

    return turn


def _other_output(step: Step) -> Step:
    def turn(self: Any, by: int) -> Any:
        return step(self, by) + 1

    return turn


def _other_class(step: Step) -> Step:
    def turn(self: Any, by: int) -> Any:
        output = step(self, by)
        return True if output == 1 else output

    return turn


def _changed_though_refused(step: Step) -> Step:
    def turn(self: Any, by: int) -> Any:
        self._keys_ = {*self._keys_, 2}
        return step(self, by)

    return turn


def _raises(step: Step) -> Step:
    def turn(self: Any, by: int) -> Any:
        if by == 2:
            raise KeyError(by)
        return step(self, by)

    return turn


UNTURNED = {"state": "Door.OPEN", "turns": "0", "keys": "set()", "least": "0"}
RIGHT = "done; state = Door.SHUT; turns = 1; keys = {1}; gives 1"


@pytest.mark.parametrize(
    ("wrong", "differing", "by", "explored", "embedded"),
    [
        (_other_state, 33, 1, RIGHT, RIGHT.replace("turns = 1", "turns = 2")),
        (_other_output, 33, 1, RIGHT, RIGHT.replace("gives 1", "gives 2")),
        (_other_class, 1, 1, RIGHT, RIGHT.replace("gives 1", "gives True")),
        (_changed_though_refused, 51, -1, "refused", "refused; keys = {2}"),
        (_raises, 22, 2, RIGHT.replace("1", "2"), "KeyError(2)"),
    ],
)
def test_a_step_that_does_something_else_is_found(
    wrong: Callable[[Step], Step], differing: int, by: int, explored: str, embedded: str
) -> None:
    cls = lock()
    way: Way = cls.lawful.plan.ways["turn"]
    way.method = wrong(cls.lawful.plan.method(way))
    found = compared(cls)
    assert found.complete
    first = Disagreement(UNTURNED, "turn", {"by": str(by)}, explored, embedded)
    assert found.disagreements[0] == first
    assert found.differing == differing


def test_a_start_that_does_something_else_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    cls = lock()
    assert cls.lawful.plan.starts
    step = vars(cls)["begin"]

    def begin(self: Any, turned: int) -> None:
        step(self, 3)

    monkeypatch.setattr(cls, "begin", begin)
    found = compared(cls)
    assert found.differing == 6
    explored = "done; state = Door.OPEN; turns = 0; keys = set(); least = 0"
    embedded = explored.replace("turns = 0", "turns = 3")
    assert found.disagreements[0] == Disagreement({}, "begin", {"turned": "0"}, explored, embedded)


def test_a_clock_that_stands_still_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def advance(self: SimulatedClock, seconds: float) -> float:
        return self.now()

    monkeypatch.setattr(SimulatedClock, "advance", advance)
    found = compared(Patient, Limits(states=2))
    assert found.differing == 2  # In both states time may pass.
    explored = "done; clock = 1"
    assert [each.explored for each in found.disagreements] == [explored, f"{explored}; flight = 1"]
    assert {each.embedded for each in found.disagreements} == {"done"}


# The command.


def test_the_command_says_what_was_compared(capsys: pytest.CaptureFixture[str]) -> None:
    target = "tests.classics.peterson"
    assert main(["check", target, "--runtime"]) == 0
    said = "42 states, 6 events, 505 calls, all agree (428 refused, 77 done)"
    why = (
        "a comparison with generated steps would not show what these and the runtime do wrong alike"
    )
    found = f"the reference engine found these states and outcomes anew: {why}"
    assert f"  runtime   {said}\n            {found}\n" in capsys.readouterr().out
    assert main(["check", target, "--runtime", "--max-states", "9", "--json", "-"]) == 3
    (row,) = json.loads(capsys.readouterr().out)["machines"]
    assert row["runtime"] == {
        "engine": "reference",
        "why": why,
        "states": 9,
        "events": 6,
        "comparisons": 109,
        "outcomes": {"done": 19, "refused": 90},
        "complete": False,
        "set_aside": 0,
        "narrowed": [],
        "differing": 0,
        "disagreements": [],
    }


def test_a_disagreement_is_a_fault_of_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    way: Way = Peterson.lawful.plan.ways["enter"]

    def enter(self: Any, p: int) -> None: ...

    monkeypatch.setattr(way, "method", enter)
    assert main(["check", "tests.classics.peterson", "--runtime"]) == 70
    out = capsys.readouterr().out
    assert "505 calls, 84 DISAGREE (428 refused, 77 done)" in out
    said = "the runtime differs from the reference engine, which is a fault of lawful"
    told = out[out.index(said) :].splitlines()
    assert told[1:7] == [
        "enter(p=1)",
        "  in        pc = {1: Label.A0, 2: Label.A0}",
        "  in        wants = {1: False, 2: False}",
        "  in        turn = 1",
        "  explored  refused",
        "  embedded  done",
    ]
    assert told[-1] == "and 74 more"
    # Without it only what is printed is played on the class: of two witnesses one differs.
    assert main(["check", "tests.classics.peterson"]) == 70
    assert "played    1 of 2 traces on the class itself" in capsys.readouterr().out


def test_a_method_that_no_step_calls_may_have_a_parameter_of_its_own_machine() -> None:
    cls = texts.last_machine(
        texts.module(
            """
class Merged(Machine):
    n: Nat = 0

    @transition()
    def put(self) -> None:
        require(self.n < 2)
        self.n += 1

    def merged(self, other: "Merged") -> int:
        return max(self.n, other.n)

    deadlock_ok = True
    scope = Scope(Nat=range(0, 3))
"""
        )
    )
    found = compared(cls)
    assert (found.states, found.differing, found.complete) == (3, 0, True)
