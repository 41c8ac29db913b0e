"""Proofs, in the form that tests compare."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lawful.checks.prove import How, prove
from lawful.checks.prove.result import ProofResult
from lawful.checks.smt.solver.budget import UNITS, Effort
from lawful.spec.resolve import resolve


def proof(cls: Any, sizes: Mapping[str, int] | None = None, units: float = UNITS) -> ProofResult:
    return prove(resolve(cls).machine, sizes=sizes or {}, how=How(effort=Effort(units)))


def verdicts(result: ProofResult) -> dict[str, str]:
    """Of what induction judges."""
    return {p.name: p.verdict.value for p in result.properties if p.method != "none"}


def not_proved(result: ProofResult) -> set[tuple[str, str]]:
    return {(o.obligation, o.property) for o in result.obligations if not o.verdict.good}
