"""The model of a state diagram, from which every format is written.

    Chart  := title, regions, always, ignored, parts      one machine
    Region := name, states, edges, stays, anywhere        one control variable: `state`, `pc[p]`
    Edge   := source, target, label                       a transition from one state to another
    Stay   := state, labels, repeated                     transitions that do not change the state

A composed machine has a chart for each part. `always` has the transitions that do not depend on a
control variable.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.walk import everything
from lawful.spec.text.statements import path

from .transition_labels import PRIME, Label, Mark, label_of

WIDTH = 40  # Columns of a line of a label, about.
NARROW = 26  # The same at an edge of a large diagram, where labels stand beside each other.
# States of one control variable, states of all, and edges, that stand beside each other; of more of
# them the states, and then the control variables, stand below each other.
ACROSS, ALL_ACROSS, MOST_ACROSS = 4, 6, 7
MOST = 5  # Lines of guards in a label; the others are cut.
OPERATOR = re.compile(r"[-=<>!+*/%|&^]+|and|or|for|in|if|else|is")
# What ends a line in some reader: text behind it would be a statement of the language.
LINE_ENDS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
SIGNS: dict[Mark, str] = {"": "", "lost": "\N{MINUS SIGN} ", "won": "+ "}
LabelPart = Literal["event", "timer", "guard", "output"]


@dataclass(frozen=True, slots=True)
class Control:
    """A control state: whether instances start in it, and whether it is evidently terminal."""

    name: str
    initial: bool
    terminal: bool
    mark: Mark = ""


@dataclass(frozen=True, slots=True)
class Edge:
    """One transition from `source` to `target`; from every state where `source` is None."""

    source: str | None
    target: str
    label: Label


@dataclass(frozen=True, slots=True)
class Stay:
    """The transitions that do not change `state`.

    Long labels that another state has already are in `repeated`, under the name of that state.
    """

    state: str
    labels: tuple[Label, ...]
    repeated: tuple[tuple[str, tuple[Label, ...]], ...]


@dataclass(frozen=True, slots=True)
class Region:
    """The states of one control variable; `anywhere`: possible in all, without changing them."""

    name: str
    states: tuple[Control, ...]
    edges: tuple[Edge, ...]
    stays: tuple[Stay, ...]
    anywhere: tuple[Label, ...]

    @property
    def leaves_any(self) -> bool:
        """Whether some edge leaves every state: then a node stands for all of them."""
        return any(edge.source is None for edge in self.edges)

    @property
    def bundles(self) -> tuple[tuple[Edge, ...], ...]:
        """The edges in groups that are drawn as one: with equal ends and equal marks."""
        out: dict[tuple[str | None, str, Mark], list[Edge]] = {}
        for edge in self.edges:
            out.setdefault((edge.source, edge.target, edge.label.mark), []).append(edge)
        return tuple(map(tuple, out.values()))


@dataclass(frozen=True, slots=True)
class Chart:
    """The diagram of a machine; `title` says which part of another machine it is. An `excerpt` has
    some of the states and their neighbours."""

    title: str
    regions: tuple[Region, ...]
    always: tuple[Label, ...]
    ignored: tuple[str, ...]
    parts: tuple[Chart, ...]
    excerpt: bool = False

    @property
    def notes(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The notes below the diagram: headings with their items."""
        primes = any(PRIME in text for label in self.labels() for text in _visible(label))
        rows = (
            ("Accepted without effect", self.ignored),
            ("x" + PRIME, ("the new value of x",) if primes else ()),
        )
        return tuple((heading, items) for heading, items in rows if items)

    @property
    def below(self) -> tuple[Label, ...]:
        """The transitions that are possible in every state and drawn at none."""
        return tuple(s for r in self.regions if not r.leaves_any for s in r.anywhere)

    @property
    def large(self) -> bool:
        """Whether a row of its states would be too wide for a page or a screen."""
        states = [len(region.states) for region in self.all_regions()]
        edges = sum(len(region.bundles) for region in self.all_regions())
        return max(states, default=0) > ACROSS or sum(states) > ALL_ACROSS or edges > MOST_ACROSS

    @property
    def downwards(self) -> bool:
        """Whether edges go down. Those of an excerpt leave one state: its neighbours stand below
        each other if edges go to the right."""
        return self.large and not self.excerpt

    def all_regions(self) -> Iterator[Region]:
        """Its control variables, then those of its parts."""
        yield from self.regions
        for part in self.parts:
            yield from part.all_regions()

    def labels(self) -> Iterator[Label]:
        """Every label of the chart and of its parts."""
        yield from self.always
        for part in self.parts:
            yield from part.labels()
        for region in self.regions:
            yield from region.anywhere
            yield from (edge.label for edge in region.edges)
            yield from (label for stay in region.stays for label in stay.labels)


