"""The service in simulated worlds: every promise, whatever fails; and what breaks is found."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from lawful import require, transition
from lawful.cli import main
from lawful.commands.exit_codes import ExitCode
from lawful.machines.unicast.declaration import ReceiverEntryFixed
from lawful.machines.unicast.messages import Payload
from lawful.machines.unicast.service import peer
from lawful.machines.unicast.service.doubts import Doubts
from lawful.runtime.journal import Journal, read
from tests.machines.unicast.plan import FAULTS, plan_of
from tests.machines.unicast.planted import BUGS, LEAKS
from tests.machines.unicast.simulated import TRANSITIONS, shrunk, simulate


def test_every_promise_is_kept_whatever_fails() -> None:
    faults, transitions = Counter[str](), Counter[str]()
    for seed in (0, 3):  # The two have every fault between them.
        run = simulate(seed)
        assert run.problems == [], f"seed {seed}"
        faults += run.faults
        transitions += run.transitions
    assert set(faults) == set(FAULTS)
    assert set(transitions) >= set(TRANSITIONS) - {"resume"}


def test_every_promise_is_kept_among_ends_that_take_payloads_of_different_sizes() -> None:
    run = simulate(11, plan=plan_of(11, messages=60, seconds=3.0))
    assert run.problems == []
    assert run.counts["too_large"] > 0 < run.counts["broken"]


@pytest.mark.nightly
def test_a_seed_gives_the_same_events_again() -> None:
    plan, other = plan_of(3, messages=20, seconds=2.0), plan_of(4, messages=20, seconds=2.0)
    first = simulate(3, plan=plan)
    assert first == simulate(3, plan=plan)
    assert first.digest != simulate(4, plan=other).digest


@pytest.mark.nightly
def test_every_fault_and_every_transition_happens() -> None:
    faults, transitions = Counter[str](), Counter[str]()
    for seed in range(40):
        run = simulate(seed)
        assert run.problems == [], f"seed {seed}"
        faults += run.faults
        transitions += run.transitions
    assert set(transitions) == set(TRANSITIONS)
    assert set(faults) == set(FAULTS)


AT_ONCE = ("loses what waits",)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in AT_ONCE else pytest.mark.nightly) for name in BUGS],
)
def test_a_planted_bug_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bug = BUGS[name]
    monkeypatch.setattr(bug.place, bug.name, bug.planted)
    assert any(simulate(seed).problems for seed in range(20))


@pytest.mark.parametrize("name", LEAKS)
def test_a_planted_leak_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    leak = LEAKS[name]
    monkeypatch.setattr(leak.place, leak.name, leak.planted)
    found = simulate(1).problems
    assert found
    assert all(" left in " in problem for problem in found)


@pytest.mark.nightly
def test_a_failure_shrinks_to_what_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Doubts, "tell", BUGS["keeps reports"].planted)
    seed = next(seed for seed in range(10) if simulate(seed).problems)
    plan = shrunk(seed)
    assert simulate(seed, plan=plan).problems
    assert len(plan.faults) == 1 < len(plan_of(seed).faults)  # Somebody is cut off.
    assert not simulate(seed, plan=replace(plan, faults=())).problems


# Replay.


class NeverSent(ReceiverEntryFixed):
    """It hands out what it never got, where the next message is missing."""

    @transition()
    def deliver(self) -> Payload:
        require(self.next <= self.highest, "everything is delivered")
        payload = self.buffer.get(self.next, self.buffer[self.highest])
        self.buffer = {q: p for q, p in self.buffer.items() if q != self.next}
        self.next += 1
        self.owe_ack()
        return payload


def _replayed(path: Path) -> int:
    words = ["replay", str(path), "lawful.machines.unicast.declaration"]
    return main([*words, "--engine", "local", "--quiet"])


def test_the_journals_of_a_simulated_run_conform(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with Journal(path) as journal:
        assert simulate(2, plan=plan_of(2, 20, 2.0), journal=journal).problems == []
    assert _replayed(path) == 0


@pytest.mark.nightly
def test_with_a_guard_switched_off_they_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared, path = tmp_path / "declared.jsonl", tmp_path / "events.jsonl"
    with Journal(declared) as journal:
        journal.attach(ReceiverEntryFixed(), "one")
    monkeypatch.setattr(peer, "ReceiverEntryFixed", NeverSent)
    with Journal(path) as journal:
        simulate(2, plan=plan_of(2, 20, 2.0), journal=journal)
    (kept,) = read(declared)
    changed = {"machine": "ReceiverEntryFixed", "fingerprint": kept["fingerprint"]}
    rows = [{**row, **changed} if row["machine"] == "NeverSent" else row for row in read(path)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert _replayed(path) == ExitCode.DEVIATES
