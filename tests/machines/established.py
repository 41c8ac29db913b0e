"""What the engines establish of a system's machines, in the form that tests compare."""

from __future__ import annotations

from functools import cache

from lawful import Machine, Scope
from lawful.checks.explore import CheckResult, explore
from lawful.checks.prove import ProofResult
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve


@cache
def explored(cls: type[Machine]) -> CheckResult:
    """The machine, explored in its own scope."""
    resolved = resolve(cls)
    flat = lower(resolved.machine, resolved.scopes.get("scope", Scope()))
    return explore(flat, resolved.world, resolved.expects)


def counts(cls: type[Machine]) -> tuple[int, int, int]:
    """Distinct and generated states and depth, of a machine of which all is as expected."""
    result = explored(cls)
    assert result.complete
    assert result.as_expected, [p.name for p in result.properties if not p.as_expected]
    return result.distinct, result.generated, result.depth


def found(cls: type[Machine]) -> dict[str, list[str]]:
    """Of each violated property, the transitions of its shortest counterexample."""
    return {
        p.name: [step.transition for step in p.trace.steps]
        for p in explored(cls).properties
        if p.trace is not None and p.verdict.value == "violated"
    }


def verdicts(result: ProofResult) -> set[str]:
    """What induction says of the properties that it judges."""
    return {p.verdict.value for p in result.properties if p.method != "none"}
