"""The parts of a graph in which a fair behaviour can stay for ever, visiting all of each.

Emerson E. A., Lei C.-L., "Modalities for model checking" (1987), and Lichtenstein O., Pnueli A.,
"Checking that finite state concurrent programs satisfy their linear specification" (1985): strongly
connected components; where a strongly fair group is enabled and no edge takes it, without the
states that enable it, again. A behaviour may stop wherever it is, so a state alone is a component.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .fairness import Bits
from .graph import Graph


def fair_components(graph: Graph, within: Iterable[int]) -> Iterator[list[int]]:
    """Every greatest set of these states whose loop through all its states and steps is fair, each
    in the order of the numbers."""
    left = [set(within)]
    while left:
        inside = left.pop()
        for component in _strong(graph, inside):
            smaller = _judged(graph, component)
            if smaller is None:
                yield sorted(component)
            elif smaller:
                left.append(smaller)


def _judged(graph: Graph, component: set[int]) -> set[int] | None:
    """None where it is fair; else the states in which fair behaviours may still be."""
    groups, taken = graph.groups, 0
    always: Bits = groups.weak
    ever: Bits = 0
    for number in component:
        always &= graph.enabled[number]
        ever |= graph.enabled[number]
        for target, bits in graph.steps(number):
            if target in component:
                taken |= bits
    if always & ~taken:
        return set()
    starved = ever & groups.strong & ~taken
    if not starved:
        return None
    return {number for number in component if not graph.enabled[number] & starved}


def _strong(graph: Graph, inside: set[int]) -> Iterator[set[int]]:
    """The strongly connected components of the graph between these states: R. Tarjan's algorithm
    (1972), without recursion."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    waiting: list[int] = []
    placed: set[int] = set()
    for root in sorted(inside):
        if root in order:
            continue
        order[root] = low[root] = len(order)
        waiting.append(root)
        stack = [(root, graph.steps(root))]
        while stack:
            number, steps = stack[-1]
            for target, _ in steps:
                if target not in inside or target in placed:
                    continue
                if target not in order:
                    order[target] = low[target] = len(order)
                    waiting.append(target)
                    stack.append((target, graph.steps(target)))
                    break
                low[number] = min(low[number], order[target])
            else:
                stack.pop()
                if stack:
                    low[stack[-1][0]] = min(low[stack[-1][0]], low[number])
                if low[number] == order[number]:
                    component = {waiting.pop()}
                    while number not in component:
                        component.add(waiting.pop())
                    placed |= component
                    yield component
