"""Lists in constants: a constant of the module or the class is made of tuples here, where Python
has lists, which equal no tuple."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from ... import ir
from ... import types as t
from ...syntax import tree
from .. import tuples
from ..context import MISSING, Body


def constant_list(b: Body, node: tree.Expression, found: ir.Expr) -> ir.Expr:
    """A constant list, or a part of one, as the list that it is; anything else unchanged. What is
    inside a constant is a tuple here, so a list there has no equal."""
    static = _named(b, node.of if isinstance(node, tree.Cut) else node)
    if isinstance(static, list) and isinstance(found.type, t.Seq | t.Tuple):
        if found.type == t.Tuple(()):
            return ir.Op(found.place, t.Seq(t.Unknown(), mutable=True), "list", ())
        made = tuples.as_sequence(found) if isinstance(found.type, t.Tuple) else (found, None)
        if made is not None and isinstance(made[0].type, t.Seq):
            kind = t.Seq(made[0].type.item, mutable=True)
            return ir.Op(found.place, kind, "list_of", (made[0],))
    elif not (_has_sequence(found.type) and _listed(b, node)):
        return found
    b.problem(
        "L203",
        node.place,
        "== of a list that is in a constant",
        "lists of one type, or tuples",
        "make it a tuple in the constant, and compare tuples",
    )
    return b.wrong(node.place)


def sought(b: Body, node: tree.Expression, held: tree.Expression) -> bool:
    """Whether `in` looks for a list of a constant, or for a tuple among such lists: a problem."""
    if not (_listed(b, node) or any(_has_list(value) for value in _values(b, held, set()))):
        return False
    b.problem(
        "L203",
        node.place,
        "in with a list that is in a constant",
        "tuples alone",
        "make it a tuple in the constant",
    )
    return True


def kept(b: Body, node: tree.Expression, found: ir.Expr) -> ir.Expr:
    """A value that is to be kept or put out; a problem where it is a list of a constant."""
    if not (_has_sequence(found.type) and _listed(b, node)):
        return found
    b.problem(
        "L203",
        node.place,
        "a list of a constant where a tuple is kept",
        "a tuple",
        "make it a tuple in the constant, or write tuple(...)",
    )
    return b.wrong(node.place)


def _has_sequence(kind: t.Type) -> bool:
    """Whether values of a type are lists or tuples, or have some inside."""
    return t.contains(kind, t.Seq) or t.contains(kind, t.Tuple)


def _listed(b: Body, node: tree.Expression) -> bool:
    """Whether an expression may be a list of a constant, or have one inside."""
    return any(isinstance(value, list) or _has_list(value) for value in _values(b, node, set()))


def _named(b: Body, node: tree.Expression) -> Any:
    """The constant of the module or the class that a name means; MISSING where it means none."""
    match node:
        case tree.Attribute(of=tree.Name(name="self"), name=name):
            return b.scene.constant(name) if name not in b.scene.own.fields else MISSING
        case _:
            return b.static(node)


def _values(b: Body, node: tree.Expression, seen: set[str]) -> Iterator[Any]:
    """The constants, and parts of constants, that an expression may have as its value."""
    static = _named(b, node)
    if static is not MISSING:
        yield static
        return
    match node:
        case tree.Name(name=name) if name not in seen:
            seen.add(name)
            yield from _bound(b, name, seen)
        case tree.Subscript(of=of):
            for value in _values(b, of, seen):
                yield from _elements(value)
        case tree.Cut(of=of):
            yield from _values(b, of, seen)
        case tree.Display(items=written):
            for each in written:
                for value in _values(b, each, seen):
                    yield (value,)
        case tree.Conditional(then=then, other=other):
            yield from _values(b, then, seen)
            yield from _values(b, other, seen)
        case tree.Apply(function=tree.Attribute(of=of, name="values" | "items" | "get" as method)):
            for value in _values(b, of, seen):
                rows = tuple(_table(value).items())
                items = rows if method == "items" else tuple(held for _, held in rows)
                yield from items if method == "get" else (items,)
        case tree.Apply(
            function=tree.Name(name="sorted" | "reversed" | "list" | "tuple"), args=(of, *_)
        ):  # The same elements again.
            for value in _values(b, of, seen):
                yield tuple(_round(value))
        case tree.Apply(args=args):
            for each in args:  # Whatever it does with them, it may give any part of them.
                for value in _values(b, each, seen):
                    yield from _inside(value)
        case _:
            pass


def _bound(b: Body, name: str, seen: set[str]) -> Iterator[Any]:
    """What the statements and comprehensions of the body give a local."""
    for node in tree.nodes(b.written):
        match node:
            case tree.Set(target=tree.Name(name=target), value=value) if target == name:
                yield from _values(b, value, seen)
            case tree.Set(target=tree.Display() as target, value=value) if name in {
                each.name for each in target.items if isinstance(each, tree.Name)
            }:
                for held in _values(b, value, seen):
                    yield from _elements(held)
            case tree.Each(names=names, over=over) | tree.For(names=names, over=over) if (
                name in names or (isinstance(node, tree.For) and _is_inner(node, name))
            ):
                for held in _values(b, over, seen):
                    for element in _round(held):
                        yield from (element,) if len(names) == 1 else _inside(element)
                        if isinstance(node, tree.For) and node.inner:
                            yield from _inside(element)
            case _:
                pass


def _is_inner(node: tree.For, name: str) -> bool:
    return any(name in names for _, names in node.inner)


def _elements(value: Any) -> Iterator[Any]:
    """What is in a constant, of a map what its keys lead to."""
    yield from _table(value).values()
    if isinstance(value, list | tuple):
        yield from cast(Iterable[Any], value)


def _table(value: Any) -> Mapping[Any, Any]:
    return cast(Mapping[Any, Any], value) if issubclass(value.__class__, dict) else {}


def _round(value: Any) -> Iterator[Any]:
    """What a loop over a constant goes through."""
    if isinstance(value, dict | list | tuple | set | frozenset | range):
        yield from cast(Iterable[Any], value)


def _inside(value: Any) -> Iterator[Any]:
    """A constant, and all parts of it."""
    yield value
    for each in _elements(value):
        yield from _inside(each)


def _has_list(value: Any) -> bool:
    """Whether a list is inside a constant."""
    return any(isinstance(each, list) or _has_list(each) for each in _elements(value))
