"""The `@refines` of a machine that generated steps explored, judged once its steps are known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ...reference import Done
from ...reference.missing_values import NoValue
from ...reference.states import State
from ..refinement import Failing, Refining
from ..space import Edge, Space


class RefinementFailure(NamedTuple):
    """The first start or step that an abstract machine does not have."""

    name: str
    number: int  # Of the state that it starts in or steps from.
    edge: Edge | None
    failing: Failing


def refinement_failures(
    refinements: Sequence[Refining],
    states: Sequence[State],
    starts: Iterable[int],
    steps: Iterable[tuple[int, Iterable[int]]],
) -> Iterator[RefinementFailure]:
    """For each `@refines` that fails its first failure, in the order of the search.

    `starts` are the numbers of the initial states; `steps` has for each state the numbers of the
    states that its steps lead to.
    """
    left = list(refinements)
    seen: dict[str, dict[int, State]] = {each.name: {} for each in left}

    def follows(refining: Refining, number: int, target: int) -> Failing | None:
        """As `Refining.follows`; a view is looked up by its state's number, not by the state."""
        known = seen[refining.name]
        try:
            for each in (number, target):
                if each not in known:
                    known[each] = refining.view(states[each])
        except NoValue:
            return refining.follows(states[number], states[target])
        return refining.leads(known[number], known[target])

    for number in starts:
        for refining in tuple(left):
            failing = refining.starts(states[number])
            if failing is not None:
                left.remove(refining)
                yield RefinementFailure(refining.name, number, None, failing)
    for number, targets in steps:
        if not left:
            return
        for target in targets:
            for refining in tuple(left):
                failing = follows(refining, number, target)
                if failing is not None:
                    left.remove(refining)
                    edge = edge_between(refining.space, states[number], states[target])
                    yield RefinementFailure(refining.name, number, edge, failing)


def edge_between(space: Space, before: State, after: State) -> Edge:
    """The first step that leads from one state to another, of which there is one."""
    return next(
        edge
        for edge in space.edges(before)
        if isinstance(edge.outcome, Done) and edge.cut is None and edge.outcome.state == after
    )
