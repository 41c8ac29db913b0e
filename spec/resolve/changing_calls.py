"""Calls that change the state: updates of containers and timers, steps of parts, `super()`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from .. import ir, ops
from .. import types as t
from ..analysis.partiality import always_defined
from ..analysis.places import holder, in_state, mentions, prefixes
from ..analysis.walk import everything, free_locals
from ..errors import Place, a, nearest
from ..syntax import tree
from . import expressions
from .aliasing import changeable, holds_values, own_container
from .builtins import FUNCTIONS
from .context import MISSING, Body, Interface, read_of
from .methods import arguments, call_of
from .short_forms.mapped import comprehended
from .short_forms.spans import in_seconds

Effect = tuple[t.Type, Callable[[ir.Expr | None], ir.Stmt]]


def effect(b: Body, node: tree.Apply) -> Effect | None:
    """The output of the call, and its statement; None for a call that changes nothing."""
    function = node.function
    if not isinstance(function, tree.Attribute) or b.static(function) is not MISSING:
        return None
    if is_super(function.of):
        return _base(b, node, function.name)
    if not _rooted(b, function.of):
        return None
    kept = len(b.scene.problems.found), b.evaluated
    of = expressions.expr(b, function.of)
    b.evaluated = kept[1]
    interface = b.interface(of.type)
    if interface is not None:
        return _of_machine(b, node, of, interface)
    if function.name == "setdefault" and isinstance(of.type, t.Map):
        put = _put_default(b, node, of, of.type)
        if put is not None:
            return put
    # What `del` does is an update, and no method that Python has.
    if function.name in ops.UPDATES.get(type(of.type).__name__, frozenset()) - {"delete"}:
        return _update(b, node, of)
    del b.scene.problems.found[kept[0] :]  # It is resolved, and judged, again as an expression.
    return None


def is_super(node: tree.Expression) -> bool:
    """Whether it is `super()`, so that what follows is an ancestor's."""
    return (
        isinstance(node, tree.Apply)
        and node.function.__class__ is tree.Name
        and (getattr(node.function, "name", "") == "super")
    )


def _rooted(b: Body, node: tree.Expression) -> bool:
    """Whether the receiver is a place: in the state, or a local."""
    while isinstance(node, tree.Attribute | tree.Subscript):
        node = node.of
    return isinstance(node, tree.Name) and (
        node.name == "self" or node.name in b.locals or node.name in b.aliases
    )


def may_change(b: Body, place: Place) -> bool:
    """Whether this body may change the state; a problem where it may not."""
    if b.mode in ("transition", "initial", "helper"):
        b.changes = True
        return True
    b.problem(
        "L208",
        place,
        f"a change or a guard in {a(b.mode)}",
        "an expression that only reads",
        "change the state in transitions and the helpers that they call",
    )
    return False


def _base(b: Body, node: tree.Apply, name: str) -> Effect | None:
    found = b.scene.base(b.owner, name)
    if found is None:
        b.problem(
            "L204",
            node.place,
            f"super().{name}(...)",
            "a method that the ancestor has",
            nearest(name, b.scene.own.methods),
        )
        return t.Unknown(), lambda into: ir.Base(node.place, name, (), into)
    key, signature = found
    if signature.kind in ("property", "helper") and not signature.acts:
        return None
    may_change(b, node.place)
    args = call_of(b, node, signature)
    if signature.kind == "helper":
        own = ir.Self(node.place, t.Part(b.scene.own.name))
        call = ir.Call(node.place, signature.output, key, own, args)
        return signature.output, lambda into: ir.Do(node.place, call, into)
    return signature.output, lambda into: ir.Base(node.place, key, args, into)


def _of_machine(b: Body, node: tree.Apply, of: ir.Expr, interface: Interface) -> Effect | None:
    assert isinstance(node.function, tree.Attribute)
    name = node.function.name
    signature = interface.methods.get(name)
    if signature is None or signature.kind == "property":
        return None
    if signature.kind == "helper":
        return _helper(b, node, of, interface)
    if signature.kind == "initial" and interface is b.scene.own:
        b.problem(
            "L220",
            node.place,
            f"self.{name}(...), an @initial of this machine",
            "one @initial, called once by who makes the machine",
            "move the common code into a helper method, and call it from both",
        )
        return t.Unknown(), lambda into: ir.Return(node.place, None)
    if interface is b.scene.own:
        b.problem(
            "L204",
            node.place,
            f"self.{name}(...), {a(signature.kind)} of this machine",
            "a helper",
            "move the common code into a helper method, and call it from both",
        )
        return t.Unknown(), lambda into: ir.Return(node.place, None)
    may_change(b, node.place)
    args = call_of(b, node, signature)
    return signature.output, lambda into: ir.Step(node.place, of, name, args, into)


