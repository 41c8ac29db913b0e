"""Walks through a machine: with generated steps, or with the reference engine.

Both choose among the same steps in the same order, and note the same: equal seeds give equal walks.
The generated steps say that something fails in a state, and the reference engine says what.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from random import Random
from typing import Any

from ..reference import Done
from .codegen.text import STATUS
from .compiled.edges import Labels
from .compiled.single_steps import Expansion, SingleSteps, Words
from .layout.forms import Form
from .search import Search, admitted, discover, follow, judge_state
from .space import Edge


class Walker(ABC):
    """Takes walks of a search, which has its initial states; it notes there what is met."""

    engine: str

    def __init__(self, search: Search) -> None:
        self.search = search

    @abstractmethod
    def ways(self, number: int) -> Sequence[Any]:
        """The steps of a state that stay within the scope; the rest of what it admits is noted."""

    @abstractmethod
    def follow(self, number: int, way: Any) -> int:
        """The state to which one of these leads."""

    def walk(self, number: int, steps: int, rng: Random) -> None:
        """A walk from a state, of so many events at most, each chosen among the admitted ones."""
        for taken in range(steps):
            ways = self.ways(number)
            if not ways:
                return
            number = self.follow(number, ways[rng.randrange(len(ways))])
            self.search.depth = max(self.search.depth, taken + 2)


class ReferenceWalker(Walker):
    """Walks with the reference engine."""

    engine = "reference"

    def ways(self, number: int) -> Sequence[tuple[Edge, Done]]:
        return list(admitted(self.search, number))

    def follow(self, number: int, way: tuple[Edge, Done]) -> int:
        return follow(self.search, number, *way)


class PackedWalker(Walker):
    """Walks with generated steps; raises `NotGenerated`, naming it, for what these do not do."""

    engine = "generated"

    def __init__(self, search: Search, form: Form) -> None:
        super().__init__(search)
        self._slow = ReferenceWalker(search)
        self.steps = SingleSteps(search.space, form, labelled=True)
        self._labels = Labels(self.steps.stepping)
        self._words: list[Words] = []
        self._numbers: dict[Words, int] = {}
        self._known: tuple[int, Expansion | None] = -1, None
        self._seen: set[int] = set()  # The witnesses that the reference engine was asked about.
        notes = self.steps.stepping.notes
        self._fails = "deadlock", *STATUS, *notes.properties
        self._handed_back: set[int] = set()
        for state in search.states:
            self._enter(self.steps.packed(state))

    def ways(self, number: int) -> Sequence[Any]:
        made = self._expanded(number)
        if made is None or self._failing(made, *self.steps.stepping.notes.failing):
            return self._slow.ways(number)
        self._count(number, made)
        return list(zip(made.labels, made.after, strict=True))

    def follow(self, number: int, way: Any) -> int:
        search, first = self.search, way[0]
        if isinstance(first, Edge):
            return self._by_reference(number, way)
        if search.refinements:  # The abstract machine is asked about the states as values.
            event = self._labels.event(first)
            outcome = search.space.step(search.states[number], event)
            assert isinstance(outcome, Done)
            return self._by_reference(number, (Edge(*event, outcome, None), outcome))
        after = self._numbers.get(way[1])
        if after is None:
            after = self._discovered(number, first, way[1])
        return after

    def _enter(self, words: Words) -> None:
        self._numbers[words] = len(self._words)
        self._words.append(words)

    def _by_reference(self, number: int, way: tuple[Edge, Done]) -> int:
        after = self._slow.follow(number, way)
        if after == len(self._words):
            self._enter(self.steps.packed(self.search.states[after]))
        return after

    def _discovered(self, number: int, label: int, words: Words) -> int:
        """The number of a new state, which is judged."""
        search, (rule, args) = self.search, self._labels.event(label)
        state = self.steps.state(words)
        search.new[search.space.rules[rule][1].name] += 1
        after = discover(search, (state, state, 1), (number, rule, args))
        self._enter(words)
        made = self._expanded(after)
        if made is None or self._says_more(made):
            judge_state(search, after)
        return after

    def _expanded(self, number: int) -> Expansion | None:
        if self._known[0] != number:
            self._known = number, self.steps.expanded(self._words[number])
            if self._known[1] is None:
                self._handed_back.add(number)
                self.search.handed_back = len(self._handed_back)
        return self._known[1]

    def _failing(self, made: Expansion, first: int, last: int) -> bool:
        """Whether something fails that did not fail before."""
        noted = zip(self._fails, made.info[first:last], strict=True)
        return any(said and name not in self.search.failures for name, said in noted)

    def _says_more(self, made: Expansion) -> bool:
        """Whether a property of states fails, or is reached, that did not or was not before."""
        s = self.steps.stepping
        first = s.notes["property"]
        for i, j in enumerate(s.judged):
            known = j.kind == "step_property" or j.name in self.search.failures
            if made.info[first + i] and not known:
                return True
        reached = {i for i in range(s.notes["witness"], s.notes["mark"]) if made.info[i]}
        new = reached - self._seen
        self._seen |= new
        return bool(new)

    def _count(self, number: int, made: Expansion) -> None:
        """Count the admitted events."""
        search, info, notes = self.search, made.info, self.steps.stepping.notes
        search.generated += info[notes["admitted"]]
        for i, (_, row) in enumerate(search.space.rules):
            if info[notes["enabled"] + i]:
                search.enabled[row.name] += info[notes["enabled"] + i]
        if info[notes["cut"]]:
            search.cut_from.add(number)
            for i, name in enumerate(notes.cuts):
                if info[notes["cut_by"] + i]:
                    search.cut_by[name] += info[notes["cut_by"] + i]
