"""Generated code of expressions: each becomes lines, and a value that they leave.

Lines come in Python's order of evaluation; an operation without a value returns from the function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.quick_dataclass import dataclass, field

from ...reference import Reference
from ..layout.codec import Codec
from ..layout.entries import cheap, place_of
from ..layout.forms import may_lack
from ..layout.layouts import (
    BOOL,
    INTEGER,
    NONE,
    BagLayout,
    Index,
    Layout,
    ListLayout,
    MachineLayout,
    MapLayout,
    Maps,
    NotGenerated,
    Number,
    Product,
    Sets,
    SparseMap,
    Sum,
    offsets,
    one_cell,
    width,
)
from .bags import count_in
from .codes import code
from .contents import looked_up
from .conversions import (
    field_of_option,
    matches,
    narrowed,
    option_of,
    part,
    product,
    tag_of,
    to_layout,
    type_of,
)
from .functions import Function
from .text import ANYWHERE, GREATEST, LEAST, REFUSED, Program, Target, Value, Writer, plus


class Owner(Protocol):
    """The generated module that an expression's function belongs to, as expressions see it.

    Expressions, loops, operators and calls need one another. They meet here: each of them asks the
    owner for the others, and `module.Module`, which stands above all of them, has them all.
    """

    program: Program
    reference: Reference
    made: dict[object, Function]

    @property
    def codec(self) -> Codec: ...
    @property
    def machines(self) -> Mapping[str, ir.Machine]: ...

    # Kinds.
    def layout_of(self, kind: t.Type) -> Layout: ...
    def set_of(self, kind: t.Type, item: Layout) -> Sets: ...
    def map_of(self, kind: t.Type, key: Layout, value: Layout) -> Maps: ...
    def member(self, layout: Layout) -> Layout: ...
    def probed(
        self, f: Expressions, clauses: tuple[ir.Clause, ...], element: ir.Expr
    ) -> Layout: ...
    def result_layout(self, f: Expressions, e: ir.If) -> Layout: ...

    # Functions.
    def function(self, owner: ir.Machine, name: str) -> ir.Function: ...
    def plain_function(self, name: str) -> ir.Function: ...
    def base(self, name: str) -> tuple[ir.Machine, ir.Transition]: ...
    def helper(
        self,
        owner: ir.Machine,
        function: ir.Function,
        layouts: tuple[Layout, ...],
        outermost: bool = False,
    ) -> Function: ...
    def transition(
        self,
        owner: ir.Machine,
        row: ir.Transition,
        layouts: tuple[Layout, ...],
        outermost: bool = False,
    ) -> Function: ...
    def call(
        self,
        f: Expressions,
        owner: ir.Machine,
        function: ir.Function,
        at: str | None,
        args: tuple[ir.Expr, ...],
    ) -> Value: ...

    # Expressions that other modules of this package write.
    def comprehension(self, f: Expressions, e: ir.Comp, to: Target) -> Value: ...
    def operation(self, f: Expressions, e: ir.Op, to: Target) -> Value: ...
    def added(self, f: Expressions, a: str, b: str) -> str: ...
    def extreme(self, f: Expressions, e: ir.Comp) -> Value: ...
    def as_row(self, f: Expressions, value: Value) -> Value: ...
    def listed(self, f: Expressions, e: ir.Expr) -> Value: ...
    def can(self, f: Expressions, e: ir.Can) -> Value: ...
    def enabled(self, f: Expressions, e: ir.Enabled) -> Value: ...
    def fresh(self, f: Expressions, e: ir.New) -> Value: ...


@dataclass
class Expressions(Writer):
    """The expressions of one function of a machine, which is at `me`."""

    module: Owner = field(kw_only=True)
    machine: ir.Machine = field(kw_only=True)
    me: str = field(kw_only=True)
    env: dict[str, Value] = field(default_factory=dict[str, Value], kw_only=True)
    flagged: dict[str, str] = field(default_factory=dict[str, str], kw_only=True)

    def value(self, e: ir.Expr, to: Target = ANYWHERE) -> Value:
        """The value of an expression that goes to this target."""
        write = VALUES.get(e.__class__)
        return write(self, e) if write is not None else TARGETED[e.__class__](self, e, to)

    def into(self, e: ir.Expr, layout: Layout) -> Value:
        """The value in the cells of a layout."""
        return to_layout(self, self.value(e, Target(layout)), layout)

    def truth(self, e: ir.Expr) -> str:
        """The truth value of an expression, by name or as a literal."""
        return self.value(e).text

    def integer(self, e: ir.Expr) -> str:
        """The integer that an expression gives."""
        return self.value(e).text

    def layout_of(self, kind: t.Type) -> Layout:
        """The layout of a type's values in the middle of a step."""
        return self.module.layout_of(kind)

    def constant(self, layout: Layout, value: Any) -> Value:
        """A value known before the step."""
        made = self.program.codec.encode(layout, value)
        if one_cell(layout):
            return Value(layout, str(made[0]))
        if not made:
            return Value(layout, "0")
        at = self.region(layout)
        for i, cell in enumerate(made):
            self.line(f"w[{plus(at, i)}] = {cell}")
        return Value(layout, at)

    # Places.

    def place(self, e: ir.Expr) -> tuple[Layout, str]:
        """The layout of a place in the state or of a local, and where it begins."""
        match e:
            case ir.Self():
                return self.module.codec.machine(self.machine.name), self.me
            case ir.Field(of=of, name=name) if isinstance(of.type, t.Part):
                whole, at = self.place(of)
                assert isinstance(whole, MachineLayout) and isinstance(whole.type, t.Part)
                layout, begin = self.module.codec.field(whole.type.machine, name)
                return layout, plus(at, begin)
            case ir.Item(of=of, key=key):
                return self.item_place(*self.place(of), key)
            case ir.Narrow(of=of):
                layout, at = self.place(of)
                if not isinstance(layout, Sum):
                    return layout, at
                # The cells of one alternative are those in the union: a change there is a change.
                held = narrowed(self, Value(layout, at), e.type)
                return held.layout, self.placed(held)
            case _:
                made = self.value(e)
                part_of_state = isinstance(made.layout, MachineLayout)
                return made.layout, made.text if part_of_state else self.placed(made)

    def item_place(self, layout: Layout, at: str, key: ir.Expr) -> tuple[Layout, str]:
        """The place of an item that must exist; the failing status if it does not."""
        match layout:
            case MapLayout() | SparseMap():
                place, there = looked_up(self, at, layout, self.into(key, layout.key))
                if there != "True":
                    self.fail_if(f"not ({there})")
                return layout.value, place
            case ListLayout(item=item):
                index = self.row_index(at, key)
                return item, self.hold(f"{at} + 1 + {index} * {width(item)}")
            case Product(items=items):
                return self._tuple_item(items, at, key)
            case _:
                raise NotGenerated(f"an item of {type_of(layout)}")

    def writes(self, e: ir.Expr) -> None:
        """Note which entry of which map of the whole machine is written at a place.

        What a part writes is noted where its step is taken.
        """
        program, (root, name, key) = self.program, place_of(e)
        if self.machine.name != program.codec.flat.machine.name:
            return
        if isinstance(root, ir.Local) and not isinstance(root.type, t.Part):
            return
        rows = program.entries
        if isinstance(root, ir.Self) and name:
            rows = {name: rows[name]} if name in rows else {}
        which = str(sum(row.mask for row in rows.values()))
        if isinstance(root, ir.Self) and name in rows and key is not None and cheap(key):
            whole = self.module.codec.machine(self.machine.name)
            layout = dict(whole.fields)[name]
            assert isinstance(layout, MapLayout)
            number = self.code_in(key, layout.key)
            first = f"max(0, {number})" if may_lack(layout.key) else number
            which = f"{1 << rows[name].bit} << {first}"
        if rows:
            self.line(f"w[{program.written}] |= {which}")

    def row_index(self, at: str, key: ir.Expr) -> str:
        """An index into a row, counted from its beginning; the failing status if it is out of
        range."""
        given = self.integer(key)
        length = self.hold(f"w[{at}]")
        self.fail_if(f"{given} >= {length} or {given} < -{length}")
        return self.hold(f"{given} if {given} >= 0 else {given} + {length}")

    def _tuple_item(self, items: tuple[Layout, ...], at: str, key: ir.Expr) -> tuple[Layout, str]:
        given = self.integer(key)
        if given.lstrip("-").isdigit():
            number = int(given)
            if not -len(items) <= number < len(items):
                self.fail_if("True")
                number = 0
            return items[number], plus(at, offsets(items)[number])
        if len(set(items)) != 1:
            raise NotGenerated("an index into a tuple of several types")
        count = len(items)
        self.fail_if(f"{given} >= {count} or {given} < -{count}")
        return items[0], self.hold(f"{at} + {given} % {count} * {width(items[0])}")

    def code_in(self, e: ir.Expr, layout: Layout) -> str:
        """The code of a key or element; negative where it has none within the scope."""
        return code(self, self.into(e, layout))


