"""Partiality: which expressions may be undefined, and in how many ways a body may stop a step.

Where a body may stop in more than one way, the first one decides the outcome. A loop over an
unordered collection then visits it in the order of `spec.sorting`, so that the outcome depends only
on the collection's content.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .. import ir, ops
from .. import types as t
from .walk import everything

REFUSED, UNDEFINED, ASSERTS = "refused", "undefined", "asserts"


def may_be_undefined(node: ir.Node) -> bool:
    """Whether the node itself, its operands aside, may have no value, or may refuse the step."""
    match node:
        case ir.Item(of=ir.Expr(type=kind)):
            return not (isinstance(kind, t.Bag | t.Tuple) or _has_every_key(kind))
        case ir.Op(op=op):
            return op in ops.TABLE and ops.TABLE[op].partial
        case ir.Comp(kind="min" | "max") | ir.Needed() | ir.Call() | ir.Can():
            return True
        case _:
            return False


def _has_every_key(kind: t.Type) -> bool:
    """Whether a map has an item for every key that an expression can give.

    The value of an expression may be beyond the bounds of an `int`; serial numbers wrap.
    """
    if not isinstance(kind, t.Map) or not kind.total:
        return False
    return all(isinstance(k, t.Serial) or not isinstance(k, t.Int) for k in t.inside(kind.key))


def always_defined(*nodes: ir.Node, unsure: frozenset[str] = frozenset()) -> bool:
    """Whether evaluating all of this always gives values, and refuses nothing; the locals in
    `unsure` may have none."""
    return not any(
        may_be_undefined(node) or (isinstance(node, ir.Local) and node.name in unsure)
        for node in everything(nodes)
    )


def mixed(nodes: Iterable[ir.Node]) -> bool:
    """Whether these may stop a step in more than one way: refused, undefined, an assert."""
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
            case ir.Update(op=op) if op in ops.PARTIAL_UPDATES:
                yield UNDEFINED
            case _ if id(node) not in stored and may_be_undefined(node):
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
