"""Order of values in the reference engine; elements of an ordered sort compare by their ranks."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Iterable
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.values.ranks import order_of, ring

Elements = Callable[[t.Type], tuple[Any, ...]]
Known = Callable[[t.Type], tuple[Any, ...] | None]
Order = Callable[[Any], Any]
COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
CHOSEN: dict[str, Callable[..., Any]] = {"min": min, "max": max, "min_of": min, "max_of": max}
OR_DEFAULT: dict[str, Callable[..., Any]] = {"min_or": min, "max_or": max}
STEPS = {"successor": 1, "predecessor": -1}


def ranked(e: ir.Op, elements: Elements, known: Known) -> Callable[..., Any] | None:
    """The function of an operator that compares by rank; None for all others.

    `known` may give None: what is only compared goes by text then.
    """
    first = e.args[0].type if e.args else t.NOTHING
    if e.op == "rank" or e.op in STEPS:
        return functools.partial(_on_ring, elements, first, STEPS.get(e.op))
    kind = first if e.op in ("min", "max") or e.op in COMPARED else t.element(first)
    if kind is None or not t.by_rank(kind):
        return None
    if e.op in COMPARED:
        return functools.partial(_compared, COMPARED[e.op], order_of(kind, known))
    if e.op == "sorted":
        return functools.partial(_sorted, order_of(kind, known))
    if e.op in OR_DEFAULT:
        return functools.partial(_or_default, OR_DEFAULT[e.op], order_of(kind, known))
    if e.op in CHOSEN:
        return functools.partial(_least, CHOSEN[e.op], order_of(kind, known))
    return None


def _on_ring(elements: Elements, sort: t.Type, step: int | None, value: Any) -> Any:
    return ring(elements(sort), value, step)


def _compared(compare: Callable[[Any, Any], bool], order: Order, a: Any, b: Any) -> bool:
    return compare(order(a), order(b))


def _sorted(order: Order, values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(sorted(values, key=order))


def _or_default(
    choose: Callable[..., Any], order: Order, values: Iterable[Any], default: Any
) -> Any:
    return choose(values, key=order, default=default)


def _least(choose: Callable[..., Any], order: Order, *values: Any) -> Any:
    return choose(*values, key=order)


def first(items: Iterable[Any]) -> tuple[Any, ...]:
    """At most the first item; the others are not evaluated."""
    return tuple(itertools.islice(items, 1))


def folded(e: ir.Comp, fold: Callable[..., Any], known: Known) -> Callable[..., Any]:
    """`min` or `max` of a comprehension's elements by their ranks, where they have any."""
    if e.kind in ("min", "max") and t.by_rank(e.element.type):
        return functools.partial(fold, key=order_of(e.element.type, known))
    return fold
