"""Fairness as TLA+ says it: WF and SF of the actions of a group.

A step that the scope cuts counts as enabled, which `ENABLED` cannot know. Where there may be such
steps, the same is written out with a predicate of ours for being enabled.
"""

from __future__ import annotations

from lawful.spec import ir
from lawful.spec.flat import Rule

from .names import OR
from .steps import Steps


def fairness(steps: Steps) -> list[str]:
    """A conjunct for every group of the machine."""
    return [_group(steps, *group) for group in steps.machine.fairness]


def _group(steps: Steps, strength: str, names: tuple[str, ...], each: tuple[str, ...]) -> str:
    rows = [(rule, row) for rule, row in steps.rows if row.name in names]
    given = _shared(steps, rows[0][0], each) if rows else []
    shared = {name: at for name, at, _ in given}
    action = _union(steps, rows, shared, enabled=False)
    text = f"{'WF' if strength == 'weak' else 'SF'}_{steps.vars}({action})"
    if steps.cuts:
        enabled, taken = _union(steps, rows, shared, enabled=True), f"[]<><<{action}>>_{steps.vars}"
        always = "<>[]" if strength == "weak" else "[]<>"
        text = f"({always}{enabled} => {taken})"
    for _, name, over in reversed(given):
        text = f"(\\A {name} \\in {over} : {text})"
    return text


def _shared(steps: Steps, rule: Rule, each: tuple[str, ...]) -> list[tuple[str, str, str]]:
    """The parameters for whose every value a group holds apart, all of their values."""
    from .kinds import values

    names = steps.defined.body(steps.machine).names
    kinds = {plan.name: plan.type for plan in rule.plans}
    return [(name, names.fresh(f"each_{name}"), values(kinds[name])) for name in each]


def _union(
    steps: Steps, rows: list[tuple[Rule, ir.Transition]], shared: dict[str, str], *, enabled: bool
) -> str:
    """That one of the group's actions happens, or is enabled: its step changes the state."""
    found: list[str] = []
    for rule, row in rows:
        quantified, args = steps.bindings(rule, steps.now)
        given = [
            shared.get(plan.name, name) for plan, name in zip(rule.plans, args, strict=True)
        ]
        text = steps.action(row)(given)
        if enabled:
            gives = steps.gives(row, given)
            text = (
                f'({gives}.out = "cut" \\/ ({gives}.out = "done" /\\ {gives}.to # {steps.now}))'
            )
        for plan, (name, over) in reversed(list(zip(rule.plans, quantified, strict=True))):
            if plan.name not in shared:
                text = f"(\\E {name} \\in {over} : {text})"
        found.append(text)
    return found[0] if len(found) == 1 else f"({OR.join(found) or 'FALSE'})"
