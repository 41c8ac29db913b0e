"""The steps of packed states with their arguments, for the graph that liveness is judged on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from ...reference import Done
from ...reference.states import State
from ..expansion.properties import LIVE, column_of
from ..expansion.successors import RULES, Stepping
from ..layout.layouts import rounds
from ..layout.numbering import uncode
from ..liveness.fairness import Bits
from ..liveness.graph import Graph
from ..space import Event, Space
from .state_store import Followed, States

Find = Callable[[State], int]
Step = tuple[Event, int]  # And the state that it leads to; negative where it is cut.


def graph_by_steps(
    graph: Graph,
    followed: Iterable[Followed],
    states: States,
    given_up: tuple[Collection[int], Find],
) -> list[bytearray]:
    """Fill the graph with the steps of all states that were expanded, which are followed in their
    order: by labelled steps, or else, and of those that were given up, by the reference engine.

    For each value of each of `Stepping.lives`: what it is in each of these states; see `LIVE`.
    `TimeUp` where the graph's time is over.
    """
    s = states.store.stepping
    escaped, find = given_up
    known, first = Labels(s), s.notes.marks + 1
    groups: dict[int, Bits] = {}
    unknown = bytes([LIVE]) * s.notes.lives
    rows = bytearray()
    for number, (targets, labels, marks) in enumerate(followed):
        if number in escaped:
            refer(graph, by_reference(s.space, states[number], find), (number, len(states)))
            rows += unknown
            continue
        for target, label in zip(targets, labels, strict=True):
            if label not in groups:
                groups[label] = graph.groups.bits(*known.event(max(label, -1 - label)))
            if not 0 <= target < len(states):
                graph.leaves(groups[label])
            elif target != number:
                graph.leads(groups[label], target)
        graph.close()
        rows += bytes(marks[first:])
    return [rows[i :: s.notes.lives] for i in range(s.notes.lives)]


def graph_by_reference(graph: Graph, states: States, find: Find) -> None:
    """The same where the steps have no labels."""
    space = states.store.stepping.space
    for number, state in enumerate(states):
        refer(graph, by_reference(space, state, find), (number, len(states)))


def refer(graph: Graph, steps: Iterable[Step], among: tuple[int, int]) -> None:
    """The steps of the state of this number, where there are so many."""
    number, count = among
    for event, target in steps:
        bits = graph.groups.bits(*event)
        if not 0 <= target < count:
            graph.leaves(bits)
        elif target != number:
            graph.leads(bits, target)
    graph.close()


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


class Labels:
    """What the labels of steps mean; see `expansion.successors`."""

    def __init__(self, stepping: Stepping) -> None:
        self.stepping = stepping
        self._events: dict[int, Event] = {}

    def steps(self, followed: Followed) -> Iterator[Step]:
        """The events of a state that was followed, and where they lead."""
        for target, label in zip(followed.targets, followed.labels, strict=True):
            yield self.event(max(label, -1 - label)), target

    def event(self, label: int) -> Event:
        """The rule and the arguments."""
        if label not in self._events:
            self._events[label] = self._decoded(label)
        return self._events[label]

    def _decoded(self, label: int) -> Event:
        s = self.stepping
        number, rule = divmod(label, RULES)
        row = s.machine.transition(s.flat.rules[rule].name)
        args: list[Any] = []
        pairs = zip(s.flat.rules[rule].plans, row.function.params, strict=True)
        for plan, (_, declared) in reversed(list(pairs)):
            layout = s.codec.layout(declared, plan.type)
            number, code = divmod(number, rounds(layout))
            args.insert(0, s.codec.decode(layout, uncode(layout, code)))
        return rule, tuple(args)
