"""Walking the IR: every expression, statement and path of a body."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any

from .. import ir
from ..errors import Place
from .callee import bind

PLAIN = frozenset({"Place", "Type", "Plain", "str", "int", "float", "bool", "None", "tuple"})
Reader = Callable[[Any], tuple[Any, ...]]


class _Readers(dict[type, Reader | None]):
    """For each class of nodes a function that gives the values of those fields that may contain
    other nodes, last field first; None for other classes. Asking a class for its fields is slow,
    and most fields contain no node."""

    def __missing__(self, cls: type[Any]) -> Reader | None:
        self[cls] = _reader(cls) if issubclass(cls, ir.Node) else None
        return self[cls]


def _reader(cls: type[ir.Node]) -> Reader:
    fields = reversed(dataclasses.fields(cls))
    names = [f.name for f in fields if not PLAIN.issuperset(re.findall(r"\w+", str(f.type)))]
    if not names:
        return lambda node: ()
    read = attrgetter(*names)
    return read if len(names) > 1 else lambda node: (read(node),)


_READERS = _Readers()


def children(node: ir.Node) -> Iterator[ir.Node]:
    """The nodes directly inside a node, in the order of its fields."""
    read = _READERS[node.__class__]
    for value in reversed(read(node) if read is not None else ()):
        yield from _nodes(value)


def _nodes(value: Any) -> Iterator[ir.Node]:
    if isinstance(value, ir.Node):
        yield value
    elif value.__class__ is tuple:
        for item in value:
            yield from _nodes(item)


def everything(nodes: Iterable[object]) -> Iterator[ir.Node]:
    """The nodes and all that is inside them, outer before inner, left to right."""
    waiting: list[Any] = [*nodes]
    waiting.reverse()
    while waiting:
        value = waiting.pop()
        if value.__class__ is tuple:
            waiting += value[::-1]
        elif (read := _READERS[value.__class__]) is not None:
            yield value
            waiting += read(value)


def statements(body: Iterable[ir.Stmt]) -> Iterator[ir.Stmt]:
    """All statements of a body, those inside branches and loops included."""
    for stmt in body:
        yield stmt
        match stmt:
            case ir.Branch(then=then, other=other):
                yield from statements((*then, *other))
            case ir.Loop(body=inside):
                yield from statements(inside)
            case _:
                pass


def written(stmt: ir.Stmt) -> tuple[ir.Expr, ...]:
    """The places that a statement itself assigns or updates, parts that step included."""
    match stmt:
        case ir.Assign(target=target) | ir.Tick(clock=target):
            return (target,)
        case ir.Update(target=target, into=into) | ir.Step(part=target, into=into):
            return (target,) if into is None else (target, into)
        case ir.Base(into=into) | ir.Do(into=into) if into is not None:
            return (into,)
        case _:
            return ()


def replaced(node: ir.Node, change: Callable[[ir.Node], ir.Node | None]) -> ir.Node:
    """The node with everything inside it that `change` gives a node for replaced by that."""
    new = change(node)
    if new is not None:
        return new
    fields = {f.name: _replaced(getattr(node, f.name), change) for f in dataclasses.fields(node)}
    made: ir.Node = dataclasses.replace(node, **fields)  # type: ignore[arg-type]  # its own fields
    return made


def _replaced(value: Any, change: Callable[[ir.Node], ir.Node | None]) -> object:
    if isinstance(value, ir.Node):
        return replaced(value, change)
    if value.__class__ is tuple:
        return tuple(_replaced(item, change) for item in value)
    return value


def inlined(do: ir.Do, functions: Iterable[ir.Function]) -> tuple[ir.Stmt, ...]:
    """The statements of a helper with its arguments substituted for its parameters.

    For rules that analyse what a call does; not for execution, because a `return` in it would leave
    the caller.
    """
    found = next((f for f in functions if f.name == do.call.function), None)
    if found is None:
        return (do,)
    given = bind(found.params, do.call.args)

    def change(node: ir.Node) -> ir.Node | None:
        return given.get(node.name) if isinstance(node, ir.Local) else None

    made = (replaced(stmt, change) for stmt in found.body)
    return tuple(stmt for stmt in made if isinstance(stmt, ir.Stmt))


def own_expressions(stmt: ir.Stmt) -> tuple[ir.Expr, ...]:
    """The expressions that a statement reads itself; those in its blocks aside."""
    match stmt:
        case ir.Assign(target=target, value=value):
            return (value, *_path(target))
        case ir.Update(target=target, args=args):
            return (target, *args)
        case ir.Branch(test=test) | ir.Assert(test=test):
            return (test,)
        case ir.Loop(over=over):
            return (over,)
        case ir.Do(call=call):
            return (call,)
        case _:
            return tuple(node for node in children(stmt) if isinstance(node, ir.Expr))


def _path(target: ir.Expr) -> tuple[ir.Expr, ...]:
    """The expressions that an assignment to a place reads: none for a local, otherwise the path to
    it."""
    return () if isinstance(target, ir.Local) else (target,)


def free_locals(nodes: Iterable[object]) -> Iterator[tuple[str, Place]]:
    """The locals that are read, by name and place; variables of comprehensions aside."""
    for node in nodes:
        if isinstance(node, ir.Local):
            yield node.name, node.place
        elif isinstance(node, ir.Comp):
            yield from _free_in_comp(node)
        elif isinstance(node, ir.Node):
            yield from free_locals(children(node))


def _free_in_comp(comp: ir.Comp) -> Iterator[tuple[str, Place]]:
    bound: set[str] = set()
    for clause in comp.clauses:
        yield from ((n, p) for n, p in free_locals((clause.over,)) if n not in bound)
        bound.update(clause.names)
        yield from ((n, p) for n, p in free_locals(clause.conditions) if n not in bound)
    inside = (comp.element,) if comp.key is None else (comp.key, comp.element)
    yield from ((n, p) for n, p in free_locals(inside) if n not in bound)


def reads_local(expr: ir.Expr | None) -> bool:
    """Whether an expression reads an argument or a local."""
    return any(isinstance(node, ir.Local) for node in everything((expr,)))


def leading_guards(body: tuple[ir.Stmt, ...]) -> Iterator[ir.Require]:
    """The guards before anything is changed that read no argument."""
    for stmt in body:
        if not isinstance(stmt, ir.Require):
            return
        if not reads_local(stmt.test):
            yield stmt


def ends(body: Sequence[ir.Stmt]) -> bool:
    """Whether nothing after this block is reached through it."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ir.Branch):
        return ends(last.then) and ends(last.other)
    return isinstance(last, ir.Return | ir.Refuse | ir.Break | ir.Continue)
