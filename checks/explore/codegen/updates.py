"""Generated code of updates: methods that change a container or a timer in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t

from ..layout.layouts import (
    MOST_BITS,
    BagLayout,
    Index,
    ListLayout,
    MapLayout,
    SetLayout,
    elements,
    stride,
    width,
    words,
)
from .body import Body, into
from .codes import alike, code
from .collections import extend, listed, merge
from .conversions import to_layout
from .loops import append, put_in
from .text import Target, plus


def update(f: Body, s: ir.Update) -> None:
    """One update of a container or timer."""
    if isinstance(s.target.type, t.Timer):
        _timer(f, s)
        return
    layout, at = f.place(s.target)
    UPDATES[type(layout)](f, s, layout, at)
    if isinstance(s.target, ir.Local) and f.env[s.target.name].single:
        f.line(f"{f.env[s.target.name].text} = w[{at}]")


def _timer(f: Body, s: ir.Update) -> None:
    for arg in s.args:
        f.value(arg)
    layout, at = f.place(s.target)
    assert isinstance(layout, Index)
    f.line(f"w[{at}] = {int(s.op == 'start')}")


def _subset(f: Body, s: ir.Update, layout: Any, at: str) -> None:
    storing = f.stores(s.target)
    if s.op == "clear":
        f.blank(at, width(layout))
    elif s.op == "update":
        more = to_layout(f, f.value(s.args[0], Target(layout, storing)), layout)
        for i in range(width(layout)):
            word = more.text if more.single else f"w[{plus(more.text, i)}]"
            f.line(f"w[{plus(at, i)}] |= {word}")
    else:
        number = f.code_in(s.args[0], layout.item)
        if s.op == "add":
            put_in(f, at, layout, number, storing)
            return
        f.looked_at(layout)
        one = words(elements(layout.item)) == 1
        word = f"w[{at}]" if one else f"w[{at} + {number} // {MOST_BITS}]"
        shift = number if one else f"{number} % {MOST_BITS}"
        if s.op == "remove":
            f.fail_if(f"{number} < 0")
            f.fail_if(f"{word} >> ({shift}) & 1 == 0")
            f.line(f"{word} ^= 1 << ({shift})")
        else:
            f.line(f"if {number} >= 0: {word} &= ~(1 << ({shift}))")


def _row(f: Body, s: ir.Update, layout: Any, at: str) -> None:
    size = width(layout.item)
    storing = f.stores(s.target)
    match s.op:
        case "clear":
            f.blank(at, width(layout))
        case "append":
            append(f, at, layout, f.into(s.args[0], layout.item, storing))
        case "extend":
            extend(f, at, layout, f.own(listed(f, s.args[0], layout)))
        case "insert":
            index = f.integer(s.args[0])
            value = f.into(s.args[1], layout.item, storing)
            length = f.hold(f"w[{at}]")
            f.escape_if(f"{length} >= {layout.room}")
            up = f.hold(f"{index} if {index} >= 0 else {index} + {length}")
            place = f.hold(f"max(0, min({up}, {length}))")
            if size:
                f.line(f"make_place(w, {at}, {size}, {place})")
            else:
                f.line(f"w[{at}] += 1")
            f.store(f.hold(f"{plus(at, 1)} + {place} * {size}"), value)
        case "pop":
            index = f.row_index(at, s.args[0]) if s.args else ""
            if not s.args:
                f.fail_if(f"w[{at}] == 0")
                index = f.hold(f"w[{at}] - 1")
            place = f.hold(f"{plus(at, 1)} + {index} * {size}")
            taken = f.own(f.load(layout.item, place))
            f.line(f"take_out(w, {at}, {size}, {index})")
            into(f, s.into, taken)
        case _:  # remove
            item = f.placed(f.into(s.args[0], layout.item))
            index = f.hold(f"in_row(w, {at}, {size}, {item})")
            f.fail_if(f"{index} < 0")
            f.line(f"take_out(w, {at}, {size}, {index})")


def _table(f: Body, s: ir.Update, layout: Any, at: str) -> None:
    match s.op:
        case "clear":
            f.blank(at, width(layout))
        case "update":
            merge(f, at, layout, s.args[0], f.stores(s.target))
        case _:  # pop, delete
            f.looked_at(layout)
            number = f.code_in(s.args[0], layout.key)
            other = None if len(s.args) < 2 else f.own(f.value(s.args[1]))
            place = f.hold(f"{at} + {number} * {stride(layout)}")
            if other is None:
                f.fail_if(f"{number} < 0")
                f.fail_if(f"w[{place}] == 0")
                taken = f.own(f.load(layout.value, plus(place, 1)))
                f.blank(place, stride(layout))
                into(f, s.into, taken)
                return
            made = other.layout if not alike(layout.value, other.layout) else layout.value
            got = f.region(made)
            f.store(got, to_layout(f, other, made))
            with f.block(f"if {number} >= 0 and w[{place}] != 0:"):
                f.store(got, to_layout(f, f.load(layout.value, plus(place, 1)), made))
                f.blank(place, stride(layout))
            into(f, s.into, f.load(made, got))


def _heap(f: Body, s: ir.Update, layout: Any, at: str) -> None:
    if s.op == "clear":
        f.blank(at, width(layout))
        return
    f.looked_at(layout)
    number = code(f, f.into(s.args[0], layout.item))
    f.fail_if(f"{number} < 0")
    f.fail_if(f"count_of(w, {at}, {number}) == 0")
    f.passing(f"put_count(w, {at}, {layout.room}, {number}, 0)")


UPDATES: dict[type, Callable[[Body, ir.Update, Any, str], None]] = {
    SetLayout: _subset,
    ListLayout: _row,
    MapLayout: _table,
    BagLayout: _heap,
}
