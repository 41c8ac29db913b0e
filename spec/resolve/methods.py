"""Methods that change nothing: of sets, maps, lists, bags and records; and arguments of calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from .. import ir, ops
from .. import types as t
from ..errors import a, nearest
from ..syntax import tree
from . import expressions, tuples
from .constants import constant
from .context import Body, Signature
from .operators import SETS, of_both

WRITTEN = "write it so; the calls of the language are listed on its page under Bodies"
NO_DEFAULTS: Mapping[str, Any] = {}


def call_of(b: Body, node: tree.Apply, signature: Signature) -> tuple[ir.Expr, ...]:
    """The arguments of a call of a method or function, defaults included, as `arguments`."""
    return arguments(b, node, signature.params, signature.defaults, signature.by_name)


def arguments(
    b: Body,
    node: tree.Apply,
    params: tuple[tuple[str, t.Type], ...],
    defaults: Mapping[str, Any] = NO_DEFAULTS,
    by_name: frozenset[str] = frozenset(),
) -> tuple[ir.Expr, ...]:
    """The arguments in the parameters' order; a problem where they do not fit."""
    given: dict[str, tree.Expression] = {}
    names = [name for name, _ in params]
    given.update(zip((n for n in names if n not in by_name), node.args, strict=False))
    for name, value in node.keywords:
        given[name] = value
    extra = len(given) < len(node.args) + len(node.keywords)  # Too many, or one twice.
    extra = extra or any(name not in names for name in given)
    missing = [name for name in names if name not in given and name not in defaults]
    if extra or missing:
        b.problem(
            "L204",
            node.place,
            _as_written(node),
            f"{getattr(node.function, 'name', '')}({', '.join(f'{n}: {k}' for n, k in params)})",
            "give each parameter once",
        )
        return ()
    return tuple(
        expressions.expr(b, given[name], kind)
        if name in given
        else constant(b, defaults[name], node.place, kind) or b.wrong(node.place)
        for name, kind in params
    )


def refused(
    b: Body, node: tree.Apply, expected: str, number: str = "L204", rewrite: str = WRITTEN
) -> ir.Expr:
    """Note that a call does not fit."""
    hints = (HINTS[word] for word, _ in node.keywords if word in HINTS)
    b.problem(number, node.place, _as_written(node), expected, next(hints, rewrite))
    return b.wrong(node.place)


# What to write in the place of Python's keywords.
HINTS = {
    "key": "compare tuples: min((cost(x), x) for x in s)",
    "reverse": "write reversed(sorted(...))",
    "start": "add it: a sum and a number, a number and i",
}


def _as_written(node: tree.Apply) -> str:
    name = getattr(node.function, "name", "this")
    given = [*("..." for _ in node.args), *(f"{word}=..." for word, _ in node.keywords)]
    return f"{name}({', '.join(given)})"


def only(b: Body, node: tree.Apply, count: int) -> bool:
    """Whether a call has so many arguments, all by position; a problem where it has not."""
    if len(node.args) == count and not node.keywords:
        return True
    refused(b, node, f"{count} argument{'s' * (count != 1)}")
    return False


Method = Callable[[Body, tree.Apply, ir.Expr], ir.Expr]


def _set(op: str) -> Method:
    """`a.union(b)` and its like: with collections of the same elements, of which most take one."""

    def resolve(b: Body, node: tree.Apply, of: ir.Expr) -> ir.Expr:
        if len(node.args) != 1 and op in ops.OF_SEVERAL and not node.keywords:
            made = of if node.args else _copy("set_of")(b, node, of)
            for each in node.args:
                made = resolve(b, replace(node, args=(each,)), made)
            return made
        if not isinstance(of.type, t.Set):
            return of  # What is wrong with it was noted.
        other = _one(b, node, of.type)
        if other is None:
            return b.wrong(node.place)
        result: t.Type = of.type if op in SETS.values() else t.BOOL
        if op in ("union", "symmetric_difference") and isinstance(other.type, t.Set):
            if not t.alike(other.type.item, of.type.item):
                expressions.misfit(b, other.place, other.type, of.type)
                return b.wrong(node.place)
            result = of_both(of.type, other.type)
        return ir.Op(node.place, result, op, (of, other))

    return resolve


def _one(b: Body, node: tree.Apply, like: t.Set) -> ir.Expr | None:
    if len(node.args) != 1 or node.keywords:
        b.problem("L204", node.place, f"{len(node.args)} arguments", "one set", "give one set")
        return None
    found = expressions.infer(b, node.args[0], None)
    if isinstance(found.type, t.Map | t.Seq | t.Bag | t.Iter):  # Python takes any iterable.
        found, item = expressions.iterable(b, node.args[0])
        found = ir.Op(found.place, t.Set(item, False), "frozenset_of", (found,))
    if not isinstance(found.type, t.Set | t.Unknown):
        b.problem("L203", found.place, str(found.type), str(like), "write set(...) round it")
        return None
    return found


def counts(bag: ir.Expr) -> ir.Expr:
    """How often a bag has each of its elements, as a map."""
    assert isinstance(bag.type, t.Bag)
    place, kind = bag.place, t.Map(bag.type.item, t.INT, mutable=True)
    element = ir.Local(place, bag.type.item, "_key")
    clause = ir.Clause(place, ("_key",), bag, ())
    return ir.Comp(place, kind, "map", ir.Item(place, t.INT, bag, element), element, (clause,))


