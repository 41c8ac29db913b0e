"""Ordered sorts in bodies, which values have an order, and the subsets of a set."""

from __future__ import annotations

from collections.abc import Callable

from .. import ir
from .. import types as t
from ..errors import Place
from ..syntax import tree
from . import expressions
from .context import Body
from .declared import serials
from .methods import only, refused

ORDERED = "integers, elements of an OrderedSort, or tuples of them"


def compared(b: Body, place: Place, kinds: tuple[t.Type, ...], word: str) -> t.Type:
    """The one type of values that `word` puts in order; a problem where they have none."""
    each = tuple(option for kind in kinds for option in t.options(kind))
    without = next((kind for kind in each if not t.orderable(kind)), None)
    if without is None:
        return expressions.join(b, place, each)
    b.problem(
        "L203", place, f"{word} of {without}, which has no order", ORDERED, instead(without, word)
    )
    return t.Unknown()


def instead(kind: t.Type, word: str) -> str:
    """How to order values without an order of their own."""
    match kind:
        case t.Serial():
            return serials.BEFORE
        case t.Sort():
            return f"declare class {kind}(OrderedSort)"
        case t.Bool():
            return "a bool is not an int here: write `1 if p else 0`"
        case t.Tuple(items=(key, _)) if word == "sorted" and t.orderable(key):
            return "go through the keys in their order, for k in sorted(m), and read m[k]"
        case _ if word == "sorted":
            return "sort by a number: sorted((m.seqno, ...) for m in ...), or keep a set"
        case t.Nothing():
            return 'rule out None first: `if x is None: ...`, or needed(x, "why")'
        case _:
            return "compare a number in it: m.seqno"


def element(op: str) -> Callable[[Body, tree.Apply, t.Type | None], ir.Expr]:
    """`rank`, `successor` and `predecessor` of an element of an ordered sort."""

    def resolve(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
        if not only(b, node, 1):
            return b.wrong(node.place)
        of = expressions.expr(b, node.args[0])
        match of.type:
            case t.Sort(ordered=True):
                return ir.Op(node.place, t.INT if op == "rank" else of.type, op, (of,))
            case t.Unknown():
                return b.wrong(node.place)
            case t.Sort():
                b.problem(
                    "L203",
                    node.place,
                    f"{op} of {of.type}, which has no order",
                    "an element of an OrderedSort",
                    instead(of.type, op),
                )
                return b.wrong(node.place)
            case _:
                return refused(b, node, "an element of an OrderedSort", "L203")

    return resolve


def before(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
    """`before(a, b)` of two serial numbers of one width."""
    if not only(b, node, 2):
        return b.wrong(node.place)
    first, second = serials.both(b, *(expressions.expr(b, arg) for arg in node.args))
    match first.type, second.type:
        case (t.Serial() as kind, other) if kind == other:
            size = serials.modulus(node.place, kind)
            return ir.Op(node.place, t.BOOL, "before", (first, second, size))
        case (t.Unknown(), _) | (_, t.Unknown()):
            return b.wrong(node.place)
        case mine, theirs:
            b.problem(
                "L203",
                node.place,
                f"before({mine}, {theirs})",
                "two serial numbers of one width",
                "annotate Annotated[int, Serial(bits=16)]",
            )
            return b.wrong(node.place)


def subsets(b: Body, node: tree.Apply, expected: t.Type | None) -> ir.Expr:
    """`subsets(s)` of a set, or of the elements of a sort."""
    if not only(b, node, 1):
        return b.wrong(node.place)
    of, item = expressions.iterable(b, node.args[0])
    if not isinstance(of, ir.Domain) and not isinstance(of.type, t.Set | t.Unknown):
        return refused(b, node, "subsets of a set, or of a sort", "L203")
    return ir.Op(node.place, t.Iter(t.Set(item, mutable=False), False), "subsets", (of,))
