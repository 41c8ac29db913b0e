"""Reliable unicast over UDP: an endpoint that embeds the sender and receiver entries.

A `Unicast` endpoint has, for each peer, one `SenderEntryFixed` and one `ReceiverEntryFixed`,
executed by the runtime. All that the protocol knows (states, connection ids, sequence numbers,
windows, buffers, timers) is in these machines; the endpoint carries datagrams to them, performs
what they return, and keeps nothing of its own but addresses, counters, and payloads already
delivered that the application has not yet taken. A CLOSED entry stands for an absent one and is
kept: it remembers where the connection was.

    async with await Unicast.open("A", Config()) as a:
        a.connect("B", address_of_b)
        await a.send("B", b"hello")
        async for peer, payload in a.receive(): ...

Each payload is delivered once and in the order in which its sender sent it, whatever the network
loses, repeats or reorders; or it is reported to `on_dropped` as in doubt, never dropped in silence.
Between endpoints of different names there is no order. Sockets are bound to 127.0.0.1: nothing here
is authenticated.

Source: `unicast3.txt`, demands U4 to U30.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Collection

from lawful import Refused

from ..declaration import ReceiverEntryFixed, SenderEntryFixed
from ..messages import Ack, Close, Data, Dropped, Message, SendFirst, XmitReq
from .peer import FormerLife, Peer, from_wire, to_wire
from .relay import LOOPBACK, Address
from .settings import Config, EndpointStats, LoopClock, Options
from .wire import LONGEST_PAYLOAD, Batch, WireError, decode, encode_name, pack


class EndpointClosed(Exception):
    """The endpoint was closed, by `aclose` or by the fault that is this error's cause."""


class _Socket(asyncio.DatagramProtocol):
    """Hands datagrams to the endpoint; what goes wrong below it is only counted: UDP may lose."""

    def __init__(self, on_datagram: Callable[[bytes], None], on_error: Callable[[], None]) -> None:
        self._on_datagram = on_datagram
        self._on_error = on_error

    def datagram_received(self, data: bytes, addr: Address) -> None:
        self._on_datagram(data)

    def error_received(self, exc: Exception) -> None:
        self._on_error()


