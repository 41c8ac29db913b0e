"""The generated module of a machine: functions of helpers, transitions, events and properties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.effects import assigned
from lawful.spec.analysis.headers import Becomes, Firing, Source, StaysAmong, entry, leaving
from lawful.spec.analysis.walk import everything, statements

from ...reference import Reference
from ..layout.codec import Codec
from ..layout.forms import of_bag, of_map, of_set
from ..layout.layouts import (
    BOOL,
    INTEGER,
    NONE,
    Index,
    Layout,
    ListLayout,
    MapLayout,
    Maps,
    NotGenerated,
    Number,
    Product,
    Sets,
    SparseMap,
    SparseSet,
    Sum,
    hull,
    width,
)
from . import collections, integers, loops, minmax, operators, parts
from .body import Body, begun
from .conversions import of_nothing
from .expressions import Expressions
from .functions import Function, general, plain, states
from .statements import block
from .text import BOUNDS, REFUSED, Program, Target, Value


class Module:
    """Makes functions on demand, each once for the layouts of its arguments."""

    def __init__(self, codec: Codec, reference: Reference, program: Program) -> None:
        self.codec = codec
        self.reference = reference
        self.program = program
        self.machines = codec.machines
        self.made: dict[object, Function] = {}
        self.making: list[object] = []

    # What expressions ask for.

    def layout_of(self, kind: t.Type) -> Layout:
        """The layout of a type's values in the middle of a step."""
        match kind:
            case t.Int(low=low, high=high):
                return Number(low, high, low, high)
            case t.Record(name=name, fields=fields):
                known = self.codec.records.get(name)
                return known or Product(kind, tuple(self.layout_of(of) for _, of in fields))
            case t.Tuple(items=items):
                return Product(kind, tuple(map(self.layout_of, items)))
            case t.Union(options=options):
                return Sum(kind, tuple(map(self.layout_of, options)))
            case t.Set(item=item):
                return self.set_of(kind, self.layout_of(item))
            case t.Map(key=key, value=value):
                return self.map_of(kind, self.layout_of(key), self.layout_of(value))
            case t.Seq(item=item, most=most):
                return ListLayout(kind, self.layout_of(item), loops.ROOM, loops.ROOM, most)
            case t.Bag(item=item, most=most):
                item_layout = self.member(self.layout_of(item))
                return of_bag(kind, item_layout, loops.ROOM, loops.ROOM, most)
            case t.Float() | t.Text():
                return Index(kind, 1)
            case _:
                return self.codec.layout(kind, kind)

    def set_of(self, kind: t.Type, item: Layout) -> Sets:
        """The layout of a set in the middle of a step."""
        made = of_set(self.codec.form, kind, self.member(item), loops.ROOM)
        return replace(made, item=item) if isinstance(made, SparseSet) else made

    def map_of(self, kind: t.Type, key: Layout, value: Layout) -> Maps:
        """The same of a map."""
        made = of_map(self.codec.form, kind, self.member(key), value, loops.ROOM)
        return replace(made, key=key) if isinstance(made, SparseMap) else made

    def member(self, layout: Layout) -> Layout:
        """The layout of the elements of a dense set, or the keys of a dense map, in the middle of a
        step.

        An element needs a code, so that an integer without bounds gets those of the scope. What is
        beyond them stands behind.
        """
        match layout:
            case Number(low=low, high=high) if low is None or high is None:
                least, most = self.codec.numbers
                return Number(least if low is None else low, most if high is None else high)
            case Product(items=items):
                return replace(layout, items=tuple(map(self.member, items)))
            case Sum(options=options):
                return replace(layout, options=tuple(map(self.member, options)))
            case ListLayout(item=item):
                return replace(layout, item=self.member(item))
            case MapLayout(value=value):
                return replace(layout, value=self.member(value))
            case _:
                return layout

    def comprehension(self, f: Expressions, e: ir.Comp, to: Target) -> Value:
        """See `loops.comprehension`."""
        return loops.comprehension(f, e, to)

    def operation(self, f: Expressions, e: ir.Op, to: Target) -> Value:
        """See `operators.operation`."""
        return operators.operation(f, e, to)

    def added(self, f: Expressions, a: str, b: str) -> str:
        """See `integers.added`."""
        return integers.added(f, a, b)

    def extreme(self, f: Expressions, e: ir.Comp) -> Value:
        """See `minmax.extreme`."""
        return minmax.extreme(f, e)

    def as_row(self, f: Expressions, value: Value) -> Value:
        """See `collections.as_row`."""
        return collections.as_row(f, value)

    def listed(self, f: Expressions, e: ir.Expr) -> Value:
        """See `collections.listed`."""
        return collections.listed(f, e)

    def probed(self, f: Expressions, clauses: tuple[ir.Clause, ...], element: ir.Expr) -> Layout:
        """The layout of a comprehension's element, found by generating its code and dropping
        that."""
        lines, depth, cells = len(f.lines), f.depth, self.program.cells
        with loops.clauses(f, clauses):
            layout = f.value(element).layout
        del f.lines[lines:]
        f.depth = depth
        self.program.cells = max(cells, self.program.cells)
        return layout

    def result_layout(self, f: Expressions, e: ir.If) -> Layout:
        """The layout of a conditional expression for which the context gives none."""
        layouts = [self.probed(f, (), arm) for arm in (e.then, e.other)]
        if layouts[0] == layouts[1] or of_nothing(layouts[1]):
            return layouts[0]
        if of_nothing(layouts[0]):
            return layouts[1]
        if all(isinstance(k, Number) for k in layouts):
            return hull(*layouts)
        if isinstance(e.type, t.Union | t.Record | t.Tuple):
            return self.layout_of(e.type)
        if isinstance(e.type, t.Seq):  # A tuple in one arm is one of any length in the other.
            return next((k for k in layouts if isinstance(k, ListLayout)), layouts[0])
        return layouts[0]

    # Functions.

    def function(self, owner: ir.Machine, name: str) -> ir.Function:
        """A helper or property of a machine."""
        found = next((x for x in owner.functions if x.name == name), None)
        return found or next(p.function for p in owner.properties if p.name == name)

    def plain_function(self, name: str) -> ir.Function:
        """A function of a module."""
        return next(x for m in self.machines.values() for x in m.functions if x.name == name)

    def base(self, name: str) -> tuple[ir.Machine, ir.Transition]:
        """An ancestor's transition, and the machine that it steps."""
        rows = ((m, row) for m in self.machines.values() for row in m.bases)
        return next((m, row) for m, row in rows if row.name == name)

    def helper(
        self,
        owner: ir.Machine,
        function: ir.Function,
        layouts: tuple[Layout, ...],
        outermost: bool = False,
    ) -> Function:
        """The function of a helper, a property or a transition's body for such arguments."""
        layouts = tuple(map(general, layouts))
        key = ("helper", owner.name, function.name, layouts, outermost)
        if key in self.made:
            return self.made[key]
        if key in self.making:
            raise NotGenerated("recursion")
        self.making.append(key)
        names = [name for name, _ in function.params]
        f = begun(self, owner, zip(names, layouts, strict=True))
        made = Function(self.program.name("f_" + plain(function.name)))
        self.program.names[key] = made.name
        f.outermost, f.declared = outermost, function.output
        self._finish(f, made, names, function)
        self.making.remove(key)
        self.made[key] = made
        return made

    def _finish(self, f: Body, made: Function, names: list[str], function: ir.Function) -> None:
        params = ", ".join(("w", "b", *(f"a_{name}" for name in names)))
        f.lines.append(f"def {made.name}({params}):")
        f.output = None if f.outermost else self._output(function.output)
        f.prepare(function.body)
        block(f, function.body)
        f.line("return 0")
        made.output, made.output_at, made.rounds = f.output, f.output_at, f.longest
        self.program.add(f.lines)

    def _output(self, kind: t.Type) -> Layout | None:
        """The layout of a function's output; None if its first `return` decides it."""
        match kind:
            case t.Int():
                return INTEGER
            case t.Bool():
                return BOOL
            case t.Nothing():
                return None
            case _:
                try:
                    found = self.layout_of(kind)
                    width(found)
                except NotGenerated:
                    return None
                return found

    def call(
        self,
        f: Expressions,
        owner: ir.Machine,
        function: ir.Function,
        at: str | None,
        args: tuple[ir.Expr, ...],
    ) -> Value:
        """The value of a helper that changes nothing."""
        given = [f.passed(f.value(arg)) for arg in args]
        made = self.helper(owner, function, tuple(v.layout for v in given))
        f.calls(made.rounds)
        f.passing(f"{made.name}({', '.join(('w', at or '0', *(v.text for v in given)))})")
        value = made.given(f)
        return Value(NONE, "0") if value is None else value

    def transition(
        self,
        owner: ir.Machine,
        row: ir.Transition,
        layouts: tuple[Layout, ...],
        outermost: bool = False,
    ) -> Function:
        """A transition with its header, for arguments of these layouts.

        What the outermost step gives goes to nobody: only its bounds are looked at.
        """
        layouts = tuple(map(general, layouts))
        key = ("transition", owner.name, row.name, layouts, outermost)
        if key in self.made:
            return self.made[key]
        names = [name for name, _ in row.function.params]
        f = begun(self, owner, zip(names, layouts, strict=True))
        made = Function(self.program.name("t_" + plain(row.name)))
        self.program.names[key] = made.name
        params = ", ".join(("w", "b", *(f"a_{name}" for name in names)))
        f.lines.append(f"def {made.name}({params}):")
        f.outermost, f.declared = outermost, row.function.output
        f.output = None if outermost else self._output(row.function.output)
        f.prepare(row.function.body)
        with f.guard(row):
            self._enter(f, row)
        f.was_true(row)
        if _returns_at_the_end(row.function.body) and not _replaces_its_key(row):
            f.inlined = True
            block(f, row.function.body)
            made.output, made.output_at = f.output, f.output_at
        else:
            inner = self.helper(owner, row.function, layouts, outermost)
            f.calls(inner.rounds)
            f.passing(f"{inner.name}({', '.join(('w', 'b', *(f'a_{n}' for n in names)))})")
            made.output, made.output_at = inner.output, inner.output_at
        self._leave(f, row)
        f.line("return 0")
        made.rounds = f.longest
        self.program.add(f.lines)
        self.made[key] = made
        return made

    def _enter(self, f: Body, row: ir.Transition) -> None:
        """The header's guards; a place of theirs that is missing refuses."""
        undefined, f.failed = f.failed, REFUSED
        for each in entry(row):
            match each:
                case Source(control, names):
                    layout, at = f.place(control)
                    if names is not None:
                        _stop_elsewhere(f, f.load(layout, at), states(control.type, names), REFUSED)
                case Firing(timer):
                    f.writes(timer)
                    _, at = f.place(timer)
                    # A timer that counts has one more than the ticks until it is due.
                    f.stop_if(f"w[{at}] != 1", REFUSED)
                    f.line(f"w[{at}] = 0")
        f.failed = undefined

    def _leave(self, f: Body, row: ir.Transition) -> None:
        match leaving(row):
            case Becomes(control, name):
                f.writes(control)
                _, at = f.place(control)
                f.line(f"w[{at}] = {states(control.type, (name,))[0]}")
            case StaysAmong(control, names):
                layout, at = f.place(control)
                _stop_elsewhere(f, f.load(layout, at), states(control.type, names), BOUNDS)
            case None:
                pass

    # Steps of parts.

    def can(self, f: Expressions, e: ir.Can) -> Value:
        """See `parts.can`."""
        return parts.can(f, e)

    def enabled(self, f: Expressions, e: ir.Enabled) -> Value:
        """See `parts.enabled`."""
        return parts.enabled(f, e)

    def fresh(self, f: Expressions, e: ir.New) -> Value:
        """See `parts.fresh`."""
        return parts.fresh(f, e)


def _stop_elsewhere(f: Body, now: Value, numbers: Sequence[int], outcome: int) -> None:
    """Stop with this outcome where the control state is none of these."""
    f.stop_if(" and ".join(f"{now.text} != {n}" for n in numbers) or "True", outcome)


def _replaces_its_key(row: ir.Transition) -> bool:
    """Whether the body assigns an argument anew that leads to the control state."""
    read = {node.name for node in everything((row.control,)) if isinstance(node, ir.Local)}
    return bool(read & assigned(row.function.body))


def _returns_at_the_end(body: tuple[ir.Stmt, ...]) -> bool:
    """Whether nothing returns but the last statement."""
    found = [s for s in statements(body) if isinstance(s, ir.Return)]
    return not found or (len(found) == 1 and body[-1] is found[0])
