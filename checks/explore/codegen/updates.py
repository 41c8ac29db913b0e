"""Generated code of what changes a container or timer where it stands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lawful.checks.explore.layout.layouts import (
    MOST_BITS,
    Heap,
    Index,
    Row,
    Subset,
    Table,
    elements,
    stride,
    width,
    words,
)
from lawful.spec import ir
from lawful.spec import types as t

from .body import Body, into
from .codes import alike, code
from .collections import extend, listed, merge
from .conversions import to_kind
from .loops import append, put_in
from .text import Target, plus


def update(f: Body, s: ir.Update) -> None:
    """One update of a container or timer."""
    if isinstance(s.target.type, t.Timer):
        _timer(f, s)
        return
    kind, at = f.place(s.target)
    UPDATES[type(kind)](f, s, kind, at)
    if isinstance(s.target, ir.Local) and f.env[s.target.name].single:
        f.line(f"{f.env[s.target.name].text} = w[{at}]")


def _timer(f: Body, s: ir.Update) -> None:
    for arg in s.args:
        f.value(arg)
    kind, at = f.place(s.target)
    assert isinstance(kind, Index)
    f.line(f"w[{at}] = {int(s.op == 'start')}")


def _subset(f: Body, s: ir.Update, kind: Any, at: str) -> None:
    storing = f.stores(s.target)
    if s.op == "clear":
        f.blank(at, width(kind))
    elif s.op == "update":
        more = to_kind(f, f.value(s.args[0], Target(kind, storing)), kind)
        for i in range(width(kind)):
            word = more.text if more.single else f"w[{plus(more.text, i)}]"
            f.line(f"w[{plus(at, i)}] |= {word}")
    else:
        number = f.code_in(s.args[0], kind.item)
        if s.op == "add":
            put_in(f, at, kind, number, storing)
            return
        f.looked_at(kind)
        one = words(elements(kind.item)) == 1
        word = f"w[{at}]" if one else f"w[{at} + {number} // {MOST_BITS}]"
        shift = number if one else f"{number} % {MOST_BITS}"
        if s.op == "remove":
            f.fail_if(f"{number} < 0")
            f.fail_if(f"{word} >> ({shift}) & 1 == 0")
            f.line(f"{word} ^= 1 << ({shift})")
        else:
            f.line(f"if {number} >= 0: {word} &= ~(1 << ({shift}))")


def _row(f: Body, s: ir.Update, kind: Any, at: str) -> None:
    size = width(kind.item)
    storing = f.stores(s.target)
    match s.op:
        case "clear":
            f.blank(at, width(kind))
        case "append":
            append(f, at, kind, f.into(s.args[0], kind.item, storing))
        case "extend":
            extend(f, at, kind, f.own(listed(f, s.args[0], kind)))
        case "insert":
            index = f.integer(s.args[0])
            value = f.into(s.args[1], kind.item, storing)
            length = f.hold(f"w[{at}]")
            f.escape_if(f"{length} >= {kind.room}")
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
            taken = f.own(f.load(kind.item, place))
            f.line(f"take_out(w, {at}, {size}, {index})")
            into(f, s.into, taken)
        case _:  # remove
            item = f.placed(f.into(s.args[0], kind.item))
            index = f.hold(f"in_row(w, {at}, {size}, {item})")
            f.fail_if(f"{index} < 0")
            f.line(f"take_out(w, {at}, {size}, {index})")


def _table(f: Body, s: ir.Update, kind: Any, at: str) -> None:
    match s.op:
        case "clear":
            f.blank(at, width(kind))
        case "update":
            merge(f, at, kind, s.args[0], f.stores(s.target))
        case _:  # pop, delete
            f.looked_at(kind)
            number = f.code_in(s.args[0], kind.key)
            other = None if len(s.args) < 2 else f.own(f.value(s.args[1]))
            place = f.hold(f"{at} + {number} * {stride(kind)}")
            if other is None:
                f.fail_if(f"{number} < 0")
                f.fail_if(f"w[{place}] == 0")
                taken = f.own(f.load(kind.value, plus(place, 1)))
                f.blank(place, stride(kind))
                into(f, s.into, taken)
                return
            made = other.kind if not alike(kind.value, other.kind) else kind.value
            got = f.region(made)
            f.store(got, to_kind(f, other, made))
            with f.block(f"if {number} >= 0 and w[{place}] != 0:"):
                f.store(got, to_kind(f, f.load(kind.value, plus(place, 1)), made))
                f.blank(place, stride(kind))
            into(f, s.into, f.load(made, got))


def _heap(f: Body, s: ir.Update, kind: Any, at: str) -> None:
    if s.op == "clear":
        f.blank(at, width(kind))
        return
    f.looked_at(kind)
    number = code(f, f.into(s.args[0], kind.item))
    f.fail_if(f"{number} < 0")
    f.fail_if(f"count_of(w, {at}, {number}) == 0")
    f.passing(f"put_count(w, {at}, {kind.room}, {number}, 0)")


UPDATES: dict[type, Callable[[Body, ir.Update, Any, str], None]] = {
    Subset: _subset,
    Row: _row,
    Table: _table,
    Heap: _heap,
}
