"""The rows around a deviation as a sequence diagram: an SVG text without scripts.

Each row is an arrow from its caller to the machine, dashed where the event is refused. The row that
deviates is red; its output, where it has one, is an arrow back.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

CALLER, MACHINE = 60, 520  # Where the two lifelines are.
WIDTH, TOP, STEP = 640, 54, 34
LONGEST = 64  # Characters on an arrow.
REFUSED = ("refused", "ignored", "argument", "fault")


@dataclass(frozen=True)
class _Arrow:
    text: str
    kind: str
    back: bool = False


def sequence(finding: Mapping[str, Any]) -> str:
    """The diagram of a finding, in its JSON form; empty where no rows around it are known."""
    around = finding.get("around")
    if not around or not finding.get("event"):
        return ""
    arrows = [*_arrows(finding, around)]
    high = TOP + STEP * len(arrows) + 16
    ends = ((CALLER, "caller"), (MACHINE, f"instance {finding['instance']}"))
    lines = "".join(
        f'<line class="life" x1="{x}" y1="30" x2="{x}" y2="{high - 8}"/>'
        f'<text class="name" x="{x}" y="20" text-anchor="middle">{_short(name, 40)}</text>'
        for x, name in ends
    )
    drawn = "".join(_drawn(arrow, TOP + STEP * n) for n, arrow in enumerate(arrows))
    return (
        f'<svg class="sequence" viewBox="0 0 {WIDTH} {high}" style="max-width:{WIDTH}px" '
        f'role="img">{lines}{drawn}</svg>'
    )


def _arrows(finding: Mapping[str, Any], around: Mapping[str, Any]) -> Iterator[_Arrow]:
    for row in around["before"]:
        if row["event"]:
            yield _brief(row)
    row = finding.get("row", {})
    kind = " wrong refused" if finding["kind"] in REFUSED else " wrong"
    at = row_label(finding, finding["index"])
    yield _Arrow(_call(at, finding["event"], row.get("args", {})), kind)
    if row.get("output") is not None:
        yield _Arrow(json.dumps(row["output"]), " wrong", back=True)
    for row in around["after"]:
        if row["event"]:
            yield _brief(row)


def _brief(row: Mapping[str, Any]) -> _Arrow:
    """The arrow of a row beside the deviation."""
    kind = " refused" if row.get("outcome") in REFUSED else ""
    return _Arrow(_call(row_label(row, row["seq"]), row["event"], row["args"]), kind)


def row_label(row: Mapping[str, Any], seq: int) -> str:
    """Where a row is: its time if rows are in the order of time, else its number."""
    return str(row["time"] if "time" in row else row.get("number", seq))


def _call(at: str, event: str, args: Mapping[str, Any]) -> str:
    inside = ", ".join(f"{name}={json.dumps(value)}" for name, value in args.items())
    return f"{at}  {event}({inside})"


def _drawn(arrow: _Arrow, y: int) -> str:
    begin, end = (MACHINE, CALLER) if arrow.back else (CALLER, MACHINE)
    tip = end + 10 if arrow.back else end - 10
    return (
        f'<line class="call{arrow.kind}" x1="{begin}" y1="{y}" x2="{end}" y2="{y}"/>'
        f'<path class="tip{arrow.kind}" d="M{end} {y}L{tip} {y - 4}L{tip} {y + 4}z"/>'
        f'<text class="{arrow.kind.strip()}" x="{(CALLER + MACHINE) // 2}" y="{y - 6}" '
        f'text-anchor="middle">{_short(arrow.text, LONGEST)}</text>'
    )


def _short(text: str, most: int) -> str:
    return escape(text if len(text) <= most else f"{text[: most - 1]}…")
