"""CI cases of `check` and `simulate`: each property, and the comparison with the runtime."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from lawful.spec import ir

from ..explore import CheckResult
from ..verdict import PropertyResult, Verdict
from . import comparison
from .ci import Case, Suite, place
from .lines import counterexample

UNDECIDED = (Verdict.UNKNOWN, Verdict.BOUNDED, Verdict.SAMPLED)


def suite(machine: ir.Machine, result: CheckResult) -> Suite:
    """A case for each property, and one for the comparison with the runtime, if it was made."""
    rows = [_of_property(machine, p) for p in result.properties]
    return Suite(result.machine, result.seconds, (*rows, *_of_runtime(machine, result)))


def kept_suite(row: Mapping[str, Any]) -> Suite:
    """The cases of an entry of an earlier JSON answer, which was as expected."""
    cases = (Case(p["name"], p["kind"], "passed") for p in row["properties"])
    return Suite(row["machine"], 0.0, tuple(cases))


def _of_property(machine: ir.Machine, p: PropertyResult) -> Case:
    if p.as_expected:
        return Case(p.name, p.kind, "passed")
    wanted = "" if p.expect == "holds" else f", where {p.expect} was expected"
    message = f"{p.name} is {p.verdict.value}{f': {p.why}' if p.why else ''}{wanted}"
    outcome: Literal["failed", "skipped"] = "skipped" if p.verdict in UNDECIDED else "failed"
    lines = tuple(counterexample(p))
    return Case(p.name, p.kind, outcome, message, p.verdict.value, lines, place(machine, p.name))


def _of_runtime(machine: ir.Machine, result: CheckResult) -> Iterator[Case]:
    found = result.embedded
    if found is None:
        return
    message, lines = (
        " ".join(comparison.text(found)),
        tuple(comparison.disagreement_lines(found)),
    )
    outcome: Literal["passed", "failed", "skipped"] = "passed" if found.complete else "skipped"
    if found.differing:
        outcome = "failed"
    yield Case("runtime", "runtime", outcome, message, "differs", lines, machine.place)
