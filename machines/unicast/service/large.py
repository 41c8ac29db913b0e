"""The payloads of several parts that a sender entry has under way."""

from __future__ import annotations

from ..declaration import SenderEntryFixed
from ..messages import Data, Dropped
from .parts import BEGINS, ENDS


class LargePayloads:
    """Those that are not acknowledged: `at` has them by connection and the number of the last
    part. The window of the entry has their parts, and no more of these than are not acknowledged.
    """

    def __init__(self, sender: SenderEntryFixed) -> None:
        self.at: dict[tuple[int, int], bytes] = {}
        self._sender = sender

    def remember(self, number: int, payload: bytes) -> None:
        """A payload was sent whose last part has this number."""
        conn, acked = self._sender.conn, self._sender.highest_acked
        self.at = {at: p for at, p in self.at.items() if at[0] == conn and at[1] > acked}
        if self._sender.window[number][0] & BEGINS == 0:
            self.at[conn, number] = payload

    def whole(self, dropped: Dropped) -> Dropped:
        """The report about a connection that is over, with whole payloads in the place of their
        parts."""
        large, self.at = self.at, {}
        whole: set[Data] = set()
        for data in dropped.in_doubt:
            if data.payload[0] & ENDS:
                payload = large.get((data.conn, data.seqno), data.payload[1:])
                whole.add(data.replace(payload=payload))
        return dropped.replace(in_doubt=frozenset(whole))
