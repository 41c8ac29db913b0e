"""Generated code of the operators: every operator of `ops.TABLE` has a row in one of the tables."""

from __future__ import annotations

from lawful.spec import ir

from ..layout.layouts import NotGenerated
from . import collections, displays, integers, loops, minmax
from .expressions import Expressions, Operation, TargetedOperation
from .text import Target, Value

OPERATIONS: dict[str, Operation] = {
    **integers.OPERATIONS,
    **minmax.OPERATIONS,
    **collections.OPERATIONS,
    # Where the value itself is asked for, it is a list of the elements.
    **dict.fromkeys(loops.ITERATIONS, collections.listed),
}
TARGETED: dict[str, TargetedOperation] = {
    **minmax.TARGETED,
    **collections.TARGETED,
    **displays.TARGETED,
}
# Operators that have no generated code, each with the reason: the reference engine has to explore
# the machines that use them.
REFUSED: dict[str, str] = {}


def operation(f: Expressions, e: ir.Op, to: Target) -> Value:
    """The value of an operation; NotGenerated, with the reason, for what is `REFUSED`.

    KeyError for an operator without a row: a new operator is not left to the slow engine silently.
    """
    if e.op in REFUSED:
        raise NotGenerated(f"the operator {e.op}: {REFUSED[e.op]}")
    write = OPERATIONS.get(e.op)
    return write(f, e) if write is not None else TARGETED[e.op](f, e, to)
