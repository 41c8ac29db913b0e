"""Verdicts and shortest counterexamples of a finished search."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from lawful.spec.text.reasons import text
from lawful.spec.verdicts import BUILT_IN, JUDGED, LIVENESS
from lawful.spec.words import Expected

from ..reference import Done, Refusal
from ..reference.properties import PropertyOf
from ..reference.states import State
from ..verdict import PropertyResult, Trace, Verdict
from .limits import OutOfBudget, Over
from .liveness.graph import TimeUp
from .liveness.lasso_text import shown
from .liveness.violations import NoLabel, NoMember, violation
from .search_result import Explored, FirstFailure
from .space import Args, Edge, Space
from .traces import trace_of

MOST = 1000  # Arguments that are tried: what refuses so many says enough.
Answer = tuple[Verdict, str, Trace | None, tuple[str, ...]]


def judge(
    search: Explored, expects: Mapping[str, Expected], over: Over = None
) -> list[PropertyResult]:
    """The verdict on every property, the built-in ones first.

    Liveness properties are judged within their limit of time.
    """
    return [_result(search, row, expects.get(row[0], "holds"), over) for row in rows(search.space)]


def rows(space: Space) -> list[tuple[str, str]]:
    """The properties that are judged, each with its kind, the built-in ones first."""
    return [
        *((name, "built-in") for name in BUILT_IN),
        *((j.name, j.kind) for j in space.of_kind(*JUDGED)),
    ]


def _result(
    search: Explored, row: tuple[str, str], expected: Expected, over: Over
) -> PropertyResult:
    name, kind = row
    expect, events = (expected, None) if isinstance(expected, str) else expected
    try:
        verdict, why, trace, notes = _judged(search, name, kind, over)
        if name == "deadlock" and verdict is Verdict.VIOLATED:
            notes = _why_stuck(search.space, search.states[search.failures[name].at])
    except OutOfBudget:
        verdict, why, trace, notes = _untold(search, name)
    return PropertyResult(name, kind, verdict, expect, events, why, trace, notes)


def _untold(search: Explored, name: str) -> Answer:
    """The results if a limit ends the judging: a failure stays one, without its trace."""
    found = search.failures.get(name)
    if found is None:
        return Verdict.UNKNOWN, "not decided in the time that there was", None, ()
    return found.verdict, found.why, None, ("there was no time to work out the run to it",)


def _judged(search: Explored, name: str, kind: str, over: Over) -> Answer:
    found = search.failures.get(name)
    if found is not None and name == "deadlock" and _may_go_on(search, found):
        why = "no transition is enabled, but the scope leaves out arguments"
        return Verdict.UNKNOWN, why, run_to(search, found.at, None), ()
    if found is not None:
        return found.verdict, found.why, run_to(search, found.at, found.edge), ()
    if kind in LIVENESS:
        return _live(search, _named(search, name), over)
    if kind == "reachable":
        return *_reached(search, name), ()
    if kind == "recoverable":
        return *_recovered(search, name), ()
    return _unbroken(search, None if name in BUILT_IN else _named(search, name)), "", None, ()


def _may_go_on(search: Explored, found: FirstFailure) -> bool:
    """Whether an argument that the scope leaves out might be a step from where there is none."""
    return search.space.lacks_steps_from(search.states[found.at])


def _unbroken(search: Explored, j: PropertyOf | None) -> Verdict:
    """What the absence of a counterexample establishes; nothing, if no state was searched."""
    if not search.states:
        return Verdict.UNKNOWN
    if not search.complete:
        return Verdict.BOUNDED if search.depth > 1 else Verdict.UNKNOWN
    space = search.space
    within = search.cut_by or space.lacks_steps() or (j is not None and space.lacks_values(j))
    return Verdict.HOLDS_WITHIN_SCOPE if within else Verdict.HOLDS


def _reached(search: Explored, name: str) -> tuple[Verdict, str, Trace | None]:
    """Whether the property is true somewhere for each of its values; the last one's witness."""
    unseen, j = search.unseen.get(name), _named(search, name)
    if not search.states:
        return Verdict.UNKNOWN, "there is no state", None
    if unseen == [] and name in search.witnesses:
        within = search.space.lacks_values(j)
        verdict = Verdict.HOLDS_WITHIN_SCOPE if within else Verdict.HOLDS
        return verdict, "", run_to(search, search.witnesses[name], None)
    which = f" for {_given(search, j, unseen[0])}" if unseen and unseen[0] else ""
    if search.cut_by or not search.complete or search.space.lacks_steps():
        return Verdict.UNKNOWN, f"not reached{which}, but not everything was explored", None
    return Verdict.VIOLATED, f"no reachable state is one{which}", None


