"""The end of a step: bounds are judged, and a failed step becomes the exception that users see.

`choose` runs a whole step of an event with several candidates. The generated method of an event
with one candidate calls the other functions of this module where it needs them.
"""

from __future__ import annotations

import linecache
import os
from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Any, NoReturn

from lawful.spec import types as t
from lawful.spec.outcomes import PropertyViolated, Reason, Refused, Undefined
from lawful.spec.syntax.declare import slot
from lawful.spec.text import reasons
from lawful.spec.values.bounds import bounded, breach
from lawful.spec.values.text import text_of_error

from .dispatch import (
    FAULTS,
    NO_VALUE,
    UNSET,
    Saved,
    control,
    decide,
    ignored,
    path_to,
    save,
    tree,
    undoing,
)
from .guards import AllRefused, Broken, Refusal, Site, plain_site, worded
from .plan import Plan, Way
from .signal_handlers import let_out, of_a_handler
from .state import State
from .suspects import SUSPECT

# Messages name the lines of declarations, never those of the runtime.
FalseGuard = tuple[str, tuple[Site, str, tuple[Any, ...]]]  # Of the transition of this name.
UNDECIDED = object()  # Nothing has happened: `choose`, or another method, runs the step.
NOT_FIRED = object()  # Nothing has happened: the event of a timer is refused.
RUNTIME = os.path.dirname(os.path.dirname(__file__)) + os.sep


def judge(state: State, way: Way, saved: list[Saved]) -> None:
    """Raise `Broken` where a variable is out of its bounds after the step."""
    before = {id(s.state): dict(zip(s.slots, s.values, strict=True)) for s in saved}
    judged = [*tree(state)] if way.composite else [state]
    suspects = _taken_out(judged)
    for each in judged:
        known = before.get(id(each))
        names = each.__plan__.variables if way.composite else way.writes
        if known is None and each is not state:
            names = tuple(each.__plan__.fields)  # A new part: its parameters, too.
        for name in names:
            old = UNSET if id(each) in suspects else (known or {}).get(slot(name), UNSET)
            judge_variable(each, name, old, state)


def _taken_out(states: Iterable[State]) -> set[int]:
    """Take these instances out of `SUSPECT`; the `id`s of those that were in it."""
    if not SUSPECT:
        return set()
    found = {id(each) for each in states} & SUSPECT.keys()
    _ = [*map(SUSPECT.pop, found, repeat(None))]  # No interrupt leaves one.
    return found


def judge_variable(state: State, name: str, old: Any, whole: State | None = None) -> None:
    """Raise `Broken` where this variable is out of its bounds.

    `old` is its value before the step; `whole` is the outermost machine, which messages start from.
    """
    found = _breach_of(state, name, old)
    if found is not None:
        where = "" if whole is None else path_to(whole, state)
        raise out_of_bounds(f"{where}{name}", found)


def part_breached(part: State, names: Sequence[str], before: Sequence[Any]) -> bool:
    """Whether one of these variables of a part is out of its bounds; `before`: what they were when
    the step began. It does not look at other parts."""
    return any(
        _breach_of(part, each, old) is not None for each, old in zip(names, before, strict=True)
    )


def _breach_of(state: State, name: str, old: Any) -> str | None:
    """Where a variable that a step may have changed is out of its bounds, and how."""
    kind = state.__plan__.fields[name]
    value = getattr(state, slot(name), UNSET)
    if value is old or value is UNSET or not bounded(kind):
        return None
    if id(state) in SUSPECT or old is UNSET or not _screened(kind):
        return breach(value, kind)
    return None


def _screened(kind: t.Type) -> bool:
    """Whether generated code judges every write into a container of this type when it happens."""
    match kind:
        case t.Seq(most=most) | t.Bag(most=most):
            return most is None and not limited(kind)
        case _:
            return isinstance(kind, t.Map | t.Set) and not limited(kind)


def limited(kind: t.Type) -> bool:
    """Whether a list or bag inside, changed in place, has a greatest length of its own."""
    match kind:
        case t.Seq(item=inner, mutable=True) | t.Map(value=inner, mutable=True):
            match inner:
                case t.Seq(mutable=True, most=int()) | t.Bag(most=int()):
                    return True
                case _:
                    return limited(inner)
        case _:
            return False


def judge_all(state: State) -> None:
    """Raise `PropertyViolated` where a variable of a new instance, or of a part of it, is out of
    its bounds.
    """
    plan = state.__plan__
    for each in tree(state):
        for name in plan.variables if each is state else each.__plan__.fields:
            try:
                judge_variable(each, name, UNSET, state)
            except Broken as broken:
                raise PropertyViolated(plan.name, "initial", broken.name, broken.what) from None


def judge_suspect(state: State, way: Way) -> None:
    """Raise `Broken` if a value out of bounds was written in this step and is still there."""
    if id(state) in SUSPECT:
        judge(state, way, [])


def out_of_bounds(what: str, found: str) -> Broken:
    """The breach of a variable, or of the output."""
    inside = found[0] in "[. "
    return Broken("bounds", plain_site(f"{what}{found}" if inside else f"{what}: {found}"))


def judge_output(output: Any, kind: t.Type) -> Any:
    """The output; raises `Broken` where it is out of its bounds."""
    found = breach(output, kind)
    if found is not None:
        raise out_of_bounds("the output", found)
    return output


def off_target(at: Any, allowed: Sequence[str]) -> Broken:
    """The exception where the body leaves the control state in no state that `target` names."""
    return Broken("bounds", plain_site(reasons.source("the state after", at.name, allowed)))


# What the caller sees.


