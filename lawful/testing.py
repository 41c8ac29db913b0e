"""Tests of implementations, generated from declarations. Needs Hypothesis: `lawful[test]`."""

try:
    from lawful.checks.stateful import conformance, strategy
except ModuleNotFoundError as error:
    if error.name != "hypothesis":
        raise
    raise ModuleNotFoundError(
        "lawful.testing needs Hypothesis: pip install 'lawful[test]'", name="hypothesis"
    ) from error
from collections.abc import Mapping, Sequence
from typing import Any

from lawful.checks.again import again
from lawful.checks.beside import Mismatch
from lawful.checks.near import Near
from lawful.checks.space import Space
from lawful.runtime.timers import SimulatedClock
from lawful.spec.lower import lower
from lawful.spec.resolve import abstract_scopes, resolve

from . import targets

__all__ = ["Mismatch", "Near", "SimulatedClock", "conformance", "rerun", "strategy"]


def rerun(
    target: str, name: str, trace: Sequence[Mapping[str, Any]], *, scope: Sequence[str] = ()
) -> None:
    """Fail, with AssertionError, as long as the machine still does these events and they break
    the property; `lawful check --pytest` writes tests that call this.

    Raises `TargetError`, `DeclarationError`, and KeyError for a property that is not there.
    """
    (cls,) = targets.machines(target)
    found = resolve(cls)
    flat = lower(found.machine, targets.scope_of(cls, list(scope)), abstract_scopes(found))
    wrong = again(Space(flat, found.world), name, trace)
    if wrong is not None:
        raise AssertionError(f"{cls.__name__}: {wrong}, as before, after {len(trace) - 1} events")
