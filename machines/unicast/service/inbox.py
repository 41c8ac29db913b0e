"""What is delivered and the application has not taken yet, and who waits for room there."""

from __future__ import annotations

import asyncio
from collections import Counter, deque

from ..messages import Data
from .parts import joined
from .peer import Peer


class Inbox:
    """Payloads, each with the name of the peer that sent it; there is room for `most`.

    `delivered` counts those that were put into it, `broken` those whose parts do not fit together.
    `came` is set for a moment when one comes.
    """

    def __init__(self, most: int) -> None:
        self.payloads: deque[tuple[str, bytes]] = deque()
        self.delivered = 0
        self.broken = 0
        self.came = asyncio.Event()
        self._most = most
        self._held: dict[str, Peer] = {}  # Their payloads wait for room.

    @property
    def counts(self) -> Counter[str]:
        """Both numbers by name."""
        return Counter(delivered=self.delivered, broken=self.broken)

    @property
    def is_full(self) -> bool:
        return len(self.payloads) >= self._most

    def deliver(self, peer: Peer) -> None:
        """Put into it what comes next of this peer, as far as there is room."""
        while not self.is_full and (count := peer.arrivals.ready()):
            parts = peer.arrivals.take(count)
            payload = joined(parts)
            if payload is not None:
                self._put(peer, payload)
            self.broken += bool(parts) and payload is None
        if self.is_full:
            self._held[peer.name] = peer

    def deliver_early(self, peer: Peer, data: Data) -> None:
        """Put a payload into it that overtakes others, if the machine took it and there is room."""
        taken = data.conn == peer.receiver.conn and data.seqno in peer.receiver.buffer
        if taken and not self.is_full:
            peer.arrivals.overtake(data.seqno)
            self._put(peer, joined([data.payload]) or b"")

    def deliver_held(self) -> None:
        """There is room again: those that were held back have their turns."""
        held, self._held = self._held, {}
        for peer in held.values():
            self.deliver(peer)
            peer.ring()

    def forget(self, name: str) -> None:
        """This peer is gone."""
        self._held.pop(name, None)

    def ring(self) -> None:
        """Wake those who wait for a payload."""
        self.came.set()
        self.came.clear()

    def _put(self, peer: Peer, payload: bytes) -> None:
        self.payloads.append((peer.name, payload))
        self.delivered += 1
        self.ring()
