"""Mutation testing of properties: which small changes of a machine no property detects.

A mutant that keeps every verdict shows a guard, an assignment or a number that no property asks
for, or that has no effect (R. DeMillo, R. Lipton, F. Sayward, "Hints on test data selection",
1978). A property notices a mutant if it holds of the one machine and fails of the other. Where
a verdict is only weaker, `holds-within-scope` for `holds`, or a limit ended the search, that is
not decided. The same is true of a failure that the machine does not have with its declared types,
only with the fewer serial numbers or the more opaque values of the scope.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.walk import everything, replaced, statements
from lawful.spec.errors import DeclarationError, Place
from lawful.spec.ir import Json
from lawful.spec.lower import lower
from lawful.spec.resolve import Resolved, abstract_scopes
from lawful.spec.text.expressions import expr
from lawful.spec.words import Scope

from ..conform.trace_lifting import UnscopedMachine
from ..conform.trace_verdicts import confirmed
from ..explore import CheckResult, Limits, explore
from ..verdict import Verdict

OTHERS = {
    "lt": "le",
    "le": "lt",
    "gt": "ge",
    "ge": "gt",
    "eq": "ne",
    "ne": "eq",
    "add": "sub",
    "sub": "add",
}

HOLDING = frozenset({Verdict.HOLDS, Verdict.HOLDS_WITHIN_SCOPE})
FAILING = frozenset({Verdict.VIOLATED, Verdict.UNDEFINED})


@dataclass(frozen=True, slots=True)
class Mutant:
    """A machine with one small change."""

    place: Place
    what: str
    machine: ir.Machine


def mutants(machine: ir.Machine) -> Iterator[Mutant]:
    """Every machine that differs in one place of a transition, in the order of the source."""
    for row in machine.transitions:
        for old, new, what in _changes(row.function.body):
            changed = replaced(row, _only(old, new))
            assert isinstance(changed, ir.Transition)
            rows = tuple(changed if each is row else each for each in machine.transitions)
            whole = dataclasses.replace(machine, transitions=rows)
            yield Mutant(old.place, f"{row.name}: {what}", whole)


def _only(old: ir.Node, new: ir.Node) -> Callable[[ir.Node], ir.Node | None]:
    return lambda node: new if node is old else None


def _changes(body: tuple[ir.Stmt, ...]) -> Iterator[tuple[ir.Node, ir.Node, str]]:
    for stmt in statements(body):
        nothing = ir.Branch(stmt.place, ir.Const(stmt.place, t.BOOL, True), (), ())
        match stmt:
            case ir.Require(test=test):
                yield stmt, nothing, f"without require({expr(test)})"
            case ir.Assign(target=ir.Field() | ir.Item() as target):
                yield stmt, nothing, f"without the assignment of {expr(target)}"
            case ir.Update(target=target, op=op, into=None):
                yield stmt, nothing, f"without {expr(target)}.{op.rpartition('.')[2]}(...)"
            case _:
                pass
    for node in everything(body):
        match node:
            case ir.Op(op=op) if op in OTHERS:
                new = dataclasses.replace(node, op=OTHERS[op])
                yield node, new, f"{expr(new)} for {expr(node)}"
            case ir.Const(value=int() as value) if not isinstance(value, bool):
                new_constant = dataclasses.replace(node, value=value + 1)
                yield node, new_constant, f"{value + 1} for {value}"
            case _:
                pass


@dataclass(frozen=True, slots=True)
class Survey:
    """How many mutants were tried, those that no property noticed, and those not decided.

    `engines` says how many of them each engine explored, `not_generated` the constructs for which
    no steps can be generated, where that was the reference engine.
    """

    tried: int
    survived: tuple[Mutant, ...]
    undecided: tuple[Mutant, ...] = ()
    engines: Mapping[str, int] = field(default_factory=dict[str, int])
    not_generated: tuple[str, ...] = ()


def survey(found: Resolved, scope: Scope, most: int, limits: Limits) -> Survey:
    """Explore at most so many mutants, evenly chosen, and compare their verdicts.

    Raises `ValueError` where the machine itself cannot be explored within the limits.
    """
    result = _explored(found, found.machine, scope, limits)
    if not result.complete:
        raise ValueError(
            f"{found.machine.name} was not explored to its end, {result.distinct:,} states:"
            " its mutants need a smaller scope"
        )
    own = _confirmed(found, found.machine, scope, result)
    every = list(mutants(found.machine))
    step = max(1, -(-len(every) // most))
    tried = every[::step]
    larger = dataclasses.replace(limits, states=4 * result.distinct + 1000)
    results: list[CheckResult] = []
    judged = [(each, _noticed(found, each, (scope, larger), own, results)) for each in tried]
    return Survey(
        len(tried),
        tuple(mutant for mutant, noticed in judged if noticed is False),
        tuple(mutant for mutant, noticed in judged if noticed is None),
        Counter(each.engine for each in results),
        tuple(dict.fromkeys(each.not_generated for each in results if each.not_generated)),
    )


def _noticed(
    found: Resolved,
    mutant: Mutant,
    within: tuple[Scope, Limits],
    own: Mapping[str, Verdict],
    results: list[CheckResult],
) -> bool | None:
    """Whether a property detects the mutant; None where that is undecided.

    The result of its exploration is added to `results`.

    A mutant that cannot be explored within the scope is not decided either.
    """
    try:
        result = _explored(found, mutant.machine, *within)
        results.append(result)
        after = _confirmed(found, mutant.machine, within[0], result)
    except (DeclarationError, ValueError):
        return None
    answers = [_differs(verdict, after[name]) for name, verdict in own.items()]
    return True if True in answers else None if None in answers else False


def _differs(own: Verdict, other: Verdict) -> bool | None:
    """Whether two verdicts contradict each other; None where one is too weak to tell."""
    if own is other or {own, other} <= HOLDING:
        weaker = own is Verdict.HOLDS and other is Verdict.HOLDS_WITHIN_SCOPE
        return None if weaker else False
    return True if {own, other} <= HOLDING | FAILING else None


def _explored(found: Resolved, machine: ir.Machine, scope: Scope, limits: Limits) -> CheckResult:
    flat = lower(machine, scope, abstract_scopes(found))
    return explore(flat, found.world, {}, limits=limits)


def _confirmed(
    found: Resolved, machine: ir.Machine, scope: Scope, result: CheckResult
) -> dict[str, Verdict]:
    """The verdicts by property; unknown where only the scope's types have the trace."""
    whole = UnscopedMachine(dataclasses.replace(found, machine=machine), scope)
    return {
        p.name: p.verdict if confirmed(whole, p) else Verdict.UNKNOWN for p in result.properties
    }


