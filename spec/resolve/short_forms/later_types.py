"""Locals whose first value does not say their type: `xs = []`, `seen = set()`, `found = None`.

A later statement says it: `xs.append(x)`, `seen.add(x)`, `counts[x] = 1`, `found = x`. So the body
is resolved once to find these types, and then again with them, as if they had been annotations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from ... import ir
from ... import types as t
from ...analysis.walk import everything
from ...syntax import tree
from ..context import Body
from ..expressions import infer

EMPTY = ("set", "list", "dict")


def trial_of(body: Body) -> Body:
    """The same body, which has not begun. What is found out about one of the two is unknown of the
    other."""
    return replace(
        body,
        locals=dict(body.locals),
        owned=set(body.owned),
        made=set(body.made),
        aliases=dict(body.aliases),
        dead=set(body.dead),
        steady=set(body.steady),
        facts=dict(body.facts),
        moved=set(body.moved),
        joined=set(body.joined),
        later=dict(body.later),
        named_reads=[*body.named_reads],
        broken=[*body.broken],
        continued=[*body.continued],
    )


def awaited(body: Iterable[tree.Statement]) -> frozenset[str]:
    """The names that get an empty container or None without an annotation."""
    return frozenset(
        stmt.target.name
        for stmt in _assignments(body)
        if isinstance(stmt.target, tree.Name)
        and stmt.annotation is None
        and _says_no_type(stmt.value)
    )


def _assignments(body: Iterable[tree.Statement]) -> Iterator[tree.Set]:
    for stmt in body:
        match stmt:
            case tree.Set():
                yield from apart(stmt) or [stmt]
            case tree.Choose(then=then, other=other):
                yield from _assignments((*then, *other))
            case tree.Each(body=inside) | tree.While(body=inside):
                yield from _assignments(inside)
            case tree.Match(cases=cases):
                for case in cases:
                    yield from _assignments(case.body)
            case _:
                pass


def apart(node: tree.Set) -> list[tree.Set]:
    """`a, n = [], 0` as an assignment each, so that what fills a list says its type; nothing where
    a value is more than a constant."""
    match node:
        case tree.Set(target=tree.Display(items=into), value=tree.Display(items=values)):
            awaits = [_says_no_type(value) for value in values]
            plain = [isinstance(value, tree.Literal) for value in values]
            known = all(a or p for a, p in zip(awaits, plain, strict=True))
            if len(into) == len(values) and any(awaits) and known:
                pairs = zip(into, values, strict=True)
                return [tree.Set(value.place, name, value, None) for name, value in pairs]
        case _:
            pass
    return []


def _says_no_type(value: tree.Expression) -> bool:
    match value:
        case tree.Literal(value=None) | tree.Display(kind="list", items=()) | tree.Pairs(items=()):
            return True
        case tree.Apply(function=tree.Name(name=name), args=(), keywords=()):
            return name in EMPTY
        case _:
            return False


def note_item(b: Body, target: tree.Expression, value: tree.Expression) -> None:
    """Note the type of a map that is still unknown, where an item is assigned."""
    match target:
        case tree.Subscript(of=tree.Name(name=name), key=key):
            kind = b.locals.get(name)
            if isinstance(kind, t.Map) and t.contains(kind, t.Unknown):
                held = [t.widened(infer(b, node, None).type) for node in (key, value)]
                b.later.setdefault(name, t.Map(held[0], held[1], mutable=True, total=False))
        case _:
            pass


def shown(
    body: Iterable[ir.Stmt], names: frozenset[str], given: Mapping[str, t.Type]
) -> dict[str, t.Type]:
    """The types that a body shows of these locals; `given` is what it noted itself."""
    found = dict(given)
    for node in everything(body):
        match node:
            case ir.Update(target=ir.Local() as at, op="add" | "append", args=(item,)):
                if isinstance(at.type, t.Set | t.Seq):
                    found.setdefault(at.name, replace(at.type, item=t.widened(item.type)))
            case _:
                pass
    return {
        name: kind
        for name, kind in found.items()
        if name in names and not t.contains(kind, t.Unknown) and not _holds_containers(kind)
    }


def _holds_containers(kind: t.Type) -> bool:
    """Whether it is a container of containers, or one that may be None: annotate those."""
    inside = t.options(kind) if isinstance(kind, t.Union) else t.children(kind)
    return not all(t.immutable(each) for each in inside)
