"""Collections written out, and comprehensions."""

from __future__ import annotations

from dataclasses import replace

from .. import ir, ops
from .. import types as t
from ..analysis.iteration_order import identity, injective
from ..analysis.partiality import always_defined
from ..analysis.walk import free_locals
from ..errors import a
from ..syntax import tree
from . import tuples
from .conditions import truth
from .constants import complete
from .context import Body, Resolver, facts_if, unpacked
from .expressions import expr, iterable, join, misfit, unordered
from .families import name_members, round_of
from .ordered_sorts import compared
from .short_forms.enum_integers import as_integer
from .short_forms.mapped import comprehended, of_itertools
from .short_forms.sorted_items import round_of_sorted


def _display(b: Body, node: tree.Display, expected: t.Type | None) -> ir.Expr:
    place = node.place
    if node.kind == "empty":
        match expected:
            case t.Map():
                return _pairs(b, tree.Pairs(place, ()), expected)
            case t.Set() | t.Seq(mutable=True):
                op = "set" if isinstance(expected, t.Set) else "list"
                return ir.Op(place, expected, op, ())
            case _:
                node = tree.Display(place, "tuple", ())
    fixed = expected if node.kind == "tuple" and isinstance(expected, t.Tuple) else None
    if fixed is not None and len(fixed.items) == len(node.items):
        both = zip(node.items, fixed.items, strict=True)
        args = tuple(expr(b, item, kind) for item, kind in both)
        return ir.Op(place, fixed, "tuple", args)
    item = None
    if isinstance(expected, t.Set | t.Seq):
        item = expected.item
    args = tuple(expr(b, each, item) for each in node.items)
    if node.kind == "tuple" and not isinstance(expected, t.Seq):
        return ir.Op(place, t.Tuple(tuple(arg.type for arg in args)), "tuple", args)
    item = item or join(b, place, tuple(arg.type for arg in args))
    made: t.Type = t.Seq(item, mutable=node.kind == "list")
    if node.kind == "set":
        made = t.Set(item, mutable=True)
    return ir.Op(place, made, node.kind, args)


def _pairs(b: Body, node: tree.Pairs, expected: t.Type | None) -> ir.Expr:
    key = expected.key if isinstance(expected, t.Map) else None
    value = expected.value if isinstance(expected, t.Map) else None
    if isinstance(expected, t.Bag):
        key, value = expected.item, t.INT
    args: list[ir.Expr] = []
    for k, v in node.items:
        args += [expr(b, k, key), expr(b, v, value)]
    key = key or join(b, node.place, tuple(a.type for a in args[::2]))
    value = value or join(b, node.place, tuple(a.type for a in args[1::2]))
    total = isinstance(expected, t.Map) and expected.total and complete(args[::2], key)
    return ir.Op(node.place, t.Map(key, value, mutable=True, total=total), "map", tuple(args))


def clauses(b: Body, given: tuple[tree.For, ...]) -> tuple[tuple[ir.Clause, ...], bool]:
    """The clauses of a comprehension, its names bound from here on; and whether all are ordered."""
    out: list[ir.Clause] = []
    in_order = True
    for clause in (one for whole in given for one in _several(b, whole)):
        turn = round_of_sorted(b, clause.over, clause.names)
        if turn is None:
            turn = round_of(b, *_gone_through(b, clause.over), clause.names)
        over = turn.over
        in_order = in_order and (t.ordered(over.type) or isinstance(over.type, t.Unknown))
        bound = unpacked(turn.item, turn.names)
        if bound is None:
            b.problem(
                "L203",
                clause.place,
                f"{len(turn.names)} names for {a(turn.item)}",
                "one name, or as many as the tuple has items",
                "unpack tuples only",
            )
            bound = dict.fromkeys(turn.names, t.Unknown())
        b.bind(bound)
        name_members(b, turn.members)
        _name_inner(b, clause)
        conditions: list[ir.Expr] = []
        for condition in clause.conditions:
            conditions.append(truth(b, condition))
            b.facts.update(facts_if(conditions[-1], True))
        out.append(ir.Clause(clause.place, turn.names, over, tuple(conditions)))
    return tuple(out), in_order


