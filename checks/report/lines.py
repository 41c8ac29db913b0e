"""Lines that all text reports share: tables, wrapped sentences, verdicts and traces."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from lawful.spec.text.reasons import text

from ..verdict import PropertyResult, Trace, TraceStep, Verdict, after

INDENT = "  "
WIDTH = 96  # Columns of a wrapped sentence.


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of text as aligned columns; the last column is not padded."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)] if rows else []
    out: list[str] = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        out.append("  ".join([*cells, row[-1]]).rstrip())
    return out


def wrapped(sentence: str, first: str, rest: str, *, hyphens: bool = True) -> list[str]:
    """The sentence in lines of `WIDTH` columns; `first` and `rest` indent the first and the others.

    With `hyphens` a line may also break after a hyphen.
    """
    return textwrap.wrap(
        sentence,
        WIDTH,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=hyphens,
    )


def verdict_text(p: PropertyResult) -> str:
    """The verdict; of a failure, with the length of its trace."""
    if p.verdict.failed and p.trace is not None:
        return f"{p.verdict.value} {after(p.trace)}"
    return p.verdict.value


def expected_text(p: PropertyResult) -> str:
    """What was expected of a property; empty where it holds as expected."""
    if p.expect == "holds":
        # A random walk can only find violations, so that it met none is no surprise.
        return "" if p.as_expected or p.verdict is Verdict.SAMPLED else "EXPECTED to hold"
    wanted = p.expect if p.expect_events is None else f"{p.expect} after {p.expect_events}"
    return "as expected" if p.as_expected else f"EXPECTED {wanted}"


def counterexample(p: PropertyResult) -> list[str]:
    """A failed property with its trace and notes."""
    text = f"{p.name} is {p.verdict.value}: {p.why}"
    lines = wrapped(text, "", INDENT, hyphens=False)
    if p.trace is not None:
        lines += [INDENT + line for line in trace_text(p.trace)]
    if p.notes:
        lines += [INDENT + _heading(p.trace)]
    return lines + [f"{INDENT}       {note}" for note in p.notes]


def _heading(trace: Trace | None) -> str:
    """The heading of the notes under a counterexample."""
    if trace is None or trace.loop is None:
        return "in the last state every transition is refused"
    first, last = trace.loop + 1, len(trace)
    if first > last:
        return "then nothing more happens, which is fair"
    again = f"event {first}" if first == last else f"events {first} to {last}"
    return f"then {again} repeat forever, which is fair"


def trace_text(trace: Trace) -> list[str]:
    """A trace: the initial state, then each event with the variables that it changed."""
    lines = ["start", *(f"       {name} = {text(value)}" for name, value in trace.initial.items())]
    for number, step in enumerate(trace.steps, 1):
        lines.append(f"{number:>3}  {event_text(step)}")
        lines += [f"       {name} = {text(value)}" for name, value in step.changed.items()]
    return lines


def event_text(step: TraceStep) -> str:
    """An event as a call, with its transition where that has another name, and its output."""
    args = ", ".join(f"{name}={text(value)}" for name, value in step.args.items())
    served = "" if step.transition == step.event else f" by {step.transition}"
    gives = "" if step.output is None else f" gives {text(step.output)}"
    return f"{step.event}({args}){served}{gives}"
