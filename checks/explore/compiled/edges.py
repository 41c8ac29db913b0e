"""The steps of packed states with their arguments, for the graph that liveness is judged on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...reference import Done
from ...reference.states import State
from ..expansion.properties import column_of
from ..expansion.successors import Stepping
from ..layout.layouts import NotGenerated, elements
from ..layout.numbering import uncode
from ..liveness.graph import Graph
from ..space import Event, Space
from .plain import Expanding
from .state_store import States

Find = Callable[[State], int]
Step = tuple[Event, int]  # And the state that it leads to; negative where it is cut.


def graph_by_steps(
    graph: Graph, space: Space, states: States, others: tuple[Sequence[int], Find]
) -> Graph:
    """The steps of states that were expanded; what leads to others leaves the graph.

    `others` are as `labelled` has them. `TimeUp` where the graph's time is over.
    """
    for number, rows in enumerate(labelled(space, states, others)):
        for event, target in rows:
            if not 0 <= target < len(states):
                graph.leaves(*event)
            elif target != number:
                graph.leads(*event, target)
        graph.close()
    return graph


def labelled(
    space: Space, states: States, others: tuple[Sequence[int], Find]
) -> Iterator[Iterator[Step]]:
    """The steps of each of these states that are no faults, in the order of the declaration.

    By generated steps, but for those that are the reference's, whose numbers are given with what
    finds a state's number: all, where arguments have no numbers.
    """
    escaped, find = set(others[0]), others[1]
    try:
        steps: Labelled | None = Labelled(space, states)
    except NotGenerated:
        steps = None
    for number in range(len(states)):
        if steps is None or number in escaped:
            yield by_reference(space, states[number], find)
        else:
            yield steps.of(number)


def by_reference(space: Space, state: State, find: Find) -> Iterator[Step]:
    """The steps of a state that are no faults."""
    for edge in space.edges(state):
        if isinstance(edge.outcome, Done):
            yield (edge.rule, edge.args), -1 if edge.cut else find(edge.outcome.state)


def followed_by_reference(s: Stepping, state: State, find: Find) -> tuple[list[int], list[int]]:
    """The successors of a state within the scope, and its marks."""
    targets = [number for _, number in by_reference(s.space, state, find) if number >= 0]
    marks: list[int] = []
    for j, count in s.marks:
        row = [0] * count
        for args in s.space.arguments(j.rule, state):
            row[column_of(s.codec, j, args)] = s.space.is_true(j.row, state, args)
        marks += row
    return targets, marks


class Labelled:
    """Steps that tell their arguments; NotGenerated where those have no numbers."""

    def __init__(self, space: Space, states: States) -> None:
        self.states = states
        self.stepping = Stepping(space.flat, space.world, space, labelled=True)
        self.steps = Expanding(self.stepping)
        self._events: dict[int, Event] = {}

    def of(self, number: int) -> Iterator[Step]:
        """The steps of a state that are no faults."""
        store, words = self.states.store, self.stepping.words
        _, n = self.steps.expanded(store.words_of(number), 0)
        out, first = self.steps.out, self.steps.room * words
        for e in range(n):
            label = out[first + e]
            if label < 0:
                yield self._event(-1 - label), -1
            else:
                yield self._event(label), store.find(tuple(out[e * words : (e + 1) * words]))

    def _event(self, label: int) -> Event:
        if label not in self._events:
            self._events[label] = self._decoded(label)
        return self._events[label]

    def _decoded(self, label: int) -> Event:
        s = self.stepping
        number, rule = divmod(label, len(s.flat.rules))
        row = s.machine.transition(s.flat.rules[rule].name)
        args: list[Any] = []
        pairs = zip(s.flat.rules[rule].plans, row.function.params, strict=True)
        for plan, (_, declared) in reversed(list(pairs)):
            layout = s.codec.layout(declared, plan.type)
            number, code = divmod(number, elements(layout))
            args.insert(0, s.codec.decode(layout, uncode(layout, code)))
        return rule, tuple(args)
