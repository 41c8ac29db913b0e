"""State diagrams in PlantUML, which many wikis and editors show."""

from __future__ import annotations

from collections.abc import Iterator

from lawful.spec import ir

from .chart import Chart, chart, one_line
from .dialect import Dialect

# Keywords of PlantUML that cannot be names of states.
RESERVED = frozenset(
    {"as", "end", "endif", "if", "left", "note", "right", "scale", "state", "title"}
)
# Characters that begin a style, a tag or an escape, or end a name, as codes that PlantUML decodes.
CODED = frozenset('&#;\\<>"~*/_-=^|{}[]')


def safe(text: str) -> str:
    """The text on one line, with special characters as codes."""
    return "".join(f"&#{ord(char)};" if char in CODED else char for char in one_line(text))


DIALECT = Dialect(safe, "\\n", RESERVED)


def text(m: ir.Machine) -> str:
    """The state diagram as text of PlantUML."""
    return chart_text(chart(m))


def chart_text(shown: Chart) -> str:
    """The diagram of a chart as text of PlantUML."""
    head = ["@startuml", f"title {safe(shown.title)}", "hide empty description"]
    direction = "top to bottom" if shown.downwards else "left to right"
    body = [f"{direction} direction", *DIALECT.body(shown), *_legend(shown)]
    return "\n".join([*head, *body, "@enduml"]) + "\n"


def _legend(shown: Chart) -> Iterator[str]:
    rows = [row for heading, items in shown.notes for row in (f"{heading}:", *items)]
    if rows:
        yield from ("legend left", *(f"    {safe(row)}" for row in rows), "end legend")
