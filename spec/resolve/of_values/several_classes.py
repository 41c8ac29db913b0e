"""What each record of a union has: `shape.area()` and `shape.wide`, asked of the class that the
value is of."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType

from ... import ir
from ... import types as t
from ...errors import Place
from ...syntax import tree
from ...syntax.hints import defaults_of, keyword_only
from .. import expressions
from ..context import Body
from ..methods import arguments
from .definitions import defined, property_of


def method_of(b: Body, node: tree.Apply, of: ir.Expr, name: str) -> ir.Expr | None:
    """A method that the class of a record or an enum defines, or that of each alternative; None
    where one has none."""
    if not isinstance(of.type, t.Union):
        return _of_one(b, node, of, name)
    before = 0 if b.hoisted is None else len(b.hoisted)
    made = _each(b, node.place, of, name, lambda value: _of_one(b, node, value, name))
    if made is not None and b.hoisted is not None and len(b.hoisted) > before:
        b.problem(
            "L102",
            node.place,
            f"a change of the state in an argument of {name}, which several classes have",
            "an argument that changes nothing",
            "assign the argument to a local first",
        )
    return made


def _of_one(b: Body, node: tree.Apply, of: ir.Expr, name: str) -> ir.Expr | None:
    """A method that the class of a record or an enum defines; None where it has none."""
    function = defined(b, of.type, name)
    if not isinstance(function, FunctionType):
        return None
    found = b.scene.module_function(function, node.place, of.type)
    if found is None:
        return b.wrong(node.place)
    key, body = found
    defaults, by_name = defaults_of(function), keyword_only(function)
    args = arguments(b, node, body.params[1:], defaults, by_name)
    return ir.Call(node.place, body.output, key, None, (of, *args))


def property_of_each(b: Body, place: Place, of: ir.Expr, name: str) -> ir.Expr | None:
    """A field or property that the class of each alternative has; None where one has none, and
    where all have a field."""
    if all(isinstance(o, t.Record) and name in dict(o.fields) for o in t.options(of.type)):
        return None
    return _each(b, place, of, name, lambda value: _read(b, place, value, name))


def _read(b: Body, place: Place, of: ir.Expr, name: str) -> ir.Expr | None:
    fields = dict(of.type.fields) if isinstance(of.type, t.Record) else {}
    if name in fields:
        return ir.Field(place, fields[name], of, name)
    return property_of(b, place, of, name)


def _each(
    b: Body, place: Place, of: ir.Expr, name: str, one: Callable[[ir.Expr], ir.Expr | None]
) -> ir.Expr | None:
    """The value for the class that it is of."""
    options = t.options(of.type)
    if not all(_has(b, option, name) for option in options):
        return None
    whole = of.of if isinstance(of, ir.Narrow) else of
    made = [one(ir.Narrow(place, option, whole)) for option in options]
    values = [value for value in made if value is not None]
    if len(values) < len(made):
        return None
    kind = expressions.join(b, place, tuple(value.type for value in values))
    found = values[-1]
    for option, value in [*zip(options, values, strict=True)][-2::-1]:
        found = ir.If(place, kind, ir.IsA(place, t.BOOL, whole, (option,)), value, found)
    return found


def _has(b: Body, option: t.Type, name: str) -> bool:
    field = isinstance(option, t.Record) and name in dict(option.fields)
    return field or (isinstance(option, t.Record) and defined(b, option, name) is not None)
