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
import io
import signal
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from lawful import argument_types as types
from lawful.runtime.journal import Journal, JournalError

from ...services import LOOPBACK
from ...services.errors import on_error
from ...services.jumping_clock import JumpingClock, add_jumps
from .broker import Broker
from .bus import Bus
from .client import Client, CommandFailed, ConnectionLost
from .demo import Demo, demonstrate
from .settings import Config, Options

FAILED, USAGE = 1, 5
AT_ONCE = 256  # Messages that are published and not answered.
LONGEST_READ = 65_536  # Bytes of the input, at a time.


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
        return asyncio.run(COMMANDS[given.command](**_options(given)))
    except (ConnectionLost, CommandFailed, TimeoutError) as error:
        print(f"lawful run queue_cluster: {str(error) or 'the time is over'}")
        return FAILED
    except (OSError, ValueError, JournalError) as error:
        print(f"lawful run queue_cluster: {error}")
        return USAGE


def _options(given: object) -> dict[str, Any]:
    return {name: value for name, value in vars(given).items() if name != "command"}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="lawful run queue_cluster", description="A cluster of queues on 127.0.0.1."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    bus = commands.add_parser("bus", help="order what brokers say, until interrupted")
    bus.add_argument("--port", type=types.port, default=0, help="default: any free port")
    broker = commands.add_parser("broker", help="be a broker, until interrupted")
    broker.add_argument("name")
    broker.add_argument("--bus", type=types.other_port, required=True, help="the port of the bus")
    broker.add_argument(
        "--port", type=types.port, default=0, help="for clients; default: any free port"
    )
    seconds = Config().slice_seconds
    broker.add_argument("--slice", dest="slice_seconds", type=types.seconds, default=seconds)
    broker.add_argument("--journal", type=Path, help="write the machines' events into this file")
    add_jumps(broker)
    publish = commands.add_parser("publish", help="publish messages, or the lines that come in")
    publish.add_argument("queue")
    publish.add_argument("--to", type=types.other_port, required=True, help="the port of a broker")
    publish.add_argument(
        "--messages", type=types.count, help="how many; default: each line of the input"
    )
    publish.add_argument("--alternate", help="the queue that gets what is rejected")
    publish.add_argument(
        "--seconds",
        type=types.seconds,
        default=60.0,
        help="give up when no answer comes for so long; default 60",
    )
    consume = commands.add_parser("consume", help="print messages and accept them")
    consume.add_argument("queue")
    consume.add_argument("--to", type=types.other_port, required=True, help="the port of a broker")
    consume.add_argument("--messages", type=types.count, help="end after so many")
    consume.add_argument(
        "--credit", type=types.positive, default=10, help="unsettled at a time; default 10"
    )
    consume.add_argument("--reject", action="store_true", help="reject them instead")
    consume.add_argument(
        "--seconds", type=types.seconds, default=60.0, help="give up after; default 60"
    )
    demo = commands.add_parser("demo", help="start all as processes, use them, judge the histories")
    demo.add_argument("--brokers", type=int, choices=range(1, 8), default=3)
    demo.add_argument("--messages", type=types.count, default=300, help="in all; default 300")
    demo.add_argument(
        "--kill",
        dest="kills",
        type=types.count,
        default=0,
        help="kill a broker so often; default 0",
    )
    demo.add_argument(
        "--stop",
        dest="stops",
        type=types.count,
        default=0,
        help="let one stand still so often; default 0",
    )
    demo.add_argument("--seed", type=int, default=0)
    demo.add_argument(
        "--seconds", type=types.seconds, default=60.0, help="give up after; default 60"
    )
    demo.add_argument("--journals", type=Path, help="a folder for a journal of each broker's life")
    return parser


async def _bus(port: int) -> int:
    bus = Bus()
    at = await bus.open(port)
    print(f"the bus listens on {LOOPBACK} port {at}", flush=True)
    await _interrupted()
    bus.close()
    print(f"bus: {listed(bus.counts)}", flush=True)
    return 0


async def _broker(
    name: str,
    bus: int,
    port: int,
    *,
    slice_seconds: float,
    journal: Path | None,
    jumps: float | None,
) -> int:
    with contextlib.ExitStack() as stack:
        rows = None if journal is None else stack.enter_context(Journal(journal))
        config = Config(slice_seconds=slice_seconds)
        clock = None if jumps is None else JumpingClock(jumps)
        broker = Broker(name, bus, config, Options(clock, rows))
        over = asyncio.create_task(_interrupted())
        broker.on_whole = lambda node: print(f"{node} has all queues", flush=True)
        broker.on_left = lambda node: print(f"{node} is no member any more", flush=True)
        at = await broker.open(port)
        print(f"{name} listens on {LOOPBACK} port {at}", flush=True)
        await over
        broker.close()
        print(f"{name}: {listed(broker.stats())}", flush=True)
        if clock is not None:
            print(clock, flush=True)
    return 0


