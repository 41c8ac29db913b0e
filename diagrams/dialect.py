"""What Mermaid and PlantUML have in common as languages of state diagrams.

Both write a state as `state "title" as name`, an edge as `a --> b : label`, and a line inside a
state as `name : line`. They differ in the characters and names that have a meaning, and in how a
label ends a line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from .chart import SIGNS, Chart, Edge, Region, Stay, lines
from .transition_labels import Label


@dataclass(frozen=True, slots=True)
class Dialect:
    """One of the languages.

    `safe` writes any text, `line_end` ends a line of a label, and no state can have a name that is
    in `reserved`.
    """

    safe: Callable[[str], str]
    line_end: str
    reserved: frozenset[str]

    def body(self, shown: Chart, prefix: str = "") -> Iterator[str]:
        for region in shown.regions:
            several = len(shown.regions) > 1 or bool(shown.parts)
            inside = self._region(region, f"{prefix}{region.name}_" if several else prefix)
            yield from (
                self._group(f"{prefix}{region.name}", region.name, inside) if several else inside
            )
        for part in shown.parts:
            name = prefix + part.title.partition(":")[0]
            yield from self._group(name, part.title, self.body(part, f"{name}_"))
        rest = (*shown.always, *shown.below)
        if rest:
            title = "in every state" if shown.below else "events"
            yield from self._box(
                f"{prefix}events", title, (row for label in rest for row in _rows(label))
            )

    def _group(self, name: str, title: str, inside: Iterable[str]) -> Iterator[str]:
        yield f"state {self._quoted(title)} as {self.id(name)} {{"
        yield from (f"    {line}" for line in inside)
        yield "}"

    def _region(self, region: Region, prefix: str) -> Iterator[str]:
        stays = {stay.state: stay for stay in region.stays}
        for state in region.states:
            stay = stays.get(state.name)
            rows = _inner_rows(stay) if stay is not None else ()
            title = SIGNS[state.mark] + state.name
            if stay is not None or self.id(prefix + state.name) != title:
                yield from self._box(prefix + state.name, title, rows)
        if region.leaves_any:
            rows = (row for label in region.anywhere for row in _rows(label))
            yield from self._box(f"{prefix}any", "in every state", rows)
        for state in region.states:
            if state.initial:
                yield f"[*] --> {self.id(prefix + state.name)}"
        yield from (self._edges(bundle, prefix) for bundle in region.bundles)
        for state in region.states:
            if state.terminal:
                yield f"{self.id(prefix + state.name)} --> [*]"

    def _box(self, name: str, title: str, rows: Iterable[str]) -> Iterator[str]:
        yield f"state {self._quoted(title)} as {self.id(name)}"
        yield from (f"{self.id(name)} : {self.safe(row)}" for row in rows)

    def _edges(self, bundle: Sequence[Edge], prefix: str) -> str:
        """One edge for several transitions with the same ends."""
        edge, rows = bundle[0], [row for each in bundle for row in _rows(each.label)]
        source, target = self.id(prefix + (edge.source or "any")), self.id(prefix + edge.target)
        return f"{source} --> {target} : {self.line_end.join(map(self.safe, rows))}"

    def id(self, name: str) -> str:
        """The name of a state in the language."""
        plain = re.sub(r"\W", "_", name)
        return f"{plain}_" if plain.lower() in self.reserved else plain

    def _quoted(self, title: str) -> str:
        return f'"{self.safe(title)}"'


def _inner_rows(stay: Stay) -> Iterator[str]:
    """The transitions that do not change a state, as lines inside it."""
    for label in stay.labels:
        yield from _rows(label)
    for state, labels in stay.repeated:
        names = ", ".join(label.event.partition("(")[0] for label in labels)
        yield f"{names} as in {state}"


def _rows(label: Label) -> Iterator[str]:
    for line in lines(label):
        yield " ".join(piece for _, piece in line)
    yield from label.steps
