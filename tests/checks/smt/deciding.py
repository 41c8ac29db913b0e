"""Whether a term is true wherever facts are, as Z3 decides it."""

from __future__ import annotations

from collections.abc import Sequence

from lawful.checks.smt.algebra.logic import Logic
from lawful.checks.smt.algebra.term import Term
from lawful.checks.smt.solver.budget import Budget
from lawful.checks.smt.solver.solve import ask
from lawful.checks.smt.solver.z3_terms import translation, z3


def decide(logic: Logic, term: Term, facts: Sequence[Term], budget: Budget) -> bool | None:
    """Whether the term is true wherever the facts are; None where it depends, or is not known."""
    whole = z3.simplify(translation(logic)(term))
    if z3.is_true(whole) or z3.is_false(whole):
        return bool(z3.is_true(whole))
    if ask(logic, [*facts, logic.negate(term)], budget).status == "unsat":
        return True
    return False if ask(logic, [*facts, term], budget).status == "unsat" else None
