"""Whether a collection without a bound has an element: its length has no encoding, but this has."""

from __future__ import annotations

from collections.abc import Mapping

from lawful.spec import ir
from lawful.spec import types as t

from ..algebra.term import Term
from .iteration import elements
from .symbolic import Elements, Value
from .trail import Trail

# What a comparison of a length with a number asks: whether there is some element, or none.
ASKED: Mapping[tuple[str, int], bool] = {
    ("gt", 0): True,
    ("ge", 1): True,
    ("ne", 0): True,
    ("eq", 0): False,
    ("le", 0): False,
    ("lt", 1): False,
}
TURNED = {"gt": "lt", "ge": "le", "lt": "gt", "le": "ge", "ne": "ne", "eq": "eq"}


def asked(e: ir.Op) -> tuple[ir.Op, bool] | None:
    """The length in a question whether a collection is empty, and whether it asks for elements."""
    if e.op not in TURNED:
        return None
    of, than, op = *e.args, e.op
    if isinstance(of, ir.Const):
        of, than, op = than, of, TURNED[op]
    if not (isinstance(of, ir.Op) and of.op == "len" and isinstance(than, ir.Const)):
        return None
    some = ASKED.get((op, int(than.value or 0))) if isinstance(than.type, t.Int) else None
    return None if some is None else (of, some)


def some_element(run: Trail, length: ir.Op, value: Value) -> Term | None:
    """The condition that a collection without a bound has an element; None where its length has an
    encoding."""
    kind = length.args[0].type
    if isinstance(kind, t.Set) and not isinstance(value, Elements):
        return None
    many = elements(run, value, kind, length)
    if many.listed:
        return None
    return run.logic.any(run.logic.exists(row.names, row.when) for row in many.rows)
