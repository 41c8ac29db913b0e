"""Methods of Python that change a container where it stands, as the statements that they are short
for: `self.q.sort()`, `self.s.difference_update(t)`, `self.m.setdefault(k, v)`."""

from __future__ import annotations

import functools
from dataclasses import replace

from ... import types as t
from ...ops import SHORT_UPDATES
from ...syntax import tree
from .. import expressions
from ..context import Body
from .mapped import comprehended

Block = tuple[tree.Statement, ...]
Put = tuple[Block, tree.Expression]  # What puts a default in, and the place where it then is.
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
    if (put := _put_there(b, function.of)) is not None:
        # `self.m.setdefault(k, set()).add(x)`: the key first, then the change of its value.
        again = replace(call, function=replace(function, of=put[1]))
        return (*put[0], tree.Evaluate(call.place, again))
    if function.name not in SHORT_UPDATES | {"update"}:
        return None
    before, call = _with_plain_key(b, call)
    longer = _longer(b, call, function)
    return None if longer is None else (*before, *longer)


def named_default(b: Body, node: tree.Expression) -> Put | None:
    """`s = self.rows.setdefault(k, set())`: the statements that put it there, and its place, which
    the local then names. None of other expressions, and of values that are no containers."""
    match node:
        case tree.Apply(function=tree.Attribute(of=of, name="setdefault"), args=(_, _)):
            if isinstance(of, tree.Apply):
                return _put_there(b, node)
            kind = _type_of(b, of)
            held = isinstance(kind, t.Map) and not t.immutable(kind.value)
            return _put_there(b, node) if held else None
        case _:
            return None


def in_default(b: Body, node: tree.Set | tree.Augment) -> Block | None:
    """`self.m.setdefault(k, {})[j] = v`: the statements that put the map there, and those that
    assign its item. The value comes first, as in Python. None of other targets."""
    if not isinstance(node.target, tree.Subscript):
        return None
    put = _put_there(b, node.target.of)
    if put is None:
        return None
    target, before = replace(node.target, of=put[1]), list[tree.Statement]()
    if isinstance(node, tree.Set) and not _certain(node.value):
        node = replace(node, value=_named(b, node.value, before))
    return (*before, *put[0], replace(node, target=target))


def cut(b: Body, node: tree.Set | tree.Delete) -> Block | None:
    """`q[n:] = xs` and `del q[:n]`, which change a list where it stands. None of other
    statements, and where `n` may be behind the other bound."""
    at = node.target
    if not isinstance(at, tree.Cut) or at.backwards or not _plain(at.of):
        return None
    kind = _type_of(b, at.of)
    if not isinstance(kind, t.Seq) or not kind.mutable:
        return None
    if not _in_order(at.low, at.high):
        return None
    given = node.value if isinstance(node, tree.Set) else tree.Display(node.place, "list", ())
    nothing = isinstance(given, tree.Display) and not given.items
    if nothing and at.low is None and at.high is None:
        emptied = tree.Apply(node.place, tree.Attribute(node.place, at.of, "clear"), (), ())
        return (tree.Evaluate(node.place, emptied),)
    kept: list[tree.Expression] = []
    if at.low is not None:
        kept.append(replace(at, low=None, high=at.low))
    if not nothing:
        listed = (comprehended(b, given),)
        kept.append(tree.Apply(node.place, tree.Name(node.place, "list"), listed, ()))
    if at.high is not None:
        kept.append(replace(at, low=at.high, high=None))
    return _whole(b, at.of, functools.reduce(lambda x, y: tree.Binary(at.place, "+", x, y), kept))


def _in_order(low: tree.Expression | None, high: tree.Expression | None) -> bool:
    """Whether the first bound is before the second, of a list of any length."""
    match low, high:
        case (None, _) | (_, None):
            return True
        case tree.Literal(value=int() as first), tree.Literal(value=int() as last):
            return first <= last and (first < 0) == (last < 0)
        case _:
            return False


def _put_there(b: Body, node: tree.Expression) -> Put | None:
    """The statements that put a default in, and where; of one default in another, both."""
    match node:
        case tree.Apply(function=tree.Attribute(of=of, name="setdefault") as method, args=(key, _)):
            outer = _put_there(b, of)
            if outer is not None:
                inside = replace(node, function=replace(method, of=outer[1]))
                return (*outer[0], tree.Evaluate(node.place, inside)), _item(inside, outer[1], key)
            named, node = _with_plain_key(b, node)
            before = in_place(b, node)
            return None if before is None else ((*named, *before), _item(node, of, node.args[0]))
        case _:
            return None


