"""The frames of a large diagram, control variables and parts, one below the other.

Graphviz puts frames beside each other unless edges say otherwise. A gap is a node between two
frames that nobody sees, with edges from the lowest nodes above it and to the highest below it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from .chart import Chart, Region


class Frame(NamedTuple):
    """The names of the nodes of a frame to which no edge comes, and of those from which none goes
    down."""

    highest: list[str]
    lowest: list[str]


class Gap(NamedTuple):
    """A node between two frames, with the names of the nodes next above it and next below it."""

    name: str
    above: list[str]
    below: list[str]


def gaps(shown: Chart, prefix: str = "") -> Iterator[Gap]:
    """The gaps between the frames of a chart, then those inside its parts."""
    parts = {part_prefix(part, prefix): part for part in shown.parts}
    frames = [_region(region, prefix) for region in shown.regions]
    frames += [_whole(part, name) for name, part in parts.items()]
    for number, (above, below) in enumerate(pairwise(f for f in frames if f.lowest), 1):
        yield Gap(f"{prefix}gap.{number}", above.lowest, below.highest)
    for name, part in parts.items():
        yield from gaps(part, name)


def part_prefix(part: Chart, prefix: str) -> str:
    """What the names of a part's nodes begin with."""
    return f"{prefix}{part.title.partition(':')[0]}."


def apart(region: Region, prefix: str) -> bool:
    """Whether events that are possible in every state have a node: those of a part stand inside it,
    those of the whole below the diagram."""
    return region.leaves_any or bool(prefix and region.anywhere)


def _whole(shown: Chart, prefix: str) -> Frame:
    """The frame of a part: the highest nodes of its first frame, the lowest of its last."""
    inner = [_region(region, prefix) for region in shown.regions]
    inner += [_whole(part, part_prefix(part, prefix)) for part in shown.parts]
    table = [f"{prefix}events"] if shown.always else []
    first, last = (inner[0], inner[-1]) if inner else (Frame([], []), Frame([], []))
    return Frame([*first.highest, *table], [*last.lowest, *table])


def _region(region: Region, prefix: str) -> Frame:
    names = [state.name for state in sorted(region.states, key=lambda state: not state.initial)]
    if apart(region, prefix):
        names.append("*")
    starts = [state.name for state in region.states if state.initial]
    down = _down(names, [(edge.source or "*", edge.target) for edge in region.edges])
    left, met = {source for source, _ in down}, {target for _, target in down}
    at = f"{prefix}{region.name}."
    highest = [f"{at}{name}.start" for name in starts]
    highest += [at + name for name in names if name not in met and name not in starts]
    return Frame(highest, [at + name for name in names if name not in left])


def _down(names: list[str], edges: list[tuple[str, str]]) -> set[tuple[str, str]]:
    """The edges as Graphviz turns them so that all go down: it walks from node to node in their
    order, and turns an edge back to a node on the way there."""
    out: set[tuple[str, str]] = set()
    done: set[str] = set()

    def walk(name: str, way: tuple[str, ...]) -> None:
        if name in done:
            return
        for source, target in edges:
            if source != name:
                continue
            if target in (*way, name):
                out.add((target, source))
            else:
                out.add((source, target))
                walk(target, (*way, name))
        done.add(name)

    for name in names:
        walk(name, ())
    return out
