"""What the application is told of payloads of which nobody knows whether they have arrived."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable

from ..messages import Dropped


class Doubts:
    """Passes reports of the endpoint `name` to `on_dropped`, if the application gave one. What it
    raises goes to the exception handler of the loop.

    `counts`: payloads `in_doubt`, and how often it has `raised`.
    """

    def __init__(
        self,
        name: str,
        on_dropped: Callable[[str, Dropped], None] | None,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self.counts: Counter[str] = Counter()
        self._name = name
        self._on_dropped = on_dropped
        self._loop = loop

    def tell(self, peer: str, dropped: Dropped) -> None:
        """Pass on this report, which has whole payloads."""
        self.counts["in_doubt"] += len(dropped.in_doubt)
        if self._on_dropped is None:
            return
        try:
            self._on_dropped(peer, dropped)
        except Exception as error:
            self.counts["raised"] += 1
            message = f"on_dropped of {self._name} raised, of the peer {peer}"
            self._loop.call_exception_handler({"message": message, "exception": error})