def _view(op: str) -> Method:
    """`keys()`, `values()`, `items()` of a map."""

    def resolve(b: Body, node: tree.Apply, of: ir.Expr) -> ir.Expr:
        arguments(b, node, ())
        of = counts(of) if isinstance(of.type, t.Bag) else of
        assert isinstance(of.type, t.Map)
        key, value = of.type.key, of.type.value
        items = {"keys": key, "values": value, "items": t.Tuple((key, value))}
        view = ir.Op(node.place, t.Iter(items[op], False), op, (of,))
        if op != "keys":
            return view
        # Only keys have set algebra; what it gives is a set of its own and no view.
        return ir.Op(node.place, t.Set(key, False), "frozenset_of", (view,))

    return resolve


def _get(b: Body, node: tree.Apply, of: ir.Expr) -> ir.Expr:
    key = of.type.key if isinstance(of.type, t.Map) else t.element(of.type)
    value = of.type.value if isinstance(of.type, t.Map) else t.INT
    assert key is not None
    if isinstance(value, t.Part):
        b.problem(
            "L205",
            node.place,
            f"get of {a(of.type)}",
            "a machine that is there",
            "name the place, once it is there: if p in self.peers: peer = self.peers[p]",
        )
        return b.wrong(node.place)
    if len(node.args) == 2:
        args = arguments(b, node, (("key", key), ("default", value)))
        kind = t.widened(args[1].type) if isinstance(value, t.Unknown) else value
    else:
        none = ir.Const(node.place, t.NOTHING, None)
        args = (*arguments(b, node, (("key", key),)), none)
        kind = t.union((value, t.NOTHING))
    return ir.Op(node.place, kind, "get", (of, *args))


def _of_item(op: str) -> Method:
    """`count(x)` and `index(x)` of a list or tuple."""

    def resolve(b: Body, node: tree.Apply, of: ir.Expr) -> ir.Expr:
        item = t.element(of.type) or t.Unknown()
        return ir.Op(node.place, t.INT, op, (of, *arguments(b, node, (("item", item),))))

    return resolve


def _of_fixed(op: str) -> Method:
    """The same of a tuple of fixed length whose items have one type."""

    def resolve(b: Body, node: tree.Apply, of: ir.Expr) -> ir.Expr:
        whole = tuples.as_sequence(of)
        if whole is not None:
            return _of_item(op)(b, node, whole[0])
        b.problem(
            "L205",
            node.place,
            f"{op} of {a(of.type)}",
            "a tuple whose items have one type",
            "compare the items one by one",
        )
        return b.wrong(node.place)

    return resolve


def _total(b: Body, node: tree.Apply, of: ir.Expr) -> ir.Expr:
    arguments(b, node, ())
    return ir.Op(node.place, t.INT, "total", (of,))


def _copy(op: str) -> Method:
    def resolve(b: Body, node: tree.Apply, of: ir.Expr) -> ir.Expr:
        arguments(b, node, ())
        match of.type:
            case t.Set(mutable=False):
                return ir.Op(node.place, of.type, "frozenset_of", (of,))
            case t.Seq(mutable=False) | t.Map(mutable=False):
                b.problem(
                    "L205",
                    node.place,
                    f"copy of {a(of.type)}",
                    "a value that has this method",
                    "what is immutable needs no copy"
                    if isinstance(of.type, t.Seq)
                    else "write dict(...) round it",
                )
                return b.wrong(node.place)
            case _:
                return ir.Op(node.place, of.type, op, (of,))

    return resolve


def replaced(b: Body, node: tree.Apply, of: ir.Expr) -> ir.Expr:
    """`ack.replace(seqno=1)`: a record with some fields anew."""
    assert isinstance(of.type, t.Record)
    fields = dict(of.type.fields)
    given = dict(node.keywords)
    for name in given:
        if name not in fields:
            known = f"one of {', '.join(fields)}"
            b.problem("L205", node.place, name, known, nearest(name, fields))
    args = tuple(
        expressions.expr(b, given[name], kind)
        if name in given
        else ir.Field(node.place, kind, of, name)
        for name, kind in of.type.fields
    )
    return ir.Make(node.place, of.type, args)


def _copy_of_record(b: Body, node: tree.Apply, of: ir.Expr) -> ir.Expr:
    """`ack.replace(seqno=1)`, `segment._replace(syn=True)`: Python takes no field by its place."""
    if node.args:
        return refused(b, node, "fields by their names", rewrite="write the field's name: a=1")
    return replaced(b, node, of)


METHODS: dict[tuple[str, str], Method] = {
    ("Set", "union"): _set("union"),
    ("Set", "intersection"): _set("intersection"),
    ("Set", "difference"): _set("difference"),
    ("Set", "symmetric_difference"): _set("symmetric_difference"),
    ("Set", "issubset"): _set("subset"),
    ("Set", "issuperset"): _set("superset"),
    ("Set", "isdisjoint"): _set("disjoint"),
    ("Set", "copy"): _copy("set_of"),
    ("Map", "keys"): _view("keys"),
    ("Map", "values"): _view("values"),
    ("Map", "items"): _view("items"),
    ("Map", "get"): _get,
    ("Map", "copy"): _copy("dict_of"),
    ("Seq", "count"): _of_item("count"),
    ("Seq", "index"): _of_item("index"),
    ("Seq", "copy"): _copy("list_of"),
    ("Tuple", "count"): _of_fixed("count"),
    ("Tuple", "index"): _of_fixed("index"),
    ("Bag", "get"): _get,
    ("Bag", "keys"): _view("keys"),
    ("Bag", "values"): _view("values"),
    ("Bag", "items"): _view("items"),
    ("Bag", "total"): _total,
    ("Bag", "copy"): _copy("counter_of"),
    ("Record", "replace"): _copy_of_record,
    ("Record", "_replace"): _copy_of_record,
}