async def _interrupted() -> None:
    """Wait until the process is to end. Errors: the first that nobody handles, such as a journal's
    on a full disk: a broker that missed an event is like no other, and has to end."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()

    def end(error: Exception | None = None) -> None:
        if not ended.done():
            if error is None:
                ended.set_result(None)
            else:
                ended.set_exception(error)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, end)
    on_error(loop, end)
    await ended


async def _publish(
    queue: str, to: int, messages: int | None, alternate: str | None, seconds: float
) -> int:
    client = await Client.connect(to)
    async with asyncio.timeout(seconds):
        await client.declare(queue, alternate=alternate)
    count = 0
    try:
        async for bodies in _batches(messages):
            sent = [client.send(queue, body) for body in bodies]
            async with asyncio.timeout(seconds):
                answers = await asyncio.gather(*sent, return_exceptions=True)
            count += answers.count(None)
            for error in answers:
                if error is not None:
                    raise error
    finally:
        print(f"published {count} to {queue} through {client.node}")
    client.close()
    return 0


async def _batches(messages: int | None) -> AsyncIterator[list[bytes]]:
    """What is published, as much at a time as waits for answers: numbers, or each line of the input
    by itself, since the next one may be long in coming."""
    if messages is None:
        async for line in _lines():
            yield [line]
        return
    for first in range(0, messages, AT_ONCE):
        yield [b"%d" % number for number in range(first, min(first + AT_ONCE, messages))]


async def _lines() -> AsyncIterator[bytes]:
    """The lines of the input. While one is long in coming, the event loop goes on, so that an
    interrupt ends it. Errors: ValueError where the process has no input."""
    if sys.stdin is None:
        raise ValueError("the standard input is closed: expected lines, or --messages")
    source = cast("io.BufferedReader", sys.stdin.buffer)  # `read1` gives what is there.
    rest = b""
    while True:
        await _readable(source)
        came = source.read1(LONGEST_READ)
        if not came:
            break
        *lines, rest = (rest + came).split(b"\n")
        for line in lines:
            yield line
    if rest:
        yield rest


async def _readable(source: io.BufferedReader) -> None:
    """Wait until a read does not block. One of a file never does, and no loop watches files; on
    Windows none watches any input."""
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    try:
        loop.add_reader(source, ready.set)
    except (OSError, ValueError, NotImplementedError):
        return
    try:
        await ready.wait()
    finally:
        loop.remove_reader(source)


async def _consume(
    queue: str, to: int, messages: int | None, *, credit: int, reject: bool, seconds: float
) -> int:
    client = await Client.connect(to)
    settle = client.reject if reject else client.accept
    count = 0
    settling: list[asyncio.Task[None]] = []
    async with asyncio.timeout(seconds):
        await client.declare(queue)
        await client.subscribe(queue, credit)
        while count != messages and (message := await client.next()) is not None:
            count += 1
            again = " (redelivered)" if message.redelivered else ""
            print(f"{message.message} {message.body.decode(errors='replace')}{again}", flush=True)
            settling = [task for task in settling if not task.done() or task.result()]
            settling.append(asyncio.create_task(settle(message)))
        await asyncio.gather(*settling)
    if count != messages:
        raise ConnectionLost("the connection to the broker has ended")
    client.close()
    return 0


async def _demo(**given: Any) -> int:
    demo = Demo(**given)
    report = await demonstrate(demo)
    print(f"seed {demo.seed}: {report.faults or 'no faults'}")
    print(listed(report.counts))
    print(f"{report.seconds:.2f} s; cluster begun {report.founded} times")
    for problem in report.problems[:20]:
        print(f"BROKEN: {problem}")
    print("every promise was kept" if not report.problems else "promises were broken")
    return FAILED if report.problems else 0


def listed(counts: Mapping[str, int]) -> str:
    """The counts that are not 0, by name."""
    return ", ".join(f"{name} {n}" for name, n in sorted(counts.items()) if n) or "nothing"


COMMANDS: Mapping[str, Callable[..., Coroutine[Any, Any, int]]] = {
    "bus": _bus,
    "broker": _broker,
    "publish": _publish,
    "consume": _consume,
    "demo": _demo,
}
