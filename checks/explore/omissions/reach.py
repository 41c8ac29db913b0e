"""Which values an expression can have in any state within the scope, from the text alone.

Variables have the bounds of the scope, because a step that leaves them is cut; parameters have the
values that the scope tries. Intervals give the values of expressions over them.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from lawful.spec import ir, ops
from lawful.spec import types as t
from lawful.spec.flat import Flat
from lawful.spec.values.bounds import Values
from lawful.spec.values.world import World

from .extents import arithmetic, element, joined, met, plus, unbounded, united
from .inlining import inlined

Env = dict[str, t.Type]  # Extents of locals.


@dataclass(frozen=True)
class Reach:
    """Extents of expressions; before an `@initial` is over no variable has the scope's bounds."""

    flat: Flat
    starting: bool = False

    @functools.cached_property
    def fields(self) -> Mapping[tuple[str, str], t.Type]:
        """The extents of variables and parameters, by machine and name."""
        machine = self.flat.machine
        found: dict[tuple[str, str], t.Type] = {}
        for owner in (machine, *machine.parts):
            found.update(((owner.name, v.name), v.type) for v in owner.variables)
            found.update(((owner.name, p.name), p.type) for p in owner.parameters)
        if not self.starting:
            found.update(((owner, name), kind) for owner, name, kind in self.flat.fields)
        tried = dict(self.flat.parameters)
        for p in machine.parameters:
            default = p.default.value if isinstance(p.default, ir.Const) else None
            values = tried[p.name] or (default,)
            whole = [value for value in values if type(value) is int]
            if isinstance(p.type, t.Int) and len(whole) == len(values):
                found[machine.name, p.name] = t.Int(min(whole), max(whole))
        return found

    @functools.cached_property
    def values(self) -> Values:
        """How many values finite types have within the scope."""
        return Values(World({}, {}, {}), dict(self.flat.sizes), dict(self.flat.elements))

    def of(self, e: ir.Expr, env: Env) -> t.Type:
        """The extent of an expression's values."""
        found = e.type if isinstance(e.type, t.Serial) else self._of(e, env)
        return unbounded(e.type) if found is None else found

    def _of(self, e: ir.Expr, env: Env) -> t.Type | None:
        match e:
            case ir.Const(value=int() as value) if isinstance(e.type, t.Int):
                return t.Int(value, value)
            case ir.Local(name=name):
                return env.get(name)
            case ir.Field():
                return self._field(e, env)
            case ir.Item(of=of, key=key):
                return self._item(self.of(of, env), key)
            case ir.Narrow(of=of):
                return met(self.of(of, env), unbounded(e.type))
            case ir.Needed(of=of):
                some = [o for o in t.options(self.of(of, env)) if not isinstance(o, t.Nothing)]
                return t.union(tuple(some)) if some else None
            case ir.If(then=then, other=other):
                return joined(self.of(then, env), self.of(other, env))
            case ir.Make(type=t.Record(name=name, fields=fields), args=args):
                rows = zip(fields, args, strict=True)
                return t.Record(name, tuple((n, self.of(arg, env)) for (n, _), arg in rows))
            case ir.Call():
                return self._call(e, env)
            case ir.Comp():
                return self._comp(e, env)
            case ir.Op():
                return self._op(e, [self.of(arg, env) for arg in e.args])
            case ir.Domain():
                return e.type
            case _:
                return None

    def _field(self, e: ir.Field, env: Env) -> t.Type | None:
        match e.of.type:
            case t.Part(machine=machine):
                return self.fields.get((machine, e.name))
            case t.Clock():
                clock = self.of(e.of, env)
                return t.Int(0, clock.most) if isinstance(clock, t.Clock) else None
            case _:
                match self.of(e.of, env):
                    case t.Record(fields=fields):
                        return dict(fields).get(e.name)
                    case _:
                        return None

    def _item(self, of: t.Type, key: ir.Expr) -> t.Type | None:
        match of:
            case t.Map(value=value):
                return value
            case t.Seq(item=item):
                return item
            case t.Tuple(items=items):
                if isinstance(key, ir.Const) and type(key.value) is int:
                    return items[key.value] if -len(items) <= key.value < len(items) else None
                return united(items)
            case t.Bag(most=most):
                return t.Int(0, most)
            case _:
                return None

    def _call(self, e: ir.Call, env: Env) -> t.Type | None:
        """What a helper gives that is one expression; one that calls itself is refused anywhere."""
        inside = inlined(self.flat.machine, e)
        return None if inside is None else self.of(inside, env)

    def within(self, clauses: Iterable[ir.Clause], env: Env) -> Env:
        """The extents of the names of a comprehension, with those around it."""
        known = dict(env)
        for clause in clauses:
            item = element(self.of(clause.over, known))
            many = item.items if isinstance(item, t.Tuple) and len(clause.names) > 1 else (item,)
            for i, name in enumerate(clause.names):
                one = many[i] if len(many) == len(clause.names) else None
                if one is None:
                    known.pop(name, None)
                else:
                    known[name] = one
        return known

    def _comp(self, e: ir.Comp, env: Env) -> t.Type | None:
        known = self.within(e.clauses, env)
        item = self.of(e.element, known)
        match e.type:
            case t.Set() | t.Seq() if e.kind in ops.DISPLAYS:
                held = replace(unbounded(e.type), item=item)  # type: ignore[call-arg]  # it has one
                over = self.of(e.clauses[0].over, env)
                if len(e.clauses) == 1 and isinstance(over, t.Seq) and isinstance(held, t.Seq):
                    return replace(held, most=over.most)
                return held
            case t.Map() if e.kind == "map" and e.key is not None:
                return replace(e.type, key=self.of(e.key, known), value=item)
            case _:
                return item if e.kind in ("first", "min", "max") else None

    def _op(self, e: ir.Op, args: list[t.Type]) -> t.Type | None:
        match e.op, args:
            case (("add" | "sub" | "neg" | "mod" | "min" | "max"), _):
                numbers = [arg for arg in args if isinstance(arg, t.Int)]
                return arithmetic(e.op, numbers) if len(numbers) == len(args) else None
            case "len" | "total", [t.Seq(most=most) | t.Bag(most=most)]:
                return t.Int(0, most)
            case "len", [t.Set(item=item)] if t.finite(item):
                return t.Int(0, self.values.count(item))
            case "len" | "count" | "total" | "rank" | "index", _:
                return t.Int(0, None)
            case "get", [t.Map(value=value), default]:
                return joined(value, default)
            case "values", [t.Map(value=value)]:
                return t.Iter(value, False)
            case "items", [t.Map(key=key, value=value)]:
                return t.Iter(t.Tuple((key, value)), False)
            case "range", [t.Int() as end]:
                return t.Iter(t.Int(0, plus(end.high, -1)), True)
            case "range", [t.Int() as begin, t.Int() as end]:
                return t.Iter(t.Int(begin.low, plus(end.high, -1)), True)
            case "first_or", [held, default]:
                first = element(held)
                return None if first is None else joined(first, default)
            case "tuple", _ if isinstance(e.type, t.Tuple):
                return t.Tuple(tuple(args))
            case _:
                return self._collection(e, args)

    def _collection(self, e: ir.Op, args: list[t.Type]) -> t.Type | None:
        if e.op in ops.FROM_FIRST:
            item = element(args[0])
        elif e.op in ops.DISPLAYS:
            item = united(args)
        elif e.op in ops.FROM_ANY:
            items = [element(arg) for arg in args]
            item = united([one for one in items if one is not None]) if all(items) else None
        else:
            return None
        match e.type:
            case _ if item is None:
                return None
            case t.Seq():
                return replace(e.type, item=item, most=_length(e.op, args))
            case t.Set() | t.Iter():
                return replace(e.type, item=item)
            case _:
                return None


def _length(op: str, args: list[t.Type]) -> int | None:
    if op in ("list", "tuple"):
        return len(args)
    lengths = [arg.most if isinstance(arg, t.Seq) else None for arg in args]
    if op == "concat":
        known = [most for most in lengths if most is not None]
        return sum(known) if len(known) == len(lengths) else None
    return lengths[0]
