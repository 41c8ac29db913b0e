"""Operators: arithmetic, set algebra, comparisons, `and`, `or`, `not`."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import replace

from .. import ir
from .. import types as t
from ..analysis.partiality import always_defined
from ..analysis.walk import everything
from ..errors import Place, a
from ..legal.texts import NO_TEXT
from ..syntax import tree
from . import tuples
from .conditions import true_or_not, truth
from .context import Body, Resolver, facts_if, known_of_all, read_of
from .declared import serials
from .declared.literals import among
from .expressions import expr, infer, join, looked_through, misfit
from .short_forms.enum_integers import as_integer
from .short_forms.spans import number_of_span, whole_bounds

NEVER = "these are never equal: compare what can be"
LISTED = "write tuple(...) of the list: an argument that is declared as a list is a tuple"
APART = "no type has all values of both: compare the elements one by one"
ARITHMETIC = {"+": "add", "-": "sub", "*": "mul", "//": "floordiv", "%": "mod"}
SETS = {"|": "union", "&": "intersection", "-": "difference", "^": "symmetric_difference"}
FOLDED: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda a, b: a / b,
}
ORDER = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
INCLUSION = {"<": "proper_subset", "<=": "subset", ">": "proper_superset", ">=": "superset"}


def _binary(b: Body, node: tree.Binary, expected: t.Type | None) -> ir.Expr:
    if (number := number_of_span(b, node)) is not None:
        return number
    hint = expected if isinstance(expected, t.Set | t.Seq | t.Map) else None
    left = infer(b, node.left, hint)
    again = isinstance(left.type, t.Set | t.Seq | t.Map)
    right = infer(b, node.right, left.type if again else None)
    return binary(b, node.place, node.op, (left, right))


def binary(b: Body, place: Place, op: str, sides: tuple[ir.Expr, ir.Expr]) -> ir.Expr:
    """An arithmetic or set operation, by the types of its sides."""
    left, right = sides = as_integer(b, sides[0]), as_integer(b, sides[1])
    match left.type, right.type:
        case (t.Serial(), t.Int()) | (t.Int(), t.Serial()):
            return serials.arithmetic(b, place, op, sides) or b.wrong(place)
        case (t.Int(), t.Int()) if op in ARITHMETIC:
            return ir.Op(place, t.INT, ARITHMETIC[op], sides)
        case (t.Float() | t.Int(), t.Float() | t.Int()) if (
            number := _folded(op, sides)
        ) is not None:
            return ir.Const(place, t.FLOAT, number)
        case (t.Bool(), t.Bool()) if op in BOTH_BOOLS:
            return _of_bools(b, place, op, sides)
        case (t.Text(), t.Text()) if op == "+":
            return ir.Format(place, t.TEXT, sides)
        case (t.Set(item=mine), t.Set(item=theirs)) if op in SETS and t.alike(mine, theirs):
            return ir.Op(place, of_both(left.type, right.type), SETS[op], sides)
        case (t.Seq(item=mine), t.Seq(item=theirs)) if op == "+" and t.fits(theirs, mine):
            if left.type.mutable == right.type.mutable:
                return ir.Op(place, left.type, "concat", sides)
            misfit(b, right.place, right.type, left.type)
        case t.Map(), t.Map() if op == "|" and (joined := _merged(place, left, right)):
            return joined
        case (t.Tuple() | t.Seq(mutable=False), t.Tuple() | t.Seq(mutable=False)) if op == "+" and (
            joined := tuples.chained(place, left, right)
        ):
            return joined
        case (t.Unknown(), _) | (_, t.Unknown()):
            pass
        case _ if op == "*" and (several := _repeated(b, place, sides)) is not None:
            return several
        case _ if op == "/":
            b.problem(
                "L103",
                place,
                f"{left.type} / {right.type}",
                "one of + - * // % | & ^; / of constants only",
                "use // and %: integers are exact in every engine",
            )
        case _:
            b.problem(
                "L203",
                place,
                f"{left.type} {op} {right.type}",
                "two integers, two sets or two lists that have this operation",
                _instead(op, (left.type, right.type)),
            )
    return b.wrong(place)


BOTH_BOOLS = frozenset("&|^")


def _of_bools(b: Body, place: Place, op: str, sides: tuple[ir.Expr, ir.Expr]) -> ir.Expr:
    """`p & q`, `p | q`, `p ^ q` of bools. Both have a value: where the second may have none, `and`
    and `or` would hide that."""
    if op == "^":
        return ir.Op(place, t.BOOL, "ne", sides)
    if always_defined(sides[1], unsure=b.unsure):
        return (ir.And if op == "&" else ir.Or)(place, t.BOOL, sides)
    both = tuples.made(place, sides)
    return ir.Op(place, t.BOOL, "all_of" if op == "&" else "any_of", (both,))


def _folded(op: str, sides: tuple[ir.Expr, ir.Expr]) -> float | None:
    """The result where both are constants and one is a float: `LEASE * 2`; such numbers are only
    passed on."""
    values = [side.value for side in sides if isinstance(side, ir.Const)]
    if len(values) != 2 or op not in FOLDED:
        return None
    first, second = (each for each in values if isinstance(each, int | float))
    try:
        found = FOLDED[op](first, second)
    except ArithmeticError:
        return None
    return found if isinstance(found, float) and math.isfinite(found) else None


def _repeated(b: Body, place: Place, sides: tuple[ir.Expr, ir.Expr]) -> ir.Expr | None:
    from .short_forms.repeated import repeated  # Few machines repeat a list.

    return repeated(b, place, sides)


def _merged(place: Place, left: ir.Expr, right: ir.Expr) -> ir.Expr | None:
    """The map with the items of both, the right one's value where both have a key; None where
    their types differ. Both have no effects, so each may be evaluated again."""
    assert isinstance(left.type, t.Map) and isinstance(right.type, t.Map)
    mine, theirs = left.type, right.type
    for kind, of, other in ((mine, left, right), (theirs, right, left)):
        if isinstance(other, ir.Op) and other.op == "map" and not other.args:  # `{**m}`, `m | {}`
            return ir.Op(place, replace(kind, mutable=True), "dict_of", (of,))
    if not t.alike(mine.key, theirs.key):
        return None
    wide = mine if t.fits(theirs.value, mine.value) else theirs
    if not t.fits(mine.value, wide.value):
        return None
    key = ir.Local(place, mine.key, "_key")
    views = [
        ir.Op(place, t.Set(mine.key, False), "frozenset_of", (_keys(place, each),))
        for each in (left, right)
    ]
    every = ir.Op(place, t.Set(mine.key, False), "union", tuple(views))
    test = ir.Op(place, t.BOOL, "in", (key, right))
    items = [ir.Item(place, wide.value, each, key) for each in (right, left)]
    value = ir.If(place, wide.value, test, *items)
    total = mine.total or theirs.total
    kind = t.Map(mine.key, wide.value, mutable=True, total=total)
    return ir.Comp(place, kind, "map", value, key, (ir.Clause(place, ("_key",), every, ()),))


def _keys(place: Place, of: ir.Expr) -> ir.Expr:
    assert isinstance(of.type, t.Map)
    return ir.Op(place, t.Iter(of.type.key, False), "keys", (of,))


def of_both(left: t.Set, right: t.Set) -> t.Set:
    """The type of the result: as mutable as the left side, with the elements of the wider one."""
    item = left.item if t.fits(right.item, left.item) else right.item
    if t.contains(left.item, t.Unknown):
        item = right.item
    return t.Set(item, left.mutable)


# Opaque values are only stored, compared with == and returned: what to count instead.
COUNTED = {
    "Decimal": "count the smallest unit in integers: cents: Nat; convert where the event is called",
    "Fraction": "count the smallest unit in integers; convert where the event is called",
    "datetime": "count seconds in integers, int(when.timestamp()), or use a Clock",
    "date": "count days in integers, when.toordinal()",
    "time": "count seconds in integers",
    "timedelta": "count seconds in integers, int(span.total_seconds())",
}


def _opaque(sides: tuple[t.Type, t.Type]) -> str | None:
    """What to write instead of arithmetic with an opaque value; None where neither side is one."""
    names = [side.name for side in sides if isinstance(side, t.Opaque)]
    other = "an opaque value has only == and !=: make it an integer, or an OrderedSort"
    return COUNTED.get(names[0], other) if names else None


def _instead(op: str, sides: tuple[t.Type, t.Type]) -> str:
    if all(isinstance(side, t.Bool) for side in sides):
        return "a bool is not an int: `1 if p else 0`"
    if any(isinstance(side, t.Bool) for side in sides):
        return "a bool is not an int: write `1 if p else 0`"
    if any(isinstance(option, t.Nothing) for side in sides for option in t.options(side)):
        return 'rule out None first: `if x is None: ...`, or needed(x, "why")'
    opaque = _opaque(sides)
    if opaque is not None:
        return opaque
    if op == "%" and isinstance(sides[0], t.Text):
        return 'write an f-string: f"{name} waits"'
    if any(isinstance(side, t.Float) for side in sides):
        return "count in integers: milliseconds, cents; a float is only passed on"
    if op in BOTH_BOOLS and all(isinstance(side, t.Int) for side in sides):
        return "a set of an Enum has flags; the lowest bits are x & 1, x & 3, x & 7, ..."
    return "convert one side to the type of the other"


def _unary(b: Body, node: tree.Unary, expected: t.Type | None) -> ir.Expr:
    if node.op == "not":
        return ir.Op(node.place, t.BOOL, "not", (truth(b, node.of),))
    of = as_integer(b, infer(b, node.of, t.INT))
    if not t.fits(of.type, t.INT):
        misfit(b, of.place, of.type, t.INT)
        return b.wrong(node.place)
    return of if node.op == "+" else ir.Op(node.place, t.INT, "neg", (of,))


def _compare(b: Body, node: tree.Compare, expected: t.Type | None) -> ir.Expr:
    written = (node.first, *(each for _, each in node.rest))
    sides = [expr(b, side) for side in written]
    equated = any(op in ("==", "!=") for op, _ in node.rest)
    if equated and any(map(_has_sequence, sides)):
        from .short_forms.constant_lists import constant_list  # Few machines compare lists.

        sides = [constant_list(b, *both) for both in zip(written, sides, strict=True)]
    for i, (op, held) in enumerate(node.rest):
        if op in ("in", "not in") and _has_sequence(sides[i]):
            from .short_forms.constant_lists import sought

            if sought(b, written[i], held):
                return b.wrong(node.place)
    links: list[ir.Expr] = []
    for i, (op, _) in enumerate(node.rest):
        # A chain evaluates each side once; sides change nothing, so they may stand twice.
        links.append(_link(b, op, node, (sides[i], sides[i + 1])))
    return links[0] if len(links) == 1 else ir.And(node.place, t.BOOL, tuple(links))


def _has_sequence(side: ir.Expr) -> bool:
    return t.contains(side.type, t.Seq) or t.contains(side.type, t.Tuple)


def _link(b: Body, op: str, node: tree.Compare, sides: tuple[ir.Expr, ir.Expr]) -> ir.Expr:
    left, right = sides = serials.both(b, *sides)
    place = node.place
    if op in ("in", "not in"):
        return _membership(b, place, op, sides)
    if op in ("is", "is not"):
        if isinstance(right.type, t.Nothing):
            test: ir.Expr = ir.IsA(place, t.BOOL, left, (t.NOTHING,))
            return test if op == "is" else ir.Op(place, t.BOOL, "not", (test,))
        equal = "==" if op == "is" else "!="
        if not isinstance(right.type, t.Enum | t.Bool | t.Unknown):
            b.problem(
                "L203",
                place,
                f"{op} {a(right.type)}",
                f"{op} None, a member of an Enum or a bool",
                f"write {equal}",
            )
            return b.wrong(place)
        op = equal  # Each member of an enum, True and False are one object each.
    if any(t.contains(side.type, t.Text) for side in sides):
        b.problem("L203", place, f"{left.type} {op} {right.type}", "values without text", NO_TEXT)
        return b.wrong(place)
    if op in ("==", "!="):
        if not t.alike(left.type, right.type):
            b.problem(
                "L203",
                place,
                f"{left.type} {op} {right.type}",
                "two values of one type",
                _compared(left.type, right.type),
            )
            return b.wrong(place)
        return ir.Op(place, t.BOOL, "eq" if op == "==" else "ne", sides)
    left, right = sides = whole_bounds(op, as_integer(b, left), as_integer(b, right))
    match left.type, right.type:
        case (t.Serial(), _) | (_, t.Serial()):
            b.problem(
                "L203", place, f"{left.type} {op} {right.type}", "before(a, b)", serials.BEFORE
            )
        case t.Int(), t.Int():
            return ir.Op(place, t.BOOL, ORDER[op], sides)
        case (t.Sort() | t.Tuple(), _) if _in_one_order(left.type, right.type):
            return ir.Op(place, t.BOOL, ORDER[op], sides)
        case t.Set(item=mine), t.Set(item=theirs) if t.alike(mine, theirs):
            return ir.Op(place, t.BOOL, INCLUSION[op], sides)
        case (t.Unknown(), _) | (_, t.Unknown()):
            pass
        case _:
            b.problem(
                "L203",
                place,
                f"{left.type} {op} {right.type}",
                "two integers or two sets",
                _opaque((left.type, right.type))
                or "only integers, ordered sorts and sets have an order",
            )
    return b.wrong(place)


def _compared(left: t.Type, right: t.Type) -> str:
    """What to write for a comparison of types that are not alike."""
    for one, two in ((one, two) for one in t.options(left) for two in t.options(right)):
        match one, two:
            case t.Seq(), t.Seq() if t.alike(one.item, two.item):
                return LISTED
            case t.Tuple(items=x), t.Tuple(items=y) if len(x) == len(y) and all(map(t.alike, x, y)):
                return APART
            case _:
                pass
    return NEVER


def _in_one_order(left: t.Type, right: t.Type) -> bool:
    """Whether both have an order, and the same: ordered sorts, tuples alike."""
    return t.orderable(left) and t.orderable(right) and t.alike(left, right)


def _membership(b: Body, place: Place, op: str, sides: tuple[ir.Expr, ir.Expr]) -> ir.Expr:
    held = among(b, looked_through(sides[1]), sides[0].type)
    item = t.element(held.type)
    value = sides[0] if item is None else serials.declared(b, sides[0], item)
    kinds = held.type.items if isinstance(held.type, t.Tuple) else (item,)
    if item is None and not isinstance(held.type, t.Unknown):
        b.problem(
            "L203",
            held.place,
            f"{op} {a(held.type)}",
            "a collection",
            "look in a set, map, list, tuple or bag",
        )
    elif item is not None and not all(k is not None and t.alike(value.type, k) for k in kinds):
        b.problem(
            "L203",
            place,
            f"{value.type} {op} {held.type}",
            f"{a(item)} {op} it",
            "it is never there: look for a value of the elements' type",
        )
    return ir.Op(place, t.BOOL, "in" if op == "in" else "not_in", (value, held))


def _side(b: Body, node: tree.Expression) -> Callable[[Body, tree.Expression], ir.Expr]:
    """How to resolve a side of `and` and `or`: what they give is a side, and no bool that says
    whether it is true."""
    return truth if b.asked is node else lambda b, arg: expr(b, arg, t.BOOL)


def _given(b: Body, node: tree.Both | tree.Either, expected: t.Type | None) -> ir.Expr | None:
    """The side that is given; None of a condition."""
    if b.asked is node or isinstance(expected, t.Bool):
        return None
    from .short_forms.given_sides import given_side  # Most are conditions.

    return given_side(b, node, expected)


def _both(b: Body, node: tree.Both, expected: t.Type | None) -> ir.Expr:
    """`x and y`: whether both are true; or x where it counts as false, else y."""
    if (found := _given(b, node, expected)) is not None:
        return found
    args: list[ir.Expr] = []
    side = _side(b, node)
    with b.knowing({}), b.without_hoisting():
        for arg in node.args:
            args.append(side(b, arg))
            b.facts.update(facts_if(args[-1], True))
    return ir.And(node.place, t.BOOL, tuple(args))


def _either(b: Body, node: tree.Either, expected: t.Type | None) -> ir.Expr:
    """`x or y`: whether one of them is true; or x where it counts as true, else y."""
    if (found := _given(b, node, expected)) is not None:
        return found
    args: list[ir.Expr] = []
    last = _side(b, node)
    # Before the last side a bool that is None is as good as False.
    side = last if b.asked is node else true_or_not
    with b.knowing({}), b.without_hoisting():
        for arg in node.args:
            args.append((last if arg is node.args[-1] else side)(b, arg))
            b.facts.update(facts_if(args[-1], False))
    return ir.Or(node.place, t.BOOL, tuple(args))


def _conditional(b: Body, node: tree.Conditional, expected: t.Type | None) -> ir.Expr:
    """`x if test else y`; a branch before the statement where a side does more than read."""
    before = b.evaluated
    test = truth(b, node.test)
    read = b.evaluated
    sides: list[tuple[ir.Expr, list[ir.Stmt]]] = []
    left: list[dict[ir.Expr, t.Type]] = []  # What is known after each side.
    for side, holds in ((node.then, True), (node.other, False)):
        hoisted, b.hoisted = b.hoisted, None if b.hoisted is None else []
        b.evaluated = before  # The test is evaluated where a branch would stand.
        with b.knowing(facts_if(test, holds)):
            # Where a set stands the other side of an operation may be meant: it need not be as
            # mutable.
            found = (infer if isinstance(expected, t.Set) else expr)(b, side, expected)
            left.append(b.facts)
        sides.append((found, b.hoisted or []))
        b.hoisted = hoisted
        read = None if read is None or b.evaluated is None else (*read, *b.evaluated)
    then, other = (found for found, _ in sides)
    kinds = then.type, other.type
    fitting = expected is not None and all(t.fits(kind, expected) for kind in kinds)
    kind = expected if expected is not None and fitting else join(b, node.place, kinds)
    if not any(steps or _refuses(found) for found, steps in sides):
        b.evaluated = read
        return ir.If(node.place, kind, test, then, other)
    if b.hoisted is None or before is None or not t.immutable(kind):
        b.problem(
            "L102",
            node.place,
            "a change of the state, or a guard, inside an expression",
            "a statement of its own",
            "write if and else, and assign a local in both",
        )
        return b.wrong(node.place)
    b.evaluated = before
    local = b.temporary(kind, node.place)
    ways = ((*steps, ir.Assign(found.place, local, found)) for found, steps in sides)
    b.hoisted.append(ir.Branch(node.place, test, *ways))
    b.facts = known_of_all(left)
    return read_of(local)


def _refuses(found: ir.Expr) -> bool:
    return any(isinstance(node, ir.Needed) for node in everything((found,)))


ROWS: dict[type[tree.Tree], Resolver] = {
    tree.Binary: _binary,
    tree.Unary: _unary,
    tree.Compare: _compare,
    tree.Both: _both,
    tree.Either: _either,
    tree.Conditional: _conditional,
}