def _with_plain_key(b: Body, call: tree.Apply) -> tuple[Block, tree.Apply]:
    """A call of `setdefault` whose key may be written twice, and what names the key before."""
    match call:
        case tree.Apply(function=tree.Attribute(name="setdefault"), args=(key, value)):
            if _plain(key) or not _reads(b, key):
                return (), call
            before: list[tree.Statement] = []
            again = replace(call, args=(_named(b, key, before), value))
            return tuple(before), again
        case _:
            return (), call


def _item(node: tree.Expression, of: tree.Expression, key: tree.Expression) -> tree.Expression:
    return tree.Subscript(node.place, of, key)


def _longer(
    b: Body, call: tree.Apply, function: tree.Attribute
) -> tuple[tree.Statement, ...] | None:
    place, of, name = call.place, function.of, function.name
    match _type_of(b, of), name, call.args:
        case t.Set(mutable=True), _, args if name in SET_OPERATORS and not call.keywords:
            return _with_sets(b, call, of, SET_OPERATORS[name], args)
        case t.Set(mutable=True), "update", (_, _, *_) as args if not call.keywords:
            return _with_sets(b, call, of, "|", args)
        case t.Seq(mutable=True), "sort", ():
            ordered = tree.Apply(place, tree.Name(place, "sorted"), (of,), call.keywords)
            return _whole(b, of, ordered)
        case t.Seq(mutable=True), "reverse", () if not call.keywords:
            backwards = tree.Apply(place, tree.Name(place, "reversed"), (of,), ())
            whole = tree.Apply(place, tree.Name(place, "list"), (backwards,), ())
            return _whole(b, of, whole)
        case t.Bag(), "update", (over,) if not call.keywords and _plain(of):
            return _counted(b, call, of, comprehended(b, over))
        case t.Map(mutable=True), "setdefault", (key, value) if _plain(key) and _plain(of):
            return _set_default(b, of, key, value)
        case _:
            return None


def _whole(b: Body, of: tree.Expression, value: tree.Expression) -> Block:
    """A list with other elements: an assignment, but where a loop may go through the list, which
    sees the change, as changes of the list itself."""
    place = value.place
    if not b.loops and b.mode != "helper":
        return (tree.Set(place, of, value, None),)
    before: list[tree.Statement] = []
    made = _named(b, value, before)
    clear, extend = (tree.Attribute(place, of, name) for name in ("clear", "extend"))
    emptied = tree.Evaluate(place, tree.Apply(place, clear, (), ()))
    filled = tree.Evaluate(place, tree.Apply(place, extend, (made,), ()))
    return (*before, emptied, filled)


def _with_sets(
    b: Body, call: tree.Apply, of: tree.Expression, op: str, args: tuple[tree.Expression, ...]
) -> Block | None:
    """`s.difference_update(q, t)` as `s -= set(q) | t`; None where as many make no call."""
    if not args or (op == "^" and len(args) > 1):
        return None
    sets = [each if _is_set(b, each) else _set(each) for each in args]
    joined = "&" if op == "&" else "|"
    whole = functools.reduce(lambda x, y: tree.Binary(call.place, joined, x, y), sets)
    return (tree.Augment(call.place, op, of, whole),)


def _is_set(b: Body, node: tree.Expression) -> bool:
    """Whether it is a set already; of a generator a set is made."""
    generator = isinstance(node, tree.Comprehension) and node.kind == "generator"
    return not generator and isinstance(_type_of(b, node), t.Set)


def _set(of: tree.Expression) -> tree.Expression:
    return tree.Apply(of.place, tree.Name(of.place, "set"), (of,), ())


def _counted(
    b: Body, call: tree.Apply, of: tree.Expression, over: tree.Expression
) -> tuple[tree.Statement, ...] | None:
    """`self.c.update(xs)`: one more of each element. None of a map, which has counts itself."""
    if isinstance(over, tree.Comprehension) and over.kind == "generator":
        over = replace(over, kind="list")
    elif isinstance(_type_of(b, over), t.Map | t.Bag):
        return None
    b.fresh += 1
    each = tree.Name(call.place, f"_{b.fresh}")
    more = tree.Augment(
        call.place, "+", tree.Subscript(call.place, of, each), tree.Literal(call.place, 1)
    )
    return (tree.Each(call.place, (each.name,), over, (more,)),)


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


def _reads(b: Body, node: tree.Expression) -> bool:
    """Whether an expression changes nothing, so that it may come before what stands left of it."""
    found = b.scene.problems.found
    kept = len(found), b.evaluated, b.hoisted
    b.hoisted = []
    expressions.infer(b, node, None)
    reads = not b.hoisted
    del found[kept[0] :]  # It is resolved, and judged, again.
    b.evaluated, b.hoisted = kept[1:]
    return reads


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
        case tree.Pairs(items=rows):
            return all(_certain(key) and _certain(value) for key, value in rows)
        case tree.Apply(function=tree.Name(name=name), args=args, keywords=()):
            return name in CONTAINERS and all(map(_certain, args))
        case _:
            return False
