"""State diagrams in Graphviz DOT. The same machine always gives the same text.

Events are bold, guards blue and in brackets, outputs green and after a slash, so they can be
distinguished without colour, too. As in UML, transitions that do not change the state stand inside
the state. Long labels end with an ellipsis; the tooltip has all of them.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence

from lawful.spec import ir

from .chart import (
    NARROW,
    SIGNS,
    WIDTH,
    Chart,
    Control,
    Edge,
    LabelPart,
    Region,
    Stay,
    chart,
    lines,
    one_line,
    words,
)
from .frame_stack import Gap, apart, gaps, part_prefix
from .transition_labels import Label, Mark

INK, QUIET, GUARD, OUTPUT = "#1b1f24", "#57606a", "#1d4e89", "#2e6b34"
COLOURS: dict[LabelPart, str] = {"event": INK, "timer": QUIET, "guard": GUARD, "output": OUTPUT}
# What one version has and the other lacks; signs tell them apart without colour, too.
MARKED: dict[Mark, str] = {"lost": "#b42318", "won": "#1a7f37"}
FILL, BORDER, FRAME = "#eef3f8", "#33475b", "#9fb0c0"
FONT = "Helvetica,Arial,sans-serif"
PLAIN = 'BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="1"'
GRID = f'BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="4" COLOR="{FRAME}"'
LONG = 8  # Rows up to which a table has one column.
INDENT = "&#160;&#160;"
COLUMNS = ("Event", "Guard", "Steps of parts", "Output")


def text(m: ir.Machine, dpi: int | None = None) -> str:
    """The state diagram as DOT text; `dpi` is the resolution of pixel formats."""
    return chart_text(chart(m), dpi)


def chart_text(shown: Chart, dpi: int | None = None) -> str:
    """The diagram of a chart as DOT text."""
    below, width = [*_below(shown)], NARROW if shown.large else WIDTH
    stacked = [line for gap in gaps(shown) for line in _gap(gap)] if shown.downwards else []
    out = [
        f"digraph {quoted(shown.title)} {{",
        *indented(defaults(dpi, shown.downwards)),
        # Ranks of the whole rather than of each frame: only then can a frame be below another.
        *indented(["newrank=true"] if stacked else []),
        *indented([f"label=<{_rows(below)}>"] if below else []),
        "    subgraph cluster_machine {",
        *indented([f"label={_title(shown.title, 15)}", "penwidth=0", *_body(shown, width)], 2),
        "    }",
        *indented(stacked),
        "}",
    ]
    return "\n".join(out) + "\n"


def defaults(dpi: int | None, downwards: bool = False) -> list[str]:
    """How graphs, nodes and edges look, and whether edges go down or to the right."""
    font = f"fontname={quoted(FONT)} fontcolor={quoted(INK)}"
    look = f"shape=box style={quoted('rounded,filled')} fillcolor={quoted(FILL)}"
    pixels = f" dpi={dpi}" if dpi else ""
    return [
        f"graph [rankdir={'TB' if downwards else 'LR'} nodesep=0.35 ranksep=0.35 pad=0.15"
        f" labelloc=b labeljust=l {font} fontsize=11{pixels}]",
        f"node [{look} color={quoted(BORDER)} penwidth=1.2 margin={quoted('0.18,0.09')} {font}"
        " fontsize=11]",
        f"edge [color={quoted(BORDER)} arrowsize=0.75 {font} fontsize=11]",
    ]


def _body(shown: Chart, width: int, prefix: str = "") -> list[str]:
    """The lines inside a machine's cluster: its regions, its parts, its table of events.

    `width`: columns of the labels of edges.
    """
    out = ["labelloc=t", "labeljust=l"]
    for region in shown.regions:
        inside = _region(region, f"{prefix}{region.name}.", apart(region, prefix), width)
        several = len(shown.regions) > 1 or shown.parts
        out += _cluster(f"{prefix}{region.name}", region.name, inside) if several else inside
    for part in shown.parts:
        name = part_prefix(part, prefix)
        out += _cluster(name[:-1], part.title, _body(part, width, name))
    if shown.always and (prefix or not (shown.regions or shown.parts)):
        look = f"shape=plain style={quoted('')}"
        out.append(f"{quoted(prefix + 'events')} [{look} label=<{_table(shown.always)}>]")
    return out


def _gap(gap: Gap) -> Iterator[str]:
    name = quoted(gap.name)
    yield f'{name} [shape=point style=invis width=0 height=0 label=""]'
    yield from (f"{quoted(above)} -> {name} [style=invis weight=0]" for above in gap.above)
    yield from (f"{name} -> {quoted(below)} [style=invis weight=0]" for below in gap.below)


def _cluster(name: str, title: str, inside: list[str]) -> list[str]:
    look = f"style=rounded color={quoted(FRAME)} penwidth=1 margin=14"
    return [
        f"subgraph {quoted('cluster_' + name)} {{",
        *indented([f"label={_title(title, 13)}", look, *inside]),
        "}",
    ]


def _region(region: Region, prefix: str, apart: bool, width: int) -> list[str]:
    stays = {stay.state: stay for stay in region.stays}
    # Graphviz draws the first states at the top.
    states = sorted(region.states, key=lambda state: not state.initial)
    out = [line for s in states for line in _state(s, stays.get(s.name), prefix)]
    if apart:
        rows = [_coloured("in every state", QUIET), *_items(region.anywhere)]
        look = f"style={quoted('rounded,dashed')} color={quoted(QUIET)}"
        tip = _tooltip(region.anywhere)
        out.append(f"{quoted(prefix + '*')} [{look} label=<{_rows(rows)}>{tip}]")
    return [*out, *(_edges(bundle, prefix, width) for bundle in region.bundles)]


def _state(state: Control, stay: Stay | None, prefix: str) -> Iterator[str]:
    name, start = quoted(prefix + state.name), quoted(f"{prefix}{state.name}.start")
    if state.initial:
        dot = f"shape=circle style=filled fillcolor={quoted(BORDER)} width=0.13 margin=0"
        yield f'{start} [{dot} fixedsize=true label=""]'
        yield f"{start} -> {name}"
    called = html.escape(SIGNS[state.mark] + state.name)
    title = f'<FONT POINT-SIZE="14"><B>{called}</B></FONT>'
    rim = " peripheries=2" if state.terminal else ""
    if state.mark:
        rim += f" color={quoted(MARKED[state.mark])} fontcolor={quoted(MARKED[state.mark])}"
    if stay is None:
        yield f"{name} [label=<{title}>{rim}]"
        return
    rows = [*_items(stay.labels), *(_repeated(*one) for one in stay.repeated)]
    everything = (*stay.labels, *(label for _, several in stay.repeated for label in several))
    yield f"{name} [label=<{_rows(rows, title)}>{rim}{_tooltip(everything)}]"


def _repeated(state: str, labels: tuple[Label, ...]) -> str:
    names = ", ".join(f"<B>{html.escape(label.event.partition('(')[0])}</B>" for label in labels)
    return f"{names} {_coloured('as in ' + state, QUIET)}"


def _edges(bundle: Sequence[Edge], prefix: str, width: int) -> str:
    """One edge for several transitions with the same ends."""
    edge, labels = bundle[0], [each.label for each in bundle]
    ends = f"{quoted(prefix + (edge.source or '*'))} -> {quoted(prefix + edge.target)}"
    dashed = " style=dashed" if edge.source is None or edge.label.mark == "lost" else ""
    if edge.label.mark:
        dashed += f" color={quoted(MARKED[edge.label.mark])}"
    return f"{ends} [label=<{_rows(_items(labels, width))}>{dashed}{_tooltip(labels)}]"


# Labels.


def _title(title: str, size: int) -> str:
    return f'<<FONT POINT-SIZE="{size}"><B>{html.escape(title)}</B></FONT>>'


def _rows(rows: Iterable[str], title: str = "") -> str:
    """An HTML-like table of lines, left-aligned, under a title if there is one."""
    # Graphviz draws a rule without space between it and the rows next to it.
    gap = '<TR><TD HEIGHT="3"></TD></TR>'
    head = f"<TR><TD>{title}</TD></TR>{gap}<HR/>{gap}" if title else ""
    body = "".join(f'<TR><TD ALIGN="LEFT">{row}</TD></TR>' for row in rows)
    return f"<TABLE {PLAIN}>{head}{body}</TABLE>"


def _items(labels: Iterable[Label], width: int = WIDTH) -> Iterator[str]:
    for label in labels:
        for i, line in enumerate(lines(label, width)):
            yield (INDENT if i else "") + " ".join(
                _coloured(piece, MARKED.get(label.mark, COLOURS[part]), part)
                for part, piece in line
            )


def _coloured(piece: str, colour: str, part: LabelPart | None = None) -> str:
    inside = html.escape(one_line(piece))
    if part == "event":
        name, bracket, rest = inside.partition("(")
        inside = f"<B>{name}</B>{bracket}{rest}"
    return f'<FONT COLOR="{colour}">{inside}</FONT>'


def _tooltip(labels: Iterable[Label]) -> str:
    whole = "\\n".join(_escaped(label.full) for label in labels)
    return f' tooltip="{whole}" labeltooltip="{whole}"' if whole else ""


def _tables(labels: tuple[Label, ...]) -> str:
    """A table of events; a long one in two halves side by side."""
    high = [_height(label) for label in labels]
    halves = range(1, len(labels)) if len(labels) > LONG else [len(labels)]
    half = min(halves, key=lambda i: max(sum(high[:i]), sum(high[i:])))
    tables = [_table(part) for part in (labels[:half], labels[half:]) if part]
    cells = "".join(f'<TD ALIGN="LEFT" VALIGN="TOP">{table}</TD>' for table in tables)
    return (
        f'<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="8" CELLPADDING="0"><TR>{cells}</TR></TABLE>'
    )


def _height(label: Label) -> int:
    """The number of lines of a row, the rule below it counted as one."""
    columns = [label.guards, label.steps]
    return 1 + max(1, *(sum(len(words(each)) for each in column) for column in columns))


def _table(labels: Iterable[Label]) -> str:
    """A table of events that belong to no control state."""
    rows = [
        (
            [_head(label)],
            [_coloured(line, GUARD) for guard in label.guards for line in words(guard)],
            [line for step in label.steps for line in _hanging(step)],
            [_coloured(label.brief, OUTPUT)] if label.brief else [],
        )
        for label in labels
    ]
    used = [i for i in range(len(COLUMNS)) if any(row[i] for row in rows)]
    heads = "".join(_cell([_coloured(COLUMNS[i], QUIET)]) for i in used)
    body = "<HR/>".join(f"<TR>{''.join(_cell(row[i]) for i in used)}</TR>" for row in rows)
    return f"<TABLE {GRID}><TR>{heads}</TR><HR/>{body}</TABLE>"


def _hanging(step: str) -> Iterator[str]:
    for i, line in enumerate(words(step)):
        yield (INDENT if i else "") + _coloured(line, INK)


def _head(label: Label) -> str:
    after = f" {_coloured(f'after {label.timer}', QUIET)}" if label.timer else ""
    called = SIGNS[label.mark] + label.event
    return _coloured(called, MARKED.get(label.mark, INK), "event") + after


def _cell(inside: list[str]) -> str:
    text = '<BR ALIGN="LEFT"/>'.join(inside)
    return f'<TD ALIGN="LEFT" VALIGN="TOP" BALIGN="LEFT">{text}</TD>'


def _below(shown: Chart) -> Iterator[str]:
    """The lines below the diagram: events of a composed machine, and notes."""
    if shown.always and (shown.regions or shown.parts):
        yield _tables(shown.always)
    if shown.below:
        yield from _listed("In every state", [*_items(shown.below)])
    for heading, items in shown.notes:
        yield from _listed(heading, [_coloured(item, QUIET) for item in items])


def _listed(heading: str, items: list[str]) -> Iterator[str]:
    """A heading and its items; a single item stands on the same line."""
    head = _coloured(f"{heading}:", QUIET)
    if len(items) == 1:
        yield f"{head} {items[0]}"
        return
    yield head
    yield from (f"{INDENT}{item}" for item in items)


def quoted(name: str) -> str:
    """The name as a string of DOT."""
    return f'"{_escaped(name)}"'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def indented(given: Iterable[str], levels: int = 1) -> list[str]:
    """The lines, further to the right."""
    return ["    " * levels + line for line in given]
