"""The states within a scope with the steps between them: for linting, covering paths and advice.

The fast engine finds the states, and the labels of its steps say which event leads where. Where no
steps can be generated, the reference engine does both, and `engine` says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .compiled.edges import Step
from .compiled.engine import NotGenerated
from .compiled.engine import search as packed
from .limits import Limits, OutOfBudget
from .refinement import refinements
from .search import Search, unbegun, visited
from .search_result import Explored
from .space import Space


@dataclass(frozen=True, slots=True)
class StateGraph:
    """A finished search, the engine that made it, and of each state the steps that are no faults
    and stay within the scope, in the order of the declaration; none if a limit was met."""

    engine: str
    found: Explored
    steps: Sequence[Sequence[Step]]


def state_graph(space: Space, limits: Limits) -> StateGraph:
    """Search the whole space, or until a limit is met, and note all steps.

    Raises `ValueError` where no initial state is within the scope.
    """
    try:
        found = packed(space, limits, labelled=True)
    except OutOfBudget as end:
        return StateGraph("generated", unbegun(space, limits, end), [])
    except NotGenerated as reason:
        slow = Search(space, limits, refinements=refinements(space))
        slow.not_generated = str(reason)
        steps = [[((e.rule, e.args), after) for e, after in rows] for _, rows in visited(slow)]
        return StateGraph("reference", slow, steps if slow.complete else [])
    if not found.complete:
        return StateGraph(found.tier, found, [])
    within = [[step for step in rows if step[1] >= 0] for rows in found.steps()]
    return StateGraph(found.tier, found, within)
