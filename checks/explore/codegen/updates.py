"""Generated code of updates: methods that change a container or a timer in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t

from ..layout.layouts import Layout, ListLayout, Maps, Sets, SparseSet, spare_at, width
from .body import Body, into
from .codes import alike
from .collections import extend, listed, merge
from .contents import behind, drop, looked_up, members, put_in, take_from
from .conversions import of_nothing, to_layout
from .loops import append
from .text import Target, Value, plus
from .time import start_timer, stop_timer

FEW = 32  # Cells of a row that are moved all at once.


def update(f: Body, s: ir.Update) -> None:
    """Generate one update of a container or timer."""
    f.writes(_written(s))
    layout, at = f.place(s.target)
    UPDATES[type(s.target.type).__name__, s.op](f, s, layout, at)
    if isinstance(s.target, ir.Local) and f.env[s.target.name].single:
        f.line(f"{f.env[s.target.name].text} = w[{at}]")


def _written(s: ir.Update) -> ir.Expr:
    """The place that an update may change: of a map that loses a key, the entry of that key."""
    if isinstance(s.target.type, t.Map) and s.op in ("pop", "delete"):
        return ir.Item(s.place, s.target.type.value, s.target, s.args[0])
    return s.target


def _clear(f: Body, _s: ir.Update, layout: Layout, at: str) -> None:
    f.blank(at, width(layout))


# Sets.


def _add(f: Body, s: ir.Update, layout: Sets, at: str) -> None:
    put_in(f, at, layout, f.into(s.args[0], layout.item))


def _unite(f: Body, s: ir.Update, layout: Sets, at: str) -> None:
    more = to_layout(f, f.value(s.args[0], Target(layout)), layout)
    if isinstance(layout, SparseSet):
        _put_all(f, at, layout, more)
        return
    for i in range(spare_at(layout)):
        word = more.text if more.single else f"w[{plus(more.text, i)}]"
        f.line(f"w[{plus(at, i)}] |= {word}")
    here, away = behind(layout, at), behind(layout, more.text)
    if here is not None and away is not None:
        with f.block(f"if w[{away[1]}] != 0:"):
            _put_all(f, here[1], here[0], Value(*away))


def _put_all(f: Body, at: str, layout: Sets, more: Value) -> None:
    with members(f, more) as each:
        put_in(f, at, layout, each)


def _discard(f: Body, s: ir.Update, layout: Sets, at: str) -> None:
    item = f.into(s.args[0], layout.item)
    take_from(f, at, layout, item)


def _remove(f: Body, s: ir.Update, layout: Sets, at: str) -> None:
    item = f.into(s.args[0], layout.item)
    f.fail_if(f"not {take_from(f, at, layout, item)}")


# Lists.


def _append(f: Body, s: ir.Update, layout: ListLayout, at: str) -> None:
    append(f, at, layout, f.into(s.args[0], layout.item))


def _extend(f: Body, s: ir.Update, layout: ListLayout, at: str) -> None:
    extend(f, at, layout, f.own(listed(f, s.args[0], layout)))


def _insert(f: Body, s: ir.Update, layout: ListLayout, at: str) -> None:
    size = width(layout.item)
    index = f.integer(s.args[0])
    value = f.into(s.args[1], layout.item)
    length = f.hold(f"w[{at}]")
    f.escape_if(f"{length} >= {layout.room}")
    up = f.hold(f"{index} if {index} >= 0 else {index} + {length}")
    place = f.hold(f"max(0, min({up}, {length}))")
    if size:
        f.line(f"make_place(w, {at}, {size}, {place})")
    else:
        f.line(f"w[{at}] += 1")
    f.store(f.hold(f"{plus(at, 1)} + {place} * {size}"), value)


def _pop(f: Body, s: ir.Update, layout: ListLayout, at: str) -> None:
    size = width(layout.item)
    index = f.row_index(at, s.args[0]) if s.args else ""
    if not s.args:
        f.fail_if(f"w[{at}] == 0")
        index = f.hold(f"w[{at}] - 1")
    place = f.hold(f"{plus(at, 1)} + {index} * {size}")
    taken = f.own(f.load(layout.item, place))
    if s.args and _is_zero(s.args[0]) and layout.room * size <= FEW:
        f.line(f"take_first(w, {at}, {layout.room * size}, {size})")
    else:
        f.line(f"take_out(w, {at}, {size}, {index})")
    into(f, s.into, taken)


def _is_zero(e: ir.Expr) -> bool:
    return isinstance(e, ir.Const) and e.value == 0


def _remove_item(f: Body, s: ir.Update, layout: ListLayout, at: str) -> None:
    size = width(layout.item)
    item = f.placed(f.into(s.args[0], layout.item))
    index = f.hold(f"in_row(w, {at}, {size}, {size}, {item})")
    f.fail_if(f"{index} < 0")
    f.line(f"take_out(w, {at}, {size}, {index})")


# Maps.


def _merge(f: Body, s: ir.Update, layout: Maps, at: str) -> None:
    merge(f, at, layout, s.args[0])


def _pop_key(f: Body, s: ir.Update, layout: Maps, at: str) -> None:
    key = f.into(s.args[0], layout.key)
    other = None if len(s.args) < 2 else f.own(f.value(s.args[1]))
    place, there = looked_up(f, at, layout, key)
    if other is None:
        f.fail_if(f"not ({there})")
        taken = f.own(f.load(layout.value, place))
        drop(f, at, layout, place)
        into(f, s.into, taken)
        return
    kept = alike(layout.value, other.layout) or of_nothing(other.layout)
    made = layout.value if kept else other.layout
    got = f.region(made)
    f.store(got, to_layout(f, other, made))
    with f.block(f"if {there}:"):
        f.store(got, to_layout(f, f.load(layout.value, place), made))
        drop(f, at, layout, place)
    into(f, s.into, f.load(made, got))


# By container and operator; each takes the layout of the container and where it begins.
UPDATES: dict[tuple[str, str], Callable[[Body, ir.Update, Any, str], None]] = {
    ("Set", "add"): _add,
    ("Set", "discard"): _discard,
    ("Set", "remove"): _remove,
    ("Set", "update"): _unite,
    ("Set", "clear"): _clear,
    ("Seq", "append"): _append,
    ("Seq", "extend"): _extend,
    ("Seq", "insert"): _insert,
    ("Seq", "pop"): _pop,
    ("Seq", "remove"): _remove_item,
    ("Seq", "clear"): _clear,
    ("Map", "pop"): _pop_key,
    ("Map", "delete"): _pop_key,
    ("Map", "update"): _merge,
    ("Map", "clear"): _clear,
    ("Bag", "clear"): _clear,
    ("Timer", "start"): start_timer,
    ("Timer", "stop"): stop_timer,
}
