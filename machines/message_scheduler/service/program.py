"""The program `lawful run message_scheduler`: a peer, a fetcher, and both at once.

lawful run message_scheduler peer A --port 7001
lawful run message_scheduler fetch A=7001 B=7002 --objects 100
lawful run message_scheduler demo --peers 3 --objects 300 --faults 0.2 --kill --seed 1
lawful run message_scheduler demo --notices 200 --priority 5 --patience 3
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import random
import signal
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from lawful import argument_types as types
from lawful.progress import interruption
from lawful.runtime.journal import Journal, JournalError
from lawful.runtime.timers import REAL

from ...services import LOOPBACK
from ...services.jumping_clock import JumpingClock, add_jumps
from .clients import Announcer, BulkFetcher, Notifier, RetryElsewhere
from .offering import Message
from .overlay import connected
from .peer_process import PeerProcess
from .responder import FATES, Behaviour, Responder, answer
from .scheduler import MessageScheduler
from .settings import Config, Options

TYPE = "object"
DIGESTED = 0.02  # Seconds that a peer takes for a notice.
NAMES = "ABCDEFGH"
FAILED, USAGE = 1, 5


@dataclass(frozen=True)
class Task:
    """What `fetch` and `demo` do: so many objects, with a timeout in seconds for each request; all
    within `seconds`. Beside them so many `notices` of this priority; `patience`: how often they may
    overtake the others. `journal`: a file, or None. `jumps`: seconds of the clock's, or None."""

    objects: int
    notices: int
    priority: int
    patience: int
    timeout: float
    seconds: float
    journal: Path | None
    jumps: float | None

    def __post_init__(self) -> None:
        config = self.config()
        config.milliseconds(self.timeout)  # The longest that a message may have.
        config.check_priority(self.priority)

    def config(self) -> Config:
        """The scheduler's. Errors: ValueError."""
        return Config(patience=self.patience, redial=0.1)


@dataclass(frozen=True)
class Trouble:
    """Of `demo`: the share of requests that each peer answers badly, whether one is killed."""

    faults: float
    kill: bool
    seed: int