def _helper(b: Body, node: tree.Apply, of: ir.Expr, interface: Interface) -> Effect | None:
    assert isinstance(node.function, tree.Attribute)
    name = node.function.name
    signature = interface.methods[name]
    if interface is not b.scene.own:
        if signature.acts:
            b.problem(
                "L204",
                node.place,
                f"{name}, a helper that changes {interface.name}",
                "a transition of the part, or a helper that only reads",
                f"give {interface.name} a transition that does this, and call it",
            )
            return t.Unknown(), lambda into: ir.Return(node.place, None)
        return None
    found = b.scene.helper(name)
    if found is None or not found[1]:
        return None
    function = found[0]
    may_change(b, node.place)
    args = call_of(b, node, signature)
    call = ir.Call(node.place, function.output, name, of, args)
    return function.output, lambda into: ir.Do(node.place, call, into)


def _update(b: Body, node: tree.Apply, of: ir.Expr) -> Effect | None:
    assert isinstance(node.function, tree.Attribute)
    op, place = node.function.name, node.place
    if in_state(of):
        may_change(b, place)
    kind = of.type

    def nothing(into: ir.Expr | None) -> ir.Stmt:
        return ir.Update(place, of, op, (), into)

    if _mutable(kind) and not changeable(b, of, place):
        return t.NOTHING, nothing
    if not _mutable(kind):
        b.problem(
            "L206",
            place,
            f"{op} of {a(kind)}",
            "a mutable container",
            "make a new value: a | {x}, or replace(...)",
        )
        return t.NOTHING, nothing
    if op == "pop" and t.contains(kind, t.Part):
        b.problem(
            "L205", place, f"pop of {a(kind)}", "del", "write del self.peers[p]; read it before"
        )
        return t.Unknown(), nothing
    if op == "pop" and isinstance(kind, t.Map) and node.args[1:] == (_none(node.args[-1]),):
        return _taken_or_none(b, node, of, kind)
    made = _collected(b, node, of, op) if op in ("update", "extend") else None
    if made is not None:
        return t.NOTHING, lambda into: ir.Update(place, of, op, (made,), into)
    if isinstance(kind, t.Timer) and op == "start":
        node = replace(node, args=tuple(in_seconds(b, arg) for arg in node.args))
    result, params = _signature(b, node, kind, op)
    args = arguments(b, node, params)
    for arg in args:
        # What is taken out of a container and is immutable has no second name.
        if not (op in ("update", "extend") and holds_values(arg.type)):
            own_container(b, arg, arg.place)
    return result, lambda into: ir.Update(place, of, op, args, into)


def _none(node: tree.Expression) -> tree.Expression:
    return tree.Literal(node.place, None)


def _taken_or_none(b: Body, node: tree.Apply, of: ir.Expr, kind: t.Map) -> Effect:
    """`m.pop(k, None)`: what is there and is taken out, or None where nothing is there."""
    place = node.place
    if kind.total:
        _total_map(b, node)
    (key,) = arguments(b, tree.Apply(place, node.function, node.args[:1], ()), (("key", kind.key),))
    there = ir.Op(place, t.BOOL, "in", (key, of))
    nothing = ir.Const(place, t.NOTHING, None)

    def make(into: ir.Expr | None) -> ir.Stmt:
        value = ir.Item(place, kind.value, of, key)
        delete = ir.Update(place, of, "delete", (key,), None)
        if into is None:
            return ir.Branch(place, there, (delete,), ())
        then: tuple[ir.Stmt, ...] = (ir.Assign(place, into, value), delete)
        if isinstance(into, ir.Local) and into.name in dict(free_locals((of, key))):
            local = b.temporary(kind.value, place)  # What is deleted is named by the old value.
            taken = ir.Assign(place, local, value)
            then = (taken, delete, ir.Assign(place, into, read_of(local)))
        other = (ir.Assign(place, into, nothing),)
        return ir.Branch(place, there, then, other)

    return t.union((kind.value, t.NOTHING)), make


def _put_default(b: Body, node: tree.Apply, of: ir.Expr, kind: t.Map) -> Effect | None:
    """`m.setdefault(k, v)`: what is there, or v, which is put there. None where the value is a
    container, of which the map's own has to be named, or has to be evaluated in any case."""
    place = node.place
    if not kind.mutable or not t.immutable(kind.value) or len(node.args) != 2 or node.keywords:
        return None
    params = (("key", kind.key), ("default", kind.value))
    kept = len(b.scene.problems.found), b.evaluated
    key, value = arguments(b, node, params)
    if len(b.scene.problems.found) == kept[0] and not always_defined(key, value, unsure=b.unsure):
        if b.hoisted is None:
            b.evaluated = kept[1]
            return None
        # Python evaluates both, in this order, whether the key is there or not.
        key, value = _held(b, key, kind.key), _held(b, value, kind.value)
    if not all(_steady(each.key, of) for each in prefixes(of) if isinstance(each, ir.Item)):
        return None
    if not _steady(key, of) and b.hoisted is not None:
        key = _held(b, key, kind.key)  # It is read again after the map has changed.
    if in_state(of):
        may_change(b, place)
    if not changeable(b, of, place):
        return kind.value, lambda into: ir.Update(place, of, "delete", (key,), into)
    missing = ir.Op(place, t.BOOL, "not_in", (key, of))
    item = ir.Item(place, kind.value, of, key)

    def make(into: ir.Expr | None) -> ir.Stmt:
        put: tuple[ir.Stmt, ...] = (ir.Assign(place, item, value),)
        if into is None:
            return ir.Branch(place, missing, put, ())
        read = ir.Assign(place, into, item)
        return ir.Branch(place, missing, (*put, read), (read,))

    return kind.value, make


