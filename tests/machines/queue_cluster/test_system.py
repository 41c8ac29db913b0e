"""A cluster's ownership of a queue: what is established, and how it was as written."""

from __future__ import annotations

import pytest

from lawful import Expect, Machine, transition
from lawful.checks.prove import prove
from lawful.machines.queue_cluster.dispatching import (
    DispatchingAsSeed,
    DispatchingFixed,
    DispatchingTorn,
)
from lawful.machines.queue_cluster.in_turns import ClusterInTurns
from lawful.machines.queue_cluster.messages import Node
from lawful.machines.queue_cluster.system import ClusterFixed
from lawful.machines.queue_cluster.system_as_seed import (
    ClusterAsSeed,
    ClusterAssigned,
    ClusterCounting,
    ClusterExcluding,
    ClusterForgetting,
    ClusterGranted,
    ClusterParted,
    ClusterPassing,
    ClusterTrusting,
)
from lawful.machines.queue_cluster.turns import Turns
from lawful.spec.resolve import resolve
from tests.machines.checked import checked, counts
from tests.machines.drawn import same_sequences, same_states


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("cls", "expected"),
    [
        (ClusterFixed, (2_973, 9_969, 24)),
        (DispatchingFixed, (19, 54, 6)),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_everything_holds(cls: type[Machine], expected: tuple[int, int, int]) -> None:
    result = checked(cls)
    assert counts(result) == expected
    assert {p.verdict.value for p in result.properties} == {"holds"}


@pytest.mark.nightly
def test_turns_hold_within_their_scope() -> None:
    result = checked(Turns)
    assert counts(result) == (2_540, 17_761, 13)
    assert result.cuts == 4_536


class Hasty(ClusterInTurns):
    """A node that says it releases the queue before its consumers have stopped."""

    @transition()
    def slice_over(self, n: Node) -> None:
        super().slice_over(n)
        self.releasing.add(n)
        self.said[n] = self.known[n] + 1

    expects = Expect(
        takes_turns=("violated", 8),
        releases_until_that_has_its_place=("violated", 8),
        a_turn_is_released_once=("violated", 8),
    )


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("cls", "expected", "verdict"),
    [
        (ClusterInTurns, (1_026, 2_117, 26), "holds-within-scope"),
        (Hasty, (1_024, 2_087, 25), "violated"),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_the_nodes_take_turns(
    cls: type[Machine], expected: tuple[int, int, int], verdict: str
) -> None:
    result = checked(cls)
    assert counts(result) == expected
    (refined,) = [p for p in result.properties if p.kind == "refines"]
    assert refined.verdict.value == verdict


@pytest.mark.nightly
def test_that_the_nodes_take_turns_is_proved() -> None:
    """With two multicasts at most on their way from each and to each."""
    sizes = {"Node": 2, "inbox": 2, "sent": 2}
    result = prove(resolve(ClusterInTurns).machine, sizes=sizes)
    assert [o for o in result.obligations if not o.verdict.good] == []
    assert len(result.obligations) == 402
    assert "takes_turns" in {o.property for o in result.obligations}


def test_stopping_consumers_is_proved() -> None:
    result = prove(resolve(DispatchingFixed).machine, sizes={"Thread": 3})
    assert [o for o in result.obligations if not o.verdict.good] == []
    assert len(result.obligations) == 56


def test_there_is_at_most_one_owner_of_any_number_of_nodes() -> None:
    """And however far they are behind, and however often the queue has changed hands."""
    machine = resolve(Turns).machine
    everything = {name.name for name in machine.transitions} | {"begin"}
    result = prove(machine, sizes={}, transitions_seen=lambda: everything)
    assert {o.covers for o in result.obligations} == {"all integers; any Node"}
    assert [o for o in result.obligations if o.verdict.value != "proved"] == []
    assert len(result.obligations) == 77
    assert "at_most_one_owner" in {o.property for o in result.obligations}


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("cls", "expected"),
    [
        (DispatchingTorn, (48, 141, 9)),
        (DispatchingAsSeed, (48, 133, 9)),
        (ClusterAsSeed, (2_316, 6_881, 18)),
        pytest.param(ClusterAssigned, (4_320, 15_921, 33), marks=pytest.mark.nightly),
        pytest.param(ClusterPassing, (7_135, 27_035, 33), marks=pytest.mark.nightly),
        pytest.param(ClusterTrusting, (3_047, 10_175, 24), marks=pytest.mark.nightly),
        (ClusterForgetting, (371, 1_123, 19)),
        pytest.param(ClusterCounting, (3_289, 11_331, 24), marks=pytest.mark.nightly),
        pytest.param(ClusterExcluding, (2_947, 9_801, 22), marks=pytest.mark.nightly),
        (ClusterGranted, (2_861, 9_693, 24)),
        pytest.param(ClusterParted, (6_753, 17_851, 25), marks=pytest.mark.nightly),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_what_goes_wrong(cls: type[Machine], expected: tuple[int, int, int]) -> None:
    result = checked(cls)
    assert counts(result) == expected
    assert len(same_sequences(result)) > 0


def test_the_pictures_are_what_is_declared() -> None:
    same_states(ClusterFixed, DispatchingFixed)
