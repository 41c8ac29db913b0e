"""The control states of a machine as a picture, with what a replay saw of them.

Edges are as thick as their transitions were taken often; what was never seen is dashed. A replay
counts transitions, not the ways of each: where one has several, each way shows the count of all
with the words `in all`. A state in which rows deviate has a red border and their number. It is an
SVG text without scripts.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape, unescape

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
IN_ALL = " in all"  # Behind the count of a transition with several ways.
SMALLEST = 0.8  # Of its own size; a picture that is wider than the page then can be scrolled.


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
    ways = Counter(name for names in edges.values() for name in names)
    told = {pair: _told(rows, traffic.transitions, ways) for pair, rows in edges.items()}
    loops = {s: told[s, s] for s in states if (s, s) in edges}
    tall = max(map(len, loops.values()), default=0)
    row = HEIGHT + DOWN + tall * LINE
    last = max(x for x, _ in places.values())
    beside = [
        rows for (a, b), rows in told.items() if a != b and places[a][0] == places[b][0] == last
    ]
    wide = 40 + last * (WIDTH + ACROSS) + WIDTH + max(map(_room, beside), default=0)
    high = 50 + max(y for _, y in places.values()) * row + HEIGHT + (tall + 2) * LINE
    at = {s: (20 + x * (WIDTH + ACROSS), 30 + y * row) for s, (x, y) in places.items()}
    most = max([*traffic.transitions.values(), 1])
    parts = [
        _edge(at[a], at[b], rows, most, tall) for (a, b), rows in sorted(told.items()) if a != b
    ]
    parts += [_state(s, at[s], loops.get(s, []), traffic) for s in states]
    style = f"max-width:{wide}px;min-width:{SMALLEST * wide:.0f}px"
    return (
        f'<div class="scrolled"><svg class="traffic" viewBox="0 0 {wide} {high}" style="{style}" '
        f'role="img">{"".join(parts)}</svg></div>'
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


@dataclass(frozen=True)
class Name:
    """What stands on a way: the name of a transition, its count, and whether that is of several
    ways."""

    name: str
    count: int
    in_all: bool = False

    @property
    def text(self) -> str:
        """The name, cut where it is long, and the count."""
        return f"{_short(self.name)} {self.count:,}{IN_ALL if self.in_all else ''}"


def _told(names: list[str], counts: Mapping[str, int], ways: Mapping[str, int]) -> list[Name]:
    """Names with their counts, the most frequent first, the rest as one."""
    all_names = (Name(n, counts.get(n, 0), bool(counts.get(n)) and ways[n] > 1) for n in names)
    rows = sorted(all_names, key=lambda row: -row.count)
    rest = rows[LISTED:]
    several = any(each.in_all for each in rest)
    more = [Name(f"and {len(rest)} more", sum(each.count for each in rest), several)]
    return [*rows[:LISTED], *(more if rest else [])]


def _room(rows: list[Name]) -> int:
    """What a way beside the last column needs to the right of it, its names included."""
    return ASIDE + BESIDE + max(len(unescape(each.text)) for each in rows) * LETTER


def _texts(x: float, y: float, rows: list[Name], anchor: str) -> str:
    return "".join(
        f'<text class="{"" if each.count else "unseen"}" x="{x:.0f}" y="{y + i * LINE:.0f}" '
        f'text-anchor="{anchor}">{each.text}</text>'
        for i, each in enumerate(rows)
    )


def _edge(
    begin: tuple[float, float],
    end: tuple[float, float],
    rows: list[Name],
    most: int,
    tall: int,
) -> str:
    """A way between two states, with its names; names of ways that stay in a state have `tall`
    lines below it."""
    taken = sum(each.count for each in rows)
    right, same = end[0] > begin[0], end[0] == begin[0]
    x1 = begin[0] + (WIDTH if right or same else 0)
    x2 = end[0] + (0 if right else WIDTH)
    # Ways back run below the ways there.
    shift = HEIGHT * (0.35 if right else 0.75)
    y1, y2 = begin[1] + shift, end[1] + shift
    bend = 0.0 if right else 34.0
    if begin[1] == end[1] and begin[0] - end[0] > WIDTH + ACROSS:
        # It runs below the states between them; a curve comes half as low as its middle point.
        bend = 2 * (HEIGHT / 4 + (tall + 0.5) * LINE)
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
    # Names stand at the middle of a way, or of one to another row near its end: fewer cross there.
    # Those of a way in one column stand at its right, because states are at its left.
    t = 0.5 if begin[1] == end[1] or same else 0.75 if right else 0.4
    x, y = (
        (1 - t) ** 2 * p + 2 * t * (1 - t) * q + t**2 * r
        for p, q, r in ((x1, mx, x2), (y1, my, y2))
    )
    if same:
        return path + _texts(x + BESIDE, y - LINE * (len(rows) - 1) / 2, rows, "start")
    return path + _texts(x, y + LINE if bend else y - 6 - LINE * (len(rows) - 1), rows, "middle")


def _state(name: str, at: tuple[float, float], loops: list[Name], traffic: Traffic) -> str:
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
    inner = _texts(x + 8, y + HEIGHT + LINE, loops, "start")
    return heat + box + texts + inner
