"""What passes between a node and its peers, and between the node and its disk; and the judge of it.

The tap sits where the node meets the network: it sees each frame that the node says or hears, when
it does. The judge knows nothing of the service and nothing of the machine: it reads the tape alone.
Its promises are those of `object-diffusion.md`: nothing is requested that the pool has (O33);
limits of IDs, objects and copies (O22, O35, O36); acks and blocking requests that a peer must
accept (O6, O12, O29); one valid copy of each object (O15, O28); no word to a peer that lied (O16,
O41).
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from lawful.machines.object_diffusion.connection import ReplyIds
from lawful.machines.object_diffusion.messages import (
    ObjectId,
    Request,
    RequestIds,
    RequestObjects,
)
from lawful.machines.object_diffusion.service.settings import Config
from lawful.machines.object_diffusion.service.wire import (
    Frame,
    Hello,
    Objects,
    decode,
)
from lawful.machines.services.framing import Frames, WireError
from lawful.runtime.simulation.network import Factory, Network, Stream
from lawful.runtime.simulation.turns import World

SLACK = 5.0  # Seconds by which the node's clock and its rounds may be late.


@dataclass(frozen=True)
class Entry:
    """One line of the tape. `talk`: the number of a connection, None for the disk. `what`:
    `begins`, `says`, `hears` (None is a frame of no kind), `ends`, or what the disk did."""

    time: float
    talk: int | None
    what: str
    frame: Frame | None = None
    x: ObjectId | None = None


class Tape:
    """All that was seen, in order; `digest` is of all bytes and times. `peers`: of each connection,
    the port of its peer."""

    def __init__(self, world: World) -> None:
        self.entries: list[Entry] = []
        self.peers: list[int] = []
        self.bodies: dict[ObjectId, set[bytes]] = {}  # Added to the pool.
        self._world = world
        self._digest = hashlib.blake2b(digest_size=12)

    @property
    def digest(self) -> str:
        return self._digest.hexdigest()

    def mark(self, text: bytes) -> None:
        """Make it a part of the digest."""
        self._digest.update(b"%r %s\n" % (self._world.time, text))

    def note(self, talk: int | None, what: str, frame: Frame | None = None) -> None:
        self.mark(b"%r %s" % (talk, what.encode()))
        self.entries.append(Entry(self._world.time, talk, what, frame))

    def stored(self, x: ObjectId, body: bytes, outcome: str) -> None:
        """The disk has done something with an object."""
        self.mark(str(x).encode() + outcome.encode())
        self.entries.append(Entry(self._world.time, None, outcome, x=x))
        if outcome == "added":
            self.bodies.setdefault(x, set()).add(body)


class Tapped(Network):
    """A network on which all connections that the node makes are tapped."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.tape = Tape(world)

    async def connect(
        self, loop: asyncio.AbstractEventLoop, factory: Factory, port: int
    ) -> tuple[Stream, Any]:
        return await super().connect(loop, lambda: _Tap(self.tape, port, factory()), port)


class _Tap(asyncio.Protocol):
    """Between a connection and its stream."""

    def __init__(self, tape: Tape, port: int, inner: asyncio.Protocol) -> None:
        self._tape = tape
        self._port = port
        self._inner = inner
        self._number = 0
        self._frames = Frames(10_000_000)
        self._wire: _Wire | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._number = len(self._tape.peers)
        self._tape.peers.append(self._port)
        self._tape.note(self._number, "begins")
        self._wire = _Wire(self._tape, self._number, transport)
        self._inner.connection_made(self._wire)

    def data_received(self, data: bytes) -> None:
        assert self._wire is not None
        if not self._wire.ended:
            self._tape.mark(data)
            try:
                for content in self._frames.feed(data):
                    self._tape.note(self._number, "hears", decode(content))
            except WireError:
                self._tape.note(self._number, "hears")
        self._inner.data_received(data)

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        assert self._wire is not None
        self._wire.end()
        self._inner.connection_lost(exc)


