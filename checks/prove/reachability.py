"""A short exploration within the scope, for the properties that are not proved.

A violation that exploration meets is a run of the machine: it is the verdict, whatever else was
tried. So `prove` reports it as `check` does, with the same trace.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lawful.spec.values.world import decode

from ..explore.limits import Budget, Limits, OutOfBudget, looked
from ..explore.search import told
from ..explore.search_result import FirstFailure
from ..explore.space import Edge
from ..explore.verdicts import run_to
from ..reference import Fault, Refusal
from ..reference.states import State
from ..verdict import Trace, Verdict, after
from .result import NOT_ASKED, Obligation, PropertyProof
from .strengthening import LOOKS, Seen

METHOD = "exploration"


class Contradiction(Exception):
    """A property is proved, and a run of the machine violates it: an engine is wrong."""


def settled(
    properties: Iterable[PropertyProof], obligations: Iterable[Obligation], seen: Seen
) -> list[PropertyProof]:
    """The proofs; where exploration met a violation, with that verdict and run.

    Raises Contradiction where it met a violation of a property that is proved.
    """
    rows = list(obligations)
    return [p if p.method == NOT_ASKED else _settled(p, rows, seen) for p in properties]


def _settled(p: PropertyProof, obligations: Iterable[Obligation], seen: Seen) -> PropertyProof:
    found = seen.search.failures.get(p.name)
    if found is not None and found.verdict.failed:
        trace = run_to(seen.search, found.at, found.edge)
        if seen.is_real(p.name, trace):
            return _refuted(p, found, trace)
    if p.verdict.good or p.trace is not None or seen.narrowed:
        return p
    for o in obligations:
        found = _within_budget(seen, o) if o.property == p.name and not o.verdict.good else None
        if found is not None:
            return _refuted(p, found, run_to(seen.search, found.at, found.edge))
    return p


def _refuted(p: PropertyProof, found: FirstFailure, trace: Trace) -> PropertyProof:
    note = f"{after(trace) if trace.steps else 'at the start'}: {found.why}"
    if p.verdict.good:
        raise Contradiction(
            f"{p.name} is {p.verdict.value} by {p.method}, but {found.verdict.value} {note}"
        )
    return PropertyProof(p.name, found.verdict, METHOD, p.covers, note, trace)


def _within_budget(seen: Seen, o: Obligation) -> FirstFailure | None:
    """The same as `_stepped`; None where the step takes too long."""
    seen.space.budget = Budget(Limits(stop=looked(LOOKS)))
    try:
        return _stepped(seen, o)
    except OutOfBudget:
        return None
    finally:
        seen.space.budget = Budget()


def _stepped(seen: Seen, o: Obligation) -> FirstFailure | None:
    """The violation by the step of a counterexample to induction whose state was reached.

    The arguments of the step may be outside the scope; the step is real all the same.
    """
    example, space = o.counterexample, seen.space
    number = None if example is None else seen.number(example)
    index = next((i for i, (_, row) in enumerate(space.rules) if row.name == o.obligation), None)
    if example is None or number is None or index is None or o.property == "ambiguous":
        return None
    given: Any = example["args"]
    params = space.rules[index][1].function.params
    try:
        args = tuple(decode(given[name], kind, space.world) for name, kind in params)
    except (KeyError, TypeError, ValueError):  # A value that has no encoding.
        return None
    outcome = space.step(seen.search.states[number], (index, args))
    if isinstance(outcome, Refusal):
        return None
    edge = Edge(index, args, outcome, None)
    if isinstance(outcome, Fault):
        verdict = Verdict.UNDEFINED if outcome.name == "undefined" else Verdict.VIOLATED
        return (
            FirstFailure(number, edge, outcome.what, verdict)
            if outcome.name == o.property
            else None
        )
    return _wrong_after(seen, o.property, (number, edge, outcome.state))


def _wrong_after(seen: Seen, name: str, step: tuple[int, Edge, State]) -> FirstFailure | None:
    """Why a property does not hold after a step; None where it does."""
    number, edge, after = step
    space, before = seen.space, seen.search.states[number]
    for refining in seen.refinements:
        if refining.name == name:
            wrong = refining.follows(before, after)
            known = wrong is not None and wrong[0].failed
            return FirstFailure(number, edge, wrong[1], wrong[0]) if wrong and known else None
    j = next((each for each in space.judged if each.name == name), None)
    if j is None:
        return None
    of_step = j.kind == "step_property"
    failing = space.failing(j, before, after) if of_step else space.failing(j, after)
    if failing is None:
        return None
    return told(space, j, failing, FirstFailure(number, edge, "", Verdict.VIOLATED))
