"""Functions of `itertools`, as what they stand for where something is computed of their elements.

A statement that loops over one is refused: Python asks such a function for the next element when
the round before is over, and that round may have changed what the function goes through.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace

from ... import ir, ops
from ... import types as t
from ...syntax import tree
from .. import expressions
from ..context import Body
from ..methods import refused

Clauses = tuple[tree.For, ...]
Rounds = Sequence[tuple[tuple[str, ...], tree.Expression]]  # The names, and what they go through.


def chained(b: Body, node: tree.Apply) -> ir.Expr:
    """`chain(q, r)` as `(*q, *r)`."""
    if not node.args or node.keywords:
        return refused(b, node, "chain(q, r) of lists and tuples")
    whole: tree.Expression = _tuple(node.args[0])
    for each in node.args[1:]:
        whole = tree.Binary(node.place, "+", whole, _tuple(each))
    return expressions.expr(b, whole)


def in_pairs(b: Body, node: tree.Apply) -> ir.Expr:
    """`pairwise(q)` as `zip(q, q[1:])`."""
    if len(node.args) != 1 or node.keywords:
        return refused(b, node, "pairwise(q) of a list")
    of = node.args[0]
    later = tree.Cut(node.place, of, tree.Literal(node.place, 1), None)
    return expressions.expr(
        b, tree.Apply(node.place, tree.Name(node.place, "zip"), (of, later), ())
    )


def several(b: Body, clause: tree.For) -> Clauses:
    """`for x, y in product(s, r)` in a comprehension as `for x in s for y in r`; any other clause
    by itself. Likewise two of `permutations` and `combinations`."""
    over = clause.over
    if isinstance(over, tree.Apply):
        static = b.static(over.function)
        for function, made in ROWS:
            if static is function:
                return (clause,) if _reads_its_names(clause, over) else made(b, clause, over)
        if flat := flattened(b, over):
            inside = flat.clauses[0]
            last = replace(clause, over=tree.Name(over.place, inside.names[0]))
            return (inside, last)
    return (clause,)


def flattened(b: Body, node: tree.Expression) -> tree.Comprehension | None:
    """`chain.from_iterable(xs)` as `(y for x in xs for y in x)`; None of anything else."""
    match node:
        case tree.Apply(
            function=tree.Attribute(of=of, name="from_iterable") as function,
            args=(over,),
            keywords=(),
        ) if b.static(of) is itertools.chain:
            b.fresh += 2
            outer, each = (tree.Name(function.place, f"_{b.fresh - i}") for i in range(2))
            clauses = tuple(
                tree.For(node.place, (name.name,), xs, ())
                for name, xs in ((outer, over), (each, outer))
            )
            return tree.Comprehension(node.place, "generator", each, None, clauses)
        case _:
            return None


def looped(b: Body, over: tree.Expression) -> bool:
    """Whether a statement loops over such a function, which is a problem then."""
    if isinstance(over, tree.Apply):
        static = b.static(over.function)
        for function, rewrite in REWRITES:
            if static is function:
                refused(b, over, "a loop over lists, sets or maps", rewrite=rewrite)
                return True
    return False


def _product(b: Body, clause: tree.For, node: tree.Apply) -> Clauses:
    given = dict(node.keywords)
    times = given.pop("repeat", tree.Literal(node.place, 1))
    if not isinstance(times, tree.Literal) or not isinstance(times.value, int) or given:
        return (clause,)
    overs = node.args * times.value
    # For one collection it gives tuples of one; what might have no value is asked for in any case.
    if len(overs) < 2 or len(overs) != len(clause.names) or not all(map(_certain, overs[1:])):
        return (clause,)
    return _nested(
        clause, [((name,), over) for name, over in zip(clause.names, overs, strict=True)]
    )


def _permutations(b: Body, clause: tree.For, node: tree.Apply) -> Clauses:
    """Two of one collection, of different places in it."""
    if not _two(clause, node):
        return (clause,)
    (first, second), of = clause.names, node.args[0]
    b.fresh += 2
    places = (f"_{b.fresh - 1}", f"_{b.fresh}")
    rounds: Rounds
    if _without_order(b, of):
        rounds = [((first,), of), ((second,), of)]
        places = (first, second)
    else:
        counted = tree.Apply(node.place, tree.Name(node.place, "enumerate"), (of,), ())
        rounds = [((places[0], first), counted), ((places[1], second), counted)]
    here, there = (tree.Name(node.place, name) for name in places)
    return _nested(clause, rounds, tree.Compare(node.place, here, (("!=", there),)))


def _combinations(b: Body, clause: tree.For, node: tree.Apply) -> Clauses:
    """Two of one list, the first before the second in it."""
    if not _two(clause, node):
        return (clause,)
    (first, second), of = clause.names, node.args[0]
    if _without_order(b, of):
        rewrite = "write permutations(s, 2): each pair in both orders"
        refused(b, node, "pairs of a list or tuple", "L210", rewrite)
        return _nested(clause, [((first,), of), ((second,), of)])
    b.fresh += 1
    place = f"_{b.fresh}"
    counted = tree.Apply(node.place, tree.Name(node.place, "enumerate"), (of,), ())
    one = tree.Literal(node.place, 1)
    start = tree.Binary(node.place, "+", tree.Name(node.place, place), one)
    later = tree.Cut(node.place, of, start, None)
    return _nested(clause, [((place, first), counted), ((second,), later)])


def _reads_its_names(clause: tree.For, over: tree.Apply) -> bool:
    """Whether the call reads names that the clause gives another meaning afterwards."""
    given = {*clause.names, *(name for _, names in clause.inner for name in names)}
    return any(isinstance(each, tree.Name) and each.name in given for each in tree.nodes(over))


def _certain(node: tree.Expression) -> bool:
    """Whether a collection has a value for certain: it reads variables, and takes nothing out."""
    for each in tree.nodes(node):
        match each:
            case tree.Subscript() | tree.Binary():
                return False
            case tree.Apply(function=tree.Attribute(name=name) | tree.Name(name=name)):
                if name not in ops.CONSTRUCTORS | ops.ITERABLES:
                    return False
            case _:
                pass
    return True


def _two(clause: tree.For, node: tree.Apply) -> bool:
    match node:
        case tree.Apply(args=(_, tree.Literal(value=2)), keywords=()):
            return len(clause.names) == 2
        case _:
            return False


def _without_order(b: Body, of: tree.Expression) -> bool:
    """Whether it is a set, a map or a sort, which has each element once."""
    kept = len(b.scene.problems.found), b.evaluated
    with b.without_hoisting():
        over, _ = expressions.iterable(b, of)
    del b.scene.problems.found[kept[0] :]  # It is resolved, and judged, again.
    b.evaluated = kept[1]
    return isinstance(over, ir.Domain) or isinstance(over.type, t.Set | t.Map)


def _nested(
    clause: tree.For,
    rounds: Rounds,
    *conditions: tree.Expression,
) -> Clauses:
    """A clause for each of the rounds, the last of which has the conditions."""
    made = [
        replace(
            clause,
            names=names,
            over=over,
            conditions=(),
            inner=tuple(each for each in clause.inner if each[0] in names),
        )
        for names, over in rounds
    ]
    made[-1] = replace(made[-1], conditions=(*conditions, *clause.conditions))
    return tuple(made)


def _tuple(of: tree.Expression) -> tree.Expression:
    return tree.Apply(of.place, tree.Name(of.place, "tuple"), (of,), ())


ROWS: tuple[tuple[object, Callable[[Body, tree.For, tree.Apply], Clauses]], ...] = (
    (itertools.product, _product),
    (itertools.permutations, _permutations),
    (itertools.combinations, _combinations),
)
REWRITES: tuple[tuple[object, str], ...] = (
    (itertools.chain, "write for x in [*q, *r]"),
    (itertools.pairwise, "write for x, y in zip(q, q[1:])"),
    (itertools.product, "write one loop inside the other"),
    (itertools.permutations, "write one loop inside the other: for x in s: for y in s: if x != y"),
    (itertools.combinations, "write for i, x in enumerate(q): for y in q[i + 1 :]"),
)
