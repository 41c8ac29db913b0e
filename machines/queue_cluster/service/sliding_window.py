"""What a broker says, and how much of it is under way at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable


class SlidingWindow:
    """Sends lines in their order, while at most `most_lines` of them, and `most` bytes, have not
    come back; one line may be longer. `on_full(full)`: as many lines or bytes wait to be sent as
    may be under way, or fewer again."""

    def __init__(
        self,
        most_lines: int,
        most: int,
        send: Callable[[bytes], None],
        on_full: Callable[[bool], None],
    ) -> None:
        self._most_lines = most_lines
        self._most = most
        self._send = send
        self._on_full = on_full
        self._full = False
        self._waiting: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._sent: deque[int] = deque()  # The sizes of lines that have not come back.
        self._sent_bytes = 0

    def add(self, line: bytes) -> None:
        """Send it, now or later."""
        self._waiting.append(line)
        self._waiting_bytes += len(line)
        self._go_on()

    def came_back(self) -> None:
        """The first line that was under way has come back. Errors: IndexError if none was."""
        self._sent_bytes -= self._sent.popleft()
        self._go_on()

    def _go_on(self) -> None:
        while self._waiting and (not self._sent or self._has_room(len(self._waiting[0]))):
            line = self._waiting.popleft()
            self._waiting_bytes -= len(line)
            self._sent.append(len(line))
            self._sent_bytes += len(line)
            self._send(line)
        full = self._waiting_bytes >= self._most or len(self._waiting) >= self._most_lines
        if full != self._full:
            self._full = full
            self._on_full(full)

    def _has_room(self, size: int) -> bool:
        return len(self._sent) < self._most_lines and self._sent_bytes + size <= self._most
