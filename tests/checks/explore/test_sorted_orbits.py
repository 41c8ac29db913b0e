"""Orbits where not all renamings of a state are tried: the same orbits as by the reference."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from lawful import Machine, Scope
from lawful.checks.explore import Limits, explore
from lawful.checks.explore.expansion import orbits, sorted_orbits
from lawful.checks.explore.expansion.element_signatures import Signatures
from lawful.checks.explore.expansion.orbits import OrbitSteps
from lawful.checks.explore.expansion.sorted_orbits import SortedSteps, orbit_steps
from lawful.checks.explore.space import Space
from lawful.checks.explore.symmetry import Symmetry
from lawful.checks.reference import Done
from lawful.checks.verdict import Verdict
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from tests.agree.hits import Hits
from tests.agree.renaming import misfolded
from tests.checks.explore.test_symmetry import CHASED, FOLDED, LINKED, alike, drawn, explored
from tests.classics.broken import AlternatingBitWithoutBit
from tests.classics.two_phase import TwoPhase
from tests.spec import texts


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """No machine has so few renamings that all are tried."""
    monkeypatch.setattr(orbits, "MOST_RENAMINGS", 1)


LONG: Any = pytest.param(AlternatingBitWithoutBit, marks=pytest.mark.nightly)


def linked(nodes: int, text: str = LINKED) -> type[Machine]:
    return texts.last_machine(texts.module(text.replace("NODES", str(nodes))))


def test_the_limit_decides_which_steps_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    found = resolve(TwoPhase)
    kinds: list[type[OrbitSteps]] = []
    for most in (23, 24):
        monkeypatch.setattr(orbits, "MOST_RENAMINGS", most)
        space = Space(lower(found.machine, Scope(RM=4)), found.world)
        kinds.append(type(orbit_steps(space, Symmetry(space))))
    assert kinds == [SortedSteps, OrbitSteps]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("cls", [*FOLDED, LONG], ids=lambda cls: cls.__name__)
def test_classics_have_the_same_orbits(cls: type[Machine]) -> None:
    assert alike(cls, "generated").handed_back == 0


@pytest.mark.parametrize("nodes", [3, 4, 5])
def test_chains_and_rings_are_told_apart(nodes: int) -> None:
    """In a ring no element has a signature of its own."""
    assert alike(linked(nodes), "generated").handed_back == 0


@pytest.mark.parametrize(("most", "handed_back"), [(2, 15), (6, 10), (24, 0)])
def test_the_reference_expands_where_too_many_orders_are_left(
    most: int, handed_back: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sorted_orbits, "MOST_ORDERS", most)
    found = alike(linked(4), "generated")
    assert (found.orbits, found.distinct, found.handed_back) == (20, 209, handed_back)
    assert alike(linked(3, CHASED), "generated").orbits == 10


@pytest.mark.parametrize(("managers", "count", "distinct"), [(4, 166, 1568)])
def test_two_phase_commit_has_the_published_orbits(
    managers: int, count: int, distinct: int
) -> None:
    found = resolve(TwoPhase)
    flat = lower(found.machine, Scope(RM=managers))
    result = explore(flat, found.world, found.expects, symmetry=True, engine="generated")
    assert (result.orbits, result.distinct, result.verdict) == (count, distinct, Verdict.HOLDS)


@pytest.mark.nightly
def test_seven_managers_have_them_in_machine_code() -> None:
    found = resolve(TwoPhase)
    flat = lower(found.machine, Scope(RM=7))
    result = explore(flat, found.world, found.expects, symmetry=True, engine="compiled")
    assert (result.orbits, result.distinct, result.handed_back) == (920, 296_448, 0)


@pytest.mark.nightly
def test_machine_code_hands_states_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorted_orbits, "MOST_ORDERS", 2)
    found = alike(linked(4), "compiled")
    assert (found.orbits, found.distinct, found.handed_back) == (20, 209, 15)


@pytest.mark.nightly
@pytest.mark.parametrize("most", [1, 720])
def test_random_machines_have_the_same_orbits(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorted_orbits, "MOST_ORDERS", most)
    compared = 0
    for seed in range(40):
        cls = texts.last_machine(texts.module(drawn(Random(seed))))
        whole = explored(cls, symmetry=False, limits=Limits(states=120))
        if whole.complete:
            assert alike(cls, "generated").distinct == whole.distinct
            compared += 1
    assert compared == 26


def states(cls: type[Machine], nodes: int) -> tuple[Space, list[Any]]:
    """A machine's states, as many as a random walk meets."""
    found = resolve(cls)
    space = Space(lower(found.machine, Scope(Node=nodes)), found.world)
    rng, met = Random(1), [o.state for _, _, o in space.initial() if isinstance(o, Done)]
    for _ in range(nodes):
        steps = [e.outcome for e in space.edges(met[-1]) if isinstance(e.outcome, Done)]
        met += [rng.choice(steps).state] if steps else []
    return space, met


def test_renamed_states_have_one_canonical_state() -> None:
    """Eight elements have 40,320 renamings."""
    hits = Hits()
    assert misfolded(*states(linked(8), 8), hits) == []
    assert hits.rows["total comparisons"] == 24


def by_names(_of: Signatures, layout: Any) -> tuple[list[int], list[int]]:
    """Each element is in each value what no other is."""
    roles, kinds = up_to_renaming(_of, layout)
    return [*range(len(roles))], kinds


def one_order(steps: SortedSteps, f: Any) -> None:
    """The orders that are left are not tried."""
    f.line(f"copy(w, {steps.best}, {steps.own}, {steps.words})")
    f.line(f"copy(w, {steps.best_who}, {steps.who}, {len(steps.members)})")


def unsorted(_steps: SortedSteps, _f: Any) -> None:
    """The elements stay where they are."""


def nobody(steps: SortedSteps, _cells: object) -> dict[Any, Any]:
    return {e: e for e in steps.members}


# The method that the test puts another one in place of.
up_to_renaming: Any = vars(Signatures)["_up_to_renaming"]


@pytest.mark.parametrize(
    ("where", "name", "broken"),
    [
        (Signatures, "_up_to_renaming", by_names),
        (SortedSteps, "_orders", one_order),
        (SortedSteps, "_sort", unsorted),
        (SortedSteps, "found", nobody),
    ],
    ids=["signature", "orders", "sort", "trace"],
)
def test_what_depends_on_names_is_noticed(
    where: object, name: str, broken: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    cls = linked(3, CHASED)
    assert alike(cls, "generated").orbits == 10
    monkeypatch.setattr(where, name, broken)
    with pytest.raises(AssertionError):
        alike(cls, "generated")
