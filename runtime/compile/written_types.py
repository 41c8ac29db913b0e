"""The types of the places that statements write."""

from __future__ import annotations

import sys

from lawful.spec import ir
from lawful.spec import types as t

INDEX = t.Int(-sys.maxsize, sys.maxsize)  # `list.insert` takes these.


def item_of(kind: t.Type) -> t.Type:
    """The type of what an item of a container holds."""
    return kind.value if isinstance(kind, t.Map) else t.element(kind) or t.Unknown()


def key_of(kind: t.Type) -> t.Type:
    """The type of a container's keys or indices."""
    match kind:
        case t.Map(key=key) | t.Bag(item=key):
            return key
        case _:
            return t.Unknown()


def taken_types(stmt: ir.Update) -> tuple[t.Type, ...]:
    """The types of the places that an update puts its arguments into."""
    kind = stmt.target.type
    match kind, stmt.op:
        case (t.Set(), "update") | (t.Seq(), "extend") | (t.Map(), "update"):
            return (kind,)
        case t.Set(item=item), "add":
            return (item,)
        case t.Seq(item=item), "append":
            return (item,)
        case t.Seq(item=item), "insert":
            return (t.Unknown(), item)
        case t.Map(value=value), "pop":
            return (t.Unknown(), value)[: len(stmt.args)]
        case _:
            return (t.Unknown(),) * len(stmt.args)


def within(mine: t.Type, theirs: t.Type) -> bool:
    """Whether every value within the bounds of one type is within those of the other."""
    match mine, theirs:
        case t.Int(), t.Int():
            low = theirs.low is None or (mine.low is not None and mine.low >= theirs.low)
            return low and (
                theirs.high is None or (mine.high is not None and mine.high <= theirs.high)
            )
        case t.Set(), t.Set():
            return within(mine.item, theirs.item)
        case t.Map(), t.Map():
            return within(mine.key, theirs.key) and within(mine.value, theirs.value)
        case _:
            return mine == theirs
