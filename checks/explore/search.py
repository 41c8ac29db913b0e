"""The reference search: breadth first over a `Space`, one state after another, in plain Python.

It notes the states, the first failure of each property, and how often each transition fired.
"""

from __future__ import annotations

import functools
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from lawful.spec.quick_dataclass import dataclass, field
from lawful.spec.verdicts import LIVENESS

from ..reference import Done, Fault
from ..reference.clauses import failure_of
from ..reference.properties import PropertyOf
from ..reference.states import State
from ..verdict import Verdict
from .checkpoints import Items, Snapshots, named, taken_up
from .initial_states import Start, begin, fault_verdict
from .limits import Budget, Limits, OutOfBudget, Progress, Reason
from .liveness.fairness import Groups
from .liveness.graph import Graph
from .refinement import Refining, refinements
from .search_result import FirstFailure, Parent, Path, path_of
from .space import Args, Edge, Failing, Space
from .symmetry import Symmetry

__all__ = ["Limits", "Progress", "Search", "search"]
KEPT = (
    "states",
    "parents",
    "starts",
    "predecessors",
    "cut_from",
    "generated",
    "cut_by",
    "enabled",
    "new",
    "failures",
    "witnesses",
    "unseen",
    "distinct",
    "depth",
    "next",
    "last",
    "judged",
)


@dataclass
class Search:
    """The result of a search so far; states and their parents by number."""

    space: Space
    limits: Limits
    states: list[State] = field(default_factory=list[State])
    index: dict[State, int] = field(default_factory=dict[State, int])
    parents: list[Parent] = field(default_factory=list[Parent])
    starts: dict[int, Start] = field(default_factory=dict[int, Start])
    predecessors: list[list[int]] | None = None
    graph: Graph | None = None
    cut_from: set[int] = field(default_factory=set[int])
    generated: int = 0
    cut_by: Counter[str] = field(default_factory=Counter[str])
    enabled: Counter[str] = field(default_factory=Counter[str])
    new: Counter[str] = field(default_factory=Counter[str])
    failures: dict[str, FirstFailure] = field(default_factory=dict[str, FirstFailure])
    witnesses: dict[str, int] = field(default_factory=dict[str, int])
    unseen: dict[str, list[Args]] = field(default_factory=dict[str, list[Args]])
    refinements: tuple[Refining, ...] = ()
    symmetry: Symmetry | None = None
    distinct: int = 0
    depth: int = 0
    next: int = 0  # The state that is expanded next, and the end of its level.
    last: int = 0
    judged: int = 0  # So many states are: all but the one in the middle of which a limit was met.
    complete: bool = True
    not_generated: str = ""
    handed_back: int = 0
    compile_seconds: float = 0.0
    stopped: Reason = ""
    earlier: float = 0.0  # Seconds that runs took before, from which this one goes on.
    started: float = field(default_factory=time.perf_counter)

    def before(self, number: int) -> int:
        """The state that a state was first reached from; -1 for an initial one."""
        return self.parents[number][0]

    def path(self, at: int) -> Path:
        """The shortest run to a state."""
        return path_of(self, at)

    def find(self, state: State) -> int:
        """The number of a state; negative where the search did not meet it."""
        return self.index.get(_key(self, state)[0], -1)

    @property
    def seconds(self) -> float:
        """The time so far, including that of the searches from which it continues."""
        return self.earlier + time.perf_counter() - self.started

    def kept(self) -> Iterator[tuple[str, Any]]:
        """All that a search needs to go on from here."""
        yield from named(self, KEPT)
        yield "seconds", self.seconds
        if self.graph is not None:
            yield "graph", self.graph.kept()

    def go_on(self, items: Items) -> None:
        """Be where it was when these were kept."""
        taken_up(self, KEPT, items)
        self.earlier = items["seconds"]
        if self.graph is not None:
            self.graph.go_on(items["graph"])
        self.index = {_key(self, state)[0]: n for n, state in enumerate(self.states)}

    def start(self, state: State, start: Start) -> None:
        """Take an initial state, and how it comes about."""
        key, size = _key(self, state)
        if key not in self.index:
            self.starts[len(self.states)] = start
            number = discover(self, (state, key, size), (-1, -1, ()))
            judge_state(self, number)
            _refine(self, functools.partial(_starts, state), (number, None))

    def over(self) -> bool:
        """Whether a limit is met; `stopped` says which."""
        seconds = time.perf_counter() - self.started
        self.stopped = self.limits.met(len(self.states), seconds, bool(self.failures))
        return bool(self.stopped)

    def interrupted(self, end: OutOfBudget) -> None:
        """Note that a limit was reached in the middle of a state.

        Findings about the state stay; a search that continues from here expands it again.
        """
        self.complete, self.stopped = False, end.reason
        if self.graph is not None:
            self.graph.drop()

    def live(self, j: PropertyOf, args: Args) -> Sequence[int]:
        """Nothing was noted: see `Explored.live`."""
        return ()

    def true_in(self, j: PropertyOf, args: Args) -> list[int]:
        """The numbers of the states in which a property is true for these arguments."""
        return [n for n, state in enumerate(self.states) if self.space.is_true(j.row, state, args)]


