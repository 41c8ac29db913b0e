"""A run of an implementation and the model in lockstep; the first difference raises `Mismatch`."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, NoReturn, TypeVar

from lawful.runtime.instance import Machine
from lawful.runtime.instances.enforcement import NOTHING
from lawful.runtime.instances.growth import grow
from lawful.runtime.kernel.event_record import Stepped
from lawful.runtime.timers import SimulatedClock
from lawful.spec import ir
from lawful.spec.analysis.growth import growing_sorts, step_name
from lawful.spec.outcomes import MachineFault, PropertyViolated, Reason, Refused
from lawful.spec.resolve import Resolved

from ..explore.value_pool import Near
from ..reference.states import State
from .observation import Difference, StateComparison, reader, spelled
from .oracle import (
    Action,
    Answer,
    Args,
    Call,
    Elements,
    EntryPoint,
    Fire,
    Grow,
    Model,
    Start,
    entry_points,
)

T = TypeVar("T")
FAR = 1e9  # Seconds after which every armed timer is due.
MOST = 4  # How often an event without effect is tried in one state.
MOST_GROWN = 2  # Elements that join in a run.
RECENT = 6  # Recent events whose arguments and outputs new arguments may repeat.


class Mismatch(AssertionError):
    """The implementation differs from the machine, or the machine violates its own property."""


@dataclass(frozen=True)
class Subject(Generic[T]):
    """What is compared with which machine; see `hypothesis_machine`.

    `like` is an instance that has the parameters, where the view is no lawful instance.
    """

    resolved: Resolved
    make: Callable[[SimulatedClock], T]
    perform: Callable[[T, str, Args], Any] | None = None
    view: Callable[[T], Any] | None = None
    refused: tuple[type[Exception], ...] = (Refused,)
    unseen: frozenset[str] = frozenset()
    like: Machine | None = None
    models: dict[object, Model] = field(default_factory=dict[object, Model])

    @property
    def machine(self) -> ir.Machine:
        return self.resolved.machine

    @functools.cached_property
    def entry_points(self) -> tuple[EntryPoint, ...]:
        """The entry points of the machine."""
        return entry_points(self.machine)

    def model(self, like: Machine | None) -> Model:
        """The model, with the elements of sorts that the instance `like` has; cached."""
        return self.model_of({} if like is None else dict(like.__environment__.universe))

    def model_of(self, elements: Elements) -> Model:
        """The model with these elements of sorts; cached."""
        key = tuple(sorted(elements.items()))
        if key not in self.models:
            self.models[key] = Model(self.resolved, elements)
        return self.models[key]


@dataclass(frozen=True, slots=True)
class Performed:
    """What the implementation did."""

    kind: Literal["done", "refused", "fault"]
    output: Any = None
    error: Exception | None = None


class Run(Generic[T]):
    """One implementation from its start on, and the state of the model beside it."""

    def __init__(self, subject: Subject[T]) -> None:
        self.subject = subject
        self.machine = subject.machine
        self.growth = {step_name(sort) for sort in growing_sorts(self.machine)}
        self.clock = SimulatedClock()
        self.implementation = subject.make(self.clock)
        shown = self._shown()
        like = shown if isinstance(shown, Machine) else subject.like
        self.model = subject.model(like)
        self.model.begin(self.clock.now())
        self.reading = StateComparison(self.machine, self.model.world, subject.unseen)
        plainly = subject.perform is None and subject.view is None
        self.lawful = isinstance(shown, Machine)
        self.instance = shown if plainly and isinstance(shown, Machine) else None
        self.entry_points = [
            w for w in subject.entry_points if self.instance is not None or not w.extra
        ]
        self.actions: list[Action] = []
        self.calls: list[str] = []
        self.tried: Counter[str] = Counter()
        self._recent: list[tuple[ir.Event, Args, Any]] = []
        self._near: Near | None = None
        answer = self.model.initial(_parameters(self.machine, like))
        self.state = answer.state
        self.begun = False
        if not self.machine.initials:
            self._judge(None, answer, Performed("done"), None)
            self.begun = True

    def _shown(self) -> Any:
        view = self.subject.view
        return self.implementation if view is None else view(self.implementation)

    # What Hypothesis draws from.

    @property
    def near(self) -> Near:
        """Values in the state and in recent outputs, and whole arguments of recent events."""
        if self._near is None:
            self._near = Near.of(self.machine, self.state)
            for event, args, output in reversed(self._recent):
                for (_, kind), value in zip(event.params, args, strict=True):
                    self._near.add_whole(kind, value)
                if output is not None:
                    self._near.add(event.output, output)
        return self._near

    def admits(self, entry_point: EntryPoint, args: Args) -> bool:
        """Whether the model takes a transition with these arguments."""
        return self.model.step(self.state, entry_point, args).kind in ("done", "fault")

    def hopeless(self, entry_point: EntryPoint) -> bool:
        """Whether the control state excludes every transition, whatever the arguments."""
        return not self.model.may_take(self.state, entry_point)

    def worth(self, entry_point: EntryPoint) -> bool:
        """Whether to try it here: not if it had no effect `MOST` times, unless all had none."""
        if entry_point not in self.entry_points:
            return False
        return self.tried[entry_point.name] < MOST or all(
            self.tried[w.name] >= MOST for w in self.entry_points
        )

    # Events.

    def perform_action(self, action: Action) -> None:
        """Perform the action on both. Raises Mismatch where they differ, and whatever exception the
        implementation raises."""
        self.actions.append(action)
        match action:
            case Call(entry_point=entry_point, args=args):
                self._event(action, entry_point, args)
            case Start(function=function, args=args):
                answer = self.model.start(self.state, function, args)
                self._do(str(action), function.name, args, (answer, None))
                self.begun = answer.kind == "done"
            case Fire(far=far):
                self._fire_due(far)
            case Grow():
                self._grow(action)

    def _event(self, action: Call, entry_point: EntryPoint, args: Args) -> None:
        self._wait(entry_point.timed)
        answer, hopeless, before = self.model.step(self.state, entry_point, args), True, self.state
        if args:
            hopeless = self.hopeless(entry_point)
        self._do(str(action), entry_point.name, args, (answer, entry_point.event))
        self._recent = [*self._recent[1 - RECENT :], (entry_point.event, args, answer.output)]
        self._moved(before)
        if self.state == before:
            self.tried[entry_point.name] += MOST if hopeless else 1

    def may_grow(self, grow: Grow) -> bool:
        """Whether to let this sort grow: where the implementation can, and few elements joined."""
        can = self.instance is not None or self.subject.perform is not None
        few = sum(isinstance(each, Grow) for each in self.actions) < MOST_GROWN
        return self.begun and few and (can or hasattr(self.implementation, grow.name))

    def _grow(self, grow: Grow) -> None:
        """A sort grows, in the implementation and in the model."""
        self._wait(False)
        name, there = grow.sort.name, self.model.elements[grow.sort.name]
        element = self.model.world.sorts[name](grow.element(there))
        before, smaller = self.state, self.model
        self.model = self.subject.model_of({**smaller.elements, name: (*there, element)})
        answer = self.model.grown(smaller, before, grow.sort)
        self._do(f"{grow.name}({spelled(element)})", grow.name, (element,), (answer, None))
        self._moved(before)

    def _wait(self, timed: bool) -> None:
        """Let time pass before an event.

        Without a clock, so long that every armed timer is due, if the event may need that. With a
        clock, until the next timer is due, or else one tick before every other action, but never
        beyond the deadline of an urgent timer.
        """
        now, tick = self.clock.now(), self.model.tick
        if not tick:
            self.state = self.model.at(self.state, self.clock.advance(FAR if timed else 0.0))
            return
        wanted = now + tick * (len(self.actions) % 2)
        if timed:
            later = [due for _, due in self.model.deadlines(self.state) if due > now]
            wanted = min(later, default=wanted)
        passed = self.clock.advance(max(0.0, self.model.moment(self.state, wanted) - now))
        # The sum of floats may fall short of the deadline: both get the time of the model.
        self.state = self.model.at(self.state, passed)

    def _moved(self, before: State) -> None:
        self._near = None
        if self.state != before:
            self.tried.clear()

    def _do(
        self, call: str, name: str, args: Args, expected: tuple[Answer, ir.Event | None]
    ) -> None:
        answer, event = expected
        if answer.kind == "fault" and not self.lawful:
            self._own_fault(
                call, answer
            )  # The declaration does not say what an implementation should do here.
            return
        found = self._perform(name, args, call)
        self._judge(call, answer, found, event)
        self.state = answer.state

    def _perform(self, name: str, args: Args, call: str) -> Performed:
        try:
            if self.instance is not None and name in self.growth:
                element: Any = args[0]
                grow(self.instance, element.__class__, element, NOTHING)
                return Performed("done")
            if self.subject.perform is not None:
                return Performed("done", self.subject.perform(self.implementation, name, args))
            return Performed("done", getattr(self.implementation, name)(*args))
        except self.subject.refused as error:
            return Performed("refused", error=error)
        except MachineFault as error:
            return Performed("fault", error=error)
        except Exception as error:
            error.add_note(self._message(call, ["the implementation raises this exception"]))
            raise

    # Timers of lawful instances.

    @property
    def fires(self) -> bool:
        """Whether the implementation is a lawful instance, whose timers can be fired."""
        return self.instance is not None

    def _fire_due(self, far: bool) -> None:
        instance, before = self.instance, self.state
        assert instance is not None
        deadline = instance.lawful.next_deadline() or 0.0
        far = far and not self.model.tick  # With a clock, an urgent timer is never late.
        now = self.clock.advance(FAR if far else max(0.0, deadline - self.clock.now()))
        self.state = before = self.model.at(before, max(now, deadline))
        rows: list[Stepped] = []
        forget = instance.lawful.observe(rows.append)
        error: MachineFault | None = None
        try:
            instance.lawful.fire_due(self.model.now)
        except MachineFault as fault:
            error = fault
        finally:
            forget()
        for row in rows:
            self._follow(row)
        self._all_fired(far and not rows, error)
        self._moved(before)

    def _follow(self, row: Stepped) -> None:
        """A timer of the instance fired: the model has to take the same transition."""
        transition = self.machine.transition(row.transition or row.event)
        event = self.machine.event(row.event)
        args = tuple(row.args[name] for name, _ in event.params)
        call = Call(EntryPoint(event, (transition,), timed=True, own=True), args)
        answer = self.model.step(self.state, call.entry_point, args)
        if answer.kind != "done":
            self._fail(f"{call}  # fired", [_expects(answer), "the timer fired"])
        lines = self._output(answer, row.output, event)
        if lines:
            self._fail(f"{call}  # fired", lines)
        self._own_fault(f"{call}  # fired", answer)
        self.calls.append(f"{call}  # fired")
        self.state = answer.state

    def _all_fired(self, none: bool, error: MachineFault | None) -> None:
        """Check that every timer fired that can fire in the model, and that the states agree."""
        fired = [
            w for w in self.entry_points if w.name == w.rows[0].name and w.rows[0].timer is not None
        ]
        answers = [self.model.step(self.state, w, ()) for w in fired if not w.event.params]
        lines = [_difference(d) for d in self._differences(self.state)]
        possible = [a.transition for a in answers if a.kind == "done"]
        if none and error is None and possible:
            lines.append(f"no timer fires; the machine may take {' or '.join(possible)}")
        if error is not None and not any(a.kind == "fault" for a in answers):
            lines.append(_does(Performed("fault", error=error)))
        if lines:
            self._fail("fire_due()", lines)

    # Comparison.

    def _judge(
        self, call: str | None, answer: Answer, found: Performed, event: ir.Event | None
    ) -> None:
        """Compare the implementation with the model's answer: fail with all differences."""
        lines = _kinds(answer, found)
        if not lines and event is not None and found.kind == "done":
            lines += self._output(answer, found.output, event)
        # Before a start the implementation may have no variables.
        begins = self.begun or answer.kind == "done"
        differing = self._differences(answer.state) if begins else []
        if differing and not lines and answer.kind != "done":
            lines.append(f"{_expects(answer)}; nothing may change")
        lines += [_difference(each) for each in differing]
        if lines:
            self._fail(call, lines)
        self._own_fault(call, answer)
        if call is not None:
            self.calls.append(_past(call, answer))

    def _output(self, answer: Answer, found: Any, event: ir.Event) -> list[str]:
        """A line where the outputs differ."""
        if self.reading.same(answer.output, found, event.output):
            return []
        return [f"output: expected {spelled(answer.output)}, found {spelled(found)}"]

    def _differences(self, state: State) -> list[Difference]:
        return self.reading.differences(state, reader(self._shown()))

    def _own_fault(self, call: str | None, answer: Answer) -> None:
        """Fail where the machine violates its own property, unless its declaration expects that."""
        broken = None
        if answer.kind == "fault" and answer.name not in self.model.excused:
            broken = f"{answer.name}: {answer.why}"
        elif answer.kind == "done":
            # A step property goes through the elements before a growth; explorations judge it.
            stepped = self.begun and answer.transition not in self.growth
            broken = self.model.broken(self.state if stepped else None, answer.state)
        if broken is not None:
            self._fail(call, [f"here the machine itself violates {broken}"])

    def _fail(self, call: str | None, lines: list[str]) -> NoReturn:
        raise Mismatch(self._message(call, lines))

    def _message(self, call: str | None, lines: list[str]) -> str:
        """The message of a failure: the calls up to it, then the differences."""
        if call is None:
            return "\n".join([f"{self.machine.name}, as it starts:", *lines])
        calls = "".join(f"    {each}\n" for each in (*self.calls, call))
        which = "this event" if not self.calls else "the last of these events"
        return f"{self.machine.name}, in {which}:\n\n{calls}\n" + "\n".join(lines)