def _const(f: Expressions, e: ir.Const) -> Value:
    match e.type:
        case t.Bool():
            return Value(BOOL, str(int(bool(e.value))))
        case t.Int():
            number = int(e.value or 0)
            if not LEAST <= number <= GREATEST:
                f.escape_if("True")  # No cell has it: the reference engine goes on from here.
                return Value(INTEGER, "0")
            return Value(Number(number, number), str(number))
        case t.Nothing():
            return Value(NONE, "0")
        case t.Float():
            return Value(Index(e.type, 1, (e.value,)), "0")
        case t.Text():
            return Value(Index(e.type, 1), "0")
        case t.Timer():
            return Value(f.layout_of(e.type), "0")
        case t.Enum(members=members):
            return Value(Index(e.type, len(members)), str(members.index(str(e.value))))
        case t.Sort():
            known = f.program.codec.known(e.type)
            if e.value not in known:
                raise NotGenerated(f"{e.value} of {e.type}, which is not in the scope")
            return Value(f.layout_of(e.type), str(known[e.value]))
        case _:
            raise NotGenerated(f"a literal of {e.type}")


def _local(f: Expressions, e: ir.Local) -> Value:
    flag = f.flagged.get(e.name)
    if flag is not None:
        f.fail_if(f"{flag} == 0")
    if e.name not in f.env:
        raise NotGenerated(f"the local {e.name}, which may have no value")
    return f.env[e.name]


