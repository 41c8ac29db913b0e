"""The false clause of a condition, with the values read in it."""

from __future__ import annotations

from typing import Any

from lawful.spec import ir
from lawful.spec.explain import conjuncts, failure, shown, text
from lawful.spec.values import encode

from .meaning import Env, Meaning


def clause(m: Meaning, test: ir.Expr, env: Env) -> str:
    """The first false conjunct, going into a quantifier that is false for one element."""
    false = next((c for c in conjuncts(test) if not m.eval(c, env)), test)
    if isinstance(false, ir.Comp) and false.kind == "all":
        for inner in m.clauses(false.clauses, env):
            if not m.eval(false.element, inner):
                bound = [name for each in false.clauses for name in each.names]
                at = ", ".join(f"{name} = {_plain(inner[name])}" for name in bound)
                return f"{clause(m, false.element, inner)} for {at}"
    values = [text(encode(m.eval(e, env), e.type)) for e in shown(false)]
    return failure(false, values)


def _plain(value: Any) -> str:
    """A bound value as it is read: enums by name."""
    return getattr(value, "name", None) or str(value)
