"""The search with generated steps: packed states, with the reference engine for the remaining work.

At first the steps are plain Python; when machine code is ready, the search continues with that.
Both find the same states in the same order. They note the number of the state in which something
first failed; the reference engine, which defines the language, says what failed there. If the
generated steps give up a state (ESCAPE), the reference engine expands the whole state.
"""

from __future__ import annotations

import functools
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, Self

from lawful.spec import sha256
from lawful.spec.quick_dataclass import dataclass, field
from lawful.spec.verdicts import LIVENESS

from ...reference import Done, Fault
from ...reference.properties import PropertyOf
from ...reference.states import State
from ...verdict import Verdict
from ..checkpoints import Items, Snapshots, Unfit, named, taken_up
from ..codegen.text import STATUS
from ..expansion.properties import column_of
from ..expansion.successors import Stepping, stepping
from ..initial_states import Start, begin
from ..layout.forms import FORM, Form
from ..layout.layouts import MOST_ROOM, Crowded, NotGenerated
from ..layout.packing import pack
from ..limits import Budget, Limits, OutOfBudget, Progress, Reason, resident
from ..liveness.fairness import Groups
from ..liveness.graph import Graph
from ..refinement import refinements
from ..search import may_rest, told
from ..search_result import FirstFailure, Path, path_of
from ..space import Args, Edge, Failing, Space
from .background import Compiler
from .edges import (
    Labels,
    Step,
    by_reference,
    followed_by_reference,
    graph_by_reference,
    graph_by_steps,
)
from .plain import Plain
from .refinement_failures import refinement_failures
from .state_store import MOST, Parents, Span, States, Store

if TYPE_CHECKING:
    from .llvm import Native

Tier = Literal["generated", "compiled"]  # As plain Python, as machine code.
KEPT = (
    "count",
    "expanded",
    "last",
    "generated",
    "depth",
    "starts",
    "cut_by",
    "enabled",
    "new",
    "failures",
    "escaped",
    "cut_from",
)


