"""Observers: functions that are called after each event of an instance with what it did."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import repeat
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol

from lawful.spec.analysis.callee import bind
from lawful.spec.outcomes import Reason, Refused

from ..kernel.dispatch import save, undoing
from ..kernel.plan import Asserted, Plan, Way
from ..kernel.state import Closed, State
from .enforcement import judge, kept
from .part_changes import Changes, PartsBefore, viewed

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    M_co = TypeVar("M_co", bound=State, covariant=True, default=Any)
else:  # A default is Python 3.13's; type checkers know it of every version.
    from typing import TypeVar

    M_co = TypeVar("M_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Stepped(Generic[M_co]):
    """One event of one instance, which is an `M_co`; plain `Stepped` is of any machine.

    `transition`: the one that ran, or that was called by its own name; otherwise None. `args`: the
    arguments by name. `before` and `after`: names of the control state, None if the machine has
    none. `changed`: the variables whose values have changed, with their new values as code outside
    reads them (a part is a copy). `reasons`: the reasons of a refusal. `time`: seconds of the
    instance's clock.
    """

    instance: M_co
    event: str
    transition: str | None
    args: Mapping[str, Any]
    outcome: Literal["done", "refused", "ignored"]
    before: str | None
    after: str | None
    changed: Mapping[str, Any]
    output: Any
    reasons: tuple[Reason, ...]
    time: float
    _later: tuple[Any, ...] | None = field(default=None, init=False, repr=False, compare=False)
    _inside: Changes | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def inside(self) -> Changes:
        """The values before and after, as they are inside, of what has changed and is no part; for
        the runtime's own use."""
        if self._inside is None:
            object.__setattr__(self, "_inside", {} if self._later is None else _inner(self._later))
        return self._inside or {}

    @property
    def moved(self) -> Changes:
        """The same, with values that are other objects and may be equal: nothing is compared."""
        return self.inside if self._later is None else _moved(self._later)

    if not TYPE_CHECKING:  # Type checkers know the fields.

        def __getattr__(self, name: str) -> Any:
            """A field of a `Stepped` that nobody has read yet: most observers read few. Only
            `changed` needs the values before and after to be compared."""
            if name == "_inside":
                return None
            later = None if name == "_later" else self._later
            if later is None or name not in Stepped.__slots__:
                raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
            if name == "changed":
                _SET(self, name, _told(later, self.inside))
            for key, value in zip(_SIMPLE, _fields(later), strict=True):
                _SET(self, key, value)
            if name == "changed":
                _SET(self, "_later", None)
            return _READ(self, name)


_SIMPLE = tuple(each for each in Stepped.__slots__ if each != "changed" and each[0] != "_")
Observer = Callable[[Stepped], None]


