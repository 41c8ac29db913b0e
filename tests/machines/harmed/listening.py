"""What is done to the services that listen: the cluster of queues and the read-only windows."""

from __future__ import annotations

import asyncio
import contextlib
import random
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lawful.machines.queue_cluster.messages import QueueName
from lawful.machines.queue_cluster.service import frames
from lawful.machines.queue_cluster.service.client import Client, CommandFailed, ConnectionLost
from lawful.machines.queue_cluster.service.exercise import Exercise
from lawful.machines.queue_cluster.service.histories import counts, problems
from lawful.machines.queue_cluster.service.wire import encode
from lawful.machines.read_only_windows.service.load_clients import Load, loaded
from tests.root import PATIENCE

from .dialling import shuffled
from .liars import SPELL, Liars
from .processes import JUMP, Harmed, Outcome, counted

READ = b'{"steps": [{"get": "n"}]}'
HEAD = (
    b"POST /v1/chain/send_read_only_transaction HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"
)
SHORT = ("--read-only-transaction-num-threads", 3, "--read-write-window-time", 50)
CLIENTS = 5  # Of a cluster, which connect again, to any broker.
STILL = 12.0  # Seconds, longer than a broker, the bus or a client waits for a sign of life.


def read_only_windows(seed: int, folder: Path) -> Outcome:
    """Clients that read and write, and a liar of each kind."""
    outcome, draw = Outcome(), random.Random(seed)
    words = ("read_only_windows", "serve", *SHORT, "--jumps", JUMP, "--file", folder / "state")
    with Harmed(outcome, *words) as node, Liars(seed) as liars, ThreadPoolExecutor(1) as pool:
        node.listening()
        loaded(node.port, Load(readers=2, writers=1, seconds=0.5))
        with node.spared():
            load = pool.submit(loaded, node.port, Load(readers=2, writers=1, seconds=SPELL))
            liars.call(node.port, HEAD % len(READ) + READ)
            shuffled(draw, node.jump, node.jump, node.jump, lambda: node.stand_still(0.5))
            liars.wait()
            judged = load.result()
        outcome.problems += judged.problems
        statuses = {each.status for each in judged.seen}
        outcome.expect(200 in statuses and statuses <= {200, 504}, f"answers {statuses}")
        outcome.observed["answers"] += len(judged.seen)
        code, said = node.end()
        outcome.expect(code == 0 and "forward 3, back 3" in said, said)
    outcome.injected += liars.begun
    outcome.observed += liars.ends + counted(said)
    return outcome


def queue_cluster(seed: int, _: Path) -> Outcome:
    """A bus, two brokers, publishers, consumers, and liars of each kind at the bus and a broker. A
    broker is killed; and once everything stands still."""
    outcome = Outcome()
    with contextlib.ExitStack() as stack:
        bus = stack.enter_context(Harmed(outcome, "queue_cluster", "bus")).listening()
        words = ("--bus", bus.port, "--jumps", JUMP)
        brokers = [
            stack.enter_context(Harmed(outcome, "queue_cluster", "broker", name, *words))
            for name in "AB"
        ]
        for broker in brokers:
            broker.listening()
        liars = stack.enter_context(Liars(seed))
        asyncio.run(_clustered(outcome, bus, brokers, liars))
        ends = [service.end() for service in (*brokers, bus)]
    for code, said in ends:
        outcome.expect(code == 0, said)
        outcome.observed += counted(said)
    outcome.expect(outcome.observed["founded"] == 1, "the cluster began again")
    outcome.injected += liars.begun
    outcome.observed += liars.ends
    return outcome


async def _clustered(outcome: Outcome, bus: Harmed, brokers: list[Harmed], liars: Liars) -> None:
    ports = [broker.port for broker in brokers]
    for port in ports:
        await member(port)
    exercise = Exercise(ports, ("orders", "bills"), 0)
    exercise.start(publishers=2, consumers=CLIENTS - 2, messages=150)
    await asyncio.sleep(1.0)
    with contextlib.ExitStack() as spared:
        for service in (bus, brokers[0]):
            spared.enter_context(service.spared(CLIENTS))
        await asyncio.to_thread(_harm, outcome, bus, brokers, liars)
    await member(ports[1])
    exercise.calm()
    try:
        async with asyncio.timeout(PATIENCE):
            while not exercise.complete:
                await asyncio.sleep(0.1)
    except TimeoutError:
        outcome.problems.append("not everything was delivered")
    await exercise.end()
    outcome.problems += problems(exercise.history)
    outcome.observed += counts(exercise.history)


def _harm(outcome: Outcome, bus: Harmed, brokers: list[Harmed], liars: Liars) -> None:
    declare = frames.DeclareQueue(number=1, queue=QueueName("lied"))
    liars.call(bus.port, encode(frames.Join(frames.VERSION, "L"), frames.FromMember))
    liars.call(brokers[0].port, encode(declare, frames.Command))
    for broker in brokers:
        broker.jump()
    brokers[1].kill_and_restart()
    brokers[1].listening()
    liars.wait()
    for service in (bus, *brokers):
        service.send(signal.SIGSTOP)
    time.sleep(STILL)
    for service in (bus, *brokers):
        service.go_on()


async def member(port: int) -> None:
    """Wait until the broker is a member."""
    while True:
        with contextlib.suppress(OSError, ConnectionLost, CommandFailed):
            client = await Client.connect(port)
            client.close()
            return
        await asyncio.sleep(0.05)
