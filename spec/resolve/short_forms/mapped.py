"""`map(f, xs)`, `filter(f, xs)` and `chain.from_iterable(xs)`, written as comprehensions."""

from __future__ import annotations

from ...errors import Place
from ...syntax import tree
from ..context import Body


def comprehended(b: Body, node: tree.Expression) -> tree.Expression:
    """`(f(x) for x in xs)` or `(x for x in xs if f(x))`, and of `chain.from_iterable(xs)` the
    elements of each; any other expression unchanged."""
    match node:
        case tree.Apply(function=tree.Name() as name, args=(f, *over), keywords=()) if over:
            static = b.static(name)
            if static is filter and len(over) == 1:
                return _filtered(b, node.place, f, over[0])
            if static is map:
                return _mapped(b, node.place, f, over)
        case _:
            if not of_itertools(b, node):
                return node
            from .itertools_calls import flattened

            return flattened(b, node) or node
    return node


def of_itertools(b: Body, node: tree.Expression) -> bool:
    """Whether it is a call of a function of `itertools`; few machines have one."""
    if not isinstance(node, tree.Apply):
        return False
    static = b.static(node.function)
    owner = getattr(static, "__self__", None)  # Of `chain.from_iterable`.
    return "itertools" in (getattr(each, "__module__", None) for each in (static, owner))


def _mapped(
    b: Body, place: Place, f: tree.Expression, over: list[tree.Expression]
) -> tree.Expression:
    names, value = _applied(b, place, f, len(over))
    both = over[0] if len(over) == 1 else tree.Apply(place, tree.Name(place, "zip"), (*over,), ())
    return tree.Comprehension(place, "generator", value, None, (tree.For(place, names, both, ()),))


def _filtered(b: Body, place: Place, f: tree.Expression, over: tree.Expression) -> tree.Expression:
    if isinstance(f, tree.Literal) and f.value is None:
        b.fresh += 1
        names: tuple[str, ...] = (f"_{b.fresh}",)
        test: tree.Expression = tree.Name(place, names[0])
    else:
        names, test = _applied(b, place, f, 1)
    clause = tree.For(place, names, over, (test,))
    element = tree.Name(place, names[0])
    return tree.Comprehension(place, "generator", element, None, (clause,))


def _applied(
    b: Body, place: Place, f: tree.Expression, count: int
) -> tuple[tuple[str, ...], tree.Expression]:
    """The names of the elements, and the call with them; of a lambda its names and its body."""
    if isinstance(f, tree.Function) and len(f.params) == count:
        return f.params, f.body
    b.fresh += count
    names = tuple(f"_{b.fresh - i}" for i in range(count))
    return names, tree.Apply(place, f, tuple(tree.Name(place, name) for name in names), ())
