"""A peer as an endpoint knows it: where it is, and the two machines that speak with it.

A sender entry counts its connections from 1 in every life of its endpoint. On the wire their ids
are `epoch` larger, so that those of a later life are larger than all before it (U-B5): a receiver
entry, which has outlived the sender, then takes them for what they are, newer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from lawful.runtime.deadlines import Deadlines
from lawful.runtime.instances.access import Fired

from ..declaration import Conn, ReceiverEntryFixed, SenderEntryFixed
from ..messages import Ack, Close, Data, Message, SendFirst, XmitReq
from .large import LargePayloads
from .parts import Arrivals
from .relay import Address
from .settings import LARGEST_WINDOW, Clock, Config, ConnectionStats, Recorder


class FormerLife(Exception):
    """The message is about a connection that this endpoint had before it was restarted."""


def to_wire(message: Message, epoch: int) -> Message:
    """What an entry says, as the peer shall hear it: connections of this end get their epoch."""
    match message:
        case Data() | Close():
            return message.replace(conn=message.conn + epoch)
        case Ack() | SendFirst() | XmitReq():
            return message


def from_wire(message: Message, epoch: int) -> Message:
    """What a peer says, as the entries shall hear it. Errors: FormerLife."""
    match message:
        case Data() | Close():
            return message
        case Ack() | SendFirst() | XmitReq():
            if message.conn <= epoch:
                raise FormerLife
            return message.replace(conn=message.conn - epoch)


PATIENCE = 4  # Rounds.


@dataclass
class Requests:
    """When missing messages are requested again. A request is for all that is missing, and what was
    requested before may be under way: while answers come it is repeated every `PATIENCE` rounds
    only, and while none comes after one round, two, and so on to `PATIENCE`."""

    had: tuple[int, int, int] = (0, 0, 0)
    waited: int = PATIENCE
    pause: int = 1

    def due(self, receiver: ReceiverEntryFixed) -> bool:
        """Asked once in each round in which something is missing."""
        had = receiver.conn, receiver.next, len(receiver.buffer)
        came, self.had = had != self.had, had
        self.waited += 1
        if came:
            self.pause = 1
        if self.waited < (PATIENCE if came else self.pause):
            return False
        self.waited, self.pause = 0, min(2 * self.pause, PATIENCE)
        return True

    def none(self) -> None:
        """Nothing is missing: the next gap is requested at once."""
        self.waited, self.pause = PATIENCE, 1


class WindowBytes:
    """How many bytes are in a sender's window. After a send the new message is added; after
    anything else they are counted anew."""

    def __init__(self, sender: SenderEntryFixed) -> None:
        self._sender = sender
        self._counted = 0, 0, 0  # The connection, and what was acknowledged and sent.
        self._bytes = 0

    def now(self) -> int:
        sender = self._sender
        conn, acked, sent = state = sender.conn, sender.highest_acked, sender.highest_sent
        if self._counted == (conn, acked, sent - 1):
            self._bytes += len(sender.window[sent])
        elif self._counted != state:
            self._bytes = sum(map(len, sender.window.values()))
        self._counted = state
        return self._bytes


@dataclass
class Peer:
    """`epoch`: how much larger connection ids are on the wire. `turn` is held by the one sender
    that may send next; `outbox` is about to leave. `changed` is set for a moment when something has
    happened. `ends` take the entries out of the journal and off the timers. `takes`:
    of how many parts a payload may be there, as its last datagram said; None if that is unknown."""

    name: str
    address: Address
    sender: SenderEntryFixed
    receiver: ReceiverEntryFixed
    epoch: int
    arrivals: Arrivals
    large: LargePayloads
    under_way: WindowBytes
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    outbox: list[Message] = field(default_factory=list[Message])
    takes: int | None = None
    gone: bool = False
    requests: Requests = field(default_factory=Requests)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    ends: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])

    @classmethod
    def at(cls, address: Address, name: str, epoch: int, config: Config, clock: Clock) -> Peer:
        """A peer without connections."""
        sender = SenderEntryFixed(
            conn_expiry_timeout=config.conn_expiry_timeout,
            conn_close_timeout=config.conn_close_timeout,
            reaping=config.conn_expiry_timeout > 0,
            clock=clock,
        )
        receiver = ReceiverEntryFixed(
            ack_interval=config.ack_interval,
            conn_expiry_timeout=config.conn_expiry_timeout,
            conn_close_timeout=config.conn_close_timeout,
            reaping=config.conn_expiry_timeout > 0,
            largest_window=LARGEST_WINDOW,
            clock=clock,
        )
        arrivals = Arrivals(receiver, config.most_parts)
        return cls(
            name,
            address,
            sender,
            receiver,
            epoch,
            arrivals,
            LargePayloads(sender),
            WindowBytes(sender),
        )

    def watch(
        self,
        owner: str,
        journal: Recorder | None,
        deadlines: Deadlines,
        fired: Callable[[Fired], None],
    ) -> None:
        """Let the journal and the timers of the endpoint `owner` know the entries. Errors: the
        journal's; then neither knows them."""
        try:
            if journal is not None:
                self.ends.append(journal.attach(self.sender, f"{owner}>{self.name}/sender"))
                self.ends.append(journal.attach(self.receiver, f"{self.name}>{owner}/receiver"))
            for entry in (self.sender, self.receiver):
                self.ends.append(deadlines.add(entry, fired))
        except BaseException:
            self.unwatch()
            raise

    def unwatch(self) -> None:
        """Neither the journal nor the timers know the entries any more."""
        while self.ends:
            self.ends.pop()()

    @property
    def unacked(self) -> int:
        """How many messages were sent and not yet acknowledged on the live connection."""
        return self.sender.highest_sent - self.sender.highest_acked

    def has_room(self, size: int, config: Config) -> bool:
        """Whether a payload of so many bytes may be sent now."""
        if self.unacked == 0:
            return True
        few = self.unacked < config.window
        return few and self.under_way.now() + size <= config.window_bytes

    def check_size(self, parts: Sequence[bytes]) -> None:
        """Errors: ValueError for a payload of more parts than the peer takes, as far as it said.

        What it said is over with both connections. Otherwise an endpoint that has only large
        payloads for it would never hear that its next life takes them.
        """
        if self.sender.state == Conn.CLOSED == self.receiver.state:
            self.takes = None
        if self.takes is not None and len(parts) > self.takes:
            most, size = self.takes * (len(parts[0]) - 1), sum(map(len, parts)) - len(parts)
            raise ValueError(
                f"{self.name} takes payloads of at most {self.takes} parts, here {most} bytes,"
                f" not {len(parts)} parts, {size} bytes"
            )

    @property
    def busy(self) -> bool:
        """Whether the next round of the periodic task might do something here."""
        resends = self.unacked > 0 or not self.sender.unchanged()
        asks = map(self.receiver.lawful.may, ("request_missing", "send_sync"))
        return resends or any(asks)

    def ring(self) -> None:
        """Wake those who wait for this peer."""
        self.changed.set()
        self.changed.clear()

    def stats(self) -> ConnectionStats:
        return ConnectionStats(
            sending=self.sender.state,
            sent=self.sender.highest_sent,
            acked=self.sender.highest_acked,
            unacked=self.unacked,
            receiving=self.receiver.state,
            expected=self.receiver.next,
            buffered=len(self.receiver.buffer),
        )
