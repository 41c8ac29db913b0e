"""Conformance tests made from declarations: what is right passes, what is wrong is told."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st

from lawful import Machine, PropertyViolated, Record, Refused, transition
from lawful.checks.conform.observation import Unseen
from lawful.checks.conform.oracle import entry_points
from lawful.runtime.instances.access import InstanceAccess
from lawful.testing import Mismatch, SimulatedClock, conformance
from tests.checks.declarations import cloakroom as c
from tests.checks.declarations import conformance as m

QUICK = settings(
    derandomize=True, deadline=None, database=None, max_examples=10, stateful_step_count=25
)
COATS = {"Coat": st.binary(max_size=2)}


def run(machine: Any, make: Callable[[SimulatedClock], Any], **given: Any) -> None:
    """Run the test of an implementation."""
    conformance(machine, make, settings=QUICK, **given)("runTest").debug()


def told(machine: Any, make: Callable[[SimulatedClock], Any], **given: Any) -> list[str]:
    """What the test of an implementation says when it fails, in lines that are not empty."""
    with pytest.raises(Mismatch) as caught:
        run(machine, make, **given)
    assert not getattr(caught.value, "__notes__", [])
    return [line for line in str(caught.value).splitlines() if line]


def by_hand(cls: type[c.ByHand]) -> list[str]:
    return told(c.Cloakroom, lambda clock: cls(), view=c.view, refused=(c.Sorry,))


# What is right.

TestTheRuntime = conformance(c.Cloakroom, lambda clock: c.Cloakroom(clock=clock), settings=QUICK)


def test_it_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        conformance(c.Cloakroom, lambda clock: c.Cloakroom(clock=clock))("runTest").debug()


TestByHand = conformance(
    c.Cloakroom,
    lambda clock: c.ByHand(),
    view=c.view,
    refused=(c.Sorry,),
    settings=QUICK,
    given=COATS,
)

TestOtherParameters = conformance(
    c.Cloakroom(hooks=3),
    lambda clock: c.ByHand(3),
    view=c.view,
    refused=(c.Sorry,),
    settings=QUICK,
)

TestThroughPerform = conformance(
    c.Cloakroom,
    lambda clock: [c.Cloakroom(clock=clock)],
    settings=QUICK,
    perform=lambda rooms, event, args: rooms[0].lawful.take(event, *args),
    view=lambda rooms: rooms[0],
)

TestFaults = conformance(m.Faults, lambda clock: m.Faults(), settings=QUICK)
TestOffice = conformance(
    m.Office, lambda clock: m.Office(clock=clock, universe=m.DESKS), settings=QUICK
)
TestSeats = conformance(m.Seats, lambda clock: m.Seats(universe=m.DESKS), settings=QUICK)
TestCoins = conformance(m.Coins, lambda clock: m.Coins(), settings=QUICK)


# What is wrong, and how it is told: the shortest calls that show it, and only what differs.


def test_off_by_one() -> None:
    assert by_hand(c.OneTooMany) == [
        "Cloakroom, in the last of these events:",
        "    hang(Coat(0))  # 1",
        "    hang(Coat(0))  # 2",
        "    hang(Coat(0))",
        "the machine refuses it: no hook is free (2 < 2 is false)",
        "the implementation accepts it and returns 3",
        "coats[3]: expected nothing, found Coat(0)",
        "issued: expected 2, found 3",
    ]


def test_forgets_to_purge() -> None:
    assert by_hand(c.Hoarder) == [
        "Cloakroom, in the last of these events:",
        "    hang(Coat(0))  # 1",
        "    fetch(1)",
        "coats[1]: expected nothing, found Coat(0)",
    ]


def test_changes_its_state_where_it_refuses() -> None:
    assert by_hand(c.Hasty) == [
        "Cloakroom, in the last of these events:",
        "    hang(Coat(0))  # 1",
        "    hang(Coat(0))  # 2",
        "    hang(Coat(0))",
        "the machine refuses it: no hook is free (2 < 2 is false); nothing may change",
        "issued: expected 2, found 3",
    ]


def test_gives_another_output() -> None:
    lines = by_hand(c.Confused)
    old, new = ("Coat(0)", "Coat(1)") if "hang(Coat(0))" in lines[1] else ("Coat(1)", "Coat(0)")
    assert lines == [
        "Cloakroom, in the last of these events:",
        f"    hang({old})  # 1",
        f"    hang({new})  # 2",
        "    fetch(2)",
        f"output: expected {new}, found {old}",
    ]


def test_gives_an_output_of_another_type() -> None:
    assert by_hand(c.Talkative) == [
        "Cloakroom, in this event:",
        "    hang(Coat(0))",
        "output: expected 1, found '1'",
    ]


def test_refuses_what_is_to_be_ignored() -> None:
    assert by_hand(c.Pedant) == [
        "Cloakroom, in this event:",
        "    unlock()",
        "the machine ignores it: it is open",
        "the implementation refuses it: it is open",
    ]


def test_refuses_what_is_possible() -> None:
    assert by_hand(c.Lazy) == [
        "Cloakroom, in the last of these events:",
        "    hang(Coat(0))  # 1",
        "    shut()",
        "the machine takes shut",
        "the implementation refuses it: nobody is late",
        "state: expected Hours.SHUT, found Hours.OPEN",
        "coats[1]: expected nothing, found Coat(0)",
        "quiet: expected stopped, found armed",
    ]


def test_loses_an_element_and_a_timer() -> None:
    assert by_hand(c.Sleepy) == [
        "Cloakroom, in the last of these events:",
        "    hang(Coat(0))  # 1",
        "    hang(Coat(0))",
        "quiet: expected armed, found stopped",
    ]
    assert by_hand(c.Forgetful)[-1] == "wanted, in it: expected 1, found nothing"


def test_begins_in_another_state() -> None:
    def view(room: c.ByHand) -> dict[str, Any]:
        return {**c.view(room), "issued": 7}

    assert told(c.Cloakroom, lambda clock: c.ByHand(), view=view) == [
        "Cloakroom, as it starts:",
        "issued: expected 0, found 7",
    ]


def test_what_an_implementation_raises_is_shown_with_the_calls() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        run(c.Cloakroom, lambda clock: c.Broken(), view=c.view, refused=(c.Sorry,), given=COATS)
    (note,) = caught.value.__notes__
    assert note.splitlines()[2:] == [
        "    hang(b'')  # 1",
        "    shut()  # {1}",
        "    ask(1)",
        "    ask(1)",
        "",
        "the implementation raises this exception",
    ]
    assert any(entry.name == "ask" for entry in caught.traceback)


def test_a_machine_that_breaks_its_own_word() -> None:
    assert told(m.Liar, lambda clock: m.Liar())[1:] == [
        "    more()",
        "here the machine itself violates few: n < 1 is false (n = 1)",
    ]
    assert told(m.Below, lambda clock: m.Below())[1:] == [
        "    less()",
        "here the machine itself violates bounds: n: -1 is below 0",
    ]


# What the test itself has to give.


def test_a_variable_that_is_not_shown() -> None:
    def seen(room: c.ByHand) -> dict[str, Any]:
        return {k: v for k, v in c.view(room).items() if k != "wanted"}

    with pytest.raises(Unseen, match="dict shows no wanted: let `view` show it, or name it"):
        run(c.Cloakroom, lambda clock: c.ByHand(), view=seen)
    run(c.Cloakroom, lambda clock: c.ByHand(), view=seen, refused=(c.Sorry,), unseen=["wanted"])


def test_a_choice_is_the_callers() -> None:
    assert [(way.name, way.extra) for way in entry_points(m.Coins.lawful.ir)] == [
        ("heads", False),
        ("tails", False),
    ]
    assert [(way.name, way.extra, way.timed) for way in entry_points(c.Cloakroom.lawful.ir)] == [
        ("hang", False, False),
        ("fetch", False, False),
        ("ask", False, False),
        ("shut", False, True),
        ("unlock", False, False),
    ]
    assert [(way.name, way.extra, way.timed) for way in entry_points(m.Worker.lawful.ir)] == [
        ("work", False, False),
        ("go_home", False, True),
        ("start", True, False),
        ("carry_on", True, False),
    ]
    assert all(way.timed for way in entry_points(m.Office.lawful.ir))


def test_without_hypothesis_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    for name in ("lawful.testing", "lawful.checks.conform.hypothesis_machine"):
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'lawful\[test\]'"):
        importlib.import_module("lawful.testing")


def test_the_given_strategies_are_used() -> None:
    seen: set[tuple[str, Any]] = set()

    def perform(room: c.ByHand, event: str, args: tuple[Any, ...]) -> Any:
        seen.update((event, arg) for arg in args)
        return getattr(room, event)(*args)

    given = {"Coat": st.just(b"coat"), "fetch.ticket": st.just(1), "Nat": st.integers(0, 3)}
    run(
        c.Cloakroom,
        lambda clock: c.ByHand(),
        perform=perform,
        view=c.view,
        refused=(c.Sorry,),
        given=given,
    )
    assert {arg for event, arg in seen if event == "hang"} == {b"coat"}
    assert {arg for event, arg in seen if event == "fetch"} == {1}
    asked = {arg for event, arg in seen if event == "ask"}
    assert asked > {0, 1, 2, 3}  # And what occurs.


def test_settings_are_the_users() -> None:
    made: list[int] = []

    def make(clock: SimulatedClock) -> c.Cloakroom:
        made.append(1)
        return c.Cloakroom(clock=clock)

    test = conformance(c.Cloakroom, make, settings=settings(QUICK, max_examples=3))
    test("runTest").debug()
    assert len(made) == 3
    test.settings = settings(QUICK, max_examples=2, phases=[Phase.generate, Phase.shrink])
    test("runTest").debug()
    assert len(made) == 5


# The runtime's own part.


def test_a_timer_that_does_not_fire(monkeypatch: pytest.MonkeyPatch) -> None:
    def fire_nothing(self: object, now: float) -> list[object]:
        return []

    monkeypatch.setattr(InstanceAccess, "fire_due", fire_nothing)
    assert told(c.Cloakroom, lambda clock: c.Cloakroom(clock=clock)) == [
        "Cloakroom, in the last of these events:",
        "    hang(Coat(0))  # 1",
        "    fire_due()",
        "no timer fires; the machine may take shut",
    ]


def test_another_reason_is_a_difference() -> None:
    def perform(room: c.Cloakroom, event: str, args: tuple[Any, ...]) -> Any:
        try:
            return room.lawful.take(event, *args)
        except Refused as refused:
            raise Refused("", event, "", refused.reasons[:1] * 2) from None

    lines = told(c.Cloakroom, lambda clock: c.Cloakroom(clock=clock), perform=perform)
    assert lines[0] == "Cloakroom, in this event:"
    assert lines[2].startswith("reasons: expected ")


def test_a_fault_has_its_name() -> None:
    def perform(faults: m.Faults, event: str, args: tuple[Any, ...]) -> Any:
        try:
            return faults.lawful.take(event, *args)
        except PropertyViolated:
            raise PropertyViolated("Faults", event, "asserts", "what") from None

    lines = told(m.Faults, lambda clock: m.Faults(), perform=perform)
    assert lines[-2:] == [
        "the machine violates bounds: n: -1 is below 0",
        "the implementation raises PropertyViolated: Faults.take: asserts: what",
    ]


class Greeting(Record):
    text: str


class Greeter(Machine):
    """Its outputs have text."""

    far: bool = False

    @transition
    def greet(self, far: bool) -> tuple[Greeting, str]:
        self.far = far
        return Greeting(f"hello {far}"), "there" if far else "here"


class GreeterByHand:
    def __init__(self, where: str) -> None:
        self.far = False
        self.where = where

    def greet(self, far: bool) -> tuple[Greeting, str]:
        self.far = far
        return Greeting(f"hello {far}"), self.where if far else "here"


def test_outputs_may_have_text() -> None:
    run(Greeter, lambda clock: GreeterByHand("there"))
    said = told(Greeter, lambda clock: GreeterByHand("nowhere"))
    assert said == [
        "Greeter, in this event:",
        "    greet(True)",
        "output: expected (Greeting(text='hello True'), 'there'), "
        "found (Greeting(text='hello True'), 'nowhere')",
    ]
