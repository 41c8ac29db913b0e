"""One run of an implementation beside the model; the first difference ends it, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, NoReturn, TypeVar

from lawful.runtime.instance import Machine
from lawful.runtime.observed import Stepped
from lawful.runtime.timers import SimulatedClock
from lawful.spec import ir
from lawful.spec.outcomes import MachineFault, PropertyViolated, Refused
from lawful.spec.resolve import Resolved

from .conformance import Answer, Args, Model, Way, ways
from .near import Near
from .reading import Difference, Reading, reader, spelled
from .reference import State

T = TypeVar("T")
FAR = 1e9  # Seconds: whatever is armed is due after so long.
MOST = 4  # Times that an event is tried in one state.
RECENT = 6  # Events whose arguments and outputs new arguments may repeat.


class Mismatch(AssertionError):
    """The implementation did what the machine does not; or the machine breaks its own word."""


@dataclass(frozen=True)
class Subject(Generic[T]):
    """What is compared with which machine. `like`: has the parameters, where nothing else says."""

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

    def model(self, like: Machine | None) -> Model:
        """The model with the elements of this instance's sorts; made once."""
        elements = {} if like is None else dict(like.lawful.universe)
        key = tuple(sorted(elements.items()))
        if key not in self.models:
            self.models[key] = Model(self.resolved, elements)
        return self.models[key]


@dataclass(frozen=True, slots=True)
class Found:
    """What the implementation did."""

    kind: Literal["done", "refused", "fault"]
    output: Any = None
    error: Exception | None = None


