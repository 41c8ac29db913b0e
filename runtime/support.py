"""What generated code calls, and what runs it: refusals, parts, and the choice of a transition."""

from __future__ import annotations

import functools
import linecache
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from lawful.spec import explain, ir
from lawful.spec import types as t
from lawful.spec.bounds import bounded, breach
from lawful.spec.outcomes import Ambiguous, MachineFault, PropertyViolated, Reason, Refused, Undefined
from lawful.spec.values import encode

from .plan import Candidate, Plan, State, Way

# What Python raises where an operation has no value.
NO_VALUE = (LookupError, ArithmeticError, ValueError, TypeError, AttributeError)

Said = tuple[str, dict[str, ir.Json]]


@dataclass(frozen=True, slots=True)
class Site:
    """A guard or an assertion in the source; `say` puts its values into words."""

    say: Callable[..., Said]


class Refusal(Exception):
    """A guard is false, inside a step; `failed` makes it a `Refused`, with everything undone."""

    def __init__(self, site: Site, why: str, *values: Any) -> None:
        super().__init__()
        self.site = site
        self.why = why
        self.values = values

    def reason(self, transition: str) -> Reason:
        """The reason that a candidate refuses."""
        clause, values = self.site.say(*self.values)
        return Reason(transition, clause, self.why, values)


class Broken(Exception):
    """The step breaks a built-in property, inside a step."""

    def __init__(self, name: str, site: Site, *values: Any) -> None:
        super().__init__()
        self.name = name
        self.what = site.say(*values)[0]


class _Parted(Refusal):
    """All candidates of a part's event refuse."""

    def __init__(self, reasons: Sequence[Reason]) -> None:
        super().__init__(Site(lambda: ("", {})), "")
        self.reasons = tuple(reasons)

    def reason(self, transition: str) -> Reason:
        if len(self.reasons) == 1:
            only = self.reasons[0]
            return Reason(transition, only.clause, only.why, only.values)
        values = {k: v for reason in reversed(self.reasons) for k, v in reason.values.items()}
        return Reason(transition, "; ".join(str(r) for r in self.reasons), "", values)


def plain(value: Any, type: t.Type) -> ir.Json:
    """The JSON form of a value in a refusal; its text where it has no such form."""
    try:
        return encode(value, type)
    except (TypeError, AttributeError):
        return str(value)


# Sites.


def false(test: ir.Expr) -> Site:
    """A guard's condition is false."""
    places = explain.shown(test)

    def say(*values: Any) -> Said:
        forms = [plain(v, e.type) for v, e in zip(values, places, strict=True)]
        return explain.refusal(test, [explain.text(f) for f in forms]), explain.named(test, forms)

    return Site(say)


def unasserted(test: ir.Expr) -> Site:
    """An assertion is false."""
    places = explain.shown(test)

    def say(*values: Any) -> Said:
        forms = [plain(v, e.type) for v, e in zip(values, places, strict=True)]
        return explain.failure(test, [explain.text(f) for f in forms]), {}

    return Site(say)


def elsewhere(control: ir.Expr, allowed: Sequence[str]) -> Site:
    """The control state is another."""
    place = explain.path(control)

    def say(state: Any) -> Said:
        return explain.source(place, state.name, allowed), {place: state.name}

    return Site(say)


def missing(place: ir.Expr, key: ir.Expr) -> Site:
    """The member of a family that a header names is absent."""

    def say(value: Any) -> Said:
        form = plain(value, key.type)
        return explain.absent(place, explain.text(form)), explain.named(key, [form] * _count(key))

    return Site(say)


def _count(key: ir.Expr) -> int:
    return 1 if explain.shown(key) == (key,) else 0


def not_yet(place: ir.Expr) -> Site:
    """A timer is not armed, or not due."""

    def say(left: float | None) -> Said:
        clause = explain.timer(place, left is not None)
        return (clause if left is None else f"{clause}: {left:.3g} s are left"), {}

    return Site(say)


def said(text: str) -> Site:
    """What needs no values."""
    return Site(lambda: (text, {}))


NEEDED = said("")


# What expressions call.


def needed(value: Any, why: str | Callable[[], str]) -> Any:
    """The value; refuses where it is None."""
    if value is None:
        raise Refusal(NEEDED, why if isinstance(why, str) else why())
    return value


def universe(state: State, sort: str) -> tuple[Any, ...]:
    """The elements of a sort; RuntimeError where the instance was not told them."""
    try:
        return state._universe[sort]
    except KeyError:
        name = state._plan.name
        raise RuntimeError(
            f"{name} iterates the elements of {sort}: make it with universe={{{sort}: [...]}}"
        ) from None


def ask(state: State, function: str, *args: Any) -> Any:
    """A helper or a property of a part."""
    return state._plan.functions[function](state, *args)


def new(state: State, machine: str, **parameters: Any) -> Any:
    """A part in its initial state, on its whole's clock."""
    cls: Any = state._plan.resolved.parts[machine]
    return cls._as_part(state, parameters)


