"""The choice of the transition that an event runs, and the undoing of steps.

A step replaces a container by a copy before it changes it (see `compile.statements`), so a state
is saved by saving references to its values. Containers that `compile.in_place` changes in place
have an undo record of their own.
"""

from __future__ import annotations

import enum
import functools
import operator
from collections.abc import Callable, Iterator
from itertools import chain, repeat, starmap
from typing import Any, TypeVar

from lawful.spec.outcomes import Ambiguous, Reason
from lawful.spec.quick_dataclass import dataclass
from lawful.spec.syntax.declare import slot
from lawful.spec.values.text import text_of

from .guards import AllRefused, Broken, Refusal
from .plan import Candidate, Way
from .signal_handlers import let_out
from .state import State
from .suspects import SUSPECT, suspect

T = TypeVar("T")

# What Python raises where an operation has no value.
# The last one is raised where nothing that ran has assigned a local.
NO_VALUE = (
    LookupError,
    ArithmeticError,
    ValueError,
    TypeError,
    AttributeError,
    NameError,
)
FAULTS = (*NO_VALUE, Broken)
UNSET = object()
UNIVERSE = ("universe", "members")  # Of an environment, what the growth of a sort changes.


@dataclass(frozen=True, slots=True)
class Saved:
    """The values of some slots of a state, or of its environment; `suspect`: whether it is in
    `SUSPECT`; `whole`: each slot has a value."""

    state: Any
    slots: tuple[str, ...]
    values: tuple[Any, ...]
    suspect: bool
    whole: bool


@dataclass(slots=True)
class _Taken:
    """The enabled candidate, its output or the fault it raised, and the state after it."""

    candidate: Candidate
    output: Any
    fault: BaseException | None
    after: list[Saved]


def at_one_instant(method: Callable[..., Any]) -> Callable[..., Any]:
    """The event's method with the time paused while it runs, so that a step sees one instant."""

    @functools.wraps(method)
    def run(self: Any, *args: Any, **named: Any) -> Any:
        time = self.__environment__
        clock = time.clock.now
        if time.now != clock or self.__watch__ is not None:  # A watch pauses it itself.
            return method(self, *args, **named)
        instant = clock()
        time.now = lambda: instant
        try:
            return method(self, *args, **named)
        finally:
            time.now = clock  # No call: an interrupt comes before it or after it.

    return run


def paused(state: State, act: Callable[..., T], given: tuple[Any, ...]) -> T:
    """Act on the state with the time paused, so that the whole act sees one instant."""
    time = state.__environment__
    clock = time.clock.now
    if time.now != clock:
        return act(state, *given)
    instant = clock()
    time.now = lambda: instant
    try:
        return act(state, *given)
    finally:
        time.now = clock  # No call, as above.


def step(state: State, way: str, *args: Any) -> Any:
    """Run a part's event or `@initial` in a step of its whole, which undoes it where it fails."""
    entry = state.__plan__.ways.get(way) or state.__plan__.starts[way]
    if len(entry.candidates) == 1 and not entry.ignores:
        return entry.candidates[0].run(state, *args)
    return decide(state, entry, args, save(state, entry))[1]


def possible(state: State, way: str, *args: Any) -> bool:
    """Whether a call of a part's event would not be refused. Changes nothing."""
    return not refuses(state, state.__plan__.ways[way], args)


def refuses(state: State, way: Way, args: tuple[Any, ...]) -> bool:
    """Whether the call would be refused. Changes nothing.

    Where the guards before the first change decide, and those of a part whose event is called next,
    nothing else is run; elsewhere `attempt` does.
    """
    found = state.__plan__.guards_of(way)
    if len(found) == len(way.candidates):
        try:
            for each in found:
                if each.first_false(state, *args) is not None:
                    continue
                if each.goes_on is not None and not each.goes_on(state, *args):
                    continue
                if each.decide:
                    return False
                break
            else:
                return not (way.ignores and ignored(state, way, args))
        except (*FAULTS, Refusal) as error:
            let_out(error)
    return attempt(state, way, args) is not None


def reasons(state: State, way: Way, args: tuple[Any, ...]) -> tuple[Reason, ...]:
    """Why the call would be refused; empty where it would not. Changes nothing."""
    refusal = attempt(state, way, args)
    return () if refusal is None else refusal.reasons


def attempt(
    state: State, way: Way, args: tuple[Any, ...], ignoring: bool = True
) -> AllRefused | None:
    """How the call would be refused, or None. Changes nothing.

    Without `ignoring` an event that would be ignored counts as refused.
    """
    saved = save(state, way)
    undo = undoing(saved)
    try:
        decide(state, way, args, saved, ignoring)
    except AllRefused as refusal:
        return refusal
    except (*FAULTS, Ambiguous) as error:
        let_out(error)
        return None  # The machine's own fault is no refusal.
    finally:
        _ = [*undo]
    return None


def decide(
    state: State, way: Way, args: tuple[Any, ...], saved: list[Saved], ignoring: bool = True
) -> tuple[str | None, Any]:
    """Run the one enabled candidate, else take a matching `ignore`, else refuse with all reasons.

    Returns the candidate's name, None where the event is ignored, and its output. `saved` is the
    present state. The changes of a candidate that refuses are undone; if the enabled candidate
    fails, the caller undoes its changes.
    """
    refused: list[tuple[str, Refusal]] = []
    candidates = [c for c in way.candidates if _is_here(c, state, refused)]
    taken = tried = None
    for candidate in candidates:
        tried = _try(state, candidate, args, refused)
        if tried is None:
            restore(saved)
            continue
        if taken is not None:
            raise _ambiguous(state, way, (taken.candidate, candidate))
        taken = tried
        if candidate is not candidates[-1]:
            taken.after = [_saved(s.state, s.slots) for s in saved]
            restore(saved)
    if taken is not None:
        restore(taken.after)
        for row in taken.after:
            if row.suspect:  # Undoing the candidates after it has taken the mark away.
                suspect(row.state)
        if taken.fault is not None:
            try:
                raise taken.fault
            finally:  # The exception leads to this frame, which would keep the parts of the step.
                del taken, tried
        return taken.candidate.name, taken.output
    if ignoring and way.ignores and ignored(state, way, args):
        return None, None
    order = [candidate.name for candidate in way.candidates]
    raise AllRefused(sorted(refused, key=lambda row: order.index(row[0])))


