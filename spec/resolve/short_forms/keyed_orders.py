"""`sorted`, `min` and `max` with `key=` and `reverse=`: by a comparison of tuples of the key and
the index, so that of equal ones the first comes first, as in Python."""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import Any

from ... import ir
from ... import types as t
from ...analysis.iteration_order import injective
from ...errors import Place
from ...syntax import tree
from .. import expressions, tuples
from ..comprehensions import as_set, comprehension
from ..context import Body
from ..families import gathered
from ..methods import refused
from ..ordered_sorts import compared
from .enum_integers import as_integer, has_order, ranked_text
from .mapped import comprehended

NO_ORDER = (
    "take the keys of a map, which have an order, {0}(m, key=lambda k: (m[k].level, k)); or make"
    " the elements an OrderedSort, and end the key with the element"
)
WORDS = {"sorted": {"key", "reverse"}, "min": {"key", "default"}, "max": {"key", "default"}}
# The rewrite says which of equal ones comes first.
FIRST = "end the key with the element, {0}(s, key=lambda x: (key(x), x)); of items with their key"


def has_key(node: tree.Apply, builtin: str) -> bool:
    """Whether the call of `sorted`, `min` or `max` says by what it orders one collection."""
    given = {word for word, _ in node.keywords}
    return len(node.args) == 1 and bool(given & {"key", "reverse"}) and given <= WORDS[builtin]


def _either_way(node: tree.Apply, words: dict[str, tree.Expression]) -> tree.Expression:
    """`sorted(q, reverse=self.down)`: one order or the other."""
    place, asked = node.place, words.pop("reverse")
    ways = (words | {"reverse": tree.Literal(place, way)} for way in (True, False))
    calls = (replace(node, keywords=tuple(way.items())) for way in ways)
    return tree.Conditional(place, asked, *calls)


def keyed(b: Body, node: tree.Apply, builtin: str) -> ir.Expr:
    """The call as an expression without `key=` and `reverse=`."""
    words = dict(node.keywords)
    if "reverse" in words and not isinstance(words["reverse"], tree.Literal):
        return expressions.expr(b, _either_way(node, words))
    reverse = getattr(words.get("reverse"), "value", False)
    if not isinstance(reverse, bool):
        return refused(b, node, "reverse=True or reverse=False")
    over, item = _collection(b, node.args[0], by_itself="key" not in words)
    if t.contains(item, t.Part):
        gathered(b, over.place, over.type)
    if isinstance(item, t.Unknown) or t.contains(item, t.Part):
        return b.wrong(node.place)
    by = _by(b, node, words.get("key"), (builtin, item))
    if by is None:
        return b.wrong(node.place)
    items = isinstance(over, ir.Op) and over.op == "items"
    if not t.ordered(over.type) and _tells_apart(by[1], by[0], items):
        over = _listed(b, over, item)
    found = _Keyed(b, node.place, builtin, over, item)
    if builtin == "sorted":
        return found.in_order(*by, reverse=reverse)
    chosen = found.single(*by) or found.extreme(*by)
    if "default" not in words:
        return chosen
    other = expressions.expr(b, words["default"])
    kind = expressions.join(b, node.place, (item, other.type))
    some = ir.Op(node.place, t.INT, "len", (over,))
    there = ir.Op(node.place, t.BOOL, "gt", (some, ir.Const(node.place, t.INT, 0)))
    if not isinstance(other, ir.Const):  # Python evaluates it in any case.
        both = tuples.made(node.place, (other, chosen))
        chosen = ir.Item(node.place, item, both, ir.Const(node.place, t.INT, 1))
    return ir.If(node.place, kind, there, chosen, other)