class _Wire(asyncio.Transport):
    """What the node takes for its transport."""

    def __init__(self, tape: Tape, number: int, transport: asyncio.Transport) -> None:
        super().__init__()
        self.ended = False
        self._tape = tape
        self._number = number
        self._transport = transport

    def end(self) -> None:
        if not self.ended:
            self.ended = True
            self._tape.note(self._number, "ends")

    def write(self, data: Any) -> None:
        if not self._transport.is_closing():
            self._tape.mark(bytes(data))
            self._tape.note(self._number, "says", decode(bytes(data)[4:]))
        self._transport.write(data)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._transport.set_write_buffer_limits(high, low)

    def is_closing(self) -> bool:
        return self._transport.is_closing()

    def abort(self) -> None:
        self.end()
        self._transport.abort()

    def close(self) -> None:
        self.abort()


# The judge.


@dataclass
class Talk:
    """One connection, as the tape tells it: IDs that are not acked, requests without a reply, since
    when the next reply is awaited, objects that came and are not in the pool, what came at all, and
    when the peer lied first."""

    port: int
    greeted: bool = False
    fifo: list[ObjectId] = field(default_factory=list[ObjectId])
    requests: list[Request] = field(default_factory=list[Request])
    since: float = 0.0
    waiting: set[ObjectId] = field(default_factory=set[ObjectId])
    came: set[ObjectId] = field(default_factory=set[ObjectId])
    lied: float | None = None
    foul: float | None = None

    @property
    def asked(self) -> set[ObjectId]:
        """The objects in requests without a reply."""
        return {x for r in self.requests if isinstance(r, RequestObjects) for x in r.ids}

    @property
    def acquires(self) -> set[ObjectId]:
        return self.asked | self.waiting

    @property
    def coming(self) -> int:
        """The IDs that the peer may still announce."""
        return sum(r.count for r in self.requests if isinstance(r, RequestIds))


