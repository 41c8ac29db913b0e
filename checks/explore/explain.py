"""Why a property is false, and why a state is stuck: clauses with their values."""

from __future__ import annotations

import itertools
from typing import Any

from lawful.checks.reference import Reference, Refusal
from lawful.checks.reference.clauses import clause
from lawful.checks.reference.expressions import SELF, Env
from lawful.checks.reference.states import State
from lawful.spec import ir

from .space import Space


def failure_of(m: Reference, p: ir.Property, state: State, args: tuple[Any, ...]) -> str:
    """The false clause of a property in a state, with the values read in it."""
    env: Env = dict(zip((name for name, _ in p.function.params), args, strict=False))
    env[SELF] = state
    *before, last = p.function.body
    plain = all(isinstance(stmt, ir.Assign) for stmt in before)
    if not plain or not isinstance(last, ir.Return) or last.value is None:
        return f"{p.name} is false"
    m.block(tuple(before), env)
    return clause(m, last.value, env)


MOST = 1000  # Arguments that are tried: what refuses so many says enough.


def stuck(space: Space, state: State) -> tuple[str, ...]:
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
