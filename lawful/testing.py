"""Tests of an implementation, generated from a declaration. Needs Hypothesis: `lawful[test]`."""

try:
    from lawful.checks.conform.hypothesis_machine import conformance, strategy
except ModuleNotFoundError as error:
    if error.name != "hypothesis":
        raise
    raise ModuleNotFoundError(
        "lawful.testing needs Hypothesis: pip install 'lawful[test]'", name="hypothesis"
    ) from error
from collections.abc import Mapping, Sequence
from typing import Any

from lawful.checks.conform.covering_paths import Call, Cover, Path
from lawful.checks.conform.covering_paths import paths as covering
from lawful.checks.conform.lockstep import Mismatch
from lawful.checks.explore.retrace import again
from lawful.checks.explore.space import Space
from lawful.checks.explore.value_pool import Near
from lawful.runtime.instance import Machine
from lawful.runtime.timers import SimulatedClock

from . import targets

__all__ = [
    "Call",
    "Mismatch",
    "Near",
    "Path",
    "SimulatedClock",
    "conformance",
    "paths",
    "rerun",
    "strategy",
]


def paths(
    machine: type[Machine],
    *,
    cover: Cover = "transitions",
    scope: Sequence[str] = (),
    max_states: int = 20_000,
) -> list[Path]:
    """Sequences of events that together cover the machine within its scope.

    `cover` says what: every transition, control state, or pair of transitions. Use them with
    `pytest.mark.parametrize` and `ids=str`. Raises `DeclarationError` where bounds are missing,
    `ValueError` where the machine has more than `max_states`.
    """
    return covering(_space(machine, scope), cover, max_states)


def rerun(
    target: str, name: str, trace: Sequence[Mapping[str, Any]], *, scope: Sequence[str] = ()
) -> None:
    """Raise AssertionError while the events of the trace still violate the property.

    `lawful check --pytest` writes tests that call this function.

    Raises `TargetError`, `DeclarationError`, and KeyError for a property that is not there.
    """
    (cls,) = targets.machines(target)
    wrong = again(_space(cls, scope), name, trace)
    if wrong is not None:
        raise AssertionError(f"{cls.__name__}: {wrong}, as before, after {len(trace) - 1} events")


def _space(cls: type[Machine], scope: Sequence[str]) -> Space:
    machine = targets.scoped(cls, scope)
    return Space(machine.flat, machine.world)
