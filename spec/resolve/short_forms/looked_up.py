"""`q = self.m.get(k)`, of which a statement then asks whether it is None, names `self.m[k]`.

    q = self.m.get(k)                       if k not in self.m:
    if q is None:                               refuse("no such queue")
        refuse("no such queue")             q = self.m[k]
    q.append(x)                             q.append(x)

So the local is a name of a place, and what changes it in place changes the place. A container that
is put in where there was none (`q = []; self.m[k] = q`) is put there first and then named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple, cast

from ... import types as t
from ...syntax import tree
from .. import expressions
from ..aliasing import changes_in_place, times_assigned
from ..context import Body

Block = tuple[tree.Statement, ...]
ENDS = (tree.Give, tree.Next, tree.Leave)
EMPTY = frozenset({"set", "list", "dict", "Counter"})  # What makes an empty container.


class Lookup(NamedTuple):
    """`name = of.get(key)`."""

    node: tree.Set
    name: str
    of: tree.Expression
    key: tree.Expression

    def place(self) -> tree.Subscript:
        return tree.Subscript(self.node.value.place, self.of, self.key)

    def named(self) -> tree.Set:
        return replace(self.node, value=self.place())


def with_places(b: Body, nodes: Sequence[tree.Statement]) -> Block | None:
    """Statements that begin with a lookup, as those that name its place where it is there; None
    where they do something else with it."""
    found = _lookup(b, nodes[0])
    if found is None:
        return None
    at = next((i for i, n in enumerate(nodes) if i and _mentions(n, found.name)), 0)
    between = nodes[1:at]
    if not at or not all(_only_asks(each, found.node.value) for each in between):
        return None
    made = _named(b, found, nodes[at], (*nodes[at + 1 :],))
    return None if made is None else (*between, *made)


def _lookup(b: Body, node: tree.Statement) -> Lookup | None:
    match node:
        case tree.Set(
            target=tree.Name(name=name),
            value=tree.Apply(function=tree.Attribute(of=of, name="get"), args=(key,), keywords=()),
            annotation=None,
        ) if _is_path(of) and _is_total(b, key) and name not in b.locals:
            found = Lookup(node, name, of, key)
        case _:
            return None
    if times_assigned(b, name) == 1 and not changes_in_place(b.written, name):
        return None  # A local that looks is enough, whatever happens to the place.
    return found if _holds_containers(b, of) else None


def _is_path(of: tree.Expression) -> bool:
    """Whether it is a variable of the machine, or a local."""
    while isinstance(of, tree.Attribute):
        of = of.of
    return isinstance(of, tree.Name)


def _is_total(b: Body, key: tree.Expression) -> bool:
    """Whether a key always has a value, and the same one again."""
    match key:
        case tree.Name() | tree.Literal():
            return True
        case tree.Attribute(of=of):
            return _is_total(b, of)
        case tree.Display(kind="tuple", items=items):
            return all(_is_total(b, each) for each in items)
        case tree.Apply(function=function, args=args, keywords=()):
            return isinstance(b.static(function), type) and all(_is_total(b, x) for x in args)
        case _:
            return False


def _holds_containers(b: Body, of: tree.Expression) -> bool:
    """Whether it is a map of containers that can be changed; what is refused is told later."""
    if isinstance(of, tree.Name) and of.name not in {*b.locals, *b.aliases}:
        return False
    known, evaluated, reads = len(b.scene.problems.found), b.evaluated, len(b.named_reads)
    kind = expressions.expr(b, of).type
    del b.scene.problems.found[known:], b.named_reads[reads:]
    b.evaluated = evaluated
    if not isinstance(kind, t.Map) or t.contains(kind.value, t.Part):
        return False
    return isinstance(kind.value, t.Set | t.Seq | t.Map | t.Bag) and not t.immutable(kind.value)


def _only_asks(node: tree.Statement, later: tree.Expression) -> bool:
    """Whether a statement changes nothing that is evaluated later: another lookup, a name of a
    place, or a guard."""
    match node:
        case tree.Set(
            target=tree.Name(name=name),
            value=(tree.Apply(function=tree.Attribute(of=of, name="get")) | tree.Subscript(of=of)),
        ):
            return _is_path(of) and not _mentions(later, name)
        case tree.Evaluate(value=tree.Apply(function=tree.Name(name="require"))):
            return True
        case _:
            return False


def _named(b: Body, found: Lookup, node: tree.Statement, rest: Block) -> Block | None:
    """The statement that asks, and the rest after it, with the place named where it is there."""
    match node:
        case tree.Evaluate(
            value=tree.Apply(function=tree.Name(name="require"), args=(test, *why)) as call
        ) if not _mentions(tuple(why), found.name):
            asked = _asked(found, test, there=True)
            if asked is None:
                return None
            guard = replace(node, value=replace(call, args=(asked, *why)))
            return (guard, found.named(), *rest)
        case tree.Choose():
            return _chosen(b, found, node, rest)
        case _:
            return None


def _chosen(b: Body, found: Lookup, node: tree.Choose, rest: Block) -> Block | None:
    then, other, name = node.then, node.other, found.name
    asked = _asked(found, node.test, there=True)
    if asked is not None:
        if _mentions(other, name) or _mentions(rest, name):
            return None
        return (replace(node, test=asked, then=(found.named(), *then)), *rest)
    asked = _asked(found, node.test, there=False)
    if asked is None:
        return None
    later = _mentions(rest, name)
    if not _mentions(then, name) and (_ends(then) or not later):
        other = (found.named(), *other) if other else ()
        return (replace(node, test=asked, other=other), *([found.named()] if later else []), *rest)
    if other:
        return None
    put = _put(found, then)
    if put is not None:
        return (replace(node, test=asked, then=put), found.named(), *rest)
    return _instead(b, found, node, rest)


def _put(found: Lookup, then: Block) -> Block | None:
    """`q = []; self.m[k] = q` as `self.m[k] = []`, which what follows may name."""
    match then:
        case (
            tree.Set(target=tree.Name(name=new), value=value, annotation=None),
            tree.Set(value=tree.Name(name=one)) as first,
            tree.Set(value=tree.Name(name=two)) as second,
        ) if new == one == two:  # `q = self.m[k] = []`.
            return _put(found, (replace(first, value=value), replace(second, value=first.target)))
        case (
            tree.Set(target=tree.Name(name=name), value=new, annotation=None),
            tree.Set(target=tree.Subscript() as target, value=tree.Name(name=again)) as node,
        ) if name == again == found.name and alike(target, found.place()):
            return None if _mentions(new, name) else (replace(node, value=new),)
        case (
            tree.Set(target=tree.Subscript() as target, value=new) as node,
            tree.Set(target=tree.Name(name=name), value=value, annotation=None),
        ) if name == found.name and alike(target, found.place()) and alike(value, target):
            return None if _mentions(new, name) else (node,)
        case _:
            return None


def _instead(b: Body, found: Lookup, node: tree.Choose, rest: Block) -> Block | None:
    """`if q is None: q = []` as another default of the lookup, where `q` is only read."""
    match node.then:
        case (tree.Set(target=tree.Name(name=name), value=new, annotation=None),) if (
            name == found.name
            and _is_empty(new)
            and not changes_in_place(b.written, name)
            and times_assigned(b, name) == 2
        ):
            call = found.node.value
            assert isinstance(call, tree.Apply)
            given = replace(call, args=(found.key, new))
            b.joined.add(name)
            return (replace(found.node, value=given), *rest)
        case _:
            return None


def _is_empty(new: tree.Expression) -> bool:
    match new:
        case tree.Display(items=()) | tree.Pairs(items=()):
            return True
        case tree.Apply(function=tree.Name(name=name), args=(), keywords=()):
            return name in EMPTY
        case _:
            return False


def _ends(then: Block) -> bool:
    """Whether nothing comes after these statements."""
    match then[-1]:
        case tree.Evaluate(value=tree.Apply(function=tree.Name(name="refuse"))):
            return True
        case last:
            return isinstance(last, ENDS)


def _asked(found: Lookup, test: tree.Expression, *, there: bool) -> tree.Expression | None:
    """The test about the map and the place; None unless it is true (`there`), or else false, only
    where the key is there, and asks that before it uses the local."""
    if not isinstance(test, tree.Both if there else tree.Either):
        return _first(found, test, there)
    at = next((i for i, each in enumerate(test.args) if _mentions(each, found.name)), 0)
    asked = _first(found, test.args[at], there)
    if asked is None:
        return None
    more = (_written_out(found, each) for each in test.args[at + 1 :])
    return replace(test, args=(*test.args[:at], asked, *more))


def _first(found: Lookup, test: tree.Expression, there: bool) -> tree.Expression | None:
    match test:
        case tree.Compare(
            first=tree.Name(name=name), rest=((("is" | "is not") as op, tree.Literal(value=None)),)
        ) if name == found.name and (op == "is not") == there:
            return tree.Compare(test.place, found.key, (("in" if there else "not in", found.of),))
        case tree.Name(name=name) if there and name == found.name:
            return found.node.value
        case tree.Unary(op="not", of=tree.Name(name=name)) if not there and name == found.name:
            return replace(test, of=found.node.value)
        case _:
            return None


def _written_out(found: Lookup, node: Any) -> Any:
    """Syntax of an expression with the place for its name."""
    if isinstance(node, tree.Name) and node.name == found.name:
        return found.place()
    if isinstance(node, tree.Tree):
        held = {f.name: _written_out(found, getattr(node, f.name)) for f in fields(node)}
        return replace(node, **held)
    if isinstance(node, tuple):
        return tuple(_written_out(found, each) for each in cast(tuple[object, ...], node))
    return node


def _mentions(nodes: object, name: str) -> bool:
    return any(isinstance(node, tree.Name) and node.name == name for node in tree.nodes(nodes)) or (
        any(name in tree.assigned_by(node) for node in tree.nodes(nodes))
    )


def alike(one: object, other: object) -> bool:
    """Whether two pieces of syntax are written alike, wherever they stand."""
    if isinstance(one, tree.Tree):
        return one.__class__ is other.__class__ and all(
            alike(getattr(one, f.name), getattr(other, f.name))
            for f in fields(one)
            if f.name != "place"
        )
    if isinstance(one, tuple) and isinstance(other, tuple):
        these, those = cast(tuple[object, ...], one), cast(tuple[object, ...], other)
        return len(these) == len(those) and all(map(alike, these, those))
    return bool(one == other)
