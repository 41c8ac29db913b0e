"""Conditions that can be read: a model's method with one `return` over its attributes.

A condition reads the model's attributes, which any code may change between two events. So in the
declaration they are parameters of the event, with their values when the event was called. A
condition is read only if the language accepts its expression; otherwise it stays opaque.
"""

from __future__ import annotations

import ast
import contextlib
import enum
import inspect
import re
import sys
import textwrap
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

BUILTINS = frozenset({"abs", "max", "min"})


@dataclass(frozen=True)
class AttributeType:
    """A type that an attribute can have here: how it is written, where it is imported from
    (nowhere for a built-in one), and a value of it."""

    name: str
    module: str
    value: Any


@dataclass(frozen=True)
class Reading:
    """The expression that a condition returns, its module's constants put in, and the attributes
    and enums that it reads; `numbers` stand in it."""

    body: ast.expr
    attributes: Mapping[str, AttributeType]
    enums: Mapping[str, str]
    numbers: tuple[int, ...]

    def text(self, names: Mapping[str, str]) -> str:
        """The expression with a name for each attribute."""
        return ast.unparse(_Named(names).visit(ast.parse(ast.unparse(self.body), mode="eval")))


class _Unread(Exception):
    """The condition is not one of those that are read."""


def read(name: str, models: Sequence[Any]) -> Reading | None:
    """The method of that name, which all models have in common; None where it stays opaque."""
    functions = {_function(model, name) for model in models}
    if len(functions) != 1:
        return None
    (function,) = functions
    if function is None or function.__closure__:
        return None
    with contextlib.suppress(_Unread, OSError, SyntaxError, TypeError):
        body = _Constants(function.__globals__).visit(_returned(function))
        return _reading(body, models)
    return None


def _function(model: Any, name: str) -> types.FunctionType | None:
    """The plain function behind a model's method; None for everything else."""
    try:
        found = inspect.getattr_static(model, name)
    except AttributeError:
        return None
    method = isinstance(found, types.FunctionType) and name not in getattr(model, "__dict__", {})
    return found if method else None


def _returned(function: types.FunctionType) -> ast.expr:
    """The expression that a function of `self` alone returns, if it does nothing else."""
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    match node:
        case ast.FunctionDef(
            args=args,
            decorator_list=[],
            body=[ast.Return(ast.expr() as value)]
            | [ast.Expr(ast.Constant()), ast.Return(ast.expr() as value)],
        ) if ast.unparse(args) == "self":
            return value
        case _:
            raise _Unread


class _Constants(ast.NodeTransformer):
    """Replaces names of the function's module by the numbers that they stand for."""

    def __init__(self, known: Mapping[str, Any]) -> None:
        self.known = known

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if not _is_own(node):
            self.generic_visit(node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        value: Any = self.known.get(node.id)
        if type(value) in (bool, int):
            return ast.copy_location(ast.Constant(value), node)
        enumerated = isinstance(value, type) and issubclass(value, enum.Enum)
        if (enumerated and value.__name__ == node.id) or (value is None and node.id in BUILTINS):
            return node
        raise _Unread  # Of the model itself, and of what else the module has.


def _is_own(node: ast.AST) -> bool:
    """Whether it is an attribute of the model."""
    return isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self"


class _Named(ast.NodeTransformer):
    """Replaces attributes by parameters."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if _is_own(node):
            return ast.copy_location(ast.Name(self.names[node.attr]), node)
        self.generic_visit(node)
        return node


def _reading(body: ast.expr, models: Sequence[Any]) -> Reading:
    attributes: dict[str, AttributeType] = {}
    for node in ast.walk(body):
        if isinstance(node, ast.BinOp) and not _has_value(node):
            raise _Unread
        if isinstance(node, ast.Attribute) and _is_own(node):
            attributes[node.attr] = _common(node.attr, models)
    if not attributes or not _is_bool(body, attributes):
        raise _Unread
    enums = {kind.name: kind.module for kind in attributes.values() if kind.module}
    numbers = map(int, re.findall(r"-?\b\d+", ast.unparse(body)))
    return Reading(body, attributes, enums, tuple(numbers))


def _is_bool(node: ast.expr, attributes: Mapping[str, AttributeType]) -> bool:
    """Whether its value is True or False. transitions compares that of a condition with True, and
    that of an `unless` with False: of the number 5 neither is taken."""
    match node:
        case ast.Compare() | ast.UnaryOp(op=ast.Not()) | ast.Constant(value=bool()):
            return True
        case ast.BoolOp(values=several):
            return all(_is_bool(each, attributes) for each in several)
        case (
            ast.IfExp(body=one, orelse=other)
            | ast.BinOp(left=one, op=ast.BitAnd() | ast.BitOr() | ast.BitXor(), right=other)
        ):
            return _is_bool(one, attributes) and _is_bool(other, attributes)
        case ast.Attribute(attr=name) if _is_own(node):
            return attributes[name].name == "bool"
        case _:
            return False


def _has_value(node: ast.BinOp) -> bool:
    """Whether it has a value for all numbers. A condition without one would say of the rows behind
    its own neither that they are possible nor that they are not."""
    divides = isinstance(node.op, ast.FloorDiv | ast.Mod)
    return not divides or (ast.unparse(node.right) not in ("0", "-0") and _is_number(node.right))


def _is_number(node: ast.expr) -> bool:
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(inner, ast.Constant)


def _common(name: str, models: Sequence[Any]) -> AttributeType:
    kinds = {_kind(found) for model in models for found in _types(name, model)}
    if len(kinds) != 1:
        raise _Unread
    return kinds.pop()


def _types(name: str, model: Any) -> Iterator[Any]:
    """The type that a model's class says its attribute has, else that of its value now."""
    cls = model.__class__
    static = inspect.getattr_static(cls, name, None)
    if isinstance(static, property):
        yield _hints(static.fget).get("return")
    elif name in _hints(cls):
        yield _hints(cls)[name]
    else:
        yield type(getattr(model, name, None))


def _hints(of: Any) -> Mapping[str, Any]:
    try:
        return typing.get_type_hints(of)
    except (NameError, TypeError, AttributeError):
        return {}


def _kind(found: Any) -> AttributeType:
    if found is bool or found is int:
        return AttributeType(found.__name__, "", found())
    if isinstance(found, type) and issubclass(found, enum.Enum) and list(found):
        name, module = found.__qualname__, found.__module__
        members: list[Any] = list(found)
        if getattr(sys.modules.get(module), name, None) is found and module != "__main__":
            return AttributeType(name, module, members[0])
    raise _Unread
