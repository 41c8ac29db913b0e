"""Python constants of a module or class -> IR."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any

from . import ir
from . import types as t
from .context import Body
from .errors import Place
from .words import Record, Sort, Timer


def constant(b: Body, value: Any, place: Place) -> ir.Expr | None:
    """The expression for a constant, or None for an object that is none of the language."""
    members = _collection(b, value, place)
    if members is not None:
        return members
    match value:
        case bool():
            return ir.Const(place, t.BOOL, value)
        case enum.Enum():
            return ir.Const(place, b.scene.annotation(type(value), place, b.names), value.name)
        case int():
            return ir.Const(place, t.INT, value)
        case float():
            return ir.Const(place, t.FLOAT, value)
        case Sort():
            return ir.Const(place, b.scene.annotation(type(value), place, b.names), str(value))
        case str():
            return ir.Const(place, t.TEXT, value)
        case None:
            return ir.Const(place, t.NOTHING, None)
        case Timer():
            return ir.Const(place, t.Timer(value.urgent), False)
        case Record():
            return _record(b, value, place)
        case _:
            return None


def _record(b: Body, value: Any, place: Place) -> ir.Expr | None:
    cls: Any = value.__class__
    kind = b.scene.annotation(cls, place, b.names)
    names = [f.name for f in dataclasses.fields(cls)]
    args = [constant(b, getattr(value, name), place) for name in names]
    return None if None in args else ir.Make(place, kind, tuple(a for a in args if a is not None))


def _collection(b: Body, value: Any, place: Place) -> ir.Expr | None:
    kind: Any = value.__class__
    if kind not in (tuple, frozenset):
        return None
    # The order of a set's members must not depend on the hash seed.
    members: list[Any] = [*value] if kind is tuple else sorted(value, key=repr)
    args = [constant(b, member, place) for member in members]
    known = tuple(arg for arg in args if arg is not None)
    if len(known) != len(args):
        return None
    if kind is tuple:
        return ir.Op(place, t.Tuple(tuple(arg.type for arg in known)), "tuple", known)
    item = t.union(tuple(arg.type for arg in known)) if known else t.Unknown()
    return ir.Op(place, t.Set(item, mutable=False), "set", known)
