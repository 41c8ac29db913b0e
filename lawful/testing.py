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
from pathlib import Path as Folder
from typing import Any

from lawful.checks.conform.covering_paths import Call, Cover, Path
from lawful.checks.conform.covering_paths import paths as covering
from lawful.checks.conform.lockstep import Mismatch
from lawful.checks.explore.retrace import again
from lawful.checks.explore.space import Space
from lawful.checks.explore.value_pool import Near
from lawful.checks.replay.fold import fold
from lawful.checks.replay.mapping import TraceMapping
from lawful.checks.replay.problems import InstanceVerdict
from lawful.checks.replay.program import ReplayProgram
from lawful.checks.replay.rows import row_of_json
from lawful.checks.replay.unseen.tied_fold import TiedFold
from lawful.runtime.instance import Machine
from lawful.runtime.timers import SimulatedClock
from lawful.spec.resolve import resolve

from . import targets

__all__ = [
    "Call",
    "Mismatch",
    "Near",
    "Path",
    "SimulatedClock",
    "conformance",
    "paths",
    "replay_rows",
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
    target: str,
    name: str,
    trace: Sequence[Mapping[str, Any]],
    *,
    scope: Sequence[str] = (),
    root: Folder | None = None,
) -> None:
    """Raise AssertionError while the events of the trace still violate the property.

    `lawful check --pytest` writes tests that call this function. The target is looked for in the
    folder `root`, then in those above it; by default in the current one.

    Raises `TargetError`, `DeclarationError`, and KeyError for a property that is not there.
    """
    (cls,) = targets.machines(target if root is None else targets.in_folder(target, root))
    wrong = again(_space(cls, scope), name, trace)
    if wrong is not None:
        raise AssertionError(f"{cls.__name__}: {wrong}, as before, after {len(trace) - 1} events")


def replay_rows(
    target: str,
    rows: Sequence[Mapping[str, Any]],
    *,
    parameters: Mapping[str, Any] | None = None,
) -> None:
    """Raise AssertionError while the machine deviates from recorded rows, or cannot judge them.

    `rows` are of one instance. `parameters` are given for rows of other programs, of each instance.
    `lawful replay --pytest` writes tests that call this function.

    Raises `TargetError` and `DeclarationError`.
    """
    cls = targets.machine(target)
    told = [row_of_json({"machine": cls.__name__, **row, "fingerprint": "any"}) for row in rows]
    mapping = None
    if parameters is not None:
        mapping = TraceMapping("$.instance", "$.seq", "$.event", parameters=parameters)
    machine = resolve(cls).machine
    program = ReplayProgram((machine,), mapping=mapping, any_version=True)
    found = fold(program, told[0].instance, told, TiedFold) if told else None
    if found is None or found.verdict not in ("fits", "open"):
        raise AssertionError(f"{cls.__name__}: {_why(found)}")


def _why(found: InstanceVerdict | None) -> str:
    """The problem that decides a verdict, as a sentence."""
    finding = None if found is None else found.finding
    if found is None or finding is None:
        return "no row was judged"
    at = f" at row {finding.index}, event {finding.event}" if finding.event else ""
    return f"{finding.verdict}{at}: {finding.clause}"


def _space(cls: type[Machine], scope: Sequence[str]) -> Space:
    machine = targets.scoped(cls, scope)
    return Space(machine.flat, machine.world)
