"""How a peer has treated its node, over all its connections: how soon it is dialled again, and how
soon it is asked for IDs where it had none."""

from __future__ import annotations

from collections.abc import Iterable

from ..messages import ObjectId
from .settings import Config

MOST_OWED = 1_000  # Objects of one peer; of more, those that it owes for longest are forgotten.
PATIENT = 4  # Replies without IDs in a row, before the node waits for longer than a period.


class Reputation:
    """The pause before a peer is dialled again. It doubles, up to `Config.longest_redial`, where
    the peer lied, where it owes what it owed before, and where it brought less than it owes.

    A peer owes an object that it was asked for over a connection that has ended, until the pool
    gets it from anybody, or `Config.longest_redial` is over. While it owes one, the pause does not
    go back: else a peer that sends other objects, or only hangs up, could keep that one for itself
    for ever.
    """

    def __init__(self, config: Config) -> None:
        self.pause = config.redial
        self._config = config
        self._longest = max(config.redial, config.longest_redial)
        self._owed: dict[ObjectId, float] = {}  # And since when; the oldest first.

    def came(self, x: ObjectId) -> None:
        """The pool has got this object."""
        self._owed.pop(x, None)

    def ended(self, owed: Iterable[ObjectId], brought: int, lied: bool, now: float) -> None:
        """A connection has ended. `owed`: what the peer was asked for over it, and the pool has not
        got; `brought`: how many objects came into the pool."""
        before = {x: at for x, at in self._owed.items() if now - at < self._longest}
        owed = tuple(owed)
        if lied or brought < len(owed) or any(x in before for x in owed):
            self.pause = min(2 * self.pause, self._longest)
        elif not before:
            self.pause = self._config.redial
        for x in owed:
            before.pop(x, None)
            before[x] = now
        self._owed = dict([*before.items()][-MOST_OWED:])


class Polling:
    """When a peer is asked for IDs again that had none, though it need not wait for one.

    The machine would ask in each round, while what the peer has announced comes from another one.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._empty = 0  # Replies in a row.
        self._due = 0.0

    def replied(self, ids: int, now: float) -> None:
        """It had so many IDs."""
        self._empty = 0 if ids else self._empty + 1
        doubled = self._config.period * 2.0 ** min(self._empty - PATIENT, 32)
        # What has come is collected in time, else the peer would seem to be silent.
        longest = min(self._config.longest_poll, self._config.reply_timeout / 4)
        pause = 0.0 if self._empty <= PATIENT else min(doubled, longest)
        self._due = now + pause

    def left(self, now: float) -> float:
        """Seconds until it is asked."""
        return max(0.0, self._due - now)
