"""Proofs in the formats of others: a case for each property, and one for each obligation.

A counterexample to induction is no violation: its state need not be reachable. It is skipped, with
what it is called, and fails nothing; so is what is open. A run that violates a property fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lawful.spec import ir
from lawful.spec.words import Expected

from .induction import TO_INDUCTION
from .obligation import Obligation, ProofResult, PropertyProof
from .outside import Case, Suite, place
from .prove_report import NONE, PROVED, refuted, wanted
from .report import trace_text
from .verdict import Trace, TraceStep, Verdict

FAILED = (Verdict.VIOLATED, Verdict.UNDEFINED)


def suite(
    machine: ir.Machine, result: ProofResult, expects: Mapping[str, Expected]
) -> Suite:
    """What was proved of a machine, and what was not."""
    rows = [_of_property(machine, p, wanted(p.name, expects)) for p in result.properties]
    rows += [_of_obligation(machine, o, wanted(o.property, expects)) for o in result.obligations]
    return Suite(result.machine, result.seconds, tuple(rows))


def _of_property(machine: ir.Machine, p: PropertyProof, expected: str) -> Case:
    said = f"{p.name} is {p.verdict.value}{f': {p.note}' if p.note else ''}"
    lines = () if p.trace is None else (said, *trace_text(p.trace))
    at = place(machine, p.name)
    if p.method == NONE:
        return Case(p.name, "proof", "skipped", f"{p.name} is not asked here: explore it", place=at)
    if expected != "holds":
        if p.verdict in PROVED:
            said += f", where {expected} was expected"
            return Case(p.name, "proof", "failed", said, p.verdict.value, lines, at)
        return Case(p.name, "proof", "passed")
    if p.verdict in PROVED:
        return Case(p.name, "proof", "passed")
    if p.verdict in FAILED:
        return Case(p.name, "proof", "failed", said, p.verdict.value, lines, at)
    return Case(p.name, "proof", "skipped", said, p.verdict.value, lines, at)


def _of_obligation(machine: ir.Machine, o: Obligation, expected: str) -> Case:
    name = f"{o.property}: {o.obligation}"
    if o.verdict in PROVED or expected != "holds":
        return Case(name, "obligation", "passed")
    lines, at = tuple(refuted(o)), place(machine, o.property)
    said = lines[0]
    if o.verdict in FAILED:
        return Case(name, "obligation", "failed", said, o.verdict.value, lines, at)
    kind = "induction" if is_to_induction(o) else "obligation"
    return Case(name, kind, "skipped", said, o.verdict.value, lines, at)


def is_to_induction(o: Obligation) -> bool:
    """Whether it is left open by a counterexample to induction."""
    return o.counterexample is not None and o.counterexample.get("label") == TO_INDUCTION


def traces(machine: ir.Machine, result: ProofResult) -> Iterator[tuple[str, str, Trace]]:
    """Runs that violate a property, and the steps of counterexamples to induction: each with what
    it is called and what it is about."""
    for p in result.properties:
        if p.trace is not None and p.trace.states:
            yield p.name, f"{machine.name}.{p.name} is {p.verdict.value} {p.note}".rstrip(), p.trace
    for o in result.obligations:
        if is_to_induction(o) and o.verdict not in FAILED:
            name = f"{o.property}.{o.obligation}.induction"
            yield name, f"{refuted(o)[0]}: its state need not be reachable", _step(o)


def _step(o: Obligation) -> Trace:
    """The one step of a counterexample to induction, from its state."""
    shown: Any = o.counterexample
    fixed = shown["parameters"]
    states = [{**shown["state"], **fixed}]
    if shown["after"] is not None:
        states.append({**shown["after"], **fixed})
    step = TraceStep(shown["event"], shown["transition"], shown["args"], {})
    return Trace(tuple(states), (step,))
