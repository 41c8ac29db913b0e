"""Members of an `IntEnum` as integers, where Python orders them or computes with them."""

from __future__ import annotations

import enum

from ... import ir
from ... import types as t
from ...syntax import tree
from ..constants import by_member
from ..context import Body


def as_integer(b: Body, found: ir.Expr) -> ir.Expr:
    """The integer that a member of an `IntEnum` is; any other value unchanged."""
    kind = found.type
    if not isinstance(kind, t.Enum) or not issubclass(b.scene.enums[kind.name], enum.IntEnum):
        return found
    value = tree.Attribute(found.place, tree.Name(found.place, "self"), "value")
    return by_member(b, value, found) or found
