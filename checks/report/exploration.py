"""Results of `check` and `simulate` as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from lawful.spec.errors import Place
from lawful.spec.ir import Json

from ..explore import CheckResult, coverage
from ..explore import playback as playing
from ..explore.coverage import Coverage
from ..explore.limits import Reason
from ..explore.traces import trace_json
from ..verdict import PropertyResult
from . import advice, comparison
from .lines import INDENT, counterexample, expected_text, table, verdict_text, wrapped

STOPPED: dict[Reason, str] = {
    "": "",
    "states": "by the limit on states ",
    "seconds": "by the limit on seconds ",
    "memory": "by the limit on memory ",
    "first": "at the first violation, ",
    "asked": "on request, ",
}


def check_text(result: CheckResult) -> str:
    """The result as text: counts, verdicts, and counterexamples."""
    lines = [result.machine, *(INDENT + line for line in _summary(result)), ""]
    rows = [("property", "kind", "verdict", "")]
    rows += [(p.name, p.kind, verdict_text(p), expected_text(p)) for p in result.properties]
    lines += [INDENT + line for line in table(rows)]
    idle = [name for name, counts in result.transitions.items() if not counts["enabled"]]
    if idle and result.complete:
        lines += ["", f"{INDENT}never enabled: {', '.join(idle)}"]
    if result.unjudged:
        text = f"checked only for parts by themselves, not here: {', '.join(result.unjudged)}"
        lines += ["", *wrapped(text, INDENT, INDENT)]
    if result.coverage is not None:
        lines += ["", *((INDENT + line).rstrip() for line in coverage_text(result.coverage))]
    doubtful = frozenset[str]() if result.played is None else result.played.doubtful
    for p in result.properties:
        if p.trace is not None and (p.verdict.failed or p.name in doubtful):
            lines += ["", *counterexample(p)]
        elif p.why:
            lines += ["", f"{p.name}: {p.why}"]
    if result.embedded is not None and result.embedded.differing:
        lines += ["", *comparison.disagreement_lines(result.embedded)]
    if result.advice is not None:
        lines += ["", *(INDENT + line for line in advice.text(result.advice))]
    return "\n".join(lines)


def _summary(result: CheckResult) -> Iterable[str]:
    bounds = ", ".join(f"{name}={bound}" for name, bound in result.scope.items())
    yield f"scope     {bounds or 'none needed'}"
    orbits = "" if result.orbits is None else f" in {result.orbits:,} orbits"
    counts = (
        f"{result.distinct:,} distinct states{orbits}, {result.generated:,} generated, "
        f"depth {result.depth}"
    )
    engine = f"{result.engine}, {result.steps}" if result.steps else result.engine
    yield f"explored  {counts}, {result.seconds:.1f} s ({engine})"
    if result.not_generated:
        yield f"slow      steps cannot be generated for {result.not_generated}"
    if result.handed_back:
        share = f"{result.handed_back:,} of {result.distinct:,} states"
        yield f"slow      the reference engine expanded {share}"
    if result.by_reference and "reference" not in (result.engine, result.steps):
        yield f"slow      by the reference engine: {', '.join(result.by_reference)}"
    if result.cuts:
        by = ", ".join(f"{name} {count:,}" for name, count in result.cut_by.items())
        steps = "step that leaves" if result.cuts == 1 else "steps that leave"
        yield f"cut       {result.cuts:,} {steps} the scope: {by}"
    if result.left_out:
        yield f"left out  arguments beyond the scope: {', '.join(result.left_out)}"
    if not result.complete:
        yield f"stopped   {STOPPED[result.stopped]}before everything was explored"
    if result.played is not None:
        first, *more = playing.text(result.played)
        yield f"played    {first}"
        yield from (f"          {line}" for line in more)
    if result.embedded is not None:
        first, *more = comparison.text(result.embedded)
        yield f"runtime   {first}"
        yield from (f"          {line}" for line in more)


def coverage_text(found: Coverage) -> list[str]:
    """The coverage as text: how often each guard was true, and the values of each variable."""
    guards = [("guard", "where", "true", "refused", "")]
    guards += [
        (f"{g.transition}: {g.clause}", _where(g.place), f"{g.true:,}", f"{g.refused:,}", g.odd)
        for g in found.guards
    ]
    values = [("variable", "values")]
    values += [(at, _constant(str(each), each.count)) for at, each in found.values.items()]
    lines = [f"covered by {found.states:,} state{'s' * (found.states != 1)} ({found.engine})"]
    if found.not_generated:
        why = f"guards cannot be counted by generated code for {found.not_generated}"
        lines.append(f"slow: {why}")
    return [*lines, "", *table(guards), "", *table(values)]


def _where(place: Place) -> str:
    return f"{Path(place.file).name}:{place.line}"


def _constant(values: str, count: int) -> str:
    return f"{values}  (always)" if count == 1 else values


def kept_text(row: Mapping[str, Json]) -> str:
    """An entry of an earlier answer, of a machine that has not changed since."""
    distinct = row["distinct"]
    states = f"{distinct:,} distinct states" if isinstance(distinct, int) else ""
    return f"{row['machine']}\n{INDENT}unchanged  as expected before: {row['verdict']}, {states}"


def check_json(result: CheckResult, fingerprint: str, total_seconds: float) -> dict[str, Json]:
    """One machine's entry in the JSON of `lawful check`."""
    return {
        "machine": result.machine,
        "fingerprint": fingerprint,
        "scope": dict(result.scope),
        "engine": result.engine,
        **({"steps": result.steps} if result.steps else {}),
        **({"not_generated": result.not_generated} if result.not_generated else {}),
        **({"handed_back": result.handed_back} if result.handed_back else {}),
        **({"by_reference": [*result.by_reference]} if result.by_reference else {}),
        "verdict": result.verdict.value,
        "as_expected": result.as_expected,
        "complete": result.complete,
        **({"stopped": result.stopped} if result.stopped else {}),
        "distinct": result.distinct,
        **({} if result.orbits is None else {"orbits": result.orbits}),
        "generated": result.generated,
        "depth": result.depth,
        "cuts": result.cuts,
        "cut_by": dict(result.cut_by),
        **({"left_out": list(result.left_out)} if result.left_out else {}),
        "seconds": round(result.seconds, 4),
        "compile_seconds": round(result.compile_seconds, 4),
        "total_seconds": round(total_seconds, 4),
        "transitions": {name: dict(counts) for name, counts in result.transitions.items()},
        **({"unjudged": list(result.unjudged)} if result.unjudged else {}),
        **({} if result.coverage is None else {"coverage": coverage.to_json(result.coverage)}),
        "properties": [property_json(p) for p in result.properties],
        **({} if result.played is None else {"played": playing.to_json(result.played)}),
        **({} if result.embedded is None else {"runtime": comparison.to_json(result.embedded)}),
        **({} if result.advice is None else {"advice": advice.to_json(result.advice)}),
    }


def property_json(p: PropertyResult) -> Json:
    """One property's entry."""
    out: dict[str, Json] = {
        "name": p.name,
        "kind": p.kind,
        "verdict": p.verdict.value,
        "expect": p.expect,
        "as_expected": p.as_expected,
    }
    if p.why:
        out["why"] = p.why
    if p.notes:
        out["notes"] = list(p.notes)
    if p.trace is not None:
        out["trace"] = trace_json(p.trace)
        out["loop"] = p.trace.loop
    return out
