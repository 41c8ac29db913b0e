"""`check` beside `prove`: of one property both say the same, as far as each goes."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping

from lawful.checks.explore import Limits, explore
from lawful.checks.explore.space import Space
from lawful.checks.prove import How, prove
from lawful.checks.prove.nonvacuity import transitions_seen
from lawful.checks.prove.result import NOT_ASKED, ProofResult, PropertyProof
from lawful.checks.prove.strengthening import Seen
from lawful.checks.report.proofs import judgement
from lawful.checks.verdict import PropertyResult
from lawful.spec import ir
from tests.agree.test_bounded import Run


@dataclasses.dataclass(frozen=True)
class Sides:
    """One machine within a scope: what exploration found, and what was proved of it."""

    space: Space
    checked: Mapping[str, PropertyResult]
    seen: Seen | None
    proved: ProofResult

    def differences(self, met: Counter[str]) -> list[str]:
        """What the two say differently of a property; `met` counts what was compared."""
        found: list[str] = []
        for p in self.proved.properties:
            if p.method != NOT_ASKED:
                met["properties"] += 1
                found += self._of(p, met)
        return found

    def _of(self, p: PropertyProof, met: Counter[str]) -> list[str]:
        checked = self.checked.get(p.name)
        said = f"{p.name}: {p.verdict.value} by {p.method} {p.note}"
        if checked is None:
            return [f"{said}, and check does not know it"]
        if p.verdict.good:
            met["proved"] += 1
            return [f"{said}, but check: {checked.verdict}"] if checked.verdict.failed else []
        if self.seen is not None and p.name in self.seen.search.failures and checked.verdict.failed:
            met["seen to fail"] += 1
            same = (p.verdict, p.trace) == (checked.verdict, checked.trace)
            expects = {p.name: _as_found(checked)}
            same = same and judgement(p, expects).as_expected and not judgement(p, {}).as_expected
            return [] if same else [f"{said}, but check: {checked.verdict} {checked.why}"]
        if p.verdict.failed:
            met["shown to fail"] += 1
            return self._confirmed(p, said, met)
        met["open"] += 1
        return []

    def _confirmed(self, p: PropertyProof, said: str, met: Counter[str]) -> list[str]:
        """Whether the reference engine goes the run that Z3 found, to the violation."""
        if p.trace is None:
            return [f"{said}, without a run"]
        if p.method == "exploration" or not p.trace.states:
            return []
        if p.name in {j.name for j in self.space.of_kind("refines")}:
            met["refinements"] += 1  # What the view is judged by is compared elsewhere.
            return []
        if "$unknown" in str(p.trace):
            met["untold"] += 1  # A value without an encoding: any will do.
            return []
        try:
            Run(self.space, p, p.trace).confirm()
        except AssertionError as error:
            return [f"{said}, but the reference engine: {str(error)[:200]}"]
        met["confirmed"] += 1
        return []


def _as_found(checked: PropertyResult) -> tuple[str, int]:
    """The expectation that what was found meets, and no other run does."""
    assert checked.trace is not None
    return checked.verdict.value, len(checked.trace)


def sides(
    space: Space,
    declared: ir.Machine,
    how: How,
    *,
    states: int | None = None,
    explored: bool = True,
) -> Sides:
    """Both sides of a machine: so many states, and proofs with or without exploration. Raises
    ValueError where no initial state is within the scope."""
    found = explore(space.flat, space.world, {}, limits=Limits(states))
    seen = Seen(space.flat, space.world, declared) if explored else None
    proofs = prove(
        declared,
        sizes=dict(space.flat.sizes),
        how=how,
        transitions_seen=lambda: transitions_seen(space.flat, space.world).met,
        explored=lambda: seen,
    )
    return Sides(space, {p.name: p for p in found.properties}, seen, proofs)