def search(
    space: Space,
    limits: Limits,
    progress: Callable[[Progress], None] | None = None,
    symmetry: Symmetry | None = None,
    snapshots: tuple[Snapshots, Items | None] | None = None,
) -> Search:
    """Search the whole space, or until a limit is met; with a symmetry one state of each orbit.
    Where there are snapshots, it goes on from what they hold.

    Raises `ValueError` where no initial state is within the scope: nothing would be checked.
    """
    found = Search(space, limits, refinements=refinements(space), symmetry=symmetry)
    if space.of_kind("recoverable"):
        found.predecessors = []
    if space.of_kind(*LIVENESS) and symmetry is None:
        found.graph = Graph(Groups(space.flat))
    into, items = snapshots or (None, None)
    space.budget = Budget(limits, found.started)
    try:
        if items is not None:
            found.go_on(items)
        else:
            begin(found)
        if found.complete:  # Otherwise a limit was met before all initial states were known.
            _levels(found, progress, into)
    finally:
        space.budget = Budget(limits.afterwards(found.stopped))
    return found


def unbegun(space: Space, limits: Limits, end: OutOfBudget) -> Search:
    """A search that a limit ended before its first state, as it was prepared."""
    space.budget = Budget(limits.afterwards(end.reason))
    return Search(space, limits, complete=False, stopped=end.reason)


def _key(search: Search, state: State) -> tuple[State, int]:
    """The key of a state, and the number of states that it represents."""
    return (state, 1) if search.symmetry is None else search.symmetry.canonical(state)


def discover(search: Search, found: tuple[State, State, int], parent: Parent) -> int:
    """Take a new state, its key, and the number of states that it represents: its number."""
    number = len(search.states)
    state, key, size = found
    search.index[key] = number
    search.distinct += size
    search.states.append(state)
    search.parents.append(parent)
    if search.predecessors is not None:
        search.predecessors.append([])
    return number


def judge_state(search: Search, number: int) -> None:
    """Judge invariants and reachability in a new state, and note properties without a value."""
    space, state = search.space, search.states[number]
    for j in space.invariants:
        if j.name not in search.failures:
            failing = space.failing(j, state)
            if failing is not None:
                _fail(search, j, failing, FirstFailure(number, None, "", Verdict.VIOLATED))
    for j in space.partial:
        if j.name not in search.failures:
            failing = space.undefined(j, state)
            if failing is not None:
                _fail(search, j, failing, FirstFailure(number, None, "", Verdict.UNDEFINED))
    for j in space.reachables:
        _witness(search, j, number)
    search.judged = number + 1


def _witness(search: Search, j: PropertyOf, number: int) -> None:
    """Note for which of its values the property is true in this state for the first time."""
    space, state = search.space, search.states[number]
    if j.name not in search.unseen:
        search.unseen[j.name] = list(space.arguments(j.rule, state))
    for args in tuple(search.unseen[j.name]):
        # One that was true with others of its orbit is seen already.
        if args in search.unseen[j.name] and space.is_true(j.row, state, args):
            _seen(search, j, args)
            search.witnesses[j.name] = number


def _seen(search: Search, j: PropertyOf, args: Args) -> None:
    if search.symmetry is None:
        search.unseen[j.name].remove(args)
        return
    kinds = [plan.type for plan in j.rule.plans]
    like = search.symmetry.pattern(args, kinds)
    left = (a for a in search.unseen[j.name] if search.symmetry.pattern(a, kinds) != like)
    search.unseen[j.name] = list(left)


def _fail(search: Search, j: PropertyOf, failing: Failing, found: FirstFailure) -> None:
    search.failures[j.name] = told(search.space, j, failing, found)


def told(space: Space, j: PropertyOf, failing: Failing, found: FirstFailure) -> FirstFailure:
    """A failure with its verdict, and with what the reference engine says of it."""
    if failing.undefined is not None:
        found.verdict = Verdict.UNDEFINED
    found.why = why(space, j, failing)
    return found


def why(space: Space, j: PropertyOf, failing: Failing) -> str:
    """The false clause of a property with its values, or the operation without a value."""
    where = f"{failing.where}: " if failing.where else ""
    if failing.undefined is not None:
        return f"{where}undefined: {failing.undefined}"
    return f"{where}{failure_of(space.reference, j.row, failing.own, failing.args)}"


def _refine(
    search: Search,
    ask: Callable[[Refining], tuple[Verdict, str] | None],
    at: tuple[int, Edge | None],
) -> None:
    """Judge a state, or a step beyond it, against the abstract machines."""
    for refining in search.refinements:
        if refining.name not in search.failures:
            failing = ask(refining)
            if failing is not None:
                search.failures[refining.name] = FirstFailure(*at, failing[1], failing[0])


def _starts(state: State, refining: Refining) -> tuple[Verdict, str] | None:
    return refining.starts(state)


def _follows(before: State, after: State, refining: Refining) -> tuple[Verdict, str] | None:
    return refining.follows(before, after)


