"""The steps of packed states with their arguments, for the graph that liveness is judged on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from ...reference import Done
from ...reference.states import State
from ..expansion.properties import LIVE, column_of
from ..expansion.successors import RULES, Stepping
from ..layout.layouts import NotGenerated, elements
from ..layout.numbering import uncode
from ..liveness.fairness import Bits
from ..liveness.graph import Graph
from ..space import Event, Space
from .plain import Expanding
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
        known = states.store.stepping
        self.stepping = known if known.labelled else Stepping(space.flat, space.world, space, True)
        self.steps = Expanding(self.stepping)
        self.labels = Labels(self.stepping)

    def of(self, number: int) -> Iterator[Step]:
        """The steps of a state that are no faults."""
        store, words = self.states.store, self.stepping.words
        _, n = self.steps.expanded(store.words_of(number), 0)
        out, first = self.steps.out, self.steps.room * words
        for e in range(n):
            label = out[first + e]
            if label < 0:
                yield self.labels.event(-1 - label), -1
            else:
                target = store.find(tuple(out[e * words : (e + 1) * words]))
                yield self.labels.event(label), target


class Labels:
    """What the labels of steps mean; see `expansion.successors`."""

    def __init__(self, stepping: Stepping) -> None:
        self.stepping = stepping
        self._events: dict[int, Event] = {}

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
            number, code = divmod(number, elements(layout))
            args.insert(0, s.codec.decode(layout, uncode(layout, code)))
        return rule, tuple(args)
