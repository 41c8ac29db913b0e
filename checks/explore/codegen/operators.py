"""The operators, by the names of `ops.TABLE`: a missing one is unsupported."""

from __future__ import annotations

from lawful.checks.explore.layout.layouts import Kind, Unsupported
from lawful.spec import ir

from . import collections, displays, integers, minmax
from .expressions import Expressions
from .text import Value

# What can be iterated and nothing else: where it is a value, it is a list of its elements.
ITERATED = frozenset(
    {
        "range",
        "keys",
        "values",
        "items",
        "enumerate",
        "zip",
        "reversed",
        "subsets",
    }
)
OPERATIONS = {
    **integers.OPERATIONS,
    **minmax.OPERATIONS,
    **collections.OPERATIONS,
    **displays.OPERATIONS,
}


def operation(f: Expressions, e: ir.Op, want: Kind | None, storing: bool) -> Value:
    """The value of an operation."""
    if e.op in ITERATED:
        return collections.listed(f, e)
    found = OPERATIONS.get(e.op)
    if found is None:
        raise Unsupported(f"{e.op} in a step")
    return found(f, e, want, storing)