def main(words: Sequence[str]) -> int:
    """Run the command of these words; the exit code: 0, 1 if an object did not come, 5 for words
    that are no command."""
    try:
        given = _parser().parse_args(words)
    except SystemExit as end:
        if not end.code:  # The help was asked for.
            raise
        return USAGE
    try:
        if given.command == "peer":
            return _peer(given.name, given.port, _behaviour(given), given.seed)
        task = Task(**{each.name: getattr(given, each.name) for each in fields(Task)})
        if given.command == "fetch":
            return _fetch(types.distinct(given.peers), task)
        return _demo(NAMES[: given.peers], task, Trouble(given.faults, given.kill, given.seed))
    except (OSError, ValueError, JournalError) as error:
        print(f"lawful run message_scheduler: {error}")
        return USAGE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="lawful run message_scheduler",
        description="Schedule messages to peers on 127.0.0.1.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    peer = commands.add_parser("peer", help="answer requests, well or badly, until interrupted")
    peer.add_argument("name")
    peer.add_argument("--port", type=types.port, default=0, help="default: any free port")
    peer.add_argument(
        "--channels", type=types.positive, default=2, help="messages at a time; default 2"
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
    fetch = commands.add_parser("fetch", help="fetch objects from peers that run")
    fetch.add_argument("peers", nargs="+", type=types.address, metavar="NAME=PORT")
    _task(fetch)
    demo = commands.add_parser("demo", help="start peers as processes, and fetch from them")
    demo.add_argument("--peers", type=int, choices=range(1, len(NAMES) + 1), default=3)
    demo.add_argument(
        "--faults", type=types.probability, default=0.0, help="share of requests answered badly"
    )
    demo.add_argument("--kill", action="store_true", help="kill a peer halfway, start it again")
    demo.add_argument("--seed", type=int, default=0)
    _task(demo)
    return parser


def _task(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--objects", type=types.held, default=100, help="default 100")
    parser.add_argument(
        "--notices", type=types.held, default=0, help="send so many notices meanwhile; default 0"
    )
    parser.add_argument(
        "--priority", type=types.held, default=1, help="of the notices; all else has 0; default 1"
    )
    parser.add_argument(
        "--patience",
        type=types.held,
        default=Config.patience,
        help=f"how often they may overtake who waits; default {Config.patience}",
    )
    parser.add_argument(
        "--timeout", type=types.seconds, default=1.0, help="seconds for each request"
    )
    parser.add_argument(
        "--seconds", type=types.seconds, default=60.0, help="give up after; default 60"
    )
    parser.add_argument("--journal", type=Path, help="write the machine's events into this file")
    add_jumps(parser)


def _behaviour(given: object) -> Behaviour:
    fields = ("channels", "delay", "lateness", *FATES)
    return Behaviour(**{name: getattr(given, name) for name in fields})


def _peer(name: str, port: int, behaviour: Behaviour, seed: int) -> int:
    async def serve() -> None:
        responder = Responder(name, behaviour, seed)
        at = await responder.open(port)
        print(f"{name} listens on {LOOPBACK} port {at}", flush=True)
        ended = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, ended.set)
        await ended.wait()
        responder.close()
        print(f"{name}: {_listed(responder.counts)}", flush=True)

    asyncio.run(serve())
    return 0


def _fetch(peers: Mapping[str, int], task: Task, at_half: Callable[[], None] | None = None) -> int:
    """Fetch, notify and ask with retries, until a signal comes or the journal takes no more; print
    what came and what did not. Halfway call `at_half`."""
    journal = None if task.journal is None else Journal(task.journal)
    clock = REAL if task.jumps is None else JumpingClock(task.jumps)
    config = task.config()
    scheduler = MessageScheduler(config, Options(clock=clock, journal=journal, failed=_say))
    wanted = [b"%d" % n for n in range(task.objects)]
    fetcher = BulkFetcher(scheduler, Message(TYPE, b"", task.timeout), wanted, is_right=is_right)
    retry = RetryElsewhere(scheduler, Message("ledger", b"latest", task.timeout))
    notifier = Notifier(scheduler, Message("hello", b"", task.timeout), len(peers))
    notice = Message("notice", b"", DIGESTED)
    announcer = Announcer(scheduler, notice, task.notices, priority=task.priority)
    begun, in_time = time.monotonic(), True
    fault: Exception | None = None
    with interruption() as interrupted:
        try:
            with (
                contextlib.nullcontext() if journal is None else journal,
                connected(scheduler, peers, config) as overlay,
            ):
                for client in (fetcher, retry, notifier, announcer):
                    client.start()
                end = begun + task.seconds
                while not fetcher.done.wait(0.02) and time.monotonic() < end:
                    if overlay.failed is not None or interrupted():
                        end = begun
                    if at_half is not None and len(fetcher.found) * 2 > task.objects:
                        at_half()
                        at_half = None
                for client in (notifier, retry, announcer):
                    in_time &= client.done.wait(max(0.0, end - time.monotonic()))
        except (OSError, JournalError) as error:
            fault = error
        seconds = time.monotonic() - begun
        if interrupted():
            print("interrupted")
    found = len(fetcher.found)
    print(f"objects: {found} of {task.objects} in {seconds:.2f} s, {len(fetcher.failed)} failed")
    if found < task.objects:
        print(f"not fetched: {ranges_of(n for n in wanted if n not in fetcher.found)}")
    print(f"notified: {_list(notifier.told)}")
    print(f"asked until answered: {_list(retry.asked) if retry.body else 'no answer'}")
    if task.notices:
        print(f"notices: {announcer.sent} of {task.notices}")
    print(_listed(scheduler.stats().counts))
    if isinstance(clock, JumpingClock):
        print(clock)
    if fault is not None:
        print(f"lawful run message_scheduler: {fault}")
    sent = found == task.objects and announcer.sent == task.notices and retry.body is not None
    return 0 if sent and in_time and fault is None else FAILED


def _demo(names: str, task: Task, trouble: Trouble) -> int:
    """Start peers, fetch from them, end them."""
    share: dict[str, float] = {fate: trouble.faults / len(FATES) for fate in FATES}
    with contextlib.ExitStack() as processes:
        peers = [processes.enter_context(PeerProcess(n, share, trouble.seed)) for n in names]
        victim = random.Random(trouble.seed).choice(peers)
        print(f"seed {trouble.seed}: {', '.join(f'{p.name}={p.port}' for p in peers)}")
        ports = {peer.name: peer.port for peer in peers}
        return _fetch(ports, task, victim.kill_and_restart if trouble.kill else None)


def _say(error: Exception) -> None:
    """Of a callback, such as that of a client whose next message the journal does not take."""
    print(f"lawful run message_scheduler: {error}", file=sys.stderr)


def is_right(wanted: bytes, body: bytes) -> bool:
    """Whether it is what peers answer to this."""
    return body == answer(TYPE, wanted)


def ranges_of(numbers: Iterable[bytes]) -> str:
    """Increasing numbers; neighbours are one range."""
    ranges = list[tuple[int, int]]()
    for n in map(int, numbers):
        if ranges and ranges[-1][1] == n - 1:
            ranges[-1] = ranges[-1][0], n
        else:
            ranges.append((n, n))
    return " ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in ranges)


def _list(names: Sequence[str] | set[str]) -> str:
    return " ".join(sorted(names) if isinstance(names, set) else names) or "none"


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {n}" for name, n in sorted(counts.items()) if n) or "nothing"
