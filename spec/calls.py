"""Calls: the words of the language, Python's own functions, records, helpers, parts."""

from __future__ import annotations

import builtins
import collections
import dataclasses
import types as python_types
from collections.abc import Callable
from typing import Any

from . import exprs, ir, tree, words
from . import types as t
from .constants import constant
from .comps import comprehension
from .context import MISSING, Body
from .declare import Declaration
from .effects import effect
from .facts import facts_if
from .methods import METHODS, arguments
from .errors import Place

Caller = Callable[[Body, tree.Apply, t.Type | None], ir.Expr]


def call(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
    """Any call that stands in an expression."""
    changing = effect(b, node)
    if changing is not None:
        return _hoisted(b, node, changing)
    static = b.static(node.function)
    if static is MISSING:
        if isinstance(node.function, tree.Attribute):
            return _method(b, node, node.function, expected)
        exprs.expr(b, node.function)
        return b.wrong(node.place)
    if isinstance(static, type):
        made = _made(b, node, static, expected)
        if made is not None:
            return made
    row = FUNCTIONS.get(static) if _hashable(static) else None
    if row is not None:
        return row(b, node, expected)
    if isinstance(static, python_types.FunctionType):
        return _module_function(b, node, static)
    return _refused(b, node, "a word of the language, a record, a helper or a Python function")


def _hashable(value: object) -> bool:
    return isinstance(value, type | python_types.FunctionType | python_types.BuiltinFunctionType)


def _refused(b: Body, node: tree.Apply, expected: str, number: str = "L204") -> ir.Expr:
    name = getattr(node.function, "name", "this")
    b.problem(number, node.place, f"{name}(...)", expected, "see the list of calls on the page")
    return b.wrong(node.place)


def _hoisted(
    b: Body, node: tree.Apply, changing: tuple[t.Type, Callable[[ir.Expr | None], ir.Stmt]]
) -> ir.Expr:
    """A step inside an expression becomes a statement before it, where that is the same."""
    type, make = changing
    if b.hoisted is None or b.evaluated:
        b.problem(
            "L102", node.place, "a change of the state inside an expression",
            "a statement of its own", "assign the result to a local first",
        )  # fmt: skip
        return b.wrong(node.place)
    local = b.temporary(type, node.place)
    b.hoisted.append(make(local))
    return local


def _made(b: Body, node: tree.Apply, cls: type, expected: t.Type | None) -> ir.Expr | None:
    """A record, a sort's element, a part or a timer; None for other classes."""
    if issubclass(cls, words.Timer):
        return constant(b, cls(), node.place)
    if not issubclass(cls, words.Record | words.Sort | Declaration):
        return None
    kind = b.scene.annotation(cls, node.place, b.names)
    if isinstance(kind, t.Record):
        return _record(b, node, cls, kind)
    if isinstance(kind, t.Part):
        return _part(b, node, kind)
    match node.args:
        case (tree.Literal(value=str() as name),) if isinstance(kind, t.Sort):
            return ir.Const(node.place, kind, name)
        case _:
            return _refused(b, node, 'an element by its name: Node("a")')


def _record(b: Body, node: tree.Apply, cls: Any, kind: t.Record) -> ir.Expr:
    given = {name for name, _ in node.keywords} | {n for n, _ in kind.fields[: len(node.args)]}
    left_out = {
        f.name: constant(b, f.default, node.place)
        for f in dataclasses.fields(cls)
        if f.name not in given and f.default is not dataclasses.MISSING
    }
    params = tuple(field for field in kind.fields if field[0] not in left_out)
    args = dict(zip((name for name, _ in params), arguments(b, node, params), strict=False))
    values = [args.get(name) or left_out.get(name) for name, _ in kind.fields]
    known = tuple(value for value in values if value is not None)
    return ir.Make(node.place, kind, known) if len(known) == len(values) else b.wrong(node.place)


def _part(b: Body, node: tree.Apply, kind: t.Part) -> ir.Expr:
    shape = b.shape(kind)
    if shape is None or node.args:
        return _refused(b, node, "a part made with its parameters by keyword")
    args: list[tuple[str, ir.Expr]] = []
    for name, value in node.keywords:
        if name not in shape.fixed:
            b.problem(
                "L204", value.place, name, f"one of {', '.join(sorted(shape.fixed))}",
                "give parameters only: variables start from their defaults",
            )  # fmt: skip
        else:
            args.append((name, exprs.expr(b, value, shape.fields[name])))
    return ir.New(node.place, kind, tuple(args))


def _module_function(b: Body, node: tree.Apply, function: python_types.FunctionType) -> ir.Expr:
    found = b.scene.module_function(function, node.place)
    if found is None:
        return b.wrong(node.place)
    name, body = found
    return ir.Call(node.place, body.output, name, None, arguments(b, node, body.params))


def _method(
    b: Body, node: tree.Apply, function: tree.Attribute, expected: t.Type | None
) -> ir.Expr:
    """A method that changes nothing: of a machine, a container or a record."""
    of = exprs.expr(b, function.of)
    name = function.name
    shape = b.shape(of.type)
    if shape is not None:
        return _machine_method(b, node, of, name)
    row = METHODS.get((type(of.type).__name__, name))
    if row is not None:
        return row(b, node, of)
    if not isinstance(of.type, t.Unknown):
        known = sorted(m for k, m in METHODS if k == type(of.type).__name__)
        b.problem(
            "L205", node.place, f"{name} of a {of.type}",
            f"one of {', '.join(known)}" if known else "a value that has methods",
            "see the list of methods on the page",
        )  # fmt: skip
    return b.wrong(node.place)


def _machine_method(b: Body, node: tree.Apply, of: ir.Expr, name: str) -> ir.Expr:
    shape = b.shape(of.type)
    assert shape is not None
    signature = shape.methods.get(name)
    if signature is None or signature.kind not in ("helper", "property"):
        b.problem(
            "L204", node.place, f"{name} of a {of.type}", "a helper or a property",
            "call a part's transitions in a transition, and only there" if signature
            else "correct the name",
        )  # fmt: skip
        return b.wrong(node.place)
    b.evaluated = True
    if shape is b.scene.own and signature.kind == "helper":
        b.scene.helper(name)  # Resolved on first use; a circle is a problem of its own.
    args = arguments(b, node, signature.params)
    return ir.Call(node.place, signature.output, name, of, args)


# Functions of the language and of Python.


def _only(b: Body, node: tree.Apply, count: int) -> bool:
    if len(node.args) == count and not node.keywords:
        return True
    _refused(b, node, f"{count} argument{'s' * (count != 1)}")
    return False


def _fold(kind: ir.CompKind, op: str, type: t.Type) -> Caller:
    """`all`, `any`, `sum`, `min`, `max` of one iterable; min and max also of several values."""

    def resolve(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
        if kind in ("min", "max") and len(node.args) > 1 and not node.keywords:
            args = tuple(exprs.expr(b, arg, t.INT) for arg in node.args)
            return ir.Op(node.place, t.INT, kind, args)
        if not _only(b, node, 1):
            return b.wrong(node.place)
        argument = node.args[0]
        if isinstance(argument, tree.Comprehension) and argument.kind == "generator":
            return dataclasses.replace(
                comprehension(b, argument, kind, None), place=node.place
            )
        of, item = exprs.iterable(b, argument)
        if not t.fits(item, type):
            return _refused(b, node, f"a collection of {type}", "L203")
        return ir.Op(node.place, type, op, (of,))

    return resolve


def _collected(kind: str, op: str) -> Caller:
    """`set`, `frozenset`, `list`, `tuple`, `sorted`: empty, of a generator, of an iterable."""

    def resolve(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
        wanted = expected.item if isinstance(expected, t.Set | t.Seq) else None
        if not node.args and not node.keywords and kind != "sorted":
            return _converted(node.place, kind, op, (None, wanted or t.Unknown()))
        if not _only(b, node, 1):
            return b.wrong(node.place)
        argument = node.args[0]
        if isinstance(argument, tree.Comprehension) and argument.kind == "generator":
            inner: ir.CompKind = "set" if kind in ("set", "frozenset") else "tuple"
            inside = t.Set(wanted, True) if wanted is not None else None
            of = comprehension(b, argument, inner, inside, any_order=kind == "sorted")
            item = t.element(of.type) or t.Unknown()
        elif isinstance(argument, tree.Display) and wanted is not None:
            of = exprs.expr(b, argument, _as_set_or_list(argument.kind, wanted))
            item = wanted
        else:
            of, item = exprs.iterable(b, argument)
        if kind in ("list", "tuple") and not t.ordered(of.type) and not t.Unknown() == of.type:
            exprs.unordered(b, node.place, f"{kind}(...) of an unordered collection")
        return _converted(node.place, kind, op, (of, wanted if wanted is not None else item))

    return resolve


def _as_set_or_list(kind: str, item: t.Type) -> t.Type:
    return t.Set(item, mutable=True) if kind == "set" else t.Seq(item, mutable=kind == "list")


def _converted(
    place: Place, kind: str, op: str, made: tuple[ir.Expr | None, t.Type]
) -> ir.Expr:
    of, item = made
    types: dict[str, t.Type] = {
        "set": t.Set(item, True), "frozenset": t.Set(item, False), "list": t.Seq(item, True),
        "tuple": t.Seq(item, False), "sorted": t.Seq(item, True),
    }  # fmt: skip
    if of is None:
        return ir.Op(place, types[kind], "set" if kind in ("set", "frozenset") else kind, ())
    return ir.Op(place, types[kind], op, (of,))


def _dict(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
    kind = expected if isinstance(expected, t.Map) else t.Map(t.Unknown(), t.Unknown(), True)
    if not node.args and not node.keywords:
        return ir.Op(node.place, kind, "map", ())
    if not _only(b, node, 1):
        return b.wrong(node.place)
    of = exprs.expr(b, node.args[0])
    if not isinstance(of.type, t.Map):
        return _refused(b, node, "a map", "L203")
    return ir.Op(node.place, t.Map(of.type.key, of.type.value, True), "dict_of", (of,))


def _counter(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
    if not node.args and not node.keywords:
        kind = expected if isinstance(expected, t.Bag) else t.Bag(t.Unknown())
        return ir.Op(node.place, kind, "counter_of", (ir.Op(node.place, kind, "map", ()),))
    if not _only(b, node, 1):
        return b.wrong(node.place)
    of, item = exprs.iterable(b, node.args[0])
    return ir.Op(node.place, t.Bag(item), "counter_of", (of,))


def _len(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
    if not _only(b, node, 1):
        return b.wrong(node.place)
    return ir.Op(node.place, t.INT, "len", (exprs.iterable(b, node.args[0])[0],))


def _range(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
    if not 1 <= len(node.args) <= 3 or node.keywords:
        return _refused(b, node, "range(high), range(low, high) or range(low, high, step)")
    args = tuple(exprs.expr(b, arg, t.INT) for arg in node.args)
    return ir.Op(node.place, t.Iter(t.INT, True), "range", args)


def _ordered_iter(op: str) -> Caller:
    """`reversed`, `enumerate` and `zip`: of ordered collections."""

    def resolve(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
        made = [exprs.iterable(b, arg) for arg in node.args]
        if not made or node.keywords or op != "zip" and len(made) != 1:
            return _refused(b, node, f"{op} of collections")
        for of, _ in made:
            if not t.ordered(of.type) and of.type != t.Unknown():
                exprs.unordered(b, node.place, f"{op}(...) of an unordered collection")
        items = tuple(item for _, item in made)
        results: dict[str, t.Type] = {
            "reversed": items[0], "enumerate": t.Tuple((t.INT, items[0])), "zip": t.Tuple(items),
        }  # fmt: skip
        args = tuple(of for of, _ in made)
        return ir.Op(node.place, t.Iter(results[op], True), op, args)

    return resolve


def _integer(op: str) -> Caller:
    def resolve(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
        if not _only(b, node, 1):
            return b.wrong(node.place)
        of = exprs.expr(b, node.args[0])
        if not isinstance(of.type, t.Int | t.Bool | t.Unknown):
            return _refused(b, node, "an integer or a bool", "L203")
        return ir.Op(node.place, t.BOOL if op == "bool" else t.INT, op, (of,))

    return resolve


def _divmod(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
    if not _only(b, node, 2):
        return b.wrong(node.place)
    args = tuple(exprs.expr(b, arg, t.INT) for arg in node.args)
    both = tuple(ir.Op(node.place, t.INT, op, args) for op in ("floordiv", "mod"))
    return ir.Op(node.place, t.Tuple((t.INT, t.INT)), "tuple", both)


def _isinstance(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
    if not _only(b, node, 2):
        return b.wrong(node.place)
    of = exprs.expr(b, node.args[0])
    second = node.args[1]
    given = second.items if isinstance(second, tree.Display) else (second,)
    options: list[t.Type] = []
    for each in given:
        static = b.static(each)
        if static is MISSING:
            return _refused(b, node, "a record class, or a tuple of them")
        options.extend(t.options(b.scene.annotation(static, each.place, b.names)))
    return ir.IsA(node.place, t.BOOL, of, tuple(options))


def _implies(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
    if not _only(b, node, 2):
        return b.wrong(node.place)
    first = exprs.truth(b, node.args[0])
    with b.knowing(facts_if(first, True)), b.without_hoisting():
        second = exprs.truth(b, node.args[1])
    negated = ir.Op(node.args[0].place, t.BOOL, "not", (first,))
    return ir.Or(node.place, t.BOOL, (negated, second))


def _needed(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
    if not _only(b, node, 2) or b.hoisted is None:
        return _refused(b, node, "needed(value, why) in a transition")
    of = exprs.expr(b, node.args[0])
    left = tuple(o for o in t.options(of.type) if not isinstance(o, t.Nothing))
    why = exprs.expr(b, node.args[1], t.TEXT)
    return ir.Needed(node.place, t.union(left) if left else t.Unknown(), of, why)


def _can(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
    target = node.args[0] if node.args else None
    if not isinstance(target, tree.Attribute):
        return _refused(b, node, "can(self.part.transition, arguments...)")
    part = exprs.expr(b, target.of)
    shape = b.shape(part.type)
    signature = None if shape is None else shape.methods.get(target.name)
    if signature is None or signature.kind not in ("transition", "event"):
        return _refused(b, node, "a transition or an event of a machine")
    rest = dataclasses.replace(node, args=node.args[1:])
    args = arguments(b, rest, signature.params)
    return ir.Can(node.place, t.BOOL, part, target.name, args)


def _total(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
    if not _only(b, node, 1) or not isinstance(expected, t.Map):
        return _refused(b, node, "total(value) as the default of a map")
    place, argument = node.place, node.args[0]
    over = ir.Domain(place, t.Iter(expected.key, False))
    if isinstance(argument, tree.Function) and len(argument.params) == 1:
        name = argument.params[0]
        with b.binding({name: expected.key}):
            value = exprs.expr(b, argument.body, expected.value)
    else:
        name, value = "_key", exprs.expr(b, argument, expected.value)
    key = ir.Local(place, expected.key, name)
    kind = dataclasses.replace(expected, total=True)
    return ir.Comp(place, kind, "map", value, key, (ir.Clause(place, (name,), over, ()),))


def _statement_only(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
    return _refused(b, node, "this as a statement of its own")


FUNCTIONS: dict[Any, Caller] = {
    builtins.all: _fold("all", "all_of", t.BOOL),
    builtins.any: _fold("any", "any_of", t.BOOL),
    builtins.sum: _fold("sum", "sum_of", t.INT),
    builtins.min: _fold("min", "min_of", t.INT),
    builtins.max: _fold("max", "max_of", t.INT),
    builtins.set: _collected("set", "set_of"),
    builtins.frozenset: _collected("frozenset", "frozenset_of"),
    builtins.list: _collected("list", "list_of"),
    builtins.tuple: _collected("tuple", "tuple_of"),
    builtins.sorted: _collected("sorted", "sorted"),
    builtins.dict: _dict,
    collections.Counter: _counter,
    builtins.len: _len,
    builtins.range: _range,
    builtins.reversed: _ordered_iter("reversed"),
    builtins.enumerate: _ordered_iter("enumerate"),
    builtins.zip: _ordered_iter("zip"),
    builtins.abs: _integer("abs"),
    builtins.int: _integer("int"),
    builtins.bool: _integer("bool"),
    builtins.divmod: _divmod,
    builtins.isinstance: _isinstance,
    words.implies: _implies,
    words.needed: _needed,
    words.can: _can,
    words.total: _total,
    words.require: _statement_only,
    words.refuse: _statement_only,
}
