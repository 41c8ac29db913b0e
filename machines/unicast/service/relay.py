"""A bad network on loopback: a UDP relay that loses, repeats, delays and reorders datagrams.

Between two endpoints lie two *paths*, one each way. A path is a socket of its own on 127.0.0.1:
what arrives there leaves for the path's target, or does not, or twice, or late. `Fates` decides,
without a socket, from a seed; each path draws from its own generator, so the fate of the k-th
datagram on a path depends on the seed, the path's label and k alone, not on what other paths
carry meanwhile.

    relay = Relay(Faults(loss=0.1, duplicate=0.05, reorder=0.1), seed=7)
    to_b = await relay.path("A>B", b.address)      # A sends here what is meant for B
    a.connect("B", to_b)

The relay may lose, duplicate and reorder datagrams. It does not corrupt or invent any.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from ...services import LOOPBACK

Address = tuple[str, int]


@dataclass(frozen=True)
class Faults:
    """What a path does to datagrams; probabilities in [0, 1], times in seconds.

    `loss`: the datagram vanishes. `duplicate`: it leaves twice. `reorder`: a copy is held back
    for up to `hold` seconds, so that later ones overtake it. `delay`: every copy takes this long
    besides. Errors: ValueError for a probability outside [0, 1] or a time that is not finite and
    >= 0.
    """

    loss: float = 0.0
    duplicate: float = 0.0
    reorder: float = 0.0
    hold: float = 0.01
    delay: float = 0.0

    def __post_init__(self) -> None:
        for name in ("loss", "duplicate", "reorder"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ValueError(f"{name} is a probability in [0, 1], not {getattr(self, name)}")
        for name in ("hold", "delay"):
            if not 0.0 <= getattr(self, name) < float("inf"):
                raise ValueError(f"{name} is a time in seconds >= 0, not {getattr(self, name)}")


class Fates:
    """The endless sequence of fates of one path's datagrams; the same for the same arguments."""

    def __init__(self, faults: Faults, seed: int, label: str) -> None:
        self._faults = faults
        self._random = random.Random(f"{seed}/{label}")

    def next(self) -> tuple[float, ...]:
        """The delays, in seconds, of the copies that leave: () is lost, two are a duplicate.

        Six numbers are drawn whatever the outcome, so that raising one probability changes the
        fates that it concerns and no others.
        """
        faults = self._faults
        lost, twice, *rest = (self._random.random() for _ in range(6))
        if lost < faults.loss:
            return ()
        held = [
            faults.hold * late if chance < faults.reorder else 0.0
            for chance, late in (rest[:2], rest[2:])
        ]
        copies = 2 if twice < faults.duplicate else 1
        return tuple(faults.delay + time for time in held[:copies])


@dataclass(frozen=True)
class RelayStats:
    """What a relay did, in datagrams; sums over its paths.

    `received` came in; of these `dropped` were lost by chance and `cut` by a partition,
    `duplicated` left twice, `delayed` copies waited. `forwarded` copies left; `reordered` of them
    left after one that had come in later. `unsent` copies were still waiting when the relay
    closed, or the system refused them. Always `received - dropped - cut + duplicated == forwarded
    + unsent + waiting`.
    """

    received: int = 0
    dropped: int = 0
    cut: int = 0
    duplicated: int = 0
    delayed: int = 0
    forwarded: int = 0
    reordered: int = 0
    unsent: int = 0
    waiting: int = 0


class _Path(asyncio.DatagramProtocol):
    """One way through the relay: a socket, a target, a sequence of fates, and counters."""

    def __init__(self, target: Address, fates: Fates, is_cut: Callable[[], bool]) -> None:
        self.target = target
        self.transport: asyncio.DatagramTransport | None = None
        self.counts: Counter[str] = Counter()
        self._fates = fates
        self._is_cut = is_cut
        self._waiting: set[asyncio.TimerHandle] = set()
        self._arrived = 0
        self._latest = 0

    def datagram_received(self, data: bytes, addr: Address) -> None:
        self._arrived += 1
        self.counts["received"] += 1
        delays = self._fates.next()
        if self._is_cut():
            self.counts["cut"] += 1
            return
        self.counts["dropped"] += not delays
        self.counts["duplicated"] += len(delays) > 1
        for delay in delays:
            if delay > 0.0:
                self._later(delay, self._arrived, data)
            else:
                self._forward(self._arrived, data)

    def _later(self, delay: float, number: int, data: bytes) -> None:
        self.counts["delayed"] += 1
        self.counts["waiting"] += 1

        def leave() -> None:
            self._waiting.discard(handle)
            self.counts["waiting"] -= 1
            self._forward(number, data)

        handle = asyncio.get_running_loop().call_later(delay, leave)
        self._waiting.add(handle)

    def _forward(self, number: int, data: bytes) -> None:
        if self.transport is None or self.transport.is_closing():
            self.counts["unsent"] += 1
            return
        self.counts["forwarded"] += 1
        self.counts["reordered"] += number < self._latest
        self._latest = max(self._latest, number)
        self.transport.sendto(data, self.target)

    def close(self) -> None:
        """Drop what still waits and close the socket; more than once is no harm."""
        for handle in self._waiting:
            handle.cancel()
        self.counts["unsent"] += len(self._waiting)
        self.counts["waiting"] = 0
        self._waiting.clear()
        if self.transport is not None:
            self.transport.close()


class Relay:
    """A set of one-way paths on 127.0.0.1 with the same faults; every decision follows from `seed`.

    Closed by `close()` or `async with`. All of it runs in one event loop.
    """

    def __init__(self, faults: Faults, seed: int) -> None:
        self._faults = faults
        self._seed = seed
        self._paths: dict[str, _Path] = {}
        self._addresses: dict[str, Address] = {}
        self._cuts: set[str] = set()

    async def path(self, label: str, target: Address) -> Address:
        """Open the path called `label`, say "A>B", to `target`; the address where it begins.

        A label that exists keeps its address, fates and counters and is given the new target:
        that is what an endpoint needs which was restarted on another port. Errors: OSError
        without a port.
        """
        if label in self._paths:
            self._paths[label].target = target
            return self._addresses[label]
        path = _Path(target, Fates(self._faults, self._seed, label), lambda: label in self._cuts)
        path.transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
            lambda: path, local_addr=(LOOPBACK, 0)
        )
        self._paths[label] = path
        self._addresses[label] = path.transport.get_extra_info("sockname")
        return self._addresses[label]

    def cut(self, *labels: str) -> None:
        """Partition: from now on nothing enters these paths (what waits on them still leaves)."""
        self._cuts.update(labels)

    def mend(self, *labels: str) -> None:
        """End the partition of these paths."""
        self._cuts.difference_update(labels)

    def stats(self, label: str | None = None) -> RelayStats:
        """Counters of one path, or of all. Errors: KeyError for an unknown label."""
        paths = self._paths.values() if label is None else (self._paths[label],)
        total: Counter[str] = Counter()
        for path in paths:
            total.update(path.counts)
        return RelayStats(**total)

    def close(self) -> None:
        """Close all paths; counters stay readable."""
        for path in self._paths.values():
            path.close()

    async def __aenter__(self) -> Relay:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()
