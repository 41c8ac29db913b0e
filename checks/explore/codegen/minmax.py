"""Generated code of `min`, `max` and `first`: one value chosen of several."""

from __future__ import annotations

from lawful.spec import ir
from lawful.spec import types as t

from ..layout.layouts import (
    INTEGER,
    Layout,
    NotGenerated,
    Number,
    Product,
    Sum,
    hull,
    width,
)
from .codes import alike
from .conversions import to_layout
from .expressions import Expressions, Operation, TargetedOperation
from .loops import clauses, each, one
from .text import Target, Value

BETTER = {"min": "<", "max": ">", "first": ""}


class Best:
    """The best of some values so far: whether there is one, by name, and which one."""

    def __init__(self, f: Expressions, better: str) -> None:
        self.f = f
        self.better = better
        self.some, self.name = f.temporary(), f.temporary()
        self.value: Value | None = None
        f.line(f"{self.some} = 0")
        f.line(f"{self.name} = 0")

    def take(self, value: Value) -> None:
        """Take one more value; it is the best if it is the first, or better than the best so
        far."""
        f = self.f
        layout = value.layout
        if self.value and isinstance(layout, Number) and isinstance(self.value.layout, Number):
            layout = hull(layout, self.value.layout)
        if value.single or not width(layout):
            self.value = Value(layout, self.name)
            with f.block(self._test(f"{value.text} {self.better} {self.name}")):
                f.line(f"{self.name} = {value.text} + 0")
        else:
            self.value = self.value or Value(layout, f.region(layout))
            order = f"{compared(f, value, self.value)} {self.better} 0" if self.better else ""
            place = f.placed(value)
            with f.block(self._test(order)):
                f.move(self.value.text, place, width(layout))
        f.line(f"{self.some} = 1")

    def _test(self, better: str) -> str:
        more = f" or {better}" if self.better else ""
        return f"if {self.some} == 0{more}:"

    def given(self) -> Value:
        """The best value, known to be there."""
        assert self.value is not None
        return self.value


def compared(f: Expressions, a: Value, b: Value) -> str:
    """How two tuples compare, the first difference deciding: below, at or above 0."""
    if not (isinstance(a.layout, Product) and alike(a.layout, b.layout)):
        raise NotGenerated("an order of collections")
    return f"ordered(w, {f.placed(a)}, {f.placed(b)}, {width(a.layout)})"


def of_comprehension(f: Expressions, e: ir.Comp) -> Best:
    """The best of a comprehension's elements."""
    best = Best(f, BETTER[e.kind])
    with clauses(f, e.clauses, "" if best.better else best.some):
        best.take(f.value(e.element))
        if not best.better:
            f.line("break")
    return best


def extreme(f: Expressions, e: ir.Comp) -> Value:
    """`min` or `max` of a comprehension; undefined without elements."""
    best = of_comprehension(f, e)
    f.fail_if(f"{best.some} == 0")
    return best.given()


def _of_arguments(word: str) -> Operation:
    def made(f: Expressions, e: ir.Op) -> Value:
        values = [f.value(arg) for arg in e.args]
        best = Best(f, BETTER[word])
        for value in values:
            best.take(value)
        return best.given()

    return made


def _or_default(word: str) -> TargetedOperation:
    def made(f: Expressions, e: ir.Op, to: Target) -> Value:
        over, default = e.args
        if isinstance(over, ir.Comp) and over.kind == "first":
            best = of_comprehension(f, over)
        else:
            best = Best(f, BETTER[word])
            with each(f, over) as items:
                best.take(one(f, items))
                if not best.better:
                    f.line("break")
        return _else(
            f, best, f.value(default, Target(to.layout)), _result(f, e, best.given(), to.layout)
        )

    return made


def _result(f: Expressions, e: ir.Op, best: Value, want: Layout | None) -> Layout:
    if isinstance(best.layout, Number) and isinstance(e.type, t.Int):
        return INTEGER
    if isinstance(e.type, t.Union) and not _has_all(best.layout, e.type):
        return want if isinstance(want, Sum) else f.layout_of(e.type)
    return best.layout


def _has_all(layout: Layout, kind: t.Union) -> bool:
    """Whether the layout has the alternatives of a union, None included."""
    return isinstance(layout, Sum) and len(layout.options) == len(kind.options)


def _else(f: Expressions, best: Best, default: Value, layout: Layout) -> Value:
    at = f.region(layout)
    with f.block(f"if {best.some}:"):
        f.store(at, to_layout(f, best.given(), layout))
    with f.block("else:"):
        f.store(at, to_layout(f, default, layout))
    return f.load(layout, at)


OPERATIONS: dict[str, Operation] = {
    "min": _of_arguments("min"),
    "max": _of_arguments("max"),
}
TARGETED: dict[str, TargetedOperation] = {
    "min_or": _or_default("min"),
    "max_or": _or_default("max"),
    "first_or": _or_default("first"),
}
