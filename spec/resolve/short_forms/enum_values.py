"""`Color(n)`: the member of an enum that has this value."""

from __future__ import annotations

import enum
from typing import Any

from ... import ir
from ... import types as t
from ...syntax import tree
from .. import expressions
from ..constants import constant
from ..context import Body
from .enum_integers import as_integer


def by_value(b: Body, node: tree.Apply, cls: type[enum.Enum]) -> ir.Expr | None:
    """The member in a table of them by their values, which has none for other integers, as in
    Python; None where the values are no integers, or the class finds members by itself."""
    given: Any = cls._missing_
    usual: Any = enum.Enum._missing_
    values = [member.value for member in cls]
    if issubclass(cls, enum.Flag) or not all(type(value) is int for value in values):
        return None
    if given.__func__ is not usual.__func__:
        return None
    key = as_integer(b, expressions.infer(b, node.args[0], t.INT))
    if key.type == b.scene.annotation(cls, node.place, b.names):
        return key
    if not isinstance(key.type, t.Int):
        expressions.misfit(b, key.place, key.type, t.INT)
        return b.wrong(node.place)
    table = constant(b, {member.value: member for member in cls}, node.place)
    if table is None or not isinstance(table.type, t.Map):
        return None
    return ir.Item(node.place, table.type.value, table, key)
