"""State diagrams in Mermaid, which web pages and READMEs show without a drawing program."""

from __future__ import annotations

from collections.abc import Iterator

from lawful.spec import ir

from .chart import Chart, chart, one_line
from .dialect import Dialect

# Keywords of Mermaid that cannot be names of states.
RESERVED = frozenset({"as", "class", "default", "direction", "end", "note", "state", "style"})
# Characters with a meaning in Mermaid, as codes that it decodes in labels.
ENTITIES = {
    "#": "#35;",
    ";": "#59;",
    ":": "#58;",
    "<": "#60;",
    ">": "#62;",
    '"': "#34;",
    "{": "#123;",
    "}": "#125;",
    "%": "#37;",
    "\\": "#92;",
}


def safe(text: str) -> str:
    """The text on one line, with special characters as codes."""
    return "".join(ENTITIES.get(char, char) for char in one_line(text))


DIALECT = Dialect(safe, "<br/>", RESERVED)


def text(m: ir.Machine) -> str:
    """The state diagram as text of Mermaid's `stateDiagram-v2`."""
    return chart_text(chart(m))


def chart_text(shown: Chart) -> str:
    """The diagram of a chart as text of Mermaid's `stateDiagram-v2`."""
    head = ["---", f"title: {shown.title}", "---", "stateDiagram-v2"]
    direction = f"direction {'TB' if shown.downwards else 'LR'}"
    body = [direction, *DIALECT.body(shown), *_notes(shown)]
    return "\n".join([*head, *(f"    {line}" for line in body)]) + "\n"


def _notes(shown: Chart) -> Iterator[str]:
    """The notes: Mermaid attaches a note to a state, here to the first one."""
    states = [state.name for region in shown.regions for state in region.states]
    if shown.parts or len(shown.regions) > 1 or not states:
        return
    items = [f"{heading}: {'; '.join(items)}" for heading, items in shown.notes]
    if items:
        yield f"note left of {DIALECT.id(states[0])}"
        yield from (f"    {safe(item)}" for item in items)
        yield "end note"