def _gone_through(b: Body, over: tree.Expression) -> tuple[ir.Expr, t.Type]:
    """What a clause goes through, and the type of its elements: also `filter`, `map` and
    generators. All their elements are made before, so each has a value for certain: Python makes
    no more of them than are asked for."""
    inner = comprehended(b, over)
    if not isinstance(inner, tree.Comprehension) or inner.kind != "generator":
        return iterable(b, over)
    made = comprehension(b, inner, "tuple", None, any_order=True)
    kept = len(b.scene.problems.found)
    found = as_set(b, made) if isinstance(made, ir.Comp) else made
    if len(b.scene.problems.found) == kept and not always_defined(made, unsure=b.unsure):
        what, instead = "a generator whose elements may have no value", "write a list: [...]"
        b.problem("L103", over.place, what, "elements that have a value for certain", instead)
    return found, t.element(found.type) or t.Unknown()


def _several(b: Body, clause: tree.For) -> tuple[tree.For, ...]:
    if not of_itertools(b, clause.over):
        return (clause,)
    from .short_forms.itertools_calls import several

    return several(b, clause)


def _name_inner(b: Body, clause: tree.For) -> None:
    """From here on the names of a tuple among the names of a clause are items of that tuple."""
    for name, names in clause.inner:
        held = b.aliases.get(name) or ir.Local(clause.place, b.locals[name], name)
        items = tuples.items_of(held) if isinstance(held.type, t.Tuple) else ()
        if len(items) == len(names):
            name_members(b, dict(zip(names, items, strict=True)))
            continue
        if not isinstance(held.type, t.Unknown):
            b.problem(
                "L203",
                clause.place,
                f"{len(names)} names for {a(held.type)}",
                "as many names as the tuple has items",
                "give it one name, and read its items",
            )
        b.bind(dict.fromkeys(names, t.Unknown()))


def comprehension(
    b: Body,
    node: tree.Comprehension,
    kind: ir.CompKind,
    expected: t.Type | None,
    *,
    any_order: bool = False,
) -> ir.Expr:
    """A comprehension or generator that makes, or is folded into, `kind`.

    `any_order` where the order of a list or tuple is not observed, for it is sorted next.
    """
    item = expected.item if isinstance(expected, t.Set | t.Seq) else None
    with b.binding({}), b.knowing({}), b.without_hoisting():
        bound, in_order = clauses(b, node.clauses)
        if kind in ("all", "any"):
            item = t.BOOL
        elif kind == "sum":
            item = t.INT
        elif kind == "map" and isinstance(expected, t.Map):
            item = expected.value
        if kind in ("all", "any"):
            element = truth(b, node.element)
        else:
            element = expr(b, node.element, None if kind == "sum" else item)
        if kind == "sum":
            element = _counted(b, element)
        key_type = expected.key if isinstance(expected, t.Map) else None
        key = None if node.key is None else expr(b, node.key, key_type)
    if kind in ("min", "max"):
        item = t.widened(compared(b, node.element.place, (element.type,), kind))
    if kind in ("list", "tuple", "first") and not in_order and not any_order:
        what = "the first of" if kind == "first" else "a list or tuple made from"
        unordered(b, node.place, f"{what} an unordered collection", _first_unordered(bound))
    if key is not None and not in_order and _collides(bound, key, element):
        unordered(b, node.place, "a map in which two elements may have one key")
    item = item or element.type
    if not t.immutable(item) and kind in ("set", "sum", "min", "max"):
        b.problem("L202", node.place, f"a set of {item}", "immutable elements", _FROZEN)
    results: dict[str, t.Type] = {
        "all": t.BOOL,
        "any": t.BOOL,
        "sum": t.INT,
        "min": item,
        "max": item,
        "list": t.Seq(item, mutable=True),
        "tuple": t.Seq(item, mutable=False),
        "first": t.Seq(item, mutable=False),
        "set": t.Set(item, mutable=True),
    }
    result = results.get(kind)
    if result is None:
        assert key is not None
        kept = key_type or key.type
        result = t.Map(kept, item, mutable=True, total=_all_keys(bound, key, kept))
    return ir.Comp(node.place, result, kind, element, key, bound)


def _first_unordered(bound: tuple[ir.Clause, ...]) -> t.Type | None:
    """The type of the elements of the first unordered collection that is gone through."""
    overs = (clause.over.type for clause in bound if not t.ordered(clause.over.type))
    return next(map(t.element, overs), None)


