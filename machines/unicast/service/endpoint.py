"""Reliable unicast over UDP: an endpoint that embeds the sender and receiver entries.

A `Unicast` endpoint has, for each peer, one `SenderEntryFixed` and one `ReceiverEntryFixed`,
executed by the runtime. All that the protocol knows (states, connection ids, sequence numbers,
windows, buffers, timers) is in these machines; the endpoint carries datagrams to them, performs
what they return, and keeps nothing of its own but addresses, counters, and payloads already
delivered that the application has not yet taken. A CLOSED entry stands for an absent one and is
kept, until the application disconnects the peer: it remembers where the connection was.

    async with await Unicast.open("A", Config()) as a:
        a.connect("B", address_of_b)
        await a.send("B", b"hello")
        async for peer, payload in a.receive(): ...

Each payload is delivered once and in the order in which its sender sent it, whatever the network
loses, repeats or reorders; or it is reported to `on_dropped` as in doubt, never dropped in silence.
A peer may take smaller payloads: `send` refuses larger ones, or `on_dropped` is told of them.
One that is sent with `ordered=False` may overtake others. A payload above one datagram goes in
several (`parts.py`). Between endpoints of different names there is no order. Sockets are bound to
127.0.0.1. With a key (`Options.key`) only datagrams of endpoints that have it are taken.

Source: `unicast3.txt`, demands U4 to U30.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from functools import partial

from lawful import Refused
from lawful.runtime.deadlines import Deadlines
from lawful.runtime.instances.access import Fired
from lawful.runtime.timers import SteadyClock

from ..declaration import Conn, ReceiverEntryFixed, SenderEntryFixed
from ..messages import Ack, Close, Data, Dropped, Message, SendFirst, XmitReq
from .doubts import Doubts
from .inbox import Inbox
from .outgoing import Outgoing
from .parts import check_payload, cut, overtakes
from .peer import FormerLife, Peer, from_wire
from .relay import Address
from .sending import Sending
from .settings import Config, EndpointStats, LoopClock, Options
from .socket import Socket
from .wire import ASKS, Batch, encode_name


class EndpointClosed(Exception):
    """The endpoint was closed, by `aclose` or by the fault that is this error's cause."""


