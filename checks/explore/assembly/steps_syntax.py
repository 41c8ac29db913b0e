"""What the text of steps tells by its syntax alone, before it becomes machine code."""

from __future__ import annotations

import ast
from collections.abc import Iterable

# No number of 64 bits is outside of these. Steps ask for the sake of Python, which has longer ones.
ENDS = -(1 << 63), (1 << 63) - 1


def assigned(body: Iterable[ast.stmt]) -> set[str]:
    """The locals that some of these statements, or statements in them, assign."""
    found: set[str] = set()
    targets: list[ast.expr] = []
    waiting = [*body]
    while waiting:
        match waiting.pop():
            case ast.Assign(targets=several):
                targets += several
            case ast.AugAssign(target=target):
                targets.append(target)
            case ast.For(target=target, body=inside):
                targets.append(target)
                waiting += inside
            case ast.If(body=inside, orelse=otherwise) | ast.While(body=inside, orelse=otherwise):
                waiting += inside
                waiting += otherwise
            case _:
                pass
    while targets:
        match targets.pop():
            case ast.Name(id=name):
                found.add(name)
            case ast.Tuple(elts=several):
                targets += several
            case _:
                pass
    return found


def certain(test: ast.expr) -> bool | None:
    """What a test is for every number of 64 bits; None where it depends on the number."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            found = certain(operand)
            return None if found is None else not found
        case ast.Compare(
            left=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(low))),
            ops=[ast.LtE(), ast.LtE()],
            comparators=[ast.Name(), ast.Constant(value=int(high))],
        ):
            return True if (-low, high) == ENDS else None
        case _:
            return None


def is_bit(test: ast.expr) -> bool:
    """Whether it is a truth value, whatever it is made of."""
    match test:
        case ast.Compare() | ast.UnaryOp(op=ast.Not()) | ast.Constant(value=bool()):
            return True
        case ast.BoolOp(values=values):
            return all(map(is_bit, values))
        case _:
            return False
