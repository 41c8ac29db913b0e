"""Walks by generated steps are those of the reference engine, which takes over where it must."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from lawful import Machine, Scope
from lawful.checks.explore import CheckResult, simulate, walkers
from lawful.checks.explore.check import NoEngine
from lawful.checks.explore.compiled.single_steps import Expansion, SingleSteps
from lawful.checks.explore.layout.layouts import Crowded, NotGenerated
from lawful.checks.explore.limits import OutOfBudget
from lawful.checks.explore.simulate import Walks
from lawful.checks.explore.space import Space
from lawful.checks.prove import nonvacuity
from lawful.checks.prove.nonvacuity import transitions_seen
from lawful.cli import main
from lawful.machines.object_diffusion.as_seed import InboundPeerComparing
from lawful.machines.unicast.system import LinkAsSeed
from lawful.spec.flat import Flat
from lawful.spec.lower import lower
from lawful.spec.resolve import abstract_scopes, resolve
from lawful.spec.values.world import World
from tests.agree import walking
from tests.agree.hits import Hits
from tests.checks.declarations.exploration import Several
from tests.checks.declarations.timed import Fischer
from tests.classics import broken
from tests.classics.implementing import Hasty
from tests.classics.jugs import Jugs
from tests.classics.two_phase import TwoPhase

MACHINES = [
    pytest.param(Several, marks=pytest.mark.nightly),
    *(Fischer, Jugs, TwoPhase, LinkAsSeed, InboundPeerComparing),
    *(broken.AlternatingBitWithoutBit, broken.PetersonWithoutFlags, Hasty),
]


def flat_of(cls: type[Machine]) -> tuple[Flat, World]:
    found = resolve(cls)
    scope = found.scopes.get("scope", Scope())
    return lower(found.machine, scope, abstract_scopes(found)), found.world


def differences(cls: type[Machine]) -> list[str]:
    return walking.walked(Space(*flat_of(cls)), Hits(), 8, 15)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("cls", MACHINES, ids=lambda cls: cls.__name__)
def test_both_engines_take_the_same_walks(cls: type[Machine]) -> None:
    assert not differences(cls)


def simulated(cls: type[Machine], **walks: Any) -> CheckResult:
    flat, world = flat_of(cls)
    return simulate.simulate(flat, world, {}, Walks(runs=10, steps=20, **walks))


def timeless(result: CheckResult) -> CheckResult:
    return dataclasses.replace(result, seconds=0.0, steps="", handed_back=0, not_generated="")


def test_the_answer_names_the_engine_and_why(monkeypatch: pytest.MonkeyPatch) -> None:
    fast, slow = simulated(Jugs), simulated(Jugs, engine="reference")
    assert (fast.steps, slow.steps, slow.not_generated) == ("generated", "reference", "")
    assert timeless(fast) == timeless(slow)

    def refused(*_given: object) -> None:
        raise NotGenerated("a place for each value")

    monkeypatch.setattr(simulate, "PackedWalker", refused)
    taken_over = simulated(Jugs)
    assert (taken_over.steps, taken_over.not_generated) == ("reference", "a place for each value")
    assert timeless(taken_over) == timeless(slow)
    with pytest.raises(NoEngine, match="a place for each value"):
        simulated(Jugs, engine="generated")


def test_states_that_are_given_up_are_walked_by_the_reference_engine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slow, expanded = simulated(Jugs, engine="reference"), SingleSteps.expanded
    calls = iter(range(10_000))

    def now_and_then(steps: SingleSteps, words: Any) -> Expansion | None:
        return None if next(calls) % 3 else expanded(steps, words)

    monkeypatch.setattr(SingleSteps, "expanded", now_and_then)
    fast = simulated(Jugs)
    assert timeless(fast) == timeless(slow)
    assert 0 < fast.handed_back <= fast.distinct


def test_a_crowded_state_begins_anew_with_more_room(monkeypatch: pytest.MonkeyPatch) -> None:
    rooms: list[int] = []

    class Narrow(walkers.PackedWalker):
        def __init__(self, search: Any, form: Any) -> None:
            super().__init__(search, form)
            rooms.append(form.room)
            if form.room < 100:
                raise Crowded("more elements")

    monkeypatch.setattr(simulate, "PackedWalker", Narrow)
    assert timeless(simulated(Jugs)) == timeless(simulated(Jugs, engine="reference"))
    assert rooms == [8, 32, 128]


def wrong_order(made: Expansion) -> Expansion:
    return made._replace(labels=made.labels[::-1], after=made.after[::-1])


def no_notes(made: Expansion) -> Expansion:
    return made._replace(info=[0] * len(made.info))


def other_labels(made: Expansion) -> Expansion:
    return made._replace(labels=[0] * len(made.labels))


@pytest.mark.parametrize("spoilt", [wrong_order, no_notes, other_labels])
def test_wrong_steps_are_noticed(spoilt: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    expanded = SingleSteps.expanded

    def wrong(steps: SingleSteps, words: Any) -> Expansion | None:
        made = expanded(steps, words)
        return None if made is None else spoilt(made)

    monkeypatch.setattr(SingleSteps, "expanded", wrong)
    assert differences(TwoPhase)


def test_the_walks_of_proofs_go_over_to_generated_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    flat, world = flat_of(TwoPhase)
    whole = transitions_seen(flat, world)

    def spent(*_given: object) -> None:
        raise OutOfBudget("asked")

    monkeypatch.setattr(nonvacuity.ReferenceSteps, "after", spent)
    assert transitions_seen(flat, world) == whole


@pytest.mark.nightly
def test_the_walks_of_proofs_say_why_they_are_slow(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_given: object) -> None:
        raise NotGenerated("a place for each value")

    def soon(space: Space, steps: Any, tried: int) -> Any:
        none = nonvacuity.Taken(frozenset(), (), over=False)
        return none if tried == nonvacuity.SOON else taken(space, steps, tried)

    taken = nonvacuity.taken
    monkeypatch.setattr(nonvacuity, "taken", soon)
    monkeypatch.setattr(nonvacuity, "GeneratedSteps", refused)
    flat, world = flat_of(TwoPhase)
    walked = transitions_seen(flat, world)
    every: set[str | None] = {row.name for row in flat.machine.transitions}
    assert set(walked.met) == every | {None}
    assert walked.not_generated == "a place for each value"
    assert main(["prove", "tests.classics.two_phase", "--no-cache", "--method", "induction"]) == 3
    said = "slow       steps cannot be generated for a place for each value"
    assert said in capsys.readouterr().out
