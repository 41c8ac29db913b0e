"""Other values of the type of an expression, which a mutant computes in its place."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from lawful.spec import ir, ops
from lawful.spec import types as t


def variants(value: ir.Expr) -> Iterator[ir.Expr]:
    """Values near this one: the opposite, one more, the next member, None, without an element.

    Constants of numbers, truth and enums have `near`; it is asked for wherever they stand.
    """
    match value:
        case ir.Const():
            pass
        case ir.Expr(type=t.Bool()):
            yield negated(value)
        case ir.Expr(type=t.Int()):
            yield one_more(value)
        case ir.Op(op=op, args=args, type=t.Set() | t.Seq()) if op in ops.DISPLAYS and args:
            for i in range(len(args)):
                yield dataclasses.replace(value, args=args[:i] + args[i + 1 :])
        case ir.Op(op=op, args=(inner,), type=t.Set() | t.Seq()) if op in ops.COPIES:
            for other in variants(inner):
                yield dataclasses.replace(value, args=(other,))
        case ir.Expr(type=t.Set() | t.Seq() as type) if not _is_display(value):
            yield _empty(value, type)
        case _:
            pass


def none_in(place: t.Type, value: ir.Expr) -> Iterator[ir.Expr]:
    """None, if the place may hold it and the value is something else."""
    if t.NOTHING in t.options(place) and value.type != t.NOTHING:
        yield ir.Const(value.place, t.NOTHING, None)


def near(constant: ir.Const) -> Iterator[ir.Const]:
    """The constants beside this one: a number more and a number less, the other truth, the next
    member of the enum."""
    kind, value = constant.type, constant.value
    match kind:
        case t.Bool():
            yield dataclasses.replace(constant, value=not value)
        case t.Enum(members=members) if len(members) > 1:
            after = members[(members.index(str(value)) + 1) % len(members)]
            yield dataclasses.replace(constant, value=after)
        case t.Int() if isinstance(value, int):
            yield dataclasses.replace(constant, value=value + 1)
            if value != 0:
                yield dataclasses.replace(constant, value=value - 1)
        case _:
            pass


def negated(test: ir.Expr) -> ir.Expr:
    """`not test`; the inner one of a negation."""
    match test:
        case ir.Op(op="not", args=(inner,)):
            return inner
        case _:
            return ir.Op(test.place, t.BOOL, "not", (test,))


def one_more(value: ir.Expr) -> ir.Expr:
    """The number after this one."""
    one = ir.Const(value.place, t.INT, 1)
    if isinstance(value.type, t.Serial):
        modulus = ir.Const(value.place, t.INT, value.type.modulus)
        return ir.Op(value.place, value.type, "serial_add", (value, one, modulus))
    return ir.Op(value.place, t.INT, "add", (value, one))


def _is_display(value: ir.Expr) -> bool:
    return isinstance(value, ir.Op) and value.op in ops.DISPLAYS


def _empty(value: ir.Expr, type: t.Set | t.Seq) -> ir.Expr:
    op = "set" if isinstance(type, t.Set) else "list" if type.mutable else "tuple"
    return ir.Op(value.place, value.type, op, ())