def _parameters(machine: ir.Machine, like: Machine | None) -> dict[str, Any]:
    """The parameters of an instance; empty without one, for the defaults."""
    return {} if like is None else {p.name: getattr(like, p.name) for p in machine.parameters}


def replay(subject: Subject[Any], actions: Sequence[Action]) -> None:
    """Run these actions on a new implementation; raises what the run raises."""
    run = Run(subject)
    for action in actions:
        run.perform_action(action)


# Messages.


def _kinds(answer: Answer, found: Performed) -> list[str]:
    """Lines where the outcomes differ in kind, or in reasons of refusal, or in the fault."""
    expected = "done" if answer.kind == "ignored" else answer.kind
    if found.kind != expected:
        return [_expects(answer), _does(found)]
    if isinstance(found.error, Refused) and found.error.reasons not in ((), answer.reasons):
        both = _reasons(answer.reasons), _reasons(found.error.reasons)
        return [f"reasons: expected {both[0]}, found {both[1]}"]
    if found.kind == "fault" and _fault_name(found.error) != answer.name:
        return [_expects(answer), _does(found)]
    return []


def _fault_name(error: Exception | None) -> str:
    return error.name if isinstance(error, PropertyViolated) else type(error).__name__.lower()


def _reasons(reasons: tuple[Reason, ...]) -> str:
    return "; ".join(f"{r.transition}: {r} {dict(r.values)}" for r in reasons) or "none"


def _expects(answer: Answer) -> str:
    match answer.kind:
        case "done":
            return f"the machine takes {answer.transition}"
        case "ignored":
            return f"the machine ignores it: {answer.why}"
        case "refused":
            return f"the machine refuses it: {answer.why}"
        case "fault":
            return f"the machine violates {answer.name}: {answer.why}"


def _does(found: Performed) -> str:
    match found.kind:
        case "done":
            output = "" if found.output is None else f" and returns {spelled(found.output)}"
            return f"the implementation accepts it{output}"
        case "refused":
            message = str(found.error)
            return f"the implementation refuses it{': ' if message else ''}{message}"
        case "fault":
            return f"the implementation raises {type(found.error).__name__}: {found.error}"


def _difference(each: Difference) -> str:
    return f"{each.path}: expected {each.expected}, found {each.found}"


def _past(call: str, answer: Answer) -> str:
    """A call before the failure, with its output or outcome."""
    if answer.kind == "done":
        return call if answer.output is None else f"{call}  # {spelled(answer.output)}"
    return f"{call}  # {answer.name if answer.kind == 'fault' else answer.kind}"
