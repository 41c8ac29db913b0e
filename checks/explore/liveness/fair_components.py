"""The parts of a graph in which a fair behaviour can stay for ever, visiting all of each.

Emerson E. A., Lei C.-L., "Modalities for model checking" (1987), and Lichtenstein O., Pnueli A.,
"Checking that finite state concurrent programs satisfy their linear specification" (1985): strongly
connected components; where a strongly fair group is enabled and no edge takes it, without the
states that enable it, again. A behaviour may stop wherever it is, so a state alone is a component.

A state that is on no loop of the whole graph is alone among any states. Which are on a loop is
found out for the second question about a graph, and holds for all that come after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .fairness import Bits
from .graph import Graph


def fair_components(graph: Graph, within: Iterable[int]) -> Iterator[list[int]]:
    """Every greatest set of these states whose loop through all its states and steps is fair, each
    in the order of the numbers; `graph` is complete."""
    known = _on_loops(graph)
    inside = set(within)
    if known is not None:
        for number in sorted(inside - known):
            if _may_rest(graph, number):
                yield [number]
        inside &= known
    left = [inside]
    while left:
        inside = left.pop()
        for component in strong_components(graph, inside):
            smaller = _judged(graph, component)
            if smaller is None:
                yield sorted(component)
            elif smaller:
                left.append(smaller)


def _on_loops(graph: Graph) -> set[int] | None:
    """The states that are on a loop; None for the first question, which takes as long as this."""
    graph.questions += 1
    if graph.on_loops is None and graph.questions > 1:
        components = strong_components(graph, set(range(len(graph))))
        graph.on_loops = {number for each in components if len(each) > 1 for number in each}
    return graph.on_loops


def _may_rest(graph: Graph, number: int) -> bool:
    """Whether a behaviour may stop in a state: nothing asks it not to."""
    return not graph.enabled[number] & (graph.groups.weak | graph.groups.strong)


def _judged(graph: Graph, component: set[int]) -> set[int] | None:
    """None where it is fair; else the states in which fair behaviours may still be."""
    groups, taken = graph.groups, 0
    if len(component) == 1:
        (number,) = component
        return None if _may_rest(graph, number) else set()
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


def strong_components(graph: Graph, inside: set[int]) -> Iterator[set[int]]:
    """The strongly connected components of the graph between these states: R. Tarjan's algorithm
    (1972), without recursion."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}  # Without those that are in a component.
    waiting: list[int] = []
    for root in sorted(inside):
        if root in order:
            continue
        order[root] = low[root] = len(order)
        waiting.append(root)
        stack = [(root, iter(graph.targets(root)))]
        while stack:
            number, targets = stack[-1]
            least = low[number]
            for target in targets:
                if target in low:
                    least = min(least, order[target])
                elif target in inside and target not in order:
                    order[target] = low[target] = len(order)
                    waiting.append(target)
                    stack.append((target, iter(graph.targets(target))))
                    low[number] = least
                    break
            else:
                low[number] = least
                stack.pop()
                if stack and least < low[stack[-1][0]]:
                    low[stack[-1][0]] = least
                if least == order[number]:
                    component = {waiting.pop()}
                    while number not in component:
                        component.add(waiting.pop())
                    for each in component:
                        del low[each]
                    yield component
