"""Two endpoints exchange messages through a bad network, and a report of what arrived.

`exchange` sends messages both ways through a `Relay` and judges the service from outside, by the
contents that the two applications see: each payload names its direction and its place.

    report = await exchange(1_000, Faults(loss=0.1, duplicate=0.05, reorder=0.2), seed=7, ...)
    report.exactly_once_in_order     # True, or the service is wrong
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lawful.runtime.journal import Journal

from ..declaration import Conn
from .endpoint import Unicast
from .relay import Faults, Relay, RelayStats
from .settings import Config, EndpointStats, Options

# Loopback takes microseconds, so waits of milliseconds stand for those of half a second, and a
# datagram carries few messages, so that the network has many to lose. The timeouts are still so
# long that a busy computer does not make a live connection expire.
BRISK = Config(
    xmit_interval=0.005,
    ack_interval=0.005,
    conn_expiry_timeout=2.0,
    conn_close_timeout=1.0,
    window=32,
    most_messages=2,
)

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class DirectionReport:
    """What one application saw of what the other sent, by content.

    `sent` payloads were handed over; of these `delivered` different ones came, `duplicates` came
    again, `out_of_order` came after one that was sent later; `foreign` payloads were never sent.
    """

    sent: int
    delivered: int
    duplicates: int
    out_of_order: int
    foreign: int

    @property
    def exactly_once_in_order(self) -> bool:
        """Whether all that was sent came, once, in order, and nothing else came."""
        faults = self.duplicates + self.out_of_order + self.foreign
        return self.delivered == self.sent and faults == 0


@dataclass(frozen=True)
class ExchangeReport:
    """An exchange: both directions ("A>B", "B>A"), the network, the endpoints, the cost.

    `seconds`: wall time from the first `send` until all was delivered and acknowledged;
    `closing_seconds`: from there until both connections were closed on both sides.
    `journal_rows`: rows written, one for each of the four machines and one per event.
    """

    directions: Mapping[str, DirectionReport]
    relay: RelayStats
    endpoints: Mapping[str, EndpointStats]
    seconds: float
    closing_seconds: float
    journal_path: Path
    journal_rows: int

    @property
    def exactly_once_in_order(self) -> bool:
        """Whether both directions were."""
        return all(direction.exactly_once_in_order for direction in self.directions.values())


class _Judge:
    """Compares what arrives in one direction with what was sent; payloads are "A>B/17"."""

    def __init__(self, direction: str, count: int) -> None:
        self.direction = direction
        self.count = count
        self._seen: set[int] = set()
        self._latest = -1
        self._duplicates = self._out_of_order = self._foreign = 0

    def payload(self, number: int) -> bytes:
        return f"{self.direction}/{number}".encode()

    def arrived(self, payload: bytes) -> None:
        direction, _, tail = payload.decode(errors="replace").rpartition("/")
        number = int(tail) if direction == self.direction and tail.isdecimal() else -1
        if not 0 <= number < self.count:
            self._foreign += 1
        elif number in self._seen:
            self._duplicates += 1
        else:
            self._out_of_order += number < self._latest
            self._latest = max(self._latest, number)
            self._seen.add(number)

    @property
    def delivered(self) -> int:
        return len(self._seen)

    @property
    def missing(self) -> int:
        return self.count - len(self._seen)

    def report(self) -> DirectionReport:
        return DirectionReport(
            sent=self.count,
            delivered=self.delivered,
            duplicates=self._duplicates,
            out_of_order=self._out_of_order,
            foreign=self._foreign,
        )


async def exchange(
    count: int,
    faults: Faults,
    seed: int,
    journal_path: Path,
    progress: Progress | None = None,
) -> ExchangeReport:
    """Send `count` messages each way between "A" and "B" through a relay with these faults.

    Ends when all are delivered and acknowledged and both connections are closed on both sides;
    not by itself if messages never come: put a timeout around it. `journal_path` is written anew,
    JSON lines, with the instances "A>B/sender", "A>B/receiver" and their mirror images.
    `progress(delivered, expected)`, both directions together, is called at each delivery.
    Errors: OSError for the journal or a socket, EndpointClosed for a fault of the service.
    """
    journal = Journal(journal_path, append=False)
    try:
        async with (
            Relay(faults, seed) as relay,
            await Unicast.open("A", BRISK, Options(journal=journal)) as a,
            await Unicast.open("B", BRISK, Options(journal=journal)) as b,
        ):
            await join(relay, a, b)
            judges = (_Judge("A>B", count), _Judge("B>A", count))
            seconds, closing = await _both_ways((a, b), judges, progress or _unwatched)
            endpoints = {"A": a.stats(), "B": b.stats()}
    finally:
        journal.close()
    with journal_path.open(encoding="utf-8") as rows:
        journal_rows = sum(1 for _ in rows)
    return ExchangeReport(
        directions={judge.direction: judge.report() for judge in judges},
        relay=relay.stats(),
        endpoints=endpoints,
        seconds=seconds,
        closing_seconds=closing,
        journal_path=journal_path,
        journal_rows=journal_rows,
    )


async def join(relay: Relay, a: Unicast, b: Unicast) -> None:
    """Make two endpoints known to each other, each at a path of the relay that leads there.

    Paths are called "A>B" and "B>A", after the endpoints. Errors: OSError without a port.
    """
    a.connect(b.name, await relay.path(f"{a.name}>{b.name}", b.address))
    b.connect(a.name, await relay.path(f"{b.name}>{a.name}", a.address))


def _unwatched(_delivered: int, _expected: int) -> None:
    return


async def _both_ways(
    ends: tuple[Unicast, Unicast], judges: tuple[_Judge, _Judge], progress: Progress
) -> tuple[float, float]:
    """Send, receive, wait for all of it, close; the seconds until acknowledged, then closed.

    The applications listen until the endpoints are closed, so that they would hear a duplicate.
    """
    a, b = ends

    async def listen(end: Unicast, judge: _Judge) -> None:
        async for _, payload in end.receive():
            judge.arrived(payload)
            progress(sum(j.delivered for j in judges), sum(j.count for j in judges))

    async def talk(end: Unicast, peer: str, judge: _Judge) -> None:
        for number in range(judge.count):
            await end.send(peer, judge.payload(number))

    async with asyncio.TaskGroup() as tasks:
        begun = time.perf_counter()
        tasks.create_task(listen(b, judges[0]))
        tasks.create_task(listen(a, judges[1]))
        await asyncio.gather(talk(a, b.name, judges[0]), talk(b, a.name, judges[1]))
        await asyncio.gather(a.flushed(b.name), b.flushed(a.name))
        await b.until(lambda: judges[0].missing == 0)
        await a.until(lambda: judges[1].missing == 0)
        flushed = time.perf_counter()
        a.close(b.name)
        b.close(a.name)
        await asyncio.gather(gone(a, b.name), gone(b, a.name))
        closed = time.perf_counter()
        await asyncio.gather(a.aclose(), b.aclose())
    return flushed - begun, closed - flushed


async def gone(end: Unicast, peer: str) -> None:
    """Wait until both entries of this endpoint for `peer` are closed."""
    entries = end.entries(peer)
    await end.until(lambda: all(entry.state == Conn.CLOSED for entry in entries))