class Run(Generic[T]):
    """An implementation from its beginning on; `state` is the model's."""

    def __init__(self, subject: Subject[T]) -> None:
        self.subject = subject
        self.clock = SimulatedClock()
        self.implementation = subject.make(self.clock)
        self.calls: list[str] = []
        self.begun = False
        shown = self._shown()
        like = shown if isinstance(shown, Machine) else subject.like
        self.model = subject.model(like)
        self.reading = Reading(subject.machine, self.model.world, subject.unseen)
        plainly = subject.perform is None and subject.view is None
        self.instance = shown if plainly and isinstance(shown, Machine) else None
        self.ways = [w for w in ways(subject.machine) if self.instance is not None or not w.extra]
        self.fires = self.instance is not None
        self.tried: Counter[str] = Counter()
        self._recent: list[Callable[[Near], None]] = []
        self._near: Near | None = None
        parameters = {} if like is None else _parameters(subject.machine, like)
        answer = self.model.initial(parameters)
        self.state = answer.state
        if not subject.machine.initials:
            self._judge(None, answer, Found("done"), None)
            self.begun = True

    def _shown(self) -> Any:
        view = self.subject.view
        return self.implementation if view is None else view(self.implementation)

    # Arguments.

    @property
    def near(self) -> Near:
        """What occurs in the state, and in the last few events."""
        if self._near is None:
            self._near = Near.of(self.subject.machine, self.state)
            for add in reversed(self._recent):
                add(self._near)
        return self._near

    def admits(self, way: Way, args: Args) -> bool:
        """Whether the model takes a transition."""
        return self.model.step(self.state, way, args).kind in ("done", "fault")

    def hopeless(self, way: Way) -> bool:
        """Whether no arguments can make the machine take a transition here."""
        return not self.model.may_take(self.state, way)

    def worth(self, way: Way) -> bool:
        """Whether to try it here. What changed nothing is not tried over and over again, unless
        nothing is left."""
        return way in self.ways and (self.tried[way.name] < MOST or self.stuck)

    @property
    def stuck(self) -> bool:
        """Whether everything was tried as often as it is worth."""
        return all(self.tried[way.name] >= MOST for way in self.ways)

    # Events.

    def start(self, function: ir.Function, args: Args) -> bool:
        """An `@initial`; whether it was taken."""
        answer = self.model.start(self.state, function, args)
        self._event(function.name, args, answer, None)
        self.begun = answer.kind == "done"
        return self.begun

    def event(self, way: Way, args: Args) -> None:
        """An event; a timer that is armed is due by then."""
        if way.timed:
            self.clock.advance(FAR)
        answer = self.model.step(self.state, way, args)
        hopeless = not args or self.hopeless(way)
        if self._event(way.name, args, answer, way.event):
            self.tried.clear()
        else:
            self.tried[way.name] += MOST if hopeless else 1
        self._remember(way.event, args, answer)

    def _event(self, name: str, args: Args, answer: Answer, event: ir.Event | None) -> bool:
        call = f"{name}({', '.join(map(spelled, args))})"
        if answer.kind == "fault" and self.instance is None:
            self._own_fault(call, answer)  # What an implementation should do here nobody said.
            return False
        found = self._perform(name, args, call)
        self._judge(call, answer, found, event)
        changed = answer.state != self.state
        self.state = answer.state
        return changed

    def _perform(self, name: str, args: Args, call: str) -> Found:
        try:
            if self.subject.perform is not None:
                return Found("done", self.subject.perform(self.implementation, name, args))
            return Found("done", getattr(self.implementation, name)(*args))
        except self.subject.refused as error:
            return Found("refused", error=error)
        except MachineFault as error:
            return Found("fault", error=error)
        except Exception as error:
            error.add_note(self._told(call, ["this was raised by the implementation"]))
            raise

    def _remember(self, event: ir.Event, args: Args, answer: Answer) -> None:
        def add(near: Near) -> None:
            for (_, kind), value in zip(event.params, args, strict=True):
                near.add_whole(kind, value)
            if answer.output is not None:
                near.add(event.output, answer.output)

        self._recent = [*self._recent[1 - RECENT :], add]
        self._near = None

    # Timers of lawful instances.

    def fire_due(self, far: bool) -> None:
        """Let time pass until the next timer is due, or all are, and fire what is due."""
        instance = self.instance
        assert instance is not None
        deadline = instance.lawful.next_deadline()
        wait = FAR if far else max(0.0, (deadline or 0.0) - self.clock.now())
        now = max(self.clock.advance(wait), 0.0 if far else deadline or 0.0)
        rows: list[Stepped] = []
        forget = instance.lawful.observe(rows.append)
        error: MachineFault | None = None
        try:
            instance.lawful.fire_due(now)
        except MachineFault as fault:
            error = fault
        forget()
        for row in rows:
            self._follow(row)
        self._all_fired(f"lawful.fire_due({now})", far and not rows, error)

    def _follow(self, row: Stepped) -> None:
        """One timer fired: the model takes the same transition."""
        transition = self.subject.machine.transition(row.transition or row.event)
        event = self.subject.machine.event(row.event)
        way = Way(transition.name, event, (transition,), extra=True)
        args = tuple(row.args[name] for name, _ in event.params)
        call = f"{transition.name}({', '.join(map(spelled, args))})  # fired"
        answer = self.model.step(self.state, way, args)
        if answer.kind != "done":
            self._fail(call, [_expects(answer), "the timer fired"])
        if not self.reading.same(answer.output, row.output, event.output):
            self._fail(call, [_outputs(answer.output, row.output)])
        self._own_fault(call, answer)
        self.calls.append(call)
        self.state = answer.state
        self.tried.clear()
        self._near = None

    def _all_fired(self, call: str, none: bool, error: MachineFault | None) -> None:
        """Nothing that the model could fire was left out; and the state is the model's."""
        timed = [w for w in self.ways if w.name == w.rows[0].name and w.timed and not w.event.params]
        answers = [self.model.step(self.state, way, ()) for way in timed]
        lines = [_difference(d) for d in self._differences()]
        possible = [a.transition for a in answers if a.kind == "done"]
        if none and error is None and possible:
            lines.append(f"no timer fired; the machine may take {' or '.join(possible)}")
        if error is not None and not any(a.kind == "fault" for a in answers):
            lines.append(f"the implementation raised {type(error).__name__}: {error}")
        if lines:
            self._fail(call, lines)

    # Judging.

    def _judge(self, call: str | None, answer: Answer, found: Found, event: ir.Event | None) -> None:
        """Fail with everything in which the implementation differs, or note the call."""
        lines = _kinds(answer, found)
        if not lines and event is not None and answer.kind in ("done", "ignored"):
            if not self.reading.same(answer.output, found.output, event.output):
                lines.append(_outputs(answer.output, found.output))
        differing = self._differences(answer.state)
        if differing and answer.kind in ("refused", "ignored", "fault") and not lines:
            lines.append(f"{_expects(answer)}; nothing may change")
        lines += [_difference(each) for each in differing]
        if lines:
            self._fail(call, lines)
        self._own_fault(call, answer)
        if call is not None:
            self.calls.append(_past(call, answer))

    def _differences(self, state: State | None = None) -> list[Difference]:
        read = reader(self._shown())
        return self.reading.differences(self.state if state is None else state, read)

    def _own_fault(self, call: str | None, answer: Answer) -> None:
        """Fail where the machine itself breaks a property that it does not expect to break."""
        broken = None
        if answer.kind == "fault" and answer.name not in self.model.excused:
            broken = f"{answer.name}: {answer.why}"
        elif answer.kind == "done":
            broken = self.model.broken(self.state if self.begun else None, answer.state)
        if broken is not None:
            self._fail(call, [f"here the machine itself breaks {broken}"])

    def _fail(self, call: str | None, lines: list[str]) -> NoReturn:
        __tracebackhide__ = True
        raise Mismatch(self._told(call, lines))

    def _told(self, call: str | None, lines: list[str]) -> str:
        """What went wrong, after the calls that led there."""
        name = self.subject.machine.name
        if call is None:
            return "\n".join([f"{name}, as it starts:", *lines])
        calls = "".join(f"    {each}\n" for each in (*self.calls, call))
        return f"{name}, in the last of these events:\n\n{calls}\n" + "\n".join(lines)


