"""What may stop a step: whether two outcomes are possible, so that what comes first decides.

A loop over what has no order is then gone through in the order of `spec.sorting`, so that its
outcome depends on what is in the collection alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .. import ir, ops
from .. import types as t
from .walk import everything

REFUSED, UNDEFINED, ASSERTS = "refused", "undefined", "asserts"
PARTIAL_UPDATES = frozenset({"remove", "pop", "delete"})


def may_fail(node: ir.Node) -> bool:
    """Whether the node itself may have no value, or refuse."""
    match node:
        case ir.Item(of=of):
            return not (isinstance(of.type, t.Bag | t.Tuple) or _total(of.type))
        case ir.Op(op=op):
            return ops.TABLE[op].partial if op in ops.TABLE else False
        case ir.Comp(kind="min" | "max") | ir.Needed() | ir.Call() | ir.Can():
            return True
        case _:
            return False


def _total(kind: t.Type) -> bool:
    return isinstance(kind, t.Map) and kind.total


def may_stop(e: ir.Expr) -> bool:
    """Whether evaluating the expression may stop the step."""
    return any(may_fail(node) for node in everything((e,)))


def mixed(nodes: Iterable[ir.Node]) -> bool:
    """Whether these may stop a step in more than one way."""
    return len(set(_ways(tuple(nodes)))) > 1


def _ways(nodes: tuple[ir.Node, ...]) -> Iterator[str]:
    stored = {id(place) for place in _stored(nodes)}
    for node in everything(nodes):
        match node:
            case ir.Require() | ir.Refuse() | ir.Needed():
                yield REFUSED
            case ir.Assert():
                yield ASSERTS
            case ir.Step() | ir.Base() | ir.Do():  # What is called may hold anything.
                yield REFUSED
                yield UNDEFINED
            case ir.Update(op=op) if op in PARTIAL_UPDATES:
                yield UNDEFINED
            case _ if id(node) not in stored and may_fail(node):
                yield UNDEFINED
            case _:
                pass


def _stored(nodes: tuple[ir.Node, ...]) -> Iterator[ir.Node]:
    """The items of maps that are assigned: they need not be there."""
    for node in everything(nodes):
        match node:
            case ir.Assign(target=ir.Item(of=of) as target) if isinstance(of.type, t.Map):
                yield target
            case _:
                pass
