"""Exhaustive breadth-first exploration: counts, verdicts, shortest counterexamples.

`distinct`, `generated` and `depth` are those of the language page, "Scope, cuts, counts".
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lawful.spec.flat import Flat
from lawful.spec.values import World
from lawful.spec.words import Expected

from .results import judge
from .search import Limits, Progress, search
from .space import Space
from .verdict import PropertyResult, Verdict, worst

__all__ = ["CheckResult", "Limits", "Progress", "explore"]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What exploring one machine within one scope established."""

    machine: str
    scope: Mapping[str, str]
    engine: str
    complete: bool
    distinct: int
    generated: int
    depth: int
    cuts: int
    cut_by: Mapping[str, int]
    seconds: float
    transitions: Mapping[str, Mapping[str, int]]
    properties: tuple[PropertyResult, ...]

    @property
    def verdict(self) -> Verdict:
        """The worst property's, expectations aside."""
        return worst(p.verdict for p in self.properties)

    @property
    def as_expected(self) -> bool:
        """Whether every property's verdict is the expected one."""
        return all(p.as_expected for p in self.properties)


def explore(
    flat: Flat,
    world: World,
    expects: Mapping[str, Expected],
    *,
    limits: Limits | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> CheckResult:
    """Explore the machine within its scope with the reference engine.

    Raises `ValueError` where no initial state is within the scope: nothing would be checked.
    """
    started = time.perf_counter()
    found = search(Space(flat, world), limits or Limits(), progress)
    seconds = time.perf_counter() - started
    return CheckResult(
        machine=flat.machine.name,
        scope=dict(flat.scope),
        engine="reference",
        complete=found.complete,
        distinct=len(found.states),
        generated=found.generated,
        depth=found.depth,
        cuts=sum(found.cut_by.values()),
        cut_by=found.cut_by,
        seconds=seconds,
        transitions={
            row.name: {"enabled": found.enabled[row.name], "new": found.new[row.name]}
            for row in flat.machine.transitions
        },
        properties=tuple(judge(found, expects)),
    )
