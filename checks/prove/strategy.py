"""`prove`: which method is tried for which property, and in which order."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.lower import Sized, sized

from ..smt.solver.budget import ENDLESS, OVER_RUNS, USUAL, Effort
from ..verdict import Verdict
from .bounded import Runs, searched
from .conclusion import conclude
from .horn import HornProver
from .induction import Induction
from .k_induction import KInduction
from .needed_guards import GuardKey
from .reachability import settled
from .redundant_guards import redundant_guards
from .result import NOT_ASKED, Obligation, ProofResult, PropertyProof, RedundantGuard
from .schedule import answers
from .scope_text import types
from .strengthening import Seen
from .vacuity import grounded, unmet

DEPTHS = {"auto": 4, "k-induction": 3, "bounded": 6}  # The default.
Method = Literal["auto", "induction", "k-induction", "spacer", "bounded"]
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class How:
    """How to prove. `effort` is for each obligation.

    `depth` counts events: of the runs that are examined, or of k-induction. With `workers` above 1,
    Z3 searches in so many processes, in which it may crash.
    """

    method: Method = "induction"
    effort: Effort = USUAL
    depth: int | None = None
    workers: int = 1

    @property
    def over_runs(self) -> Effort:
        """The effort for each question about runs of several events."""
        return self.effort.times(OVER_RUNS)

    @property
    def altogether(self) -> Effort:
        """The effort for all questions of each method after induction over one step."""
        return self.over_runs if self.method == "auto" else ENDLESS


def prove(
    machine: ir.Machine,
    *,
    sizes: Mapping[str, int],
    how: How | None = None,
    progress: Tell | None = None,
    transitions_seen: Callable[[], Collection[str | None]] = frozenset,
    guards_needed: Callable[[], Collection[GuardKey]] = frozenset,
    explored: Callable[[], Seen | None] = lambda: None,
) -> ProofResult:
    """Prove the invariants and step properties, or find what violates them.

    `sizes` gives the number of elements of sorts and the lengths of lists; a sort without a size
    may have any number. `progress` receives a line for each step. `transitions_seen` returns the
    starts and transitions known to happen; it is called where Z3 does not find that soon.
    `guards_needed`, which is called later, returns guards known to refuse in a reached state.
    `explored` returns a short exploration; it is called where a property is open, and a violation
    that it met is the verdict.
    """
    how = how or How()
    began, lowered = time.perf_counter(), sized(machine, sizes)
    depth = how.depth or DEPTHS.get(how.method, 1)
    obligations: list[Obligation] = []
    properties: list[PropertyProof] = []
    guards: list[RedundantGuard] = []
    unmet: set[str] = set()  # Obligations of cases that cannot happen.
    if how.method == "spacer":
        properties = _reached(lowered, how, transitions_seen)
    elif how.method == "bounded":
        runs = Runs(depth, how.over_runs, how.altogether.begin(), how.workers)
        properties = searched(lowered, None, runs, progress)
    else:
        induction, obligations = _inductive(lowered, how, depth, (progress, transitions_seen))
        properties = conclude(induction, obligations)
        unmet = {o.property for o in obligations if o.obligation in induction.vacuous}
        happening = {*induction.steps} - {*induction.vacuous}
        guards = redundant_guards(induction.exact, happening, how.workers, guards_needed())
    seen = explored() if any(_is_open(p) for p in properties) else None
    if seen is not None:
        # With a sort of any size, a counterexample may have elements that no instance has.
        finite = all(k.name in lowered.sizes for k in types(machine) if isinstance(k, t.Sort))
        properties = settled(properties, obligations if finite else (), seen)
    left = _left(properties)
    if how.method == "auto" and left:
        spacer = HornProver(lowered, how.over_runs.times(0.5), how.workers)
        if spacer.plain:
            properties = _joined(properties, spacer.prove([n for n in left if n not in unmet]))
            left = _left(properties)
    if how.method == "auto" and left:
        runs = Runs(depth, how.over_runs, how.altogether.begin(), how.workers)
        properties = _joined(properties, searched(lowered, left, runs, progress))
    seconds = time.perf_counter() - began
    return ProofResult(machine.name, tuple(obligations), tuple(properties), seconds, tuple(guards))


def _inductive(
    lowered: Sized,
    how: How,
    depth: int,
    tell: tuple[Tell | None, Callable[[], Collection[str | None]]],
) -> tuple[Induction, list[Obligation]]:
    """The obligations by induction; a proof that used an unproved invariant does not count."""
    progress, transitions_seen = tell
    induction = Induction(lowered, how.effort, how.workers)
    asked = list(induction.questions())
    found: dict[tuple[str, str], Obligation] = {}
    for each in answers(induction, asked):
        found[each.obligation, each.property] = each
        if progress is not None:
            progress(f"{len(found)} of {len(asked)}, {each.obligation}: {each.property}")
    obligations = induction.sift([found[row] for row in asked])
    if how.method != "induction":
        deeper = KInduction(induction, how.over_runs)
        obligations = deeper.show(obligations, depth, progress, how.altogether)
    return induction, grounded(induction, obligations, transitions_seen)


def _reached(
    lowered: Sized,
    how: How,
    transitions_seen: Callable[[], Collection[str | None]],
) -> list[PropertyProof]:
    """The verdicts of Spacer; none for a machine with a case that cannot happen."""
    induction = Induction(lowered, how.effort, how.workers)
    spacer = HornProver(lowered, how.over_runs, how.workers)
    names = spacer.within_reach(dict.fromkeys(name for _, name in induction.questions()))
    for step, why in unmet(induction, transitions_seen).items():
        note = f"{step}: {why}"
        return [PropertyProof(n, Verdict.UNKNOWN, "spacer", induction.covers, note) for n in names]
    return spacer.prove(names)


def _is_open(p: PropertyProof) -> bool:
    """Whether exploration may decide it, or give the trace of a violation at the start."""
    return p.method != NOT_ASKED and not p.verdict.good


def _left(properties: Iterable[PropertyProof]) -> list[str]:
    return [p.name for p in properties if p.method != NOT_ASKED and p.verdict is Verdict.UNKNOWN]


def _joined(
    proved: Sequence[PropertyProof], searched: Sequence[PropertyProof]
) -> list[PropertyProof]:
    """The proofs; those that are open are replaced by the results of the bounded search."""
    other = {p.name: p for p in searched}
    return [other.pop(p.name, p) for p in proved] + list(other.values())
