"""Which entries of a container a transition may change, where its text says so.

    self.counts[message.key] = n       the entry at `message.key` of the argument, and no other one
    self.queue.append(item)            the end of the list

So what an event changed in a large container is found without comparing its other entries. Where
the text does not say it (a key that the state decides, a container that is replaced, a step of a
part), there is no answer, and the container is compared whole. What a helper changes counts as what
the transition changes, with the arguments of the call.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.effects import assigned
from lawful.spec.analysis.places import outer_variable_of, prefixes
from lawful.spec.analysis.walk import inlined, statements, written
from lawful.spec.ops import ELEMENT_UPDATES
from lawful.spec.syntax.declare import slot
from lawful.spec.values.world import World

from ..kernel.plan import Plan
from ..kernel.state import State

Args = tuple[Any, ...]
KeyOf = Callable[[Args, State], Any]


@dataclass
class Touched:
    """What a transition does to one container; `keys` of a set, map or bag: whether the key is put,
    and the key. `ends`: of a list only the end grows, or only the beginning goes ("first")."""

    keys: list[tuple[bool, KeyOf]] = field(default_factory=list[tuple[bool, KeyOf]])
    ends: set[str] = field(default_factory=set[str])


_known: WeakKeyDictionary[type[Any], dict[str, Mapping[str, Touched]]] = WeakKeyDictionary()


def touched_by(plan: Plan, transition: str | None) -> Mapping[str, Touched]:
    """What a transition does to the containers of which that is known, by their variables."""
    rows = _known.setdefault(plan.cls, {})
    name = transition or ""
    if name not in rows:
        found = next((tr for tr in plan.machine.transitions if tr.name == name), None)
        rows[name] = {} if found is None else _found(plan.machine, found, plan.resolved.world)
    return rows[name]


def _found(machine: ir.Machine, tr: ir.Transition, world: World) -> dict[str, Touched]:
    body = _with_helpers(tr.function.body, {f.name: f for f in machine.functions})
    if body is None:
        return {}
    lost = assigned(body)
    params = {n: i for i, (n, _) in enumerate(tr.function.params) if n not in lost}
    fixed = frozenset(p.name for p in machine.parameters)
    keys = functools.partial(_key_of, params=params, fixed=fixed, world=world)
    out: dict[str, Touched | None] = {}
    for stmt in body:
        if isinstance(stmt, ir.Step | ir.Base):
            return {}  # It may change anything.
        for place in written(stmt):
            _note(out, stmt, place, keys)
    if tr.timer is not None:  # It is disarmed.
        _note(out, None, tr.timer, keys)
    return {name: each for name, each in out.items() if each is not None}


def _with_helpers(
    body: Iterable[ir.Stmt], helpers: Mapping[str, ir.Function]
) -> list[ir.Stmt] | None:
    """The statements of a body and of the helpers that it calls, in which arguments take the place
    of parameters; None where a helper assigns a parameter, which is another value then."""
    out: list[ir.Stmt] = []
    for stmt in statements(body):
        out.append(stmt)
        if isinstance(stmt, ir.Do):
            helper = helpers[stmt.call.function]
            if not assigned(helper.body).isdisjoint(name for name, _ in helper.params):
                return None
            inner = _with_helpers(inlined(stmt, (helper,)), helpers)
            if inner is None:
                return None
            out += inner
    return out


def _note(
    out: dict[str, Touched | None],
    stmt: ir.Stmt | None,
    place: ir.Expr,
    keys: Callable[[ir.Expr], KeyOf | None],
) -> None:
    """Add what a statement does at a place; None where it is not known."""
    variable = outer_variable_of(place)
    if variable is None:
        return
    known = out.setdefault(variable, Touched())
    inner = [each for each in prefixes(place) if isinstance(each, ir.Item)]
    if known is None:
        return
    if inner and isinstance(inner[-1].of, ir.Field) and isinstance(inner[-1].of.of, ir.Self):
        one = keys(inner[-1].key)
        if one is not None and isinstance(inner[-1].of.type, t.Map | t.Bag):
            known.keys.append((True, one))
            return
    elif isinstance(stmt, ir.Update) and stmt.target == place and stmt.into != place:
        match place.type, stmt:
            case t.Set() | t.Map(), ir.Update(op=op, args=(key, *_)) if op in ELEMENT_UPDATES:
                one = keys(key)
                if one is not None:
                    known.keys.append((op == "add", one))
                    return
            case t.Seq(), ir.Update(op="append" | "extend"):
                known.ends.add("last")
                return
            case t.Seq(), ir.Update(op="pop", args=(ir.Const(value=0),)):
                known.ends.add("first")
                return
            case _:
                pass
    out[variable] = None


def _key_of(
    e: ir.Expr, params: Mapping[str, int], fixed: frozenset[str], world: World
) -> KeyOf | None:
    """How the value of a key follows from the arguments and parameters; None where it does not."""
    match e:
        case ir.Const(type=t.Enum(name=name), value=str(member)):
            constant = world.enums[name][member]
            return lambda args, state: constant
        case ir.Const(type=t.Sort(name=name), value=str(element)):
            sort = world.sorts[name](element)
            return lambda args, state: sort
        case ir.Const(type=t.Int() | t.Bool() | t.Nothing(), value=value):
            return lambda args, state: value
        case ir.Local(name=name) if name in params:
            at = params[name]
            return lambda args, state: args[at]
        case ir.Field(of=ir.Self(), name=name) if name in fixed:
            held = slot(name)
            return lambda args, state: getattr(state, held)
        case ir.Field(of=ir.Expr(type=t.Record()) as of, name=name):
            inner = _key_of(of, params, fixed, world)
            return inner and (lambda args, state: getattr(inner(args, state), name))
        case ir.Narrow(of=of):
            return _key_of(of, params, fixed, world)
        case ir.Op(op="tuple", args=items):
            several = [_key_of(each, params, fixed, world) for each in items]
            if None in several:
                return None
            return lambda args, state: tuple(f(args, state) for f in several if f is not None)
        case ir.Op(op="add" | "sub" as op, args=(a, b)) if _is_number(a) and _is_number(b):
            one, two = (_key_of(each, params, fixed, world) for each in (a, b))
            if one is None or two is None:
                return None
            if op == "add":
                return lambda args, state: one(args, state) + two(args, state)
            return lambda args, state: one(args, state) - two(args, state)
        case _:
            return None


def _is_number(e: ir.Expr) -> bool:
    """Whether it is an integer that does not wrap."""
    return e.type.__class__ is t.Int


# The entries that have changed.


@dataclass(slots=True)
class Both:
    """A container before and after an event, and what the event's transition does to it."""

    old: Any
    new: Any
    touched: Touched
    args: Args
    state: State

    def keys(self) -> list[Any] | None:
        """The touched keys of a set, map or bag; None where they do not account for the difference.

        An argument may be another object than the key that is in the container, if it was converted
        on its way: then the lengths, or a key that is nowhere, show it."""
        keys: list[Any] = []
        try:
            if len(self.touched.keys) == 1:
                put, key = self.touched.keys[0]
                one = key(self.args, self.state)
                there, was = one in self.new, one in self.old
                known = there or was or not put
                return [one] if known and len(self.new) == len(self.old) + there - was else None
            for put, key in self.touched.keys:
                one = key(self.args, self.state)
                if one not in keys:
                    keys.append(one)
                if put and one not in self.new and one not in self.old:
                    return None
            more = sum((key in self.new) - (key in self.old) for key in keys)
        except (TypeError, AttributeError):
            return None
        return keys if keys and len(self.new) == len(self.old) + more else None

    def place(self) -> tuple[int, int] | None:
        """Where a list was changed of which only an end was touched, and how many items went."""
        more = len(self.new) - len(self.old)
        if self.touched.ends == {"last"} and more >= 0:
            return len(self.old), 0
        if self.touched.ends == {"first"} and more <= 0:
            return (0, -more) if more else (len(self.new), 0)  # Perhaps nothing was taken.
        return None