def _visible(label: Label) -> tuple[str, ...]:
    return (*label.guards, *label.steps, label.brief)


def chart(m: ir.Machine, title: str = "") -> Chart:
    """The chart of a machine."""
    regions, parts = tuple(_regions(m)), tuple(_parts(m))
    always = tuple(label_of(m, tr) for tr in m.transitions if _control(m, tr) is None)
    if len(regions) == 1 and not parts:
        # With one control variable, transitions that do not read it are possible in every state.
        regions, always = (_with(regions[0], always),), ()
    return Chart(title or m.name, regions, always, tuple(map(_ignored, m.ignores)), parts)


def _with(region: Region, always: tuple[Label, ...]) -> Region:
    return dataclasses.replace(region, anywhere=(*region.anywhere, *always))


def _control(m: ir.Machine, tr: ir.Transition) -> ir.Expr | None:
    """The control variable of a transition; None where it has none."""
    if tr.control is not None and isinstance(tr.control.type, t.Enum):
        # A composed machine may have a control variable that a transition does not mention.
        return tr.control
    return None


def _regions(m: ir.Machine) -> Iterator[Region]:
    controls: dict[str, ir.Expr] = {}
    for tr in m.transitions:
        control = _control(m, tr)
        if control is not None:
            controls.setdefault(_root(control), control)
    for v in m.variables:
        if v.name == "state" and isinstance(v.type, t.Enum) and v.name not in controls:
            controls[v.name] = ir.Field(v.place, v.type, ir.Self(v.place, t.Part(m.name)), v.name)
    for name, control in controls.items():
        if isinstance(control.type, t.Enum):
            yield _region(m, name, control, control.type)


def _root(control: ir.Expr) -> str:
    """The name of the variable that contains a control variable."""
    return path(control).partition("[")[0]


def _region(m: ir.Machine, root: str, control: ir.Expr, kind: t.Enum) -> Region:
    mine = [tr for tr in m.transitions if (c := _control(m, tr)) is not None and _root(c) == root]
    starts, ends = _starts(m, root), _ends(m, control)
    moves: list[Edge] = []
    stays: dict[str, list[Label]] = {name: [] for name in kind.members}
    anywhere: list[Label] = []
    for tr in mine:
        label = label_of(m, tr)
        everywhere = tr.source is None or set(tr.source) == set(kind.members)
        if everywhere and tr.target is None:
            anywhere.append(label)
            continue
        branches = {target: label_of(m, tr, target) for target in tr.target or ()}
        if tr.source is None and tr.target is not None:
            moves += [Edge(None, target, branches[target]) for target in tr.target]
            continue
        for source in tr.source or ():
            for target in tr.target or (source,):
                if source == target:
                    stays[source].append(branches.get(target, label))
                else:
                    moves.append(Edge(source, target, branches[target]))
    met = starts | ends | {n for e in moves for n in (e.source, e.target)} | _mentioned(m, root)
    seen = [name for name in kind.members if name in met or stays[name]]
    states = tuple(Control(name, name in starts, name in ends) for name in seen)
    return Region(path(control), states, tuple(moves), tuple(_stays(stays)), tuple(anywhere))


def _mentioned(m: ir.Machine, root: str) -> set[str]:
    """The members that bodies mention or may assign; a subclass may use the others."""
    rows = (*m.functions, *m.initials, *(tr.function for tr in (*m.transitions, *m.bases)))
    nodes = [node for f in rows for node in everything(f.body)]
    given = [n.value for n in nodes if isinstance(n, ir.Assign) and _root(n.target) == root]
    kinds = [value.type for value in given if not isinstance(value, ir.Const)]
    every = {name for kind in kinds if isinstance(kind, t.Enum) for name in kind.members}
    constants = (n for n in nodes if isinstance(n, ir.Const) and isinstance(n.type, t.Enum))
    return every | {str(n.value) for n in constants}


def _stays(found: dict[str, list[Label]]) -> Iterator[Stay]:
    """The stays of each state; a long label is shown once and then referred to."""
    first_in: dict[Label, str] = {}
    for state, labels in found.items():
        short = [
            label for label in labels if first_in.setdefault(label, state) == state or brief(label)
        ]
        rest: dict[str, list[Label]] = {}
        for label in labels:
            if label not in short:
                rest.setdefault(first_in[label], []).append(label)
        repeated = tuple((other, tuple(several)) for other, several in rest.items())
        if labels:
            yield Stay(state, tuple(short), repeated)


def brief(label: Label) -> bool:
    """Whether the whole label fits on one line."""
    return len(label.full) <= WIDTH