class Unicast:
    """One endpoint. Made by `await Unicast.open(...)`; belongs to the event loop that opened it.

    Methods raise EndpointClosed once it is closed, and KeyError for a peer that was not connected.
    """

    def __init__(self, name: str, config: Config, options: Options) -> None:
        self.name = name
        self._config = config
        self._options = options
        self._clock = LoopClock() if options.clock is None else SteadyClock(options.clock)
        self._epoch = time.time_ns() // 1_000 if options.epoch is None else options.epoch
        self._peers: dict[str, Peer] = {}
        self._busy: dict[str, Peer] = {}  # With a round to come.
        self._deadlines = Deadlines()
        self._inbox = Inbox(config.inbox)
        self._counts: Counter[str] = Counter()
        self._kinds_received: Counter[str] = Counter()
        self._changed = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._doubts = Doubts(name, options.on_dropped, self._loop)
        self._closed = False
        self._worked = 0.0
        self._fault: Exception | None = None
        self._socket = Socket(name, config, options.key, self._on_batch)
        self._outgoing = Outgoing(name, config, self._socket, self._guarded)
        self._sending = Sending(self._check_peer, self._wait_for_room, self._put, self._counts)
        self._ticking: asyncio.Task[None] | None = None

    @classmethod
    async def open(
        cls,
        name: str,
        config: Config | None = None,
        options: Options | None = None,
        port: int = 0,
    ) -> Unicast:
        """An endpoint called `name`, with a socket on this port of 127.0.0.1, or on a free one for
        0, and no peers yet.

        Errors: OSError without the port; ValueError for a name that no datagram has room for.
        """
        encode_name(name)
        endpoint = cls(name, config or Config(), options or Options())
        await endpoint._socket.open(port)
        ticking = endpoint._loop.create_task(endpoint._tick_for_ever(), name=f"unicast {name}")
        endpoint._ticking = ticking
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
        return self._socket.address

    def connect(self, peer: str, address: Address) -> None:
        """Make `peer` known, or tell its new address. Nothing is sent.

        Only peers made known can be sent to, and only theirs is received. Errors: ValueError for
        a name that no datagram has room for; RuntimeError while `disconnect` forgets this peer.
        """
        self._check_open()
        encode_name(peer)
        if peer in self._peers:
            if self._peers[peer].gone:
                raise RuntimeError(f"connect {peer} again once disconnect has returned")
            self._peers[peer].address = address
            self._peers[peer].takes = None  # It may be another life.
            return
        known = Peer.at(address, peer, self._epoch, self._config, self._clock)
        journal, fired = self._options.journal, partial(self._fired, known)
        known.watch(self.name, journal, self._deadlines, fired)
        self._peers[peer] = known

    async def disconnect(self, peer: str) -> None:
        """Close the connection to `peer`, wait until it is gone, and forget the peer. What it sent
        and is in the inbox is still received, and acknowledged; everything else of it is dropped.

        Who connects it again later than its datagrams are under way gets each message once. Who is
        cancelled while the call waits has closed the connection, and the peer stays known.
        """
        self.close(peer)
        known = self._peers[peer]
        known.gone = True
        known.ring()
        try:
            while known.sender.state != Conn.CLOSED:
                self._check_open()
                await known.changed.wait()
        except asyncio.CancelledError:
            known.gone = False
            raise
        if self._peers.get(peer) is known:
            self._forget(known)

    def _forget(self, known: Peer) -> None:
        """The connection to this peer is gone: so is the peer."""
        known.gone = True
        self._guarded(partial(self._acknowledge, known))
        known.unwatch()
        for peers in (self._peers, self._busy):
            peers.pop(known.name, None)
        self._inbox.forget(known.name)
        # A later connection to the same name gets a larger id than all of this one had.
        self._epoch = max(self._epoch, known.epoch + known.sender.conn)
        known.ring()

    def _acknowledge(self, peer: Peer) -> None:
        """What it sent and is delivered, at once: it would send it again."""
        self._run_out(peer, peer.receiver, peer.receiver.ack_delay.deadline)
        self._outgoing.flush()

    async def send(self, peer: str, payload: bytes, *, ordered: bool = True) -> int:
        """Take a payload for `peer`; the sequence number of its last part on the connection.

        Waits while the window is full; callers that wait are served in the order of their calls.
        A connection that is absent is opened, one that closes is opened again. A payload that is
        not `ordered` is delivered when it comes, if it fits one part and the inbox has room; it
        may be earlier than those sent before it. Who is cancelled while the call waits for room
        has sent nothing; later the whole payload is sent. Errors: ValueError for a payload above
        `Config.largest_payload`, or of more parts than `peer` takes, as far as it has said (it is
        asked again then); TypeError for anything but `bytes`.
        """
        to = self._peers[peer]
        check_payload(payload, self._config.largest_payload)
        async with to.turn:
            parts = cut(payload, self._config.largest_part, ordered)
            return await self._sending.send(to, payload, parts)

    async def _wait_for_room(self, to: Peer, parts: Sequence[bytes]) -> None:
        """Errors: ValueError as `Peer.check_size`; then the peer is asked again what it takes."""
        await self._until(to, lambda: to.has_room(len(parts[0]), self._config))
        self._check_open()
        try:
            to.check_size(parts)
        except ValueError:
            self._outgoing.ask(to)
            raise

    def _put(self, to: Peer, data: Data) -> None:
        self._busy[to.name] = to
        self._perform(to, data)

    async def receive(self) -> AsyncIterator[tuple[str, bytes]]:
        """The payloads delivered, each with the peer that sent it, until the endpoint is closed.

        Several iterators share what is delivered: each payload goes to one of them.
        """
        while True:
            while not self._closed and not self._inbox.payloads:
                await self._inbox.came.wait()
            if not self._inbox.payloads:
                self._raise_fault()
                return
            full = self._inbox.is_full
            delivered = self._inbox.payloads.popleft()
            if full:
                self._guarded(self._deliver_held)
            yield delivered

    def close(self, peer: str) -> None:
        """Begin to close the connection to `peer`; nothing happens where there is none.

        What is unacknowledged is still sent; after `conn_close_timeout` the connection is gone.
        """
        self._check_open()
        self._peers[peer].sender.close()
        self._ring(self._peers[peer])

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
        await self._until(to, lambda: to.unacked == 0)

    async def _until(self, peer: Peer, condition: Callable[[], bool]) -> None:
        """Wait until it is true; asked again after what happens with this peer alone. Errors:
        EndpointClosed or KeyError if the endpoint or the peer is gone before."""
        while not peer.gone and not condition():
            self._check_open()
            await peer.changed.wait()
        self._check_peer(peer)

    def _check_peer(self, peer: Peer) -> None:
        self._check_open()
        if peer.gone:
            raise KeyError(peer.name)

    def stats(self) -> EndpointStats:
        """Counters and states as of now; also of a closed endpoint."""
        counts = self._counts + self._socket.counts + self._inbox.counts + self._doubts.counts
        return EndpointStats.of(
            counts,
            dict(self._outgoing.kinds),
            dict(self._kinds_received),
            {name: peer.stats() for name, peer in self._peers.items()},
        )

    async def aclose(self) -> None:
        """Close at once. What is delivered is acknowledged and each peer gets a CLOSE; what is not
        acknowledged is not waited for (`flushed` does that): `on_dropped` is told of it.

        `receive` ends after what was delivered; everything else raises EndpointClosed.
        """
        if not self._closed:
            self._guarded(self._say_goodbye)
        self._shut()
        if self._ticking is not None:
            await asyncio.gather(self._ticking, return_exceptions=True)

    def _say_goodbye(self) -> None:
        """All timers of acks and of closing run out."""
        for peer in self._peers.values():
            peer.sender.close()
            self._run_out(peer, peer.receiver, peer.receiver.ack_delay.deadline)
            self._run_out(peer, peer.sender, peer.sender.lawful.next_deadline())
        self._outgoing.flush()

    def _run_out(
        self, peer: Peer, entry: SenderEntryFixed | ReceiverEntryFixed, due: float | None
    ) -> None:
        """Fire the timers of an entry that are due then."""
        for fired in () if due is None else entry.lawful.fire_due(due):
            self._fired(peer, fired)

    # What happens by itself.

    async def _tick_for_ever(self) -> None:
        while not self._closed:
            worked, self._worked = self._worked, 0.0
            await asyncio.sleep(self._config.pause(worked))
            self._guarded(self._tick)

    def _tick(self) -> None:
        """One round of the retransmission task [seed:60-68, 122-137], over the entries for which
        there is something to do."""
        self._deadlines.fire_due(self._clock.now())
        for peer in tuple(self._busy.values()):
            self._visit(peer)
            if not peer.busy:
                del self._busy[peer.name]
        self._ring()

    def _fired(self, peer: Peer, fired: Fired) -> None:
        self._perform(peer, fired.output)
        peer.ring()

    def _visit(self, peer: Peer) -> None:
        self._perform(peer, peer.sender.task())
        if not peer.receiver.lawful.may("request_missing"):
            peer.requests.none()
        elif peer.requests.due(peer.receiver):
            self._perform(peer, peer.receiver.request_missing())
        if peer.receiver.lawful.may("send_sync"):
            self._perform(peer, peer.receiver.send_sync())

    def _on_batch(self, batch: Batch) -> None:
        if batch.source in self._peers:
            self._guarded(lambda: self._handle_batch(self._peers[batch.source], batch))
        else:
            self._counts["unknown"] += 1

    def _handle_batch(self, peer: Peer, batch: Batch) -> None:
        if batch.most_parts == ASKS:
            self._outgoing.answer(peer)
            return
        peer.takes = batch.most_parts
        for message in batch.in_order_of_handling():
            self._kinds_received[type(message).__name__] += 1
            try:
                self._handle(peer, from_wire(message, peer.epoch))
            except FormerLife:
                self._counts["former"] += 1
            except Refused:
                self._counts["refused"] += 1
        if lost := peer.large.settled(batch.most_parts):
            self._counts["too_large"] += len(lost.in_doubt)
            self._doubts.tell(peer.name, lost)
        self._inbox.deliver(peer)
        if peer.busy:
            self._busy[peer.name] = peer
        self._ring(peer)

    def _handle(self, peer: Peer, message: Message) -> None:
        """Give the message to the machine that it is for, and perform what that returns."""
        match message:
            case Data():
                self._counts["beyond"] += peer.receiver.is_beyond(message)
                is_new = peer.arrivals.is_new(message.conn, message.seqno)
                peer.receiver.data(message)
                if is_new and overtakes(message.payload):
                    self._inbox.deliver_early(peer, message)
            case Ack():
                peer.sender.ack(message)
            case SendFirst():
                self._perform(peer, peer.sender.send_first(message))
            case XmitReq():
                again = peer.sender.retransmit(message)
                for data in sorted(again, key=lambda data: (data.seqno, data.first)):
                    self._perform(peer, data)
            case Close():
                peer.receiver.close_received(message)

    def _deliver_held(self) -> None:
        self._inbox.deliver_held()
        self._ring()

    def _perform(self, peer: Peer, output: object) -> None:
        """Do what a machine returned: send the message, or tell the application."""
        match output:
            case None:
                return
            case Data() | Ack() | SendFirst() | XmitReq() | Close():
                self._outgoing.add(peer, output)
            case Dropped():
                self._doubts.tell(peer.name, peer.large.whole(output))
                self._outgoing.add(peer, Close(conn=output.conn))
            case _:
                raise TypeError(f"nobody performs {output!r}")

    # Ends and faults.

    def _guarded(self, action: Callable[[], None]) -> None:
        """Run it; a fault (of a machine, or ours) ends the endpoint, and every caller is told."""
        begun = self._loop.time()
        try:
            action()
        except Exception as fault:
            self._fault = fault
            self._shut()
        self._worked += self._loop.time() - begun

    def _shut(self) -> None:
        self._closed = True
        self._outgoing.end()
        self._socket.close()
        if self._ticking is not None:
            self._ticking.cancel()
        for peer in self._peers.values():
            peer.ring()
        self._inbox.ring()
        self._ring()

    def _ring(self, peer: Peer | None = None) -> None:
        """Wake all who wait in `until`, and who wait for this peer."""
        if peer is not None:
            peer.ring()
        self._changed.set()
        self._changed.clear()

    def _check_open(self) -> None:
        if self._closed:
            self._raise_fault()
            raise EndpointClosed(f"the endpoint {self.name} is closed")

    def _raise_fault(self) -> None:
        if self._fault is not None:
            raise EndpointClosed(f"the endpoint {self.name} failed") from self._fault