def put(bag: Any, key: Any, count: int) -> bool:
    """Set an element's count; whether it is now below 0. What has count 0 is absent."""
    if count:
        bag[key] = count
        return count < 0
    bag.pop(key, None)
    return False


def private(container: Any) -> Any:
    """A copy of a container, to be changed where it stands."""
    return container.copy()


def private_deep(container: Any) -> Any:
    """A copy of a container and of the containers in it."""
    made = container.copy()
    rows = container.items() if isinstance(container, dict) else enumerate(container)
    for key, value in rows if isinstance(container, dict | list) else ():
        if type(value) in (dict, set, list, Counter):
            made[key] = private_deep(value)
    return made


def stray(value: Any, kind: t.Type) -> bool:
    """Whether a value that is written is out of its bounds."""
    return breach(value, kind) is not None


# Steps.


def step(state: State, way: str, *args: Any) -> Any:
    """A part's event within a step of its whole; what it does is undone by the whole."""
    entry = state._plan.ways[way]
    if len(entry.candidates) == 1 and not entry.ignores:
        return entry.candidates[0].run(state, *args)
    return decide(state, entry, args)


def possible(state: State, way: str, *args: Any) -> bool:
    """Whether that call would not be refused. Changes nothing."""
    return not reasons(state, state._plan.ways[way], args)


def reasons(
    state: State, way: Way, args: tuple[Any, ...], ignoring: bool = True
) -> tuple[Reason, ...]:
    """Why the call would be refused; empty where it would not. Changes nothing.

    Without `ignoring` an event that would be ignored counts as refused.
    """
    saved = save(state, way)
    try:
        decide(state, way, args, ignoring)
    except _Parted as refusal:
        return refusal.reasons
    except (*NO_VALUE, Broken, Ambiguous):
        return ()  # The machine's own fault is no refusal.
    finally:
        restore(saved)
    return ()


def decide(state: State, way: Way, args: tuple[Any, ...], ignoring: bool = True) -> Any:
    """Take the one enabled candidate, else a matching `ignore`, else refuse with all reasons.

    What a candidate does before it refuses is undone; what the one that is taken does before it
    fails is left to the caller.
    """
    refused: list[Reason] = []
    taken: tuple[str, list[Saved], Callable[[], Any]] | None = None
    candidates = list(_in_state(state, way, refused))
    for candidate in candidates:
        saved = save(state, way) if len(candidates) > 1 or way.ignores else []
        try:
            output = candidate.run(state, *args)
        except Refusal as refusal:
            restore(saved)
            refused.append(refusal.reason(candidate.name))
            continue
        except (*NO_VALUE, Broken) as fault:
            result: Callable[[], Any] = functools.partial(_raise, fault)
        else:
            result = functools.partial(_give, output)
        after = [_saved(s, names) for s, names, _, _ in saved]
        if taken is not None:
            restore(saved)
            raise Ambiguous(
                state._plan.name, way.event,
                f"both {taken[0]} and {candidate.name} are enabled: call one of them",
            )  # fmt: skip
        taken = candidate.name, after, result
        if candidate is not candidates[-1]:
            restore(saved)
    if taken is not None:
        restore(taken[1])
        state._note = taken[0]
        return taken[2]()
    if ignoring and _ignored(state, way, args):
        state._note = None
        return None
    order = [candidate.name for candidate in way.candidates]
    raise _Parted(sorted(refused, key=lambda reason: order.index(reason.transition)))


def _raise(fault: BaseException) -> NoReturn:
    raise fault


def _give(output: Any) -> Any:
    return output


def _in_state(state: State, way: Way, refused: list[Reason]) -> Iterator[Candidate]:
    """The candidates that the control state admits; the others' reasons are noted."""
    for candidate in way.candidates:
        source = candidate.source
        if source is None or getattr(state, "state") in source:  # noqa: B009  # a machine's own variable
            yield candidate
        else:
            transition = next(
                tr for tr in state._plan.machine.transitions if tr.name == candidate.name
            )
            assert transition.control is not None
            site = elsewhere(transition.control, transition.source or ())
            value = getattr(state, "state")  # noqa: B009  # a machine's own variable
            refused.append(Refusal(site, "", value).reason(candidate.name))


def _ignored(state: State, way: Way, args: tuple[Any, ...]) -> bool:
    return any(
        (row.source is None or getattr(state, "state") in row.source)  # noqa: B009  # its own variable
        and (row.when is None or row.when(state, *args))
        for row in way.ignores
    )


# Undoing.

Saved = tuple[State, tuple[str, ...], tuple[Any, ...], bool]
UNSET = object()


def save(state: State, way: Way) -> list[Saved]:
    """What the way may change; containers are not changed where they stand, so their names do."""
    if way.composite:
        return [_saved(s, s._plan.variables) for s in tree(state)]
    return [_saved(state, way.writes)]


def _saved(state: State, names: tuple[str, ...]) -> Saved:
    return state, names, _values(state, names), state._odd


