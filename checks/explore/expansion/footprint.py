"""The footprint of a transition: which cells of the state it may change."""

from __future__ import annotations

from collections.abc import Iterable

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.walk import statements
from lawful.spec.quick_dataclass import dataclass, field

from ..codegen.module import Module
from ..codegen.time import time_cells
from ..layout.layouts import offsets, width

Span = tuple[int, int]  # The first cell, and the one after the last.


def changes(module: Module, machine: ir.Machine, row: ir.Transition) -> tuple[Span, ...]:
    """The rows of cells that a transition of the whole machine may change, in their order."""
    whole = 0, width(module.codec.machine(machine.name))
    found = _Changes(module, whole)
    found.transition(row, machine, whole)
    return _merged(found.spans)


def meets(span: Span, spans: Iterable[Span]) -> bool:
    """Whether some cell is in both."""
    return any(span[0] < end and begin < span[1] for begin, end in spans)


def without(spans: Iterable[Span], others: Iterable[Span]) -> tuple[Span, ...]:
    """The cells of spans that are in no other."""
    left = list(spans)
    for begin, end in others:
        parts = [((a, min(b, begin)), (max(a, end), b)) for a, b in left]
        left = [(a, b) for pair in parts for a, b in pair if a < b]
    return tuple(left)


def _merged(spans: Iterable[Span]) -> tuple[Span, ...]:
    made: list[Span] = []
    for begin, end in sorted(spans):
        if made and begin <= made[-1][1]:
            made[-1] = made[-1][0], max(end, made[-1][1])
        else:
            made.append((begin, end))
    return tuple(made)


@dataclass
class _Changes:
    module: Module
    whole: Span
    spans: set[Span] = field(default_factory=set[Span])

    def transition(self, row: ir.Transition, owner: ir.Machine, me: Span) -> None:
        if row.target is not None:
            self._add(row.control, me)
        self._add(row.timer, me)
        self._body(row.function.body, owner, me)

    def _body(self, body: tuple[ir.Stmt, ...], owner: ir.Machine, me: Span) -> None:
        for stmt in statements(body):
            match stmt:
                case ir.Assign(target=target):
                    self._add(target, me)
                case ir.Update(target=place, into=into) | ir.Step(part=place, into=into):
                    self._add(place, me)
                    self._add(into, me)
                case ir.Base(name=name, into=into):
                    self.transition(self.module.base(name)[1], owner, me)
                    self._add(into, me)
                case ir.Do(call=call, into=into):
                    self._helper(call, me)
                    self._add(into, me)
                case ir.Tick():
                    cells = time_cells(self.module, owner, me[0])
                    self.spans.update((cell.at, cell.at + 1) for cell in cells)
                case _:
                    pass

    def _helper(self, call: ir.Call, me: Span) -> None:
        assert call.of is not None and isinstance(call.of.type, t.Part)
        owner = self.module.machines[call.of.type.machine]
        function = self.module.function(owner, call.function)
        self._body(function.body, owner, self._span(call.of, me))

    def _add(self, place: ir.Expr | None, me: Span) -> None:
        if place is not None and not _is_local(place):
            self.spans.add(self._span(place, me))

    def _span(self, place: ir.Expr, me: Span) -> Span:
        """The cells of a place; for a place in a map or a list the cells of the whole container."""
        match place:
            case ir.Self():
                return me
            case ir.Field(of=of, name=name) if isinstance(of.type, t.Part):
                begin, end = self._span(of, me)
                layout = self.module.codec.machine(of.type.machine)
                if end - begin != width(layout):
                    return begin, end
                names, layouts = zip(*layout.fields, strict=True)
                at = names.index(name)
                begin += offsets(layouts)[at]
                return begin, begin + width(layouts[at])
            case ir.Item(of=of) | ir.Narrow(of=of) | ir.Field(of=of):
                return self._span(of, me)
            case _:
                return self.whole


def _is_local(place: ir.Expr) -> bool:
    """Whether it is in a local that holds a value; a part in a local is in the state."""
    match place:
        case ir.Local(type=kind):
            return not isinstance(kind, t.Part)
        case ir.Item(of=of) | ir.Narrow(of=of) | ir.Field(of=of):
            return _is_local(of)
        case _:
            return False