def _levels(
    search: Search, progress: Callable[[Progress], None] | None, into: Snapshots | None
) -> None:
    """Breadth first, level by level, until nothing is new or a limit is met."""
    told = time.perf_counter()
    while search.next < len(search.states):
        if search.next == search.last:
            search.depth += search.next > 0
            search.last = len(search.states)
        try:
            if search.judged < len(search.states):
                judge_state(search, search.judged)
            for edge, outcome in admitted(search, search.next):
                follow(search, search.next, edge, outcome)
        except OutOfBudget as end:
            search.interrupted(end)
            break
        search.next += 1
        if search.over():
            search.complete = False
            break
        if into is not None and into.due():
            into.write(search.kept())
        if progress is not None and time.perf_counter() - told > 0.2:
            told = time.perf_counter()
            progress(_progress(search))
    if into is not None:
        into.write(search.kept())


def _progress(search: Search) -> Progress:
    waiting = len(search.states) - search.next
    return Progress(len(search.states), search.generated, search.depth, waiting, search.seconds)


def admitted(search: Search, number: int) -> Iterator[tuple[Edge, Done]]:
    """The steps of a state that stay within the scope; what else it admits is noted, and once all
    are known whether it is a deadlock."""
    space, state = search.space, search.states[number]
    # They count once all are known: a state that a limit interrupts is expanded again.
    enabled: Counter[str] = Counter()
    cut_by: Counter[str] = Counter()
    events: Counter[tuple[str, Args]] = Counter()
    for edge in space.edges(state):
        row = space.rules[edge.rule][1]
        enabled[row.name] += 1
        key = row.event, edge.args
        events[key] += 1
        if events[key] == 2 and not space.machine.event(row.event).choice:
            said = f"{row.event} has two transitions here"
            _note(search, "ambiguous", FirstFailure(number, edge, said, Verdict.VIOLATED))
        if isinstance(edge.outcome, Fault):
            found = FirstFailure(number, edge, edge.outcome.what, fault_verdict(edge.outcome))
            _note(search, edge.outcome.name, found)
        elif edge.cut is not None:
            cut_by[edge.cut] += 1
            search.cut_from.add(number)
            if search.graph is not None:
                search.graph.leaves(search.graph.groups.bits(edge.rule, edge.args))
        else:
            yield edge, edge.outcome
    if not enabled and not may_rest(space, state):
        said = "no transition is enabled"
        _note(search, "deadlock", FirstFailure(number, None, said, Verdict.VIOLATED))
    if search.graph is not None:
        search.graph.close()
    search.generated += enabled.total()
    search.enabled += enabled
    search.cut_by += cut_by


def _note(search: Search, name: str, found: FirstFailure) -> None:
    search.failures.setdefault(name, found)


def may_rest(space: Space, state: State) -> bool:
    """Whether a state without an enabled transition is no deadlock."""
    if space.machine.deadlock_ok:
        return True
    return any(space.failing(j, state) is None for j in space.of_kind("terminal"))


def follow(search: Search, number: int, edge: Edge, outcome: Done) -> int:
    """A step within the scope: its step properties, and the number of the state it leads to."""
    space, state = search.space, search.states[number]
    for j in space.step_properties:
        if j.name not in search.failures:
            failing = space.failing(j, state, outcome.state)
            if failing is not None:
                _fail(search, j, failing, FirstFailure(number, edge, "", Verdict.VIOLATED))
    _refine(search, functools.partial(_follows, state, outcome.state), (number, edge))
    key, size = _key(search, outcome.state)
    after = search.index.get(key)
    if after is None:
        name = space.rules[edge.rule][1].name
        search.new[name] += 1
        after = discover(search, (outcome.state, key, size), (number, edge.rule, edge.args))
        judge_state(search, after)
    if search.predecessors is not None:
        search.predecessors[after].append(number)
    if search.graph is not None and after != number:
        search.graph.leads(search.graph.groups.bits(edge.rule, edge.args), after)
    return after


def visited(search: Search) -> Iterator[tuple[int, list[tuple[Edge, int]]]]:
    """Every state in the order in which it is found, its steps within the scope, and where each
    leads; ends early at a limit."""
    search.space.budget = Budget(search.limits, search.started)
    begin(search)
    number = 0
    while number < len(search.states):
        if search.over():
            search.complete = False
            return
        try:
            steps = list(admitted(search, number))
            leads = [(edge, follow(search, number, edge, outcome)) for edge, outcome in steps]
        except OutOfBudget as end:
            search.interrupted(end)
            return
        yield number, leads
        number += 1


def graph_of(space: Space, states: Sequence[State]) -> Graph:
    """The graph of states that another engine found; what leads to others leaves it."""
    graph, index = Graph(Groups(space.flat)), {state: n for n, state in enumerate(states)}
    for number, state in enumerate(states):
        for edge in space.edges(state):
            if isinstance(edge.outcome, Fault):
                continue
            target = index.get(edge.outcome.state) if edge.cut is None else None
            bits = graph.groups.bits(edge.rule, edge.args)
            if target is None:
                graph.leaves(bits)
            elif target != number:
                graph.leads(bits, target)
        graph.close()
    return graph
