"""The service in simulated worlds: every promise, whatever fails; and what breaks is found."""

from __future__ import annotations

from collections import Counter

import pytest

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
