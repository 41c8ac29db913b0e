"""The reachable states of a machine as a graph in Graphviz DOT: a node for each state, an edge for
each step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .chart import words
from .dot import defaults, indented, quoted

INITIAL, FAILING = "#33475b", "#b3261e"  # Colours of the borders of initial and failing states.


@dataclass(frozen=True, slots=True)
class Node:
    """One state: a line for each variable, whether runs begin there, and the properties that it
    violates."""

    lines: Sequence[str]
    initial: bool
    violates: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Arrow:
    """The steps from one state to another, by their numbers: a line for each event."""

    source: int
    target: int
    events: Sequence[str]


def text(machine: str, states: Sequence[Node], steps: Sequence[Arrow], dpi: int | None) -> str:
    """The graph as DOT text; `dpi` is the resolution of pixel formats.

    Steps that change nothing stand inside the state.
    """
    stays = {a.source: a.events for a in steps if a.source == a.target}
    body = [
        *defaults(dpi),
        f"label={quoted(machine)}",
        *(_node(number, state, stays.get(number, ())) for number, state in enumerate(states)),
        *(
            f"{a.source} -> {a.target} [label={_label(a.events)}]"
            for a in steps
            if a.source != a.target
        ),
    ]
    return "\n".join([f"digraph {quoted(machine)} {{", *indented(body), "}"]) + "\n"


def _node(number: int, state: Node, stays: Sequence[str]) -> str:
    look = ""
    if state.violates:
        look = f" color={quoted(FAILING)} fontcolor={quoted(FAILING)} penwidth=2.5"
    elif state.initial:
        look = f" color={quoted(INITIAL)} penwidth=2.5"
    rows = [*state.lines, *(f"violates {name}" for name in state.violates)]
    if stays:
        rows.append(f"without change: {', '.join(stays)}")
    return f"{number} [label={_label(rows)}{look}]"


def _label(rows: Iterable[str]) -> str:
    """The rows, left-aligned; long ones in several lines."""
    return quoted("".join(f"{line}\n" for row in rows for line in words(row))).replace("\n", "\\l")
