"""The program `lawful run queue_cluster`: the bus, a broker, a publisher, a consumer, all at once.

lawful run queue_cluster bus --port 7100
lawful run queue_cluster broker A --bus 7100 --port 7101
lawful run queue_cluster publish orders --to 7101 --messages 100
lawful run queue_cluster consume orders --to 7101 --messages 100
lawful run queue_cluster demo --messages 300 --kill 2 --seed 1
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

from lawful.runtime.journal import Journal

from .broker import Broker
from .bus import Bus
from .client import Client, CommandFailed, ConnectionLost
from .demo import Demo, demonstrate
from .settings import LOOPBACK, Config, Options

FAILED, USAGE = 1, 5


def main(words: Sequence[str]) -> int:
    """Run the command of these words; the exit code: 0, 1 if a promise was broken or something did
    not come in time, 5 for words that are no command."""
    try:
        given = _parser().parse_args(words)
    except SystemExit as end:
        if not end.code:  # The help was asked for.
            raise
        return USAGE
    try:
        return asyncio.run(COMMANDS[given.command](given))
    except (ConnectionLost, CommandFailed, TimeoutError) as error:
        print(f"lawful run queue_cluster: {error or 'the time is over'}")
        return FAILED
    except (OSError, ValueError) as error:
        print(f"lawful run queue_cluster: {error}")
        return USAGE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="lawful run queue_cluster", description="A cluster of queues on 127.0.0.1."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    bus = commands.add_parser("bus", help="order what brokers say, until interrupted")
    bus.add_argument("--port", type=int, default=0, help="default: any free port")
    broker = commands.add_parser("broker", help="be a broker, until interrupted")
    broker.add_argument("name")
    broker.add_argument("--bus", type=int, required=True, help="the port of the bus")
    broker.add_argument("--port", type=int, default=0, help="for clients; default: any free port")
    broker.add_argument("--slice", type=float, default=Config().slice_seconds, help="seconds")
    broker.add_argument("--journal", type=Path, help="write the machines' events into this file")
    publish = commands.add_parser("publish", help="publish messages, or the lines that come in")
    publish.add_argument("queue")
    publish.add_argument("--to", type=int, required=True, help="the port of a broker")
    publish.add_argument("--messages", type=int, help="how many; default: each line of the input")
    publish.add_argument("--alternate", help="the queue that gets what is rejected")
    consume = commands.add_parser("consume", help="print messages and accept them")
    consume.add_argument("queue")
    consume.add_argument("--to", type=int, required=True, help="the port of a broker")
    consume.add_argument("--messages", type=int, help="end after so many")
    consume.add_argument("--credit", type=int, default=10, help="unsettled at a time; default 10")
    consume.add_argument("--reject", action="store_true", help="reject them instead")
    consume.add_argument("--seconds", type=float, default=60.0, help="give up after; default 60")
    demo = commands.add_parser("demo", help="start all as processes, use them, judge the histories")
    demo.add_argument("--brokers", type=int, choices=range(1, 8), default=3)
    demo.add_argument("--messages", type=int, default=300, help="in all; default 300")
    demo.add_argument("--kill", type=int, default=0, help="kill a broker so often; default 0")
    demo.add_argument("--stop", type=int, default=0, help="let one stand still so often; default 0")
    demo.add_argument("--seed", type=int, default=0)
    demo.add_argument("--seconds", type=float, default=60.0, help="give up after; default 60")
    demo.add_argument("--journals", type=Path, help="a folder for a journal of each broker's life")
    return parser


async def _bus(given: argparse.Namespace) -> int:
    bus = Bus()
    port = await bus.open(given.port)
    print(f"the bus listens on {LOOPBACK} port {port}", flush=True)
    await _interrupted()
    bus.close()
    print(f"bus: {listed(bus.counts)}", flush=True)
    return 0


async def _broker(given: argparse.Namespace) -> int:
    with contextlib.ExitStack() as stack:
        journal = None
        if given.journal is not None:
            journal = stack.enter_context(Journal(given.journal))
        config = Config(slice_seconds=given.slice)
        broker = Broker(given.name, given.bus, config, Options(journal=journal))
        port = await broker.open(given.port)
        print(f"{given.name} listens on {LOOPBACK} port {port}", flush=True)
        await _interrupted()
        broker.close()
        print(f"{given.name}: {listed(broker.stats())}", flush=True)
    return 0


async def _interrupted() -> None:
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    await ended.wait()


async def _publish(given: argparse.Namespace) -> int:
    client = await Client.connect(given.to)
    await client.declare(given.queue, alternate=given.alternate)
    count = 0
    async with asyncio.TaskGroup() as tasks:
        if given.messages is None:
            for line in sys.stdin:
                await client.send(given.queue, line.rstrip("\n").encode())
                count += 1
        else:
            for number in range(given.messages):
                tasks.create_task(client.send(given.queue, b"%d" % number))
            count = given.messages
    print(f"published {count} to {given.queue} through {client.node}")
    client.close()
    return 0


async def _consume(given: argparse.Namespace) -> int:
    client = await Client.connect(given.to)
    settle = client.reject if given.reject else client.accept
    count = 0
    await client.declare(given.queue)
    await client.subscribe(given.queue, given.credit)
    async with asyncio.timeout(given.seconds), asyncio.TaskGroup() as tasks:
        while count != given.messages and (message := await client.next()) is not None:
            count += 1
            again = " (redelivered)" if message.redelivered else ""
            print(f"{message.message} {message.body.decode(errors='replace')}{again}", flush=True)
            tasks.create_task(settle(message))
    client.close()
    return 0 if given.messages in (None, count) else FAILED


async def _demo(given: argparse.Namespace) -> int:
    demo = Demo(
        brokers=given.brokers,
        messages=given.messages,
        kills=given.kill,
        stops=given.stop,
        seed=given.seed,
        seconds=given.seconds,
        journals=given.journals,
    )
    report = await demonstrate(demo)
    print(f"seed {given.seed}: {report.faults or 'no faults'}")
    print(listed(report.counts))
    print(f"{report.seconds:.2f} s; cluster begun {report.founded} times")
    for problem in report.problems[:20]:
        print(f"BROKEN: {problem}")
    print("every promise was kept" if not report.problems else "promises were broken")
    return FAILED if report.problems else 0


def listed(counts: Mapping[str, int]) -> str:
    """The counts that are not 0, by name."""
    return ", ".join(f"{name} {n}" for name, n in sorted(counts.items()) if n) or "nothing"


COMMANDS: Mapping[str, Callable[[Any], Coroutine[Any, Any, int]]] = {
    "bus": _bus,
    "broker": _broker,
    "publish": _publish,
    "consume": _consume,
    "demo": _demo,
}
