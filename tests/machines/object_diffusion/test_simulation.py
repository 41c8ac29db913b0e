"""The node in simulated worlds: every promise, whatever fails; and what breaks is found."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from lawful import refuse, require, transition
from lawful.cli import main
from lawful.commands.exit_codes import ExitCode
from lawful.machines.object_diffusion import registry
from lawful.machines.object_diffusion.attribution import Peer
from lawful.machines.object_diffusion.connection import ReplyIds
from lawful.machines.object_diffusion.messages import ObjectId, RequestObjects
from lawful.machines.object_diffusion.service import Node, node
from lawful.machines.object_diffusion.service.inbound import Connection
from lawful.machines.object_diffusion.service.pool import Pool
from lawful.machines.object_diffusion.service.reputation import Reputation
from lawful.machines.object_diffusion.service.settings import Config, Options
from lawful.machines.object_diffusion.service.wire import Objects, name_of
from lawful.runtime.journal import Journal, read
from tests.machines.object_diffusion.simulated import (
    FAULTS,
    TRANSITIONS,
    Disk,
    Scene,
    simulate,
)

MACHINE = "lawful.machines.object_diffusion.registry"


def judged(seeds: range) -> tuple[Counter[str], Counter[str]]:
    """The faults and transitions of runs in which every promise is kept."""
    faults, transitions = Counter[str](), Counter[str]()
    for seed in seeds:
        run = simulate(seed)
        assert run.problems == [], f"seed {seed}"
        faults += run.faults
        transitions += run.transitions
    return faults, transitions


def test_every_promise_is_kept_whatever_fails() -> None:
    faults, transitions = judged(range(3))
    assert len(faults) > 15
    assert set(transitions) >= set(TRANSITIONS) - {"time_out"}


@pytest.mark.nightly
def test_every_fault_and_every_transition_happens() -> None:
    faults, transitions = judged(range(60))
    assert set(faults) == set(FAULTS)
    assert set(transitions) == set(TRANSITIONS)


def test_a_request_that_blocks_waits_for_objects_that_another_peer_has_brought() -> None:
    """The node once asked for IDs while its request for an object had no reply."""
    assert simulate(168).problems == []


def test_a_seed_gives_the_same_events_again() -> None:
    first, second = simulate(3, seconds=2.0), simulate(3, seconds=2.0)
    assert first == second
    assert first.digest != simulate(4, seconds=2.0).digest


# Bugs that are planted in the service.


class Unaware(Node):
    """It takes the pool for empty."""

    def decide(self) -> None:
        for p in sorted(self.registry.make_decisions(frozenset())):
            self._connections[p].act()


class Generous(Node):
    """Its machine may have more objects of one peer in flight than it was told."""

    def _registry(self) -> registry.Registry:
        told = self.config
        self.config = replace(told, inflight_per_peer=told.inflight_per_peer + 1)
        made, self.config = super()._registry(), told
        return made


class Patient(Node):
    """It gives up nobody who is late."""

    def fire_due(self) -> None:
        return


class Forgiving(Node):
    """A refused reply does no harm to its peer."""

    def collect(self, p: Peer, reply: ReplyIds | Objects) -> bool:
        super().collect(p, reply)
        return True


class Lenient(Node):
    """An invalid object does no harm to its peer."""

    def _inserted(self, p: Peer, x: ObjectId, outcome: str) -> None:
        super()._inserted(p, x, "added")


class Proud(Node):
    """It hardly ever dials a second time."""

    def __init__(
        self, pool: Pool, peers: Mapping[str, int], config: Config, options: Options
    ) -> None:
        super().__init__(pool, peers, replace(config, redial=1e6), options)


class Hasty(Node):
    """It forgets one of the objects that came in one reply."""

    def collect(self, p: Peer, reply: ReplyIds | Objects) -> bool:
        taken = super().collect(p, reply)
        if isinstance(reply, Objects) and len(reply.bodies) > 1 and taken:
            self._received.pop()
        return taken


class Trusting(Disk):
    """Each body is stored, whatever it was asked for as."""

    async def add(self, x: ObjectId, body: bytes) -> str:
        return await super().add(name_of(body), body)


class Volatile(Disk):
    """What it stores is gone with the node."""

    def __init__(self, scene: Scene, path: Path | str) -> None:
        assert path
        super().__init__(scene, ":memory:")


class KeepsConnections(Node):
    """A connection that has ended is kept."""

    def unregister(self, p: Peer) -> None:
        connection = self._connections.get(p)
        super().unregister(p)
        if connection is not None:
            self._connections[p] = connection


class KeepsAsked(Node):
    """What a peer was asked for is kept with its connection when the pool has got it."""

    def _inserted(self, p: Peer, x: ObjectId, outcome: str) -> None:
        super()._inserted(p, x, outcome)
        if outcome != "invalid" and p in self._connections:
            self._connections[p].asked.add(x)


class KeepsOwed(Node):
    """What a peer once owed is kept when the pool has got it."""

    def __init__(
        self, pool: Pool, peers: Mapping[str, int], config: Config, options: Options
    ) -> None:
        super().__init__(pool, peers, config, options)
        self._reputations: dict[str, Reputation] = {name: Unforgetting(config) for name in peers}


class Unforgetting(Reputation):
    def came(self, x: ObjectId) -> None:
        return


class KeepsTasks(Node):
    """For each connection a task waits for ever."""

    def register(self, connection: Connection, name: str) -> Peer:
        self._latest = asyncio.create_task(self._closing.wait())
        return super().register(connection, name)


LEAKS = (
    (KeepsConnections, 0, "left in _connections"),
    (KeepsAsked, 0, "left in asked"),
    (KeepsOwed, 4, "is said to owe"),
    (KeepsTasks, 0, "a task is left"),
)


@pytest.mark.parametrize(("leak", "seed", "problem"), LEAKS)
def test_a_planted_leak_is_found(leak: type[Node], seed: int, problem: str) -> None:
    """The first seed that finds it, and what it finds first."""
    assert problem in simulate(seed, kind=leak).problems[0]


# With the seed that finds each first, or another soon after it.
BUGS = (
    pytest.param(Unaware, 0, marks=pytest.mark.nightly),
    (Generous, 9),
    pytest.param(Patient, 3, marks=pytest.mark.nightly),
    (Forgiving, 0),
    (Lenient, 9),
    (Proud, 0),
    (Hasty, 1),
)
OF_DISKS = ((Trusting, 0), pytest.param(Volatile, 0, marks=pytest.mark.nightly))


@pytest.mark.one_in(6)
@pytest.mark.parametrize(("bug", "first"), BUGS)
def test_a_planted_bug_is_found(bug: type[Node], first: int) -> None:
    seeds = range(first, first + 10)
    assert any(simulate(seed, kind=bug).problems for seed in seeds)


@pytest.mark.parametrize(("bug", "first"), OF_DISKS)
def test_a_bug_of_the_disk_is_found(bug: type[Disk], first: int) -> None:
    assert any(simulate(seed, disk=bug).problems for seed in range(first, first + 10))


def test_a_peer_that_keeps_its_connection_whatever_it_says_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Connection, "give_up", _shrug)
    assert any(simulate(seed).problems for seed in range(10))


def _shrug(connection: Connection, why: str) -> None:
    assert connection and why


# Replay.


def replayed(path: Path) -> int:
    return main(["replay", str(path), MACHINE, "--engine", "local", "--quiet"])


def test_the_journal_of_a_simulated_run_conforms(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with Journal(path) as journal:
        assert simulate(2, journal=journal, objects=8, seconds=3.0).problems == []
    assert replayed(path) == 0


class Unguarded(registry.Registry):
    """Whatever objects came, they are taken for those that were requested."""

    @transition()
    def on_receive_objects(self, p: Peer, ids: frozenset[ObjectId]) -> None:
        require(p in self.peers and len(ids) > 0, "nothing came")
        request = self.peers[p].pending[0]
        if not isinstance(request, RequestObjects):
            refuse("IDs were requested")
        self.peers[p].on_receive_objects(request.ids)


@pytest.mark.nightly
def test_with_a_guard_switched_off_it_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared, path = tmp_path / "declared.jsonl", tmp_path / "events.jsonl"
    with Journal(declared) as journal:
        journal.attach(registry.Registry(), "one")
    (kept,) = read(declared)
    monkeypatch.setattr(node, "Registry", Unguarded)
    seed = next(n for n in range(20) if any("take_lock" in p for p in simulate(n).problems))
    with Journal(path) as journal:
        simulate(seed, journal=journal)
    rows = [
        {**row, "machine": "Registry", "fingerprint": kept["fingerprint"]} for row in read(path)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert replayed(path) == ExitCode.DEVIATES
