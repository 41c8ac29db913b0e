"""Generated code of a body: its locals, and its assignments to places."""

from __future__ import annotations

from collections.abc import Iterable

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.walk import statements
from lawful.spec.quick_dataclass import dataclass, field

from ..layout.layouts import (
    INTEGER,
    BagLayout,
    Containers,
    Layout,
    ListLayout,
    MachineLayout,
    MapLayout,
    NotGenerated,
    Number,
    SparseMap,
    width,
)
from .bags import put_count
from .contents import put_entry
from .conversions import of_nothing, to_layout, type_of
from .expressions import Expressions, Owner
from .text import Value, plus


def begun(
    owner: Owner, machine: ir.Machine, params: Iterable[tuple[str, Layout]], me: str = "b"
) -> Body:
    """A function that is about to be written, with parameters of these layouts."""
    f = Body(owner.program, module=owner, machine=machine, me=me)
    f.given = tuple(Value(layout, f"a_{name}") for name, layout in params)
    f.env.update((value.text.removeprefix("a_"), value) for value in f.given)
    return f


@dataclass
class Body(Expressions):
    """A function's statements; where it returns, its output goes to `output`."""

    output: Layout | None = field(default=None, kw_only=True)
    output_at: str = field(default="", kw_only=True)
    inlined: bool = field(default=False, kw_only=True)  # What follows the body comes after it.
    outermost: bool = field(default=False, kw_only=True)  # Its output goes to nobody.
    declared: t.Type = field(default=t.NOTHING, kw_only=True)  # The type of its output.
    given: tuple[Value, ...] = field(default=(), kw_only=True)  # Its arguments, in their order.
    several: set[str] = field(default_factory=set[str], kw_only=True)

    def prepare(self, body: tuple[ir.Stmt, ...]) -> None:
        """Look at which locals may have no value, and which are assigned more than once."""
        seen: set[str] = set()
        for stmt in statements(body):
            for name in _assigned(stmt):
                (self.several if name in seen else seen).add(name)
        top = {name for stmt in body for name in _assigned(stmt)}
        inside = {name for s in body for c in _inner(s) for name in _assigned(c)}
        given = [name for name in self.env if name in seen]
        for name in given:  # An argument is a local like any other.
            self.several.add(name)
            value = self.env.pop(name)
            self.assign_local(name, self.own(value), type_of(value.layout))
        for name in sorted(inside - set(given)):
            self.several.add(name)
            if name not in top or _first_inside(body, name):
                self.flagged[name] = f"n_{name}"
                self.line(f"n_{name} = 0")
            self.line(f"v_{name} = 0")

    # Locals.

    def assign_local(self, name: str, value: Value, declared: t.Type | None = None) -> None:
        """Assign a value to a local; the local keeps it if the value's origin changes later."""
        if isinstance(value.layout, MachineLayout):
            self.env[name] = value
            return
        known_type = declared is not None and not t.contains(declared, t.Unknown)
        if declared is not None and known_type and of_nothing(value.layout):
            value = to_layout(self, value, self.layout_of(declared))
        known = self.env.get(name)
        layout = known.layout if known is not None else self.local_layout(name, value, declared)
        made = to_layout(self, value, layout)
        if made.single:
            self.line(f"v_{name} = {made.text}")
            self.env[name] = Value(layout, f"v_{name}")
        else:
            at = known.text if known is not None else self.region(layout)
            self.store(at, made)
            self.env[name] = Value(layout, at)
        if name in self.flagged:
            self.line(f"n_{name} = 1")

    def local_layout(self, name: str, value: Value, declared: t.Type | None) -> Layout:
        """The layout of a local by its first value, or by its type where it takes several."""
        if name not in self.several:
            return value.layout
        if isinstance(value.layout, Number):
            return INTEGER if not isinstance(declared, t.Union) else self.layout_of(declared)
        if declared is None or isinstance(value.layout, Containers):
            return value.layout
        return self.layout_of(declared)

    # Assignment.

    def assign(self, target: ir.Expr, value: Value) -> None:
        """A place takes a value."""
        match target:
            case ir.Narrow(of=of):
                self.assign(of, value)
            case ir.Local(name=name):
                self.assign_local(name, value, target.type)
            case ir.Item(of=of, key=key):
                self.writes(target)
                self.assign_item(of, key, value)
            case _:
                self.writes(target)
                layout, at = self.place(target)
                self.store(at, to_layout(self, value, layout))

    def assign_item(self, of: ir.Expr, key: ir.Expr, value: Value) -> None:
        """An item of a container at a place takes a value."""
        layout, at = self.place(of)
        match layout:
            case MapLayout() | SparseMap():
                entry = self.into(key, layout.key), to_layout(self, value, layout.value)
                put_entry(self, at, layout, entry)
            case BagLayout():
                put_count(self, at, layout, self.into(key, layout.item), value.text)
            case ListLayout(item=item):
                index = self.row_index(at, key)
                place = self.hold(f"{plus(at, 1)} + {index} * {width(item)}")
                self.store(place, to_layout(self, value, item))
            case _:
                raise NotGenerated(f"an item of {type_of(layout)} assigned")

    def target_layout(self, target: ir.Expr) -> Layout | None:
        """The layout of a place, if it is known without evaluating anything."""
        match target:
            case ir.Narrow(of=of):
                return self.target_layout(of)
            case ir.Local(name=name):
                return self.env[name].layout if name in self.env else None
            case ir.Field(of=of, name=name) if isinstance(of.type, t.Part):
                whole = self.module.codec.machine(of.type.machine)
                return dict(whole.fields)[name]
            case ir.Item(of=of):
                held = self.target_layout(of)
                match held:
                    case MapLayout(value=layout) | SparseMap(value=layout):
                        return layout
                    case ListLayout(item=layout):
                        return layout
                    case _:
                        return None
            case _:
                return None


def _assigned(stmt: ir.Node) -> tuple[str, ...]:
    match stmt:
        case ir.Assign(target=ir.Local(name=name)):
            return (name,)
        case ir.Unpack(names=names) | ir.Loop(names=names):
            return names
        case ir.Update(into=ir.Local(name=name)) | ir.Step(into=ir.Local(name=name)):
            return (name,)
        case ir.Do(into=ir.Local(name=name)) | ir.Base(into=ir.Local(name=name)):
            return (name,)
        case _:
            return ()


def _inner(stmt: ir.Stmt) -> Iterable[ir.Stmt]:
    match stmt:
        case ir.Branch(then=then, other=other):
            return statements((*then, *other))
        case ir.Loop(body=body):
            return (stmt, *statements(body))
        case _:
            return ()


def _first_inside(body: tuple[ir.Stmt, ...], name: str) -> bool:
    """Whether a local is assigned inside a branch or loop before it is at the top."""
    for stmt in body:
        if any(name in _assigned(inner) for inner in _inner(stmt)):
            return True
        if name in _assigned(stmt):
            return False
    return False


def into(f: Body, place: ir.Expr | None, value: Value | None) -> None:
    """Assign a result to a place, if there is one; None if there is no result."""
    if place is not None:
        if value is None:
            value = f.constant(f.layout_of(t.NOTHING), None)
        f.assign(place, value)
