"""The control states of a machine as a picture, with what a replay saw of them.

Edges are as thick as their transitions were taken often; what was never seen is dashed. A state in
which rows deviate has a red border and their number. It is an SVG text without scripts.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape

from lawful.spec import ir

WIDTH, HEIGHT = 170, 46  # Of a state.
ACROSS, DOWN = 130, 74  # Between two states.
LINE = 14  # Of the names of transitions that stay in a state.
ANY = "any state"  # In place of the sources of a transition that has none.
ASIDE = 30  # How far a way between two states of one column goes to the right of them.
BESIDE = 6  # Between such a way and its names.
LETTER = 7  # At most, of a name.
LISTED = 6  # Names of transitions on one edge, or below one state.
LONGEST = 24  # Characters of a name.


@dataclass(frozen=True)
class Traffic:
    """What a replay saw: how often transitions were taken and states were reached, and how many
    rows deviate in each state."""

    transitions: Mapping[str, int]
    states: Mapping[str, int]
    deviations: Mapping[str, int]


def picture(machine: ir.Machine, names: Iterable[str], initial: str, traffic: Traffic) -> str:
    """The picture; empty where the machine has no control states, of the names `names`."""
    states = [*names]
    if not states:
        return ""
    edges = _edges(machine, states)
    if any(source == ANY for source, _ in edges):
        states.append(ANY)
    places = _places(states, initial, edges)
    loops = {s: edges[s, s] for s in states if (s, s) in edges}
    tall = max(len(rows[: LISTED + 1]) for rows in [*loops.values(), ()])
    row = HEIGHT + DOWN + tall * LINE
    last = max(x for x, _ in places.values())
    beside = [
        rows for (a, b), rows in edges.items() if a != b and places[a][0] == places[b][0] == last
    ]
    wide = 40 + last * (WIDTH + ACROSS) + WIDTH
    wide += max((_room(_told(rows, traffic.transitions)) for rows in beside), default=0)
    high = 50 + max(y for _, y in places.values()) * row + HEIGHT + tall * LINE
    at = {s: (20 + x * (WIDTH + ACROSS), 30 + y * row) for s, (x, y) in places.items()}
    most = max([*traffic.transitions.values(), 1])
    parts = [
        _edge(at[a], at[b], rows, traffic.transitions, most)
        for (a, b), rows in sorted(edges.items())
        if a != b
    ]
    parts += [_state(s, at[s], loops.get(s, []), traffic) for s in states]
    return (
        f'<svg class="traffic" viewBox="0 0 {wide} {high}" style="max-width:{wide}px" role="img">'
        f"{''.join(parts)}</svg>"
    )


Edges = dict[tuple[str, str], list[str]]


def _edges(machine: ir.Machine, states: list[str]) -> Edges:
    """The transitions between each two states; one without a target stays where it is."""
    out: Edges = defaultdict(list)
    for row in machine.transitions:
        sources = [*row.source] if row.source is not None else [ANY]
        for source in sources:
            for target in row.target if row.target is not None else (source,):
                out[source, target].append(row.name)
    known = {*states, ANY}
    return {pair: names for pair, names in out.items() if known.issuperset(pair)}


def _places(states: list[str], initial: str, edges: Edges) -> dict[str, tuple[int, int]]:
    """The column and row of each state: columns by the distance from the initial one."""
    far = {initial: 0} if initial in states else {states[0]: 0}
    queue = deque(far)
    while queue:
        here = queue.popleft()
        for source, target in edges:
            if source == here and target not in far:
                far[target] = far[here] + 1
                queue.append(target)
    last = max(far.values()) + 1
    columns: dict[int, int] = defaultdict(int)
    places: dict[str, tuple[int, int]] = {}
    for state in states:
        x = far.get(state, last)
        places[state] = (x, columns[x])
        columns[x] += 1
    return places


def _short(name: str) -> str:
    return escape(name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…")


def _told(names: list[str], counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Names with their counts, the most frequent first, the rest as one."""
    rows = sorted(((name, counts.get(name, 0)) for name in names), key=lambda row: -row[1])
    rest = rows[LISTED:]
    more = [(f"and {len(rest)} more", sum(n for _, n in rest))] if rest else []
    return [*rows[:LISTED], *more]


