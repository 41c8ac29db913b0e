"""The search with generated steps over orbits: of states that differ in the names of elements, one.

It keeps the canonical state of each orbit. A run to one is told in its names: each state before it
is renamed as the steps between ask for it, so that the run is one of the machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ...reference import Done
from ...reference.properties import PropertyOf
from ...reference.states import State
from ..checkpoints import Items, Snapshots
from ..expansion.orbits import OrbitSteps
from ..expansion.sorted_orbits import orbit_steps
from ..layout.layouts import NotGenerated
from ..layout.packing import unpack
from ..limits import Limits, Progress
from ..refinement import refinements
from ..search_result import Path, chain
from ..space import Args, Event, Space
from ..symmetry import Symmetry
from .engine import PackedSearch, Tier
from .plain import interpreted

Elements = Mapping[Any, Any]  # What each element is renamed to.


class Orbit(NamedTuple):
    """The words of an orbit's canonical state, how many states the orbit has, and the renaming by
    which a state became canonical."""

    words: tuple[int, ...]
    size: int
    by: Elements


class OrbitSearch(PackedSearch):
    """A search of the orbits of a `Space`."""

    _canonical: Callable[..., int] | None = None
    _cells: list[int]

    @property
    def orbits(self) -> OrbitSteps:
        """The steps, which give canonical states."""
        assert isinstance(self.stepping, OrbitSteps)
        return self.stepping

    @property
    def symmetry(self) -> Symmetry:
        """The interchangeable elements."""
        return self.orbits.symmetry

    @property
    def distinct(self) -> int:
        """How many states the orbits have that were found."""
        counted = self.store.totals[self.orbits.notes["orbit"]]
        rest = (*self.escaped, *range(self.expanded, self.count))
        return counted + sum(self._size(number) for number in rest)

    @property
    def graph(self) -> None:
        """Which element takes a step is not known: no liveness is judged."""
        return

    def _size(self, number: int) -> int:
        return self._orbit(tuple(self.store.words_of(number))).size

    def _orbit(self, words: tuple[int, ...]) -> Orbit:
        s = self.orbits
        if self._canonical is None:
            self._canonical = interpreted(s.program.source, s.space.ask, "canonicalised")
            self._cells = s.program.begun
        if self._canonical(self._cells, words, 0) == 0:
            least = tuple(self._cells[s.best : s.best + s.words])
            return Orbit(least, s.total // self._cells[s.same], s.found(self._cells))
        # Too many renamings are left to be tried; so they are of every state of this orbit.
        state = s.codec.decode(s.whole, unpack(s.slots, words))
        placed, size, by = self.symmetry.placed(state)
        return Orbit(super()._packed(placed), size, by)

    def _packed(self, state: State) -> tuple[int, ...]:
        return self._orbit(super()._packed(state)).words

    def _alike(self, j: PropertyOf, numbers: dict[Args, int]) -> dict[Args, int]:
        kinds = [plan.type for plan in j.rule.plans]
        patterns = {args: self.symmetry.pattern(args, kinds) for args in numbers}
        firsts: dict[Args, int] = {}
        for args, number in numbers.items():
            if number >= 0:
                known = firsts.get(patterns[args], number)
                firsts[patterns[args]] = min(known, number)
        return {args: firsts.get(patterns[args], -1) for args in numbers}

    # Runs.

    def path(self, at: int) -> Path:
        """A run of the machine whose last state is this one."""
        numbers = chain(self, at)
        states: list[State] = [self.states[n] for n in numbers[-1:]]
        events: list[Event] = []
        names: Elements = {e: e for e in self.orbits.members}
        for before, after in zip(numbers[-2::-1], numbers[:0:-1], strict=True):
            (rule, args), step = self._between(before, after)
            names = {e: names[step[e]] for e in names}
            states.append(self.symmetry.renamed(self.states[before], names))
            events.append((rule, self._renamed(rule, args, names)))
        return states[::-1], events[::-1]

    def _between(self, before: int, after: int) -> tuple[Event, Elements]:
        """The first event by which an orbit was reached, and the renaming after it."""
        rule, wanted = self.store.parent(after)[1], tuple(self.store.words_of(after))
        for edge in self.space.edges(self.states[before]):
            if edge.rule != rule or edge.cut is not None or not isinstance(edge.outcome, Done):
                continue
            orbit = self._orbit(super()._packed(edge.outcome.state))
            if orbit.words == wanted:
                return (rule, edge.args), orbit.by
        raise AssertionError(f"no step leads from state {before} to the orbit of state {after}")

    def _renamed(self, rule: int, args: Args, names: Elements) -> Args:
        kinds = [plan.type for plan in self.space.rules[rule][0].plans]
        leaves = self.symmetry.leaves
        pairs = zip(args, kinds, strict=True)
        return tuple(leaves.value(v, kind, lambda e, _: names.get(e, e)) for v, kind in pairs)


def search(
    of: tuple[Space, Symmetry],
    limits: Limits,
    progress: Callable[[Progress], None] | None = None,
    tier: Tier | None = None,
    snapshots: tuple[Snapshots, Items | None] | None = None,
) -> OrbitSearch:
    """Search one state of each orbit; as `engine.search`."""
    space, symmetry = of
    if refinements(space):
        raise NotGenerated("refinements with symmetry")
    space.preparation = limits.of_seconds(time.perf_counter())
    steps = orbit_steps(space, symmetry)
    return OrbitSearch.by(steps, limits, tier).go(progress, snapshots)
