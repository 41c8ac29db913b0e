"""The service in simulated worlds: every promise, whatever fails; and what breaks is found."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from lawful import Machine, Nat, needed, transition
from lawful.cli import main
from lawful.commands.exit_codes import ExitCode
from lawful.machines.message_scheduler import declaration
from lawful.machines.message_scheduler.declaration import (
    Body,
    ChannelId,
    Peer,
    Success,
    Token,
    Type,
)
from lawful.machines.message_scheduler.service import MessageScheduler, overlay, scheduler
from lawful.machines.message_scheduler.service.offering import Link, Offering
from lawful.machines.message_scheduler.service.overlay import Session
from lawful.runtime.journal import Journal, read
from lawful.runtime.simulation.turns import Stuck, World
from tests.machines.message_scheduler.simulated import FAULTS, TRANSITIONS, simulate

MACHINE = "lawful.machines.message_scheduler.declaration"


def test_every_promise_is_kept_whatever_fails() -> None:
    faults, transitions = Counter[str](), Counter[str]()
    for seed in range(8):
        run = simulate(seed)
        assert run.problems == [], f"seed {seed}"
        faults += run.faults
        transitions += run.transitions
    assert len(faults) > 10
    assert set(transitions) >= set(TRANSITIONS) - {"skip"}


def test_a_seed_gives_the_same_events_again() -> None:
    first, second, other = simulate(3), simulate(3), simulate(4)
    assert first == second
    assert first.digest != other.digest


@pytest.mark.nightly
def test_every_fault_and_every_transition_happens() -> None:
    faults, transitions = Counter[str](), Counter[str]()
    for seed in range(300):
        run = simulate(seed)
        assert run.problems == [], f"seed {seed}"
        faults += run.faults
        transitions += run.transitions
    assert set(transitions) == set(TRANSITIONS)
    assert {fault for fault, times in faults.items() if times} == set(FAULTS)


# Bugs that are planted in the service.


class NoTime(MessageScheduler):
    """It fires no timer."""

    def fire_due(self) -> None:
        return


class ToldTwice(MessageScheduler):
    """A receiver is called twice."""

    def _run(self, action: Callable[[], None]) -> None:
        super()._run(action)
        if "on_success" in repr(action):
            super()._run(action)


class Misdirected(MessageScheduler):
    """Frames go to the peer that connected first."""

    def _closed(self, channel: ChannelId, time: int) -> Link:
        super()._closed(channel, time)
        return next(iter(self._links.values()))


class NoWaking(MessageScheduler):
    """Nobody is told of a timer that is due earlier."""

    def driven(self, sooner: Callable[[], None]) -> None:
        return


class Lost(MessageScheduler):
    """A withdrawn sender is forgotten by the service alone."""

    def withdraw(self, waits: object) -> bool:
        return True


class KeepsSenders(MessageScheduler):
    """A sender that was served is kept."""

    def _considered(self, offering: Offering) -> None:
        offering.over = True


class KeepsReceivers(MessageScheduler):
    """A receiver that was withdrawn is kept."""

    def withdraw(self, waits: Token | int) -> bool:
        receiver = self._receivers.get(waits) if isinstance(waits, int) else None
        returned = super().withdraw(waits)
        if returned and receiver is not None and isinstance(waits, int):
            self._receivers[waits] = receiver
        return returned


class KeepsChannels(MessageScheduler):
    """When the channels of a peer that has left were used is kept."""

    def disconnect(self, peer: Peer) -> None:
        used = self._used
        super().disconnect(peer)
        self._used = used


class FirstTimer(MessageScheduler):
    """Who waits is told of a timer where none runs, and of none that is due before another."""

    def _closed(self, channel: ChannelId, time: int) -> Link:
        sooner = self._sooner
        if self._due is not None:
            self._sooner = None
        link = super()._closed(channel, time)
        self._sooner = sooner
        return link


LEAKS = (KeepsSenders, KeepsReceivers, KeepsChannels)
BUGS = (
    pytest.param(NoTime, marks=pytest.mark.nightly),
    ToldTwice,
    Misdirected,
    NoWaking,
    FirstTimer,
    Lost,
    *LEAKS,
)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_found(bug: type[MessageScheduler]) -> None:
    found = next((run for seed in range(30) if (run := simulate(seed, kind=bug)).problems), None)
    assert found is not None
    assert simulate(found.seed, kind=bug) == found


class KeepsWatch(Session):
    """A connection that was lost is still watched."""

    def connection_lost(self, exc: Exception | None) -> None:
        self._watch = None
        super().connection_lost(exc)


class OwesOne(Session):
    """Frames that leave together count as one that may be answered."""

    def _flush(self) -> None:
        owed = self._owed
        super()._flush()
        self._owed = min(self._owed, owed + 1)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("bug", [KeepsWatch, OwesOne])
def test_a_bug_planted_in_its_connections_is_found(
    bug: type[Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overlay, "Session", bug)
    assert any(simulate(seed).problems for seed in range(30))


# Bugs that are planted in the machine: whose turn it is.


class NobodyAges(declaration.Scheduler):
    """The most urgent sender is next, however often it overtakes the others."""

    def next_sender(self, unseen: list[Token]) -> Token:
        return max(unseen, key=lambda t: self.priority.get(t, 0))


class OvertakesEquals(declaration.Scheduler):
    """Of those that are as urgent the last one is next."""

    def next_sender(self, unseen: list[Token]) -> Token:
        token = unseen[0]
        for each in unseen:
            if self.priority.get(each, 0) >= self.priority.get(token, 0):
                token = each
            if self.overtaken.get(each, 0) >= self.patience:
                break
        for earlier in unseen[: unseen.index(token)]:
            self.overtaken[earlier] = self.overtaken.get(earlier, 0) + 1
        return token


class CountsTwice(declaration.Scheduler):
    """Who is overtaken once is taken for one that was overtaken twice."""

    def next_sender(self, unseen: list[Token]) -> Token:
        token = super().next_sender(unseen)
        for earlier in unseen[: unseen.index(token)]:
            self.overtaken[earlier] += 1
        return token


class CountsTheSeen(declaration.Scheduler):
    """Who has refused these channels is taken for overtaken."""

    def next_sender(self, unseen: list[Token]) -> Token:
        token = super().next_sender(unseen)
        for earlier in self.queue[: self.queue.index(token)]:
            if earlier not in unseen:
                self.overtaken[earlier] = self.overtaken.get(earlier, 0) + 1
        return token


class NoPriorities(declaration.Scheduler):
    """First come, first served, whatever the priority."""

    def next_sender(self, unseen: list[Token]) -> Token:
        return unseen[0]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("bug", "said"),
    [
        (NobodyAges, "overtook one that was overtaken often enough"),
        (OvertakesEquals, "as urgent"),
        (CountsTwice, "more urgent"),
        (CountsTheSeen, "more urgent"),
        (NoPriorities, "more urgent"),
    ],
)
def test_a_wrong_turn_is_found(
    bug: type[declaration.Scheduler], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "Scheduler", bug)
    assert any(said in line for seed in range(40) for line in simulate(seed).problems)


# Replay.


def replayed(path: Path) -> int:
    return main(["replay", str(path), MACHINE, "--engine", "local", "--quiet"])


def test_the_journal_of_a_simulated_run_conforms(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with Journal(path) as journal:
        assert simulate(2, journal=journal, count=8).problems == []
    assert replayed(path) == 0


class Unguarded(declaration.Scheduler):
    """A response is taken from any peer, of any type."""

    @transition()
    def receive(self, peer: Peer, number: Nat, type: Type, body: Body) -> None:
        request = needed(self.requests.get(number), "no such request")
        self.channels[request.channel].stop()
        del self.requests[number]
        self.results.append(Success(number, body))


@pytest.mark.nightly
def test_with_a_guard_switched_off_it_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared, path = tmp_path / "declared.jsonl", tmp_path / "events.jsonl"
    with Journal(declared) as journal:
        journal.attach(declaration.Scheduler(), "one")
    monkeypatch.setattr(scheduler, "Scheduler", Unguarded)
    with Journal(path) as journal:
        for seed in range(2):
            simulate(seed, journal=Renamed(journal, f"run {seed}"), count=8)
    (kept,) = read(declared)
    rows = [
        {**row, "machine": "Scheduler", "fingerprint": kept["fingerprint"]} for row in read(path)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert replayed(path) == ExitCode.DEVIATES


class Renamed:
    """A journal of several runs, under a name for each."""

    def __init__(self, journal: Journal, name: str) -> None:
        self._journal = journal
        self._name = name

    def attach(self, entry: Machine, instance: str) -> object:
        return self._journal.attach(entry, self._name)


# The world itself.


def test_a_world_in_which_nobody_can_go_on_says_so() -> None:
    world = World(1)
    world.start(lambda: world.event().wait(), "one")
    world.start(lambda: world.sleep(2.0), "other")
    with pytest.raises(Stuck, match=r"at 2.000 s nobody can go on: one"):
        world.run()


def test_turns_without_time_end_the_world() -> None:
    def spins() -> None:
        world.sleep(1.0)
        while True:
            world.event().wait(0.0)

    world = World(1, still=1_000)
    world.start(spins, "one")
    world.start(lambda: world.sleep(2.0), "other")
    with pytest.raises(Stuck, match=r"^at 1.000 s there were 1000 turns without time: one$"):
        world.run()
    assert world.time == 1.0


def test_what_a_thread_raises_ends_the_world() -> None:
    world, ended = World(1), list[str]()

    def fails() -> None:
        world.sleep(1.0)
        raise LookupError("on purpose")

    def waits() -> None:
        try:
            world.event().wait()
        finally:
            ended.append("waits")

    world.start(waits, "waits")
    world.start(fails, "fails")
    with pytest.raises(LookupError, match="on purpose"):
        world.run()
    assert ended == ["waits"]