def _collection(b: Body, node: tree.Expression, *, by_itself: bool) -> tuple[ir.Expr, t.Type]:
    """What is ordered: a list or tuple that can be indexed, or an unordered collection.

    `by_itself`: each element is its own key, so equal ones are one, and their order is not seen."""
    node = comprehended(b, node)
    if isinstance(node, tree.Comprehension) and node.kind in ("generator", "list"):
        made = comprehension(b, node, "tuple", None, any_order=True)
        if isinstance(made, ir.Comp) and not by_itself:
            made = as_set(b, made)
        return made, t.element(made.type) or t.Unknown()
    over, item = expressions.iterable(b, node)
    if by_itself and has_order(b, item):
        return _listed(b, over, item), item
    if not t.ordered(over.type) or isinstance(over.type, t.Seq):
        return over, item
    return ir.Op(node.place, t.Seq(item, False), "tuple_of", (over,)), item


def _listed(b: Body, over: ir.Expr, item: t.Type) -> ir.Expr:
    """The elements as a tuple, in any order where they have none."""
    if isinstance(over.type, t.Seq):
        return over
    b.fresh += 1
    each = ir.Local(over.place, item, f"_{b.fresh}")
    clause = ir.Clause(over.place, (each.name,), over, ())
    return ir.Comp(over.place, t.Seq(item, False), "tuple", each, None, (clause,))


def _tells_apart(key: ir.Expr, name: str, items: bool) -> bool:
    """Whether no two elements have this key: it has the rank of the member of an enum in it, or, of
    a map's items, the item's key."""
    match key:
        case ir.Op(op="tuple", args=args):
            return any(_tells_apart(arg, name, items) for arg in args)
        case ir.Item(of=ir.Local(name=own), key=ir.Const(value=0)):
            return items and own == name
        case ir.Op(op="neg", args=(of,)):
            return _tells_apart(of, name, items)
        case ir.Item(of=ir.Op(op="map", args=args), key=of) if _is_element(of, name, items):
            ranks = [rank.value for rank in args[1::2] if isinstance(rank, ir.Const)]
            return 2 * len(set(ranks)) == len(args)
        case _:
            return False


def _is_element(e: ir.Expr, name: str, items: bool) -> bool:
    """Whether it is the element of this name or, of a map's item, the item's key."""
    match e:
        case ir.Item(of=ir.Local(name=own), key=ir.Const(value=0)):
            return items and own == name
        case ir.Local(name=own):
            return own == name
        case _:
            return False


def by_itself(b: Body, place: Place, builtin: str, of: tuple[ir.Expr, t.Type]) -> ir.Expr:
    """`sorted`, `min` or `max` of members that are integers or texts: equal ones are one member."""
    over, item = of
    found = _Keyed(b, place, builtin, _listed(b, over, item), item)
    b.fresh += 1
    name = f"_{b.fresh}"
    rank = _rank(b, ir.Local(place, item, name))
    if builtin == "sorted":
        return found.in_order(name, rank, reverse=False)
    return found.extreme(name, rank)


def least_member(b: Body, node: tree.Apply, builtin: str) -> ir.Expr | None:
    """`min` or `max` of members of an `IntEnum` or a `StrEnum`; None of other elements."""
    (argument,) = node.args
    if isinstance(argument, tree.Comprehension):
        return None
    kept = len(b.scene.problems.found), b.evaluated, b.hoisted
    b.hoisted = None if b.hoisted is None else [*b.hoisted]
    over, item = expressions.iterable(b, argument)
    if has_order(b, item) and len(b.scene.problems.found) == kept[0]:
        b.hoisted = kept[2]
        return by_itself(b, node.place, builtin, (over, item))
    del b.scene.problems.found[kept[0] :]
    b.evaluated, b.hoisted = kept[1:]
    return None


def of_members(b: Body, place: Place, builtin: str, args: tuple[ir.Expr, ...]) -> ir.Expr | None:
    """`min(x, y)` or `max(x, y)` of members of one `IntEnum` or `StrEnum`; None of other values."""
    kind = args[0].type
    if any(each.type != kind for each in args) or not has_order(b, kind):
        return None
    return by_itself(b, place, builtin, (ir.Op(place, t.Seq(kind, False), "tuple", args), kind))


