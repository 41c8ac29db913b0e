"""Ordered sorts in the reference engine: ranks among the elements there are."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.ranks import order_of, ring

Elements = Callable[[t.Type], tuple[Any, ...]]
Order = Callable[[Any], Any]
COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}
CHOSEN: dict[str, Callable[..., Any]] = {"min": min, "max": max, "min_of": min, "max_of": max}
STEPS = {"successor": 1, "predecessor": -1}


def ranked(e: ir.Op, elements: Elements) -> Callable[..., Any] | None:
    """The function of an operator that asks for ranks; None for all others."""
    first = e.args[0].type if e.args else t.NOTHING
    if e.op == "rank" or e.op in STEPS:
        return functools.partial(_on_ring, elements, first, STEPS.get(e.op))
    kind = t.element(first) if e.op in ("min_of", "max_of", "sorted") else first
    if kind is None or not t.by_rank(kind):
        return None
    if e.op in COMPARED:
        return functools.partial(_compared, COMPARED[e.op], order_of(kind, elements))
    if e.op == "sorted":
        return functools.partial(_sorted, order_of(kind, elements))
    if e.op in CHOSEN:
        return functools.partial(_least, CHOSEN[e.op], order_of(kind, elements))
    return None


def _on_ring(elements: Elements, sort: t.Type, step: int | None, value: Any) -> Any:
    return ring(elements(sort), value, step)


def _compared(compare: Callable[[Any, Any], bool], order: Order, a: Any, b: Any) -> bool:
    return compare(order(a), order(b))


def _sorted(order: Order, values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(sorted(values, key=order))


def _least(choose: Callable[..., Any], order: Order, *values: Any) -> Any:
    return choose(*values, key=order)


def folded(e: ir.Comp, fold: Callable[..., Any], elements: Elements) -> Callable[..., Any]:
    """`min` or `max` of a comprehension's elements by their ranks, where they have any."""
    if e.kind in ("min", "max") and t.by_rank(e.element.type):
        return functools.partial(fold, key=order_of(e.element.type, elements))
    return fold
