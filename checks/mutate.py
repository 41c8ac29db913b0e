"""How many small changes of a machine none of its properties notices.

A mutant that keeps every verdict shows a guard, an assignment or a number that no property asks
for, or that has no effect (R. DeMillo, R. Lipton, F. Sayward, "Hints on test data selection",
1978).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.errors import DeclarationError, Place
from lawful.spec.formula import expr
from lawful.spec.ir import Json
from lawful.spec.lower import lower
from lawful.spec.resolve import Resolved, abstract_scopes
from lawful.spec.walk import everything, replaced, statements
from lawful.spec.words import Scope

from .explore import CheckResult, Limits, explore
from .verdict import Verdict

OTHERS = {"lt": "le", "le": "lt", "gt": "ge", "ge": "gt", "eq": "ne", "ne": "eq", "add": "sub",
          "sub": "add"}


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
    """How many mutants were tried, and those that no property noticed."""

    tried: int
    survived: tuple[Mutant, ...]


def survey(found: Resolved, scope: Scope, most: int, limits: Limits) -> Survey:
    """Explore at most so many mutants, evenly chosen, and compare their verdicts.

    Raises `ValueError` where the machine itself cannot be explored within the limits.
    """
    own = _explored(found, found.machine, scope, limits)
    if not own.complete:
        raise ValueError(
            f"{found.machine.name} was not explored to its end, {own.distinct:,} states:"
            " its mutants need a smaller scope"
        )
    every = list(mutants(found.machine))
    step = max(1, -(-len(every) // most))
    tried = every[::step]
    larger = Limits(states=4 * own.distinct + 1000)
    survived = [each for each in tried if _survives(found, each, (scope, larger), own)]
    return Survey(len(tried), tuple(survived))


def _survives(
    found: Resolved, mutant: Mutant, within: tuple[Scope, Limits], own: CheckResult
) -> bool:
    """Whether the verdicts stay as they were; a mutant that is no machine is noticed."""
    try:
        return _verdicts(_explored(found, mutant.machine, *within)) == _verdicts(own)
    except (DeclarationError, ValueError):
        return False


def _explored(
    found: Resolved, machine: ir.Machine, scope: Scope, limits: Limits
) -> CheckResult:
    flat = lower(machine, scope, abstract_scopes(found))
    return explore(flat, found.world, {}, limits=limits)


def _verdicts(result: CheckResult) -> dict[str, Verdict]:
    return {p.name: p.verdict for p in result.properties}


def text(survey: Survey) -> str:
    """How many survived, and which."""
    said = f"  {len(survey.survived)} of {survey.tried} small changes are noticed by no property"
    return "\n".join([said, *(f"    {each.place}: {each.what}" for each in survey.survived)])


def to_json(survey: Survey) -> Json:
    """The same as JSON."""
    rows: list[Json] = [
        {"file": each.place.file, "line": each.place.line, "what": each.what}
        for each in survey.survived
    ]
    return {"tried": survey.tried, "survived": rows}