class Judge:
    """Reads a tape. `offered`: the objects that are valid."""

    def __init__(self, tape: Tape, config: Config, offered: dict[ObjectId, bytes]) -> None:
        self._tape = tape
        self._config = config
        self._offered = offered
        self._live: dict[int, Talk] = {}
        self._pool: dict[ObjectId, float] = {}  # Since when.

    def problems(self, honest: int, calm: tuple[float, float]) -> Iterator[str]:
        """What was promised and did not happen. `honest`: the port of the peer that never lies.
        Between the two times of `calm` nothing is at fault."""
        begins, ends = calm
        for entry in self._tape.entries:
            if entry.time >= ends:
                break
            for problem in self._read(entry):
                yield f"at {entry.time:.3f} s, connection {entry.talk}: {problem}"
            if entry.what == "ends" and entry.time > begins and self._port(entry) == honest:
                yield f"at {entry.time:.3f} s an honest peer was given up"
        for n, talk in self._live.items():
            for what, since in (("lied", talk.lied), ("sent something invalid", talk.foul)):
                if since is not None and since < begins:
                    yield f"connection {n} goes on, though its peer {what} at {since:.3f} s"
            if talk.requests and not _blocks(talk.requests[0]) and talk.since < begins - SLACK:
                yield f"connection {n} waits for a reply since {talk.since:.3f} s"
        yield from self._of_objects()

    def _port(self, entry: Entry) -> int:
        assert entry.talk is not None
        return self._tape.peers[entry.talk]

    def _of_objects(self) -> Iterator[str]:
        times = Counter(entry.x for entry in self._tape.entries if entry.what == "added")
        yield from (f"{x} was stored {n} times" for x, n in times.items() if n > 1)
        for x, bodies in self._tape.bodies.items():
            if bodies != {self._offered.get(x)}:
                yield f"{x} was stored with a body that nobody offers"

    def _read(self, entry: Entry) -> Iterator[str]:
        if entry.talk is None:
            self._disk(entry)
            return
        if entry.what == "begins":
            self._live[entry.talk] = Talk(self._tape.peers[entry.talk])
            return
        talk = self._live[entry.talk]
        if talk.requests and not _blocks(talk.requests[0]):
            waited = entry.time - talk.since
            if waited > self._config.reply_timeout + SLACK:
                yield f"waited {waited:.3f} s for a reply"
                talk.since = entry.time
        if entry.what == "ends":
            del self._live[entry.talk]
        elif entry.what == "hears":
            self._hears(talk, entry)
        else:
            if talk.lied is not None:
                yield f"speaks to a peer that lied at {talk.lied:.3f} s"
            if isinstance(entry.frame, RequestIds):
                yield from self._asks_for_ids(talk, entry.frame)
            elif isinstance(entry.frame, RequestObjects):
                yield from self._asks_for_objects(talk, entry.frame, entry.time)
            else:
                yield f"says {entry.frame}"
            if not talk.requests:
                talk.since = entry.time
            if isinstance(entry.frame, RequestIds | RequestObjects):
                talk.requests.append(entry.frame)

    def _disk(self, entry: Entry) -> None:
        assert entry.x is not None
        if entry.what == "added":
            self._pool.setdefault(entry.x, entry.time)
        for talk in self._live.values():
            talk.waiting.discard(entry.x)

    # What the node hears.

    def _hears(self, talk: Talk, entry: Entry) -> None:
        if talk.lied is None and not self._is_right(talk, entry.frame):
            talk.lied = entry.time
        if talk.lied is not None:
            return
        if isinstance(entry.frame, ReplyIds):
            talk.fifo += entry.frame.ids
        elif isinstance(entry.frame, Objects):
            talk.waiting |= entry.frame.ids
            talk.came |= entry.frame.ids
            if any(self._offered.get(x) != body for x, body in entry.frame.bodies):
                talk.foul = entry.time
        if talk.greeted:
            talk.requests.pop(0)
            talk.since = entry.time
        talk.greeted = True

    def _is_right(self, talk: Talk, frame: Frame | None) -> bool:
        if not talk.greeted:
            return isinstance(frame, Hello)
        request = talk.requests[0] if talk.requests else None
        if isinstance(frame, ReplyIds) and isinstance(request, RequestIds):
            known = talk.acquires.union(talk.fifo)
            return (
                len(set(frame.ids)) == len(frame.ids)
                and bool(frame.ids or not request.blocking)
                and len(frame.ids) <= request.count
                and known.isdisjoint(frame.ids)
            )
        if isinstance(frame, Objects) and isinstance(request, RequestObjects):
            return frame.ids == request.ids
        return False

    # What the node says.

    def _asks_for_ids(self, talk: Talk, request: RequestIds) -> Iterator[str]:
        acked, talk.fifo = talk.fifo[: request.ack], talk.fifo[request.ack :]
        if len(acked) < request.ack:
            yield f"acks {request.ack} IDs of {len(acked)}"
        for x in acked:
            if x not in self._pool and x not in talk.came:
                yield f"acks {x}, which it has not got"
        if not 0 < request.count <= self._config.ids_per_request:
            yield f"asks for {request.count} IDs"
        outstanding = len(talk.fifo) + talk.coming + request.count
        if outstanding > self._config.outstanding:
            yield f"{outstanding} IDs are outstanding"
        if request.blocking and (talk.fifo or talk.requests):
            yield "blocks while something is under way"
        if not request.blocking and not talk.fifo:
            yield "does not block, with nothing left"

    def _asks_for_objects(self, talk: Talk, request: RequestObjects, time: float) -> Iterator[str]:
        for x in sorted(request.ids):
            if self._pool.get(x, time) < time:
                yield f"asks for {x}, which the pool has"
            if x not in talk.fifo or x in talk.acquires:
                yield f"asks for {x}, which is not to be had"
            copies = 1 + sum(x in each.acquires for each in self._live.values())
            if copies > self._config.redundancy:
                yield f"asks for copy {copies} of {x}"
        here = len(talk.acquires | request.ids)
        if not 0 < here <= self._config.inflight_per_peer:
            yield f"{here} objects are in flight"
        total = len(request.ids) + sum(len(each.acquires) for each in self._live.values())
        if total > self._config.inflight_total:
            yield f"{total} objects of all peers are in flight"


def _blocks(request: Request) -> bool:
    return isinstance(request, RequestIds) and request.blocking