def _parameters(machine: ir.Machine, like: Machine) -> Mapping[str, Any]:
    return {p.name: getattr(like, p.name) for p in machine.parameters}


# In words.


def _kinds(answer: Answer, found: Found) -> list[str]:
    """Where the machine and the implementation do not do the same kind of thing."""
    accepted = "refused" if answer.kind == "refused" else "fault" if answer.kind == "fault" else ""
    if found.kind != (accepted or "done"):
        return [_expects(answer), _does(found)]
    if isinstance(found.error, Refused) and found.error.reasons:
        mine, theirs = answer.reasons, found.error.reasons
        if mine != theirs:
            return [f"reasons: expected {_reasons(mine)}, found {_reasons(theirs)}"]
    if found.error is not None and answer.kind == "fault":
        name = _fault_name(found.error)
        if name != answer.name:
            return [_expects(answer), _does(found)]
    return []


def _fault_name(error: Exception) -> str:
    return error.name if isinstance(error, PropertyViolated) else type(error).__name__.lower()


def _reasons(reasons: tuple[Any, ...]) -> str:
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
            return f"the machine breaks {answer.name}: {answer.why}"


def _does(found: Found) -> str:
    match found.kind:
        case "done":
            output = "" if found.output is None else f" and returns {spelled(found.output)}"
            return f"the implementation accepts it{output}"
        case "refused":
            return f"the implementation refuses it: {found.error}"
        case "fault":
            return f"the implementation raises {type(found.error).__name__}: {found.error}"


def _outputs(expected: Any, found: Any) -> str:
    return f"output: expected {spelled(expected)}, found {spelled(found)}"


def _difference(each: Difference) -> str:
    return f"{each.path}: expected {each.expected}, found {each.found}"


def _past(call: str, answer: Answer) -> str:
    """A call of the sequence that led here, with what it gave."""
    if answer.kind == "done":
        return call if answer.output is None else f"{call}  # {spelled(answer.output)}"
    return f"{call}  # {answer.name if answer.kind == 'fault' else answer.kind}"
