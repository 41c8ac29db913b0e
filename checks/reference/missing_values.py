"""Operations without a value: a missing key, an empty list, a division by zero."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath
from typing import Any, TypeVar

from lawful.spec import ir
from lawful.spec.text.expressions import expr
from lawful.spec.values.text import repr_of

T = TypeVar("T")
PARTIAL = (KeyError, IndexError, ZeroDivisionError, ValueError)


class NoValue(Exception):
    """An operation without a value: what is wrong, and the node that has none.

    Its text, with the operation and its line, is made when it is read: a search reads few of many.
    """

    def __init__(self, what: str, at: ir.Expr | ir.Update) -> None:
        super().__init__(what, at)
        self.what = what
        self.at = at

    @classmethod
    def of(cls, error: Exception, at: ir.Expr | ir.Update) -> NoValue:
        """What Python raised at a node, in words."""
        if isinstance(error, KeyError):
            return cls(f"there is no item {repr_of(error.args[0])}", at)
        return cls(str(error).removeprefix("tuple "), at)

    def __str__(self) -> str:
        at, place = self.at, self.at.place
        where = f" in {PurePath(place.file).name}:{place.line}" if place.file else ""
        match at:
            case ir.Item(of=ir.Op(op="tuple", args=())):  # What `max(m, key=m.get)` stands for.
                return f"two keys have the greatest or least value{where}"
            case _:
                pass
        shown = _update_text(at) if isinstance(at, ir.Update) else expr(at)
        return f"{self.what}: {shown}{where}"


def _update_text(at: ir.Update) -> str:
    return f"{expr(at.target)}.{at.op}({', '.join(expr(arg) for arg in at.args)})"


def valued(at: ir.Expr | ir.Update, function: Callable[..., T], *args: Any) -> T:
    """The value of the function; raises NoValue at the node where it has none."""
    try:
        return function(*args)
    except PARTIAL as error:
        raise NoValue.of(error, at) from error
