"""The threads of a service, and what they meet at: those of the operating system, or simulated
ones."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Protocol


class Event(Protocol):
    """A flag that threads wait for."""

    def set(self) -> None: ...

    def wait(self, timeout: float | None = None) -> bool: ...


class Lock(Protocol):
    """Excludes other threads; not reentrant."""

    def acquire(self) -> object: ...

    def release(self) -> None: ...


class Threads(Protocol):
    """Makes locks and events, starts threads, and lets one sleep."""

    def lock(self) -> Lock: ...

    def event(self) -> Event: ...

    def sleep(self, seconds: float) -> None: ...

    def start(self, run: Callable[[], object], name: str) -> None: ...


class SystemThreads:
    """The threads of the operating system."""

    def lock(self) -> Lock:
        return threading.Lock()

    def event(self) -> Event:
        return threading.Event()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def start(self, run: Callable[[], object], name: str) -> None:
        threading.Thread(target=run, name=name, daemon=True).start()