@dataclass
class PackedSearch:
    """A search of a `Space` with generated steps; `Explored` describes its result."""

    space: Space
    stepping: Stepping
    limits: Limits
    store: Store
    compiler: Compiler | None = None
    earlier_code: float = 0.0  # Seconds that making machine code took that was left for better.
    not_generated: str = ""
    count: int = 0
    expanded: int = 0  # So many states are, and to this one those of the level.
    last: int = 0
    generated: int = 0
    depth: int = 0
    complete: bool = True
    stopped: Reason = ""
    earlier: float = 0.0  # Seconds that runs took before, from which this one goes on.
    started: float = field(default_factory=time.perf_counter)
    told: float = 0.0
    starts: dict[int, Start] = field(default_factory=dict[int, Start])
    cut_by: Counter[str] = field(default_factory=Counter[str])
    enabled: Counter[str] = field(default_factory=Counter[str])
    new: Counter[str] = field(default_factory=Counter[str])
    failures: dict[str, FirstFailure] = field(default_factory=dict[str, FirstFailure])
    witnesses: dict[str, int] = field(default_factory=dict[str, int])
    unseen: dict[str, list[Args]] = field(default_factory=dict[str, list[Args]])
    escaped: list[int] = field(default_factory=list[int])
    predecessors: list[list[int]] | None = None
    cut_from: set[int] = field(default_factory=set[int])
    marked: list[list[int]] = field(default_factory=list[list[int]])
    lives: list[bytearray] = field(default_factory=list[bytearray])
    _graph: Graph | None = None
    _states: States | None = None

    @property
    def tier(self) -> Tier:
        """The kind of steps at the end of the search."""
        return "generated" if isinstance(self.store, Plain) else "compiled"

    @property
    def handed_back(self) -> int:
        """How many states the generated steps gave up: the reference engine expanded them."""
        return len(self.escaped)

    @property
    def compile_seconds(self) -> float:
        """The seconds that making the machine code took; 0 where none was made for this search."""
        second = self.compiler.seconds if self.compiler is not None else 0.0
        return self.earlier_code + second + self.store.compile_seconds

    @property
    def states(self) -> States:
        """The states by number."""
        if self._states is None or (len(self._states), self._states.store) != (
            self.count,
            self.store,
        ):
            self._states = States(self.store, self.count)
        return self._states

    @property
    def parents(self) -> Parents:
        """The parents by number."""
        return Parents(self.space, self.states)

    @property
    def graph(self) -> Graph | None:
        """The steps of the expanded states; None if no property needs them."""
        if self._graph is None and self.space.of_kind(*LIVENESS):
            known = States(self.store, self.expanded)
            graph = Graph(Groups(self.space.flat), self.limits.over(self.started))
            if self.stepping.labelled:
                followed = self.store.follow(self.expanded)
                given_up = set(self.escaped), self.find
                self.lives = graph_by_steps(graph, followed, known, given_up)
            else:
                graph_by_reference(graph, known, self.find)
            self._graph = graph
        return self._graph

    def steps(self) -> Iterator[Iterator[Step]]:
        """The steps of each expanded state that are not faults, in the order of the declaration; a
        step that is cut has the target -1."""
        escaped, labels = set(self.escaped), Labels(self.stepping)
        states = States(self.store, self.expanded)
        for number, followed in enumerate(self.store.follow(self.expanded)):
            if number in escaped or not self.stepping.labelled:
                yield by_reference(self.space, states[number], self.find)
            else:
                yield labels.steps(followed)

    def find(self, state: State) -> int:
        """The number of a state; negative where the search did not meet it."""
        try:
            return self.store.find(self._packed(state))
        except (NotGenerated, KeyError):  # A state that the words cannot hold was not kept.
            return -1

    @property
    def distinct(self) -> int:
        """How many states were found."""
        return self.count

    def before(self, number: int) -> int:
        """The state that a state was first reached from; -1 for an initial one."""
        return self.store.parent(number)[0]

    def path(self, at: int) -> Path:
        """The shortest run to a state."""
        return path_of(self, at)

    def true_in(self, j: PropertyOf, args: Args) -> list[int]:
        """The numbers of the states in which a property is true for these arguments."""
        found = self._column(self.stepping.marks, j, args)
        assert found is not None
        return self.marked[found]

    def live(self, j: PropertyOf, args: Args) -> Sequence[int]:
        """What a liveness property is in the first states, those that were expanded, as far as it
        was noted; see `properties.LIVE`."""
        found = self._column(self.stepping.lives, j, args)
        return () if found is None or self.graph is None else self.lives[found]

    def _column(
        self, rows: Sequence[tuple[PropertyOf, int]], j: PropertyOf, args: Args
    ) -> int | None:
        """The place of a property, for these arguments, among what was noted of these."""
        at = 0
        for other, count in rows:
            if other is j:
                return at + column_of(self.stepping.codec, j, args)
            at += count
        return None

    # The search.

    @classmethod
    def by(cls, stepping: Stepping, limits: Limits, tier: Tier | None) -> Self:
        """A search with these steps, before its first state."""
        plain = Plain(stepping)
        store: Store = plain
        if tier == "compiled":
            from .llvm import compiled

            store = as_machine_code(plain, compiled(stepping.text), limits.workers)
        compiler = Compiler(stepping.text, limits) if tier is None else None
        return cls(stepping.space, stepping, limits, store, compiler)

    def start(self, state: State, start: Start) -> None:
        """Take an initial state, and how it comes about."""
        if self.insert(state, (-1, 0)):
            self.starts[self.count - 1] = start

    def interrupted(self, end: OutOfBudget) -> None:
        """Note that a limit was met in the middle of a state."""
        self.complete, self.stopped = False, end.reason

    def insert(self, state: State, parent: tuple[int, int]) -> bool:
        """Whether a state is new; if so it has a number now."""
        new = self.store.insert(self._packed(state), self.count, parent)
        self.count += new
        return new

    def _packed(self, state: State) -> tuple[int, ...]:
        s = self.stepping
        return pack(s.slots, s.codec.encode(s.whole, state))

    def kept(self) -> Iterator[tuple[str, Any]]:
        """All that a search needs to go on from here."""
        yield "room", self.stepping.codec.form.room
        yield "source", self._digest()
        yield from named(self, KEPT)
        yield "seconds", self.earlier + time.perf_counter() - self.started
        yield from self.store.kept(self.count)

    def go_on(self, items: Items) -> None:
        """Be where it was when these were kept."""
        if items["source"] != self._digest():
            raise Unfit("the snapshot was written by another version of the generated steps")
        taken_up(self, KEPT, items)
        self.earlier = items["seconds"]
        self.store.go_on(self.count, items)

    def _digest(self) -> str:
        return sha256.hexdigest(self.stepping.program.source.encode())

    def go(
        self,
        progress: Callable[[Progress], None] | None,
        snapshots: tuple[Snapshots, Items | None] | None,
    ) -> Self:
        """Search from the initial states, or from what snapshots hold; itself."""
        self.space.budget = Budget(self.limits, self.started)
        into, items = snapshots or (None, None)
        if items is not None:
            self.go_on(items)
        else:
            begin(self)
        self.run(progress, into if self.complete else None)
        return self

    def run(
        self, progress: Callable[[Progress], None] | None = None, into: Snapshots | None = None
    ) -> None:
        """Level by level, until nothing is new or a limit is met."""
        try:
            if self.compiler is not None:
                self.compiler.begin(self.expanded, self.count, time.perf_counter() - self.started)
                self.compiler.compile_ahead()
            while self.complete and self.expanded < self.count:
                if self.expanded == self.last:
                    self.depth += self.expanded > 0
                    self.last = self.count
                self.complete = self._advance()
                self._tell(progress, into)
        finally:
            if self.compiler is not None:
                self.compiler.end()
        if into is not None:
            into.write(self.kept())
        self.space.budget = Budget(self.limits.afterwards(self.stopped))
        self._sum_up()
        if self.complete and self.stepping.marks:
            with suppress(OutOfBudget):  # Without predecessors nothing is said of what leads back.
                self._follow()

    def _advance(self) -> bool:
        """Expand states of this level; False where a limit was met."""
        most = self.limits.states or MOST
        done = self.store.advance(
            Span(self.expanded, self.last, self.count, most, self.limits.first)
        )
        self.expanded, self.count = done.next, done.count
        if done.escaped:
            try:
                self._by_reference(done.next - 1)
                self.escaped.append(done.next - 1)
            except OutOfBudget:
                self.expanded = done.next - 1
        limit = self.limits.memory
        if limit is not None and done.wanted and resident() + done.wanted >= limit:
            self.stopped = "memory"
        elif done.wanted:
            self.store.grow_on(self.count)
        return not self.over()

    def _tell(self, progress: Callable[[Progress], None] | None, into: Snapshots | None) -> None:
        """Now and then: save a snapshot, report progress, and switch to machine code if it is
        ready."""
        if not self.complete:
            return
        if into is not None and into.due():
            into.write(self.kept())
        seconds = time.perf_counter() - self.started
        if progress is not None and seconds - self.told > 0.2:
            self.told = seconds
            waiting, generated = self.count - self.expanded, self.generated + self.store.totals[0]
            seconds += self.earlier
            progress(Progress(self.count, generated, self.depth, waiting, seconds))
        if self.compiler is not None:
            code = self.compiler.better(self.expanded, self.count)
            if code is not None:
                self.earlier_code += self.store.compile_seconds
                self.store = as_machine_code(self.store, code, self.limits.workers)

    def over(self) -> bool:
        """Whether a limit is met; `stopped` says which."""
        seconds = time.perf_counter() - self.started
        met = self.stopped or self.space.budget.met
        self.stopped = met or self.limits.met(self.count, seconds, self._failed())
        return bool(self.stopped)

    def _failed(self) -> bool:
        first, last = self.stepping.notes.failing
        return bool(self.failures) or any(n >= 0 for n in self.store.firsts[first:last])

    # What the reference engine says.

    def _by_reference(self, number: int) -> None:
        """Expand a state that the compiled steps gave up."""
        space, state = self.space, self.states[number]
        events: Counter[tuple[str, Args]] = Counter()
        enabled, cut_by = Counter[str](), Counter[str]()  # They count once all are known.
        for j in space.invariants:
            self._invariant(j, number)
        for j in space.partial:
            failing = space.undefined(j, state)
            if failing is not None:
                self._failing(j, number, None, failing)
        for edge in space.edges(state):
            row = space.rules[edge.rule][1]
            enabled[row.name] += 1
            events[row.event, edge.args] += 1
            if events[row.event, edge.args] == 2 and not space.machine.event(row.event).choice:
                self._note(number, "ambiguous", edge, f"{row.event} has two transitions here")
            if isinstance(edge.outcome, Fault):
                self._note(number, edge.outcome.name, edge, edge.outcome.what)
            elif edge.cut is not None:
                cut_by[edge.cut] += 1
                self.cut_from.add(number)
            else:
                self._stepped(number, edge)
                if self.insert(edge.outcome.state, (number, edge.rule)):
                    self.new[row.name] += 1
        if not enabled and not may_rest(space, state):
            self._note(number, "deadlock", None, "no transition is enabled")
        self.generated += enabled.total()
        self.enabled += enabled
        self.cut_by += cut_by

    def _note(self, number: int, name: str, edge: Edge | None, why: str) -> None:
        known = self.failures.get(name)
        if known is None or known.at > number:
            verdict = Verdict.UNDEFINED if name == "undefined" else Verdict.VIOLATED
            self.failures[name] = FirstFailure(number, edge, why, verdict)

    def _invariant(self, j: PropertyOf, number: int) -> None:
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

    def _failing(self, j: PropertyOf, number: int, edge: Edge | None, failing: Failing) -> None:
        known = self.failures.get(j.name)
        if known is None or known.at > number:
            found = FirstFailure(number, edge, "", Verdict.VIOLATED)
            self.failures[j.name] = told(self.space, j, failing, found)

    # Summing up.

    def _sum_up(self) -> None:
        notes, totals = self.stepping.notes, self.store.totals
        self.generated += totals[0]
        for i, (_, row) in enumerate(self.space.rules):
            self.enabled[row.name] += totals[notes["enabled"] + i]
        reached = self.store.by_rule(self.count)
        self.new = Counter({row.name: reached[i] for i, (_, row) in enumerate(self.space.rules)})
        for i, name in enumerate(notes.cuts):
            if totals[notes["cut_by"] + i]:
                self.cut_by[name] += totals[notes["cut_by"] + i]
        self._judge_firsts()
        try:
            self._witnessed()
            self._refine()
        except OutOfBudget as end:
            self.interrupted(end)

    def _refine(self) -> None:
        """What the starts and steps are to the abstract machines."""
        known = refinements(self.space)
        steps = self._steps() if known else ()
        for name, number, edge, (verdict, why) in refinement_failures(
            known, self.states, self.starts, steps
        ):
            self.failures[name] = FirstFailure(number, edge, why, verdict)

    def _steps(self) -> Iterator[tuple[int, Sequence[int]]]:
        """The states that were expanded, and where their steps within the scope lead."""
        escaped = set(self.escaped)
        for number, followed in enumerate(self.store.follow(self.expanded)):
            targets = followed.targets
            if number in escaped:
                rows = by_reference(self.space, self.states[number], self.find)
                targets = [target for _, target in rows]
            yield number, [target for target in targets if target >= 0]

    def _judge_firsts(self) -> None:
        """Judge the first failures with the reference engine."""
        notes, firsts = self.stepping.notes, self.store.firsts
        for i, j in enumerate(self.stepping.judged):
            number = firsts[notes["property"] + i]
            if number >= 0:
                self._say(j.name, number, functools.partial(self._first, j, number))
        for i, name in enumerate(STATUS):
            number = firsts[notes["fault"] + i]
            if number >= 0:
                self._say(name, number, functools.partial(self._fault, name, number))
        number = firsts[notes["deadlock"]]
        if number >= 0:
            self._note(number, "deadlock", None, "no transition is enabled")

    def _say(self, name: str, number: int, say: Callable[[], None]) -> None:
        """Let the reference say how this fails in that state, if it has the time."""
        try:
            say()
        except OutOfBudget:
            why = "it fails in or after this state; there was no time to work out how"
            self.failures.setdefault(name, FirstFailure(number, None, why, Verdict.UNKNOWN))
        if name not in self.failures:
            raise AssertionError(f"compiled steps say that {name} fails, the reference does not")

    def _first(self, j: PropertyOf, number: int) -> None:
        if j.kind == "invariant":
            self._invariant(j, number)
            return
        if j.kind != "step_property":
            failing = self.space.undefined(j, self.states[number])
            if failing is not None:
                self._failing(j, number, None, failing)
            return
        for edge in self.space.edges(self.states[number]):
            if isinstance(edge.outcome, Done) and edge.cut is None:
                self._stepped(number, edge)

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

    def _witnessed(self) -> None:
        at = self.stepping.notes["witness"]
        for j, count in self.stepping.seen:
            every = list(self.space.arguments(j.rule, self.states[0])) if self.count else []
            firsts = self.store.firsts
            numbers = {a: firsts[at + column_of(self.stepping.codec, j, a)] for a in every}
            for number in self.escaped:
                for args in every:
                    known = numbers[args]
                    if (known < 0 or known > number) and self.space.is_true(
                        j.row, self.states[number], args
                    ):
                        numbers[args] = number
            numbers = self._alike(j, numbers)
            self.unseen[j.name] = [a for a in every if numbers[a] < 0]
            if any(n >= 0 for n in numbers.values()):
                self.witnesses[j.name] = max(numbers.values())
            at += count

    def _alike(self, _j: PropertyOf, numbers: dict[Args, int]) -> dict[Args, int]:
        """For each value of a property's parameters the first state in which it is true, or -1:
        of those that differ only in names, the first of them."""
        return numbers

    # The graph.

    def _follow(self) -> None:
        """All edges, for properties that are judged along paths."""
        s, escaped = self.stepping, set(self.escaped)
        back: list[list[int]] = [[] for _ in range(self.count)]
        self.marked = [[] for _ in range(s.notes.marks)]
        for number, followed in enumerate(self.store.follow(self.count)):
            targets, marks = followed.targets, followed.marks
            if number in escaped:
                targets, marks = followed_by_reference(s, self.states[number], self.find)
            for target in targets:
                if target >= 0:
                    back[target].append(number)
            for column, rows in enumerate(self.marked):
                if marks[column]:
                    rows.append(number)
            if followed.marks[s.notes.marks]:
                self.cut_from.add(number)
        self.predecessors = back


