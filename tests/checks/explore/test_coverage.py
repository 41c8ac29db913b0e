"""What a search exercised: guards counted by hand, values, and the same of every engine."""

from __future__ import annotations

import inspect
from collections import Counter
from typing import Annotated, Any

import pytest
from annotated_types import Interval

from lawful import Machine, Nat, Scope, Sort, State, needed, refuse, require, transition
from lawful.checks.explore import Engine, Limits, explore
from lawful.checks.explore.coverage import coverage, to_json
from lawful.checks.explore.search import search
from lawful.checks.explore.space import Space
from lawful.checks.report.exploration import coverage_text
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from tests.checks.declarations.exploration import Several
from tests.classics.alternating_bit import AlternatingBit
from tests.classics.two_phase import TwoPhase


class Node(Sort):
    pass


class Light(State):
    RED = "red"
    GREEN = "green"


class Lamp(Machine):
    state: Light = Light.RED

    @transition(source=Light.RED, target=Light.GREEN)
    def light(self) -> None: ...


class Gate(Machine):
    """Every way to refuse; the counts are in the test."""

    n: Nat = 0
    owner: Node | None = None
    lamps: dict[Node, Lamp] = {}
    queue: Counter[Nat] = Counter()

    @transition()
    def up(self, by: Annotated[int, Interval(ge=1, le=2)]) -> None:
        require(self.n < 3 and by <= 2, "enough")
        require(self.n + by <= 3, "too far")
        self.n += by

    @transition()
    def release(self) -> None:
        owner = needed(self.owner, "nobody owns it")
        if owner not in self.lamps:
            refuse("it is dark")
        self.owner = None

    @transition()
    def light(self, node: Node) -> None:
        self.lamps[node].light()

    @transition()
    def never(self) -> None:
        require(self.n > 3, "it is not that far")
        require(self.owner is None, "somebody owns it")

    deadlock_ok = True
    scope = Scope(Node=2, Nat=range(0, 5), queue=2)


def covered(cls: type[Machine], engine: Engine = "auto", **limits: Any) -> Any:
    found = resolve(cls)
    flat = lower(found.machine, found.scopes.get("scope", Scope()))
    result = explore(
        flat, found.world, found.expects, engine=engine, coverage=True, limits=Limits(**limits)
    )
    assert result.coverage is not None
    return result.coverage


def test_guards_are_counted_clause_by_clause() -> None:
    found = covered(Gate)
    assert found.states == 4
    assert [(g.transition, g.clause, g.true, g.refused, g.odd) for g in found.guards] == [
        # With n = 3 no value of `by` is gone through: one stands for both.
        ("up", "self.n < 3", 6, 1, ""),
        ("up", "by <= 2", 6, 0, "never refuses"),
        ("up", "self.n + by <= 3", 5, 1, ""),
        ("release", "needed(self.owner)", 0, 4, "never true"),
        ("release", 'refuse("it is dark")', 0, 0, "never reached"),
        # Without a lamp the step is undefined, before its guard is asked.
        ("light", "state is RED", 0, 0, "never reached"),
        ("never", "self.n > 3", 0, 4, "never true"),
        ("never", "self.owner is None", 0, 0, "never reached"),
    ]


def test_values_are_collected_place_by_place() -> None:
    taken = covered(Gate).values
    assert {place: str(each) for place, each in taken.items()} == {
        "n": "0..3",
        "owner": "None",
        "len(lamps)": "0",
        "keys(lamps)": "nothing",
        "lamps[].state": "nothing",
        "len(queue)": "0",
        "queue[]": "nothing",
    }
    messages = covered(TwoPhase).values["messages[]"]
    assert messages.count == 5
    assert messages.values[:2] == ({"$": "Abort"}, {"$": "Commit"})


def test_what_is_told_of_it() -> None:
    lines = coverage_text(covered(Gate))
    body, first = inspect.getsourcelines(Gate.up)
    line = first + next(n for n, text in enumerate(body) if "too far" in text)
    assert lines[0] == "covered by 4 states"
    assert lines[2].split() == ["guard", "where", "true", "refused"]
    assert lines[5].split() == [
        *("up:", "self.n", "+", "by", "<=", "3"),
        f"test_coverage.py:{line}",
        "5",
        "1",
    ]
    assert lines[12:15] == [
        "variable       values",
        "n              0..3",
        "owner          None  (always)",
    ]


@pytest.mark.parametrize("cls", [AlternatingBit, TwoPhase, Several], ids=lambda cls: cls.__name__)
def test_it_is_the_same_whichever_engine_found_the_states(cls: type[Machine]) -> None:
    assert to_json(covered(cls, "generated")) == to_json(covered(cls, "reference"))


def test_it_stops_with_the_time_and_says_of_how_many_states_it_is() -> None:
    found = resolve(Gate)
    space = Space(lower(found.machine, found.scopes["scope"]), found.world)
    states = search(space, Limits()).states
    for limits, looked in (
        (Limits(seconds=1e-9), 1),
        (Limits(stop=lambda: True), 1),
        (Limits(), 4),
    ):
        assert coverage(space, states, limits).states == looked


def test_of_orbits_nothing_is_said() -> None:
    found = resolve(TwoPhase)
    flat = lower(found.machine, found.scopes["scope"])
    with pytest.raises(ValueError, match="cannot be had with symmetry"):
        explore(flat, found.world, found.expects, symmetry=True, coverage=True)