def _values(state: State, names: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(getattr(state, name, UNSET) for name in names)


def restore(saved: list[Saved]) -> None:
    """Put back what was saved."""
    for state, names, values, odd in saved:
        state._odd = odd
        for name, value in zip(names, values, strict=True):
            if value is not UNSET:
                setattr(state, name, value)
            elif hasattr(state, name):
                delattr(state, name)


def tree(state: State) -> Iterator[State]:
    """The state, and those of all parts."""
    yield state
    for name, family in state._plan.families.items():
        held = getattr(state, name, None)
        for part in () if held is None else held.values() if family else (held,):
            yield from tree(part._s)


# Judging.


def judge(state: State, way: Way, saved: list[Saved]) -> None:
    """Raise `Broken` where a variable is out of its bounds after the step."""
    before = {id(s): dict(zip(names, values, strict=True)) for s, names, values, _ in saved}
    for each in tree(state) if way.composite else (state,):
        names = each._plan.variables if way.composite else way.writes
        for name in names:
            judge_variable(each, name, before.get(id(each), {}).get(name, UNSET))
        each._odd = False


def judge_variable(state: State, name: str, old: Any) -> None:
    """Raise `Broken` where this variable, which was `old`, is out of its bounds."""
    kind = state._plan.fields[name]
    value = getattr(state, name, UNSET)
    if value is old or value is UNSET or not bounded(kind):
        return
    if state._odd or old is UNSET or not _screened(kind):
        found = breach(value, kind)
        if found is not None:
            raise out_of_bounds(name, found)


def _screened(kind: t.Type) -> bool:
    """Whether everything written into such a container was looked at when it was written."""
    match kind:
        case t.Seq(most=most) | t.Bag(most=most):
            return most is None
        case _:
            return isinstance(kind, t.Map | t.Set)


def judge_odd(state: State, way: Way) -> None:
    """After something odd was written: raise `Broken` if it is still there."""
    judge(state, way, [])


def out_of_bounds(what: str, found: str) -> Broken:
    """The breach of a variable, or of the output."""
    return Broken("bounds", said(f"{what}{found if found.startswith(('[', '.')) else f': {found}'}"))


def judge_output(output: Any, kind: t.Type) -> Any:
    """The output; raises `Broken` where it is out of its bounds."""
    found = breach(output, kind)
    if found is not None:
        raise out_of_bounds("the output", found)
    return output


def off_target(control: Any, allowed: Sequence[str]) -> Broken:
    """The body left the control state in none of the states that `target` names."""
    return Broken("bounds", said(explain.source("the state after", control.name, allowed)))


# From inside to outside.


def choose(state: State, way: Way, args: tuple[Any, ...]) -> Any:
    """A whole step of the outermost machine."""
    saved = save(state, way)
    try:
        output = decide(state, way, args)
        if bounded(way.output):
            judge_output(output, way.output)
        judge(state, way, saved)
        return output
    except BaseException as error:
        restore(saved)
        raise_from(error, state, way)


def failed(error: BaseException, state: State, way: Way, args: tuple[Any, ...]) -> None:
    """A step of the one candidate failed, and is undone: raise what the caller is told.

    Returns where an `ignore` covers the refusal.
    """
    state._odd = False
    if way.ignores and isinstance(error, Refusal):
        try:
            if _ignored(state, way, args):
                state._note = None
                return
        except NO_VALUE as fault:
            error = fault
    raise_from(error, state, way)


def raise_from(error: BaseException, state: State, way: Way) -> NoReturn:
    """Raise the error as the caller is to see it: what it names is the machine and its event."""
    trace = error.__traceback__
    if isinstance(error, Refusal):
        raise refused(error, state, way).with_traceback(trace) from None
    name = state._plan.name
    if isinstance(error, Broken):
        told: MachineFault = PropertyViolated(name, way.event, error.name, error.what)
        raise told.with_traceback(trace) from None
    if isinstance(error, NO_VALUE):
        raise Undefined(name, way.event, _without_value(error)).with_traceback(trace) from error
    raise error


def refused(error: Refusal, state: State, way: Way) -> Refused:
    """The refusal as the caller is told it."""
    given = error.reasons if isinstance(error, _Parted) else (error.reason(way.candidates[0].name),)
    control = getattr(state, "state", None)
    return Refused(state._plan.name, way.event, getattr(control, "name", ""), given)


def _without_value(error: BaseException) -> str:
    """Which line had no value, and what Python said to it."""
    said_by = f"{type(error).__name__}: {error}"
    trace = error.__traceback__
    where = ""
    while trace is not None:
        file, line = trace.tb_frame.f_code.co_filename, trace.tb_lineno
        if file != __file__:
            text = linecache.getline(file, line).strip()
            where = f"{text} ({file}:{line}): "
        trace = trace.tb_next
    return where + said_by


def plan_of(state: State) -> Plan:
    """The plan of a state's machine."""
    return state._plan
