"""What a loop goes through, and the changes of it that Python refuses or shows in later rounds."""

from __future__ import annotations

from collections.abc import Iterator

from .. import ir, ops
from .. import types as t
from .changed_places import Change
from .different_keys import Pairs, without
from .effects import assigned
from .places import in_state, is_place, may_be, may_pass

# What goes through a container of its operands while it is iterated; and through the keys of a map.
VIEWS = (ops.ITERABLES - {"range", "subsets"}) | {"frozenset_of"}
KEYED_BY = (ops.MAP_VIEWS - {"values"}) | {"frozenset_of"}


def iterated(over: ir.Expr) -> Iterator[ir.Expr]:
    """The places that an iteration goes through while it lasts."""
    match over:
        case ir.Op(op=op, args=args) if op in VIEWS:
            for arg in args:
                yield from iterated(arg)
        case ir.Narrow(of=of):
            yield from iterated(of)
        case ir.Field() | ir.Item() | ir.Local() if not t.immutable(over.type):
            yield over
        case _:
            pass


def disturbs(change: Change, path: ir.Expr, loop: ir.Loop, different: Pairs) -> bool:
    """Whether the change adds to or removes from the container, or replaces an item to come."""
    different = without(different, change.unsure)
    match change.place:
        case None:
            return in_state(path)
        case ir.Expr(type=t.Part()) as part:
            return may_pass(path, part, True, different)
        case ir.Item(of=of, key=key) if change.below and may_be(of, path, different):
            return not _keeps_size(path, key, loop, change.unsure)
        case place:
            return not change.below and may_be(place, path, different)


def _keeps_size(path: ir.Expr, key: ir.Expr, loop: ir.Loop, unsure: frozenset[str]) -> bool:
    """Whether assigning this item changes nothing that the rounds still go through."""
    if loop.names and loop.names[0] in assigned(loop.body) | unsure:
        return False
    at_loop_variable = isinstance(key, ir.Local) and key.name == loop.names[0]
    if isinstance(path.type, t.Map):
        by_key = is_place(loop.over) or (isinstance(loop.over, ir.Op) and loop.over.op in KEYED_BY)
        return path.type.total or (at_loop_variable and by_key)
    enumerated = isinstance(loop.over, ir.Op) and loop.over.op == "enumerate"
    return at_loop_variable and enumerated
