"""Induction: what is provable is proved, what is not is never called so, and says why."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from lawful.checks.prove import How, prove
from lawful.checks.prove.induction import Induction
from lawful.checks.prove.result import AT_START, TO_INDUCTION, UNSEEN
from lawful.checks.reference import Done, Fault, Reference
from lawful.checks.report import proofs
from lawful.checks.smt.obligations import Case, Question
from lawful.checks.smt.solver.budget import UNITS
from lawful.checks.smt.solver.solve import Answer
from lawful.checks.verdict import Verdict
from lawful.machines.unicast.as_seed import ReceiverEntryAsSeed, SenderEntryAsSeed
from lawful.machines.unicast.declaration import ReceiverEntryFixed, SenderEntryFixed
from lawful.spec import types as t
from lawful.spec.lower import sized
from lawful.spec.resolve import resolve
from lawful.spec.values.world import decode
from tests.checks.declarations.encoding import Beyond, Copied
from tests.checks.declarations.lists_and_keys import Keys, KeysListed
from tests.checks.declarations.liveness import Staff
from tests.checks.declarations.parts import Alive, Contested, Outside, Pair, Whole
from tests.checks.declarations.provable import (
    Assumed,
    Channel,
    Counter,
    Faults,
    Hard,
    Listed,
    Owned,
    Places,
    PlacesUnguarded,
    Unassumed,
)
from tests.checks.prove.proofs import not_proved, proof, verdicts
from tests.classics.peterson import Peterson
from tests.classics.two_phase import TwoPhase
from tests.spec import texts

ENTRIES = (SenderEntryFixed, ReceiverEntryFixed)
SHORT = UNITS / 50  # Enough for a counterexample; more goes into the search for a smaller one.


# The entries, for all integers.


@pytest.mark.one_in(2)
@pytest.mark.parametrize("cls", ENTRIES, ids=lambda c: c.__name__)
def test_an_entry_is_proved(cls: Any) -> None:
    result = proof(cls)
    assert set(verdicts(result).values()) == {"proved"}, not_proved(result)
    assert {o.note for o in result.obligations} == {""}
    machine = resolve(cls).machine
    cases = {"the start", *(row.name for row in machine.transitions)}
    properties = {p.name for p in machine.of_kind("invariant")} | {"bounds", "asserts", "undefined"}
    over_steps = {p.name for p in machine.of_kind("step_property")}
    named = [(o.obligation, o.property) for o in result.obligations]
    wanted = {(c, p) for c in cases for p in properties}
    wanted |= {(c, p) for c in cases - {"the start"} for p in over_steps}
    wanted |= {("data", "ambiguous")} if cls is ReceiverEntryFixed else set()
    assert sorted(named) == sorted(wanted)
    assert result.obligations[0].covers == (
        "all integers; timers armed or not; all parameter values; all values of Payload"
    )


@pytest.mark.one_in(2)
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
    after = {
        name: decode(example["after"][name], kind, world)
        for name, kind, where in fields
        if where == "state"
    }
    assert dict(zip(after, outcome.state, strict=False)) == after


@pytest.mark.nightly
def test_the_same_question_has_the_same_answer() -> None:
    first, second = proof(SenderEntryAsSeed), proof(SenderEntryAsSeed)
    answers = [
        [(o.verdict, o.note, o.counterexample) for o in r.obligations] for r in (first, second)
    ]
    assert answers[0] == answers[1]


@pytest.mark.nightly
def test_progress_names_each_obligation() -> None:
    told: list[str] = []
    machine = resolve(SenderEntryFixed).machine
    result = prove(machine, sizes={}, progress=told.append)
    rows = enumerate(result.obligations, 1)
    many = len(result.obligations)
    assert told == [f"{i} of {many}, {o.obligation}: {o.property}" for i, o in rows]


@pytest.mark.nightly
def test_several_processes_answer_as_one_does() -> None:
    machine = resolve(Counter).machine
    one, two = (prove(machine, sizes={}, how=How(workers=workers)) for workers in (1, 2))
    assert one.properties == two.properties
    rows = [[replace(o, seconds=0.0) for o in result.obligations] for result in (one, two)]
    assert rows[0] == rows[1]


def test_peterson_is_proved_within_nothing() -> None:
    assert set(verdicts(proof(Peterson)).values()) == {"proved"}


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("sizes", "proved"), [({"RM": 3}, "proved-within"), ({}, "proved")])
def test_sizes_of_sorts_are_bounds_of_the_scope(sizes: dict[str, int], proved: str) -> None:
    result = proof(TwoPhase, sizes)
    assert verdicts(result)["undefined"] == proved
    assert result.properties[0].covers == ("RM=3" if sizes else "any RM")
    # Without strengthening it is not inductive; none the less it holds.
    assert verdicts(result)["consistent"] == "unknown"


# What must not be called proved.


STARTS = """
class Starts(Machine):
    n: int = 0

    @transition()
    def start(self) -> None:
        self.n = self.n - 1

    @invariant
    def positive(self) -> bool:
        return self.n >= 0
