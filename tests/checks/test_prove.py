"""Induction: what is provable is proved, what is not is never called so, and says why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from lawful import (
    Machine,
    Nat,
    Param,
    Record,
    Sort,
    State,
    Timer,
    assume,
    initial,
    invariant,
    require,
    step_property,
    total,
    transition,
)
from lawful.checks.prove import AT_START, TO_INDUCTION, ProofResult, prove
from lawful.checks.reference import Done, Fault, Reference
from lawful.checks.verdict import Verdict
from lawful.machines.unicast.as_seed import ReceiverEntryAsSeed, SenderEntryAsSeed
from lawful.machines.unicast.declaration import ReceiverEntryFixed, SenderEntryFixed
from lawful.spec import types as t
from lawful.spec.resolve import resolve
from lawful.spec.values import decode
from tests.classics.peterson import Peterson
from tests.classics.two_phase import TwoPhase

ENTRIES = (SenderEntryFixed, ReceiverEntryFixed)


def proof(cls: Any, sizes: Mapping[str, int] | None = None, seconds: float = 10.0) -> ProofResult:
    return prove(resolve(cls).machine, sizes=sizes or {}, timeout_seconds=seconds)


def verdicts(result: ProofResult) -> dict[str, str]:
    return {p.name: p.verdict.value for p in result.properties}


def not_proved(result: ProofResult) -> set[tuple[str, str]]:
    return {(o.obligation, o.property) for o in result.obligations if not o.verdict.good}


# The entries, for all integers.


@pytest.mark.parametrize("cls", ENTRIES, ids=lambda c: c.__name__)
def test_an_entry_is_proved(cls: Any) -> None:
    result = proof(cls)
    assert set(verdicts(result).values()) == {"proved"}, not_proved(result)
    assert {o.note for o in result.obligations} == {""}
    machine = resolve(cls).machine
    cases = {"start", *(row.name for row in machine.transitions)}
    properties = {p.name for p in machine.of_kind("invariant")} | {"bounds", "asserts", "undefined"}
    over_steps = {p.name for p in machine.of_kind("step_property")}
    named = [(o.obligation, o.property) for o in result.obligations]
    wanted = {(c, p) for c in cases for p in properties}
    wanted |= {(c, p) for c in cases - {"start"} for p in over_steps}
    assert sorted(named) == sorted(wanted)
    assert result.obligations[0].covers == (
        "all integers; timers armed or not; all parameter values; all values of Payload"
    )


@pytest.mark.parametrize(
    ("cls", "broken"),
    [
        (SenderEntryAsSeed, {("remove", "no_silent_loss")}),
        (
            ReceiverEntryAsSeed,
            {(e, "never_goes_back") for e in ("establish", "close_received", "remove")},
        ),
    ],
    ids=["sender", "receiver"],
)
def test_the_document_as_written_is_refuted(cls: Any, broken: set[tuple[str, str]]) -> None:
    result = proof(cls)
    assert not_proved(result) == broken
    for obligation in result.obligations:
        if (obligation.obligation, obligation.property) in broken:
            assert obligation.verdict is Verdict.UNKNOWN
            assert obligation.note == TO_INDUCTION
            assert obligation.counterexample is not None
            assert obligation.counterexample["label"] == TO_INDUCTION
            assert_is_a_step(cls, dict(obligation.counterexample))


def assert_is_a_step(cls: Any, example: dict[str, Any]) -> None:
    """The reference engine takes the step of a counterexample, to the state it says."""
    resolved = resolve(cls)
    machine, world = resolved.machine, resolved.world
    fields: list[tuple[str, t.Type, str]] = [
        *((v.name, v.type, "state") for v in machine.variables),
        *((p.name, p.type, "parameters") for p in machine.parameters),
    ]
    state = tuple(decode(example[where][name], kind, world) for name, kind, where in fields)
    params = machine.transition(example["transition"]).function.params
    args = {name: decode(example["args"][name], kind, world) for name, kind in params}
    outcome = Reference(machine, world).step(state, example["transition"], args)
    if example["after"] is None:
        assert isinstance(outcome, Fault)
        return
    assert isinstance(outcome, Done)
    after = {name: decode(example["after"][name], kind, world) for name, kind, where in fields
             if where == "state"}  # fmt: skip
    assert dict(zip(after, outcome.state, strict=False)) == after


def test_the_same_question_has_the_same_answer() -> None:
    first, second = proof(SenderEntryAsSeed), proof(SenderEntryAsSeed)
    answers = [[(o.verdict, o.note, o.counterexample) for o in r.obligations]
               for r in (first, second)]  # fmt: skip
    assert answers[0] == answers[1]


def test_progress_names_each_obligation() -> None:
    told: list[str] = []
    machine = resolve(SenderEntryFixed).machine
    result = prove(machine, sizes={}, progress=told.append)
    assert told == [f"{o.obligation}: {o.property}" for o in result.obligations]


def test_peterson_is_proved_within_nothing() -> None:
    assert set(verdicts(proof(Peterson)).values()) == {"proved"}


@pytest.mark.parametrize(("sizes", "proved"), [({"RM": 3}, "proved-within"), ({}, "proved")])
def test_sizes_of_sorts_are_bounds_of_the_scope(sizes: dict[str, int], proved: str) -> None:
    result = proof(TwoPhase, sizes)
    assert verdicts(result)["undefined"] == proved
    assert result.properties[0].covers == ("RM=3" if sizes else "any RM")
    # Without strengthening it is not inductive; none the less it holds.
    assert verdicts(result)["consistent"] == "unknown"


# What must not be called proved.


class Step(State):
    ONE = "one"
    TWO = "two"


class Counter(Machine):
    """Invariants that hold, that hold but are not inductive, and that are false."""

    state: Step = Step.ONE
    n: Nat = 0
    even: int = 0

    @transition()
    def up(self) -> None:
        self.n += 1
        self.even += 2

    @transition(source=Step.TWO)
    def never(self) -> None:
        self.n = 100

    @invariant
    def even_is_even(self) -> bool:
        return self.even % 2 == 0

    @invariant
    def never_two(self) -> bool:
        return self.state == Step.ONE

    @invariant
    def small(self) -> bool:
        return self.n < 10

    @invariant
    def small_too(self) -> bool:
        """Kept by `up` only with the help of `small`, which is not kept."""
        return self.n < 11

    @invariant
    def starts_wrong(self) -> bool:
        return self.n > 0

    @step_property
    def grows(self, after: "Counter") -> bool:
        return after.n > self.n

    @step_property
    def shrinks(self, after: "Counter") -> bool:
        return after.n < self.n


def test_each_property_gets_what_it_deserves() -> None:
    result = proof(Counter)
    assert verdicts(result) == {
        "bounds": "proved", "asserts": "proved", "undefined": "proved",
        "even_is_even": "proved", "never_two": "proved",
        "small": "unknown", "small_too": "unknown", "starts_wrong": "violated",
        "grows": "proved", "shrinks": "unknown",
    }  # fmt: skip
    rows = {(o.obligation, o.property): o for o in result.obligations}
    assert rows["up", "small"].note == TO_INDUCTION
    example = rows["up", "small"].counterexample
    assert example is not None
    assert_is_a_step(Counter, dict(example))
    start = rows["start", "starts_wrong"]
    assert (start.verdict, start.note) == (Verdict.VIOLATED, AT_START)
    assert start.counterexample is not None and start.counterexample["state"] is None
    assert start.counterexample["after"] == {"state": "ONE", "n": 0, "even": 0}


def test_what_leans_on_the_unproved_is_not_proved() -> None:
    result = proof(Counter)
    row = next(o for o in result.obligations if (o.obligation, o.property) == ("up", "small_too"))
    assert row.verdict is Verdict.UNKNOWN
    assert row.note.startswith("shown only together with what is not proved: ")
    assert "small" in row.note


def test_a_transition_that_never_fires_is_said_to_be_vacuous() -> None:
    result = proof(Counter)
    notes = {o.note for o in result.obligations if o.obligation == "never" and o.verdict.good}
    assert notes == {"vacuous: it can never happen where the invariants hold"}
    assert {o.note for o in result.obligations if o.obligation == "up" and o.verdict.good} == {""}


class Assumed(Machine):
    """An assumption about parameters, used; the limits are for all of them."""

    low: Param[int] = 0
    high: Param[int] = 3
    at: int = 0

    @assume
    def ordered(self) -> bool:
        return self.low < self.high

    @initial
    def begin(self, at: int) -> None:
        require(self.low <= at <= self.high, "outside")
        self.at = at

    @transition()
    def up(self, by: Nat) -> None:
        require(self.at + by <= self.high, "too far")
        self.at += by

    @invariant
    def inside(self) -> bool:
        return self.low <= self.at <= self.high


class Absurd(Assumed):
    """Nothing can be assumed of these parameters."""

    @assume
    def never(self) -> bool:
        return self.low > self.high

    @invariant
    def anything(self) -> bool:
        return self.at == 77


def test_parameters_are_arbitrary_within_what_is_assumed() -> None:
    result = proof(Assumed)
    assert verdicts(result)["inside"] == "proved"
    assert result.properties[0].covers == "all integers; all parameter values that @assume allows"
    assert {o.obligation for o in result.obligations} == {"begin", "up"}


def test_an_unsatisfiable_assumption_proves_nothing() -> None:
    result = proof(Absurd)
    assert set(verdicts(result).values()) == {"unknown"}
    assert {p.note for p in result.properties} == {"no start is possible: nothing is proved of it"}


class Faults(Machine):
    """Each built-in property breaks in one transition."""

    n: Nat = 0
    names: dict[Nat, Nat] = {}

    @transition()
    def below(self) -> None:
        self.n -= 1

    @transition()
    def wrong(self, by: Nat) -> None:
        assert self.n < 3

    @transition()
    def missing(self, q: Nat) -> None:
        self.n = self.names[q]

    @transition()
    def divided(self, by: Nat) -> int:
        return self.n // by

    @transition()
    def output(self) -> Nat:
        return self.n - 1

    @transition()
    def fine(self, by: Nat) -> Nat:
        require(by != 0, "zero")
        return self.n // by

    @invariant
    def has_a_name(self) -> bool:
        """Has no value where there is no name: at the start, to begin with."""
        return self.names[self.n] >= 0


def test_built_in_properties_are_obligations_of_their_own() -> None:
    result = proof(Faults)
    assert not_proved(result) == {
        ("below", "bounds"), ("output", "bounds"), ("wrong", "asserts"),
        ("missing", "undefined"), ("divided", "undefined"),
        ("start", "has_a_name"), ("below", "has_a_name"), ("missing", "has_a_name"),
    }  # fmt: skip
    rows = {(o.obligation, o.property): o for o in result.obligations}
    for name, kind in (("below", "bounds"), ("wrong", "asserts"), ("divided", "undefined")):
        example = rows[name, kind].counterexample
        assert example is not None
        assert_is_a_step(Faults, {**example, "after": None})
    assert rows["start", "has_a_name"].verdict is Verdict.UNDEFINED
    assert verdicts(result)["has_a_name"] == "undefined"


class Listed(Machine):
    """Lists have no encoding: what needs them is unknown, the rest is proved."""

    queue: list[Nat] = []
    n: Nat = 0
    seen: set[Nat] = set()

    @transition()
    def put(self, x: Nat) -> None:
        self.queue.append(x)

    @transition()
    def count(self) -> None:
        self.n += 1

    @transition()
    def size(self) -> None:
        self.n = len(self.seen)

    @transition()
    def visit(self) -> None:
        for q in self.seen:
            self.n += q

    @invariant
    def natural(self) -> bool:
        return self.n >= 0

    @invariant
    def short(self) -> bool:
        return len(self.queue) < 3


def test_what_cannot_be_encoded_is_named_and_unknown() -> None:
    result = proof(Listed)
    rows = {(o.obligation, o.property): o for o in result.obligations}
    assert rows["count", "bounds"].verdict is Verdict.PROVED
    assert rows["count", "natural"].verdict is Verdict.PROVED
    assert rows["start", "short"].verdict is Verdict.PROVED  # A list of known length is no riddle.
    for obligation, property, construct in (
        ("put", "natural", "append of a list[Nat]"),
        ("size", "natural", "len of a set[Nat], which has no bound"),
        ("visit", "bounds", "a loop over a set[Nat], which has no bound"),
        ("count", "short", "list[Nat]"),
    ):
        row = rows[obligation, property]
        assert row.verdict is Verdict.UNKNOWN
        assert row.note.startswith("not encodable: ") and construct in row.note, row.note
        assert row.counterexample is None
    assert "test_prove.py:" in rows["size", "natural"].note


class Job(Record):
    number: Nat
    owner: "Worker"


class Worker(Sort):
    """Any number of them."""


class Owned(Machine):
    """Records, maps from sorts, timers in a map: for any number of workers."""

    jobs: dict[Worker, Job] = {}
    alarm: dict[Worker, Timer] = {}
    busy: dict[Worker, bool] = total(False)

    @transition()
    def give(self, w: Worker, n: Nat) -> None:
        require(w not in self.jobs, "has one")
        self.jobs[w] = Job(n, w)
        self.busy[w] = True
        self.alarm[w] = Timer()
        self.alarm[w].start(1.0)

    @transition(timer="alarm[w]")
    def late(self, w: Worker) -> Job:
        job = self.jobs[w]
        del self.jobs[w]
        self.busy[w] = False
        return job

    @transition()
    def swap(self, a: Worker, b: Worker) -> None:
        require(a in self.jobs and b in self.jobs, "one has none")
        self.jobs = {w: j.replace(number=j.number + 1) for w, j in self.jobs.items()}

    @invariant
    def owners(self) -> bool:
        return all(j.owner == w and self.busy[w] for w, j in self.jobs.items())

    @invariant
    def busy_have_jobs(self, w: Worker) -> bool:
        return self.busy[w] == (w in self.jobs)

    @invariant
    def watched(self) -> bool:
        return all(w in self.jobs for w in self.alarm if self.alarm[w].armed)


@pytest.mark.parametrize("sizes", [{}, {"Worker": 3}], ids=["any", "three"])
def test_maps_of_records_and_timers(sizes: dict[str, int]) -> None:
    result = proof(Owned, sizes)
    assert set(verdicts(result).values()) == {"proved-within" if sizes else "proved"}


class Hard(Machine):
    """Beyond any solver, and found out in no time."""

    x: Nat = 1
    y: Nat = 1
    z: Nat = 1

    @transition()
    def choose(self, x: Nat, y: Nat, z: Nat) -> None:
        require(x > 0 and y > 0 and z > 0, "positive")
        self.x, self.y, self.z = x, y, z

    @invariant
    def fermat(self) -> bool:
        return self.x * self.x * self.x + self.y * self.y * self.y != self.z * self.z * self.z


def test_what_z3_does_not_decide_is_unknown() -> None:
    result = proof(Hard, seconds=0.3)
    row = next(o for o in result.obligations if (o.obligation, o.property) == ("choose", "fermat"))
    assert row.verdict is Verdict.UNKNOWN
    assert row.counterexample is None and row.note.startswith("Z3 does not decide it")
