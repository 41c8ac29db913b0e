"""The codec of a machine: the layouts of its fields, and values to cells and back, in Python."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.walk import everything
from lawful.spec.flat import Flat
from lawful.spec.values.bounds import Values
from lawful.spec.values.time import counted_by
from lawful.spec.values.world import World, chosen, decode

from .argument_ranges import range_of
from .decoding import Read, reader
from .forms import Form, of_bag, of_map, of_set, tight
from .layouts import (
    MOST_BITS,
    BagLayout,
    Crowded,
    Dense,
    Index,
    Layout,
    ListLayout,
    MachineLayout,
    MapLayout,
    NotGenerated,
    Number,
    Product,
    SetLayout,
    SparseMap,
    SparseSet,
    Sum,
    blank,
    inner,
    offsets,
    spare,
    spare_at,
    stride,
    width,
)
from .numbering import OUTSIDE, code, uncode
from .timer_lengths import last_tick, most_ticks

SLACK = 8  # Items that a list may have beyond the scope's bound in the middle of a step,
LEAST_SLACK = 2  # and those that it may where they take many cells, or in a bag.
SLACK_CELLS = 24


class Codec:
    """The layouts of a machine's fields within a scope, and their values as cells."""

    def __init__(self, flat: Flat, world: World, form: Form) -> None:
        self.flat = flat
        self.form = form
        self.world = world
        self.values = Values(world, dict(flat.sizes), world.elements(flat.elements))
        self.machines = {m.name: m for m in (flat.machine, *flat.machine.parts)}
        self.scoped = {(m, v): kind for m, v, kind in flat.fields}
        self.tried = dict(flat.parameters)
        self.counting = counted_by(flat.machine) is not None
        self._wholes: dict[str, MachineLayout] = {}
        self._fields: dict[str, dict[str, tuple[Layout, int]]] = {}
        self._indices: dict[t.Type, dict[Any, int]] = {}
        # By identity, since a layout is large; it is kept so that no other object gets its number.
        self._coded: dict[int, tuple[Layout, dict[int, Any]]] = {}
        self._readers: dict[int, tuple[Layout, Read]] = {}
        self.records = self._records()

    def _records(self) -> dict[str, Layout]:
        """The layout of each record within the scope, where one was met."""
        found: dict[str, Layout] = {}
        plans = [p for r in (*self.flat.rules, *self.flat.initials) for p in r.plans]
        for kind in (*(k for _, _, k in self.flat.fields), *(p.type for p in plans)):
            self._gather(kind, found)
        return found

    def _gather(self, kind: t.Type, found: dict[str, Layout]) -> None:
        match kind:
            case t.Record(name=name, fields=fields):
                declared = next(k for k in self.flat.machine.types if str(k) == name)
                found[name] = self.layout(declared, kind)
                inside: Iterable[t.Type] = (of for _, of in fields)
            case t.Tuple(items=items) | t.Union(options=items):
                inside = items
            case t.Set(item=item) | t.Seq(item=item) | t.Bag(item=item):
                inside = (item,)
            case t.Map(key=key, value=value):
                inside = (key, value)
            case _:
                inside = ()
        for each in inside:
            self._gather(each, found)

    @functools.cached_property
    def numbers(self) -> tuple[int, int]:
        """The least and the greatest integer within the scope, those of serial numbers aside."""
        kinds = [kind for _, _, kind in self.flat.fields]
        kinds += [p.type for r in (*self.flat.rules, *self.flat.initials) for p in r.plans]
        found = [k for kind in kinds for k in t.inside(kind) if type(k) is t.Int]
        lows = [k.low for k in found if k.low is not None]
        highs = [k.high for k in found if k.high is not None]
        return min([0, *lows]), max([1, *highs])

    @property
    def ticks(self) -> int:
        """The last tick within the scope."""
        return last_tick(self.flat)

    @functools.cached_property
    def most_ticks(self) -> int:
        """The most ticks that a timer runs for, where timers count."""
        given: dict[str, list[Any]] = {}
        for m in self.machines.values():
            own = m is self.flat.machine
            for p in m.parameters:
                values = self._tried(p) if own else self._given_to_parts(p)
                if not own and p.default is not None:
                    values.append(self.default(p))
                given.setdefault(p.name, []).extend(values)
        return most_ticks(self.flat, given)

    # Layouts.

    def machine(self, name: str) -> MachineLayout:
        """The layout of a machine's state."""
        if name not in self._wholes:
            self._wholes[name] = self._whole(name)
        return self._wholes[name]

    def field(self, machine: str, name: str) -> tuple[Layout, int]:
        """The layout of a machine's variable or parameter, and its first cell in the state."""
        if machine not in self._fields:
            rows = self.machine(machine).fields
            begins = offsets(layout for _, layout in rows)
            pairs = zip(rows, begins, strict=True)
            self._fields[machine] = {each: (layout, at) for (each, layout), at in pairs}
        return self._fields[machine][name]

    def _whole(self, name: str) -> MachineLayout:
        m = self.machines[name]
        rows: list[tuple[str, Layout]] = []
        for v in m.variables:
            rows.append((v.name, self.layout(v.type, self.scoped[name, v.name])))
        for p in m.parameters:
            rows.append((p.name, self._parameter(p, name == self.flat.machine.name)))
        return MachineLayout(t.Part(name), tuple(rows))

    def _parameter(self, p: ir.Parameter, own: bool) -> Layout:
        values = self._tried(p) if own else self._given_to_parts(p)
        if not own and p.default is not None:
            values.append(self.default(p))
        if t.contains(p.type, t.Float):
            return Index(p.type, len(values), tuple(values))
        return tight(self.hull(p.type, values))

    def _tried(self, p: ir.Parameter) -> list[Any]:
        """The values of a parameter of the whole machine within the scope."""
        tried = self.tried.get(p.name, ())
        return [decode(v, p.type, self.world) for v in tried] or [self.default(p)]

    def _given_to_parts(self, p: ir.Parameter) -> list[Any]:
        """The values that parts are made with for a parameter of that name."""
        found: list[Any] = []
        for name, arg in self._arguments:
            if name == p.name:
                found += self._given(p, arg)
        return found

    @functools.cached_property
    def _arguments(self) -> list[tuple[str, ir.Expr]]:
        """What all parts are made with."""
        made = (n for n in everything(self.machines.values()) if isinstance(n, ir.New))
        return [pair for node in made for pair in node.args]

    def _given(self, p: ir.Parameter, arg: ir.Expr) -> list[Any]:
        """What an argument may be: a constant, or a parameter of the whole machine."""
        own = {each.name: each for each in self.flat.machine.parameters}
        match arg:
            case ir.Const():
                return [arg.value]
            case ir.Field(of=ir.Self(type=t.Part(machine=m)), name=name) if (
                m == self.flat.machine.name and name in own and not t.contains(p.type, t.Float)
            ):
                return self._tried(own[name])
            case _ if any(isinstance(k, t.Float | t.Text) for k in t.inside(p.type)):
                raise NotGenerated(f"the parameter {p.name} of a part")
            case _ if isinstance(p.type, t.Int):
                return list(range_of(arg, self.numbers))  # `fresh` leaves aside what is beyond it.
            case _:
                return []

    def default(self, p: ir.Parameter) -> Any:
        """The default of a parameter; replaced where expressions can be evaluated."""
        raise NotGenerated(f"the default of {p.name}")

    def hull(self, kind: t.Type, values: Sequence[Any]) -> Layout:
        """The layout of some given values."""
        sized = isinstance(kind, t.Map | t.Set | t.Seq)
        most = max(map(len, values), default=0) if sized else 0
        match kind:
            case t.Int():
                bounds = min(values, default=0), max(values, default=0)
                return Number(*bounds, kind.low, kind.high)
            case t.Tuple(items=items):
                columns = ([value[i] for value in values] for i in range(len(items)))
                return Product(kind, tuple(map(self.hull, items, columns)))
            case t.Record(fields=fields):
                rows = ((of, [getattr(value, name) for value in values]) for name, of in fields)
                return Product(kind, tuple(self.hull(*row) for row in rows))
            case t.Union(options=options):
                picked = ([v for v in values if chosen(v, kind) == of] for of in options)
                return Sum(kind, tuple(map(self.hull, options, picked)))
            case t.Map(key=key, value=of):
                held = [v for value in values for v in value.values()]
                keys = self.layout(key, key) if kind.total else self.hull(key, list(chain(*values)))
                return of_map(self.form, kind, keys, self.hull(of, held), most)
            case t.Set(item=item):
                return of_set(self.form, kind, self.hull(item, list(chain(*values))), most)
            case t.Seq(item=item):
                return ListLayout(kind, self.hull(item, list(chain(*values))), most, most)
            case _:
                return self.layout(kind, kind)

    def layout(self, declared: t.Type, scoped: t.Type) -> Layout:
        """The layout of a type within the scope."""
        match declared, scoped:
            case t.Int(), t.Int():
                return Number(scoped.low, scoped.high, declared.low, declared.high)
            case t.Clock(), t.Clock(most=int() as most):
                return Number(0, most)
            case t.Clock(), _:  # A part's clock tells the same time, which the whole's bound keeps.
                return Index(scoped, self.ticks + 1, tuple(range(self.ticks + 1)))
            case t.Timer(), _ if self.counting:
                return Index(scoped, self.most_ticks + 2, (None, *range(self.most_ticks + 1)))
            case ((t.Bool() | t.Nothing() | t.Enum() | t.Sort() | t.Opaque() | t.Timer()), _):
                return Index(scoped, len(self.universe(scoped)))
            case t.Record(fields=mine), t.Record(fields=theirs):
                pairs = zip(mine, theirs, strict=True)
                return Product(scoped, tuple(self.layout(a, b) for (_, a), (_, b) in pairs))
            case t.Tuple(items=mine), t.Tuple(items=theirs):
                return Product(scoped, tuple(map(self.layout, mine, theirs)))
            case t.Union(options=mine), t.Union(options=theirs):
                return Sum(scoped, tuple(map(self.layout, mine, theirs)))
            case t.Part(machine=name), _:
                return self.machine(name)
            case _:
                return self._container(declared, scoped)

    def _container(self, declared: t.Type, scoped: t.Type) -> Layout:
        match declared, scoped:
            case t.Set(item=a), t.Set(item=b):
                return of_set(self.form, scoped, self.layout(a, b))
            case t.Map(), t.Map():
                key = self.layout(declared.key, scoped.key)
                return of_map(self.form, scoped, key, self.layout(declared.value, scoped.value))
            case (t.Seq(item=a), t.Seq(item=b, most=int() as most)):
                item = self.layout(a, b)
                return ListLayout(scoped, item, most, most + _slack(item), declared.most)
            case (t.Bag(item=a), t.Bag(item=b, most=int() as most)):
                return of_bag(scoped, self.layout(a, b), most, most + LEAST_SLACK, declared.most)
            case _:
                raise NotGenerated(f"{scoped} in a state")

    def universe(self, kind: t.Type) -> tuple[Any, ...]:
        """The values of an index type in their order."""
        return self.values.of(kind)

    def index(self, kind: t.Type, value: Any) -> int:
        """The position of a value in its type."""
        return self._positions(kind)[value]

    def _positions(self, kind: t.Type) -> dict[Any, int]:
        known = self._indices.get(kind)
        if known is None:
            known = {v: i for i, v in enumerate(self.universe(kind))}
            self._indices[kind] = known
        return known

    def known(self, kind: t.Sort) -> dict[Any, int]:
        """The positions of a sort's elements by their names."""
        return {str(value): i for value, i in self._positions(kind).items()}

    # Values <-> cells.

    def encode(self, layout: Layout, value: Any) -> list[int]:
        """The cells of a value; NotGenerated where it has no place in them."""
        match layout:
            case Number():
                return [int(value)]
            case Index(values=values) if values:
                if value not in values:
                    raise NotGenerated(f"{value!r}, which is none of the values of its place")
                return [values.index(value)]
            case Index(type=of):
                return [self.index(of, value)]
            case Product(type=t.Record(fields=fields), items=items):
                rows = zip(fields, items, strict=True)
                return [c for (n, _), k in rows for c in self.encode(k, getattr(value, n))]
            case Product(items=items):
                return [c for v, k in zip(value, items, strict=True) for c in self.encode(k, v)]
            case Sum():
                return self._union(layout, value)
            case MachineLayout():
                rows = zip(value, inner(layout), strict=True)
                return [c for v, k in rows for c in self.encode(k, v)]
            case _:
                return self._held(layout, value)

    def _union(self, layout: Sum, value: Any) -> list[int]:
        assert isinstance(layout.type, t.Union)
        which = layout.type.options.index(chosen(value, layout.type))
        made = [which]
        for i, option in enumerate(layout.options):
            made += self.encode(option, value) if i == which else blank(option)
        return made

    def _held(self, layout: Layout, value: Any) -> list[int]:
        made = list(blank(layout))
        match layout:
            case SetLayout(item=item):
                far: list[Any] = []
                for each in value:
                    number = code(item, self.encode(item, each))
                    if number < 0:
                        far.append(each)
                    else:
                        made[number // MOST_BITS] |= 1 << number % MOST_BITS
                self._put_behind(made, layout, far)
            case MapLayout(key=key, value=of):
                step, more = stride(layout), dict[Any, Any]()
                for k, v in value.items():
                    at = code(key, self.encode(key, k)) * step
                    if at < 0:
                        more[k] = v
                    else:
                        there = () if layout.total else (1,)
                        made[at : at + step] = [*there, *self.encode(of, v)]
                self._put_behind(made, layout, more)
            case SparseSet(item=item):
                self._put_rows(made, layout, [self.encode(item, each) for each in value])
            case SparseMap(key=key, value=of):
                pairs = [self.encode(key, k) + self.encode(of, v) for k, v in value.items()]
                self._put_rows(made, layout, pairs)
            case ListLayout(item=item, room=room):
                if len(value) > room:
                    raise NotGenerated("more items than there is room for")
                made[: 1 + len(value) * width(item)] = [
                    len(value),
                    *(c for v in value for c in self.encode(item, v)),
                ]
            case BagLayout(item=item, room=room):
                counts = {k: n for k, n in value.items() if n}
                coded = {k: code(item, self.encode(item, k)) for k in counts} if room else {}
                rows = sorted((c, counts[k]) for k, c in coded.items() if c >= 0)
                if len(rows) > room:
                    raise NotGenerated("more entries than there is room for")
                made[: 1 + 2 * len(rows)] = [len(rows), *chain(*rows)]
                away = {k: n for k, n in counts.items() if coded.get(k, OUTSIDE) < 0}
                self._put_behind(made, layout, away)
            case _:
                raise AssertionError(layout)
        return made

    def _put_rows(
        self, made: list[int], layout: SparseSet | SparseMap, rows: list[list[int]]
    ) -> None:
        if len(rows) > layout.room:
            raise Crowded(f"more than {layout.room} elements of {layout.type} in a state")
        made[: width(layout)] = [len(rows), *chain(*sorted(rows)), *made[1 + sum(map(len, rows)) :]]

    def _put_behind(self, made: list[int], layout: Dense, away: Any) -> None:
        """What is outside the scope stands behind a dense set or map."""
        behind = spare(layout)
        if away and (behind is None or len(away) > behind.room):
            raise NotGenerated(f"{away!r} outside the scope")
        if away and behind is not None:
            made[spare_at(layout) :] = self._held(behind, away)

    def code_of(self, layout: Layout, value: Any) -> int:
        """The code of a value within the scope; NotGenerated where it is outside."""
        found = code(layout, self.encode(layout, value))
        if found < 0:
            raise NotGenerated(f"{value!r} outside the scope")
        return found

    def decode(self, layout: Layout, held: Sequence[int], at: int = 0) -> Any:
        """The value whose cells begin there."""
        known = self._readers.get(id(layout))
        if known is None:
            known = self._readers[id(layout)] = layout, reader(self, layout)
        return known[1](held, at)

    def coded(self, layout: Layout, number: int) -> Any:
        """The value with this code; the same object for as long as its layout is known."""
        _, known = self._coded.setdefault(id(layout), (layout, {}))
        if number not in known:
            known[number] = self.decode(layout, uncode(layout, number))
        return known[number]


def _slack(item: Layout) -> int:
    """The items that a list may have beyond the scope's bound in the middle of a step."""
    return max(LEAST_SLACK, min(SLACK, SLACK_CELLS // max(1, width(item))))
