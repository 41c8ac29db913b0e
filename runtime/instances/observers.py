"""Observers: functions that are called after each event of an instance with what it did."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import repeat
from threading import get_ident
from typing import Any, Protocol

from lawful.spec.outcomes import MachineFault, Refused

from ..kernel.commit import NOT_FIRED, UNDECIDED
from ..kernel.dispatch import control, paused, save, undoing
from ..kernel.event_record import Stepped
from ..kernel.plan import Asserted, Way
from ..kernel.signal_handlers import of_a_handler
from ..kernel.state import UNKNOWN, State
from .enforcement import judge, kept
from .part_changes import PartsBefore

Observer = Callable[[Stepped], None]


class Log(Protocol):
    """A log that must accept an event before the event counts as happened.

    `write` sets `next` before it begins, and `kept` before the log can have the event. After an
    interrupt `kept` is read to its end: it has an item where the log has the event, and an
    exception of it says that the log cannot tell. If the log has the event, `at` becomes `next`.
    None of this runs Python code.
    """

    kept: Iterable[object]
    at: Any
    next: Any

    @property
    def held(self) -> bool:
        """Whether observers wait: what the log has of the last events may be rolled back."""
        ...

    def begin(self) -> None:
        """Get ready for an event that has not begun yet, or raise."""
        ...

    def write(self, done: Stepped) -> None:
        """Accept the event, or raise."""
        ...


class Follower(Protocol):
    """Looks at an instance after each of its events, also after those that are refused. It gets no
    record of them, whose making takes longer than most events."""

    def look(self) -> None:
        """An event is over."""
        ...

    def look_again(self) -> None:
        """The same, where an interrupt may have ended what `look` does."""
        ...


# Who runs an event, and who calls observers, is taken and tested without a lock, which would take a
# third of the memory of an instance. With the global lock no thread comes between a test and an
# assignment that follows it, since CPython changes threads where it delivers interrupts. Without it
# the threads are in these dictionaries by the `id` of the `Observed`: `setdefault` is one step.
LOCKED = getattr(sys, "_is_gil_enabled", lambda: True)()
_RUNNING: dict[int, Any] = {}
_TELLING: dict[int, Any] = {}
_NOBODY: Any = ()  # For all that have no observer.


class _Queue(list[tuple[tuple[Observer, ...], Stepped]]):
    """Events that observers have not heard of; `tells`: somebody tells them."""

    __slots__ = ("tells",)

    def __init__(self) -> None:
        self.tells = False


class Observed:
    """Runs the events of one instance, evaluates asserted properties, and calls the observers.

    Followers look once an event is over, before observers are told. Where there are followers only,
    no record is made. `log` gets an event first; if it raises, the event is undone, unless the log
    has it. An event
    that an observer calls runs at once, and is reported after the present one: all observers get
    the events in the order in which they happened. While a thread runs an event, another one that
    calls one gets a RuntimeError.

    An interrupt may come anywhere. CPython delivers it where a Python function begins, after a
    call of a function by name, and where a loop goes round. So the handlers below do none of these
    before the event is either undone or reported (see `dispatch.undoing`).
    """

    __slots__ = ("_runs", "_untold", "asserted", "followers", "log", "observers")

    def __init__(self, asserted: Asserted | None = None) -> None:
        self.observers: tuple[Observer, ...] = ()
        self.followers: tuple[Follower, ...] = ()
        self.asserted = asserted
        self.log: Log | None = None
        self._untold: _Queue = _NOBODY
        self._runs: int | None = None  # The thread that runs an event.

    def call(self, machine: State, way: str, args: tuple[Any, ...], fires: bool = False) -> Any:
        """Run the event and call the observers; returns or raises what the event did. One that a
        timer `fires` returns `NOT_FIRED` where it is refused, of which observers do not hear."""
        plan, log = machine.__plan__, self.log
        told = True  # Somebody gets a record.
        if log is not None:
            steps = plan.logs
        elif self.observers:
            steps = plan.tells
        else:
            steps, told = plan.runs, False
        step: Any = steps.get(way, UNDECIDED)
        if step is None or self.asserted is not None or not LOCKED:
            return self._run(machine, way, args, fires)
        if step is UNDECIDED:
            compiled: Any = (
                plan.logged if log is not None else plan.observed if told else plan.watched
            )
            steps[way] = compiled(way)
            return self.call(machine, way, args, fires)
        mine = get_ident()
        if self._runs is not None:
            raise self._concurrent(machine, way)
        self._runs = mine  # No call since the test: no other thread.
        try:
            try:
                if log is not None:
                    log.begin()
                if not told:
                    clocked = plan.clocked
                    output = paused(machine, step, args) if clocked else step(machine, *args)
                elif plan.timed:
                    output = paused(machine, step, (self, args))
                else:
                    output = step(machine, self, args)
            except Refused as refusal:
                if not fires:
                    self._refused(machine, plan.ways[way], args, refusal)
                raise
            finally:
                self._runs = None
            if self.followers and output is not UNDECIDED:
                for each in self.followers:
                    each.look()
        except BaseException as error:
            if fires and _not_fired(error):
                return NOT_FIRED
            self._ended(error, fires)
            raise
        if output is UNDECIDED:
            return self._run(machine, way, args, fires)
        if log is not None:
            log.kept = ()  # The event is over: nobody asks.
        self.tell()
        return output

    def _run(self, machine: State, way: str, args: tuple[Any, ...], fires: bool) -> Any:
        plan = machine.__plan__
        step = plan.runs.get(way)
        if step is None:
            step = plan.runs[way] = plan.watched(way)
        return self.run(machine, plan.ways[way], args, step, fires)

    def run(
        self,
        machine: State,
        way: Way,
        args: tuple[Any, ...],
        step: Callable[..., Any],
        fires: bool = False,
    ) -> Any:
        """The same for any step of this way, a function of the instance and the arguments. A fault
        of the machine is raised and not reported: nothing has happened."""
        if way.copies:
            known = machine.__environment__.universe
            args = tuple([check(a, known) for check, a in zip(way.checks, args, strict=True)])
        key, mine = id(self), get_ident()
        if LOCKED:
            runs = self._runs = self._runs or mine
        else:
            [runs] = map(_RUNNING.setdefault, (key,), (mine,))
        if runs is not mine:  # No call since it was taken: no interrupt between that and `try`.
            raise self._concurrent(machine, way.name)
        try:
            try:
                if machine.__plan__.timed:
                    output = paused(machine, self._step, (way, args, step, fires))
                else:
                    output = self._step(machine, way, args, step, fires)
            finally:
                self._runs = None
                if not LOCKED:
                    del _RUNNING[key]
            for each in self.followers:
                each.look()
        except BaseException as error:
            if fires and _not_fired(error):
                return NOT_FIRED
            self._ended(error, fires)
            raise
        if self.log is not None:
            self.log.kept = ()  # The event is over: nobody asks.
        self.tell()
        return output

    def at_rest(self, act: Callable[[], Any]) -> Any:
        """Do it while no event runs; RuntimeError if one does."""
        key, mine = id(self), get_ident()
        if LOCKED:
            runs = self._runs = self._runs or mine
        else:
            [runs] = map(_RUNNING.setdefault, (key,), (mine,))
        if runs is not mine:
            raise RuntimeError("an event of this instance is not over")
        try:
            return act()
        finally:
            self._runs = None
            if not LOCKED:
                del _RUNNING[key]

    def _concurrent(self, machine: State, way: str) -> RuntimeError:
        runs = self._runs if LOCKED else _RUNNING.get(id(self))
        mine = bool(runs == get_ident())  # Of a signal handler, say.
        who = "an event of this instance is not over" if mine else "another thread runs an event"
        how = "send the events of all threads through one runner, lawful.runtime.runner.Runner"
        return RuntimeError(f"{type(machine).__name__}.{way}: {who}; {how}")

    def _step(
        self,
        state: State,
        way: Way,
        args: tuple[Any, ...],
        step: Callable[..., Any],
        fires: bool,
    ) -> Any:
        if self.log is not None:
            self.log.begin()
        parts = PartsBefore(state, way) if way.composite else None
        at, values = control(state), way.read(state)
        undo: Iterator[object] = map(setattr, repeat(state), way.slots, values)
        if parts is not None or way.grows:
            undo = undoing(save(state, way))
        log: Log | None = None
        rows: tuple[tuple[tuple[Observer, ...], Stepped], ...] = ()
        try:
            if self.asserted is None:
                output = step(state, *args)
            else:
                output = self._judged(state, way, args, step)
            ran = state.__environment__.last_transition
            controls = at, control(state)
            both = (*values, *way.read(state)) if parts is None and ran else ()
            done = Stepped.made(
                state, way, args, ran=ran, controls=controls, values=both, output=output
            )
            if parts is not None and ran:
                done = done.with_parts(*parts.changed(state))
            rows = ((self.observers, done),) if self.observers else ()
            if self.log is not None:
                self.log.kept = ()
                log = self.log
                log.write(done)
            if rows:
                self._untold += rows  # Last, and no call: what comes later is no interrupt of this.
        except Refused as refusal:
            if not fires:
                self._refused(state, way, args, refusal)
            raise
        except BaseException:  # Undo it, unless the log has it: a signal's may be any exception.
            there: list[object] | None = []
            try:
                there = [] if log is None else [*log.kept]
            except Exception:
                there = None
            if there is None:
                state.__watch__ = UNKNOWN
            elif not there or log is None:
                _ = [*undo]
            else:
                log.at = log.next
                if rows:
                    self._untold += rows
            raise
        return output

    def _judged(
        self, machine: State, way: Way, args: tuple[Any, ...], step: Callable[..., Any]
    ) -> Any:
        """Run the step and evaluate the asserted properties."""
        assert self.asserted is not None
        before = kept(machine, self.asserted)
        output = step(machine, *args)
        judge(self.asserted, machine, way.event, before)
        return output

    def _refused(self, state: State, way: Way, args: tuple[Any, ...], refusal: Refused) -> None:
        """Queue a refused event for all observers: they get it now, or before the next event."""
        if self.observers:
            at = control(state)
            why = refusal.untraced()
            done = Stepped.made(state, way, args, ran=None, controls=(at, at), refused=why)
            self._untold += ((self.observers, done),)

    def _ended(self, error: BaseException, fires: bool) -> None:
        """An event has ended with this error: have followers look, and tell observers.

        After a fault of the machine there is nothing to see, and who fires a timer puts it off."""
        try:
            for each in self.followers:
                if isinstance(error, Refused):
                    each.look()
                elif not isinstance(error, Exception) or of_a_handler(error):
                    each.look_again()
                elif not fires and not isinstance(error, MachineFault):
                    each.look()
        finally:
            self.tell()

    def look_again(self) -> None:
        """Have followers look, where events that they have looked at were rolled back."""
        for each in self.followers:
            each.look_again()

    def tell(self) -> None:
        """Call the queued observers, unless the log holds them back; raise their first exception,
        the others noted in it.

        Where another call does so already, that one goes on: the one that called the observer that
        caused this event, or one of another thread."""
        untold = self._untold
        first: BaseException | None = None
        while untold and not (self.log is not None and self.log.held):
            if LOCKED:
                tells, untold.tells = untold.tells, True
            else:
                mine = get_ident()
                [taken] = map(_TELLING.setdefault, (id(self),), (mine,))
                tells = taken is not mine
            if tells:
                break  # Who has it looks once more after it was released.
            try:
                while untold:
                    observers, done = untold[0]
                    if len(observers) > 1:
                        untold[0] = observers[1:], done
                    else:
                        del untold[0]
                    if not observers:  # The last one was taken away while the event ran.
                        continue
                    try:  # An interrupt comes before the row was read, or in the observer.
                        observers[0](done)
                    except BaseException as error:  # After Ctrl-C, too, the others are called.
                        first = foremost(first, error, "another observer")
            finally:
                untold.tells = False
                if not LOCKED:
                    del _TELLING[id(self)]
        if first is not None:
            raise first

    @property
    def runs(self) -> bool:
        """Whether an event of the instance is not over."""
        return (self._runs if LOCKED else _RUNNING.get(id(self))) is not None

    @property
    def needed(self) -> bool:
        """Whether events have to go through it."""
        called = self.observers or self.followers
        return bool(called) or self.asserted is not None or self.log is not None

    def awaits(self, observer: Observer) -> bool:
        """Whether events are queued for this observer."""
        return any(observer in observers for observers, _ in tuple(self._untold))

    def add(self, observer: Observer) -> None:
        """Call it after each event from now on."""
        self._queue()
        self.observers += (observer,)

    def _queue(self) -> None:
        """Make the queue of events that observers have not heard of."""
        if self._untold is _NOBODY:
            self._untold = _Queue()

    def forget(self, observer: Observer) -> None:
        """Remove an observer and what is queued for it."""
        if observer in self.observers:
            at = self.observers.index(observer)
            self.observers = self.observers[:at] + self.observers[at + 1 :]
        rows = [
            (tuple(each for each in observers if each != observer), done)
            for observers, done in self._untold
        ]
        self._untold[:] = [row for row in rows if row[0]]

    def dropping(self) -> Iterator[object]:
        """Observers never hear of the events from now on until this is read to its end, if these
        are held back. It runs no Python code then."""
        self._queue()
        return map(self._untold.__delitem__, (slice(len(self._untold), None),))


def _not_fired(error: BaseException) -> bool:
    """Whether the event was refused; not where a signal handler has raised this."""
    return isinstance(error, Refused) and not of_a_handler(error)


def foremost(first: BaseException | None, error: BaseException, who: str) -> BaseException:
    """Which of two exceptions to raise, with the other as a note.

    It is the first, unless only the second is no `Exception`, such as KeyboardInterrupt.
    """
    if first is None:
        return error
    if isinstance(first, Exception) and not isinstance(error, Exception):
        first, error = error, first
    first.add_note(f"{who} raised {error!r}")
    return first
