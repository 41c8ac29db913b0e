"""Results as pieces of HTML, which notebooks show. All text is escaped, nothing is run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import NamedTuple

from lawful.spec.text.reasons import text as value_text

from .verdict import PropertyResult, Trace, after

GOOD, OPEN, BAD = "#1a7f37", "#9a6700", "#cf222e"


class Cell(NamedTuple):
    """A text of a table in a colour."""

    text: str
    colour: str


def table(head: Sequence[str], rows: Iterable[Sequence[str | Cell]]) -> str:
    """A table of texts, which may have anything in them."""
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    lines = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{names}</tr></thead><tbody>{lines}</tbody></table>"


def paragraph(text: str, *, strong: bool = False) -> str:
    """A line of text."""
    inside = f"<b>{escape(text)}</b>" if strong else escape(text)
    return f"<div>{inside}</div>"


def properties(rows: Sequence[PropertyResult]) -> Iterator[str]:
    """The table of verdicts, and each counterexample to open by a click."""
    yield table(("property", "kind", "verdict", "expected", "why"), map(_property, rows))
    for p in rows:
        if p.verdict.failed and p.trace is not None:
            about = f"{p.name} is {p.verdict.value} {after(p.trace)}"
            yield f"<details><summary>{escape(about)}</summary>{trace(p.trace)}</details>"


def trace(run: Trace) -> str:
    """The run as a table: the start, then each event with what it changed."""
    first = "; ".join(f"{name} = {value_text(value)}" for name, value in run.initial.items())
    rows = [("", "start", first)]
    for number, step in enumerate(run.steps, 1):
        args = ", ".join(f"{name}={value_text(value)}" for name, value in step.args.items())
        changed = (f"{name} = {value_text(value)}" for name, value in step.changed.items())
        rows.append((str(number), f"{step.transition}({args})", "; ".join(changed)))
    if run.loop is not None:
        rows.append(("", "then", f"again from the state after event {run.loop}, for ever"))
    return table(("", "event", "changed"), rows)


def _property(p: PropertyResult) -> tuple[str | Cell, ...]:
    colour = GOOD if p.as_expected else OPEN if p.verdict.open else BAD
    events = "" if p.expect_events is None else f" after {p.expect_events}"
    return p.name, p.kind, Cell(p.verdict.value, colour), f"{p.expect}{events}", p.why


def _cell(cell: str | Cell) -> str:
    if isinstance(cell, Cell):
        return f'<td style="color:{cell.colour}"><b>{escape(cell.text)}</b></td>'
    return f"<td>{escape(cell)}</td>"
