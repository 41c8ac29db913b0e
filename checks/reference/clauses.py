"""Why a guard or a property is false: its false clause, with the values that the clause reads."""

from __future__ import annotations

from typing import Any

from lawful.spec import ir
from lawful.spec.outcomes import Reason
from lawful.spec.text.reasons import (
    conjuncts,
    failure,
    form,
    named,
    plain,
    refusal,
    shown,
    text,
    told,
    visible,
)

from .expressions import SELF, Env, Guard, Meaning
from .states import State


def clause(m: Meaning, test: ir.Expr, env: Env) -> str:
    """The first false conjunct, going into a quantifier that is false for one element."""
    false = next((c for c in conjuncts(test) if not m.eval(c, env)), test)
    if isinstance(false, ir.Comp) and false.kind == "all":
        for inner in m.clauses(false.clauses, env):
            if not m.eval(false.element, inner):
                bound = [name for each in false.clauses for name in each.names]
                at = ", ".join(f"{name} = {_plain(inner[name])}" for name in bound)
                return f"{clause(m, false.element, inner)} for {at}"
    values = [text(plain(visible(m.eval(e, env), e.type), e.type)) for e in shown(false)]
    return failure(false, values)


def failure_of(m: Meaning, p: ir.Property, state: State, args: tuple[Any, ...]) -> str:
    """The false clause of a property in a state, with the values read in it."""
    env: Env = dict(zip((name for name, _ in p.function.params), args, strict=False))
    env[SELF] = state
    *before, last = p.function.body
    plain = all(isinstance(stmt, ir.Assign) for stmt in before)
    if not plain or not isinstance(last, ir.Return) or last.value is None:
        return f"{p.name} is false"
    m.block(tuple(before), env)
    return clause(m, last.value, env)


def _plain(value: Any) -> str:
    """A value as it is shown: members of enums by name."""
    return getattr(value, "name", None) or str(value)


def explain(m: Meaning, guard: Guard, transition: str) -> Reason:
    """The false clause of a guard with the values in it."""
    if guard.says is not None:
        clause, header = guard.says()
        return Reason(transition, clause, "", header)
    why = "" if guard.why is None else str(m.eval(guard.why, guard.env))
    if guard.test is None:
        return Reason(transition, "", why, {})
    test = next((c for c in conjuncts(guard.test) if not m.eval(c, guard.env)), guard.test)
    both = [(m.eval(each, guard.env), each.type) for each in shown(test)]
    clause = refusal(test, [told(*each) for each in both])
    return Reason(transition, clause, why, named(test, [form(*each) for each in both]))