def _named(search: Explored, name: str) -> PropertyOf:
    return next(j for j in search.space.judged if j.name == name)


def _given(search: Explored, j: PropertyOf, args: Args) -> str:
    shown = search.space.shown_args(j.row.function, args)
    return ", ".join(f"{name} = {text(value)}" for name, value in shown.items())


def _recovered(search: Explored, name: str) -> tuple[Verdict, str, Trace | None]:
    """From every reachable state such a state can be reached, for each value of the property's
    parameters."""
    if not search.complete or not search.states:
        return Verdict.UNKNOWN, "not everything was explored", None
    if search.predecessors is None:
        return Verdict.UNKNOWN, "not decided in the time that there was", None
    space, j = search.space, _named(search, name)
    unknown = False
    for args in space.arguments(j.rule, search.states[0]):
        lost = _cannot_reach(search, search.true_in(j, args))
        # A step that was cut might have led back: only what cannot reach a cut either is lost.
        surely = lost & _cannot_reach(search, _left_from(search)) if lost else lost
        if surely:
            which = f" for {_given(search, j, args)}" if args else ""
            why = f"no such state can be reached any more{which}"
            return Verdict.VIOLATED, why, run_to(search, min(surely), None)
        unknown = unknown or bool(lost)
    if unknown:
        return Verdict.UNKNOWN, "the scope cuts the steps that might lead back", None
    return _unbroken(search, j), "", None


def _left_from(search: Explored) -> list[int]:
    """The states from which a step may leave what was explored."""
    cut, space = set(search.cut_from), search.space
    if space.lacks_steps():
        states = enumerate(search.states)
        cut.update(n for n, state in states if space.lacks_steps_from(state))
    return sorted(cut)


def _cannot_reach(search: Explored, goals: Sequence[int]) -> set[int]:
    assert search.predecessors is not None
    seen, stack = set(goals), list(goals)
    while stack:
        search.space.ask()
        for before in search.predecessors[stack.pop()]:
            if before not in seen:
                seen.add(before)
                stack.append(before)
    return set(range(len(search.states))) - seen


def run_to(search: Explored, at: int, edge: Edge | None) -> Trace:
    """The shortest run to a state, and the step beyond it."""
    space = search.space
    if at < 0:
        return Trace((), ())
    states, events = search.path(at)
    if edge is not None:
        events.append((edge.rule, edge.args))
        if isinstance(edge.outcome, Done):
            states.append(edge.outcome.state)
    return trace_of(space, states, events)


def _live(search: Explored, j: PropertyOf, over: Over) -> Answer:
    """Whether a liveness property holds; if not, the lasso that violates it."""
    if not search.states:
        return Verdict.UNKNOWN, "not everything was explored", None, ()
    try:
        graph = search.graph
        if graph is None:
            return Verdict.UNKNOWN, "not everything was explored", None, ()
        graph.over = over
        parents = [search.before(number) for number in range(len(search.states))]
        found = violation(search.space, j, search.states, parents, graph, live=search.live)
    except (TimeUp, OutOfBudget):
        return Verdict.UNKNOWN, "not decided in the time that there was", None, ()
    if isinstance(found, NoMember):
        return Verdict.UNKNOWN, found.what, None, ()
    if isinstance(found, NoLabel):
        why = f"undefined: {found.what}"
        return Verdict.UNDEFINED, why, run_to(search, found.at, None), ()
    if found is not None:
        said = shown(search.space, j, search.states, graph, found)
        return Verdict.VIOLATED, *said
    if not search.complete:
        return Verdict.UNKNOWN, "not everything was explored", None, ()
    return _unbroken(search, j), "", None, ()


def _why_stuck(space: Space, state: State) -> tuple[str, ...]:
    """For a state without an enabled transition: why each transition is refused."""
    out: list[str] = []
    for rule, row in space.rules:
        reasons: list[str] = []
        tried = list(itertools.islice(space.arguments(rule, state, planned=False), MOST))
        names = [plan.name for plan in rule.plans]
        for args in tried:
            named = dict(zip(names, args, strict=True))
            outcome = space.reference.step(state, row.name, named)
            if isinstance(outcome, Refusal):
                text = str(outcome.reason())
                if text not in reasons:
                    reasons.append(text)
        if not tried:
            reasons.append("no arguments to try")
        out.append(f"{row.name}: {'; or '.join(reasons[:3])}")
    return tuple(out)