def text(survey: Survey) -> str:
    """How many survived, and which; the same of those that are not decided."""
    of = f"of {survey.tried} small changes"
    lines = [f"  {len(survey.survived)} {of} are noticed by no property", *_lines(survey.survived)]
    if survey.undecided:
        why = "the scope or a limit leaves open whether a property notices them"
        lines += [f"  {len(survey.undecided)} {of} are undecided: {why}"]
        lines += _lines(survey.undecided)
    if survey.not_generated:
        slow = f"{survey.engines['reference']} by the reference engine"
        lines.append(f"  explored {slow}: steps cannot be generated for {survey.not_generated[0]}")
    return "\n".join(lines)


def _lines(found: Iterable[Mutant]) -> Iterator[str]:
    return (f"    {each.place}: {each.what}" for each in found)


def to_json(survey: Survey) -> Json:
    """The same as JSON."""
    survived, undecided = _rows(survey.survived), _rows(survey.undecided)
    out: dict[str, Json] = {"tried": survey.tried, "survived": survived, "undecided": undecided}
    out["engines"] = dict(survey.engines)
    if survey.not_generated:
        out["not_generated"] = list(survey.not_generated)
    return out


def _rows(found: Iterable[Mutant]) -> list[Json]:
    return [{"file": each.place.file, "line": each.place.line, "what": each.what} for each in found]
