"""Calls of methods that the classes of records and enums define."""

from __future__ import annotations

from types import FunctionType

from ... import ir
from ... import types as t
from ...syntax import tree
from ...syntax.hints import defaults_of, keyword_only
from ..context import Body
from ..expressions import join
from ..methods import arguments
from .definitions import defined, of_each


def method_of(b: Body, node: tree.Apply, of: ir.Expr, name: str) -> ir.Expr | None:
    """A method that the class of a record or an enum defines, or that of each alternative; None
    where one has none."""
    if not isinstance(of.type, t.Union):
        return _of_one(b, node, of, name)
    before = 0 if b.hoisted is None else len(b.hoisted)
    made = of_each(b, of, name, lambda value: _of_one(b, node, value, name), join)
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
