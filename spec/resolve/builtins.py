"""The functions that a body may call: the words of the language, and Python's own."""

from __future__ import annotations

import builtins
import collections
import dataclasses
import itertools
import typing
from typing import Any, cast

from .. import ir, ops, words
from .. import types as t
from ..errors import Place, a, nearest
from ..syntax import tree
from . import conditions, expressions, ordered_sorts
from .comprehensions import comprehension
from .constants import constant
from .context import MISSING, Body, Caller, Signature, facts_if
from .folds import fold, is_folded, values_of
from .methods import call_of, only, refused
from .short_forms.enum_integers import as_integer, has_order
from .short_forms.first_elements import first_element
from .short_forms.keyed_orders import by_itself, has_key, keyed
from .short_forms.mapped import comprehended
from .short_forms.maps_from_keys import by_key_and_value, first_of_each, from_keys, of_pairs
from .short_forms.numbered_elements import numbered
from .short_forms.sorted_items import by_key

EVENTS = ("transition", "event")  # What `can` may ask for.


def _collected(builtin: str, op: str) -> Caller:
    """`set`, `frozenset`, `list`, `tuple`, `sorted`: empty, of a generator, of an iterable."""

    def resolve(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
        holder = None if expected is None else expressions.there(expected)
        wanted = holder.item if isinstance(holder, t.Set | t.Seq) else None
        if not node.args and not node.keywords and builtin != "sorted":
            return _converted(node.place, builtin, op, (None, wanted or t.Unknown()))
        if builtin == "sorted":
            node = by_key(b, node) or node
            if has_key(node, builtin):
                return keyed(b, node, builtin)
        if not only(b, node, 1):
            return b.wrong(node.place)
        argument = comprehended(b, node.args[0])
        if builtin in ("list", "tuple"):
            argument = first_of_each(b, argument) or argument
        if is_folded(argument):
            inner: ir.CompKind = "set" if builtin in ("set", "frozenset") else "tuple"
            inside = t.Set(wanted, True) if wanted is not None else None
            of = comprehension(b, argument, inner, inside, any_order=builtin == "sorted")
            item = t.element(of.type) or t.Unknown()
        elif isinstance(argument, tree.Display) and wanted is not None:
            of = expressions.expr(b, argument, _as_set_or_list(argument.kind, wanted))
            item = wanted
        else:
            of, item = values_of(b, argument)
            if isinstance(of.type, t.Unknown):
                return b.wrong(node.place)
        if builtin in ("list", "tuple") and not t.ordered(of.type) and of.type != t.Unknown():
            what = f"{builtin}(...) of an unordered collection"
            expressions.unordered(b, node.place, what, item)
        if builtin == "sorted" and has_order(b, item):
            return by_itself(b, node.place, builtin, (of, item))
        if builtin == "sorted":
            ordered_sorts.compared(b, argument.place, (item,), builtin)
        return _converted(node.place, builtin, op, (of, wanted if wanted is not None else item))

    return resolve


def _as_set_or_list(builtin: str, item: t.Type) -> t.Type:
    return t.Set(item, mutable=True) if builtin == "set" else t.Seq(item, mutable=builtin == "list")


def _converted(place: Place, builtin: str, op: str, made: tuple[ir.Expr | None, t.Type]) -> ir.Expr:
    of, item = made
    types: dict[str, t.Type] = {
        "set": t.Set(item, True),
        "frozenset": t.Set(item, False),
        "list": t.Seq(item, True),
        "tuple": t.Seq(item, False),
        "sorted": t.Seq(item, True),
    }
    if of is None:
        empty = "set" if builtin in ("set", "frozenset") else builtin
        return ir.Op(place, types[builtin], empty, ())
    return ir.Op(place, types[builtin], op, (of,))


def _dict(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
    kind = expected if isinstance(expected, t.Map) else t.Map(t.Unknown(), t.Unknown(), True)
    if not node.args and not node.keywords:
        return ir.Op(node.place, kind, "map", ())
    if not only(b, node, 1):
        return b.wrong(node.place)
    if (pairs := of_pairs(b, node)) is not None:
        return expressions.expr(b, pairs, expected)
    of = expressions.expr(b, node.args[0])
    if isinstance(of.type, t.Seq) and isinstance(of.type.item, t.Tuple):
        return expressions.expr(b, by_key_and_value(b, node), expected)
    if not isinstance(of.type, t.Map):
        return refused(b, node, "dict(m) of a map, dict(zip(keys, values))", "L203")
    own = dataclasses.replace(of.type, mutable=True)
    return ir.Op(node.place, own, "dict_of", (of,))


def _counter(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
    if not node.args and not node.keywords:
        kind = expected if isinstance(expected, t.Bag) else t.Bag(t.Unknown())
        return ir.Op(node.place, kind, "counter_of", (ir.Op(node.place, kind, "map", ()),))
    if not only(b, node, 1):
        return b.wrong(node.place)
    if isinstance(expected, t.Bag) and isinstance(node.args[0], tree.Display):
        item = expected.item
        of = expressions.expr(b, node.args[0], _as_set_or_list(node.args[0].kind, item))
    else:
        of, item = values_of(b, node.args[0], any_order=True)
    if isinstance(of.type, t.Map) and not t.fits(of.type.value, t.INT):
        return refused(b, node, "Counter of a collection, or of a map to counts", "L203")
    return ir.Op(node.place, t.Bag(item), "counter_of", (of,))


def _len(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
    if not only(b, node, 1):
        return b.wrong(node.place)
    if (length := _known_length(b, node.args[0])) is not None:
        return ir.Const(node.place, t.INT, length)
    made = isinstance(node.args[0], tree.Comprehension) and node.args[0].kind == "list"
    of, _ = values_of(b, node.args[0], made)
    if isinstance(of, ir.Op) and of.op in ops.ITERATORS:
        return refused(b, node, "a collection: an iterator has no length", "L203")
    return ir.Op(node.place, t.INT, "len", (of,))


def _known_length(b: Body, node: tree.Expression) -> int | None:
    """The length of a constant collection of things that are none of the language."""
    static: Any = b.static(node)
    if not isinstance(static, tuple | list | dict) or constant(b, static, node.place) is not None:
        return None
    return len(cast(Any, static))


def _range(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
    if not 1 <= len(node.args) <= 3 or node.keywords:
        return refused(b, node, "range(high), range(low, high) or range(low, high, step)")
    args = tuple(expressions.expr(b, arg, t.INT) for arg in node.args)
    return ir.Op(node.place, t.Iter(t.INT, True), "range", args)


def _ordered_iter(op: str) -> Caller:
    """`reversed`, `enumerate` and `zip`: of ordered collections."""

    def resolve(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
        if op == "enumerate" and (counted := numbered(b, node)) is not None:
            return counted
        made = [values_of(b, arg) for arg in node.args]
        # `strict=False` is what zip does without it; ruff asks for the word.
        words = [(word, getattr(value, "value", None)) for word, value in node.keywords]
        plain = not words or (op == "zip" and words == [("strict", False)])
        if not made or not plain or (op != "zip" and len(made) != 1):
            return refused(b, node, f"{op} of collections")
        for of, _ in made:
            if not t.ordered(of.type) and of.type != t.Unknown():
                expressions.unordered(b, node.place, f"{op}(...) of an unordered collection")
        items = tuple(item for _, item in made)
        results: dict[str, t.Type] = {
            "reversed": items[0],
            "enumerate": t.Tuple((t.INT, items[0])),
            "zip": t.Tuple(items),
        }
        args = tuple(of for of, _ in made)
        return ir.Op(node.place, t.Iter(results[op], True), op, args)

    return resolve


def _integer(op: str) -> Caller:
    def resolve(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
        if not only(b, node, 1):
            return b.wrong(node.place)
        of = as_integer(b, expressions.expr(b, node.args[0]))
        if isinstance(of.type, t.Serial):
            expressions.misfit(b, node.place, of.type, t.INT)
            return b.wrong(node.place)
        if not isinstance(of.type, t.Int | t.Bool | t.Unknown):
            return refused(b, node, "an integer or a bool", "L203")
        return ir.Op(node.place, t.INT, op, (of,))

    return resolve


def _bool(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
    if not only(b, node, 1):
        return b.wrong(node.place)
    found = len(b.scene.problems.found)
    of = expressions.expr(b, node.args[0])
    if isinstance(of.type, t.Int | t.Bool) and not isinstance(of.type, t.Serial):
        return ir.Op(node.place, t.BOOL, "bool", (of,))
    del b.scene.problems.found[found:]
    return conditions.truth(b, node.args[0])


def _str(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
    if not only(b, node, 1):
        return b.wrong(node.place)
    return expressions.expr(b, tree.Interpolated(node.place, node.args))


def _divmod(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
    if not only(b, node, 2):
        return b.wrong(node.place)
    args = tuple(expressions.expr(b, arg, t.INT) for arg in node.args)
    both = tuple(ir.Op(node.place, t.INT, op, args) for op in ("floordiv", "mod"))
    return ir.Op(node.place, t.Tuple((t.INT, t.INT)), "tuple", both)


def _isinstance(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
    if not only(b, node, 2):
        return b.wrong(node.place)
    of = expressions.expr(b, node.args[0])
    second = node.args[1]
    options: list[t.Type] = []
    for each in _classes(second):
        static = None if each == tree.Literal(each.place, None) else b.static(each)
        if static is MISSING:
            return refused(b, node, "a record class, or several as A | B")
        options.extend(b.scene.heirs(static, each.place, b.names, of.type))
    never = [o for o in options if not any(t.fits(k, o) for k in t.options(of.type))]
    if never and not isinstance(of.type, t.Unknown):
        b.problem(
            "L203",
            second.place,
            f"{never[0]}, where {a(of.type)} stands",
            f"one of: {of.type}",
            "this is never true: test for what the value can be",
        )
        return b.wrong(node.place)
    return ir.IsA(node.place, t.BOOL, of, tuple(options))


def _classes(node: tree.Expression) -> tuple[tree.Expression, ...]:
    """The classes of `isinstance`: one, a tuple of them, or `A | B`."""
    match node:
        case tree.Display(items=items):
            return tuple(each for item in items for each in _classes(item))
        case tree.Binary(op="|", left=left, right=right):
            return (*_classes(left), *_classes(right))
        case _:
            return (node,)


def _implies(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
    if not only(b, node, 2):
        return b.wrong(node.place)
    first = conditions.truth(b, node.args[0])
    with b.knowing(facts_if(first, True)), b.without_hoisting():
        second = conditions.truth(b, node.args[1])
    return ir.Or(node.place, t.BOOL, (ir.Op(node.args[0].place, t.BOOL, "not", (first,)), second))


def _needed(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
    if not only(b, node, 2):
        return b.wrong(node.place)
    if b.mode not in ("transition", "initial", "helper"):
        b.problem(
            "L208",
            node.place,
            f"a guard in {a(b.mode)}",
            "an expression that only reads",
            "test the value: `x is not None and ...`",
        )
        return b.wrong(node.place)
    if b.hoisted is None:
        return refused(b, node, "needed(...) where it is evaluated once and for certain")
    of = expressions.expr(b, node.args[0])
    b.changes, b.evaluated = True, None
    # What a test told does not matter: a value known to be None is refused when it is needed.
    of = of.of if isinstance(of, ir.Narrow) else of
    left = tuple(o for o in t.options(of.type) if not isinstance(o, t.Nothing))
    why = expressions.expr(b, node.args[1], t.TEXT)
    if not left:
        return refused(b, node, "a value that may be another than None", "L203")
    return ir.Needed(node.place, t.union(left), of, why)


def _can(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
    target = node.args[0] if node.args else None
    if not isinstance(target, tree.Attribute):
        return refused(b, node, "can(self.part.transition, arguments...)")
    part = expressions.expr(b, target.of)
    interface = b.interface(part.type)
    signature = None if interface is None else interface.methods.get(target.name)
    if signature is None or signature.kind not in EVENTS:
        if isinstance(part.type, t.Unknown):
            return b.wrong(node.place)  # That is noted.
        methods = interface.methods if interface is not None else dict[str, Signature]()
        events = sorted(name for name, each in methods.items() if each.kind in EVENTS)
        b.problem(
            "L204",
            target.place,
            f"{target.name} of {a(part.type)}",
            f"one of {', '.join(events)}" if events else "a transition or an event of a machine",
            "ask for an event" if target.name in methods else nearest(target.name, events),
        )
        return b.wrong(node.place)
    rest = dataclasses.replace(node, function=target, args=node.args[1:])
    args = call_of(b, rest, signature)
    return ir.Can(node.place, t.BOOL, part, target.name, args)


def _total(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
    expected = None if expected is None else expressions.there(expected)
    if not only(b, node, 1) or not isinstance(expected, t.Map):
        return refused(b, node, "total(value) as the default of a map")
    place, argument = node.place, node.args[0]
    if not t.finite(expected.key):
        b.problem(
            "L203",
            place,
            f"total(...) over {expected.key}",
            "keys of a finite type",
            "Annotated[int, Interval(ge=0, le=7)], an enum or a sort; or a partial map: = {}",
        )
    over = ir.Domain(place, t.Iter(expected.key, False))
    if isinstance(argument, tree.Function) and len(argument.params) == 1:
        name = argument.params[0]
        with b.binding({name: expected.key}):
            value = expressions.expr(b, argument.body, expected.value)
    else:
        name, value = "_key", expressions.expr(b, argument, expected.value)
    key = ir.Local(place, expected.key, name)
    kind = dataclasses.replace(expected, total=True)
    return ir.Comp(place, kind, "map", value, key, (ir.Clause(place, (name,), over, ()),))


def _of_itertools(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
    from .short_forms.itertools_calls import chained, in_pairs

    return (chained if b.static(node.function) is itertools.chain else in_pairs)(b, node)


def _cast(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
    """`cast(T, x)`: x, whose type is known here without it."""
    if not only(b, node, 2):
        return b.wrong(node.place)
    kind = b.scene.annotation(b.static(node.args[0]), node.place, b.names)
    found = expressions.expr(b, node.args[1], kind)
    if not isinstance(found.type, t.Unknown) and not t.fits(found.type, kind):
        return refused(b, node, f"a value of type {kind}", "L203", 'narrow it: needed(x, "why")')
    return found


def _statement_only(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
    return refused(b, node, "this as a statement of its own")


FUNCTIONS: dict[Any, Caller] = {
    builtins.all: fold("all", "all_of", t.BOOL),
    builtins.any: fold("any", "any_of", t.BOOL),
    builtins.sum: fold("sum", "sum_of", t.INT),
    builtins.min: fold("min", "min_of", t.INT),
    builtins.max: fold("max", "max_of", t.INT),
    builtins.set: _collected("set", "set_of"),
    builtins.frozenset: _collected("frozenset", "frozenset_of"),
    builtins.list: _collected("list", "list_of"),
    builtins.tuple: _collected("tuple", "tuple_of"),
    builtins.sorted: _collected("sorted", "sorted"),
    builtins.dict: _dict,
    dict.fromkeys: from_keys,
    collections.Counter: _counter,
    builtins.len: _len,
    builtins.range: _range,
    builtins.reversed: _ordered_iter("reversed"),
    builtins.enumerate: _ordered_iter("enumerate"),
    builtins.zip: _ordered_iter("zip"),
    builtins.abs: _integer("abs"),
    builtins.int: _integer("int"),
    builtins.bool: _bool,
    builtins.str: _str,
    builtins.divmod: _divmod,
    builtins.isinstance: _isinstance,
    itertools.chain: _of_itertools,
    itertools.pairwise: _of_itertools,
    words.implies: _implies,
    words.needed: _needed,
    words.can: _can,
    words.total: _total,
    builtins.next: first_element,
    typing.cast: _cast,
    words.require: _statement_only,
    words.refuse: _statement_only,
    words.before: ordered_sorts.before,
    words.rank: ordered_sorts.element("rank"),
    words.successor: ordered_sorts.element("successor"),
    words.predecessor: ordered_sorts.element("predecessor"),
    words.subsets: ordered_sorts.subsets,
}
