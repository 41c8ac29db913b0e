"""Guards that a reached state needs: there all guards before one are true, and it is false.

Such a guard does not follow from what is proved, so that Z3 need not be asked about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice, takewhile
from typing import Any

from lawful.spec import ir
from lawful.spec.analysis.callee import bind
from lawful.spec.analysis.headers import own_source
from lawful.spec.errors import Place

from ..explore.limits import Budget
from ..explore.space import Space
from ..reference.expressions import SELF, Guard
from ..reference.missing_values import NoValue
from ..reference.states import State

GuardKey = tuple[str, Place]  # The name of a transition, and the place of a guard in it.
STATES = 300
EVENTS = 3_000  # For each transition, over all states.


def needed_guards(space: Space, states: Iterable[State]) -> frozenset[GuardKey]:
    """The guards at the beginning of transitions that refuse in one of these states, the first ones
    of them. In each state all invariants hold; it is within the scope."""
    space.budget = Budget()
    some = list(islice(states, STATES))
    found = set[GuardKey]()
    for place, (_, row) in enumerate(space.rules):
        guards = list(takewhile(_is_guard, row.function.body))
        if guards and _begins_with_them(row):
            found |= _refusing(space, place, guards, some)
    return frozenset(found)


def _begins_with_them(row: ir.Transition) -> bool:
    """Whether nothing else refuses before them, but where `source_fits` says it."""
    return row.timer is None and (row.control is None or own_source(row) is not None)


def _is_guard(s: ir.Stmt) -> bool:
    return isinstance(s, ir.Require)


def _refusing(
    space: Space, place: int, guards: list[ir.Stmt], states: list[State]
) -> set[GuardKey]:
    """Those of the guards of one transition that refuse."""
    row = space.rules[place][1]
    found = set[GuardKey]()
    for state, args in islice(_events(space, place, states), EVENTS):
        refusing = _first_refusing(space, guards, {SELF: state, **bind(row.function.params, args)})
        if refusing is not None:
            found.add((row.name, refusing.place))
        if len(found) == len(guards):
            break
    return found


def _events(
    space: Space, place: int, states: list[State]
) -> Iterator[tuple[State, tuple[Any, ...]]]:
    rule, row = space.rules[place]
    for state in states:
        if space.source_fits(row, state):
            for args in space.arguments(rule, state, planned=False):
                yield state, args


def _first_refusing(space: Space, guards: list[ir.Stmt], env: dict[str, Any]) -> ir.Stmt | None:
    """The first of the guards that is false; None where all are true, or one has no value."""
    for guard in guards:
        assert isinstance(guard, ir.Require)
        try:
            if not space.reference.eval(guard.test, env):
                return guard
        except (NoValue, Guard):
            return None
    return None
