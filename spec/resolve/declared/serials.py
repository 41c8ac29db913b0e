"""Serial numbers (RFC 1982) in bodies: which operations they have, and what to write instead of
others.

`a + n` and `a - n` with an integer wrap; `a - b` of two serial numbers is the distance from `b`
forward to `a`, an integer from 0 to 2**bits - 1. An integer becomes a serial number as a constant
in range, or when it is added to one; any other use of a serial number as an integer is refused.
"""

from __future__ import annotations

import dataclasses

from ... import ir
from ... import types as t
from ...errors import Place
from ..context import Body
from .literals import as_members

BEFORE = "write before(a, b); serial numbers go round, so that < says nothing of them"
INTEGER = "the distance from one serial number to another is an int: a - b"
SERIAL = "add it to a serial number: base + n; a constant in range stands where one is declared"


def declared(b: Body, found: ir.Expr, kind: t.Type) -> ir.Expr:
    """A constant as the declaration expects it there: an integer as a serial number, text as one
    of the texts of a `Literal`. What is neither stays as it is."""
    if t.contains(kind, t.Literal) and t.contains(found.type, t.Text):
        return as_members(b, found, kind)
    serial = next((o for o in t.options(kind) if isinstance(o, t.Serial)), None)
    if serial is None or not isinstance(found, ir.Const) or found.type != t.INT:
        return found
    if not 0 <= int(found.value or 0) < serial.modulus:
        b.problem(
            "L203",
            found.place,
            f"{found.value}, where {serial} stands",
            f"a number from 0 to {serial.modulus - 1}",
            SERIAL,
        )
        return b.wrong(found.place)
    return dataclasses.replace(found, type=serial)


def both(b: Body, left: ir.Expr, right: ir.Expr) -> tuple[ir.Expr, ir.Expr]:
    """Two sides of a comparison: a constant is of the other's type."""
    return declared(b, left, right.type), declared(b, right, left.type)


def modulus(place: Place, serial: t.Serial) -> ir.Const:
    """The last operand of every operation on serial numbers."""
    return ir.Const(place, t.INT, serial.modulus)


def arithmetic(b: Body, place: Place, op: str, sides: tuple[ir.Expr, ir.Expr]) -> ir.Expr | None:
    """An operation with a serial number on one side, or None where it is refused."""
    left, right = sides[0].type, sides[1].type
    match left, op, right:
        case (t.Serial(), "+" | "-", _) if _number(right):
            kind: t.Type = left
        case (_, "+", t.Serial()) if _number(left):
            kind = right
        case (t.Serial(), "-", t.Serial()) if left == right:
            kind = t.INT
        case _:
            expected = "a + n or a - n with an integer, a - b of two serial numbers of one width"
            b.problem("L203", place, f"{left} {op} {right}", expected, INTEGER)
            return None
    serial = left if isinstance(left, t.Serial) else right
    assert isinstance(serial, t.Serial)
    row = "serial_add" if op == "+" else "serial_sub"
    return ir.Op(place, kind, row, (*sides, modulus(place, serial)))


def _number(kind: t.Type) -> bool:
    return isinstance(kind, t.Int) and not isinstance(kind, t.Serial)
