"""The payloads of several parts that a sender entry has under way."""

from __future__ import annotations

from dataclasses import dataclass

from ..declaration import SenderEntryFixed
from ..messages import Data, Dropped
from .parts import ENDS


@dataclass
class Large:
    """A payload whose parts are the messages `first` to `last` of a connection. `broken`: somebody
    has acknowledged a part of it without having it whole."""

    first: int
    last: int
    payload: bytes
    broken: bool

    @property
    def count(self) -> int:
        """How many parts it has."""
        return self.last - self.first + 1


class LargePayloads:
    """Those that are not acknowledged: `at` has them by connection and the number of the last
    part. The window of the entry has their parts, and no more of these than are not acknowledged.

    A receiver delivers all parts together, and then acknowledges them. It takes none that has more
    parts than its limit: of these it drops one part after another, and acknowledges them, too.
    """

    def __init__(self, sender: SenderEntryFixed) -> None:
        self.at: dict[tuple[int, int], Large] = {}
        self._sender = sender

    def remember(self, number: int, parts: int, payload: bytes) -> None:
        """A payload was sent in so many parts, the last of which has this number."""
        conn, acked = self._sender.conn, self._sender.highest_acked
        self.at = {at: large for at, large in self.at.items() if at[0] == conn}
        if parts > 1:
            first = number - parts + 1
            self.at[conn, number] = Large(first, number, payload, broken=first <= acked)

    def settled(self, most: int) -> Dropped | None:
        """The report of those that are acknowledged and were not delivered, after a datagram of a
        peer that takes payloads of `most` parts; None if there are none.

        Each life of the peer acknowledges what it has taken itself, and what the entry has told it
        was acknowledged before. So the limit in a datagram is the one under which all that
        its ack covers anew was taken. An ack that ends within a payload is of one that was dropped,
        and whoever acknowledges the rest of it has only the rest.
        """
        conn, acked, lost = self._sender.conn, self._sender.highest_acked, list[Large]()
        for at, large in [*self.at.items()]:
            if at[0] != conn or acked < large.first:
                continue
            large.broken |= acked < large.last or large.count > most
            if acked >= large.last:
                del self.at[at]
                lost += [large] * large.broken
        if not lost:
            return None
        data = (Data(each.last, conn, False, each.payload) for each in lost)
        return Dropped(conn, min(each.first for each in lost) - 1, frozenset(data))

    def whole(self, dropped: Dropped) -> Dropped:
        """The report about a connection that is over, with whole payloads in the place of their
        parts."""
        large, self.at = self.at, {}
        whole: set[Data] = set()
        for data in dropped.in_doubt:
            if data.payload[0] & ENDS:
                known = large.get((data.conn, data.seqno))
                payload = data.payload[1:] if known is None else known.payload
                whole.add(data.replace(payload=payload))
        return dropped.replace(in_doubt=frozenset(whole))