class Log(Protocol):
    """A log that must accept an event before the event counts as happened.

    `write` sets `kept` and `next` before it begins. After an interrupt `kept` is read to its end:
    it has an item where the log has the event, and an exception of it says that the log cannot
    tell. If the log has the event, `at` becomes `next`. None of this runs Python code.
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


UNKNOWN = Closed(
    "its log does not say whether it has the last event: restore the instance, and use that one"
)
# The threads that run events, and that call observers, by the `id` of the `Observed`. Locks of its
# own would take a third of the memory of an instance. `setdefault` is one step of C, as a lock is.
_RUNNING: dict[int, tuple[int]] = {}
_TELLING: dict[int, tuple[int]] = {}
_NOBODY: Any = ()  # For all that have no observer.


class Observed:
    """Runs the events of one instance, evaluates asserted properties, and calls the observers.

    `log` gets an event first; if it raises, the event is undone, unless the log has it. An event
    that an observer calls runs at once, and is reported after the present one: all observers get
    the events in the order in which they happened. While a thread runs an event, another one that
    calls one gets a RuntimeError.

    An interrupt may come anywhere. CPython delivers it where a Python function begins, after a
    call of a function by name, and where a loop goes round. So the handlers below do none of these
    before the event is either undone or reported (see `dispatch.undoing`).
    """

    __slots__ = (
        "_row",
        "_untold",
        "asserted",
        "log",
        "observers",
    )

    def __init__(self, asserted: Asserted | None = None) -> None:
        self.observers: tuple[Observer, ...] = ()
        self.asserted = asserted
        self.log: Log | None = None
        self._untold: list[tuple[Observer, Stepped]] = _NOBODY
        self._row: tuple[Observer, Stepped] | None = (
            None  # The call of an observer that runs, or ran last.
        )

    def call(self, machine: State, way: str, args: tuple[Any, ...]) -> Any:
        """Run the event and call the observers; returns or raises what the event did."""
        plan = machine.__plan__
        return self.run(machine, plan.ways[way], args, plan.runs.get(way) or _watched(plan, way))

    def run(self, machine: State, way: Way, args: tuple[Any, ...], step: Callable[..., Any]) -> Any:
        """The same for any step of this way, a function of the instance and the arguments. A fault
        of the machine is raised and not reported: nothing has happened."""
        key, mine = id(self), (threading.get_ident(),)
        taken = map(_RUNNING.setdefault, (key,), (mine,))
        [runs] = taken
        if runs is not mine:  # No call since it was taken: no interrupt between that and `try`.
            raise self._concurrent(machine, way)
        try:
            try:
                if machine.__plan__.timed:
                    output = self._event(machine, way, args, step)
                else:
                    output = self._step(machine, way, args, step)
            finally:
                del _RUNNING[key]
        except BaseException:
            self.tell()
            raise
        if self.log is not None:
            self.log.kept = ()  # The event is over: nobody asks.
        self.tell()
        return output

    def at_rest(self, act: Callable[[], Any]) -> Any:
        """Do it while no event runs; RuntimeError if one does."""
        key, mine = id(self), (threading.get_ident(),)
        taken = map(_RUNNING.setdefault, (key,), (mine,))
        [runs] = taken
        if runs is not mine:
            raise RuntimeError("an event of this instance is not over")
        try:
            return act()
        finally:
            del _RUNNING[key]

    def _concurrent(self, machine: State, way: Way) -> RuntimeError:
        mine = _RUNNING.get(id(self)) == (threading.get_ident(),)  # Of a signal handler, say.
        who = "an event of this instance is not over" if mine else "another thread runs an event"
        how = "send the events of all threads through one runner, lawful.runtime.runner.Runner"
        return RuntimeError(f"{type(machine).__name__}.{way.name}: {who}; {how}")

    def _event(
        self, machine: State, way: Way, args: tuple[Any, ...], step: Callable[..., Any]
    ) -> Any:
        """Run the event with the time paused: observers get the time that the step read."""
        time = machine.__environment__
        clock = time.clock.now
        if time.now != clock:
            return self._step(machine, way, args, step)
        instant = clock()
        time.now = lambda: instant
        try:
            return self._step(machine, way, args, step)
        finally:
            time.now = clock

    def _step(self, state: State, way: Way, args: tuple[Any, ...], step: Callable[..., Any]) -> Any:
        if self.log is not None:
            self.log.begin()
        parts = PartsBefore(state, way) if way.composite else None
        before = (getattr(state, "_state", None), way.read(state), way)
        undo: Iterator[object] = map(setattr, repeat(state), way.slots, before[1])
        if parts is not None or way.grows:
            undo = undoing(save(state, way))
        log: Log | None = None
        rows: list[tuple[Observer, Stepped]] = []
        try:
            if self.asserted is None:
                output = step(state, *args)
            else:
                output = self._judged(state, way, args, step)
            done = _stepped(state, args, before, parts, output=output)
            for observer in self.observers:
                rows.append((observer, done))
            if self.log is not None:
                self.log.kept = ()
                log = self.log
                log.write(done)
            if rows:
                self._untold += rows  # Last, and no call: what comes later is no interrupt of this.
        except Refused as refusal:
            self._put(_stepped(state, args, before, parts, refused=refusal.untraced()))
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

    def _put(self, stepped: Stepped) -> None:
        """Queue the event for all observers: they get it now, or before the next event."""
        if self.observers:
            self._untold += [(observer, stepped) for observer in self.observers]

    def tell(self) -> None:
        """Call the queued observers, unless the log holds them back; raise their first exception,
        the others noted in it.

        Where another call does so already, that one goes on: the one that called the observer that
        caused this event, or one of another thread."""
        first: BaseException | None = None
        while self._untold and not (self.log is not None and self.log.held):
            key, mine = id(self), (threading.get_ident(),)
            taken = map(_TELLING.setdefault, (key,), (mine,))
            [tells] = taken
            if tells is not mine:
                break  # Who has it looks once more after it was released.
            try:
                while self._untold:
                    row = self._untold[0]
                    if row is self._row:
                        del self._untold[0]
                        continue
                    self._row = row  # An interrupt comes before this line, or in the observer.
                    try:
                        row[0](row[1])
                    except BaseException as error:  # After Ctrl-C, too, the others are called.
                        first = foremost(first, error, "another observer")
                self._row = None
            finally:
                del _TELLING[key]
        if first is not None:
            raise first

    def awaits(self, observer: Observer) -> bool:
        """Whether events are queued for this observer."""
        return any(row[0] == observer for row in self._untold if row is not self._row)

    def add(self, observer: Observer) -> None:
        """Call it after each event from now on."""
        self._queue()
        self.observers += (observer,)

    def _queue(self) -> None:
        """Make the queue of events that observers have not heard of."""
        if self._untold is _NOBODY:
            self._untold = []

    def forget(self, observer: Observer) -> None:
        """Remove an observer and what is queued for it."""
        if observer in self.observers:
            at = self.observers.index(observer)
            self.observers = self.observers[:at] + self.observers[at + 1 :]
        self._untold[:] = [row for row in self._untold if row[0] != observer]

    def dropping(self) -> Iterator[object]:
        """Observers never hear of the events from now on until this is read to its end, if these
        are held back. It runs no Python code then."""
        self._queue()
        return map(self._untold.__delitem__, (slice(len(self._untold), None),))


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


def _watched(plan: Plan, way: str) -> Callable[..., Any]:
    if way not in plan.runs:
        plan.runs[way] = plan.watched(way)
    return plan.runs[way]


_NEW, _SET, _READ = object.__new__, object.__setattr__, object.__getattribute__
_LATER = vars(Stepped)["_later"].__set__


def _stepped(
    state: State,
    args: tuple[Any, ...],
    before: tuple[Any, tuple[Any, ...], Way],
    parts: PartsBefore | None,
    *,
    output: Any = None,
    refused: Refused | None = None,
) -> Stepped:
    """What the event did; the environment knows which transition ran."""
    at, values, way = before
    time = state.__environment__
    ran = None if refused is not None else time.last_transition
    if parts is None and ran:
        both: tuple[Any, ...] = values, way.read(state)
    else:
        both = (({}, {}) if parts is None or not ran else parts.changed(state),)
    made = _NEW(Stepped)
    controls = at, getattr(state, "_state", None)
    _LATER(made, (state, way, args, ran, controls, both, output, refused, time.now()))
    return made


def _inner(later: tuple[Any, ...]) -> Changes:
    """The values that differ before and after the event; none of parts.

    `values` are those of the variables that the way may write, before and after the event; of a way
    that may change parts, which change where they stand, one pair of `changed` and `inside`.
    """
    return {name: both for name, both in _moved(later).items() if both[0] != both[1]}


def _moved(later: tuple[Any, ...]) -> Changes:
    """The same, of which some may be equal."""
    _, way, _, _, _, values, *_ = later
    if len(values) == 1:
        inside: Changes = values[0][1]
        return inside
    rows = zip(way.writes, *values, strict=True)
    return {name: (was, now) for name, was, now in rows if now is not was}


def _told(later: tuple[Any, ...], inside: Changes) -> dict[str, Any]:
    """The field `changed`."""
    values = later[5]
    told: dict[str, Any] = values[0][0] if len(values) == 1 else _changed(later[0], inside)
    return told


def _fields(later: tuple[Any, ...]) -> tuple[Any, ...]:
    """The other fields of a `Stepped`, in their order."""
    way: Way
    refused: Refused | None
    state, way, args, ran, controls, _, output, refused, time = later
    called = way.name if refused is not None and way.name != way.event else ran
    outcome = "done" if ran else "ignored"
    return (
        state,
        way.event,
        called,
        bind(way.params, args),
        outcome if refused is None else "refused",
        *(getattr(each, "name", None) for each in controls),
        output,
        () if refused is None else refused.reasons,
        time,
    )


def _changed(state: State, inside: Changes) -> dict[str, Any]:
    """The new values as code outside reads them, in the order of the declaration."""
    plan = state.__plan__
    return {
        name: viewed(inside[name][1], plan.fields[name])
        for name in plan.variables
        if name in inside
    }
