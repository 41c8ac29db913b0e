"""`a ** 2`, `a << 1` and `a & 7`: an integer to a constant power, times or through a power of two,
and what is left of it then."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable

from ..errors import Place
from ..ops import CHEAP
from . import tree

MOST_FACTORS, MOST_BITS = 8, 64
TABLE = "make a table of the module, POWERS = (1, 2, 4, 8), and write POWERS[n]"
ONCE = "assign it to a local first: x = ...; then x ** 2"


def short(
    op: ast.operator, place: Place, left: tree.Expression, right: tree.Expression
) -> tree.Expression | None:
    """What a power or a shift stands for; None where that is not known, and of other operators."""
    read = READ.get(type(op))
    exponent = _written(right)
    return None if read is None or exponent is None else read(place, left, exponent)


def masked(place: Place, left: tree.Expression, mask: tree.Expression) -> tree.Expression | None:
    """`a & 7`, the lowest bits of an integer, as `a % 8`; None of another mask."""
    bits = _written(mask)
    if bits is None or bits & (bits + 1):
        return None
    return tree.Binary(place, "%", left, tree.Literal(place, bits + 1))


def rewrite(op: ast.operator, left: tree.Expression, right: tree.Expression) -> str | None:
    """What to write in place of a power or a shift that is none; None of other operators."""
    if type(op) not in READ:
        return None
    exponent = _written(right)
    if isinstance(op, ast.Pow) and exponent is not None and not is_plain(left):
        return ONCE
    if exponent is None:
        return f"only a number that is written out may stand here; {TABLE}"
    if not exponent:
        return "write 1"
    return f"write it in steps: x = a ** {MOST_FACTORS}; then x * x"


def _power(place: Place, left: tree.Expression, exponent: int) -> tree.Expression | None:
    base = _written(left)
    if base is not None and exponent <= MOST_BITS:
        return tree.Literal(place, base**exponent)
    if exponent == 1:
        return left
    if not (1 < exponent <= MOST_FACTORS and is_plain(left)):
        return None
    factors = [left] * exponent
    return functools.reduce(lambda a, b: tree.Binary(place, "*", a, b), factors)


def _up(place: Place, left: tree.Expression, bits: int) -> tree.Expression | None:
    base = _written(left)
    if base is not None and bits <= MOST_BITS:
        return tree.Literal(place, base << bits)
    if bits > MOST_BITS:
        return None
    return tree.Binary(place, "*", left, tree.Literal(place, 2**bits))


def _down(place: Place, left: tree.Expression, bits: int) -> tree.Expression | None:
    if bits > MOST_BITS:
        return None
    return tree.Binary(place, "//", left, tree.Literal(place, 2**bits))


Reader = Callable[[Place, tree.Expression, int], tree.Expression | None]
READ: dict[type[ast.operator], Reader] = {ast.Pow: _power, ast.LShift: _up, ast.RShift: _down}


def _written(node: tree.Expression) -> int | None:
    """The integer from 0 on that is written out here."""
    if isinstance(node, tree.Literal) and type(node.value) is int and node.value >= 0:
        return node.value
    return None


def is_plain(node: tree.Expression) -> bool:
    """Whether it may be evaluated several times: it calls nothing that may change anything."""
    return all(
        not isinstance(each, tree.Apply)
        or (isinstance(each.function, tree.Name) and each.function.name in CHEAP)
        for each in tree.nodes(node)
    )
