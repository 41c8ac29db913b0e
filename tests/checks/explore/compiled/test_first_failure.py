"""A search that ends at the first failure ends where the reference search does."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Interval

from lawful import Machine, require, transition
from lawful.checks.explore import Limits
from lawful.checks.explore.compiled.engine import Tier, search
from lawful.checks.explore.search import search as plainly
from lawful.checks.explore.space import Space
from tests.checks.explore.compiled.both_engines import flat_of


class Halting(Machine):
    """At 3 it has no step; the states beyond have some."""

    at: Annotated[int, Interval(ge=0, le=50)] = 0

    @transition()
    def step(self) -> None:
        require(self.at not in (3, 50))
        self.at += 1

    @transition()
    def leap(self) -> None:
        require(self.at in (0, 50))
        self.at = 4


def test_a_search_for_the_first_failure_stops_at_a_deadlock() -> None:
    flat, resolved = flat_of(Halting)
    space, limits = Space(flat, resolved.world), Limits(first=True)
    theirs = plainly(space, limits)
    assert (len(theirs.states), theirs.generated, theirs.depth) == (7, 7, 4)
    tiers: tuple[Tier, ...] = ("generated", "compiled")
    for tier in tiers:
        found = search(space, limits, tier=tier)
        assert (found.count, found.generated, found.depth) == (7, 7, 4)
        assert found.failures == theirs.failures and list(found.failures) == ["deadlock"]
