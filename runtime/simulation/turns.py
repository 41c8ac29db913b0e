"""Simulated time, and threads that take turns: one runs at a time, and a seed says which.

    world = World(seed=7)
    world.start(client, "client")       # a function, which meets others at world.lock() and event()
    world.run()                         # until all threads have ended

Each simulated thread is one of the operating system, but runs only while it has the turn. It gives
the turn away where it takes or releases a lock, sets or awaits an event, or sleeps; the world's
random numbers choose who goes on. When nobody can, the time goes on to the next moment at which
somebody can. So everything that happens follows from the seed, and takes no real time.

This project runs from Python 3.11; simloop and simloom, which replace asyncio's event loop in the
same way, need 3.12 and have no threads, seedloop is of alpha state and has no network.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable


class Stuck(Exception):
    """No thread can ever go on, or the time is over, or it stands still; the message names the
    threads."""


class Abandoned(BaseException):
    """Ends a thread of a world that was given up."""


class _Thread:
    """`ready`: whether it can go on; `until`: when it goes on in any case."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.turn = threading.Lock()
        self.turn.acquire()
        self.ready: Callable[[], bool] | None = None
        self.until: float | None = None

    def can_go_on(self, now: float) -> bool:
        if self.ready is None or self.ready():
            return True
        return self.until is not None and self.until <= now


class World:
    """Time in seconds from 0 to `limit`, threads, and random numbers. `turns` counts the turns
    taken; at most `still` of them may follow one another without time."""

    def __init__(self, seed: int, limit: float = 3_600.0, still: int = 10_000) -> None:
        self.random = random.Random(seed)
        self.time = 0.0
        self.turns = 0
        self._limit = limit
        self._still = still
        self._moved = 0  # The number of the turn before which time went on.
        self._threads: list[_Thread] = []
        self._current: _Thread | None = None
        self._ended = threading.Lock()
        self._ended.acquire()
        self._error: BaseException | None = None

    def now(self) -> float:
        """The time, in seconds."""
        return self.time

    def start(self, run: Callable[[], object], name: str) -> None:
        """Start a thread; it begins when it has the turn."""
        thread = _Thread(name)
        self._threads.append(thread)
        threading.Thread(target=self._live, args=(thread, run), name=name, daemon=True).start()

    def run(self) -> None:
        """Let the threads take turns until all have ended; raises what one of them raises, and
        Stuck."""
        self._pass_on()
        self._ended.acquire()
        if self._error is not None:
            raise self._error

    def pause(self, ready: Callable[[], bool] | None = None, until: float | None = None) -> None:
        """Give the turn away, and go on when `ready()` is true or the time is `until`. Outside of
        a world's threads nothing happens."""
        me = self._current
        if me is None:
            return
        if self._error is not None:
            raise Abandoned
        me.ready, me.until = ready, until
        if self._pass_on() is not me:
            me.turn.acquire()
        if self._error is not None:
            raise Abandoned

    def sleep(self, seconds: float) -> None:
        """Go on so many seconds later."""
        self.pause(_never, self.time + seconds)

    def lock(self) -> Lock:
        """A lock between threads of this world."""
        return Lock(self)

    def event(self) -> Event:
        """A flag that threads of this world wait for."""
        return Event(self)

    def _live(self, thread: _Thread, run: Callable[[], object]) -> None:
        thread.turn.acquire()
        try:
            if self._error is None:
                run()
        except Abandoned:
            pass
        except BaseException as error:
            self._error = self._error or error
        self._threads.remove(thread)
        self._pass_on()

    def _pass_on(self) -> _Thread | None:
        """Choose who has the turn, and give it to them unless it is whoever has it."""
        chosen = self._choose()
        before, self._current = self._current, chosen
        self.turns += 1
        if chosen is None:
            self._ended.release()
        elif chosen is not before:
            chosen.turn.release()
        return chosen

    def _choose(self) -> _Thread | None:
        if not self._threads:
            return None
        if self._error is not None:  # All others come to their ends.
            return self._threads[0]
        while True:
            able = [thread for thread in self._threads if thread.can_go_on(self.time)]
            if able and self.turns - self._moved > self._still:
                return self._stuck(f"there were {self._still} turns without time", able)
            if able:
                return able[0] if len(able) == 1 else self.random.choice(able)
            moments = [thread.until for thread in self._threads if thread.until is not None]
            if not moments or min(moments) > self._limit:
                why = "the time is over" if moments else "nobody can go on"
                return self._stuck(why, self._threads)
            self.time = min(moments)
            self._moved = self.turns

    def _stuck(self, why: str, threads: list[_Thread]) -> _Thread:
        names = ", ".join(thread.name for thread in threads)
        self._error = Stuck(f"at {self.time:.3f} s {why}: {names}")
        return self._threads[0]


def _never() -> bool:
    return False


class Lock:
    """Excludes the other threads of a world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._held = False

    def acquire(self) -> None:
        """Wait until nobody has it."""
        self._world.pause(lambda: not self._held)
        self._held = True

    def release(self) -> None:
        """Let another have it."""
        self._held = False
        self._world.pause()


class Event:
    """A flag that threads of a world wait for."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._flag = False

    def set(self) -> None:
        """Let all go on who wait."""
        self._flag = True
        self._world.pause()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it is set, or so many seconds; whether it is set."""
        until = None if timeout is None else self._world.time + timeout
        self._world.pause(lambda: self._flag, until)
        return self._flag