def as_set(b: Body, made: ir.Comp) -> ir.Expr:
    """A list or tuple of what is in a set or a map, as the set of its elements, for their order is
    not seen; a problem where one element may be there twice. One of what has an order unchanged."""
    assert isinstance(made.type, t.Seq)
    overs = [clause.over for clause in made.clauses]
    if all(t.ordered(over.type) or isinstance(over.type, t.Unknown) for over in overs):
        return made
    item = made.type.item
    if not each_once(made) or not t.immutable(item):
        what = "a list or tuple made from an unordered collection"
        unordered(b, made.place, what, _first_unordered(made.clauses))
    return replace(made, kind="set", type=t.Set(item, mutable=True))


def each_once(made: ir.Comp) -> bool:
    """Whether a comprehension over something without an order gives no element twice."""
    first, *others = made.clauses
    once = once_each(first.over) and injective(made.element, identity(first.names, first.over))
    return once and not others


def each_of(node: tree.Expression) -> tree.Comprehension:
    """A generator of the elements of a collection."""
    name = tree.Name(node.place, "_each")
    clause = tree.For(node.place, (name.name,), node, ())
    return tree.Comprehension(node.place, "generator", name, None, (clause,))


def once_each(over: ir.Expr) -> bool:
    """Whether an iteration gives no element twice, as the values of a map may be."""
    match over:
        case ir.Op(op="keys" | "items") | ir.Domain():
            return True
        case _:
            return isinstance(over.type, t.Set | t.Map)


def _counted(b: Body, element: ir.Expr) -> ir.Expr:
    """What a sum adds: an integer, a member of an IntEnum, or a bool as 1 or 0."""
    element = as_integer(b, element)
    if isinstance(element.type, t.Bool):
        return ir.Op(element.place, t.INT, "int", (element,))
    if not t.fits(element.type, t.INT):
        misfit(b, element.place, element.type, t.INT)
        return b.wrong(element.place)
    return element


def _collides(bound: tuple[ir.Clause, ...], key: ir.Expr, element: ir.Expr) -> bool:
    """Whether two rounds could give one key different values, so that the last of them counts."""
    names = {name for clause in bound for name in clause.names}
    if not any(name in names for name, _ in free_locals((element,))):
        return False
    unordered_names = frozenset(
        name
        for clause in bound
        if not t.ordered(clause.over.type)
        for name in identity(clause.names, clause.over)
    )
    return not injective(key, unordered_names)


def _all_keys(bound: tuple[ir.Clause, ...], key: ir.Expr, kind: t.Type) -> bool:
    """Whether a map comprehension has every possible key: it iterates over all values of a type."""
    if len(bound) != 1 or bound[0].conditions or len(bound[0].names) != 1:
        return False
    over = bound[0].over
    if not isinstance(key, ir.Local) or key.name != bound[0].names[0]:
        return False
    if isinstance(over, ir.Domain):
        return over.type == t.Iter(kind, t.ordered(over.type))
    if isinstance(over, ir.Op) and over.op in ops.DISPLAYS:
        return complete(over.args, kind)
    total = isinstance(over.type, t.Map) and over.type.total and over.type.key == kind
    return total or _whole_range(over, kind)


def _whole_range(over: ir.Expr, kind: t.Type) -> bool:
    """Whether a range of literals is all of a bounded integer type."""
    if not isinstance(kind, t.Int) or not isinstance(over, ir.Op) or over.op != "range":
        return False
    given = [arg.value for arg in over.args if isinstance(arg, ir.Const)]
    if len(given) != len(over.args) or len(given) > 2:
        return False
    low, high = (0, given[0]) if len(given) == 1 else given
    return (kind.low, kind.high) == (low, int(str(high)) - 1)


_FROZEN = "use frozenset and tuple for what is inside"


def _comprehension(b: Body, node: tree.Comprehension, expected: t.Type | None) -> ir.Expr:
    if node.kind == "generator":
        b.problem(
            "L103",
            node.place,
            "a generator by itself",
            "a fold or a collection round it",
            "write all(...), any(...), sum(...), frozenset(...), tuple(...)",
        )
        return b.wrong(node.place)
    if node.kind == "list" and b.asked is node:  # Whether it is empty shows no order.
        return comprehension(b, node, "tuple", None, any_order=True)
    kinds: dict[str, ir.CompKind] = {"set": "set", "list": "list", "map": "map"}
    return comprehension(b, node, kinds[node.kind], expected)


ROWS: dict[type[tree.Tree], Resolver] = {
    tree.Display: _display,
    tree.Pairs: _pairs,
    tree.Comprehension: _comprehension,
}
