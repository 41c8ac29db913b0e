"""What checks found, as text for people and as JSON for programs (the command line's page)."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from lawful.checks.conform import runtime_check
from lawful.checks.explore import CheckResult, coverage
from lawful.checks.explore import playback as playing
from lawful.checks.explore.coverage import Coverage
from lawful.checks.explore.limits import Reason
from lawful.checks.explore.traces import trace_json
from lawful.checks.verdict import PropertyResult, Trace, TraceStep, Verdict, after
from lawful.spec.errors import Place
from lawful.spec.ir import Json
from lawful.spec.text.reasons import text

from . import advice

INDENT = "  "
WIDTH = 96
STOPPED: dict[Reason, str] = {
    "": "",
    "states": "by --max-states ",
    "seconds": "by --max-seconds ",
    "memory": "by --max-memory ",
    "first": "at the first violation, ",
    "asked": "when asked to, ",
}


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of text as aligned columns; the last column is as long as it is."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)] if rows else []
    out: list[str] = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        out.append("  ".join([*cells, row[-1]]).rstrip())
    return out


# Exploration.


def check_text(result: CheckResult) -> str:
    """The whole answer of a check: counts, verdicts, and each counterexample."""
    lines = [result.machine, *(INDENT + line for line in _summary(result)), ""]
    rows = [("property", "kind", "verdict", "")]
    rows += [(p.name, p.kind, verdict_text(p), expected_text(p)) for p in result.properties]
    lines += [INDENT + line for line in table(rows)]
    idle = [name for name, counts in result.transitions.items() if not counts["enabled"]]
    if idle and result.complete:
        lines += ["", f"{INDENT}never enabled: {', '.join(idle)}"]
    if result.unjudged:
        said = f"asked of parts alone, not here: {', '.join(result.unjudged)}"
        lines += ["", *textwrap.wrap(said, WIDTH, initial_indent=INDENT, subsequent_indent=INDENT)]
    if result.coverage is not None:
        lines += ["", *((INDENT + line).rstrip() for line in coverage_text(result.coverage))]
    doubtful = frozenset[str]() if result.played is None else result.played.doubtful
    for p in result.properties:
        if p.trace is not None and (p.verdict.failed or p.name in doubtful):
            lines += ["", *counterexample(p)]
        elif p.why:
            lines += ["", f"{p.name}: {p.why}"]
    if result.embedded is not None and result.embedded.differing:
        lines += ["", *runtime_check.told(result.embedded)]
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
    yield f"explored  {counts}, {result.seconds:.1f} s ({result.engine})"
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
        first, *more = runtime_check.text(result.embedded)
        yield f"runtime   {first}"
        yield from (f"          {line}" for line in more)


def verdict_text(p: PropertyResult) -> str:
    """The verdict, and how long the run is that shows it."""
    if p.verdict.failed and p.trace is not None:
        return f"{p.verdict.value} {after(p.trace)}"
    return p.verdict.value


def expected_text(p: PropertyResult) -> str:
    """What was expected, where it is not that the property holds, or it does not."""
    if p.expect == "holds":
        # That a walk met nothing is all that a walk can say.
        return "" if p.as_expected or p.verdict is Verdict.SAMPLED else "EXPECTED to hold"
    wanted = p.expect if p.expect_events is None else f"{p.expect} after {p.expect_events}"
    return "as expected" if p.as_expected else f"EXPECTED {wanted}"


def coverage_text(found: Coverage) -> list[str]:
    """What a search exercised: each guard with what is odd about it, each place with its values."""
    guards = [("guard", "where", "true", "refused", "")]
    guards += [
        (f"{g.transition}: {g.clause}", _where(g.place), f"{g.true:,}", f"{g.refused:,}", g.odd)
        for g in found.guards
    ]
    values = [("variable", "values")]
    values += [(at, _constant(str(each), each.count)) for at, each in found.values.items()]
    said = f"covered by {found.states:,} state{'s' * (found.states != 1)}"
    return [said, "", *table(guards), "", *table(values)]


def _where(place: Place) -> str:
    return f"{Path(place.file).name}:{place.line}"


def _constant(values: str, count: int) -> str:
    return f"{values}  (always)" if count == 1 else values


def counterexample(p: PropertyResult) -> list[str]:
    """A counterexample: events, their arguments, and only what each changed."""
    said = f"{p.name} is {p.verdict.value}: {p.why}"
    lines = textwrap.wrap(said, WIDTH, subsequent_indent=INDENT, break_on_hyphens=False)
    if p.trace is not None:
        lines += [INDENT + line for line in trace_text(p.trace)]
    if p.notes:
        lines += [INDENT + _heading(p.trace)]
    return lines + [f"{INDENT}       {note}" for note in p.notes]


def _heading(trace: Trace | None) -> str:
    """What the notes under a counterexample are about."""
    if trace is None or trace.loop is None:
        return "there, every transition is refused"
    first, last = trace.loop + 1, len(trace)
    if first > last:
        return "then nothing more happens, and that is fair"
    again = f"event {first}" if first == last else f"events {first} to {last}"
    return f"then {again} again and again, and that is fair"


def trace_text(trace: Trace) -> list[str]:
    """A trace from the initial state on: all of that, then what each event changed."""
    lines = ["start", *(f"       {name} = {text(value)}" for name, value in trace.initial.items())]
    for number, step in enumerate(trace.steps, 1):
        lines.append(f"{number:>3}  {event_text(step)}")
        lines += [f"       {name} = {text(value)}" for name, value in step.changed.items()]
    return lines


def event_text(step: TraceStep) -> str:
    """An event as a call, with the transition that served it where its name differs."""
    args = ", ".join(f"{name}={text(value)}" for name, value in step.args.items())
    served = "" if step.transition == step.event else f" by {step.transition}"
    gives = "" if step.output is None else f" gives {text(step.output)}"
    return f"{step.event}({args}){served}{gives}"


def check_json(result: CheckResult, fingerprint: str, total_seconds: float) -> Json:
    """One machine's entry in the JSON of `lawful check`."""
    return {
        "machine": result.machine,
        "fingerprint": fingerprint,
        "scope": dict(result.scope),
        "engine": result.engine,
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
        "compile_seconds": 0.0,
        "total_seconds": round(total_seconds, 4),
        "transitions": {name: dict(counts) for name, counts in result.transitions.items()},
        **({"unjudged": list(result.unjudged)} if result.unjudged else {}),
        **({} if result.coverage is None else {"coverage": coverage.to_json(result.coverage)}),
        "properties": [property_json(p) for p in result.properties],
        **({} if result.played is None else {"played": playing.to_json(result.played)}),
        **({} if result.embedded is None else {"runtime": runtime_check.to_json(result.embedded)}),
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


def document(command: str, machines: Sequence[Json], **more: Json) -> Mapping[str, Json]:
    """The whole JSON answer of a command."""
    return {"version": 1, "command": command, "machines": list(machines), **more}
