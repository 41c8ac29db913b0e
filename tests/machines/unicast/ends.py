"""Ends to test with: endpoints joined by a relay, and a bare socket that speaks the wire format."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import ParamSpec

from lawful.machines.services import LOOPBACK
from lawful.machines.unicast.declaration import Conn
from lawful.machines.unicast.messages import Data, Message
from lawful.machines.unicast.service import Unicast
from lawful.machines.unicast.service.relay import Address, Faults, Relay
from lawful.machines.unicast.service.run import join
from lawful.machines.unicast.service.settings import Config, Options
from lawful.machines.unicast.service.wire import Batch, decode, encode
from tests.root import PATIENCE

QUICK = Config(
    xmit_interval=0.003,
    ack_interval=0.003,
    conn_expiry_timeout=PATIENCE,
    conn_close_timeout=0.05,
    window=16,
)


P = ParamSpec("P")


def timed(test: Callable[P, Awaitable[None]]) -> Callable[P, None]:
    """A test that runs in an event loop of its own and fails if it takes too long."""

    @functools.wraps(test)
    def run(*args: P.args, **words: P.kwargs) -> None:
        asyncio.run(asyncio.wait_for(test(*args, **words), PATIENCE))

    return run


@asynccontextmanager
async def joined(
    config: Config = QUICK, options: Options | None = None, faults: Faults | None = None
) -> AsyncGenerator[tuple[Unicast, Unicast, Relay], None]:
    """A and B with a relay between them, good unless faults are given; A has the options."""
    async with (
        Relay(faults or Faults(), seed=3) as relay,
        await Unicast.open("A", config, options) as a,
        await Unicast.open("B", config) as b,
    ):
        await join(relay, a, b)
        yield a, b, relay


async def heard(end: Unicast, count: int) -> list[bytes]:
    """The next payloads that the application of this end receives."""
    payloads: list[bytes] = []
    async for _, payload in end.receive():
        payloads.append(payload)
        if len(payloads) == count:
            break
    return payloads


def sending(end: Unicast) -> Conn:
    """The state of the connection from this end to B."""
    return end.stats().connections["B"].sending


class Probe(asyncio.DatagramProtocol):
    """A bare socket that speaks the wire format by hand, as the peer "P" of one endpoint."""

    def __init__(self) -> None:
        self.inbox: asyncio.Queue[Message] = asyncio.Queue()
        self.transport: asyncio.DatagramTransport | None = None
        self.target: Unicast | None = None

    def datagram_received(self, data: bytes, addr: Address) -> None:
        for message in decode(data).messages:
            self.inbox.put_nowait(message)

    async def until_said(self, message: Message) -> set[Message]:
        """All that the endpoint says until it says this, which is included."""
        said = {await self.inbox.get()}
        while message not in said:
            said.add(await self.inbox.get())
        return said

    def raw(self, datagram: bytes) -> None:
        assert self.transport is not None
        assert self.target is not None
        self.transport.sendto(datagram, self.target.address)

    def say(self, *messages: Message, source: str = "P", target: str = "A") -> None:
        self.raw(encode(Batch(source, target, messages, QUICK.most_parts)))


@asynccontextmanager
async def probed(
    options: Options | None = None, config: Config = QUICK
) -> AsyncGenerator[tuple[Unicast, Probe], None]:
    """The endpoint A and a probe that it knows as P."""
    probe = Probe()
    probe.transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: probe, local_addr=(LOOPBACK, 0)
    )
    async with await Unicast.open("A", config, options) as a:
        probe.target = a
        a.connect("P", probe.transport.get_extra_info("sockname"))
        yield a, probe
    probe.transport.close()


def submitted(seqno: int) -> Data:
    """What `data` has, as the application gave it and is told of it."""
    return data(seqno).replace(payload=b"%d" % seqno)


def data(seqno: int, conn: int = 1, first: bool | None = None) -> Data:
    mark = seqno == 1 if first is None else first
    return Data(seqno=seqno, conn=conn, first=mark, payload=b"\x03%d" % seqno)  # Whole.
