"""Observers: what each event of an instance did, told after it is done."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from lawful.spec.declare import slot
from lawful.spec.outcomes import Reason, Refused

from .choice import UNSET, control, restore, save, tree
from .judging import Asserted, kept
from .plan import Plan, Way
from .state import State
from .views import viewer

if TYPE_CHECKING:
    from .instance import Machine


@dataclass(frozen=True, slots=True)
class Stepped:
    """One event of one instance.

    `transition`: the one that ran, or that was called by its own name; else None. `args`: the
    arguments by name. `before` and `after`: names of the control state, None where there is none.
    `changed`: the variables whose values are no longer equal to what they were, with their new
    values as read from outside (a part is a copy of it). `reasons`: of a refusal. `time`: seconds
    of the instance's clock.
    """

    instance: Machine
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


class Observed:
    """Runs the events of one instance, judges what is asserted, and tells its observers.

    `log` is told of an event first; if it raises, the event is undone: it has not happened.
    """

    def __init__(self, asserted: Asserted | None = None) -> None:
        self.observers: list[Observer] = []
        self.asserted = asserted
        self.log: Observer | None = None

    def call(self, machine: Machine, way: str, args: tuple[Any, ...]) -> Any:
        """Run the event, tell what it did, and give or raise what it gave or raised."""
        plan = machine.__plan__
        run = _watched(plan, way)
        return self.run(machine, plan.ways[way], args, lambda: run(machine, *args))

    def run(
        self, machine: Machine, way: Way, args: tuple[Any, ...], step: Callable[[], Any]
    ) -> Any:
        """The same for a step of one's own making. A fault of the machine is not told: it is
        raised, and nothing has happened."""
        state = machine
        if self.log is not None and state.__plan__.timed and not state.__around__.stands:
            return self._at_one_instant(machine, way, args, step)
        saved = None if self.log is None else save(state, way)
        before = _Before(state, way)
        state.__around__.note = way.candidates[0].name
        try:
            output = step() if self.asserted is None else self._judged(machine, way, step)
        except Refused as refusal:
            self._tell(before.stepped(machine, args, reasons=refusal.reasons))
            raise
        done = before.stepped(machine, args, output=output)
        if self.log is not None and saved is not None:
            try:
                self.log(done)
            except BaseException:
                restore(saved)
                raise
        self._tell(done)
        return output

    def _at_one_instant(
        self, machine: Machine, way: Way, args: tuple[Any, ...], step: Callable[[], Any]
    ) -> Any:
        """The same while time stands still: what is logged has the time that the step read."""
        time = machine.__around__
        time.stop_at(time.now())
        try:
            return self.run(machine, way, args, step)
        finally:
            time.go_on()

    def _judged(self, machine: Machine, way: Way, step: Callable[[], Any]) -> Any:
        """The step, undone if what is asserted is false after it."""
        assert self.asserted is not None
        saved, before = save(machine, way), kept(machine, self.asserted)
        output = step()
        try:
            self.asserted.judge(machine, way.event, before)
        except BaseException:
            restore(saved)
            raise
        return output

    def _tell(self, stepped: Stepped) -> None:
        """Tell all observers; then raise the first exception of one, the others noted in it."""
        first: Exception | None = None
        for observer in tuple(self.observers):
            try:
                observer(stepped)
            except Exception as error:
                if first is None:
                    first = error
                else:
                    first.add_note(f"another observer raised {error!r}")
        if first is not None:
            raise first


def _watched(plan: Plan, way: str) -> Callable[..., Any]:
    if way not in plan.runs:
        plan.runs[way] = plan.watched(way)
    return plan.runs[way]


class _Before:
    """An instance before an event: what is needed to say what has changed."""

    def __init__(self, state: State, way: Way) -> None:
        self.way = way
        self.control = _control(state)
        self.values = {name: getattr(state, slot(name), UNSET) for name in way.writes}
        families = state.__plan__.families if way.composite else {}
        self.parts = {name: _inside(state, name) for name in families}

    def stepped(
        self, machine: Machine, args: tuple[Any, ...], *, output: Any = None,
        reasons: tuple[Reason, ...] = (),
    ) -> Stepped:
        """What the event did; `note` tells which transition ran."""
        state = machine
        way = self.way
        note = None if reasons else state.__around__.note
        outcome: Literal["done", "refused", "ignored"] = "done" if note else "ignored"
        called = way.name if reasons and way.name != way.event else note
        return Stepped(
            machine, way.event, called,
            dict(zip((n for n, _ in self.way.params), args, strict=True)),
            "refused" if reasons else outcome, self.control, _control(state),
            self.changed(state) if note else {}, output, reasons, state.__around__.now(),
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


def _control(state: State) -> str | None:
    return getattr(control(state), "name", None)


def _inside(state: State, name: str) -> list[tuple[int, list[Any]]]:
    """What is in the parts that a variable holds."""
    held = getattr(state, slot(name), None)
    parts = () if held is None else held.values() if state.__plan__.families[name] else (held,)
    return [
        (id(each), [getattr(each, n, UNSET) for n in each.__plan__.slots])
        for part in parts
        for each in tree(part)
    ]
