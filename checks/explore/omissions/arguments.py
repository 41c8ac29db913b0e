"""Which arguments a scope leaves out, though they might be a step.

A range of integers or a greatest length leaves values of a parameter out. That changes nothing
where the guards refuse all of them in every state within the scope: where the parameter is drawn
from what the state holds, `require(m in self.network)`, or is compared with what the scope bounds,
`require(n < self.next)`. This is decided from the text, with intervals (`reach`); where they do
not tell, the values count as left out. How many elements sorts and opaques have, and which values
a `Param` takes, is what a verdict is about: that leaves nothing out.

A guard says something of the values that are left out only if it is evaluated for them: what comes
before it must have a value, or be without one for an argument within the scope, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.walk import everything
from lawful.spec.flat import Flat, Rule
from lawful.spec.lower.argument_plans import free, planner
from lawful.spec.quick_dataclass import dataclass

from .definedness import Defined
from .extents import covers
from .first_guards import first_guards
from .guard_extents import Guards
from .reach import Env, Reach

Params = tuple[tuple[str, t.Type], ...]
Asked = tuple[tuple[ir.Expr, ...], list[ir.Expr]]  # Of the header, and of the body.
Of = Literal["initial", "transition", "property", "serial"]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Values that the scope leaves out: of the parameter `name` of a rule, or serial numbers.

    `possible` is what the values can be that are not refused, `explored` those within the scope.
    """

    of: Of
    rule: str
    name: str
    possible: t.Type
    explored: t.Type

    def __str__(self) -> str:
        if self.of == "serial":
            return f"{self.possible} with fewer bits"
        return f"{self.rule}.{self.name}"


def left_out(flat: Flat) -> Iterator[LeftOut]:
    """All that the scope leaves out: serial numbers, then parameters as they are declared."""
    serials = {pair for each in (flat, *flat.abstracts) for pair in each.serials}
    for declared, explored in sorted(serials):
        yield LeftOut("serial", "", "", t.serial(declared), t.serial(explored))
    machine = flat.machine
    first, later = Reach(flat, starting=True), Reach(flat)
    for rule, function in zip(flat.initials, machine.initials, strict=True):
        narrow = _narrow(function.params, rule)
        if narrow:
            asked = first_guards(machine, function, narrow)
            yield from _rows("initial", rule, _possible(first, ((), asked), function.params, rule))
    for rule in flat.rules:
        row = machine.transition(rule.name)
        narrow = _narrow(row.function.params, rule)
        if narrow:  # To look through all bodies for guards takes long.
            header = planner(row, row.function, machine.functions).header
            asked = first_guards(machine, row.function, narrow)
            possible = _possible(later, (header, asked), row.function.params, rule)
            yield from _rows("transition", rule, possible)
    properties = {rule.name: rule for rule in flat.properties}
    for owner in (machine, *machine.parts):
        for p in owner.properties:
            params = p.function.params[1 if p.kind == "step_property" else 0 :]
            rule = properties[f"{owner.name}.{p.name}"]
            possible = _possible(later, ((), list(_premises(p))), params, rule)
            yield from _rows("property", rule, possible)


def _premises(p: ir.Property) -> Iterator[ir.Expr]:
    """What must be true for an invariant to say something: `implies(premise, ...)`."""
    match p.function.body:
        case (ir.Return(value=ir.Or(args=(ir.Op(op="not", args=(premise,)), *_))),):
            if p.kind in ("invariant", "step_property"):
                yield premise
        case _:
            pass


def _rows(of: Of, rule: Rule, possible: Env) -> Iterator[LeftOut]:
    for plan in rule.plans:
        if not covers(plan.type, possible[plan.name]):
            yield LeftOut(of, rule.name, plan.name, possible[plan.name], plan.type)


def _narrow(params: Params, rule: Rule) -> set[str]:
    """The parameters whose types have values that the scope leaves out."""
    return _open({plan.name: plan.type for plan in rule.plans}, dict(params))


def _possible(reach: Reach, asked: Asked, params: Params, rule: Rule) -> Env:
    """The extents of the parameters' values that the guards do not refuse."""
    possible: Env = dict(params)
    explored = {plan.name: plan.type for plan in rule.plans}
    if not _open(explored, possible):
        return possible
    guards = Guards(reach)
    header, tests = asked
    for test in header:
        guards.header(test, possible)
    told: list[ir.Expr] = []
    read = False  # Whether a guard before this one may tell left out values from explored ones.
    defined = Defined(reach.flat.machine)
    for test in tests:
        left = _open(explored, possible)
        partial = list(defined.partial(test))
        if partial and (read or free(*partial, *_skipping(test)) & left):
            break
        guards.require(test, possible)
        told.append(test)
        read = read or bool(free(test) & left)
        defined.learn(test)
    for test in told:  # A later guard may bound what an earlier one compares with.
        guards.require(test, possible)
    return possible


def _open(explored: Env, possible: Env) -> set[str]:
    """The parameters of which values are left out."""
    return {name for name, kind in explored.items() if not covers(kind, possible[name])}


def _skipping(test: ir.Expr) -> Iterator[ir.Expr]:
    """The parts of a test that evaluate what is in them for some arguments and not for others."""
    for node in everything((test,)):
        if isinstance(node, ir.And | ir.Or | ir.If | ir.Comp):
            yield node
