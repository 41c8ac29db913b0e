"""An endpoint in a world in which nothing goes wrong but what a test makes happen: what it says,
delivers and reports, and when, to the millisecond.

    scene = told(CONFIG, (0, says(data(1))), (40, Told.look))
    scene.story         # a line for each instant: "0: <data 1 of 1 first, [got 1]", ...

The endpoint is A. Its one peer, P, says by hand what a test makes it say. Datagrams take no time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import cast

from lawful.machines.unicast.messages import (
    Ack,
    Close,
    Data,
    Dropped,
    Message,
    SendFirst,
    XmitReq,
)
from lawful.machines.unicast.service import Unicast
from lawful.machines.unicast.service.parts import UNORDERED
from lawful.machines.unicast.service.settings import Config, Options
from lawful.machines.unicast.service.wire import Batch, decode, encode
from lawful.runtime.simulation.datagrams import LOOPBACK, Datagrams
from lawful.runtime.simulation.event_loop import SimulatedLoop
from lawful.runtime.simulation.network import Network
from lawful.runtime.simulation.turns import World
from tests.machines.simulated_runs import play

# All times differ, so that none can stand for another. A round begins every 10 ms.
CONFIG = Config(
    xmit_interval=0.010,
    ack_interval=0.024,
    conn_expiry_timeout=0.180,
    conn_close_timeout=0.070,
    window=5,
    inbox=3,
    largest_part=10,
    largest_payload=40,
)
A, P = 7_001, 7_002  # Ports.


class Told(asyncio.DatagramProtocol):
    """What happens when; and the socket of P. `reading`: whether the application of A takes what is
    delivered to it."""

    unicast: Unicast

    def __init__(self, world: World) -> None:
        self.world = world
        self.datagrams = Datagrams(world)
        self.datagrams.faults.latency = (0.0, 0.0)
        self.loop = SimulatedLoop(world, Network(world), self.datagrams)
        self.reading = True
        self.jobs: set[asyncio.Task[None]] = set()
        self._transport: asyncio.DatagramTransport | None = None
        self._told: dict[float, list[str]] = {}
        self.loop.set_exception_handler(self._hear_error)

    @property
    def story(self) -> list[str]:
        """A line for each instant."""
        return [f"{at:g}: {', '.join(what)}" for at, what in self._told.items()]

    def tell(self, what: str) -> None:
        self._told.setdefault(round(self.world.time * 1_000, 3), []).append(what)

    def _hear_error(self, _: object, context: dict[str, object]) -> None:
        self.tell(f"[error: {context.get('exception')!r}]")

    def job(self, work: Coroutine[object, object, None]) -> None:
        """Let it happen beside everything else."""
        task = self.loop.create_task(work)
        self.jobs.add(task)
        task.add_done_callback(self.jobs.discard)

    # The socket of P.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: tuple[str | object, int]) -> None:
        for message in decode(data).messages:
            self.tell(text_of(message))

    def say(self, *messages: Message, most_parts: int = CONFIG.most_parts) -> None:
        """P says these, in one datagram. It takes payloads of so many parts."""
        for message in messages:
            self.tell("<" + text_of(message))
        assert self._transport is not None
        self._transport.sendto(encode(Batch("P", "A", messages, most_parts)), (LOOPBACK, A))

    # The application at A.

    def send(self, *payloads: bytes) -> None:
        """It sends these, one after another."""

        async def work() -> None:
            for payload in payloads:
                try:
                    number = await self.unicast.send("P", payload)
                except ValueError:
                    self.tell(f"[refused {payload.decode()}]")
                else:
                    self.tell(f"[sent {payload.decode()} as {number}]")

        self.job(work())

    def close(self) -> None:
        self.unicast.close("P")

    def end(self) -> None:
        """A closes as a whole."""
        self.job(self.unicast.aclose())

    def look(self) -> None:
        """It looks at the statistics."""
        here = self.unicast.stats().connections["P"]
        sent = f"{here.sending.name} {here.acked}/{here.sent}"
        self.tell(f"[{sent}, {here.receiving.name} {here.expected}+{here.buffered}]")

    def watch(self) -> None:
        """From now on it tells of each change of a connection's state, when it looks each 5 ms."""

        async def work() -> None:
            seen = ""
            while True:
                here = self.unicast.stats().connections["P"]
                now = f"[{here.sending.name}, {here.receiving.name}]"
                if now != seen:
                    self.tell(now)
                seen = now
                await asyncio.sleep(0.005)

        self.job(work())

    async def listen(self) -> None:
        """It takes what is delivered, while `reading`."""
        async for _, payload in self.unicast.receive():
            self.tell(f"[got {payload.decode()}]")
            while not self.reading:
                await asyncio.sleep(0.001)

    def read(self) -> None:
        self.reading = True

    def stop_reading(self) -> None:
        self.reading = False

    def dropped(self, peer: str, dropped: Dropped) -> None:
        """What `on_dropped` is told."""
        payloads = sorted(data.payload.decode() for data in dropped.in_doubt)
        self.tell(f"[{peer} has {dropped.acked}, in doubt: {' '.join(payloads)}]")


def text_of(message: Message) -> str:
    match message:
        case Data(seqno=seqno, conn=conn, first=first):
            return f"data {seqno} of {conn}" + " first" * first
        case Ack(seqno=seqno, conn=conn):
            return f"ack {seqno} of {conn}"
        case SendFirst(conn=conn):
            return f"send first of {conn}"
        case XmitReq(conn=conn, missing=missing):
            return f"request {' '.join(map(str, sorted(missing)))} of {conn}"
        case Close(conn=conn):
            return f"close {conn}"


Act = tuple[float, Callable[[Told], object]]  # At so many milliseconds.


def says(*messages: Message, most_parts: int = CONFIG.most_parts) -> Callable[[Told], object]:
    return lambda scene: scene.say(*messages, most_parts=most_parts)


def sends(*payloads: bytes) -> Callable[[Told], object]:
    return lambda scene: scene.send(*payloads)


def data(
    *numbers: int, conn: int = 1, first: bool | None = None, early: bool = False
) -> tuple[Data, ...]:
    """Messages, each with its number as a whole payload. The first one is marked as such."""
    head = bytes((3 | early * UNORDERED,))
    marks = {n: n == 1 if first is None else first for n in numbers}
    return tuple(Data(n, conn, mark, head + b"%d" % n) for n, mark in marks.items())


def told(*acts: Act, config: Config = CONFIG) -> Told:
    """What happens when P and the application act."""
    world = World(seed=1, limit=3.0)
    scene = Told(world)
    play(world, scene.loop, _live(scene, acts, config))
    return scene


async def _live(scene: Told, acts: tuple[Act, ...], config: Config) -> None:
    await scene.loop.create_datagram_endpoint(lambda: scene, local_addr=(LOOPBACK, P))
    options = Options(epoch=0, on_dropped=scene.dropped)
    scene.unicast = await Unicast.open("A", config, options, A)
    scene.unicast.connect("P", (LOOPBACK, P))
    scene.job(scene.listen())
    for at, act in acts:
        await asyncio.sleep(at / 1_000 - scene.world.time)
        act(scene)
    await asyncio.sleep(0.0005)
    jobs = tuple(scene.jobs)
    for job in jobs:
        job.cancel()
    await asyncio.gather(*jobs, return_exceptions=True)
    scene.datagrams.cut(P)  # What it says of its end is no part of the story.
    await scene.unicast.aclose()
