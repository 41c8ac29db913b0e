"""`dict.fromkeys(keys, value)`: each key has the one value. `dict(zip(keys, values))`.
`list(dict.fromkeys(q))`: the elements of a list, each where it stands first."""

from __future__ import annotations

from ... import ir
from ... import types as t
from ...analysis.partiality import always_defined
from ...syntax import tree
from .. import expressions
from ..context import Body
from ..methods import refused


def from_keys(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
    """`dict.fromkeys(keys, value)`: each key has the one value."""
    if len(node.args) != 2 or node.keywords:
        return refused(b, node, "dict.fromkeys(keys, value)")
    name = f"_key_{b.fresh}"
    b.fresh += 1
    clause = tree.For(node.place, (name,), node.args[0], ())
    key = tree.Name(node.place, name)
    made = tree.Comprehension(node.place, "map", node.args[1], key, (clause,))
    found = expressions.expr(b, made, expected if isinstance(expected, t.Map) else None)
    if isinstance(found, ir.Comp) and not always_defined(found.element, unsure=b.unsure):
        b.problem(
            "L102",
            node.args[1].place,
            "a value that Python computes once, also where there is no key",
            "a value that is there in any case",
            "assign it to a local first",
        )
    if isinstance(found.type, t.Map) and not t.immutable(found.type.value):
        b.problem(
            "L211",
            node.place,
            f"one {found.type.value} for every key",
            "a container for each key",
            "write a comprehension: {k: set() for k in keys}",
        )
    return found


def of_pairs(b: Body, node: tree.Apply) -> tree.Comprehension | None:
    """`dict(zip(keys, values))` and `dict((k, v) for ...)` as `{k: v for ...}`: there, too, the
    last value of a key counts. None of other arguments."""
    match node.args[0]:
        case tree.Apply(function=tree.Name(name="zip" | "enumerate" as name), args=args) if (
            name == "enumerate" or len(args) == 2
        ):
            return by_key_and_value(b, node)
        case (
            tree.Comprehension(
                kind="generator" | "list", element=tree.Display(kind="tuple", items=(key, value))
            ) as each
        ):
            return tree.Comprehension(node.place, "map", value, key, each.clauses)
        case _:
            return None


def by_key_and_value(b: Body, node: tree.Apply) -> tree.Comprehension:
    """`dict(pairs)` as `{k: v for k, v in pairs}`."""
    names = f"_key_{b.fresh}", f"_each_{b.fresh}"
    b.fresh += 1
    key, value = (tree.Name(node.place, each) for each in names)
    clause = tree.For(node.place, names, node.args[0], ())
    return tree.Comprehension(node.place, "map", value, key, (clause,))


def first_of_each(b: Body, node: tree.Expression) -> tree.Expression | None:
    """`dict.fromkeys(q)` whose keys are wanted in order, as a comprehension; None of others."""
    match node:
        case tree.Apply(function=function, args=(of,), keywords=()):
            if b.static(function) != dict.fromkeys:
                return None
        case _:
            return None
    place = node.place
    index, each = (tree.Name(place, f"_{kind}_{b.fresh}") for kind in ("index", "each"))
    b.fresh += 1
    numbered = tree.Apply(place, tree.Name(place, "enumerate"), (of,), ())
    before = tree.Cut(place, of, None, index)
    new = tree.Compare(place, each, (("not in", before),))
    clause = tree.For(place, (index.name, each.name), numbered, (new,))
    return tree.Comprehension(place, "list", each, None, (clause,))
