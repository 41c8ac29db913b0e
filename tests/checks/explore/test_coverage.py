"""What a search exercised: guards counted by hand, values, and the same of every engine."""

from __future__ import annotations

import dataclasses
import inspect
from collections import Counter
from contextlib import AbstractContextManager, nullcontext
from typing import Annotated, Any

import pytest
from annotated_types import Interval

from lawful import Machine, Nat, Scope, Sort, State, can, needed, refuse, require, transition
from lawful.checks.explore import Engine, Limits, explore
from lawful.checks.explore.codegen.body import Body
from lawful.checks.explore.codegen.text import Writer
from lawful.checks.explore.compiled import counting
from lawful.checks.explore.compiled.engine import NotGenerated
from lawful.checks.explore.compiled.plain import Plain
from lawful.checks.explore.coverage import coverage
from lawful.checks.explore.expansion import guard_counts
from lawful.checks.explore.expansion.guard_counts import GuardCounts
from lawful.checks.explore.search import search
from lawful.checks.explore.space import Space
from lawful.checks.report.exploration import coverage_text
from lawful.spec import ir
from lawful.spec.flat import Plan
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from tests.checks.declarations.acknowledging import Resends
from tests.checks.declarations.exploration import Several
from tests.checks.declarations.timed import Fischer, House, Rooms
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


class Chooses(Machine):
    """Whether a part's step is possible refuses nothing, and is not counted; a control state
    refuses once, whatever the arguments are."""

    state: Light = Light.RED
    lamps: dict[Node, Lamp] = {}
    lit: Nat = 0

    @transition()
    def hang(self, node: Node) -> None:
        require(node not in self.lamps, "it hangs")
        self.lamps[node] = Lamp()

    @transition()
    def light(self, node: Node) -> None:
        require(node in self.lamps, "there is none")
        if can(self.lamps[node].light):
            self.lamps[node].light()
        self.lit = 1

    @transition(source=Light.GREEN)
    def dim(self, node: Node) -> None:
        require(node in self.lamps, "there is none")

    deadlock_ok = True
    scope = Scope(Node=2, Nat=range(0, 2))


class Each(Machine):
    """Of two lamps the first in an order refuses: by name another than by declaration."""

    lamps: dict[Light, Lamp] = {}

    @transition()
    def hang(self, node: Light) -> None:
        require(node not in self.lamps, "it hangs")
        self.lamps[node] = Lamp()

    @transition()
    def one(self, node: Light) -> None:
        require(node in self.lamps and node == Light.RED, "there is none")
        self.lamps[node].light()

    @transition()
    def every(self) -> None:
        require(len(self.lamps) == 2, "one is missing")
        for lamp in self.lamps.values():
            lamp.light()

    deadlock_ok = True
    scope = Scope()


class Far(Machine):
    """Lists grow beyond the room that generated code has for them."""

    row: list[Nat] = []

    @transition()
    def fill(self, n: Nat) -> None:
        require(len(self.row) < 2, "full")
        self.row.append(n)

    @transition()
    def spread(self) -> None:
        require(len(self.row) == 2, "not yet")
        self.row.extend([0, 0, 0, 0, 0])
        require(self.row[0] == 0, "no")
        self.row.clear()

    deadlock_ok = True
    scope = Scope(Nat=range(0, 2), row=2)


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
    assert lines[0] == "covered by 4 states (generated)"
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


COUNTED = [
    *(Gate, Chooses, AlternatingBit, TwoPhase, Several, Fischer, House, Rooms),
    pytest.param(Resends, marks=pytest.mark.nightly),
]


def same(cls: type[Machine], engine: Engine) -> None:
    """Coverage by this engine is that of the reference engine."""
    found = covered(cls, engine)
    assert (found.engine, found.not_generated) == (engine, "")
    assert dataclasses.replace(found, engine="reference") == covered(cls, "reference")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("cls", COUNTED, ids=lambda cls: cls.__name__)
def test_generated_code_counts_as_the_reference_engine_does(cls: type[Machine]) -> None:
    same(cls, "generated")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("cls", [Gate, Resends], ids=lambda cls: cls.__name__)
def test_machine_code_counts_so_too(cls: type[Machine]) -> None:
    same(cls, "compiled")


def nowhere(_steps: GuardCounts, f: Body, row: ir.Transition, _at: int) -> None:
    """Code that tries no transition of this name."""
    if row.name == "dim":
        f.line("return 0")


def never(_f: Writer, _node: object) -> None:
    """Code that counts no guard that was true."""


def unseen(_f: Writer, _node: object = None) -> AbstractContextManager[None]:
    """Code that counts no refusal, or what is asked before a step, too."""
    return nullcontext()


def always(_steps: GuardCounts, f: Body, _plan: Plan, fits: str) -> None:
    """Code that goes through values that a plan leaves out."""
    f.line(f"{fits} = 1")


@pytest.mark.parametrize(
    ("cls", "where", "name", "broken"),
    [
        (Chooses, GuardCounts, "_elsewhere", nowhere),
        (Gate, Writer, "was_true", never),
        (Gate, Writer, "guard", unseen),
        (Chooses, Writer, "uncounted", unseen),
        (Gate, GuardCounts, "_fits", always),
    ],
    ids=["transition", "true", "refused", "can", "plan"],
)
def test_a_count_that_is_left_out_is_noticed(
    cls: type[Machine], where: type, name: str, broken: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(where, name, broken)
    with pytest.raises(AssertionError):
        same(cls, "generated")


def test_a_value_that_is_left_out_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    distinct = Plain.distinct

    def fewer(store: Plain, *given: Any) -> Any:
        return [*distinct(store, *given)][1:]

    monkeypatch.setattr(Plain, "distinct", fewer)
    with pytest.raises(AssertionError):
        same(TwoPhase, "generated")


def test_the_reference_engine_says_that_it_took_over(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_given: object) -> None:
        raise NotGenerated("a set over too many values")

    monkeypatch.setattr(counting, "GuardCounts", refused)
    found = covered(Gate, "generated")
    assert (found.engine, found.not_generated) == ("reference", "a set over too many values")
    said = coverage_text(found)[:2]
    assert said == [
        "covered by 4 states (reference)",
        "slow: guards cannot be counted by generated code for a set over too many values",
    ]


def test_guards_in_an_order_of_their_own_are_counted_by_the_reference_engine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = covered(Each, "generated")
    why = "guards in a loop whose order is not that of the codes"
    assert (found.engine, found.not_generated) == ("reference", why)
    assert dataclasses.replace(found, not_generated="") == covered(Each, "reference")
    monkeypatch.setattr(guard_counts, "GUARDS", ())
    with pytest.raises(AssertionError):
        same(Each, "generated")


def test_states_that_are_given_up_are_counted_by_the_reference_engine() -> None:
    same(Far, "generated")


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