def _held(b: Body, value: ir.Expr, kind: t.Type) -> ir.Expr:
    """The value in a local of our own, which is assigned before the statement."""
    assert b.hoisted is not None
    local = b.temporary(kind, value.place)
    b.hoisted.append(ir.Assign(value.place, local, value))
    return read_of(local)


def _steady(key: ir.Expr, of: ir.Expr) -> bool:
    """Whether the key is the same after the map at `of` has changed."""
    held = holder(of)
    return not any(
        node == held or isinstance(node, ir.Call | ir.Enabled) for node in everything((key,))
    )


def _mutable(kind: t.Type) -> bool:
    match kind:
        case t.Set(mutable=mutable) | t.Seq(mutable=mutable) | t.Map(mutable=mutable):
            return mutable
        case _:
            return isinstance(kind, t.Bag | t.Timer)


Params = tuple[tuple[str, t.Type], ...]


def _signature(b: Body, node: tree.Apply, kind: t.Type, op: str) -> tuple[t.Type, Params]:
    """The output and the parameters of the update."""
    none: Params = ()
    match kind, op:
        case t.Set(item=item), "update":
            return t.NOTHING, (("other", t.Set(item, not _frozen(b, node))),)
        case t.Set(item=item), "add" | "discard" | "remove":
            return t.NOTHING, (("element", item),)
        case t.Seq(item=item), "append" | "remove":
            return t.NOTHING, (("item", item),)
        case t.Seq(item=item), "extend":
            return t.NOTHING, (("items", t.Seq(item, not _frozen(b, node))),)
        case t.Seq(item=item), "insert":
            return t.NOTHING, (("index", t.INT), ("item", item))
        case t.Seq(item=item), "pop":
            return item, (("index", t.INT),) if node.args else none
        case t.Map(key=key, value=value, total=total), "pop":
            if total:
                _total_map(b, node)
            two = (("key", key), ("default", value))
            return value, two if len(node.args) == 2 else two[:1]
        case t.Map(key=key, value=value), "update":
            return t.NOTHING, (("other", t.Map(key, value, mutable=False)),)
        case t.Map(total=True), "clear":
            _total_map(b, node)
            return t.NOTHING, none
        case t.Timer(), "start":
            return t.NOTHING, (("seconds", t.FLOAT),)
        case _:
            return t.NOTHING, none


def _frozen(b: Body, node: tree.Apply) -> bool:
    """Whether the argument is an immutable collection."""
    given = _given(b, node)
    return isinstance(given, t.Set | t.Seq) and not given.mutable


def _given(b: Body, node: tree.Apply) -> t.Type | None:
    """The type of the argument, which is resolved again, and judged, as one of its own."""
    if not node.args:
        return None
    kept = len(b.scene.problems.found), b.evaluated, b.hoisted
    b.hoisted = None if b.hoisted is None else [*b.hoisted]
    found = expressions.expr(b, node.args[0]).type
    del b.scene.problems.found[kept[0] :]
    b.evaluated, b.hoisted = kept[1:]
    return found


def _collected(b: Body, node: tree.Apply, of: ir.Expr, op: str) -> ir.Expr | None:
    """The argument of `update` or `extend` if it is an iterable other than a set or a list."""
    kind = of.type
    if len(node.args) != 1 or node.keywords or not isinstance(kind, t.Set | t.Seq):
        return None
    argument = comprehended(b, node.args[0])
    node = replace(node, args=(argument,))
    given = _given(b, node)
    generator = isinstance(argument, tree.Comprehension) and argument.kind == "generator"
    one_of = t.Set if isinstance(kind, t.Set) else t.Seq
    if not generator and (given is None or isinstance(given, one_of | t.Unknown)):
        return None
    made = FUNCTIONS[set if one_of is t.Set else list](b, node, t.Set(kind.item, True))
    if generator and mentions(made, of):
        b.problem(
            "L218",
            node.place,
            f"{op} by a generator that goes through what it changes",
            "a collection that is there before the change",
            "write {...} or [...] for the generator",
        )
    own_container(b, made, argument.place)
    return made


def _total_map(b: Body, node: tree.Apply) -> None:
    b.problem(
        "L206",
        node.place,
        "a key removed from a total map",
        "a map that keeps every key",
        "assign the value that means absent, or declare a partial map",
    )
