"""The compiled search: packed states, generated steps, and the reference for what is left over.

The compiled code notes in which state something happened first; the reference engine, which
defines what happened, says it of that one state. A state that the generated code gives up
(ESCAPE) is expanded by the reference as a whole, at the end of its level.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..boxes import State
from ..explored import Found
from ..graph import Graph
from ..judged import LIVENESS, Judged
from ..limits import Limits, Progress, Reason, resident
from ..reference import Done, Fault
from ..search import graph_of, may_rest, started, told
from ..snapshots import Items, Snapshots, Unfit, named, taken_up
from ..space import Args, Edge, Failing, Space
from ..verdict import Verdict
from . import core
from .judging import column_of
from .kinds import Unsupported
from .memory import Memory, Parents, States
from .slots import pack
from .stepping import Stepping
from .writing import STATUS

SLICE = 1 << 15  # States expanded between two looks at the clock.
KEPT = (
    "count", "generated", "depth", "starts", "cut_by", "enabled", "new", "failures", "escaped",
    "cut_from", "level",
)


@dataclass
class PackedSearch:
    """A search of a `Space` with compiled steps; see `Explored` for what it leaves."""

    space: Space
    stepping: Stepping
    expand: Callable[..., int]
    limits: Limits
    memory: Memory
    count: int = 0
    generated: int = 0
    depth: int = 0
    complete: bool = True
    stopped: Reason = ""
    earlier: float = 0.0  # Seconds that runs took before, from which this one goes on.
    level: tuple[int, int] = (0, 0)  # The numbers of the states that are expanded now.
    started: float = field(default_factory=time.perf_counter)
    told: float = 0.0
    starts: dict[int, tuple[str | None, Args]] = field(
        default_factory=dict[int, tuple[str | None, Args]]
    )
    cut_by: Counter[str] = field(default_factory=Counter[str])
    enabled: Counter[str] = field(default_factory=Counter[str])
    new: Counter[str] = field(default_factory=Counter[str])
    failures: dict[str, Found] = field(default_factory=dict[str, Found])
    witnesses: dict[str, int] = field(default_factory=dict[str, int])
    unseen: dict[str, list[Args]] = field(default_factory=dict[str, list[Args]])
    escaped: list[int] = field(default_factory=list[int])
    predecessors: list[list[int]] | None = None
    cut_from: set[int] = field(default_factory=set[int])
    marks: Any = None
    _graph: Graph | None = None

    @property
    def states(self) -> States:
        """The states by number."""
        return States(self.stepping, self.memory.arrays.store, self.count)

    @property
    def parents(self) -> Parents:
        """The parents by number."""
        return Parents(self.space, self.states, self.memory.arrays)

    @property
    def graph(self) -> Graph | None:
        """The steps between states, by the reference; None where nothing is asked of them."""
        if self._graph is None and self.space.of_kind(*LIVENESS):
            seconds = self.limits.seconds
            deadline = None if seconds is None else self.started + seconds
            self._graph = graph_of(self.space, self.states, deadline)
        return self._graph

    def before(self, number: int) -> int:
        """The state that a state was first reached from; -1 for an initial one."""
        return int(self.memory.arrays.parents[number])

    def true_in(self, j: Judged, args: Args) -> list[int]:
        """The numbers of the states in which a property is true for these arguments."""
        at = 0
        for other, count in self.stepping.marks:
            if other is j:
                break
            at += count
        column = at + column_of(self.stepping.codec, j, args)
        return [int(n) for n in self.marks[:, column].nonzero()[0]]

    # The search.

    def begin(self) -> None:
        """The initial states, level 1; ValueError where none is within the scope."""
        first: list[State] = []
        for name, args, made in self.space.initial():
            self.generated += 1
            outcome, outside = self.space.placed(made)
            if isinstance(outcome, Fault):
                self.failures.setdefault(outcome.name, started(outcome))
                continue
            if outside is not None:
                self.cut_by[outside] += 1
            elif self.insert(outcome.state, (-1, 0)):
                self.starts[self.count - 1] = (name, args)
                first.append(outcome.state)
        if not self.count and not self.failures:
            raise ValueError(
                f"{self.space.machine.name}: no initial state is within the scope; "
                "nothing would be checked"
            )
        self.depth = 1 if self.count else 0

    def insert(self, state: State, parent: tuple[int, int]) -> bool:
        """Whether a state is new; if so it has a number now."""
        new = self.memory.insert(self._packed(state), self.count, parent)
        self.count += new
        return new

    def _packed(self, state: State) -> tuple[int, ...]:
        s = self.stepping
        return pack(s.slots, s.codec.encode(s.whole, state))

    def kept(self) -> Iterator[tuple[str, Any]]:
        """All that a search needs to go on from here."""
        yield "source", self._digest()
        yield from named(self, KEPT)
        yield "seconds", self.earlier + time.perf_counter() - self.started
        yield from self.memory.kept(self.count)

    def go_on(self, items: Items) -> None:
        """Be where it was when these were kept."""
        if items["source"] != self._digest():
            raise Unfit("the snapshot was written by another version of the compiled engine")
        taken_up(self, KEPT, items)
        self.earlier = items["seconds"]
        self.memory.go_on(self.count, items)

    def _digest(self) -> str:
        return hashlib.sha256(self.stepping.program.source.encode()).hexdigest()

    def run(
        self, progress: Callable[[Progress], None] | None = None, into: Snapshots | None = None
    ) -> None:
        """Level by level, until nothing is new or a limit is met."""
        c = self.memory.arrays.control
        if self.level == (0, 0):
            c[core.NEXT], self.level = 0, (0, self.count)
        while self.level[0] < self.level[1]:
            if not self._level(progress, into):
                self.complete = False
                break
            first, last = self.level
            for number in self.escaped:
                if first <= number < last:
                    self._by_reference(number)
            self.level = last, self.count
            c[core.NEXT] = last
            self.depth += last < self.count
        if into is not None:
            into.write(self.kept())
        self._sum_up()
        if self.complete and self.stepping.marks:
            self._follow()

    def _level(
        self, progress: Callable[[Progress], None] | None, into: Snapshots | None
    ) -> bool:
        """Expand the states of one level that are left; False where a limit was met before."""
        m = self.memory
        c = m.arrays.control
        c[core.LAST], c[core.COUNT] = self.level[1], self.count
        c[core.MOST] = self.limits.states or 1 << 31
        while True:
            c[core.BUDGET] = SLICE
            status = core.search(self.expand, m.arrays, m.words)
            self.count = int(c[core.COUNT])
            self.escaped += [int(n) for n in m.arrays.escapes[: c[core.ESCAPES]]]
            c[core.ESCAPES] = 0
            if status == core.FULL:
                if self._too_large(max(m.room, self.count)):
                    return False
                m.grow(self.count, max(m.room, self.count))
            elif status == core.ROOM:
                m.widen()
            seconds = time.perf_counter() - self.started
            if self._over(seconds):
                return False
            if into is not None and into.due():
                into.write(self.kept())
            if progress is not None and seconds - self.told > 0.2:
                self.told = seconds
                waiting = self.count - int(c[core.NEXT])
                generated = self.generated + int(m.arrays.totals[0])
                seconds += self.earlier
                progress(Progress(self.count, generated, self.depth, waiting, seconds))
            if status == core.LEVEL_DONE:
                return True

    def _too_large(self, more: int) -> bool:
        """Whether place for so many more states is more memory than there may be."""
        limit = self.limits.memory
        if limit is None or resident() + self.memory.size(self.count + more) < limit:
            return False
        self.stopped = "memory"
        return True

    def _over(self, seconds: float) -> bool:
        self.stopped = self.limits.met(self.count, seconds, self._failed())
        return bool(self.stopped)

    def _failed(self) -> bool:
        layout = self.stepping.layout
        at, end = layout["property"], layout["property"] + len(layout.properties)
        fault = layout["fault"]
        firsts = self.memory.arrays.firsts
        met = [*firsts[at:end], *firsts[fault : fault + len(STATUS)], firsts[layout["deadlock"]]]
        return bool(self.failures) or any(n >= 0 for n in met)

    # What the reference engine says.

    def _by_reference(self, number: int) -> None:
        """Expand a state that the compiled steps gave up."""
        space, state = self.space, self.states[number]
        events: Counter[tuple[str, Args]] = Counter()
        admitted = 0
        for j in space.invariants:
            self._invariant(j, number)
        for j in space.partial:
            failing = space.undefined(j, state)
            if failing is not None:
                self._failing(j, number, None, failing)
        for edge in space.edges(state):
            admitted += 1
            self.generated += 1
            row = space.rules[edge.rule][1]
            self.enabled[row.name] += 1
            events[row.event, edge.args] += 1
            if events[row.event, edge.args] == 2 and not space.machine.event(row.event).choice:
                self._note(number, "ambiguous", edge, f"{row.event} has two transitions here")
            if isinstance(edge.outcome, Fault):
                self._note(number, edge.outcome.name, edge, edge.outcome.what)
            elif edge.cut is not None:
                self.cut_by[edge.cut] += 1
                self.cut_from.add(number)
            else:
                self._stepped(number, edge)
                if self.insert(edge.outcome.state, (number, edge.rule)):
                    self.new[row.name] += 1
        if not admitted and not may_rest(space, state):
            self._note(number, "deadlock", None, "no transition is enabled")

    def _note(self, number: int, name: str, edge: Edge | None, why: str) -> None:
        known = self.failures.get(name)
        if known is None or known.at > number:
            verdict = Verdict.UNDEFINED if name == "undefined" else Verdict.VIOLATED
            self.failures[name] = Found(number, edge, why, verdict)

    def _invariant(self, j: Judged, number: int) -> None:
        failing = self.space.failing(j, self.states[number])
        if failing is not None:
            self._failing(j, number, None, failing)

    def _stepped(self, number: int, edge: Edge) -> None:
        assert isinstance(edge.outcome, Done)
        for j in self.space.step_properties:
            known = self.failures.get(j.name)
            if known is None or known.at > number:
                failing = self.space.failing(j, self.states[number], edge.outcome.state)
                if failing is not None:
                    self._failing(j, number, edge, failing)

    def _failing(self, j: Judged, number: int, edge: Edge | None, failing: Failing) -> None:
        known = self.failures.get(j.name)
        if known is None or known.at > number:
            found = Found(number, edge, "", Verdict.VIOLATED)
            self.failures[j.name] = told(self.space, j, failing, found)

    # Summing up.

    def _sum_up(self) -> None:
        layout, totals = self.stepping.layout, self.memory.arrays.totals
        self.generated += int(totals[0])
        for i, (_, row) in enumerate(self.space.rules):
            self.enabled[row.name] += int(totals[layout["enabled"] + i])
        reached = self.memory.by_rule(self.count, len(self.space.rules))
        self.new = Counter({row.name: reached[i] for i, (_, row) in enumerate(self.space.rules)})
        for i, name in enumerate(layout.cuts):
            if totals[layout["cut_by"] + i]:
                self.cut_by[name] += int(totals[layout["cut_by"] + i])
        self._judge_firsts()
        self._witnessed()

    def _judge_firsts(self) -> None:
        """What failed first, told by the reference engine."""
        layout = self.stepping.layout
        for i, j in enumerate(self.stepping.judged):
            number = int(self.memory.arrays.firsts[layout["property"] + i])
            if number < 0:
                continue
            if j.kind == "invariant":
                self._invariant(j, number)
            else:
                for edge in self.space.edges(self.states[number]):
                    if isinstance(edge.outcome, Done) and edge.cut is None:
                        self._stepped(number, edge)
            self._agreed(j.name)
        for i, name in enumerate(STATUS):
            number = int(self.memory.arrays.firsts[layout["fault"] + i])
            if number >= 0:
                self._fault(name, number)
        number = int(self.memory.arrays.firsts[layout["deadlock"]])
        if number >= 0:
            self._note(number, "deadlock", None, "no transition is enabled")

    def _fault(self, name: str, number: int) -> None:
        events: Counter[tuple[str, Args]] = Counter()
        for edge in self.space.edges(self.states[number]):
            row = self.space.rules[edge.rule][1]
            events[row.event, edge.args] += 1
            if name == "ambiguous" and events[row.event, edge.args] == 2:
                why = f"{row.event} has two transitions here"
                if not self.space.machine.event(row.event).choice:
                    self._note(number, name, edge, why)
            if isinstance(edge.outcome, Fault) and edge.outcome.name == name:
                self._note(number, name, edge, edge.outcome.what)
        self._agreed(name)

    def _agreed(self, name: str) -> None:
        if name not in self.failures:
            raise AssertionError(f"compiled steps say that {name} fails, the reference does not")

    def _witnessed(self) -> None:
        at = self.stepping.layout["witness"]
        for j, count in self.stepping.seen:
            every = list(self.space.arguments(j.rule, self.states[0])) if self.count else []
            firsts = self.memory.arrays.firsts
            numbers = {a: int(firsts[at + column_of(self.stepping.codec, j, a)]) for a in every}
            for number in self.escaped:
                for args in every:
                    known = numbers[args]
                    if (known < 0 or known > number) and self.space.is_true(
                        j.row, self.states[number], args
                    ):
                        numbers[args] = number
            self.unseen[j.name] = [a for a in every if numbers[a] < 0]
            if any(n >= 0 for n in numbers.values()):
                self.witnesses[j.name] = max(numbers.values())
            at += count

    # The graph.

    def _follow(self) -> None:
        """All edges, for what has to be judged along paths."""
        s, m = self.stepping, self.memory
        c = m.arrays.control
        graph = m.graph(self.count, int(m.arrays.totals[0]), s.layout.marks)
        c[core.NEXT], c[core.LAST], c[core.COUNT] = 0, self.count, s.layout["mark"]
        status = core.follow(self.expand, m.arrays, graph, s.words)
        assert status == core.LEVEL_DONE
        self.marks = graph.marks.reshape(self.count, s.layout.marks)
        back: list[list[int]] = [[] for _ in range(self.count)]
        begin = 0
        for number in range(self.count):
            for target in graph.edges[begin : graph.ends[number]]:
                back[int(target)].append(number)
            begin = int(graph.ends[number])
        self._follow_escaped(back)
        self.predecessors = back
        self._follow_cuts()

    def _follow_escaped(self, back: list[list[int]]) -> None:
        s = self.stepping
        for number in self.escaped:
            state = self.states[number]
            for edge in self.space.edges(state):
                if isinstance(edge.outcome, Done) and edge.cut is None:
                    back[self.memory.find(self._packed(edge.outcome.state))].append(number)
            at = 0
            for j, count in s.marks:
                for args in self.space.arguments(j.rule, state):
                    column = at + column_of(s.codec, j, args)
                    self.marks[number, column] = self.space.is_true(j.row, state, args)
                at += count

    def _follow_cuts(self) -> None:
        """The states with a step that was cut, if any was."""
        if not self.cut_by:
            return
        a, s = self.memory.arrays, self.stepping
        for number in range(self.count):
            a.info[:] = 0
            self.expand(a.w, a.store, number * s.words, a.out, a.info, self.memory.room)
            if a.info[s.layout["cut"]]:
                self.cut_from.add(number)


def search(
    space: Space,
    limits: Limits,
    progress: Callable[[Progress], None] | None = None,
    snapshots: tuple[Snapshots, Items | None] | None = None,
) -> PackedSearch:
    """Search the whole space with compiled steps, or until a limit is met. Where there are
    snapshots, it goes on from what they hold.

    Raises `Unsupported`, naming it, for what the compiled steps do not do, and `ValueError` where
    no initial state is within the scope.
    """
    stepping = Stepping(space.flat, space.world, space)
    expand = core.compiled(stepping.program.source)
    found = PackedSearch(space, stepping, expand, limits, Memory(stepping))
    into, items = snapshots or (None, None)
    if items is not None:
        found.go_on(items)
    else:
        found.begin()
    found.run(progress, into)
    return found


__all__ = ["PackedSearch", "Unsupported", "column_of", "search"]
