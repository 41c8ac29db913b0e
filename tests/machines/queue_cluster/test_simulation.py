"""The service in simulated worlds: every promise, whatever fails; and what breaks is found."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from lawful import require, transition
from lawful.cli import main
from lawful.commands.exit_codes import ExitCode
from lawful.machines.queue_cluster.declaration import QueueOwnerFixed
from lawful.machines.queue_cluster.messages import Node, QueueName, Release
from lawful.machines.queue_cluster.ownership import Ownership
from lawful.machines.queue_cluster.service import node
from lawful.runtime.instance import Machine
from lawful.runtime.journal import Journal, read
from tests.machines.drawn import same_journal
from tests.machines.queue_cluster.planted import BUGS
from tests.machines.queue_cluster.simulated import FAULTS, TRANSITIONS, Scene, simulate
from tests.machines.simulated_runs import play


def test_every_promise_is_kept_whatever_fails() -> None:
    faults, transitions = Counter[str](), Counter[str]()
    for seed in (23, 25):
        run = simulate(seed)
        assert run.problems == [], f"seed {seed}"
        faults += run.faults
        transitions += run.transitions
    assert set(faults) == set(FAULTS)
    assert set(transitions) >= set(TRANSITIONS) - {"pass_on", "send"}


@pytest.mark.nightly
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


# Bugs that are planted in the service: `planted.py`.

AT_ONCE = {
    "Hasty": 5,
    "AcceptsEarly": 1,
    "HearsTheDead": 12,
}  # With a seed that finds it.
# A node seldom joins while a message is being routed, or leaves before it knows anything.
RARE = {"Routeless": 30, "RemembersItsLife": 48, "CountsOn": 8}


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in AT_ONCE else pytest.mark.nightly) for name in BUGS],
)
def test_a_planted_bug_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bug, first = BUGS[name], (AT_ONCE | RARE).get(name, 0)
    monkeypatch.setattr(bug.module, bug.name, bug.cls)
    assert any(simulate(seed).problems for seed in range(first, first + 10))


# Replay.


def test_the_journals_of_a_simulated_run_conform(tmp_path: Path) -> None:
    path, answer = tmp_path / "events.jsonl", tmp_path / "answer.json"
    with Journal(path) as journal:
        assert simulate(2, journal=journal, messages=4, seconds=1.0).problems == []
    judged = Counter[str]()
    for module in ("joining", "declaration"):
        words = [
            "replay",
            str(path),
            f"lawful.machines.queue_cluster.{module}",
            "--json",
            str(answer),
        ]
        assert main([*words, "--engine", "local", "--quiet"]) == 0
        found = json.loads(answer.read_text(encoding="utf-8"))
        judged.update({each["machine"]: each["events"] for each in found["machines"]})
    kept = Counter(row["machine"] for row in read(path) if row["outcome"] != "made")
    assert judged == kept
    assert set(kept) == {"Updatee", "Updater", "QueueOwnerFixed"}


class Ungranted(QueueOwnerFixed):
    """It takes a queue that others own."""

    @transition(source=Ownership.STOPPED, target=Ownership.OWNED, event="take")
    def start_consumers(self) -> Release | None:
        require(self.consumers_here > 0, "nobody consumes")
        self.start_slice()
        return None


@pytest.mark.nightly
def test_with_a_guard_switched_off_they_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared, path = tmp_path / "declared.jsonl", tmp_path / "events.jsonl"
    with Journal(declared) as journal:
        journal.attach(QueueOwnerFixed(me=Node("A")), "one")
    monkeypatch.setattr(node, "QueueOwnerFixed", Ungranted)
    with Journal(path) as journal:
        simulate(2, journal=journal, messages=8, seconds=2.0)
    (kept,) = read(declared)
    changed = {"machine": "QueueOwnerFixed", "fingerprint": kept["fingerprint"]}
    rows = [{**row, **changed} if row["machine"] == "Ungranted" else row for row in read(path)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    words = ["replay", str(path), "lawful.machines.queue_cluster.declaration"]
    assert main([*words, "--engine", "local", "--quiet"]) == ExitCode.DEVIATES


# The page.


class Only:
    """Journals the instance whose name begins so."""

    def __init__(self, journal: Journal, instance: str) -> None:
        self._journal = journal
        self._instance = instance

    def attach(self, entry: Machine, instance: str) -> Callable[[], None]:
        if not instance.startswith(self._instance):
            return lambda: None
        return self._journal.attach(entry, instance)


def test_the_page_shows_the_journal_of_a_queue_that_two_brokers_share(tmp_path: Path) -> None:
    async def work(scene: Scene) -> None:
        await scene.open("AB")
        one, other = await scene.client("A"), await scene.client("B")
        await one.declare("q")
        await one.subscribe("q")
        await other.declare("q")
        await other.subscribe("q")
        at = scene.brokers["A"].node
        assert at is not None
        owner = at.owners[QueueName("q")]
        for state in (Ownership.OWNED, Ownership.STOPPED, Ownership.OWNED):
            while owner.state != state:
                await asyncio.sleep(0.001)
        await other.unsubscribe("q")
        while at.me in owner.consumers and len(owner.consumers) > 1:
            await asyncio.sleep(0.001)
        scene.close()

    with Journal(tmp_path / "j") as journal:
        scene = Scene(journal=Only(journal, "A.0001/q/"))
        play(scene.world, scene.loop, work(scene))
    same_journal(tmp_path / "j")
