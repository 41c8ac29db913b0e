"""Runs as sequence diagrams: whole texts, of a violation and of both kinds of lasso."""

from __future__ import annotations

from collections.abc import Mapping

from lawful import Machine, Nat, Scope, eventually, invariant, transition
from lawful.checks.explore import explore
from lawful.diagrams.sequence import text
from lawful.spec.ir import Json
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve


class Lamp(Machine):
    on: bool = False

    @transition()
    def press(self) -> None:
        self.on = not self.on


class Hall(Machine):
    lamps: dict[Nat, Lamp] = {}
    last: Nat = 0

    @transition()
    def hang(self, n: Nat) -> None:
        if n not in self.lamps:
            self.lamps[n] = Lamp()
            self.last = n

    @transition(fair="weak")
    def press(self, n: Nat) -> None:
        self.lamps[n].press()

    @invariant
    def first_is_off(self) -> bool:
        return 0 not in self.lamps or not self.lamps[0].on

    @eventually
    def all_hang(self) -> bool:
        return all(n in self.lamps for n in range(2))

    scope = Scope(Nat=range(0, 2))


def drawn(name: str) -> list[str]:
    resolved = resolve(Hall)
    result = explore(lower(resolved.machine, resolved.scopes["scope"]), resolved.world, {})
    trace = next(p.trace for p in result.properties if p.name == name)
    assert trace is not None
    return text("Hall", trace.steps, trace.loop, f"{name} <is> wrong").splitlines()


def test_a_violation() -> None:
    assert drawn("first_is_off") == [
        "sequenceDiagram",
        "    participant M as Hall",
        "    participant P1 as lamps[0]",
        "    Note over M: 1. hang(n=0)",
        "    M->>P1: is made",
        "    Note over M: 2. press(n=0)",
        "    M->>P1: on = True",
        "    Note over M,P1: first_is_off #60;is#62; wrong",
    ]


def test_a_lasso_that_stops() -> None:
    assert drawn("all_hang") == [
        "sequenceDiagram",
        "    participant M as Hall",
        "    Note over M: nothing more happens",
        "    Note over M: all_hang #60;is#62; wrong",
    ]


class Given:
    """A step of a trace with these changes."""

    def __init__(self, changed: Mapping[str, Json]) -> None:
        self.transition = "press"
        self.args: Mapping[str, Json] = {"n": 0}
        self.changed = changed


def test_an_event_has_one_note_and_one_arrow_to_each_part() -> None:
    """By part, in the order of their first change; the parts of a part are lifelines, too."""
    first: dict[str, Json] = {"lamps[0].on": True, "last": 4, "lamps[1]": {}, "lamps[0].n": 2}
    second: dict[str, Json] = {"lamps[1].on": True, "open": False, "door.lock.shut": True}
    third: dict[str, Json] = {"lamps[1].n": 3, "lamps[0]": None, "lamps[1].on": False}
    assert text(
        "Hall", [Given(first), Given(second), Given(third)], None, "the end"
    ).splitlines() == [
        "sequenceDiagram",
        "    participant M as Hall",
        "    participant P1 as lamps[0]",
        "    participant P2 as lamps[1]",
        "    participant P3 as door.lock",
        "    Note over M: 1. press(n=0)<br/>last = 4",
        "    M->>P1: on = True<br/>n = 2",
        "    M->>P2: is made",
        "    Note over M: 2. press(n=0)<br/>open = False",
        "    M->>P2: on = True",
        "    M->>P3: shut = True",
        "    Note over M: 3. press(n=0)",
        "    M->>P2: n = 3<br/>on = False",
        "    M->>P1: is gone",
        "    Note over M,P3: the end",
    ]


def test_a_lasso_that_goes_round() -> None:
    steps = [Given({"on": True}), Given({"on": False, "note": "x" * 70})]
    assert text("Lamp", steps, 1, "never ends").splitlines() == [
        "sequenceDiagram",
        "    participant M as Lamp",
        "    Note over M: 1. press(n=0)<br/>on = True",
        "    loop again and again",
        f"        Note over M: 2. press(n=0)<br/>on = False<br/>note = {'x' * 57}...",
        "    end",
        "    Note over M: never ends",
    ]
