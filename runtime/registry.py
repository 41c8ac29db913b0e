"""The instances of one machine in a store, of which only some are in memory.

    tills = Registry(store, Till, most=10_000)
    tills.add(Till(), "a")
    with tills.use("a") as till:           # restored, if it is not in memory
        till.pay(5)
    tills.fire_due(fired)                  # also those of instances that are not in memory

An instance stays in memory until `most` others were used since; then the store releases it. While
somebody uses it, it stays. When its next timer is due is in the store, so no instance is restored
before it has something to do.

An interrupt may come anywhere: an instance that is no longer used has to be known as such without
any code that runs at the end. So each use holds an object, which the registry knows weakly.
"""

from __future__ import annotations

import threading
import time as clocks
import weakref
from collections import OrderedDict
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Generic, TypeVar

from lawful.spec.outcomes import MachineFault
from lawful.spec.values.time import clock_of

from .deadlines import later_pause
from .instances.access import Fired
from .instances.observers import foremost
from .kernel.state import Closed
from .store import Due, Store

if TYPE_CHECKING:
    from .instance import Machine

M = TypeVar("M", bound="Machine")
Perform = Callable[[str, Fired], None]
FEW_USES = 64


class _Use:
    """There is one while somebody uses an instance."""

    __slots__ = ("__weakref__",)


