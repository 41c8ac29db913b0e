"""Steps: which transition runs, and how what was done is undone.

Containers are not changed where they stand once a step is over (see `step`), so to remember a
state is to remember what its names stand for.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from lawful.spec.outcomes import Ambiguous, Reason

from .guards import AllRefused, Broken, Refusal, elsewhere
from .plan import Candidate, State, Way

# What Python raises where an operation has no value.
NO_VALUE = (LookupError, ArithmeticError, ValueError, TypeError, AttributeError)

def step(state: State, way: str, *args: Any) -> Any:
    """A part's event within a step of its whole; what it does is undone by the whole."""
    entry = state.__plan__.ways[way]
    if len(entry.candidates) == 1 and not entry.ignores:
        return entry.candidates[0].run(state, *args)
    return decide(state, entry, args)


def possible(state: State, way: str, *args: Any) -> bool:
    """Whether that call would not be refused. Changes nothing."""
    return not reasons(state, state.__plan__.ways[way], args)


def reasons(
    state: State, way: Way, args: tuple[Any, ...], ignoring: bool = True
) -> tuple[Reason, ...]:
    """Why the call would be refused; empty where it would not. Changes nothing.

    Without `ignoring` an event that would be ignored counts as refused.
    """
    saved = save(state, way)
    try:
        decide(state, way, args, ignoring)
    except AllRefused as refusal:
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
                state.__plan__.name, way.event,
                f"both {taken[0]} and {candidate.name} are enabled: call one of them",
            )  # fmt: skip
        taken = candidate.name, after, result
        if candidate is not candidates[-1]:
            restore(saved)
    if taken is not None:
        restore(taken[1])
        state.__note__ = taken[0]
        return taken[2]()
    if ignoring and ignored(state, way, args):
        state.__note__ = None
        return None
    order = [candidate.name for candidate in way.candidates]
    raise AllRefused(sorted(refused, key=lambda reason: order.index(reason.transition)))


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
                tr for tr in state.__plan__.machine.transitions if tr.name == candidate.name
            )
            assert transition.control is not None
            site = elsewhere(transition.control, transition.source or ())
            value = getattr(state, "state")  # noqa: B009  # a machine's own variable
            refused.append(Refusal(site, "", value).reason(candidate.name))


def ignored(state: State, way: Way, args: tuple[Any, ...]) -> bool:
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
        return [_saved(s, s.__plan__.variables) for s in tree(state)]
    return [_saved(state, way.writes)]


def _saved(state: State, names: tuple[str, ...]) -> Saved:
    return state, names, _values(state, names), state.__odd__


def _values(state: State, names: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(getattr(state, name, UNSET) for name in names)


def restore(saved: list[Saved]) -> None:
    """Put back what was saved."""
    for state, names, values, odd in saved:
        state.__odd__ = odd
        for name, value in zip(names, values, strict=True):
            if value is not UNSET:
                setattr(state, name, value)
            elif hasattr(state, name):
                delattr(state, name)


def tree(state: State) -> Iterator[State]:
    """The state, and those of all parts."""
    yield state
    for name, family in state.__plan__.families.items():
        held = getattr(state, name, None)
        for part in () if held is None else held.values() if family else (held,):
            yield from tree(part.__state__)
