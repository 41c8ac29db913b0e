"""Methods of Python that change a container where it stands, as the statements that they are short
for: `self.q.sort()`, `self.s.difference_update(t)`, `self.m.setdefault(k, v)`."""

from __future__ import annotations

from ... import types as t
from ...ops import SHORT_UPDATES
from ...syntax import tree
from .. import expressions
from ..context import Body

SET_OPERATORS = {
    "difference_update": "-",
    "intersection_update": "&",
    "symmetric_difference_update": "^",
}
CONTAINERS = {"set", "frozenset", "list", "tuple", "dict", "Counter"}


def in_place(b: Body, call: tree.Apply) -> tuple[tree.Statement, ...] | None:
    """The longer statements of a call that stands alone; None for any other call."""
    function = call.function
    if not isinstance(function, tree.Attribute):
        return None
    inner = function.of
    if isinstance(inner, tree.Apply) and isinstance(inner.function, tree.Attribute):
        # `self.m.setdefault(k, set()).add(x)`: the key first, then the change of its value.
        added = in_place(b, inner) if inner.function.name == "setdefault" else None
        if added is None:
            return None
        value = tree.Subscript(inner.place, inner.function.of, inner.args[0])
        method = tree.Attribute(function.place, value, function.name)
        again = tree.Apply(call.place, method, call.args, call.keywords)
        return (*added, tree.Evaluate(call.place, again))
    if function.name not in SHORT_UPDATES:
        return None
    return _longer(b, call, function)


def named_default(
    b: Body, node: tree.Expression
) -> tuple[tuple[tree.Statement, ...], tree.Expression] | None:
    """`s = self.rows.setdefault(k, set())`: the statements that put it there, and its place, which
    the local then names. None of other expressions, and of values that are no containers."""
    match node:
        case tree.Apply(function=tree.Attribute(of=of, name="setdefault"), args=(key, _)):
            kind = _type_of(b, of)
            if not isinstance(kind, t.Map) or t.immutable(kind.value):
                return None
            before = in_place(b, node)
            return None if before is None else (before, tree.Subscript(node.place, of, key))
        case _:
            return None


def _longer(
    b: Body, call: tree.Apply, function: tree.Attribute
) -> tuple[tree.Statement, ...] | None:
    place, of, name = call.place, function.of, function.name
    match _type_of(b, of), name, call.args:
        case t.Set(mutable=True), _, (other,) if name in SET_OPERATORS and not call.keywords:
            return (tree.Augment(place, SET_OPERATORS[name], of, other),)
        case t.Seq(mutable=True), "sort", ():
            ordered = tree.Apply(place, tree.Name(place, "sorted"), (of,), call.keywords)
            return (tree.Set(place, of, ordered, None),)
        case t.Seq(mutable=True), "reverse", () if not call.keywords:
            backwards = tree.Apply(place, tree.Name(place, "reversed"), (of,), ())
            whole = tree.Apply(place, tree.Name(place, "list"), (backwards,), ())
            return (tree.Set(place, of, whole, None),)
        case t.Map(mutable=True), "setdefault", (key, value) if _plain(key) and _plain(of):
            return _set_default(b, of, key, value)
        case _:
            return None


def _set_default(
    b: Body, of: tree.Expression, key: tree.Expression, value: tree.Expression
) -> tuple[tree.Statement, ...]:
    """`of[key] = value` where there is no such key. Python evaluates the value in any case."""
    place, before = of.place, list[tree.Statement]()
    if not _certain(value):
        key, value = _named(b, key, before), _named(b, value, before)
    there = tree.Compare(place, key, (("not in", of),))
    given = tree.Set(place, tree.Subscript(place, of, key), value, None)
    return (*before, tree.Choose(place, there, (given,), ()))


def _named(b: Body, node: tree.Expression, before: list[tree.Statement]) -> tree.Expression:
    """A local that is assigned the value before."""
    b.fresh += 1
    local = tree.Name(node.place, f"_{b.fresh}")
    before.append(tree.Set(node.place, local, node, None))
    return local


def _type_of(b: Body, node: tree.Expression) -> t.Type:
    """The type of a receiver, which is resolved, and judged, again."""
    kept = len(b.scene.problems.found), b.evaluated, b.hoisted
    b.hoisted = None
    found = expressions.expr(b, node).type
    del b.scene.problems.found[kept[0] :]
    b.evaluated, b.hoisted = kept[1:]
    return found


def _plain(node: tree.Expression) -> bool:
    """Whether it may be evaluated twice: a chain of names and keys, and tuples of them."""
    match node:
        case tree.Name() | tree.Literal():
            return True
        case tree.Attribute(of=of):
            return _plain(of)
        case tree.Subscript(of=of, key=key):
            return _plain(of) and _plain(key)
        case tree.Display(kind="tuple", items=items):
            return all(map(_plain, items))
        case _:
            return False


def _certain(node: tree.Expression) -> bool:
    """Whether it has a value and changes nothing, so that it may be left unevaluated."""
    match node:
        case tree.Name() | tree.Literal():
            return True
        case tree.Attribute(of=of):
            return _certain(of)
        case tree.Display(items=items):
            return all(map(_certain, items))
        case tree.Apply(function=tree.Name(name=name), args=args, keywords=()):
            return name in CONTAINERS and all(map(_certain, args))
        case _:
            return False
