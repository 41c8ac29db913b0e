"""A machine checked within a scope of its own, for tests."""

from __future__ import annotations

from lawful import Machine
from lawful.checks.explore import CheckResult, explore
from lawful.spec.lower import lower
from lawful.spec.resolve import abstract_scopes, resolve
from lawful.targets import expectations, scope_of


def checked(cls: type[Machine], scope: str = "scope") -> CheckResult:
    """What exploration finds, within the scope of that name."""
    resolved = resolve(cls)
    named = [] if scope == "scope" else [scope]
    flat = lower(resolved.machine, scope_of(cls, named), abstract_scopes(resolved))
    return explore(flat, resolved.world, expectations(cls, named))


def counts(result: CheckResult) -> tuple[int, int, int]:
    """Of a whole exploration by the fast engine, in which everything was as expected."""
    assert result.complete
    assert result.engine != "reference", result.not_generated
    assert result.handed_back * 100 <= result.distinct
    assert result.as_expected, result.properties
    return result.distinct, result.generated, result.depth