def as_machine_code(store: Store, code: Native, workers: int | None) -> Store:
    """Continue a search with this machine code."""
    from .memory import Memory
    from .threads import processors

    if isinstance(store, Memory):
        store.code = code
        return store
    assert isinstance(store, Plain)
    return Memory.taking(store, code, workers or processors())


def search(
    space: Space,
    limits: Limits,
    progress: Callable[[Progress], None] | None = None,
    tier: Tier | None = None,
    snapshots: tuple[Snapshots, Items | None] | None = None,
    *,
    labelled: bool = False,
) -> PackedSearch:
    """Search the whole space with generated steps, or until a limit is met. Where there are
    snapshots, it goes on from what they hold. `labelled`: somebody will ask for its `steps`.

    With a tier in this one only, otherwise in plain Python first, and as machine code from when
    that is there. A search that meets a state with more elements in a sparse set or map than there
    is room for begins anew, with more room. Raises `NotGenerated`, naming it, for what the
    generated steps do not do, `OutOfBudget` where the limit of seconds is met before they are
    there, `ImportError` where machine code is asked for and llvmlite is not here, and `ValueError`
    where no initial state is within the scope.
    """
    items = snapshots[1] if snapshots is not None else None
    form = FORM if items is None else Form(FORM.dense, items["room"])
    started = time.perf_counter()
    while True:
        space.preparation = limits.of_seconds(started)
        found = PackedSearch.by(stepping(space, labelled, form), limits, tier)
        found.started = started
        try:
            return found.go(progress, snapshots)
        except Crowded:
            form = form.roomier()
            if form.room > MOST_ROOM:
                raise
            into = None if snapshots is None else snapshots[0]
            snapshots = None if into is None else (into, None)


__all__ = ["NotGenerated", "PackedSearch", "Tier", "search"]
