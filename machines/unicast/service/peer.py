"""A peer as an endpoint knows it: where it is, and the two machines that speak with it.

A sender entry counts its connections from 1 in every life of its endpoint. On the wire their ids
are `epoch` larger, so that those of a later life are larger than all before it (U-B5): a receiver
entry, which has outlived the sender, then takes them for what they are, newer.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from ..declaration import ReceiverEntryFixed, SenderEntryFixed
from ..messages import Ack, Close, Data, Message, SendFirst, XmitReq
from .relay import Address
from .settings import LARGEST_WINDOW, Clock, Config, ConnectionStats


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


@dataclass
class Peer:
    """`turn` is held by the one sender that may send next; `outbox` is about to leave. `lost`: data
    beyond any window came, so the next round asks where to go on, as if there were no entry."""

    name: str
    address: Address
    sender: SenderEntryFixed
    receiver: ReceiverEntryFixed
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    outbox: list[Message] = field(default_factory=list[Message])
    lost: bool = False

    @classmethod
    def at(cls, address: Address, name: str, config: Config, clock: Clock) -> Peer:
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
            clock=clock,
        )
        return cls(name, address, sender, receiver)

    @property
    def unacked(self) -> int:
        """How many messages were sent and not yet acknowledged on the live connection."""
        return self.sender.highest_sent - self.sender.highest_acked

    def is_beyond(self, data: Data) -> bool:
        """Whether no endpoint could have sent this on the connection: its windows are bounded.

        One such number would otherwise make the receiver request all those before it. A message
        marked as first is the one to go on with, and makes it request none (U-B11).
        """
        known = self.receiver
        far = data.seqno >= known.next + LARGEST_WINDOW
        return data.conn == known.conn and far and not data.first

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
