"""Observers: functions that are called after each event of an instance with what it did."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol

from lawful.spec.analysis.callee import bind
from lawful.spec.outcomes import Reason, Refused
from lawful.spec.syntax.declare import slot

from ..kernel.dispatch import UNSET, control_name, restore, save, tree
from ..kernel.plan import Asserted, Plan, Way
from ..kernel.state import State
from ..kernel.views import viewer
from .enforcement import judge, kept

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


Observer = Callable[[Stepped], None]


class Log(Protocol):
    """A log that must accept an event before the event counts as happened."""

    def write(self, done: Stepped) -> None:
        """Accept the event, or raise."""
        ...

    def has(self) -> bool:
        """After an interrupt: whether the log has the event that `write` got last."""
        ...


class Observed:
    """Runs the events of one instance, evaluates asserted properties, and calls the observers.

    `log` gets an event first; if it raises, the event is undone, unless the log has it. An event
    that an observer calls runs at once, and is reported after the present one: all observers get
    the events in the order in which they happened.
    """

    def __init__(self, asserted: Asserted | None = None) -> None:
        self.observers: list[Observer] = []
        self.asserted = asserted
        self.log: Log | None = None
        self._untold: deque[tuple[Observer, Stepped]] = deque()
        self._latest: Stepped | None = None
        self._row: tuple[Observer, Stepped] | None = (
            None  # The call of an observer that runs, or ran last.
        )
        self._telling = False

    def call(self, machine: State, way: str, args: tuple[Any, ...]) -> Any:
        """Run the event and call the observers; returns or raises what the event did."""
        plan = machine.__plan__
        run = _watched(plan, way)
        return self.run(machine, plan.ways[way], args, lambda: run(machine, *args))

    def run(self, machine: State, way: Way, args: tuple[Any, ...], step: Callable[[], Any]) -> Any:
        """The same for any step of this way. A fault of the machine is raised and not reported:
        nothing has happened."""
        state = machine
        if self.log is not None and state.__plan__.timed and not state.__environment__.paused:
            return self._at_one_instant(machine, way, args, step)
        saved = save(state, way)
        before = _StateBefore(state, way)
        done, late = None, None
        try:
            state.__environment__.last_transition = way.candidates[0].name
            output = step() if self.asserted is None else self._judged(machine, way, step)
            done = before.stepped(machine, args, output=output)
            if self.log is not None:
                self.log.write(done)
            self._put(done)
        except Refused as refusal:
            self._put(before.stepped(machine, args, reasons=refusal.reasons))
            self._tell()
            raise
        except BaseException as error:  # Undo it, unless somebody knows of it.
            if done is None or not self._happened(done, error):
                restore(saved)
                raise
            late, output = error, None
        self._tell()
        if late is not None:
            raise late
        return output

    def _at_one_instant(
        self, machine: State, way: Way, args: tuple[Any, ...], step: Callable[[], Any]
    ) -> Any:
        """The same with the time paused: the log gets the time that the step read."""
        time = machine.__environment__
        time.pause_at(time.now())
        try:
            return self.run(machine, way, args, step)
        finally:
            time.resume()

    def _judged(self, machine: State, way: Way, step: Callable[[], Any]) -> Any:
        """Run the step and evaluate the asserted properties."""
        assert self.asserted is not None
        before = kept(machine, self.asserted)
        output = step()
        judge(self.asserted, machine, way.event, before)
        return output

    def _happened(self, done: Stepped, error: BaseException) -> bool:
        """Whether observers or the log had the event when the interrupt came."""
        if self._latest is done:
            return True
        if isinstance(error, Exception) or self.log is None or not self.log.has():
            return False
        self._put(done)
        return True

    def _put(self, stepped: Stepped) -> None:
        """Queue the event for all observers: they get it now, or before the next event."""
        rows = [(observer, stepped) for observer in self.observers]
        self._latest = stepped
        self._untold.extend(rows)

    def _tell(self) -> None:
        """Call the queued observers; raise their first exception, the others noted in it."""
        self._latest = None
        if self._telling:
            return  # An observer caused the event; the loop that called the observer goes on.
        self._telling = True
        first: BaseException | None = None
        try:
            while self._untold:
                row = self._untold[0]
                if row is self._row:
                    self._untold.popleft()
                    continue
                self._row = row  # An interrupt comes before this line, or in the observer.
                try:
                    row[0](row[1])
                except BaseException as error:  # After Ctrl-C, too, the others are called.
                    first = foremost(first, error, "another observer")
            self._row = None
        finally:
            self._telling = False
        if first is not None:
            raise first

    def awaits(self, observer: Observer) -> bool:
        """Whether events are queued for this observer."""
        return any(row[0] == observer for row in self._untold if row is not self._row)

    def forget(self, observer: Observer) -> None:
        """Remove an observer and what is queued for it."""
        if observer in self.observers:
            self.observers.remove(observer)
        left = [row for row in self._untold if row[0] != observer]
        self._untold = deque(left)


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


class _StateBefore:
    """The values of an instance before an event that are needed to say what the event changed."""

    def __init__(self, state: State, way: Way) -> None:
        self.way = way
        self.control = control_name(state)
        self.values = {name: getattr(state, slot(name), UNSET) for name in way.writes}
        families = state.__plan__.families if way.composite else {}
        self.parts = {name: _inside(state, name) for name in families}

    def stepped(
        self,
        machine: State,
        args: tuple[Any, ...],
        *,
        output: Any = None,
        reasons: tuple[Reason, ...] = (),
    ) -> Stepped:
        """What the event did; the environment knows which transition ran."""
        state = machine
        way = self.way
        note = None if reasons else state.__environment__.last_transition
        outcome: Literal["done", "refused", "ignored"] = "done" if note else "ignored"
        called = way.name if reasons and way.name != way.event else note
        return Stepped(
            machine,
            way.event,
            called,
            bind(self.way.params, args),
            "refused" if reasons else outcome,
            self.control,
            control_name(state),
            self.changed(state) if note else {},
            output,
            reasons,
            state.__environment__.now(),
        )

    def changed(self, state: State) -> dict[str, Any]:
        """The variables whose values differ now, in the order of the declaration."""
        plan, out = state.__plan__, dict[str, Any]()
        for name in plan.variables:
            if name in self.parts:
                if _inside(state, name) != self.parts[name]:
                    out[name] = copy.deepcopy(getattr(state, slot(name)))
            elif name in self.values:
                new, old = getattr(state, slot(name), UNSET), self.values[name]
                if new is not old and new != old:
                    view = viewer(plan.fields[name])
                    out[name] = new if view is None else view(new)
        return out


def _inside(state: State, name: str) -> list[tuple[int, list[Any]]]:
    """The identities and values of the parts that a variable holds, theirs included."""
    held = getattr(state, slot(name), None)
    parts = () if held is None else held.values() if state.__plan__.families[name] else (held,)
    return [
        (id(each), [getattr(each, n, UNSET) for n in each.__plan__.slots])
        for part in parts
        for each in tree(part)
    ]
