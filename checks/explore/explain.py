"""Why a state has no step: for each transition, the guard clauses that refuse."""

from __future__ import annotations

import itertools

from ..reference import Refusal
from ..reference.states import State
from .space import Space

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