def _by(
    b: Body, node: tree.Apply, key: tree.Expression | None, of: tuple[str, t.Type]
) -> tuple[str, ir.Expr] | None:
    """The name of an element, and its key; None where that has no order."""
    builtin, item = of
    if isinstance(key, tree.Attribute) and key.name == "get" and _same(key.of, node.args[0]):
        key = _item_of(b, key)  # Each key of the map is there.
    name = key.params[0] if isinstance(key, tree.Function) and len(key.params) == 1 else "_each"
    with b.binding({name: item}), b.knowing({}), b.without_hoisting():
        body = _applied(b, key, tree.Name(node.place, name))
        made = _rank(b, expressions.infer(b, body, None))
    kind = compared(b, made.place, (made.type,), builtin)
    return None if isinstance(kind, t.Unknown) else (name, made)


def _same(one: tree.Expression, other: tree.Expression) -> bool:
    """Whether both are one chain of names: `self.m`."""
    match one, other:
        case tree.Name(name=a), tree.Name(name=b):
            return a == b
        case tree.Attribute(name=a), tree.Attribute(name=b):
            return a == b and _same(one.of, other.of)
        case _:
            return False


def _item_of(b: Body, key: tree.Attribute) -> tree.Function:
    """`m.get` as `lambda x: m[x]`."""
    b.fresh += 1
    name = f"_{b.fresh}"
    item = tree.Subscript(key.place, key.of, tree.Name(key.place, name))
    return tree.Function(key.place, (name,), item)


def _applied(b: Body, key: tree.Expression | None, of: tree.Expression) -> tree.Expression:
    """`key(of)`; of `attrgetter("n")` and `itemgetter(0)` what these give."""
    match key:
        case None | tree.Literal(value=None):
            return of
        case tree.Function(body=body, params=(_,)):
            return body
        case tree.Apply(function=function, args=args, keywords=()) if args:
            got = b.static(function)
            parts = tuple(_got(got, of, arg) for arg in args)
            known = [part for part in parts if part is not None]
            if len(known) == len(parts):
                return known[0] if len(known) == 1 else tree.Display(key.place, "tuple", (*known,))
        case _:
            pass
    return tree.Apply(key.place, key, (of,), ())


def _got(getter: Any, of: tree.Expression, arg: tree.Expression) -> tree.Expression | None:
    match arg:
        case tree.Literal(value=str() as name) if getter is operator.attrgetter:
            for part in name.split("."):
                of = tree.Attribute(arg.place, of, part)
            return of
        case _ if getter is operator.itemgetter:
            return tree.Subscript(arg.place, of, arg)
        case _:
            return None


def _rank(b: Body, key: ir.Expr) -> ir.Expr:
    """A key with an order: False comes before True, a member of an IntEnum is its integer, and the
    texts of an enum's members are in the order of texts."""
    key = ranked_text(b, key)
    if isinstance(key, ir.Op) and key.op == "tuple" and isinstance(key.type, t.Tuple):
        items = tuple(_rank(b, arg) for arg in key.args)
        return ir.Op(key.place, t.Tuple(tuple(item.type for item in items)), "tuple", items)
    if isinstance(key.type, t.Bool):
        return ir.Op(key.place, t.INT, "int", (key,))
    return as_integer(b, key)


def _unsigned(key: ir.Expr) -> ir.Expr:
    """The key with `x` for `-x`, which as many values have."""
    match key:
        case ir.Op(op="neg", args=(of,)):
            return of
        case ir.Op(op="tuple", args=args):
            return replace(key, args=tuple(map(_unsigned, args)))
        case _:
            return key


