"""What the engines establish of a system's machines, in the form that tests compare."""

from __future__ import annotations

from lawful import Machine, Scope
from lawful.checks.explore import explore
from lawful.checks.prove.result import ProofResult
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve

Counts = tuple[int, int, int]


def established(cls: type[Machine]) -> tuple[Counts, dict[str, list[str]]]:
    """Distinct and generated states and depth of a machine of which all is as expected; and of
    each violated property, the transitions of its shortest counterexample."""
    resolved = resolve(cls)
    flat = lower(resolved.machine, resolved.scopes.get("scope", Scope()))
    result = explore(flat, resolved.world, resolved.expects)
    assert result.complete
    assert result.as_expected, [p.name for p in result.properties if not p.as_expected]
    violated = {
        p.name: [step.transition for step in p.trace.steps]
        for p in result.properties
        if p.trace is not None and p.verdict.value == "violated"
    }
    return (result.distinct, result.generated, result.depth), violated


def verdicts(result: ProofResult) -> set[str]:
    """What induction says of the properties that it judges."""
    return {p.verdict.value for p in result.properties if p.method != "none"}
