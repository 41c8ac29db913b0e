"""How a peer has treated its node, over all its connections: how soon it is dialled again, and how
soon it is asked for IDs where it had none."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..messages import ObjectId
from .settings import Config

MOST_OWED = 1_000  # Objects of one peer; of more, those that it owes for longest are forgotten.
PATIENT = 4  # Replies without IDs in a row, before the node waits for longer than a period.


class Reputation:
    """The pause before a peer is dialled again. It doubles, up to `Config.longest_redial`, where
    the peer lied, where it owes what it owed before, and where it brought less than it owes.

    A peer owes an object that it was asked for over a connection that has ended, as long as the
    pool lacks it. While it owes one, the pause does not go back: else a peer that sends other
    objects, or only hangs up, could keep that one for itself for ever.
    """

    def __init__(self, config: Config) -> None:
        self.pause = config.redial
        self._config = config
        self._owed: dict[ObjectId, None] = {}

    def ended(
        self, asked: Iterable[ObjectId], brought: int, lied: bool, has: Callable[[ObjectId], bool]
    ) -> None:
        """A connection has ended. `asked`: what it was asked for and did not bring into the pool;
        `has`: whether an object is there."""
        before = {x: None for x in self._owed if not has(x)}
        now = [x for x in asked if not has(x)]
        if lied or brought < len(now) or any(x in before for x in now):
            longest = max(self._config.redial, self._config.longest_redial)
            self.pause = min(2 * self.pause, longest)
        elif not before:
            self.pause = self._config.redial
        owed = [*before, *(x for x in now if x not in before)]
        self._owed = dict.fromkeys(owed[-MOST_OWED:])


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
