"""Verdicts that rest on a trace, and whether the machine with its declared types shows them."""

from __future__ import annotations

from lawful.spec.verdicts import LIVENESS

from ..explore.retrace import broken_at_end
from ..reference.missing_values import NoValue
from ..verdict import PropertyResult, Verdict
from .trace_lifting import CandidateRuns, Run, UnscopedMachine

AFTER = 2_000  # Successor states that are searched for what should be unreachable from the last.


def rests_on_trace(p: PropertyResult) -> bool:
    """Whether the verdict rests on a trace: a counterexample, or a witness of reachability."""
    failed = p.verdict in (Verdict.VIOLATED, Verdict.UNDEFINED)
    return p.trace is not None and (failed or p.kind == "reachable")


def reached(p: PropertyResult) -> bool:
    """Whether the trace is a witness of reachability."""
    return p.kind == "reachable" and p.verdict is not Verdict.UNDEFINED


def shows(whole: UnscopedMachine, p: PropertyResult, run: Run) -> bool:
    """Whether the run ends as the verdict says. ValueError or NoValue if that cannot be judged."""
    if run.faulty:
        return True  # Only runs are made that end with the fault of the trace.
    if not whole.less and p.kind in (*LIVENESS, "recoverable"):
        return True  # The check judged the same steps with the same types.
    return broken_at_end(whole.around(run.states), p, run.states, AFTER)


def confirmed(whole: UnscopedMachine, p: PropertyResult) -> bool:
    """Whether the machine has the trace of a verdict also with its declared types."""
    if not whole.less or not rests_on_trace(p):
        return True
    assert p.trace is not None
    try:
        return any(shows(whole, p, run) for run in CandidateRuns(whole, p.name, p.trace).all())
    except (ValueError, NoValue):
        return False
