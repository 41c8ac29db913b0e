"""State diagrams in Mermaid, which web pages and READMEs show without a drawing program."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lawful.spec import ir

from .chart import Chart, Edge, Region, Stay, chart, lines
from .transition_labels import Label

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


def text(m: ir.Machine) -> str:
    """The state diagram as text of Mermaid's `stateDiagram-v2`."""
    shown = chart(m)
    head = ["---", f"title: {shown.title}", "---", "stateDiagram-v2", "    direction LR"]
    body = [*_body(shown, ""), *_notes(shown)]
    return "\n".join([*head, *(f"    {line}" for line in body)]) + "\n"


def _body(shown: Chart, prefix: str) -> Iterator[str]:
    for region in shown.regions:
        several = len(shown.regions) > 1 or bool(shown.parts)
        inside = _region(region, f"{prefix}{region.name}_" if several else prefix)
        yield from _group(f"{prefix}{region.name}", region.name, inside) if several else inside
    for part in shown.parts:
        name = prefix + part.title.partition(":")[0]
        yield from _group(name, part.title, _body(part, f"{name}_"))
    rest = (*shown.always, *shown.below)
    if rest:
        title = "in every state" if shown.below else "events"
        yield from _box(f"{prefix}events", title, (row for label in rest for row in _rows(label)))


def _group(name: str, title: str, inside: Iterable[str]) -> Iterator[str]:
    yield f"state {_quoted(title)} as {_id(name)} {{"
    yield from (f"    {line}" for line in inside)
    yield "}"


def _region(region: Region, prefix: str) -> Iterator[str]:
    stays = {stay.state: stay for stay in region.stays}
    for state in region.states:
        stay = stays.get(state.name)
        rows = _inner_rows(stay) if stay is not None else ()
        if stay is not None or _id(prefix + state.name) != state.name:
            yield from _box(prefix + state.name, state.name, rows)
    if region.leaves_any:
        rows = (row for label in region.anywhere for row in _rows(label))
        yield from _box(f"{prefix}any", "in every state", rows)
    for state in region.states:
        if state.initial:
            yield f"[*] --> {_id(prefix + state.name)}"
    yield from (_edge(edge, prefix) for edge in region.edges)
    for state in region.states:
        if state.terminal:
            yield f"{_id(prefix + state.name)} --> [*]"


def _inner_rows(stay: Stay) -> Iterator[str]:
    """The transitions that do not change a state, as lines inside it."""
    for label in stay.labels:
        yield from _rows(label)
    for state, labels in stay.repeated:
        names = ", ".join(label.event.partition("(")[0] for label in labels)
        yield f"{names} as in {state}"


def _box(name: str, title: str, rows: Iterable[str]) -> Iterator[str]:
    yield f"state {_quoted(title)} as {_id(name)}"
    yield from (f"{_id(name)} : {safe(row)}" for row in rows)


def _edge(edge: Edge, prefix: str) -> str:
    source, target = _id(prefix + (edge.source or "any")), _id(prefix + edge.target)
    return f"{source} --> {target} : {'<br/>'.join(map(safe, _rows(edge.label)))}"


def _rows(label: Label) -> Iterator[str]:
    for line in lines(label):
        yield " ".join(piece for _, piece in line)
    yield from label.steps


def _notes(shown: Chart) -> Iterator[str]:
    """The notes: Mermaid attaches a note to a state, here to the first one."""
    states = [state.name for region in shown.regions for state in region.states]
    if shown.parts or len(shown.regions) > 1 or not states:
        return
    items = [f"{heading}: {'; '.join(items)}" for heading, items in shown.notes]
    if items:
        yield f"note left of {_id(states[0])}"
        yield from (f"    {safe(item)}" for item in items)
        yield "end note"


def _id(name: str) -> str:
    plain = re.sub(r"\W", "_", name)
    return f"{plain}_" if plain.lower() in RESERVED else plain


def safe(text: str) -> str:
    """The text with special characters as codes."""
    return "".join(ENTITIES.get(char, char) for char in text)


def _quoted(title: str) -> str:
    return f'"{safe(title)}"'
