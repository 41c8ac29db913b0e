"""Expressions: `tree` -> typed IR. Every problem is noted where it stands; nothing is raised."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from . import ir, tree
from . import types as t
from .constants import constant
from .context import MISSING, Body, is_path, unpacked
from .errors import Place

ARITHMETIC = {"+": "add", "-": "sub", "*": "mul", "//": "floordiv", "%": "mod"}
SETS = {"|": "union", "&": "intersection", "-": "difference", "^": "symmetric_difference"}
ORDER = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
INCLUSION = {"<": "proper_subset", "<=": "subset", ">": "proper_superset", ">=": "superset"}


def expr(b: Body, node: tree.Expression, expected: t.Type | None = None) -> ir.Expr:
    """The expression; where `expected` is given it fits there, else a problem is noted."""
    found = EXPRESSIONS[type(node)](b, node, expected)
    if expected is not None and not t.fits(found.type, expected):
        _misfit(b, found, expected)
        return b.wrong(node.place)
    return found


def _misfit(b: Body, found: ir.Expr, expected: t.Type) -> None:
    rest = tuple(o for o in t.options(found.type) if not isinstance(o, t.Nothing))
    if rest and len(rest) < len(t.options(found.type)) and t.fits(t.union(rest), expected):
        b.problem(
            "L207", found.place, f"a value that may be None ({found.type})", str(expected),
            'test it with `is None`, or write needed(value, "why")',
        )  # fmt: skip
    elif isinstance(found.type, t.Set) and isinstance(expected, t.Set):
        word = "set" if expected.mutable else "frozenset"
        b.problem("L203", found.place, str(found.type), str(expected), f"write {word}(...) round it")
    else:
        b.problem(
            "L203", found.place, str(found.type), str(expected), f"give a value of type {expected}"
        )


def truth(b: Body, node: tree.Expression) -> ir.Expr:
    """A condition: a bool, for nothing else is true or false by itself."""
    return expr(b, node, t.BOOL)


def iterable(b: Body, node: tree.Expression) -> tuple[ir.Expr, t.Type]:
    """What stands after `in` of a loop, and the type of its elements."""
    static = b.static(node)
    if isinstance(static, type) and not isinstance(node, tree.Apply):
        kind = b.scene.annotation(static, node.place, b.names)
        if isinstance(kind, t.Sort | t.Enum | t.Bool):
            ordered = isinstance(kind, t.Enum) or isinstance(kind, t.Sort) and kind.ordered
            return ir.Domain(node.place, t.Iter(kind, ordered)), kind
    found = expr(b, node)
    if isinstance(found.type, t.Unknown):
        return found, found.type
    item = t.element(found.type)
    if item is None:
        b.problem(
            "L203", node.place, str(found.type), "a collection, a range or a sort",
            "iterate a set, map, list, tuple, range(...) or the elements of a sort",
        )  # fmt: skip
        return b.wrong(node.place), t.Unknown()
    return found, item


def _literal(b: Body, node: tree.Literal, expected: t.Type | None) -> ir.Expr:
    value = node.value
    types: dict[type, t.Type] = {
        bool: t.BOOL, int: t.INT, float: t.FLOAT, str: t.TEXT, type(None): t.NOTHING,
    }  # fmt: skip
    kind = types[type(value)]
    if isinstance(kind, t.Int) and isinstance(expected, t.Float):
        return ir.Const(node.place, t.FLOAT, float(value or 0))
    return ir.Const(node.place, kind, value)


def _name(b: Body, node: tree.Name, expected: t.Type | None) -> ir.Expr:
    if node.name == "self" and b.mode != "default":
        return ir.Self(node.place, t.Part(b.scene.own.name))
    if node.name in b.aliases:
        return narrowed(b, b.aliases[node.name])
    if node.name in b.locals:
        return narrowed(b, ir.Local(node.place, b.locals[node.name], node.name))
    if node.name in b.names:
        return _constant(b, b.names[node.name], node.place, node.name)
    b.problem(
        "L201", node.place, node.name, "a parameter, a local, a constant or a type",
        f"write self.{node.name}" if node.name in b.scene.own.fields else "define or import it",
    )  # fmt: skip
    return b.wrong(node.place)


def _constant(b: Body, value: Any, place: Place, text: str) -> ir.Expr:
    found = constant(b, value, place)
    if found is None:
        b.problem(
            "L201", place, f"{text}, a {type(value).__name__}",
            "a constant: bool, int, enum member, record, or a tuple or frozenset of them",
            "pass it as a parameter of the event, or make it a constant of the module",
        )  # fmt: skip
        return b.wrong(place)
    return found


def narrowed(b: Body, found: ir.Expr) -> ir.Expr:
    """The place at the type that the tests before it left."""
    fact = b.facts.get(found)
    return found if fact is None or fact == found.type else ir.Narrow(found.place, fact, found)


def _attribute(b: Body, node: tree.Attribute, expected: t.Type | None) -> ir.Expr:
    static = b.static(node)
    if static is not MISSING:
        return _constant(b, static, node.place, node.name)
    of = expr(b, node.of)
    shape = b.shape(of.type)
    if shape is not None:
        if node.name in shape.fields:
            b.evaluated = True
            return narrowed(b, ir.Field(node.place, shape.fields[node.name], of, node.name))
        value = b.scene.constant(node.name) if shape is b.scene.own else MISSING
        if value is not MISSING and node.name not in shape.methods:
            return _constant(b, value, node.place, node.name)
        return _unknown_attribute(b, node, of.type, sorted(shape.fields))
    match of.type:
        case t.Record(fields=fields) if node.name in dict(fields):
            return narrowed(b, ir.Field(node.place, dict(fields)[node.name], of, node.name))
        case t.Timer() if node.name == "armed":
            return ir.Field(node.place, t.BOOL, of, "armed")
        case t.Union():
            return _of_union(b, node, of)
        case t.Unknown():
            return b.wrong(node.place)
        case t.Record(fields=fields):
            return _unknown_attribute(b, node, of.type, [name for name, _ in fields])
        case _:
            return _unknown_attribute(b, node, of.type, [])


def _of_union(b: Body, node: tree.Attribute, of: ir.Expr) -> ir.Expr:
    """A field that every record of a union has with one type; None among them is a problem."""
    found: list[t.Type] = []
    for option in t.options(of.type):
        if isinstance(option, t.Nothing):
            b.problem(
                "L207", node.of.place, f"a value that may be None ({of.type})", "a record",
                'test it with `is None`, or write needed(value, "why")',
            )  # fmt: skip
            return b.wrong(node.place)
        fields = dict(option.fields) if isinstance(option, t.Record) else {}
        found.append(fields.get(node.name, t.Unknown()))
    if len(set(found)) == 1 and not isinstance(found[0], t.Unknown):
        return ir.Field(node.place, found[0], of, node.name)
    return _unknown_attribute(b, node, of.type, [])


def _unknown_attribute(b: Body, node: tree.Attribute, type: t.Type, known: list[str]) -> ir.Expr:
    expected = f"one of {', '.join(known)}" if known else f"an attribute that a {type} has"
    b.problem(
        "L205", node.place, f"{node.name} of a {type}", expected,
        "narrow a union with isinstance first" if isinstance(type, t.Union) else "correct the name",
    )  # fmt: skip
    return b.wrong(node.place)


def _subscript(b: Body, node: tree.Subscript, expected: t.Type | None) -> ir.Expr:
    of = expr(b, node.of)
    match of.type:
        case t.Map(key=key, value=value):
            return narrowed(b, ir.Item(node.place, value, of, expr(b, node.key, key)))
        case t.Bag(item=item):
            return ir.Item(node.place, t.INT, of, expr(b, node.key, item))
        case t.Seq(item=item):
            return ir.Item(node.place, item, of, expr(b, node.key, t.INT))
        case t.Tuple(items=items):
            key = node.key
            if isinstance(key, tree.Literal) and isinstance(key.value, int):
                if -len(items) <= key.value < len(items):
                    const = ir.Const(key.place, t.INT, key.value)
                    return ir.Item(node.place, items[key.value], of, const)
            b.problem(
                "L203", node.key.place, "this index", f"a literal below {len(items)}",
                "unpack the tuple",
            )  # fmt: skip
        case t.Unknown():
            pass
        case _:
            b.problem(
                "L203", node.place, str(of.type), "a map, list, tuple or bag", "index one of these"
            )
    return b.wrong(node.place)


def _cut(b: Body, node: tree.Cut, expected: t.Type | None) -> ir.Expr:
    of = expr(b, node.of)
    if not isinstance(of.type, t.Seq):
        b.problem("L203", node.place, str(of.type), "a list or tuple", "slice one of these")
        return b.wrong(node.place)
    none = ir.Const(node.place, t.NOTHING, None)
    low = none if node.low is None else expr(b, node.low, t.INT)
    high = none if node.high is None else expr(b, node.high, t.INT)
    return ir.Op(node.place, of.type, "slice", (of, low, high))


def _binary(b: Body, node: tree.Binary, expected: t.Type | None) -> ir.Expr:
    left = expr(b, node.left)
    right = expr(b, node.right, left.type if isinstance(left.type, t.Set | t.Seq) else None)
    return binary(b, node.place, node.op, (left, right))


def binary(b: Body, place: Place, op: str, sides: tuple[ir.Expr, ir.Expr]) -> ir.Expr:
    """An arithmetic or set operation, by the types of its sides."""
    left, right = sides
    match left.type, right.type:
        case (t.Int(), t.Int()) if op in ARITHMETIC:
            return ir.Op(place, t.INT, ARITHMETIC[op], sides)
        case (t.Set(), t.Set()) if op in SETS:
            return ir.Op(place, left.type, SETS[op], sides)
        case (t.Seq(), t.Seq()) if op == "+":
            return ir.Op(place, left.type, "concat", sides)
        case (t.Unknown(), _) | (_, t.Unknown()):
            pass
        case _:
            b.problem(
                "L203", place, f"{left.type} {op} {right.type}",
                "two integers, two sets or two lists that have this operation",
                "convert one side; a bool is not an int: write `1 if p else 0`",
            )  # fmt: skip
    return b.wrong(place)


def _unary(b: Body, node: tree.Unary, expected: t.Type | None) -> ir.Expr:
    if node.op == "not":
        return ir.Op(node.place, t.BOOL, "not", (truth(b, node.of),))
    of = expr(b, node.of, t.INT)
    return of if node.op == "+" else ir.Op(node.place, t.INT, "neg", (of,))


def _compare(b: Body, node: tree.Compare, expected: t.Type | None) -> ir.Expr:
    sides = [expr(b, side) for side in (node.first, *(e for _, e in node.rest))]
    links: list[ir.Expr] = []
    for i, (op, _) in enumerate(node.rest):
        # A chain evaluates each side once; sides change nothing, so they may stand twice.
        links.append(_link(b, op, node, (sides[i], sides[i + 1])))
    return links[0] if len(links) == 1 else ir.And(node.place, t.BOOL, tuple(links))


def _link(b: Body, op: str, node: tree.Compare, sides: tuple[ir.Expr, ir.Expr]) -> ir.Expr:
    left, right = sides
    place = node.place
    if op in ("in", "not in"):
        return _membership(b, place, op, sides)
    if op in ("is", "is not"):
        if not isinstance(right.type, t.Nothing):
            b.problem("L203", place, f"{op} {right.type}", f"{op} None", "compare with == or !=")
        test: ir.Expr = ir.IsA(place, t.BOOL, left, (t.NOTHING,))
        return test if op == "is" else ir.Op(place, t.BOOL, "not", (test,))
    if op in ("==", "!="):
        if not (t.fits(left.type, right.type) or t.fits(right.type, left.type)):
            empty = isinstance(left.type, t.Set) and isinstance(right.type, t.Set)
            if not (empty and _same_items(left.type, right.type)):
                b.problem(
                    "L203", place, f"{left.type} {op} {right.type}", "two values of one type",
                    "values of different types are never equal: compare what can be",
                )  # fmt: skip
        return ir.Op(place, t.BOOL, "eq" if op == "==" else "ne", sides)
    match left.type, right.type:
        case t.Int(), t.Int():
            return ir.Op(place, t.BOOL, ORDER[op], sides)
        case t.Sort(ordered=True), t.Sort(ordered=True) if left.type == right.type:
            return ir.Op(place, t.BOOL, ORDER[op], sides)
        case t.Set(item=mine), t.Set(item=theirs) if t.fits(mine, theirs):
            return ir.Op(place, t.BOOL, INCLUSION[op], sides)
        case (t.Unknown(), _) | (_, t.Unknown()):
            pass
        case _:
            b.problem(
                "L203", place, f"{left.type} {op} {right.type}", "two integers or two sets",
                "only integers, ordered sorts and sets have an order",
            )  # fmt: skip
    return b.wrong(place)


def _same_items(left: t.Set, right: t.Set) -> bool:
    return t.fits(left.item, right.item) or t.fits(right.item, left.item)


def _membership(b: Body, place: Place, op: str, sides: tuple[ir.Expr, ir.Expr]) -> ir.Expr:
    item = t.element(sides[1].type)
    if item is None and not isinstance(sides[1].type, t.Unknown):
        b.problem("L203", place, str(sides[1].type), "a collection", "look in a set, map or list")
    elif item is not None and not (t.fits(sides[0].type, item) or t.fits(item, sides[0].type)):
        b.problem("L203", place, f"{sides[0].type} {op} {sides[1].type}", str(item), "compare alike")
    return ir.Op(place, t.BOOL, "in" if op == "in" else "not_in", sides)


def _both(b: Body, node: tree.Both, expected: t.Type | None) -> ir.Expr:
    args: list[ir.Expr] = []
    with b.knowing({}), b.without_hoisting():
        for arg in node.args:
            args.append(truth(b, arg))
            b.facts.update(facts_if(args[-1], True))
    return ir.And(node.place, t.BOOL, tuple(args))


def _either(b: Body, node: tree.Either, expected: t.Type | None) -> ir.Expr:
    args: list[ir.Expr] = []
    with b.knowing({}), b.without_hoisting():
        for arg in node.args:
            args.append(truth(b, arg))
            b.facts.update(facts_if(args[-1], False))
    return ir.Or(node.place, t.BOOL, tuple(args))


def facts_if(test: ir.Expr, outcome: bool) -> dict[ir.Expr, t.Type]:
    """What a test with this outcome tells of places."""
    match test:
        case ir.Op(op="not", args=(of,)):
            return facts_if(of, not outcome)
        case ir.And(args=args) if outcome:
            return {k: v for arg in args for k, v in facts_if(arg, True).items()}
        case ir.Or(args=args) if not outcome:
            return {k: v for arg in args for k, v in facts_if(arg, False).items()}
        case ir.IsA(of=of, options=wanted):
            inner = of.of if isinstance(of, ir.Narrow) else of
            if not is_path(inner):
                return {}
            left = tuple(o for o in t.options(of.type) if (o in wanted) == outcome)
            return {inner: t.union(left)} if left else {}
        case _:
            return {}


def _conditional(b: Body, node: tree.Conditional, expected: t.Type | None) -> ir.Expr:
    test = truth(b, node.test)
    with b.without_hoisting():
        with b.knowing(facts_if(test, True)):
            then = expr(b, node.then, expected)
        with b.knowing(facts_if(test, False)):
            other = expr(b, node.other, expected)
    kind = expected or _join(b, node.place, (then.type, other.type))
    return ir.If(node.place, kind, test, then, other)


def _join(b: Body, place: Place, types: tuple[t.Type, ...]) -> t.Type:
    """The one type of several values: that of all, or the union of records and None."""
    known = [kind for kind in types if not isinstance(kind, t.Unknown)]
    if not known:
        return t.Unknown()
    if all(isinstance(kind, t.Int) for kind in known):
        return t.INT
    for kind in known:
        if all(t.fits(other, kind) for other in known):
            return kind
    return t.union(tuple(known))


def _display(b: Body, node: tree.Display, expected: t.Type | None) -> ir.Expr:
    place = node.place
    if node.kind == "tuple" and isinstance(expected, t.Tuple):
        if len(expected.items) == len(node.items):
            both = zip(node.items, expected.items, strict=True)
            args = tuple(expr(b, item, kind) for item, kind in both)
            return ir.Op(place, expected, "tuple", args)
    item = None
    if isinstance(expected, t.Set | t.Seq):
        item = expected.item
    args = tuple(expr(b, each, item) for each in node.items)
    if node.kind == "tuple" and not isinstance(expected, t.Seq):
        return ir.Op(place, t.Tuple(tuple(arg.type for arg in args)), "tuple", args)
    item = item or _join(b, place, tuple(arg.type for arg in args))
    kind: t.Type = t.Seq(item, mutable=node.kind == "list")
    if node.kind == "set":
        kind = t.Set(item, mutable=True)
    return ir.Op(place, kind, node.kind, args)


def _pairs(b: Body, node: tree.Pairs, expected: t.Type | None) -> ir.Expr:
    key = expected.key if isinstance(expected, t.Map) else None
    value = expected.value if isinstance(expected, t.Map) else None
    if isinstance(expected, t.Bag):
        key, value = expected.item, t.INT
    args: list[ir.Expr] = []
    for k, v in node.items:
        args += [expr(b, k, key), expr(b, v, value)]
    key = key or _join(b, node.place, tuple(a.type for a in args[::2]))
    value = value or _join(b, node.place, tuple(a.type for a in args[1::2]))
    kind = t.Map(key, value, mutable=True)
    return ir.Op(node.place, kind, "map", tuple(args))


def clauses(b: Body, given: tuple[tree.For, ...]) -> tuple[tuple[ir.Clause, ...], bool]:
    """The clauses of a comprehension, its names bound from here on; and whether all are ordered."""
    out: list[ir.Clause] = []
    in_order = True
    for clause in given:
        over, item = iterable(b, clause.over)
        in_order = in_order and (t.ordered(over.type) or isinstance(over.type, t.Unknown))
        bound = unpacked(item, clause.names)
        if bound is None:
            b.problem(
                "L203", clause.place, f"{len(clause.names)} names for a {item}",
                "one name, or as many as the tuple has items", "unpack tuples only",
            )  # fmt: skip
            bound = dict.fromkeys(clause.names, t.Unknown())
        b.locals.update(bound)
        conditions: list[ir.Expr] = []
        for condition in clause.conditions:
            conditions.append(truth(b, condition))
            b.facts.update(facts_if(conditions[-1], True))
        out.append(ir.Clause(clause.place, clause.names, over, tuple(conditions)))
    return tuple(out), in_order


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
        elif kind in ("sum", "min", "max"):
            item = t.INT
        elif kind == "map" and isinstance(expected, t.Map):
            item = expected.value
        element = expr(b, node.element, item)
        key_type = expected.key if isinstance(expected, t.Map) else None
        key = None if node.key is None else expr(b, node.key, key_type)
    if kind in ("list", "tuple") and not in_order and not any_order:
        unordered(b, node.place, "a list or tuple made from an unordered collection")
    item = item or element.type
    results: dict[str, t.Type] = {
        "all": t.BOOL, "any": t.BOOL, "sum": t.INT, "min": t.INT, "max": t.INT,
        "list": t.Seq(item, mutable=True), "tuple": t.Seq(item, mutable=False),
        "set": t.Set(item, mutable=True),
    }  # fmt: skip
    result = t.Map(key_type or key.type, item, True) if key is not None else results[kind]
    return ir.Comp(node.place, result, kind, element, key, bound)


def unordered(b: Body, place: Place, found: str) -> None:
    """Note that an order would be observable where there is none."""
    b.problem(
        "L210", place, found, "a result that does not depend on the order",
        "iterate sorted(...), a list or a tuple parameter, or make a set",
    )  # fmt: skip


def _comprehension(b: Body, node: tree.Comprehension, expected: t.Type | None) -> ir.Expr:
    if node.kind == "generator":
        b.problem(
            "L103", node.place, "a generator by itself", "a fold or a collection round it",
            "write all(...), any(...), sum(...), frozenset(...), tuple(...)",
        )  # fmt: skip
        return b.wrong(node.place)
    kinds: dict[str, ir.CompKind] = {"set": "set", "list": "list", "map": "map"}
    return comprehension(b, node, kinds[node.kind], expected)


def _interpolated(b: Body, node: tree.Interpolated, expected: t.Type | None) -> ir.Expr:
    return ir.Format(node.place, t.TEXT, tuple(expr(b, part) for part in node.parts))


def _function(b: Body, node: tree.Function, expected: t.Type | None) -> ir.Expr:
    b.problem("L103", node.place, "a lambda", "a helper", "write a helper method")
    return b.wrong(node.place)


def _apply(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
    return b.scene.call(b, node, expected)


EXPRESSIONS: dict[type, Callable[[Body, Any, t.Type | None], ir.Expr]] = {
    tree.Literal: _literal,
    tree.Name: _name,
    tree.Attribute: _attribute,
    tree.Subscript: _subscript,
    tree.Cut: _cut,
    tree.Apply: _apply,
    tree.Binary: _binary,
    tree.Unary: _unary,
    tree.Compare: _compare,
    tree.Both: _both,
    tree.Either: _either,
    tree.Conditional: _conditional,
    tree.Display: _display,
    tree.Pairs: _pairs,
    tree.Comprehension: _comprehension,
    tree.Interpolated: _interpolated,
    tree.Function: _function,
}