class Unicast:
    """One endpoint. Made by `await Unicast.open(...)`; belongs to the event loop that opened it.

    Methods raise EndpointClosed once it is closed, and KeyError for a peer that was not connected.
    """

    def __init__(self, name: str, config: Config, options: Options) -> None:
        self.name = name
        self._config = config
        self._options = options
        self._clock = options.clock or LoopClock()
        self._epoch = time.time_ns() // 1_000 if options.epoch is None else options.epoch
        self._peers: dict[str, Peer] = {}
        self._inbox: deque[tuple[str, bytes]] = deque()
        self._counts: Counter[str] = Counter()
        self._kinds_sent: Counter[str] = Counter()
        self._kinds_received: Counter[str] = Counter()
        self._changed = asyncio.Event()
        self._closed = False
        self._busy = 0.0
        self._fault: Exception | None = None
        self._transport: asyncio.DatagramTransport | None = None
        self._flushing: asyncio.Handle | None = None
        self._ticking: asyncio.Task[None] | None = None

    @classmethod
    async def open(
        cls, name: str, config: Config | None = None, options: Options | None = None
    ) -> Unicast:
        """An endpoint called `name`, with a socket on a free port of 127.0.0.1, and no peers yet.

        Errors: OSError without a port; ValueError for a name that no datagram has room for.
        """
        encode_name(name)
        endpoint = cls(name, config or Config(), options or Options())
        loop = asyncio.get_running_loop()
        endpoint._transport, _ = await loop.create_datagram_endpoint(
            lambda: _Socket(endpoint._on_datagram, endpoint._on_send_error),
            local_addr=(LOOPBACK, 0),
        )
        endpoint._ticking = loop.create_task(endpoint._tick_for_ever(), name=f"unicast {name}")
        return endpoint

    async def __aenter__(self) -> Unicast:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    # What the application calls.

    @property
    def address(self) -> Address:
        """Where datagrams for this endpoint are to be sent."""
        self._check_open()
        assert self._transport is not None
        address: Address = self._transport.get_extra_info("sockname")
        return address

    def connect(self, peer: str, address: Address) -> None:
        """Make `peer` known, or tell its new address. Nothing is sent.

        Only peers made known can be sent to, and only theirs is received. Errors: ValueError for
        a name that no datagram has room for.
        """
        self._check_open()
        encode_name(peer)
        if peer in self._peers:
            self._peers[peer].address = address
            return
        known = Peer.at(address, peer, self._config, self._clock)
        self._peers[peer] = known
        if self._options.journal is not None:
            journal = self._options.journal
            journal.attach(known.sender, instance=f"{self.name}>{peer}/sender")
            journal.attach(known.receiver, instance=f"{peer}>{self.name}/receiver")

    async def send(self, peer: str, payload: bytes) -> int:
        """Take a payload for `peer`; its sequence number on the connection.

        Waits while the window is full; callers that wait are served in the order of their calls.
        A connection that is absent is opened, one that closes is opened again. Errors: ValueError
        for a payload too large for a datagram.
        """
        to = self._peers[peer]
        if len(payload) > LONGEST_PAYLOAD:
            raise ValueError(f"a payload has at most {LONGEST_PAYLOAD} bytes, not {len(payload)}")
        async with to.turn:
            await self.until(lambda: to.unacked < self._config.window)
            self._check_open()
            data = to.sender.send(payload)
            self._counts["accepted"] += 1
            self._perform(to, data)
            return data.seqno

    async def receive(self) -> AsyncIterator[tuple[str, bytes]]:
        """The payloads delivered, each with the peer that sent it, until the endpoint is closed.

        Several iterators share what is delivered: each payload goes to one of them.
        """
        while True:
            await self.until(lambda: self._closed or bool(self._inbox))
            if not self._inbox:
                self._raise_fault()
                return
            full = len(self._inbox) >= self._config.inbox
            delivered = self._inbox.popleft()
            if full:
                self._guarded(self._deliver_all)
            yield delivered

    def close(self, peer: str) -> None:
        """Begin to close the connection to `peer`; nothing happens where there is none.

        What is unacknowledged is still sent; after `conn_close_timeout` the connection is gone.
        """
        self._check_open()
        self._peers[peer].sender.close()
        self._ring()

    def view(self, members: Collection[str]) -> None:
        """Tell which peers are members now: connections to all others begin to close.

        That of a member which is closing opens again when something is sent on it.
        """
        for peer in self._peers:
            if peer not in members:
                self.close(peer)

    def entries(self, peer: str) -> tuple[SenderEntryFixed, ReceiverEntryFixed]:
        """The machines that speak with `peer`: to look at, and for tests to drive."""
        return self._peers[peer].sender, self._peers[peer].receiver

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until `condition()` is true; it is asked again after whatever happens here, and
        at each round of the periodic task. Errors: EndpointClosed if that comes first.
        """
        while not condition():
            self._check_open()
            await self._changed.wait()

    async def flushed(self, peer: str) -> None:
        """Wait until `peer` acknowledged all that was sent to it, or it was reported in doubt."""
        to = self._peers[peer]
        await self.until(lambda: to.unacked == 0)

    def stats(self) -> EndpointStats:
        """Counters and states as of now; also of a closed endpoint."""
        counts = self._counts
        return EndpointStats(
            datagrams_sent=counts["datagrams_sent"],
            datagrams_received=counts["datagrams_received"],
            malformed=counts["malformed"],
            misdirected=counts["misdirected"],
            unknown=counts["unknown"],
            refused=counts["refused"],
            former=counts["former"],
            beyond=counts["beyond"],
            accepted=counts["accepted"],
            delivered=counts["delivered"],
            in_doubt=counts["in_doubt"],
            send_errors=counts["send_errors"],
            messages_sent=dict(self._kinds_sent),
            messages_received=dict(self._kinds_received),
            connections={name: peer.stats() for name, peer in self._peers.items()},
        )

    async def aclose(self) -> None:
        """Close at once: what is unacknowledged is not waited for (`flushed` does that).

        `receive` ends after what was delivered; everything else raises EndpointClosed.
        """
        if self._flushing is not None and not self._closed:
            self._flush()
        self._shut()
        if self._ticking is not None:
            await asyncio.gather(self._ticking, return_exceptions=True)

    # What happens by itself.

    async def _tick_for_ever(self) -> None:
        while not self._closed:
            busy, self._busy = self._busy, 0.0
            await asyncio.sleep(self._config.pause(busy))
            self._guarded(self._tick)

    def _tick(self) -> None:
        """One round of the retransmission task over all entries [seed:60-68, 122-137]."""
        for peer in tuple(self._peers.values()):
            now = self._clock.now()
            for fired in (*peer.sender.lawful.fire_due(now), *peer.receiver.lawful.fire_due(now)):
                self._perform(peer, fired.output)
            self._perform(peer, peer.sender.task())
            if peer.receiver.lawful.may("request_missing"):
                self._perform(peer, peer.receiver.request_missing())
            if peer.receiver.lawful.may("send_sync"):
                self._perform(peer, peer.receiver.send_sync())
            if peer.lost:
                peer.lost = False
                self._perform(peer, SendFirst(peer.receiver.conn))
        self._ring()

    def _on_datagram(self, datagram: bytes) -> None:
        if self._closed:
            return
        self._counts["datagrams_received"] += 1
        try:
            batch = decode(datagram)
        except WireError:
            self._counts["malformed"] += 1
            return
        if batch.target != self.name:
            self._counts["misdirected"] += 1
        elif batch.source not in self._peers:
            self._counts["unknown"] += 1
        else:
            self._guarded(lambda: self._handle_batch(self._peers[batch.source], batch))

    def _handle_batch(self, peer: Peer, batch: Batch) -> None:
        for message in batch.in_order_of_handling():
            self._kinds_received[type(message).__name__] += 1
            try:
                self._handle(peer, from_wire(message, self._epoch))
            except FormerLife:
                self._counts["former"] += 1
            except Refused:
                self._counts["refused"] += 1
        self._deliver(peer)
        self._ring()

    def _handle(self, peer: Peer, message: Message) -> None:
        """Give the message to the machine that it is for, and perform what that returns."""
        match message:
            case Data():
                if peer.is_beyond(message):
                    self._counts["beyond"] += 1
                    peer.lost = True
                else:
                    peer.receiver.data(message)
            case Ack():
                peer.sender.ack(message)
            case SendFirst():
                self._perform(peer, peer.sender.send_first(message))
            case XmitReq():
                again = peer.sender.retransmit(message)
                for data in sorted(again, key=lambda data: data.seqno):
                    self._perform(peer, data)
            case Close():
                peer.receiver.close_received(message)

    def _deliver(self, peer: Peer) -> None:
        while len(self._inbox) < self._config.inbox and peer.receiver.lawful.may("deliver"):
            self._inbox.append((peer.name, peer.receiver.deliver()))
            self._counts["delivered"] += 1

    def _deliver_all(self) -> None:
        for peer in self._peers.values():
            self._deliver(peer)
        self._ring()

    def _report(self, peer: Peer, dropped: Dropped) -> None:
        self._counts["in_doubt"] += len(dropped.in_doubt)
        if self._options.on_dropped is not None:
            self._options.on_dropped(peer.name, dropped)

    def _perform(self, peer: Peer, output: object) -> None:
        """Do what a machine returned: send the message, or tell the application."""
        match output:
            case None:
                return
            case Data() | Ack() | SendFirst() | XmitReq() | Close():
                peer.outbox.append(output)
            case Dropped():
                self._report(peer, output)
                peer.outbox.append(Close(conn=output.conn))
            case _:
                raise TypeError(f"nobody performs {output!r}")
        if self._flushing is None:
            self._flushing = asyncio.get_running_loop().call_soon(self._guarded, self._flush)

    def _flush(self) -> None:
        """Send what this turn of the event loop produced, as one batch for each peer."""
        self._flushing = None
        if self._closed or self._transport is None:
            return
        config = self._config
        for peer in self._peers.values():
            self._kinds_sent.update(type(message).__name__ for message in peer.outbox)
            batch = Batch(self.name, peer.name, tuple(to_wire(m, self._epoch) for m in peer.outbox))
            peer.outbox.clear()
            for datagram in pack(batch, config.largest_datagram, config.most_messages):
                self._counts["datagrams_sent"] += 1
                self._transport.sendto(datagram, peer.address)

    # Ends and faults.

    def _on_send_error(self) -> None:
        self._counts["send_errors"] += 1

    def _guarded(self, action: Callable[[], None]) -> None:
        """Run it; a fault (of a machine, or ours) ends the endpoint, and every caller is told."""
        begun = time.perf_counter()
        try:
            action()
        except Exception as fault:
            self._fault = fault
            self._shut()
        self._busy += time.perf_counter() - begun

    def _shut(self) -> None:
        self._closed = True
        if self._transport is not None:
            self._transport.close()
        if self._ticking is not None:
            self._ticking.cancel()
        self._ring()

    def _ring(self) -> None:
        """Wake all who wait in `until`."""
        self._changed.set()
        self._changed = asyncio.Event()

    def _check_open(self) -> None:
        if self._closed:
            self._raise_fault()
            raise EndpointClosed(f"the endpoint {self.name} is closed")

    def _raise_fault(self) -> None:
        if self._fault is not None:
            raise EndpointClosed(f"the endpoint {self.name} failed") from self._fault
