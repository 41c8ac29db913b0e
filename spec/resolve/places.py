"""Places that can be assigned, and locals that name them."""

from __future__ import annotations

import dataclasses

from .. import ir
from .. import types as t
from ..analysis.places import in_state
from ..errors import Place, a
from ..records import copy_with
from ..syntax import tree
from . import expressions
from .aliasing import changeable, is_fixed, is_steady
from .changing_calls import may_change
from .context import Body


def place_of(b: Body, node: tree.Expression) -> ir.Expr | None:
    """An assignable place; a problem and None where it is not."""
    kept = b.evaluated
    found = expressions.expr(b, node)
    if isinstance(found, ir.Narrow):
        found = found.of  # It is assigned at its declared type, whatever is known of it.
    b.evaluated = kept
    if isinstance(found.type, t.Unknown) or not _assignable(b, node, found):
        return None
    if in_state(found) and not may_change(b, node.place):
        return None
    return found


def _assignable(b: Body, node: tree.Expression, found: ir.Expr) -> bool:
    match found:
        case ir.Field(of=of, name=name):
            return _assignable_field(b, found, of, name)
        case ir.Item(of=of) if not isinstance(of.type, t.Map | t.Seq | t.Bag):
            return unassignable(b, found.place, f"an item of {a(of.type)}", _MAKE)
        case ir.Item(of=of) if not getattr(of.type, "mutable", True):
            what = f"an item of {a(of.type)}, which is immutable"
            return unassignable(b, found.place, what, _MAKE)
        case ir.Item(of=of):
            return changeable(b, of, found.place)
        case ir.Const() if isinstance(node, tree.Attribute):
            written = f"annotate it in the class, {node.name}: int = 0, if it is a variable"
            return unassignable(b, node.place, f"{node.name}, a constant", written)
        case _ if isinstance(node, tree.Cut):
            found_there = "a slice whose end may be before its beginning"
            rewrite = "write the whole list: self.q = self.q[:i] + xs + self.q[j:]"
            return unassignable(b, node.place, found_there, rewrite)
        case _:
            return unassignable(b, node.place, "this expression", _MAKE)


_MAKE = "make a new value, and assign the whole of it"


def _written(of: ir.Expr) -> str:
    """How a body writes this local or variable; x for what is longer."""
    match of:
        case ir.Field(of=ir.Self(), name=name):
            return f"self.{name}"
        case ir.Local(name=name):
            return name
        case _:
            return "x"


def _assignable_field(b: Body, found: ir.Expr, of: ir.Expr, name: str) -> bool:
    interface = b.interface(of.type)
    if interface is None:
        what = f"{name} of {a(of.type)}"
        whole = _written(of)
        rewrite = _MAKE
        if isinstance(of.type, t.Record):
            cls = b.scene.records[of.type.name]
            rewrite = f"write {whole} = {copy_with(cls, whole, f'{name}=...')}"
        return unassignable(b, found.place, what, rewrite)
    if name in interface.fixed:
        what = f"{name}, a parameter"
        return unassignable(b, found.place, what, "make it a variable: without Param[...]")
    if not isinstance(of, ir.Self) or interface is not b.scene.own:
        what = f"{name} of another machine"
        rewrite = f"give {of.type} a transition that does this, and call it"
        return unassignable(b, found.place, what, rewrite)
    if isinstance(found.type, t.Timer):
        what = f"{name}, a Timer"
        return unassignable(b, found.place, what, f"write self.{name}.start(...) or .stop()")
    if isinstance(found.type, t.Clock):
        what = f"{name}, a Clock"
        return unassignable(b, found.place, what, "time goes on by itself: read its now")
    if isinstance(found.type, t.Part):
        what = f"{name}, {a(found.type)}"
        return unassignable(b, found.place, what, f"give {found.type} a transition that resets it")
    return True


def unassignable(b: Body, place: Place, found: str, rewrite: str) -> bool:
    """Note that this is no place of one's own; always false."""
    expected = "a variable of this machine, or an item of its map or list"
    b.problem("L206", place, found, expected, rewrite)
    return False


def moved_to(b: Body, name: str, place: ir.Expr) -> None:
    """The container of a local is at a place in the state now. In this block the local names that
    place, unless a key on its path may have changed; elsewhere it is not read again."""
    b.moved.add(name)
    if is_fixed(b, place):
        b.aliases[name] = place
        b.dead.discard(name)


def names_place(b: Body, name: str) -> bool:
    """Whether a local has named a place in the state from the beginning."""
    return name in b.aliases and name not in b.moved


def name_place(b: Body, target: tree.Name, value: ir.Expr) -> list[ir.Stmt]:
    """A local that names a mutable place, or a view of the map at a place: every use of it is a use
    of the place."""
    out: list[ir.Stmt] = []

    def pinned(path: ir.Expr) -> ir.Expr:
        match path:
            case ir.Field(of=of):
                return dataclasses.replace(path, of=pinned(of))
            case ir.Item(of=of, key=key):
                held = pinned(of)
                if not isinstance(key, ir.Const) and not is_steady(b, key):
                    local = b.temporary(key.type, key.place)
                    out.append(ir.Assign(key.place, local, key))
                    key = local
                return dataclasses.replace(path, of=held, key=key)
            case ir.Op(args=(of,)):  # A view of a map.
                return dataclasses.replace(path, args=(pinned(of),))
            case _:
                return path

    place = pinned(value)
    if isinstance(place, ir.Item):
        # Where there is no such item, naming it is undefined already.
        out.append(ir.Assign(target.place, b.temporary(place.type, target.place), place))
    b.aliases[target.name] = place
    b.dead.discard(target.name)
    return out
