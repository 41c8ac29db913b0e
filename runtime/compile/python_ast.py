"""Short constructors of Python syntax trees, and their source positions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from lawful.spec import types as t
from lawful.spec.errors import Place

Node = TypeVar("Node", bound=ast.AST)


# Those that may have a position, or hold what may; the others are shared by all trees.
COMPOUND = frozenset(
    cls
    for cls in vars(ast).values()
    if isinstance(cls, type) and issubclass(cls, ast.AST) and (cls._fields or cls._attributes)
)
LOAD = ast.Load()  # One for all names: nothing changes it.
LEAVES = frozenset({ast.Constant, ast.Name, ast.Pass})  # Nothing in them has a position.


def located(node: Node, place: Place) -> Node:
    """The node; it and its children without a position get that of `place`."""
    if "lineno" in node.__dict__:
        return node
    line, column, end, end_column = place.line, place.column, place.end_line, place.end_column
    waiting: list[Any] = [node]
    for each in waiting:  # It grows.
        held: dict[str, Any] = each.__dict__
        if each.__class__ not in LEAVES:
            for value in held.values():
                if value.__class__ is list:
                    waiting += [
                        x for x in value if x.__class__ in COMPOUND and "lineno" not in x.__dict__
                    ]
                elif value.__class__ in COMPOUND and "lineno" not in value.__dict__:
                    waiting.append(value)
        if each._attributes:  # Some nodes, as `comprehension`, have no position of their own.
            held["lineno"], held["col_offset"] = line, column
            held["end_lineno"], held["end_col_offset"] = end, end_column
    return node


def without_places(node: Node) -> Node:
    """A copy without positions, so that it can get those of where it is used."""
    made = node.__class__.__new__(node.__class__)  # Its fields are given below.
    for field, value in ast.iter_fields(node):
        setattr(made, field, _copied(value))
    return made


def _copied(value: Any) -> Any:
    if isinstance(value, ast.AST):
        return without_places(value)
    return [_copied(each) for each in value] if value.__class__ is list else value


def name(id: str) -> ast.Name:
    return ast.Name(id, LOAD)


def attribute(of: ast.expr, attr: str) -> ast.Attribute:
    return ast.Attribute(of, attr, LOAD)


def call(function: str | ast.expr, *args: ast.expr) -> ast.Call:
    return ast.Call(name(function) if isinstance(function, str) else function, list(args), [])


def target(names: tuple[str, ...]) -> ast.expr:
    """The target of a loop."""
    stores: list[ast.expr] = [ast.Name(each, ast.Store()) for each in names]
    return stores[0] if len(stores) == 1 else ast.Tuple(stores, ast.Store())


def target_of(names: tuple[str, ...]) -> ast.expr:
    """What an unpacking assigns; a tuple of one, too, is a tuple."""
    return ast.Tuple([ast.Name(each, ast.Store()) for each in names], ast.Store())


def assign(to: ast.expr, value: ast.expr) -> ast.Assign:
    """`to = value`, for a `to` that was built for reading."""
    if isinstance(to, ast.Name | ast.Attribute | ast.Subscript | ast.Tuple):
        to.ctx = ast.Store()
    return ast.Assign([to], value)


def if_(test: ast.expr, *then: ast.stmt) -> ast.If:
    return ast.If(test, list(then), [])


def compare(left: ast.expr, op: ast.cmpop, right: ast.expr) -> ast.Compare:
    return ast.Compare(left, [op], [right])


def negated(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), test)


def all_of(tests: Sequence[ast.expr]) -> ast.expr:
    return tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), list(tests))


def any_of(tests: Sequence[ast.expr]) -> ast.expr:
    return tests[0] if len(tests) == 1 else ast.BoolOp(ast.Or(), list(tests))


def outside(value: Callable[[], ast.expr], kind: t.Int) -> ast.expr | None:
    """The test that an integer is out of its bounds; None where it has none."""
    tests: list[ast.expr] = []
    if kind.low is not None:
        tests.append(compare(value(), ast.Lt(), ast.Constant(kind.low)))
    if kind.high is not None:
        tests.append(compare(value(), ast.Gt(), ast.Constant(kind.high)))
    return any_of(tests) if tests else None
