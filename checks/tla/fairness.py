"""Fairness in TLA+: WF or SF of the disjunction of the actions of a group.

A step that leaves the scope counts as enabled. So where the scope may cut steps, the fair action
includes those that leave it (`Steps.fair_action`). `Next` does not include them, so they are never
taken.
"""

from __future__ import annotations

from lawful.spec import ir
from lawful.spec.flat import Rule

from .kinds import values
from .names import OR, CannotWrite, Names
from .steps import SOME, Steps, called


def fairness(steps: Steps) -> list[str]:
    """A formula for every fairness group of the machine."""
    return [_group(steps, *group) for group in steps.machine.fairness]


def _group(steps: Steps, strength: str, names: tuple[str, ...], each: tuple[str, ...]) -> str:
    rows = [(rule, row) for rule, row in steps.rows if row.name in names]
    around = Names(steps.defined.names)
    given = {name: (around.fresh(f"each_{name}"), _values(rows, name)) for name in each}
    shared = {name: at for name, (at, _) in given.items()}
    action = _union(steps, rows, shared, around)
    text = f"{'WF' if strength == 'weak' else 'SF'}_{steps.vars}({action})"
    for name, over in reversed(given.values()):
        text = f"(\\A {name} \\in {over} : {text})"
    return text


def _values(rows: list[tuple[Rule, ir.Transition]], name: str) -> str:
    """All values of a parameter that the transitions of a group share."""
    found = {values(plan.type) for rule, _ in rows for plan in rule.plans if plan.name == name}
    if len(found) != 1:
        raise CannotWrite(f"fairness for each {name}, which has not the same values everywhere")
    return found.pop()


def _union(
    steps: Steps, rows: list[tuple[Rule, ir.Transition]], shared: dict[str, str], around: Names
) -> str:
    """The disjunction of the actions of a group."""
    found: list[str] = []
    for rule, row in rows:
        quantified, args = steps.bindings(rule, steps.now, around, shared)
        text = called(steps.fair_action(row), args)
        for name, over in reversed(quantified):
            text = f"({SOME} {name} \\in {over} : {text})"
        found.append(text)
    return found[0] if len(found) == 1 else f"({OR.join(found)})"
