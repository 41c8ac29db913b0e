"""Exhaustive breadth-first exploration: counts, verdicts, shortest counterexamples.

`distinct`, `generated` and `depth` are those of the language page, "Scope, cuts, counts".
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lawful.spec import ir
from lawful.spec.explain import text
from lawful.spec.flat import Flat
from lawful.spec.ir import Json
from lawful.spec.values import World, encode
from lawful.spec.words import Expected

from .reference import Done, Fault, State
from .space import Args, Edge, Space, changed
from .verdict import PropertyResult, Trace, TraceStep, Verdict, worst
from .why import failure_of, stuck

BUILT_IN = ("deadlock", "bounds", "asserts", "undefined", "ambiguous")
UNSUPPORTED = ("eventually", "eventually_always", "infinitely_often", "leads_to")


@dataclass(frozen=True, slots=True)
class Limits:
    """When to stop early; None is no limit. `first`: at the first violation."""

    states: int | None = None
    seconds: float | None = None
    first: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a search is."""

    distinct: int
    generated: int
    depth: int
    frontier: int
    seconds: float


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What exploring one machine within one scope established."""

    machine: str
    scope: Mapping[str, str]
    engine: str
    complete: bool
    distinct: int
    generated: int
    depth: int
    cuts: int
    cut_by: Mapping[str, int]
    seconds: float
    transitions: Mapping[str, Mapping[str, int]]
    properties: tuple[PropertyResult, ...]

    @property
    def verdict(self) -> Verdict:
        """The worst property's, expectations aside."""
        return worst(p.verdict for p in self.properties)

    @property
    def as_expected(self) -> bool:
        """Whether every property's verdict is the expected one."""
        return all(p.as_expected for p in self.properties)


@dataclass(slots=True)
class _Found:
    """A property's first failure: the state it is reached by, and the step beyond it, if any."""

    at: int
    edge: Edge | None
    why: str
    verdict: Verdict


@dataclass
class _Search:
    space: Space
    limits: Limits
    states: list[State] = field(default_factory=list)
    index: dict[State, int] = field(default_factory=dict)
    parents: list[tuple[int, int, Args]] = field(default_factory=list)
    starts: dict[int, tuple[str | None, Args]] = field(default_factory=dict)
    predecessors: list[list[int]] | None = None
    cut_from: set[int] = field(default_factory=set)
    generated: int = 0
    cut_by: dict[str, int] = field(default_factory=dict)
    enabled: dict[str, int] = field(default_factory=dict)
    new: dict[str, int] = field(default_factory=dict)
    failures: dict[str, _Found] = field(default_factory=dict)
    witnesses: dict[str, int] = field(default_factory=dict)
    unseen: dict[str, list[Args]] = field(default_factory=dict)
    depth: int = 0
    complete: bool = True


