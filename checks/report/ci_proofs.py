"""CI cases and traces of `prove`: each property, and each obligation.

A trace that violates a property is a failure. A counterexample to induction is none, because its
state need not be reachable: the case is skipped, as is every other open obligation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lawful.spec import ir
from lawful.spec.words import Expected

from .. import verdict
from ..prove.result import (
    NOT_ASKED,
    TO_INDUCTION,
    Obligation,
    ProofResult,
    PropertyProof,
)
from ..verdict import Trace, TraceStep
from .ci import Case, Suite, place
from .lines import expected_text, trace_text
from .proofs import judgement, refuted


def suite(machine: ir.Machine, result: ProofResult, expects: Mapping[str, Expected]) -> Suite:
    """The cases of one machine; `expects` are the expected verdicts by property."""
    rows = [_of_property(machine, p, expects) for p in result.properties]
    counted = {o.property for o in result.counted}
    shown = [o for o in result.obligations if o.property in counted or o.verdict.failed]
    rows += [_of_obligation(machine, o, expects) for o in shown]
    return Suite(result.machine, result.seconds, tuple(rows))


def _of_property(machine: ir.Machine, p: PropertyProof, expects: Mapping[str, Expected]) -> Case:
    message = f"{p.name} is {p.verdict.value}{f': {p.note}' if p.note else ''}"
    lines = () if p.trace is None else (message, *trace_text(p.trace))
    at, judged = place(machine, p.name), judgement(p, expects)
    if p.method == NOT_ASKED:
        return Case(p.name, "proof", "skipped", f"{p.name} is for check, not for prove", place=at)
    if judged.as_expected:
        return Case(p.name, "proof", "passed")
    if verdict.exit_code([judged]) == 3:
        return Case(p.name, "proof", "skipped", message, p.verdict.value, lines, at)
    wanted = expected_text(judged).removeprefix("EXPECTED ")
    message += "" if judged.expect == "holds" else f", where {wanted} was expected"
    return Case(p.name, "proof", "failed", message, p.verdict.value, lines, at)


def _of_obligation(machine: ir.Machine, o: Obligation, expects: Mapping[str, Expected]) -> Case:
    name = f"{o.property}: {o.obligation}"
    if o.verdict.proved or expects.get(o.property, "holds") != "holds":
        return Case(name, "obligation", "passed")
    lines, at = tuple(refuted(o)), place(machine, o.property)
    message = lines[0]
    if o.verdict.failed:
        return Case(name, "obligation", "failed", message, o.verdict.value, lines, at)
    kind = "induction" if is_to_induction(o) else "obligation"
    return Case(name, kind, "skipped", message, o.verdict.value, lines, at)


def is_to_induction(o: Obligation) -> bool:
    """Whether a counterexample to induction leaves the obligation open."""
    return o.counterexample is not None and o.counterexample.get("label") == TO_INDUCTION


def traces(machine: ir.Machine, result: ProofResult) -> Iterator[tuple[str, str, Trace]]:
    """The traces that violate a property, and the counterexamples to induction, which are traces
    of one step: each with a name and a description."""
    for p in result.properties:
        if p.trace is not None and p.trace.states:
            yield p.name, f"{machine.name}.{p.name} is {p.verdict.value} {p.note}".rstrip(), p.trace
    for o in result.counted:
        if is_to_induction(o) and not o.verdict.failed:
            name = f"{o.property}.{o.obligation}.induction"
            yield name, f"{refuted(o)[0]}: its state need not be reachable", _step(o)


def _step(o: Obligation) -> Trace:
    """A counterexample to induction as a trace of one step."""
    shown: Any = o.counterexample
    fixed = shown["parameters"]
    states = [{**shown["state"], **fixed}]
    if shown["after"] is not None:
        states.append({**shown["after"], **fixed})
    step = TraceStep(shown["event"], shown["transition"], shown["args"], {})
    return Trace(tuple(states), (step,))
