"""Members of an `IntEnum` as integers, where Python orders them or computes with them; and members
that are texts, or whose texts are compared, as their ranks in the order of texts."""

from __future__ import annotations

import enum
from dataclasses import replace

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


def has_order(b: Body, kind: t.Type) -> bool:
    """Whether the values are members of an `IntEnum`, or of a `StrEnum` or its like."""
    if not isinstance(kind, t.Enum):
        return False
    cls = b.scene.enums[kind.name]
    return issubclass(cls, enum.IntEnum) or _is_text(cls)


def _is_text(cls: type[enum.Enum]) -> bool:
    """Whether Python orders its members as their texts."""
    return issubclass(cls, str) and all(type(each.value) is str for each in cls)


def ranked_text(b: Body, found: ir.Expr) -> ir.Expr:
    """The rank of a text of an enum's member among these texts; any other value unchanged."""
    kind = found.type
    if isinstance(kind, t.Enum) and _is_text(b.scene.enums[kind.name]):
        value = tree.Attribute(found.place, tree.Name(found.place, "self"), "value")
        found = by_member(b, value, found) or found
    match found:
        case ir.Item(type=t.Text(), of=ir.Op(op="map", args=args, type=t.Map() as of) as table):
            texts = [text.value for text in args[1::2] if isinstance(text, ir.Const)]
            if 2 * len(texts) < len(args):
                return found
            order = sorted({str(text) for text in texts})
            ranks = (ir.Const(found.place, t.INT, order.index(str(text))) for text in texts)
            both = tuple(each for row in zip(args[::2], ranks, strict=True) for each in row)
            whole = replace(table, type=replace(of, value=t.INT), args=both)
            return ir.Item(found.place, t.INT, whole, found.key)
        case _:
            return found
