"""Timers of services whose clocks are set: none fires early, none waits for a clock to catch up.

While a service works, its wall clock is set an hour forward, an hour back and right again; of its
own clock, which goes back by an hour, no time has passed. What its peers do not answer is given up
as often as the monotonic clock of this process says, and nothing else is.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lawful.machines.queue_cluster.service.exercise import Exercise
from lawful.machines.queue_cluster.service.histories import problems
from lawful.machines.read_only_windows.service.load_clients import Load, loaded
from tests.root import PATIENCE

from .dialling import free
from .listening import SHORT, member
from .processes import JUMP, Harmed, Outcome, counted, until

AFTER = 6.0  # Seconds that a service goes on.
JUMPS = ("--jumps", JUMP)
DUE = 0.5  # Seconds of a timer in it.
SET = (signal.SIGHUP, signal.SIGHUP, signal.SIGUSR2, signal.SIGHUP)


def _set(*services: Harmed) -> None:
    for number in SET:
        time.sleep(AFTER / (len(SET) + 4))
        for service in services:
            if number == signal.SIGHUP or service.jumps:
                service.send(number)


def message_scheduler(_: Path) -> Outcome:
    """A peer with one channel never answers."""
    outcome = Outcome()
    words = ("message_scheduler", "peer", "A", "--never", 1, "--channels", 1)
    with Harmed(outcome, *words) as peer:
        peer.listening()
        task = ("--timeout", DUE, "--seconds", AFTER, "--jumps", JUMP)
        begun = time.monotonic()
        with Harmed(outcome, "message_scheduler", "fetch", f"A={peer.port}", *task) as fetch:
            time.sleep(1.0)
            _set(fetch)
            counts = counted(fetch.rest())
        most = (time.monotonic() - begun) / DUE + 1
        failures = counts["failures"]
        outcome.observed["failures"] += failures
        outcome.expect(
            AFTER / DUE / 3 <= failures <= most, f"{failures} failures, at most {most:.0f} are due"
        )
        outcome.expect(counts["silent"] == 0, "a connection was given up")
    return outcome


def object_diffusion(folder: Path) -> Outcome:
    """A peer stands still when it owes a reply, and the node gives it up once."""
    outcome, pool = Outcome(), folder / "pool"
    many = ("--objects", 10_000)
    words = ("object_diffusion", "peer", "A", "--delay", 0.1, *many)
    with Harmed(outcome, *words) as peer:
        peer.listening()
        task = ("--reply-timeout", 1, "--seconds", 2 * AFTER, "--pool", pool, *many, *JUMPS)
        with Harmed(outcome, "object_diffusion", "node", f"A={peer.port}", *task) as node:
            until(lambda: _stored(pool))
            _set(node)
            peer.send(signal.SIGSTOP)
            node.send(signal.SIGUSR2)
            counts = counted(node.rest())
        peer.go_on()
        outcome.observed["silent"] += counts["silent"]
        outcome.expect(counts["silent"] == 1, f"silent {counts['silent']} times")
    return outcome


def _stored(pool: Path) -> bool:
    """Whether something has come."""
    with contextlib.closing(sqlite3.connect(pool)) as file:
        try:
            return bool(file.execute("SELECT count(*) FROM objects").fetchone()[0])
        except sqlite3.OperationalError:  # It has no table yet, or is locked.
            return False


def unicast(folder: Path) -> Outcome:
    """No connection expires, and nothing is in doubt."""
    outcome = Outcome()
    ports, messages = {"A": free(), "B": free()}, 3_000
    with contextlib.ExitStack() as stack:
        members: list[Harmed] = []
        for name, peer in (("A", "B"), ("B", "A")):
            task = ("--messages", messages, "--expected", messages, "--jumps", JUMP)
            to = ("--port", ports[name], "--peer", f"{peer}={ports[peer]}", "--seconds", PATIENCE)
            epoch = ("--epoch", folder / name)
            words = ("unicast", "member", name, *to, *task, *epoch)
            members.append(stack.enter_context(Harmed(outcome, *words)).listening())
        _set(*members)
        for each, peer in zip(members, "BA", strict=True):
            said = each.rest()
            outcome.expect(f"to {peer}: {messages} acknowledged, 0 in doubt" in said, said)
            outcome.expect(f"from {peer}: {messages} different\n" in said, said)
            outcome.observed += counted(said)
    return outcome


def read_only_windows(_: Path) -> Outcome:
    """No transaction takes too long, and each window ends."""
    outcome = Outcome()
    words = ("read_only_windows", "serve", *SHORT, "--jumps", JUMP)
    with Harmed(outcome, *words) as node, ThreadPoolExecutor(1) as pool:
        node.listening()
        load = pool.submit(loaded, node.port, Load(readers=2, writers=1, seconds=AFTER))
        _set(node)
        judged = load.result()
        outcome.problems += judged.problems
        late = [each for each in judged.seen if each.status != 200]
        outcome.expect(not late, f"{len(late)} of {len(judged.seen)} took too long")
        for writes in (True, False):
            answered = sum(each.writes == writes for each in judged.seen)
            outcome.observed["writes" if writes else "reads"] += answered
            outcome.expect(answered >= 2 * AFTER, f"{answered} answers, {writes=}")
        outcome.expect(node.end()[0] == 0, "it failed")
    return outcome


def queue_cluster(_: Path) -> Outcome:
    """Two brokers pass a queue on and on; nobody is given up."""
    outcome = Outcome()
    with contextlib.ExitStack() as stack:
        bus = stack.enter_context(Harmed(outcome, "queue_cluster", "bus")).listening()
        words = ("--bus", bus.port, "--jumps", JUMP, "--slice", 0.05)
        brokers = [
            stack.enter_context(
                Harmed(outcome, "queue_cluster", "broker", name, *words)
            ).listening()
            for name in "AB"
        ]
        asyncio.run(_used(outcome, bus, brokers))
        code, said = bus.end()
        given_up = counted(said)["silent"] + counted(said)["expelled"]
        outcome.expect(code == 0 and counted(said)["joined"] == 2 and not given_up, said)
        outcome.observed += counted(said)
    return outcome


async def _used(outcome: Outcome, bus: Harmed, brokers: list[Harmed]) -> None:
    ports = [broker.port for broker in brokers]
    for port in ports:
        await member(port)
    exercise = Exercise(ports, ("orders",), 0)
    exercise.start(publishers=2, consumers=4, messages=200)
    await asyncio.to_thread(_set, bus, *brokers)
    exercise.calm()
    async with asyncio.timeout(PATIENCE):
        while not exercise.complete:
            await asyncio.sleep(0.1)
    await exercise.end()
    outcome.problems += problems(exercise.history)
    outcome.observed["delivered"] += len(exercise.history.got)
