"""One endpoint as a process: it sends numbered messages to its peers, and counts what comes.

Each life of a process has a number, its epoch, which is larger than that of the life before: it is
kept in a file where there is one, so that a clock that is set back does no harm (U-B5). A payload
is `A.epoch/place`, so that the receiver tells lives apart.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lawful.runtime.journal import Journal

from ...services import LOOPBACK
from ...services.jumping_clock import JumpingClock
from ..messages import Dropped
from .endpoint import EndpointClosed, Unicast
from .relay import Faults, Relay
from .settings import LARGEST_EPOCH, Config, Options

CONNECTIONS = 2**32  # More than one life has.
BRISK = Config(xmit_interval=0.05, ack_interval=0.05, conn_expiry_timeout=30.0)


@dataclass(frozen=True)
class Member:
    """`peers`: their ports on 127.0.0.1. `messages`: to each peer; `expected`: from each peer, then
    it ends; it ends in any case after `seconds`, or on SIGINT or SIGTERM. With `expected` None it
    does not know when its peers have nothing more to say, and goes on until then. `jumps`: seconds
    of the clock's, or None."""

    name: str
    port: int
    peers: Mapping[str, int]
    messages: int
    expected: int | None
    seconds: float
    faults: Faults
    seed: int
    key: bytes = b""
    epoch_file: Path | None = None
    journal: Path | None = None
    jumps: float | None = None


def next_epoch(file: Path | None) -> int:
    """The epoch of this life: by the wall clock, and larger than the one in the file, in which it
    is kept. Errors: ValueError if the file has no number, OSError."""
    epoch = time.time_ns() // 1_000
    if file is not None:
        if file.exists():
            if not (file.is_file() or file.is_dir()):
                raise ValueError(f"{file}: expected a file that keeps what is written")
            text = file.read_text(encoding="utf-8", errors="backslashreplace").strip()
            if not (text.isascii() and text.isdecimal()):
                raise ValueError(f"{file}: expected the number of a life, found {text[:40]!r}")
            epoch = max(epoch, int(text) + CONNECTIONS)
            if epoch > LARGEST_EPOCH:
                most = LARGEST_EPOCH - CONNECTIONS
                raise ValueError(f"{file}: expected at most {most}, found {text[:40]}")
        beside = file.with_name(f"{file.name}.new")
        beside.write_text(f"{epoch}\n", encoding="utf-8")
        beside.replace(file)
    return epoch


class Reception:
    """What came from each peer: `different` messages, `again`, and `out_of_order` of one life."""

    def __init__(self) -> None:
        self.counts: dict[str, Counter[str]] = {}
        self._latest: dict[str, int] = {}

    def hear(self, peer: str, payload: bytes) -> None:
        """A message has come."""
        counts = self.counts.setdefault(peer, Counter())
        life, _, place = payload.decode(errors="replace").rpartition("/")
        if life.partition(".")[0] != peer or not place.isdecimal():
            counts["foreign"] += 1
            return
        latest = self._latest.get(life, -1)
        kind = "different" if int(place) > latest else "again or out of order"
        counts[kind] += 1
        self._latest[life] = max(latest, int(place))


async def serve(member: Member) -> bool:
    """Run the endpoint; whether all was acknowledged, and all that was expected came. Errors:
    OSError for the port or a file, ValueError; EndpointClosed for a fault of the endpoint, such as
    a journal that cannot be written."""
    epoch = next_epoch(member.epoch_file)
    journal = None if member.journal is None else Journal(member.journal)
    doubt = Counter[str]()

    def dropped(peer: str, report: Dropped) -> None:
        doubt[peer] += len(report.in_doubt)
        print(f"{peer} does not answer: {len(report.in_doubt)} messages in doubt", flush=True)

    clock = None if member.jumps is None else JumpingClock(member.jumps)
    options = Options(clock, journal, epoch, dropped, member.key)
    reception, taken, ended = Reception(), Counter[str](), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    try:
        async with (
            Relay(member.faults, member.seed) as relay,
            await Unicast.open(member.name, BRISK, options, member.port) as unicast,
        ):
            print(f"{member.name} listens on {LOOPBACK} port {unicast.address[1]}", flush=True)
            for peer, port in member.peers.items():
                unicast.connect(peer, await relay.path(f"to {peer}", (LOOPBACK, port)))

            async def talk(peer: str) -> None:
                for place in range(member.messages):
                    await unicast.send(peer, f"{member.name}.{epoch}/{place}".encode())
                    taken[peer] += 1
                await unicast.flushed(peer)

            done = await _converse(member, unicast, talk, reception, ended)
        stats = unicast.stats()  # Of all that was told to be in doubt, also at the end.
    finally:
        if journal is not None:
            journal.close()
    for peer in member.peers:
        print(f"from {peer}: {_listed(reception.counts.get(peer, Counter()))}")
        # Of all connections; `stats` knows the last one.
        acked = taken[peer] - doubt[peer] - stats.connections[peer].unacked
        print(f"to {peer}: {acked} acknowledged, {doubt[peer]} in doubt")
    names = (
        "malformed",
        "forged",
        "misdirected",
        "unknown",
        "refused",
        "former",
        "beyond",
        "broken",
    )
    print(
        f"dropped: {_listed(Counter({name: getattr(stats, name) for name in names}))}", flush=True
    )
    if clock is not None:
        print(clock, flush=True)
    return done and not doubt


async def _converse(
    member: Member,
    unicast: Unicast,
    talk: Callable[[str], Awaitable[None]],
    reception: Reception,
    ended: asyncio.Event,
) -> bool:
    """Until all is done, or the end comes; whether all is done: what it has to say is acknowledged,
    and what it expects has come. `talk` sends to a peer."""
    said = asyncio.Event()

    async def listen() -> None:
        async for peer, payload in unicast.receive():
            reception.hear(peer, payload)

    def heard() -> bool:
        counts = (reception.counts.get(peer, Counter[str]()) for peer in member.peers)
        expected = member.expected
        return expected is not None and all(c["different"] >= expected for c in counts)

    async def everything() -> None:
        await asyncio.gather(*(talk(peer) for peer in member.peers))
        said.set()
        await unicast.until(heard)

    listening = asyncio.create_task(listen())
    working = asyncio.create_task(everything())
    over = asyncio.create_task(ended.wait())
    await asyncio.wait((working, over), timeout=member.seconds, return_when=asyncio.FIRST_COMPLETED)
    done = working.done() and working.exception() is None
    for task in (working, over, listening):
        task.cancel()
    ends = await asyncio.gather(working, over, listening, return_exceptions=True)
    for end in ends:
        if isinstance(end, EndpointClosed):
            raise end
        if isinstance(end, Exception):
            raise EndpointClosed(f"the endpoint {member.name} failed") from end
    return done or (member.expected is None and said.is_set())


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{n} {name}" for name, n in counts.items() if n) or "nothing"