def _room(rows: list[tuple[str, int]]) -> int:
    """What a way beside the last column needs to the right of it, its names included."""
    letters = max(len(f"{name[:LONGEST]} {n:,}") for name, n in rows)
    return ASIDE + BESIDE + letters * LETTER


def _texts(x: float, y: float, rows: list[tuple[str, int]], anchor: str) -> str:
    return "".join(
        f'<text class="{"" if n else "unseen"}" x="{x:.0f}" y="{y + i * LINE:.0f}" '
        f'text-anchor="{anchor}">{_short(name)} {n:,}</text>'
        for i, (name, n) in enumerate(rows)
    )


def _edge(
    begin: tuple[float, float],
    end: tuple[float, float],
    names: list[str],
    counts: Mapping[str, int],
    most: int,
) -> str:
    taken = sum(counts.get(name, 0) for name in names)
    right, same = end[0] > begin[0], end[0] == begin[0]
    x1 = begin[0] + (WIDTH if right or same else 0)
    x2 = end[0] + (0 if right else WIDTH)
    # Ways back run below the ways there.
    shift = HEIGHT * (0.35 if right else 0.75)
    y1, y2 = begin[1] + shift, end[1] + shift
    bend = 0.0 if right else 34.0
    mx = (x1 + x2) / 2 + (2 * ASIDE if same else 0)
    my = (y1 + y2) / 2 + bend
    width = 1.2 + 5 * math.log1p(taken) / math.log1p(most)
    kind = "way" if taken else "way unseen"
    path = (
        f'<path class="{kind}" d="M{x1:.0f} {y1:.0f}Q{mx:.0f} {my:.0f} {x2:.0f} {y2:.0f}" '
        f'stroke-width="{width:.1f}"/>'
    )
    turned = math.degrees(math.atan2(y2 - my, x2 - mx))
    place = f"translate({x2:.0f} {y2:.0f}) rotate({turned:.0f})"
    path += f'<path class="tip" d="M0 0L-10 4L-10 -4z" transform="{place}"/>'
    rows = _told(names, counts)
    # Names stand at the middle of a way, or of one to another row near its end: fewer cross there.
    # Those of a way in one column stand at its right, because states are at its left.
    t = 0.5 if begin[1] == end[1] or same else 0.75
    x, y = (
        (1 - t) ** 2 * p + 2 * t * (1 - t) * q + t**2 * r
        for p, q, r in ((x1, mx, x2), (y1, my, y2))
    )
    if same:
        return path + _texts(x + BESIDE, y - LINE * (len(rows) - 1) / 2, rows, "start")
    return path + _texts(x, y + LINE if bend else y - 6 - LINE * (len(rows) - 1), rows, "middle")


def _state(name: str, at: tuple[float, float], loops: list[str], traffic: Traffic) -> str:
    x, y = at
    seen, wrong = traffic.states.get(name, 0), traffic.deviations.get(name, 0)
    share = seen / max([*traffic.states.values(), 1])
    kind = "state" + (" wrong" if wrong else "") + ("" if seen or name == ANY else " unseen")
    heat = f'<rect class="heat" x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="8" '
    heat += f'fill-opacity="{0.45 * math.sqrt(share):.2f}"/>'
    box = f'<rect class="{kind}" x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="8"/>'
    below = "" if name == ANY else (f"{seen:,}" if seen else "never")
    badge = f'<tspan class="bad"> · {wrong:,} deviating</tspan>' if wrong else ""
    texts = (
        f'<text class="name" x="{x + WIDTH / 2:.0f}" y="{y + 20}" text-anchor="middle">'
        f"{_short(name)}</text>"
        f'<text x="{x + WIDTH / 2:.0f}" y="{y + 37}" text-anchor="middle">{below}{badge}</text>'
    )
    inner = _texts(x + 8, y + HEIGHT + LINE, _told(loops, traffic.transitions), "start")
    return heat + box + texts + inner
