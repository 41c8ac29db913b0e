"""The `@refines` of a machine that generated steps explored, judged once its steps are known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ...reference import Done
from ...reference.states import State
from ..refinement import Failing, Refining
from ..space import Edge, Space
from .refinement_views import UNSEEN, Views
from .state_store import States


class RefinementFailure(NamedTuple):
    """The first start or step that an abstract machine does not have."""

    name: str
    number: int  # Of the state that it starts in or steps from.
    edge: Edge | None
    failing: Failing


def refinement_failures(
    refinements: Sequence[Refining],
    states: States,
    starts: Iterable[int],
    steps: Iterable[tuple[int, Iterable[int]]],
) -> Iterator[RefinementFailure]:
    """For each `@refines` that fails its first failure, in the order of the search.

    `starts` are the numbers of the initial states; `steps` has for each state the numbers of the
    states that its steps lead to.
    """
    left = [_Judged(each, states) for each in refinements]
    for number in starts:
        for judged in tuple(left):
            failing = judged.refining.starts(states[number])
            if failing is not None:
                left.remove(judged)
                yield RefinementFailure(judged.refining.name, number, None, failing)
    for number, targets in steps:
        if not left:
            return
        for target in targets:
            for judged in tuple(left):
                failing = judged.follows(number, target)
                if failing is not None:
                    left.remove(judged)
                    space = judged.refining.space
                    edge = edge_between(space, states[number], states[target])
                    yield RefinementFailure(judged.refining.name, number, edge, failing)


class _Judged:
    """One `@refines`; a pair of views is judged once, however many steps are seen as it."""

    def __init__(self, refining: Refining, states: States) -> None:
        self.refining = refining
        self.states = states
        self.views = Views(refining, states)
        self.fit: set[tuple[int, int]] = set()

    def follows(self, number: int, target: int) -> Failing | None:
        """As `Refining.follows`, of two states by their numbers."""
        views = self.views
        pair = old, new = views.number(number), views.number(target)
        if UNSEEN in pair:
            return self.refining.follows(self.states[number], self.states[target])
        if old == new or pair in self.fit:
            return None
        failing = self.refining.leads(views.values[old], views.values[new])
        if failing is None:
            self.fit.add(pair)
        return failing


def edge_between(space: Space, before: State, after: State) -> Edge:
    """The first step that leads from one state to another, of which there is one."""
    return next(
        edge
        for edge in space.edges(before)
        if isinstance(edge.outcome, Done) and edge.cut is None and edge.outcome.state == after
    )
