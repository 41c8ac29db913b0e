"""A peer as an endpoint knows it: where it is, and the two machines that speak with it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from .declaration import Data, Message, ReceiverEntryFixed, SenderEntryFixed
from .relay import Address
from .settings import LARGEST_WINDOW, Clock, Config, ConnectionStats


@dataclass
class Peer:
    """`turn` is held by the one sender that may send next; `outbox` is about to leave."""

    name: str
    address: Address
    sender: SenderEntryFixed
    receiver: ReceiverEntryFixed
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    outbox: list[Message] = field(default_factory=list)

    @classmethod
    def at(cls, address: Address, name: str, config: Config, clock: Clock, epoch: int) -> Peer:
        """A peer without connections; the next one to it has an id larger than `epoch`."""
        sender = SenderEntryFixed(
            conn_expiry_timeout=config.conn_expiry_timeout,
            conn_close_timeout=config.conn_close_timeout,
            reaping=config.conn_expiry_timeout > 0,
            epoch=epoch,
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

        One such number would otherwise make the receiver request all those before it.
        """
        known = self.receiver
        return data.conn == known.conn and data.seqno >= known.next + LARGEST_WINDOW

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
