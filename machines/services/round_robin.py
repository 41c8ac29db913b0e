"""What several connections have read, handled by turns."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

AT_ONCE = 32  # Steps, before the event loop has its turn.
LONGEST = 0.05  # Seconds after which it has its turn before that.

Step = Callable[[], bool]


class RoundRobin:
    """Takes a step of each connection in turn. After `AT_ONCE` steps, or `LONGEST` seconds, the
    event loop's timers and sockets come first: so heartbeats are in time, however much has come. A
    connection whose step raises has no more turns."""

    def __init__(self) -> None:
        self._steps: deque[Step] = deque()
        self._held = False
        self._due = False

    def add(self, step: Step) -> None:
        """Call it again and again, until it returns false: then nothing is left to do."""
        self._steps.append(step)
        self._go_on()

    def hold(self, held: bool) -> None:
        """Whether no step is taken from now on."""
        self._held = held
        self._go_on()

    def _go_on(self) -> None:
        if self._steps and not self._held and not self._due:
            self._due = True
            asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        self._due = False
        loop = asyncio.get_running_loop()
        end = loop.time() + LONGEST
        try:
            for _ in range(AT_ONCE):
                if not self._steps or self._held or loop.time() > end:
                    break
                step = self._steps.popleft()
                if step():
                    self._steps.append(step)
        finally:
            self._go_on()
