"""Violations of liveness properties: for each violated one a lasso that shows it.

A lasso is a behaviour: a stem of steps, then a loop that it never leaves. The kind of a property
says which lassos violate it (language page, "Properties"):

    eventually p          p is false from the first state on
    infinitely_often p    p is false everywhere on the loop
    eventually_always p   p is false somewhere on the loop
    leads_to (p, q)       p is true in some state; q is false in it and in all later states

The loop is fair (`fair_components`) and has no step that the scope cuts. A property that a part
declares is judged for every such part, in the behaviours of the whole, under the whole's fairness.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from lawful.spec.analysis.callee import bind
from lawful.spec.quick_dataclass import dataclass
from lawful.spec.verdicts import PropertyKind

from ...reference.missing_values import NoValue
from ...reference.properties import Keys, PropertyOf
from ...reference.states import State
from ..space import Args, Space
from .fair_components import fair_components
from .graph import Graph
from .lasso import BUDGET, Loop, Loops

Live = Callable[[PropertyOf, Args], Sequence[int]]


@dataclass(frozen=True, slots=True)
class NoLabel:
    """A property has no value in this state."""

    at: int
    what: str


@dataclass(frozen=True, slots=True)
class NoMember:
    """A property of the members of a family that is not judged, and why."""

    what: str


@dataclass(frozen=True, slots=True)
class Lasso:
    """A fair behaviour that violates a property for these values of its parameters, of the part at
    the path `where` if it is in a family: the numbers of the states of the stem, the last of which
    is the loop's first, and the loop; `since` is where on it what `leads_to` promises is asked
    for."""

    args: Args
    where: str
    stem: tuple[int, ...]
    loop: Loop
    since: int

    def __len__(self) -> int:
        return len(self.stem) - 1 + len(self.loop)


def violation(
    space: Space,
    j: PropertyOf,
    states: Sequence[State],
    parents: Sequence[int],
    graph: Graph,
    *,
    live: Live | None = None,
) -> Lasso | NoLabel | NoMember | None:
    """The shortest violation for any value of the property's parameters; None if there is none.

    `parents` gives for each state the one from which it was found, -1 for an initial state; `live`
    is as `Explored.live`, where something was noted. Raises `TimeUp` when the graph's time is over.
    """
    shortest: Lasso | None = None
    nothing: NoLabel | None = None
    left = [BUDGET]
    members = _members(j, states, graph)
    if isinstance(members, NoMember):
        return members
    for keys, own in members.items():
        for args in space.arguments(j.rule, own[0], planned=False):
            noted = live(j, args) if live is not None and not keys else ()
            rows = _labels(space, j, own, args, graph, noted=noted)
            if isinstance(rows, NoLabel):
                nothing = rows if nothing is None or rows.at < nothing.at else nothing
            elif nothing is None:
                found = Question(j.kind, rows, parents, graph).lasso((args, j.where(keys)), left)
                if found is not None and (shortest is None or len(found) < len(shortest)):
                    shortest = found
    return nothing or shortest


def _members(
    j: PropertyOf, states: Sequence[State], graph: Graph
) -> dict[Keys, Sequence[State]] | NoMember:
    """The states of each machine whose property it is, by the keys of families on the way."""
    if not j.path:
        return {(): states}
    if all(hop.key is None for hop in j.path):
        return {(): Inside(states, j)}
    found: dict[Keys, list[State]] = {keys: [] for keys, _ in j.members(states[0])}
    for state in states:
        graph.in_time()
        there = dict(j.members(state))
        if there.keys() != found.keys():
            return NoMember("members come and go: it is not known of whom it is asked for ever")
        for keys, own in there.items():
            found[keys].append(own)
    return {**found} if found else NoMember("no such part is ever there")


TRUE = 3  # What is noted where a property and what it leads to are true; see `Explored.live`.
Labels = tuple[Sequence[bool], Sequence[bool]]  # Both halves of `leads_to`; else twice the same.


class Inside(Sequence[State]):
    """The states of a part that is always there."""

    def __init__(self, whole: Sequence[State], j: PropertyOf) -> None:
        self.whole = whole
        self.j = j

    def __len__(self) -> int:
        return len(self.whole)

    def __getitem__(self, number: Any) -> Any:
        whole: Any = self.whole[number]
        ((_, state),) = self.j.members(whole)
        return state


def _labels(
    space: Space,
    j: PropertyOf,
    own: Sequence[State],
    args: Args,
    graph: Graph,
    *,
    noted: Sequence[int],
) -> Labels | NoLabel:
    named = bind(j.row.function.params, args)
    first = [bool(cell & 1) for cell in noted]
    second = [cell > 1 for cell in noted]
    left = [number for number, cell in enumerate(noted) if cell > TRUE]
    for number in (*left, *range(len(noted), len(own))):
        graph.in_time()
        try:
            value = space.reference.call_named(j.row.function, own[number], named)
        except NoValue as error:
            return NoLabel(number, str(error))
        p, q = value if j.kind == "leads_to" else (value, value)
        first[number : number + 1] = [p]
        second[number : number + 1] = [q]
    return first, second


@dataclass(frozen=True, slots=True)
class _Way:
    """One way to violate it: the states in which the loop may be, and how many events lead there;
    where from, for those that the stem must come to in a certain way; what the loop must visit."""

    distance: Mapping[int, int]
    via: Mapping[int, int]
    must: Callable[[int], bool]


class Question:
    """Whether a fair behaviour violates one property for one value of its parameters."""

    def __init__(
        self, kind: PropertyKind, labels: Labels, parents: Sequence[int], graph: Graph
    ) -> None:
        self.kind = kind
        self.asked, self.met = labels
        self.parents = parents
        self.graph = graph

    def lasso(self, of: tuple[Args, str], left: list[int]) -> Lasso | None:
        """The shortest, for these arguments of the part there; `left` is the budget of steps to
        look at for it, in one place."""
        best: tuple[int, Loop, _Way] | None = None
        for way in self._ways():
            for component in fair_components(self.graph, way.distance):
                if not any(map(way.must, component)):
                    continue
                loop = Loops(self.graph, component, way.must).best(way.distance, left)
                length = way.distance[loop.states[0]] + len(loop)
                if best is None or (length, loop.states) < (best[0], best[1].states):
                    best = length, loop, way
        if best is None:
            return None
        _, loop, way = best
        path = self._stem(loop.states[0], way)
        run = [*path, *loop.states[1:]]
        late = max((i for i, n in enumerate(run) if self.met[n]), default=-1)
        since = next((i for i in range(late + 1, len(run)) if self.asked[run[i]]), 0)
        return Lasso(*of, tuple(path), loop, since)

    def _ways(self) -> Iterator[_Way]:
        depths = list[int]()
        for before in self.parents:
            depths.append(0 if before < 0 else depths[before] + 1)
        expanded = range(len(self.graph))
        unmet = {n: depths[n] for n in expanded if not self.met[n]}
        match self.kind:
            case "eventually_always":
                everywhere = {n: depths[n] for n in expanded}
                yield _Way(everywhere, {}, lambda n: not self.met[n])
            case "infinitely_often":
                yield _Way(unmet, {}, _anywhere)
            case "eventually":
                yield self._from([n for n in unmet if self.parents[n] < 0], depths)
            case _:
                # What is asked is asked on the way, or again and again on the loop.
                yield self._from([n for n in unmet if self.asked[n]], depths)
                yield _Way(unmet, {}, lambda n: self.asked[n])

    def _from(self, starts: Sequence[int], depths: Sequence[int]) -> _Way:
        distance, via = onward(self.graph, {n: depths[n] for n in starts}, self.met)
        return _Way(distance, via, _anywhere)

    def _stem(self, number: int, way: _Way) -> list[int]:
        path = [number]
        while path[-1] in way.via:
            path.append(way.via[path[-1]])
        while self.parents[path[-1]] >= 0:
            path.append(self.parents[path[-1]])
        return path[::-1]


def onward(
    graph: Graph, starts: Mapping[int, int], met: Sequence[bool]
) -> tuple[dict[int, int], dict[int, int]]:
    """The way on from these states, each at its distance, through such in which a property is not
    met: the least distance of each state, and from which state it is reached: where there are
    several, from the one of the least number."""
    count = len(graph)
    levels: dict[int, list[tuple[int, int]]] = {}  # By their distance: states, and where from.
    for number, distance in starts.items():
        levels.setdefault(distance, []).append((number, -1))
    found: dict[int, int] = {}
    via: dict[int, int] = {}
    while levels:
        length = min(levels)
        further = list[tuple[int, int]]()
        for number, before in sorted(levels.pop(length)):
            if number in found:
                continue
            found[number] = length
            if before >= 0:
                via[number] = before
            for target in graph.targets(number):
                if target < count and not met[target] and target not in found:
                    further.append((target, number))
        if further:
            levels.setdefault(length + 1, []).extend(further)
    return found, via


def _anywhere(number: int) -> bool:
    return number >= 0
