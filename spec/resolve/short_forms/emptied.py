"""`while q: ... q.pop(0)`: a loop that ends, since each round takes an element from a container and
no round puts one into it. It has at most one round for each element that is there before, and then
one that finds none: to take an element there has no value, as in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ... import ir
from ... import types as t
from ...analysis.changed_places import Change, changes
from ...analysis.places import is_place, may_pass
from ...analysis.walk import everything, free_locals, inlined, statements
from ...ops import PARTIAL_UPDATES
from ...syntax import short_forms, tree
from .. import expressions
from ..context import Body


def emptying(
    b: Body, node: tree.While, each: Callable[[Body, tree.Each], list[ir.Stmt]]
) -> list[ir.Stmt]:
    """The loop as one over a range, with a problem where nothing shows that it ends."""
    found = next(_containers(b, node), None)
    if found is None:
        endless(b, node)
        return []
    written, place = found
    here = node.place
    size = tree.Apply(here, tree.Name(here, "len"), (written,), ())
    # The container may have no value where the test is false: `k in self.m and self.m[k]`.
    count = tree.Conditional(here, node.test, size, tree.Literal(here, 0))
    # The test is read once more after the last element was taken.
    rounds = tree.Binary(here, "+", count, tree.Literal(here, 1))
    over = tree.Apply(here, tree.Name(here, "range"), (rounds,), ())
    b.fresh += 1
    leave = tree.Choose(here, node.test, (), (tree.Leave(here),))
    made = each(b, tree.Each(here, (f"_{b.fresh}",), over, (leave, *node.body)))
    functions = b.scene.functions()
    for stmt in made:
        if isinstance(stmt, ir.Loop) and not _empties(stmt.body, place, functions):
            endless(b, node)
    return made


def _containers(b: Body, node: tree.While) -> Iterator[tuple[tree.Expression, ir.Expr]]:
    """The containers that the test asks about, then those that the body takes from."""
    for each in short_forms.emptied(node.test):
        place = _container(b, each)
        if place is not None:
            yield each, place
    for each in short_forms.taken_from(node.body):
        place = _container(b, each)
        # An item may not be there, and the body may end the loop before it takes from it.
        if place is not None and not any(isinstance(e, ir.Item) for e in everything((place,))):
            yield each, place


def _container(b: Body, written: tree.Expression) -> ir.Expr | None:
    kept = len(b.scene.problems.found), b.evaluated
    place = expressions.infer(b, written, None)
    del b.scene.problems.found[kept[0] :]  # It is resolved, and judged, again.
    b.evaluated = kept[1]
    kind = place.type
    held = isinstance(kind, t.Seq | t.Set | t.Map) and is_place(place) and kind.mutable
    return place if held else None


def _empties(body: Sequence[ir.Stmt], place: ir.Expr, functions: Sequence[ir.Function]) -> bool:
    """Whether each round that comes to its end takes an element, and none puts one in."""
    every = [*every_statement(body, functions)]
    again = {name for stmt in every for name in named_anew(stmt)}
    if not again.isdisjoint(name for name, _ in free_locals((place,))):
        return False
    for stmt in every:
        if any(_fills(change, stmt, place) for change in _changes(stmt, place, functions)):
            return False
    return _always(body, place, functions)


def every_statement(body: Iterable[ir.Stmt], functions: Sequence[ir.Function]) -> Iterator[ir.Stmt]:
    """The statements of a body and of the helpers that it calls."""
    for stmt in statements(body):
        yield stmt
        inside = inlined(stmt, functions) if isinstance(stmt, ir.Do) else ()
        if stmt not in inside:
            yield from every_statement(inside, functions)


def _changes(stmt: ir.Stmt, place: ir.Expr, functions: Sequence[ir.Function]) -> Iterator[Change]:
    """What a statement changes, but for the element that it takes; the statements of its helper
    are judged by themselves."""
    helped = isinstance(stmt, ir.Do) and stmt not in inlined(stmt, functions)
    if not helped and not _takes(stmt, place):
        yield from changes(stmt, functions)
    elif isinstance(stmt, ir.Do | ir.Update) and not isinstance(stmt.into, ir.Local | None):
        yield Change(stmt.into, below=True)


def named_anew(stmt: ir.Stmt) -> Iterator[str]:
    """The locals that another value or container takes."""
    match stmt:
        case ir.Loop(names=names) | ir.Unpack(names=names):
            yield from names
        case ir.Assign(target=ir.Local(name=name)):
            yield name
        case ir.Update(into=ir.Local(name=name)) | ir.Step(into=ir.Local(name=name)):
            yield name
        case ir.Do(into=ir.Local(name=name)) | ir.Base(into=ir.Local(name=name)):
            yield name
        case _:
            pass


def _fills(change: Change, stmt: ir.Stmt, place: ir.Expr) -> bool:
    """Whether the container may be another one, or have more elements, after this change."""
    if change.place is None or may_pass(place, change.place, below=False):
        return True
    inside = isinstance(stmt, ir.Update) or isinstance(place.type, t.Seq)  # It stays as long.
    return not inside and may_pass(change.place, place, below=False)


def _takes(stmt: ir.Stmt, place: ir.Expr) -> bool:
    """Whether the statement takes an element, or has no value where there is none."""
    if not (isinstance(stmt, ir.Update) and stmt.target == place and stmt.op in PARTIAL_UPDATES):
        return False
    return not (isinstance(place.type, t.Map) and len(stmt.args) > 1)  # `m.pop(k, None)`.


def _always(
    body: Iterable[ir.Stmt], place: ir.Expr, functions: Sequence[ir.Function], helper: bool = False
) -> bool:
    """Whether an element is taken on every way on which another round may follow."""
    for stmt in body:
        if _takes(stmt, place):
            return True
        if isinstance(stmt, ir.Branch) and all(
            _always(way, place, functions, helper) for way in (stmt.then, stmt.other)
        ):
            return True
        if isinstance(stmt, ir.Do):
            inside = inlined(stmt, functions)
            if stmt not in inside and _always(inside, place, functions, helper=True):
                return True
        leaves = (ir.Continue, ir.Return) if helper else ir.Continue
        if any(isinstance(each, leaves) for each in statements((stmt,))):
            return False
    return False


def endless(b: Body, node: tree.While) -> None:
    """Note that nothing shows that a loop ends."""
    b.problem(
        "L102",
        node.place,
        "a while loop of which nothing shows that it ends",
        "a loop that ends by itself",
        short_forms.ENDLESS,
    )