def _self(f: Expressions, e: ir.Self) -> Value:
    return Value(f.module.codec.machine(f.machine.name), f.me)


def _field(f: Expressions, e: ir.Field) -> Value:
    if isinstance(e.of.type, t.Clock):
        return Value(INTEGER, f.value(e.of).text)
    if isinstance(e.of.type, t.Timer):
        return Value(BOOL, f.hold(f"{f.value(e.of).text} != 0"))
    if isinstance(e.of.type, t.Part):
        return f.load(*f.place(e))
    of = f.value(e.of)
    if isinstance(of.layout, Sum):
        return field_of_option(f, of, e.name)
    if not (isinstance(of.layout, Product) and isinstance(of.layout.type, t.Record)):
        raise NotGenerated(f"a field of {type_of(of.layout)}")
    names = [name for name, _ in of.layout.type.fields]
    return part(f, of, names.index(e.name))


def _item(f: Expressions, e: ir.Item) -> Value:
    layout, at = f.place(e.of)
    if isinstance(layout, BagLayout):
        return Value(INTEGER, count_in(f, at, layout, f.into(e.key, layout.item)))
    return f.load(*f.item_place(layout, at, e.key))


def _and(f: Expressions, e: ir.And) -> Value:
    return _short(f, e.args, 0)


def _or(f: Expressions, e: ir.Or) -> Value:
    return _short(f, e.args, 1)


def _short(f: Expressions, args: tuple[ir.Expr, ...], decides: int) -> Value:
    """`and` decided by 0, `or` by 1: later ones are evaluated only where earlier ones do not."""
    name = f.temporary()
    first, *rest = args
    f.line(f"{name} = {f.truth(first)}")
    depth = f.depth
    for arg in rest:
        f.line(f"if {'not ' if decides else ''}{name}:")
        f.depth += 1
        f.line(f"{name} = {f.truth(arg)}")
    f.depth = depth
    return Value(BOOL, name)