def choose(state: State, way: Way, args: tuple[Any, ...]) -> Any:
    """Run a whole step of the outermost machine; where it raises, nothing has changed."""
    saved = save(state, way)
    undo = undoing(saved)
    try:
        state.__environment__.last_transition, output = decide(state, way, args, saved)
        if bounded(way.output):
            judge_output(output, way.output)
        judge(state, way, saved)
        return output
    except BaseException as error:
        _ = [*undo]
        raise_from(error, state, way)


def failed(error: BaseException, state: State, way: Way, args: tuple[Any, ...]) -> Any:
    """Raise the exception that the caller sees, after the step of a method was undone.

    Of several transitions one whose body refuses after its first change is not the one that runs:
    `choose` looks again. Returns None where an `ignore` covers the refusal.
    """
    _taken_out(tree(state) if way.composite else (state,))
    if isinstance(error, Refusal):
        if len(way.candidates) > 1:
            return choose(state, way, args)
        try:
            if way.ignores and ignored(state, way, args):
                state.__environment__.last_transition = None
                return None
        except NO_VALUE as fault:
            error = fault
        else:  # A part's event is refused, maybe by several transitions.
            rows = [(each.name, error) for each in way.candidates]
            trace, error.__traceback__ = error.__traceback__, None
            error = AllRefused(rows).with_traceback(trace)
    try:
        raise_from(error, state, way)
    finally:
        del error  # See `raise_from`.


def failed_observed(error: BaseException, state: State, way: Way, args: tuple[Any, ...]) -> Any:
    """The same for a method of observed instances, which leaves the choice to its caller."""
    if isinstance(error, (Refusal, *FAULTS)) and not of_a_handler(error):
        return UNDECIDED
    return failed(error, state, way, args)


def turned_away(
    state: State, way: Way, args: tuple[Any, ...], site: Site, why: str, *values: Any
) -> None:
    """A guard of the only transition is false: the event is ignored, or else refused."""
    try:
        if ignored(state, way, args):
            state.__environment__.last_transition = None
            return
    except NO_VALUE as fault:
        raise_from(fault, state, way)
    raise refusal(state, way, site, why, *values)


def unserved(state: State, way: Way, args: tuple[Any, ...]) -> Any:
    """Guards of all transitions are false: the event is ignored, or else refused."""
    try:
        if way.conditional and ignored(state, way, args):
            state.__environment__.last_transition = None
            return None
        rows: list[FalseGuard] = []
        for each in state.__plan__.guards_of(way):
            row = each.first_false(state, *args)
            if row is None:  # The time has gone on since.
                return choose(state, way, args)
            rows.append((each.name, row))
    except (*FAULTS, Refusal) as error:
        return chosen_again(error, state, way, args)
    raise Refused.later((_worded, state.__plan__, way, control(state), rows))


def chosen_again(error: BaseException, state: State, way: Way, args: tuple[Any, ...]) -> Any:
    """What the event does where a guard that was evaluated early raised this."""
    let_out(error)
    return choose(state, way, args)


def refusal(state: State, way: Way, site: Site, why: str, *values: Any) -> Refused:
    """The refusal of the only transition, as the caller sees it."""
    rows = ((way.candidates[0].name, (site, why, values)),)
    return Refused.later((_worded, state.__plan__, way, control(state), rows))


def _worded(
    plan: Plan, way: Way, at: Any, rows: Sequence[FalseGuard]
) -> tuple[str, str, str, tuple[Reason, ...]]:
    """What a refusal says, where `rows` are the transitions' false guards."""
    reasons = tuple(worded(name, *row) for name, row in rows)
    return plan.name, way.event, getattr(at, "name", ""), reasons


def raise_from(error: BaseException, state: State, way: Way) -> NoReturn:
    """Raise the error as the caller sees it: with the names of the machine and its event.

    No frame of its traceback holds the error, so that it is freed, with the parts of the step, when
    the caller lets it go.
    """
    trace = error.__traceback__
    if isinstance(error, Refusal):
        raise _refused(error, state, way).with_traceback(trace) from None
    name = state.__plan__.name
    if isinstance(error, Broken):
        what = error.name, error.what
        raise PropertyViolated(name, way.event, *what).with_traceback(trace) from None
    if isinstance(error, NO_VALUE) and not of_a_handler(error):
        raise Undefined(name, way.event, _without_value(error)).with_traceback(trace) from error
    try:
        raise error
    finally:
        del error


def _refused(error: Refusal, state: State, way: Way) -> Refused:
    """The refusal as the caller sees it; its reasons are worded when they are read.

    Who keeps it keeps the error, and so must not keep the frames of the step, too.
    """
    error.__traceback__ = None
    return Refused.later((_reworded, state.__plan__, way, control(state), error))


def _reworded(
    plan: Plan, way: Way, at: Any, error: Refusal
) -> tuple[str, str, str, tuple[Reason, ...]]:
    """What a refusal says that was raised inside a step."""
    name = getattr(at, "name", "")
    if isinstance(error, AllRefused):
        return plan.name, way.event, name, error.reasons
    return plan.name, way.event, name, (error.reason(way.candidates[0].name),)


def _without_value(error: BaseException) -> str:
    """The line of the declaration that has no value, and the message of Python's exception."""
    said_by = f"{type(error).__name__}: {text_of_error(error)}"
    trace = error.__traceback__
    where = ""
    while trace is not None:
        file, line = trace.tb_frame.f_code.co_filename, trace.tb_lineno
        if not file.startswith(RUNTIME):
            text = linecache.getline(file, line).strip()
            where = f"{text} ({file}:{line}): "
        trace = trace.tb_next
    return where + said_by