def _is_here(candidate: Candidate, state: State, refused: list[tuple[str, Refusal]]) -> bool:
    """Whether the control state admits the candidate; if not, its refusal is added to `refused`."""
    if candidate.source is None or control(state) in candidate.source:
        return True
    assert candidate.elsewhere is not None
    refused.append((candidate.name, Refusal(candidate.elsewhere, "", control(state))))
    return False


def _try(
    state: State, candidate: Candidate, args: tuple[Any, ...], refused: list[tuple[str, Refusal]]
) -> _Taken | None:
    try:
        return _Taken(candidate, candidate.run(state, *args), None, [])
    except Refusal as refusal:
        # Its traceback would lead to this list, and keep the parts of the step.
        refused.append((candidate.name, refusal.with_traceback(None)))
        return None
    except FAULTS as fault:
        let_out(fault)
        return _Taken(candidate, None, fault, [])


def _ambiguous(state: State, way: Way, both: tuple[Candidate, Candidate]) -> Ambiguous:
    names = " and ".join(candidate.name for candidate in both)
    what = f"both {names} are enabled: call one of them"
    return Ambiguous(state.__plan__.name, way.event, what)


def control(state: State) -> Any:
    """The control state; None for a machine that has none."""
    at = state.__plan__.control_slot
    return None if at is None else getattr(state, at, None)  # It may not have started.


def control_name(state: State) -> str | None:
    """The name of the control state; None for a machine that has none."""
    name: str | None = getattr(control(state), "name", None)
    return name


def ignored(state: State, way: Way, args: tuple[Any, ...]) -> bool:
    """Whether one of the way's `ignore`s matches."""
    return any(
        (row.source is None or control(state) in row.source)
        and (row.when is None or row.when(state, *args))
        for row in way.ignores
    )


# Undoing.


def save(state: State, way: Way) -> list[Saved]:
    """Save what the way may change."""
    rows = save_all(state) if way.composite else [_saved(state, way.slots)]
    return [*rows, _saved(state.__environment__, UNIVERSE)] if way.grows else rows


def save_all(state: State) -> list[Saved]:
    """Save the whole instance with its parts, before it does events that may all be undone."""
    return [_saved(each, each.__plan__.slots) for each in tree(state)]


def _saved(state: Any, slots: tuple[str, ...]) -> Saved:
    try:
        values = tuple([getattr(state, each) for each in slots])
        return Saved(state, slots, values, id(state) in SUSPECT, True)
    except AttributeError:  # Before an `@initial` not everything has a value.
        values = tuple(getattr(state, each, UNSET) for each in slots)
    return Saved(state, slots, values, id(state) in SUSPECT, False)


def reader(slots: tuple[str, ...]) -> Callable[[State], tuple[Any, ...]]:
    """The function that gives the values of these slots."""
    if len(slots) > 1:
        return operator.attrgetter(*slots)
    return lambda state: tuple([getattr(state, each) for each in slots])


def restore(saved: list[Saved]) -> None:
    """Put back what was saved."""
    _ = [*undoing(saved)]


def undoing(saved: list[Saved]) -> Iterator[object]:
    """What was saved is put back while this is read to its end, `_ = [*undo]`, once.

    That line runs no Python code and calls nothing by name. So CPython delivers no signal before
    its end, and it needs no deeper stack than `save` did. A handler that begins with it undoes the
    step whole, whatever comes.
    """
    if len(saved) == 1 and saved[0].whole and not saved[0].suspect:
        row = saved[0]
        back = map(setattr, repeat(row.state), row.slots, row.values)
        return chain(back, map(SUSPECT.pop, (id(row.state),), repeat(None)))
    cells = [
        (row.state, *each) for row in saved for each in zip(row.slots, row.values, strict=True)
    ]
    absent = [(state, each) for state, each, value in cells if value is UNSET]
    return chain(
        starmap(setattr, cells),
        starmap(delattr, absent),
        map(SUSPECT.pop, [id(row.state) for row in saved if not row.suspect], repeat(None)),
    )


def tree(state: State) -> Iterator[State]:
    """The state, and those of all parts."""
    yield state
    for name, family in state.__plan__.families.items():
        held = getattr(state, slot(name), None)
        for part in () if held is None else held.values() if family else (held,):
            yield from tree(part)


def _parts(state: State) -> Iterator[tuple[str, State]]:
    """The states of the parts, by their places."""
    for name, family in state.__plan__.families.items():
        held = getattr(state, slot(name), None)
        if family:
            for key, part in () if held is None else held.items():
                yield f"{name}[{spelled(key)}]", part
        elif held is not None:
            yield name, held


def path_to(whole: State, part: State) -> str:
    """The path from a whole to a part as a prefix of variable names; empty for the whole."""
    for place, each in _parts(whole):
        inner = "" if each is part else path_to(each, part)
        if inner or each is part:
            return f"{place}.{inner}"
    return ""


def spelled(key: Any) -> str:
    """A key as paths show it: the name of an enum's member, else its text."""
    return key.name if isinstance(key, enum.Enum) else text_of(key)
