"""The service in simulated worlds: every promise, whatever fails; and what breaks is found."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from lawful.cli import main
from lawful.machines.queue_cluster.messages import Key, Node
from lawful.machines.queue_cluster.service import broker
from lawful.machines.queue_cluster.service.node import LocalNode, Subscription, Then
from lawful.runtime.journal import Journal
from tests.machines.queue_cluster.simulated import FAULTS, TRANSITIONS, simulate


def test_every_promise_is_kept_whatever_fails() -> None:
    faults, transitions = Counter[str](), Counter[str]()
    for seed in range(5):
        run = simulate(seed)
        assert run.problems == [], f"seed {seed}"
        faults += run.faults
        transitions += run.transitions
    assert set(faults) == set(FAULTS)
    assert set(transitions) >= set(TRANSITIONS) - {"pass_on", "send"}


def test_a_seed_gives_the_same_events_again() -> None:
    first, second = simulate(3, messages=15, seconds=2.0), simulate(3, messages=15, seconds=2.0)
    other = simulate(4, messages=15, seconds=2.0)
    assert first == second
    assert first.digest != other.digest


@pytest.mark.nightly
def test_every_fault_and_every_transition_happens() -> None:
    faults, transitions = Counter[str](), Counter[str]()
    for seed in range(200):
        run = simulate(seed)
        assert run.problems == [], f"seed {seed}"
        faults += run.faults
        transitions += run.transitions
    assert set(transitions) == set(TRANSITIONS)
    assert set(faults) == set(FAULTS)


# Bugs that are planted in the service.


class Forgetful(LocalNode):
    """Nothing comes back from a member that left."""

    def _handle_leaving(self, member: Node) -> None:
        return


class Keeping(LocalNode):
    """What comes back is offered to nobody."""

    def release(self, subscription: Subscription, key: Key, then: Then | None = None) -> None:
        self._settled(subscription, key)
        self._loop.call_soon(then or _nothing)


def _nothing() -> None:
    return


@pytest.mark.parametrize("bug", [Forgetful, Keeping])
def test_a_planted_bug_is_found(bug: type[LocalNode], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker, "LocalNode", bug)
    assert any(simulate(seed, messages=20).problems for seed in range(10))


# Replay.


def test_the_journals_of_a_simulated_run_conform(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with Journal(path) as journal:
        assert simulate(2, journal=journal, messages=8, seconds=2.0).problems == []
    for module in ("joining", "declaration"):
        words = ["replay", str(path), f"lawful.machines.queue_cluster.{module}"]
        assert main([*words, "--engine", "local", "--quiet"]) == 0