class _Keyed:
    """One collection, whose elements are compared by a key."""

    def __init__(self, b: Body, place: Place, builtin: str, over: ir.Expr, item: t.Type) -> None:
        self.b = b
        self.place = place
        self.builtin = builtin
        self.over = over
        self.item = item
        b.fresh += 1
        self.index = ir.Local(place, t.INT, f"_{b.fresh}")

    def extreme(self, name: str, key: ir.Expr) -> ir.Expr:
        """`min` or `max`."""
        self._judge(name, key)
        kind: ir.CompKind = "min" if self.builtin == "min" else "max"
        return self._element(self._pairs(name, key, kind, backwards=kind == "max"), kind == "max")

    def single(self, name: str, key: ir.Expr) -> ir.Expr | None:
        """`max(m, key=m.get)`: the key with the greatest value, and no value where two have it:
        Python gives the one that was put first, and maps have no order here. None of another key.
        """
        match key:
            case ir.Item(of=of, key=ir.Local(name=own), type=t.Int()) if of == self.over:
                pass
            case _:
                return None
        if own != name or not isinstance(of.type, t.Map) or not t.orderable(self.item):
            return None
        greatest = self.builtin == "max"
        back = ir.Op(self.place, t.INT, "neg", (key,))
        one = self._element(self._pairs(name, key, "max" if greatest else "min"), False)
        # This is the one of equal ones at the other end of the order of keys.
        other = self._element(self._pairs(name, back, "min" if greatest else "max"), False)
        same = ir.Op(self.place, t.BOOL, "eq", (one, other))
        none = ir.Op(self.place, t.Seq(self.item, False), "tuple", ())
        two = ir.Item(self.place, self.item, none, ir.Const(self.place, t.INT, 0))
        return ir.If(self.place, self.item, same, one, two)

    def in_order(self, name: str, key: ir.Expr, *, reverse: bool) -> ir.Expr:
        """`sorted`, in reverse order where asked: equal ones stay as they were in either case."""
        self._judge(name, key)
        pairs = self._pairs(name, key, "tuple", backwards=reverse)
        item = t.element(pairs.type) or t.Unknown()
        over: ir.Expr = ir.Op(self.place, t.Seq(item, True), "sorted", (pairs,))
        if reverse:
            over = ir.Op(self.place, t.Iter(item, True), "reversed", (over,))
        self.b.fresh += 1
        pair = ir.Local(self.place, item, f"_{self.b.fresh}")
        clause = ir.Clause(self.place, (pair.name,), over, ())
        kind = t.Seq(self.item, True)
        return ir.Comp(self.place, kind, "list", self._element(pair, reverse), None, (clause,))

    def _judge(self, name: str, key: ir.Expr) -> None:
        """Without an order, each element has a key of its own."""
        alone = injective(_unsigned(key), frozenset({name})) and t.orderable(self.item)
        if not t.ordered(self.over.type) and not alone:
            self.b.problem(
                "L210",
                self.place,
                f"{self.builtin} of an unordered collection by a key that two may have",
                "the same result in every order",
                (FIRST if t.orderable(self.item) else NO_ORDER).format(self.builtin),
            )

    def _pairs(
        self, name: str, key: ir.Expr, kind: ir.CompKind, *, backwards: bool = False
    ) -> ir.Expr:
        """The key of each element with its index, or where there is no order with the element."""
        element = ir.Local(self.place, self.item, name)
        over = self.over
        names: tuple[str, ...] = (name,)
        second: ir.Expr = element
        if t.ordered(self.over.type):
            pair = t.Tuple((t.INT, self.item))
            over = ir.Op(self.place, t.Iter(pair, True), "enumerate", (self.over,))
            names, second = (self.index.name, name), self.index
            if backwards:
                second = ir.Op(self.place, t.INT, "neg", (self.index,))
        both = t.Tuple((key.type, second.type))
        made = ir.Op(self.place, both, "tuple", (key, second))
        whole = t.Seq(both, False) if kind == "tuple" else both
        clause = ir.Clause(self.place, names, over, ())
        return ir.Comp(self.place, whole, kind, made, None, (clause,))

    def _element(self, pair: ir.Expr, backwards: bool) -> ir.Expr:
        """The element of a pair that `_pairs` made."""
        second = t.INT if t.ordered(self.over.type) else self.item
        found: ir.Expr = ir.Item(self.place, second, pair, ir.Const(self.place, t.INT, 1))
        if not t.ordered(self.over.type):
            return found
        if backwards:
            found = ir.Op(self.place, t.INT, "neg", (found,))
        return ir.Item(self.place, self.item, self.over, found)
