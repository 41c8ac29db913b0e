"""Methods and properties that the classes of records and enums define: functions of one value."""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Callable
from enum import Enum
from keyword import iskeyword
from types import FunctionType, MethodType
from typing import Any

from ... import ir
from ... import types as t
from ...errors import Place
from ...records import is_record
from ..context import Body

Join = Callable[[Body, Place, tuple[t.Type, ...]], t.Type]


def defined(b: Body, of: t.Type, name: str) -> FunctionType | property | None:
    """What the class of a record or an enum defines by this name, a method or a property."""
    if not isinstance(of, t.Record | t.Enum):
        return None
    table = b.scene.enums if isinstance(of, t.Enum) else b.scene.records
    found = inspect.getattr_static(table[of.name], name, None)
    function = found.fget if isinstance(found, property) else found
    known = isinstance(function, FunctionType) and function.__code__.co_argcount > 0
    return found if known else None


def of_class(method: MethodType) -> bool:
    """Whether it is a class method that an enum or a record defines itself.

    An inherited one is none: its `cls` has as many meanings as there are heirs.
    """
    function = method.__func__
    cls: Any = method.__self__
    if not isinstance(method.__self__, type) or not (issubclass(cls, Enum) or is_record(cls)):
        return False
    if not isinstance(function, FunctionType):
        return False
    held = function.__name__ in vars(cls) and getattr(cls, function.__name__, None)
    return isinstance(held, MethodType) and held == method


def function_key(function: Any, of: t.Type | None) -> str:
    """The name of a function in the machine: its module, its class and its own name.

    An inherited method of the values of `of` is a function of its own, because the methods that
    it calls of itself are those of the heir.
    """
    owner = function.__qualname__.split(".")[-2:-1]
    if not isinstance(of, t.Record | t.Enum) or owner == [of.name]:
        return f"{function.__module__}.{function.__qualname__}"
    return f"{function.__module__}.{of.name}:{function.__qualname__}"


def without_class(node: ast.FunctionDef) -> tuple[ast.FunctionDef, str]:
    """A class method as a function without its first parameter, and the name of that one."""
    made = copy.deepcopy(node)
    first = made.args.args.pop(0).arg
    return made, first


def property_of(b: Body, place: Place, of: ir.Expr, name: str) -> ir.Expr | None:
    """`message.size` where a property computes it; None where the class has none of that name."""
    found = defined(b, of.type, name)
    if not isinstance(found, property) or not isinstance(found.fget, FunctionType):
        return None
    made = b.scene.module_function(found.fget, place, of.type)
    if made is None:
        return b.wrong(place)
    return ir.Call(place, made[1].output, made[0], None, (of,))


def as_function(node: ast.FunctionDef, of: t.Type) -> ast.FunctionDef:
    """The method as a function of one more parameter: in the IR `self` is the machine alone.

    The parameter has the name of the class, in small letters, with `_` behind it where the method
    has that name itself.
    """
    made = copy.deepcopy(node)
    names = [each for each in ast.walk(made) if isinstance(each, ast.Name)]
    args = [each for each in ast.walk(made) if isinstance(each, ast.arg)]
    taken = {each.id for each in names} | {each.arg for each in args}
    old, new = node.args.args[0].arg, str(of).lower()
    while new in taken or iskeyword(new):
        new += "_"
    for name in names:
        name.id = new if name.id == old else name.id
    for arg in args:
        arg.arg = new if arg.arg == old else arg.arg
    return made


def property_of_each(b: Body, place: Place, of: ir.Expr, name: str, join: Join) -> ir.Expr | None:
    """A field or property that the class of each alternative has; None where one has none, and
    where all have a field."""
    if all(isinstance(o, t.Record) and name in dict(o.fields) for o in t.options(of.type)):
        return None
    return of_each(b, of, name, lambda value: _read(b, place, value, name), join)


def _read(b: Body, place: Place, of: ir.Expr, name: str) -> ir.Expr | None:
    fields = dict(of.type.fields) if isinstance(of.type, t.Record) else {}
    if name in fields:
        return ir.Field(place, fields[name], of, name)
    return property_of(b, place, of, name)


def of_each(
    b: Body, of: ir.Expr, name: str, one: Callable[[ir.Expr], ir.Expr | None], join: Join
) -> ir.Expr | None:
    """What `one` gives for the class that the value is of; None where an alternative does not have
    that name. Heirs are asked for before their ancestors, whose instances they are in Python."""
    place = of.place
    if not all(_has(b, option, name) for option in t.options(of.type)):
        return None
    options = sorted(t.options(of.type), key=lambda option: -_depth(b, option))
    whole = of.of if isinstance(of, ir.Narrow) else of
    made = [one(ir.Narrow(place, option, whole)) for option in options]
    values = [value for value in made if value is not None]
    if len(values) < len(made):
        return None
    kind = join(b, place, tuple(value.type for value in values))
    found = values[-1]
    for option, value in [*zip(options, values, strict=True)][-2::-1]:
        found = ir.If(place, kind, ir.IsA(place, t.BOOL, whole, (option,)), value, found)
    return found


def _depth(b: Body, option: t.Type) -> int:
    """How many classes a record class inherits from."""
    return len(b.scene.records[option.name].__mro__) if isinstance(option, t.Record) else 0


def _has(b: Body, option: t.Type, name: str) -> bool:
    field = isinstance(option, t.Record) and name in dict(option.fields)
    return field or (isinstance(option, t.Record) and defined(b, option, name) is not None)