def _starts(m: ir.Machine, root: str) -> set[str]:
    """The states in which instances start, as far as constants are assigned."""
    own = next((v.initial for v in m.variables if v.name == root), None)
    if not m.initials:
        return _members([own])
    out: set[str] = set()
    for f in m.initials:
        given = [
            node.value
            for node in everything(f.body)
            if isinstance(node, ir.Assign) and _root(node.target) == root
        ]
        out |= _members(given or [own])
    return out


def _members(values: Iterable[ir.Expr | None]) -> set[str]:
    """The constant enum members among the values, or in the value of a total map."""
    plain = [v.element if isinstance(v, ir.Comp) and v.kind == "map" else v for v in values]
    return {str(v.value) for v in plain if isinstance(v, ir.Const) and isinstance(v.type, t.Enum)}


def _ends(m: ir.Machine, control: ir.Expr) -> set[str]:
    """The states that a `@terminal` names: `self.state == X`, `in (X, Y)`, or an `or` of these."""
    out: set[str] = set()
    for p in m.of_kind("terminal"):
        match p.function.body:
            case (ir.Return(value=ir.Expr() as value),):
                out |= _named(value, control) or set()
            case _:
                pass
    return out


def _named(test: ir.Expr, control: ir.Expr) -> set[str] | None:
    """The states in which a condition is true; None where it depends on other variables."""
    match test:
        case ir.Op(op="eq", args=(left, ir.Const(value=str(name)))) if left == control:
            return {name}
        case ir.Op(op="in", args=(left, ir.Op(args=members))) if left == control:
            names = [member.value for member in members if isinstance(member, ir.Const)]
            return {str(name) for name in names} if len(names) == len(members) else None
        case ir.Or(args=args):
            found = [_named(arg, control) for arg in args]
            known = [names for names in found if names is not None]
            return set[str]().union(*known) if len(known) == len(found) else None
        case _:
            return None


def _ignored(row: ir.Ignore) -> str:
    where = "" if row.source is None else f" in {', '.join(row.source)}"
    when = "" if row.when is None else " under a condition"
    return f"{row.event}{where}{when}{' otherwise' if row.otherwise else ''} ({row.because})"


def _parts(m: ir.Machine) -> Iterator[Chart]:
    for v in m.variables:
        made = v.initial if isinstance(v.initial, ir.New) else None
        kind = made.type if made is not None else v.type
        family = ""
        if isinstance(kind, t.Map):
            family, kind = f"[{kind.key}]", kind.value
        if isinstance(kind, t.Part):
            for part in m.parts:
                if part.name == kind.machine:
                    yield chart(part, f"{v.name}{family}: {part.name}")


# Line breaking of labels: between pieces, then between words.


def pieces(label: Label, width: int = WIDTH) -> list[tuple[LabelPart, str]]:
    """The label in pieces of about `width` columns, at most `MOST` of them guards."""
    out: list[tuple[LabelPart, str]] = [("event", SIGNS[label.mark] + label.event)]
    if label.timer:
        out.append(("timer", f"after {label.timer}"))
    guards = _guards(label.guards, width)
    if len(guards) > MOST:
        guards = [*guards[: MOST - 1], f"{guards[MOST - 1]} …]"]
    for text in guards:
        out.append(("guard", text))
    if label.brief:
        out.append(("output", f"/ {label.brief}"))
    return out


def lines(label: Label, width: int = WIDTH) -> list[list[tuple[LabelPart, str]]]:
    """The pieces in lines of about `width` columns."""
    out: list[list[tuple[LabelPart, str]]] = []
    room = 0
    for kind, piece in pieces(label, width):
        if not out or len(piece) + 1 > room:
            out.append([])
            room = width + 1
        out[-1].append((kind, piece))
        room -= len(piece) + 1
    return out


def _guards(guards: tuple[str, ...], width: int) -> list[str]:
    """The guards in brackets, on one line, or each on lines of its own: `[a`, `and b]`."""
    whole = f"[{' and '.join(guards)}]"
    if not guards or len(whole) <= width:
        return [whole] if guards else []
    out: list[str] = []
    for i, guard in enumerate(guards):
        start, end = "and " if i else "[", "]" if i == len(guards) - 1 else ""
        out += words(f"{start}{guard}{end}", width)
    return out


def words(text: str, width: int = WIDTH) -> list[str]:
    """The text in lines, broken at blanks, before an operator rather than after it."""
    out: list[str] = []
    line: list[str] = []
    for word in text.split(" "):
        if line and len(" ".join([*line, word])) > width:
            moved = [line.pop()] if len(line) > 1 and OPERATOR.fullmatch(line[-1]) else []
            out.append(" ".join(line))
            line = moved
        line.append(word)
    return [*out, " ".join(line)]


def one_line(text: str) -> str:
    """The text with a blank for line ends and other control characters."""
    return LINE_ENDS.sub(" ", text)