def _if(f: Expressions, e: ir.If, to: Target) -> Value:
    test = f.truth(e.test)
    layout = to.layout
    if layout is None:
        layout = f.module.result_layout(f, e)
    if one_cell(layout):
        name = f.temporary()
        for header, arm in ((f"if {test}:", e.then), ("else:", e.other)):
            with f.block(header):
                f.line(f"{name} = {f.into(arm, layout).text}")
        return Value(layout, name)
    at = f.region(layout)
    for header, arm in ((f"if {test}:", e.then), ("else:", e.other)):
        with f.block(header):
            f.store(at, f.into(arm, layout))
    return f.load(layout, at)


def _make(f: Expressions, e: ir.Make, to: Target) -> Value:
    layout = f.layout_of(e.type)
    assert isinstance(layout, Product)
    items = [f.into(arg, of) for arg, of in zip(e.args, layout.items, strict=True)]
    return product(f, layout, items)


def _new(f: Expressions, e: ir.New) -> Value:
    return f.module.fresh(f, e)


def _is_a(f: Expressions, e: ir.IsA) -> Value:
    of = f.value(e.of)
    if not isinstance(of.layout, Sum):
        mine = type_of(of.layout)
        return Value(BOOL, str(int(any(matches(mine, option) for option in e.options))))
    assert isinstance(of.layout.type, t.Union)
    tags = [
        i
        for i, mine in enumerate(of.layout.type.options)
        if any(matches(mine, option) for option in e.options)
    ]
    tag = tag_of(f, of)
    return Value(BOOL, f.hold(" or ".join(f"{tag} == {i}" for i in tags) or "0"))


def _narrow(f: Expressions, e: ir.Narrow) -> Value:
    return narrowed(f, f.value(e.of), e.type)


def _needed(f: Expressions, e: ir.Needed) -> Value:
    of = f.value(e.of)
    if isinstance(of.layout, Sum):
        with f.guard(e):
            f.stop_if(f"{tag_of(f, of)} == {option_of(of.layout, t.NOTHING)}", REFUSED)
        f.was_true(e)
        return narrowed(f, of, e.type)
    if of.layout == NONE:
        with f.guard(e):
            f.stop_if("True", REFUSED)
        layout = f.layout_of(e.type)
        return f.load(layout, f.region(layout))
    f.was_true(e)
    return of


def _comp(f: Expressions, e: ir.Comp, to: Target) -> Value:
    return f.module.comprehension(f, e, to)


def _op(f: Expressions, e: ir.Op, to: Target) -> Value:
    return f.module.operation(f, e, to)


def _call(f: Expressions, e: ir.Call) -> Value:
    if e.of is None:
        function = f.module.plain_function(e.function)
        return f.module.call(f, f.machine, function, None, e.args)
    assert isinstance(e.of.type, t.Part)
    owner = f.module.machines[e.of.type.machine]
    _, at = f.place(e.of)
    return f.module.call(f, owner, f.module.function(owner, e.function), at, e.args)


def _can(f: Expressions, e: ir.Can) -> Value:
    return f.module.can(f, e)


def _format(f: Expressions, e: ir.Format) -> Value:
    for each in e.parts:  # Its text does not matter, but whether it has a value.
        f.value(each)
    return Value(Index(t.TEXT, 1), "0")


def _unsupported(f: Expressions, e: ir.Expr) -> Value:
    raise NotGenerated(f"{type(e).__name__} in a step")


# Code of one operator; of one whose code depends on where its value goes.
Operation = Callable[[Expressions, ir.Op], Value]
TargetedOperation = Callable[[Expressions, ir.Op, Target], Value]

VALUES: dict[type[ir.Expr], Callable[[Expressions, Any], Value]] = {
    ir.Const: _const,
    ir.Local: _local,
    ir.Self: _self,
    ir.Field: _field,
    ir.Item: _item,
    ir.And: _and,
    ir.Or: _or,
    ir.New: _new,
    ir.View: _unsupported,
    ir.IsA: _is_a,
    ir.Narrow: _narrow,
    ir.Needed: _needed,
    ir.Can: _can,
    ir.Enabled: lambda f, e: f.module.enabled(f, e),
    ir.Call: _call,
    ir.Domain: _unsupported,
    ir.Format: _format,
}
# In these the layout depends on the target, or the fate of an element outside the scope does.
TARGETED: dict[type[ir.Expr], Callable[[Expressions, Any, Target], Value]] = {
    ir.Op: _op,
    ir.If: _if,
    ir.Make: _make,
    ir.Comp: _comp,
}
