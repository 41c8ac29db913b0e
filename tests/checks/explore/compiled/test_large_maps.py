"""Maps that always have each of thousands of keys."""

from __future__ import annotations

import pytest

from lawful import Machine, Scope, Sort, invariant, reachable, total, transition
from lawful.checks.explore.layout.layouts import Index, NotGenerated, elements, key_count
from lawful.spec import types as t
from tests.checks.explore.compiled.test_engine import established, explored


class Node(Sort):
    """A corner of a graph."""


FIRST, LAST = Node("first"), Node("last")


class Graph(Machine):
    """Two edges of 4,225 that there may be."""

    edges: dict[tuple[Node, Node], bool] = total(False)

    @transition()
    def join(self) -> None:
        self.edges[FIRST, FIRST] = True

    @transition()
    def change(self) -> None:
        self.edges[LAST, FIRST] = not self.edges[LAST, FIRST]

    @invariant
    def few_loops(self) -> bool:
        return not any(self.edges[n, n] for n in Node if n != FIRST)

    @reachable
    def both(self) -> bool:
        return self.edges[FIRST, FIRST] and self.edges[LAST, FIRST]

    scope = Scope(Node=65)


def test_steps_are_generated_for_a_map_of_more_than_4096_keys() -> None:
    found = explored(Graph, "generated")
    assert (found.distinct, found.generated, found.depth) == (4, 9, 3)
    assert found.handed_back == 0 and found.as_expected


@pytest.mark.nightly
def test_such_a_map_is_as_in_the_reference_engine() -> None:
    slow = explored(Graph, "reference")
    for engine in ("generated", "compiled"):
        fast = explored(Graph, engine)
        assert (fast.engine, fast.handed_back) == (engine, 0)
        assert established(fast) == established(slow)


def test_as_many_keys_as_there_are_places_and_no_more() -> None:
    """A set has a bit for each element, of which there may be less."""
    assert key_count(Index(t.BOOL, 1 << 16)) == 1 << 16
    assert elements(Index(t.BOOL, 1 << 12)) == 1 << 12
    with pytest.raises(NotGenerated, match="a place for each of 65537 values"):
        key_count(Index(t.BOOL, (1 << 16) + 1))
    with pytest.raises(NotGenerated, match="a place for each of 4097 values"):
        elements(Index(t.BOOL, (1 << 12) + 1))