"""


def test_a_transition_may_be_called_start() -> None:
    result = proof(texts.last_machine(texts.module(STARTS)))
    assert verdicts(result)["positive"] == "unknown"
    assert ("start", "positive") in not_proved(result)


def test_each_property_gets_what_it_deserves() -> None:
    result = proof(Counter)
    assert verdicts(result) == {
        "bounds": "proved",
        "asserts": "proved",
        "undefined": "proved",
        "even_is_even": "proved",
        "never_two": "proved",
        "small": "unknown",
        "small_too": "unknown",
        "starts_wrong": "violated",
        "grows": "proved",
        "shrinks": "unknown",
    }
    rows = {(o.obligation, o.property): o for o in result.obligations}
    assert rows["up", "small"].note == TO_INDUCTION
    example = rows["up", "small"].counterexample
    assert example is not None
    assert_is_a_step(Counter, dict(example))
    start = rows["the start", "starts_wrong"]
    assert (start.verdict, start.note) == (Verdict.VIOLATED, AT_START)
    assert start.counterexample is not None and start.counterexample["state"] is None
    assert start.counterexample["after"] == {"state": "ONE", "n": 0, "even": 0}


def test_what_uses_an_unproved_invariant_is_not_proved() -> None:
    result = proof(Counter)
    row = next(o for o in result.obligations if (o.obligation, o.property) == ("up", "small_too"))
    assert row.verdict is Verdict.UNKNOWN
    assert row.note.startswith("holds only with invariants that are not proved: ")
    assert "small" in row.note


def test_only_what_uses_an_unproved_invariant_is_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    induction = Induction(sized(resolve(Counter).machine, {}))
    obligations = [induction.answer(case, name) for case, name in induction.questions()]
    uses = {(o.obligation, o.property): o.uses for o in obligations}
    assert uses["up", "small_too"] == {"small"}
    assert uses["up", "grows"] == frozenset()
    asked: list[Question] = []

    def refute(_about: tuple[Case, str], question: Question, *_limits: object) -> Answer:
        asked.append(question)
        return Answer("unknown")

    monkeypatch.setattr(induction, "_refute", refute)
    sifted = induction.sift(obligations)
    assert [o for o in sifted if o.note.startswith("holds only with")] == [
        o for o in sifted if (o.obligation, o.property) == ("up", "small_too")
    ]
    assert len(asked) == 1


def test_parameters_are_arbitrary_within_what_is_assumed() -> None:
    result = proof(Assumed)
    assert verdicts(result)["inside"] == "proved"
    assert result.properties[0].covers == "all integers; all parameter values that @assume allows"
    assert {o.obligation for o in result.obligations} == {"begin", "up"}


def test_built_in_properties_are_obligations_of_their_own() -> None:
    result = proof(Faults, units=SHORT)
    assert not_proved(result) == {
        ("below", "bounds"),
        ("output", "bounds"),
        ("wrong", "asserts"),
        ("missing", "undefined"),
        ("divided", "undefined"),
        ("the start", "has_a_name"),
        ("below", "has_a_name"),
        ("missing", "has_a_name"),
    }
    rows = {(o.obligation, o.property): o for o in result.obligations}
    for name, kind in (("below", "bounds"), ("wrong", "asserts"), ("divided", "undefined")):
        example = rows[name, kind].counterexample
        assert example is not None
        assert_is_a_step(Faults, {**example, "after": None})
    assert rows["the start", "has_a_name"].verdict is Verdict.UNDEFINED
    assert verdicts(result)["has_a_name"] == "undefined"


def test_what_cannot_be_encoded_is_named_and_unknown() -> None:
    result = proof(Listed)
    rows = {(o.obligation, o.property): o for o in result.obligations}
    assert rows["count", "bounds"].verdict is Verdict.PROVED
    assert rows["count", "natural"].verdict is Verdict.PROVED
    # A list of known length is no riddle.
    assert rows["the start", "short"].verdict is Verdict.PROVED
    for obligation, property, construct in (
        ("put", "natural", "a value of type list[Nat], whose length has no bound"),
        ("size", "natural", "len of a set[Nat], which has no bound"),
        ("visit", "bounds", "a loop over a set[Nat], which has no bound"),
        ("count", "short", "list[Nat]"),
    ):
        row = rows[obligation, property]
        assert row.verdict is Verdict.UNKNOWN
        assert row.note.startswith("not encodable: ") and construct in row.note, row.note
        assert row.counterexample is None
    assert "provable.py:" in rows["size", "natural"].note


def test_a_list_is_proved_within_the_length_of_the_scope() -> None:
    result = proof(Channel, {"channel": 3})
    assert not_proved(result) == {("send", "short")}
    assert {o.covers for o in result.obligations} == {"all integers; channel <= 3"}
    assert verdicts(result) == {
        "bounds": "proved-within",
        "asserts": "proved-within",
        "undefined": "proved-within",
        "counted": "proved-within",
        "in_order": "proved-within",
        "short": "unknown",
    }
    rows = {(o.obligation, o.property): o for o in result.obligations}
    example = rows["send", "short"].counterexample
    assert example is not None
    assert example["after"] == {"channel": [0, 1, 2], "sent": 3, "received": 0}
    assert_is_a_step(Channel, dict(example))


def test_a_list_with_a_greatest_length_is_proved_as_it_is() -> None:
    result = proof(Places)
    assert set(verdicts(result).values()) == {"proved"}
    assert {o.covers for o in result.obligations} == {"all integers"}


def test_a_list_longer_than_its_bound_is_a_breach() -> None:
    result = proof(PlacesUnguarded)
    assert not_proved(result) == {("come", "bounds")}
    example = next(o.counterexample for o in result.obligations if not o.verdict.good)
    assert example is not None
    state, after = (cast(dict[str, list[int]], example[k]) for k in ("state", "after"))
    assert len(state["waiting"]) == 3 and after["waiting"][:3] == state["waiting"]
    assert len(after["waiting"]) == len(set(after["waiting"])) == 4


@pytest.mark.parametrize("sizes", [{}, {"Worker": 3}], ids=["any", "three"])
def test_maps_of_records_and_timers(sizes: dict[str, int]) -> None:
    result = proof(Owned, sizes)
    assert set(verdicts(result).values()) == {"proved-within" if sizes else "proved"}


def test_what_z3_does_not_decide_is_unknown() -> None:
    result = proof(Hard, units=2_000_000)
    row = next(o for o in result.obligations if (o.obligation, o.property) == ("choose", "fermat"))
    assert row.verdict is Verdict.UNKNOWN
    assert row.counterexample is None and row.note.startswith("Z3 does not decide it")


@pytest.mark.nightly
def test_what_is_outside_a_small_type_is_out_of_bounds() -> None:
    result = proof(Beyond, units=SHORT)
    rows = {o.obligation: o for o in result.obligations if o.property == "bounds"}
    proved = {name for name, o in rows.items() if o.verdict.good}
    assert proved == {"the start", "fine"}
    for name in rows.keys() - proved:
        example = rows[name].counterexample
        assert example is not None, name
        assert_is_a_step(Beyond, {**example, "after": None})


def test_a_key_too_many_is_a_breach_where_the_step_is_not_refused() -> None:
    result = proof(Keys)
    for name in ("refused_later", "read_back", "one_of_several"):
        row = next(o for o in result.obligations if (o.obligation, o.property) == (name, "bounds"))
        assert row.counterexample is not None
        assert_is_a_step(Keys, {**row.counterexample, "after": None})


def test_a_map_with_a_key_too_many_is_not_gone_through() -> None:
    result = proof(KeysListed)
    assert not_proved(result) == {("summed", p) for p in ("bounds", "asserts", "undefined")}
    open_ones = [o for o in result.obligations if not o.verdict.good]
    assert {(o.verdict, o.note, o.counterexample) for o in open_ones} == {
        (Verdict.UNKNOWN, UNSEEN, None)
    }


def test_a_total_map_has_nothing_outside_its_keys() -> None:
    result = proof(Outside)
    assert verdicts(result) == {
        "bounds": "proved",
        "asserts": "proved",
        "undefined": "proved",
        "default": "proved",
        "stand_in": "violated",
        "no_others": "proved",
    }


def test_none_moves_between_optionals() -> None:
    assert set(verdicts(proof(Copied)).values()) == {"proved"}


def test_a_start_refuted_without_an_assumption_is_unknown() -> None:
    result = proof(Unassumed)
    assert verdicts(result)["high"] == "unknown" and verdicts(result)["natural"] == "proved"
    row = next(o for o in result.obligations if (o.obligation, o.property) == ("begin", "high"))
    assert row.verdict is Verdict.UNKNOWN and row.counterexample is None
    assert row.note.startswith("refuted, but perhaps only") and "@assume some" in row.note
    assert proofs.exit_code(result, {}) == 3


def test_properties_of_parts_hold_for_every_part() -> None:
    result = proof(Pair)
    assert {k: v for k, v in verdicts(result).items() if "." in k} == {
        "cell.is_even": "proved",
        "cell.low": "unknown",
        "cell.grows": "unknown",
        "other.is_even": "proved",
        "other.low": "proved",
        "other.grows": "proved",
    }
    assert {(o.obligation, o.property) for o in result.obligations if o.note == TO_INDUCTION} == {
        ("up", "cell.low"),
        ("down", "cell.grows"),
    }
    assert verdicts(proof(Whole))["pair.cell.is_even"] == "proved"
    assert not_proved(proof(Whole)) == {("up", "pair.cell.low")}


def test_an_event_of_several_transitions_is_asked_for_ambiguity() -> None:
    result = proof(Contested)
    rows = {o.obligation: o for o in result.obligations if o.property == "ambiguous"}
    assert {name: o.verdict.value for name, o in rows.items()} == {
        "go": "unknown",
        "turn": "proved",
    }
    example = rows["go"].counterexample
    assert example is not None and rows["go"].note == TO_INDUCTION
    assert example["args"] == {"by": 3}


@pytest.mark.nightly
def test_what_is_for_exploration_is_listed_and_does_not_count() -> None:
    result = proof(SenderEntryFixed)
    rest = {p.name: p for p in result.properties if p.method == "none"}
    assert list(rest) == [
        "deadlock",
        "flushing",
        "everything_is_acknowledged",
        "resends_the_last_of_many",
    ]
    assert {(p.verdict, p.covers, p.note) for p in rest.values()} == {
        (Verdict.UNKNOWN, "", "exploration only")
    }
    assert proofs.exit_code(result, {}) == 0
    last = proofs.text(result, {}).splitlines()[-1]
    assert last == f"for check, not for prove: {', '.join(rest)}"


def test_what_has_no_bound_and_no_number_covers_all_states() -> None:
    result = proof(Alive)
    assert {o.covers for o in result.obligations} == {"all states"}
    assert "covers     all states" in proofs.text(result, {})


def test_what_parts_have_to_reach_is_named_as_not_asked() -> None:
    found = proof(Staff, {"Lock": 1})
    left = {p.name for p in found.properties if p.method == "none"}
    assert "workers.green" in left
    assert "workers.green" not in {o.property for o in found.obligations}