def explore(
    flat: Flat,
    world: World,
    expects: Mapping[str, Expected],
    *,
    limits: Limits | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> CheckResult:
    """Explore the machine within its scope with the reference engine.

    Raises `ValueError` where no initial state is within the scope: nothing would be checked.
    """
    space = Space(flat, world)
    search = _Search(space, limits or Limits())
    if space.machine.of_kind("recoverable"):
        search.predecessors = []
    started = time.perf_counter()
    _begin(search)
    _levels(search, started, progress)
    seconds = time.perf_counter() - started
    results = tuple(_results(search, expects))
    return CheckResult(
        machine=flat.machine.name,
        scope=dict(flat.scope),
        engine="reference",
        complete=search.complete,
        distinct=len(search.states),
        generated=search.generated,
        depth=search.depth,
        cuts=sum(search.cut_by.values()),
        cut_by=search.cut_by,
        seconds=seconds,
        transitions={
            name: {"enabled": search.enabled.get(name, 0), "new": search.new.get(name, 0)}
            for name in (row.name for row in flat.machine.transitions)
        },
        properties=results,
    )


def _begin(search: _Search) -> None:
    """The initial states, level 1."""
    space = search.space
    for name, args, outcome in space.initial():
        search.generated += 1
        if isinstance(outcome, Fault):
            search.failures.setdefault(
                outcome.name, _Found(-1, None, f"initial: {outcome.what}", _fault(outcome))
            )
            continue
        assert isinstance(outcome, Done)
        outside = space.outside(outcome.state)
        if outside is not None:
            search.cut_by[outside] = search.cut_by.get(outside, 0) + 1
        elif outcome.state not in search.index:
            search.starts[len(search.states)] = (name, args)
            _discover(search, outcome.state, (-1, -1, ()))
    if not search.states and not search.failures:
        raise ValueError(
            f"{space.machine.name}: no initial state is within the scope; nothing would be checked"
        )
    search.depth = 1 if search.states else 0


def _fault(outcome: Fault) -> Verdict:
    return Verdict.UNDEFINED if outcome.name == "undefined" else Verdict.VIOLATED


def _discover(search: _Search, state: State, parent: tuple[int, int, Args]) -> int:
    number = len(search.states)
    search.index[state] = number
    search.states.append(state)
    search.parents.append(parent)
    if search.predecessors is not None:
        search.predecessors.append([])
    _judge_state(search, number)
    return number


def _judge_state(search: _Search, number: int) -> None:
    """Invariants and reachability of a newly found state."""
    space, state = search.space, search.states[number]
    for p in space.machine.properties:
        if p.kind == "invariant" and p.name not in search.failures:
            failing = space.failing(p, state)
            if failing is not None:
                _fail(search, p, failing, _Found(number, None, "", Verdict.VIOLATED))
        elif p.kind == "reachable":
            _witness(search, p, number)


def _witness(search: _Search, p: ir.Property, number: int) -> None:
    """Note for which of its values the property is true in this state for the first time."""
    space, state = search.space, search.states[number]
    if p.name not in search.unseen:
        search.unseen[p.name] = list(space.arguments(space.property_rules[p.name], state))
    for args in tuple(search.unseen[p.name]):
        if space.is_true(p, state, args):
            search.unseen[p.name].remove(args)
            search.witnesses[p.name] = number


def _fail(
    search: _Search, p: ir.Property, failing: tuple[Args, str | None], found: _Found
) -> None:
    args, undefined = failing
    state = search.states[found.at]
    more = ()
    if found.edge is not None and isinstance(found.edge.outcome, Done):
        more = (found.edge.outcome.state,)
    if undefined is not None:
        found.verdict, found.why = Verdict.UNDEFINED, f"undefined: {undefined}"
    else:
        found.why = failure_of(search.space, p, state, (*more, *args))
    search.failures[p.name] = found


def _levels(
    search: _Search, started: float, progress: Callable[[Progress], None] | None
) -> None:
    """Breadth first, level by level, until nothing is new or a limit is met."""
    first, last = 0, len(search.states)
    told = started
    while first < last:
        for number in range(first, last):
            _expand(search, number)
            now = time.perf_counter()
            if _over(search, now - started):
                search.complete = False
                return
            if progress is not None and now - told > 0.2:
                told = now
                progress(
                    Progress(
                        len(search.states), search.generated, search.depth,
                        len(search.states) - number, now - started,
                    )  # fmt: skip
                )
        first, last = last, len(search.states)
        search.depth += first < last


def _over(search: _Search, seconds: float) -> bool:
    limits = search.limits
    return (
        (limits.states is not None and len(search.states) >= limits.states)
        or (limits.seconds is not None and seconds >= limits.seconds)
        or (limits.first and bool(search.failures))
    )


def _expand(search: _Search, number: int) -> None:
    space, state = search.space, search.states[number]
    admitted = 0
    events: dict[tuple[str, Args], int] = {}
    for edge in space.edges(state):
        admitted += 1
        search.generated += 1
        row = space.rules[edge.rule][1]
        search.enabled[row.name] = search.enabled.get(row.name, 0) + 1
        key = row.event, edge.args
        events[key] = events.get(key, 0) + 1
        if events[key] == 2 and not space.machine.event(row.event).choice:
            _note(search, "ambiguous", _Found(number, edge, f"{row.event} has two transitions here",
                                              Verdict.VIOLATED))  # fmt: skip
        if isinstance(edge.outcome, Fault):
            found = _Found(number, edge, edge.outcome.what, _fault(edge.outcome))
            _note(search, edge.outcome.name, found)
        elif edge.cut:
            outside = space.outside(edge.outcome.state) or ""
            search.cut_by[outside] = search.cut_by.get(outside, 0) + 1
            search.cut_from.add(number)
        else:
            _follow(search, number, edge, edge.outcome)
    if not admitted and not _may_rest(search, state):
        why = "no transition is enabled"
        _note(search, "deadlock", _Found(number, None, why, Verdict.VIOLATED))


def _note(search: _Search, name: str, found: _Found) -> None:
    search.failures.setdefault(name, found)


def _may_rest(search: _Search, state: State) -> bool:
    machine = search.space.machine
    if machine.deadlock_ok:
        return True
    return any(search.space.failing(p, state) is None for p in machine.of_kind("terminal"))


def _follow(search: _Search, number: int, edge: Edge, outcome: Done) -> None:
    """A step within the scope: its step properties, and the state it leads to."""
    space, state = search.space, search.states[number]
    for p in space.machine.of_kind("step_property"):
        if p.name not in search.failures:
            failing = space.failing(p, state, outcome.state)
            if failing is not None:
                _fail(search, p, failing, _Found(number, edge, "", Verdict.VIOLATED))
    after = search.index.get(outcome.state)
    if after is None:
        name = space.rules[edge.rule][1].name
        search.new[name] = search.new.get(name, 0) + 1
        after = _discover(search, outcome.state, (number, edge.rule, edge.args))
    if search.predecessors is not None:
        search.predecessors[after].append(number)


# Verdicts.


def _results(search: _Search, expects: Mapping[str, Expected]) -> list[PropertyResult]:
    machine = search.space.machine
    rows = [(name, "built-in") for name in BUILT_IN]
    kinds = ("invariant", "step_property", "reachable", "recoverable", *UNSUPPORTED)
    rows += [(p.name, p.kind) for p in machine.properties if p.kind in kinds]
    return [_result(search, name, kind, expects.get(name, "holds")) for name, kind in rows]


def _result(search: _Search, name: str, kind: str, expected: Expected) -> PropertyResult:
    expect, events = (expected, None) if isinstance(expected, str) else expected
    verdict, why, trace = _judged(search, name, kind)
    notes = ()
    if name == "deadlock" and verdict is Verdict.VIOLATED:
        notes = stuck(search.space, search.states[search.failures[name].at])
    return PropertyResult(name, kind, verdict, expect, events, why, trace, notes)


def _judged(search: _Search, name: str, kind: str) -> tuple[Verdict, str, Trace | None]:
    found = search.failures.get(name)
    if found is not None:
        return found.verdict, found.why, _trace(search, found.at, found.edge)
    if kind in UNSUPPORTED:
        return Verdict.UNKNOWN, f"{kind} is not checked by this engine", None
    if kind == "reachable":
        return _reached(search, name)
    if kind == "recoverable":
        return _recovered(search, name)
    return _unbroken(search), "", None


def _unbroken(search: _Search) -> Verdict:
    """What the absence of a counterexample establishes."""
    if not search.complete:
        return Verdict.BOUNDED if search.depth > 1 else Verdict.UNKNOWN
    return Verdict.HOLDS_WITHIN_SCOPE if search.cut_by else Verdict.HOLDS


def _reached(search: _Search, name: str) -> tuple[Verdict, str, Trace | None]:
    """Whether the property is true somewhere for each of its values; the last one's witness."""
    unseen = search.unseen.get(name)
    if unseen == [] and name in search.witnesses:
        return Verdict.HOLDS, "", _trace(search, search.witnesses[name], None)
    p = next(p for p in search.space.machine.properties if p.name == name)
    which = f" for {_given(search, p, unseen[0])}" if unseen and unseen[0] else ""
    if search.cut_by or not search.complete:
        return Verdict.UNKNOWN, f"not reached{which}, but not everything was explored", None
    return Verdict.VIOLATED, f"no reachable state is one{which}", None


def _given(search: _Search, p: ir.Property, args: Args) -> str:
    shown = search.space.shown_args(p.function, args)
    return ", ".join(f"{name} = {text(value)}" for name, value in shown.items())


def _recovered(search: _Search, name: str) -> tuple[Verdict, str, Trace | None]:
    """From every reachable state such a state can be reached, for each of the property's values."""
    assert search.predecessors is not None
    if not search.complete:
        return Verdict.UNKNOWN, "not everything was explored", None
    space = search.space
    p = next(p for p in space.machine.properties if p.name == name)
    unknown = False
    for args in space.arguments(space.property_rules[name], search.states[0]):
        good = [n for n, state in enumerate(search.states) if space.is_true(p, state, args)]
        lost = _cannot_reach(search, good)
        # A step that was cut might have led back: only what cannot reach a cut either is lost.
        surely = lost & _cannot_reach(search, sorted(search.cut_from)) if lost else lost
        if surely:
            which = f" for {_given(search, p, args)}" if args else ""
            why = f"no such state can be reached any more{which}"
            return Verdict.VIOLATED, why, _trace(search, min(surely), None)
        unknown = unknown or bool(lost)
    if unknown:
        return Verdict.UNKNOWN, "the scope cuts the steps that might lead back", None
    return _unbroken(search), "", None


def _cannot_reach(search: _Search, goals: list[int]) -> set[int]:
    assert search.predecessors is not None
    seen, stack = set(goals), list(goals)
    while stack:
        for before in search.predecessors[stack.pop()]:
            if before not in seen:
                seen.add(before)
                stack.append(before)
    return set(range(len(search.states))) - seen


def _trace(search: _Search, at: int, edge: Edge | None) -> Trace:
    """The shortest run to a state, and the step beyond it."""
    space = search.space
    if at < 0:
        return Trace({}, ())
    path: list[int] = []
    while at >= 0:
        path.append(at)
        at = search.parents[at][0]
    path.reverse()
    states = [search.states[number] for number in path]
    events = [search.parents[number][1:] for number in path[1:]]
    shown = [space.shown(state) for state in states]
    if edge is not None:
        events.append((edge.rule, edge.args))
        last = edge.outcome.state if isinstance(edge.outcome, Done) else states[-1]
        shown.append(space.shown(last))
    outputs = [_output(space, s, e) for s, e in zip(states, events, strict=False)]
    steps: list[TraceStep] = []
    for i, (rule, args) in enumerate(events):
        row = space.rules[rule][1]
        given = space.shown_args(row.function, args)
        steps.append(
            TraceStep(row.event, row.name, given, changed(shown[i], shown[i + 1]), outputs[i])
        )
    return Trace(shown[0], tuple(steps))


def _output(space: Space, state: State, event: tuple[Any, ...]) -> Json:
    """What a step of a trace gives, in JSON form; None where it gives nothing."""
    row = space.rules[event[0]][1]
    named = dict(zip((n for n, _ in row.function.params), event[1], strict=True))
    outcome = space.reference.step(state, row.name, named)
    if not isinstance(outcome, Done) or outcome.output is None:
        return None
    return encode(outcome.output, row.function.output)
