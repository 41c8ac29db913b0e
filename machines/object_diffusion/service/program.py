"""The program `lawful run object_diffusion`: an outbound peer, a node that downloads, and both.

lawful run object_diffusion peer A --port 7001 --objects 100
lawful run object_diffusion node A=7001 B=7002 --objects 100 --pool pool.sqlite
lawful run object_diffusion demo --peers 3 --objects 300 --faults 0.2 --kill --seed 1
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from lawful import argument_types as types
from lawful.runtime.journal import Journal, JournalError
from lawful.runtime.timers import REAL

from ...services import LOOPBACK
from ...services.jumping_clock import JumpingClock, add_jumps
from .demonstration import NAMES, Plan, body_of, demo
from .node import Node
from .outbound import FATES, Behaviour, OutboundPeer
from .pool import SqlitePool
from .settings import Config, Options

FAILED, USAGE = 1, 5


@dataclass(frozen=True)
class Task:
    """What `node` does: so many objects into the pool in this file, within `seconds`. `journal`: a
    file, or None. `jumps`: seconds of the clock's, or None."""

    objects: int
    seconds: float
    pool: Path
    journal: Path | None
    jumps: float | None


def main(words: Sequence[str]) -> int:
    """Run the command of these words; the exit code: 0, 1 if an object did not come, 5 for words
    that are no command, or a file that cannot be used."""
    try:
        given = _parser().parse_args(words)
    except SystemExit as end:
        if not end.code:  # The help was asked for.
            raise
        return USAGE
    try:
        if given.command == "peer":
            chances = {fate: getattr(given, fate) for fate in FATES}
            behaviour = Behaviour(delay=given.delay, lateness=given.lateness, **chances)
            peer = OutboundPeer(given.name, behaviour, given.seed)
            return asyncio.run(_peer(peer, given.port, given.objects))
        if given.command == "demo":
            of_all = (given.faults, given.kill, given.seed, given.seconds, given.journal)
            return _demo(Plan(NAMES[: given.peers], given.objects, *of_all))
        config = Config(redundancy=given.redundancy, reply_timeout=given.reply_timeout, redial=0.1)
        task = Task(given.objects, given.seconds, given.pool, given.journal, given.jumps)
        return asyncio.run(_node(types.distinct(given.peers), config, task))
    except (OSError, ValueError, sqlite3.Error, JournalError) as error:
        print(f"lawful run object_diffusion: {error}")
        return USAGE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="lawful run object_diffusion", description="Download objects from peers on 127.0.0.1."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    peer = commands.add_parser("peer", help="announce and send objects until interrupted")
    peer.add_argument("name")
    peer.add_argument("--port", type=types.port, default=0, help="default: any free port")
    peer.add_argument(
        "--objects", type=types.held, default=100, help="how many it has; default 100"
    )
    peer.add_argument("--delay", type=types.pause, default=0.0, help="seconds before each answer")
    peer.add_argument(
        "--lateness", type=types.pause, default=1.0, help="seconds before a late answer"
    )
    shares = peer.add_argument_group("what becomes of requests", "P is a share of them, 0 to 1.")
    for fate, told in FATES.items():
        option = f"--{fate.replace('_', '-')}"
        shares.add_argument(option, type=types.probability, default=0.0, metavar="P", help=told)
    peer.add_argument("--seed", type=int, default=0)
    node = commands.add_parser("node", help="download from peers until the pool has enough")
    node.add_argument("peers", nargs="+", type=types.address, metavar="NAME=PORT")
    node.add_argument("--objects", type=types.held, default=100, help="how many; default 100")
    node.add_argument("--pool", type=Path, required=True, help="a file of SQLite")
    node.add_argument("--redundancy", type=int, default=1, help="copies at once; default 1")
    node.add_argument("--reply-timeout", type=int, default=10, help="seconds; default 10")
    node.add_argument(
        "--seconds", type=types.seconds, default=60.0, help="give up after; default 60"
    )
    node.add_argument("--journal", type=Path, help="write the machine's events into this file")
    add_jumps(node)
    demo = commands.add_parser("demo", help="peers and a node as processes; judge the pool")
    demo.add_argument(
        "--peers", type=int, choices=range(1, len(NAMES) + 1), default=3, help="how many; default 3"
    )
    demo.add_argument("--objects", type=types.held, default=300, help="default 300")
    demo.add_argument(
        "--faults", type=types.probability, default=0.0, help="share of bad answers of all but A"
    )
    demo.add_argument("--kill", action="store_true", help="kill the node and a peer halfway")
    demo.add_argument("--seed", type=int, default=0)
    demo.add_argument(
        "--seconds", type=types.seconds, default=60.0, help="give up after; default 60"
    )
    demo.add_argument("--journal", type=Path, help="write the machine's events into this file")
    return parser


def _demo(plan: Plan) -> int:
    with TemporaryDirectory() as folder:
        return 0 if demo(plan, Path(folder) / "pool.sqlite") else FAILED


async def _peer(peer: OutboundPeer, port: int, objects: int) -> int:
    for n in range(objects):
        peer.offer(body_of(n))
    at = await peer.open(port)
    print(f"{peer.name} listens on {LOOPBACK} port {at}", flush=True)
    await _signal().wait()
    peer.close()
    print(f"{peer.name}: {_listed(peer.counts)}", flush=True)
    return 0


async def _node(peers: Mapping[str, int], config: Config, task: Task) -> int:
    """Download until the pool has so many objects, the time is over or a signal comes; print what
    came."""
    interrupted = _signal()
    with contextlib.ExitStack() as open_files:
        journal = None
        if task.journal is not None:
            journal = open_files.enter_context(Journal(task.journal))
        pool = SqlitePool(task.pool, most=config.most_objects)
        open_files.callback(pool.close)
        begun, had = time.monotonic(), len(pool)
        clock = REAL if task.jumps is None else JumpingClock(task.jumps)
        node = Node(pool, peers, config, Options(f"node {time.time_ns()}", clock, journal))
        running = asyncio.create_task(node.run())
        while len(pool) < task.objects and not (running.done() or interrupted.is_set()):
            if time.monotonic() - begun > task.seconds:
                break
            await asyncio.sleep(0.02)
        node.close()
        await running
        seconds = time.monotonic() - begun
        print(f"objects: {len(pool)} of {task.objects} in {seconds:.2f} s, {had} were here")
        print(_listed(node.counts))
        if isinstance(clock, JumpingClock):
            print(clock)
        return 0 if len(pool) >= task.objects else FAILED


def _signal() -> asyncio.Event:
    """Is set when the process is to end."""
    came = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, came.set)
    return came


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {n}" for name, n in sorted(counts.items()) if n) or "nothing"
