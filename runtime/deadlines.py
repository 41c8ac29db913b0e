"""The timers of many instances, on one heap.

    deadlines = Deadlines()
    deadlines.add(entry, perform)       # perform(fired) for each timer of it that fires
    deadlines.next_deadline()           # when to come back
    deadlines.fire_due(clock.now())

Nothing here waits or has a thread. `Deadlines` follows its instances, so nobody has to report a
changed timer. An item of the heap says only when to look at an instance; the instance's state then
decides what fires, so a timer that was stopped, or started again for later, does not fire. If a
timer is started again for later, the heap stays as it is: its item comes up at the old time and is
queued anew.

An interrupt may come anywhere, and no timer is lost. An instance whose item was taken off the heap
is in `_unseen` until it is queued again. Where an interrupt ends a look after an event, or comes
before it, another look follows.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING

from lawful.spec import types as t
from lawful.spec.outcomes import MachineFault
from lawful.spec.values.time import clock_of

from .instances.access import Fired, deadlines_of, first_deadline
from .instances.observers import foremost
from .kernel.state import Closed

if TYPE_CHECKING:
    from .instance import Machine

Perform = Callable[[Fired], None]
LONGEST = 64.0  # Seconds until a timer is tried again whose transition has failed.


class _Watched:
    """An instance in `Deadlines`, and its `Follower`; `queued`: the time of its valid item in the
    heap, if any; `pause`: in how many seconds it is tried again, after an error that was none of
    the machine."""

    __slots__ = ("entry", "gone", "number", "of", "pause", "perform", "queued", "tick")

    def __init__(self, of: Deadlines, entry: Machine, perform: Perform, number: int) -> None:
        self.of = of
        self.entry = entry
        self.perform = perform
        self.number = number
        self.queued: float | None = None
        self.gone = False
        self.pause = 0.0
        clock = clock_of(entry.lawful.plan.machine)
        self.tick = clock.type.tick if clock and isinstance(clock.type, t.Clock) else None

    def look(self) -> None:
        self.of.look(self)

    def look_again(self) -> None:
        self.of.look_again(self)


class Deadlines:
    """Fires the timers of all instances that were added; they share one clock."""

    __slots__ = ("_heap", "_live", "_numbers", "_sooner", "_unseen")

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, _Watched]] = []
        self._numbers = count()
        self._live = 0
        self._sooner: Callable[[], None] | None = None
        self._unseen: dict[_Watched, None] = {}

    def __len__(self) -> int:
        """How many items the heap has, stale ones included."""
        return len(self._heap)

    def add(self, entry: Machine, perform: Perform) -> Callable[[], None]:
        """Fire the instance's timers from now on; `perform` is called with each `Stepped` that
        fired.

        Returns a function that ends this. Errors: RuntimeError for a part, and before an `@initial`
        was called.
        """
        row = _Watched(self, entry, perform, next(self._numbers))
        detach = entry.lawful.follow(row)
        self._live += 1
        self.look(row)
        return lambda: self._end(row, detach)

    def driven(self, sooner: Callable[[], None]) -> Callable[[], None]:
        """Call `sooner` whenever the next deadline has become an earlier one, for who waits for
        it (see `driving`); gives the function that ends it. RuntimeError where another waits."""
        if self._sooner is not None:
            raise RuntimeError("somebody drives these deadlines already")
        self._sooner = sooner
        return lambda: self._undriven(sooner)

    def _undriven(self, sooner: Callable[[], None]) -> None:
        if self._sooner is sooner:
            self._sooner = None

    def next_deadline(self) -> float | None:
        """When to look next; None while no timer is armed. Never later than the next timer is
        due; it may be earlier, where that was put off."""
        self._catch_up()
        while self._heap and _stale(self._heap[0]):
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def fire_due(self, now: float) -> int:
        """Fire the timers that are due at `now`, the earliest deadline first; returns how many
        fired.

        Each instance is visited once in a call, so the call ends. A timer whose transitions are
        refused, or fail by a fault of the machine, is tried again after the next event of its
        instance (and at the next tick of its `Clock`); after another error, a locked database say,
        in 1, 2, 4 and so on up to 64 seconds. An exception, from a machine or from `perform`, stops
        neither other timers nor calls of `perform`; in the end the first exception is raised, with
        the others as notes.
        """
        count, first = 0, None
        for row in self._due(now):
            fired: list[Fired] = []
            pause = 0.0
            try:
                row.entry.lawful.fire(now, fired)
            except Exception as error:
                first = foremost(first, error, "another instance")
                pause = later_pause(error, row.pause)
            row.pause = pause
            for each in fired:
                count += 1
                try:
                    row.perform(each)
                except Exception as error:
                    first = foremost(first, error, "another instance")
            self._put_off(row, now)
        if first is not None:
            raise first
        return count

    def _due(self, now: float) -> list[_Watched]:
        """Take the instances off the heap whose items say `now` or earlier; they are unseen."""
        self._catch_up()
        while self._heap and self._heap[0][0] <= now:
            row = self._heap[0][2]
            if not _stale(self._heap[0]):
                self._unseen[row] = None
                row.queued = None  # Before its item goes.
            heapq.heappop(self._heap)
        return list(self._unseen)

    def _catch_up(self) -> None:
        """Look at the instances at which an interrupt has kept somebody from looking."""
        for row in list(self._unseen):
            self.look(row)

    def look(self, row: _Watched) -> None:
        """After an event: queue the instance if it is due earlier than the heap says."""
        due = first_deadline(row.entry)
        if due is not None:
            self._queue(row, due)
        self._unseen.pop(row, None)

    def look_again(self, row: _Watched) -> None:
        """Look, and tell who waits, where an interrupt came in between."""
        self.look(row)
        if self._sooner is not None:
            self._sooner()

    def _put_off(self, row: _Watched, now: float) -> None:
        """After its timers were fired: queue the instance for its later deadlines.

        A timer that was due and refused is tried again only after an event, or at the next tick
        where the machine reads its `Clock`: else its guards cannot have changed."""
        due = list(deadlines_of(row.entry))
        later = [at for at in due if at > now]
        if row.tick is not None and len(later) < len(due):
            later.append(now + row.tick)
        if row.pause and len(later) < len(due) and not isinstance(row.entry.__watch__, Closed):
            later.append(now + row.pause)
        if later:
            self._queue(row, min(later))
        self._unseen.pop(row, None)

    def _queue(self, row: _Watched, due: float) -> None:
        if row.gone or (row.queued is not None and row.queued <= due):
            return
        row.queued = due
        heapq.heappush(self._heap, (due, row.number, row))
        if self._sooner is not None and self._heap[0][2] is row:
            self._sooner()
        if len(self._heap) > 2 * self._live + 64:
            self._heap = [each for each in self._heap if not _stale(each)]
            heapq.heapify(self._heap)

    def _end(self, row: _Watched, detach: Callable[[], None]) -> None:
        detach()
        self._live -= not row.gone
        row.gone, row.queued = True, None
        self._unseen.pop(row, None)


def later_pause(error: Exception, before: float) -> float:
    """In how many seconds to try a timer again whose transition has failed, where that was tried
    again after so many `before`; 0.0 for a fault of the machine, which it would meet again."""
    return 0.0 if isinstance(error, MachineFault) else min(LONGEST, 2 * before or 1.0)


def _stale(item: tuple[float, int, _Watched]) -> bool:
    """Whether the instance has a newer item, or was removed."""
    return item[2].queued != item[0]