class Registry(Generic[M]):
    """Instances of `cls` by their names in the store.

    `restore` brings one back, for what it needs (`clock=`, `renamed=`, observers); by default that
    is `store.restore(cls, name, timers="deadline")`. The time of timers is the wall clock's then:
    they run on while an instance is not in memory. Any thread may use a registry; the events of one
    instance still go through one runner if several threads call them.
    """

    def __init__(
        self,
        store: Store,
        cls: type[M],
        *,
        most: int = 10_000,
        restore: Callable[[str], M] | None = None,
    ) -> None:
        if type(most) is not int or most < 1:
            raise ValueError(f"a registry holds one instance or more, not {most!r}")
        self.store = store
        self.cls = cls
        self.most = most
        self._restore = self._restored if restore is None else restore
        self._alive: OrderedDict[str, M] = OrderedDict()  # The one that was used last is the last.
        self._uses: dict[str, weakref.ref[_Use]] = {}  # Some of them are over.
        self._most_uses = FEW_USES
        self._lock = threading.RLock()
        self._refused: dict[str, Due] = {}  # What was due and not possible.
        # When to try again what has failed, and how long that waited.
        self._late: dict[str, tuple[float, float]] = {}

    def _restored(self, name: str) -> M:
        return self.store.restore(self.cls, name, timers="deadline")

    def __len__(self) -> int:
        """How many instances are in memory."""
        return len(self._alive)

    def __contains__(self, name: str) -> bool:
        """Whether the store has the instance."""
        return name in self._alive or name in self.store

    def add(self, entry: M, name: str) -> M:
        """Store a new instance. Raises as `Store.add`."""
        with self._lock:
            self.store.add(entry, name)
            self._alive[name] = entry
            self._make_room()
        return entry

    @contextmanager
    def use(self, name: str) -> Generator[M]:
        """The instance, which stays in memory inside the `with`. Outside it may be released: then
        its events raise RuntimeError. Raises as `Store.restore`."""
        with self._lock:
            entry = self._found(name)
            use = self._use(name)
            if use is None:
                use = _Use()
                if len(self._uses) >= self._most_uses:
                    self._forget()
                self._uses[name] = weakref.ref(use)
        try:
            self._make_room()
            yield entry
        finally:
            del use  # The traceback of an exception holds this frame.

    def _found(self, name: str) -> M:
        """The instance in memory. One that takes no further event is restored, and one that another
        process has written."""
        entry = self._alive.get(name)
        if entry is None or isinstance(entry.__watch__, Closed) or name in self.store.stale:
            self._alive[name] = self._restore(name)
        self._alive.move_to_end(name)
        return self._alive[name]

    def _forget(self) -> None:
        """Forget the uses that are over. Then twice as many may come before the next time, so that
        a use costs the same however many there are."""
        self._uses = {name: use for name, use in self._uses.items() if use() is not None}
        self._most_uses = max(FEW_USES, 2 * len(self._uses))

    def _use(self, name: str) -> _Use | None:
        use = self._uses.get(name)
        return None if use is None else use()

    def release(self, name: str) -> None:
        """Take an instance out of memory; nothing happens if it is not there. RuntimeError while it
        is used."""
        with self._lock:
            if self._use(name) is not None:
                raise RuntimeError(f"{name} is used")
            if name in self._alive:
                if not isinstance(self._alive[name].__watch__, Closed):
                    self.store.release(name)
                del self._alive[name]
                self._uses.pop(name, None)

    def _make_room(self) -> None:
        """Release those that were used longest ago, but one that runs an event all the same."""
        with self._lock:
            unused = (name for name in list(self._alive) if self._use(name) is None)
            while len(self._alive) > self.most and (name := next(unused, None)) is not None:
                with suppress(RuntimeError):
                    self.release(name)

    # Timers.

    def next_due(self) -> float | None:
        """When to call `fire_due` next, in seconds since 1970; None while no timer is armed."""
        first: float | None = None
        for due in self.store.due(self.cls):
            if first is not None and due.at >= first:
                break
            if self._is_new(due):
                at = self._at(due)
                first = at if first is None else min(first, at)
        return first

    def fire_due(self, perform: Perform, now: float | None = None) -> int:
        """Fire the timers that are due, the earliest first; returns how many fired. `perform` is
        called with the name of the instance and what fired.

        Each instance is visited once. One whose transitions are all refused, or fail by a fault of
        the machine, is visited again after its next event, and each time if its machine has a
        `Clock`; one that met another error, a locked database say, in 1, 2, 4 and so on up to 64
        seconds. An exception, from a machine or
        from `perform`, stops no other; in the end the first one is raised, the others as notes.
        """
        until = clocks.time() if now is None else now
        count, first = 0, None
        found = list(self.store.due(self.cls, until))
        self._refused = {due.name: due for due in found if not self._is_new(due)}
        self._late = {due.name: self._late[due.name] for due in found if due.name in self._late}
        for due in found:
            if due.name in self._refused or self._at(due) > until:
                continue
            try:
                count += self._visit(due, perform, until)
            except Exception as error:
                first = foremost(first, error, due.name)
        if first is not None:
            raise first
        return count

    def _is_new(self, due: Due) -> bool:
        """Whether the timer was not refused since the instance's last event."""
        return self._refused.get(due.name) != due

    def _at(self, due: Due) -> float:
        """When to visit an instance that is due: later, where it has failed."""
        return max(due.at, self._late[due.name][0]) if due.name in self._late else due.at

    def _put_off(self, due: Due, error: Exception, until: float) -> None:
        """Note when to visit an instance again that has failed; one that another process has
        written is restored then, and waits for nothing."""
        _, before = self._late.pop(due.name, (0.0, 0.0))
        pause = later_pause(error, before)
        if pause and due.name not in self.store.stale:
            self._late[due.name] = until + pause, pause

    def _visit(self, due: Due, perform: Perform, until: float) -> int:
        found = False
        try:
            with self.use(due.name) as entry:
                found = True
                return self._fire(due, entry, perform, until)
        except Exception as error:
            if not found:
                self._put_off(due, error, until)
            raise

    def _fire(self, due: Due, entry: M, perform: Perform, until: float) -> int:
        """Fire what is due of an instance; how many fired."""
        fired: list[Fired] = []
        first: BaseException | None = None
        now = entry.__environment__.clock.now()
        deadline = entry.lawful.next_deadline()
        try:
            entry.lawful.fire(now, fired)
            self._late.pop(due.name, None)
        except Exception as error:
            first = error
            self._put_off(due, error, until)
        impossible = first is None or isinstance(first, MachineFault)
        for each in fired:
            try:
                perform(due.name, each)
            except Exception as error:
                first = foremost(first, error, due.name)
        if deadline is None or deadline > now:  # It would be found for ever.
            self.store.correct_due(due.name)
        elif impossible and not fired and clock_of(entry.lawful.plan.machine) is None:
            self._refused[due.name] = due
        if first is not None:
            raise first
        return len(fired)
