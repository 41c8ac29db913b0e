"""The operators over terms: a second table over the names of `spec.ops.TABLE`.

A row is here in `OPERATORS` or in `REFUSED`, with the reason; a test holds the three together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

from lawful.spec import ir
from lawful.spec import types as t

from .logic import Term
from .rounds import Rounds
from .shapes import LISTED, NotEncodable
from .symbols import Many, Row, Value

Operator = Callable[[Rounds, ir.Op, list[Value]], Value]


def _integers(work: Callable[[Rounds, list[Term]], Term]) -> Operator:
    """An operator over integers that always has a value."""
    return lambda run, e, values: work(run, [run.sure(v) for v in values])


def _divide(work: Callable[[Rounds, Term, Term], Term]) -> Operator:
    def divide(run: Rounds, e: ir.Op, values: list[Value]) -> Term:
        a, b = (run.sure(v) for v in values)
        run.stop("undefined", run.logic.equal(b, run.logic.number(0)), e)
        return work(run, a, b)

    return divide


def _least(sign: int) -> Operator:
    def least(run: Rounds, e: ir.Op, values: list[Value]) -> Term:
        def better(a: Term, b: Term) -> Term:
            first = run.logic.at_most(a, b) if sign < 0 else run.logic.at_most(b, a)
            return run.logic.choose(first, a, b)

        return reduce(better, [run.sure(v) for v in values])

    return least


def _int(run: Rounds, e: ir.Op, values: list[Value]) -> Term:
    value, logic = run.sure(values[0]), run.logic
    if isinstance(e.args[0].type, t.Bool):
        return logic.choose(value, logic.number(1), logic.number(0))
    return value


def _bool(run: Rounds, e: ir.Op, values: list[Value]) -> Term:
    value, logic = run.sure(values[0]), run.logic
    if isinstance(e.args[0].type, t.Bool):
        return value
    return logic.negate(logic.equal(value, logic.number(0)))


def _wider(a: t.Type, b: t.Type) -> t.Type:
    return b if t.fits(a, b) and not _unknown(b) else a


def _unknown(kind: t.Type) -> bool:
    return isinstance(t.element(kind), t.Unknown) or isinstance(kind, t.Unknown)


def _equal(run: Rounds, e: ir.Op, values: list[Value]) -> Term:
    kind = _wider(e.args[0].type, e.args[1].type)
    if isinstance(kind, t.Seq):
        return _same_sequence(run, e, values)
    a, b = (
        run.term(run.fit(v, arg.type, kind, e), kind, e)
        for v, arg in zip(values, e.args, strict=True)
    )
    return run.encoding.equal(a, b, kind)


def _same_sequence(run: Rounds, e: ir.Op, values: list[Value]) -> Term:
    a, b = (_listed(run, v, e) for v in values)
    if len(a) != len(b):
        return run.logic.false
    item = t.element(_wider(e.args[0].type, e.args[1].type)) or t.NOTHING
    return run.logic.all(
        run.encoding.equal(run.sure(x), run.sure(y), item) for x, y in zip(a, b, strict=True)
    )


def _listed(run: Rounds, value: Value, node: ir.Op) -> list[Value]:
    """The items of a sequence of known length; raises NotEncodable for others."""
    if isinstance(value, Many) and value.listed:
        if all(run.logic.is_true(row.when) for row in value.rows):
            return [row.value for row in value.rows]
    raise NotEncodable(f"{node.op} of a sequence without a fixed length", node.place)


def _order(work: Callable[[Rounds, Term, Term], Term]) -> Operator:
    def compare(run: Rounds, e: ir.Op, values: list[Value]) -> Term:
        a, b = (
            _rank(run, run.sure(v), arg.type) for v, arg in zip(values, e.args, strict=True)
        )
        return work(run, a, b)

    return compare


def _rank(run: Rounds, value: Term, kind: t.Type) -> Term:
    if isinstance(kind, t.Int):
        return value
    elements = run.encoding.universe(kind)
    if elements is None:
        raise NotEncodable(f"the order of {kind}, which has no size")
    rank = run.logic.number(0)
    for i, element in enumerate(elements):
        rank = run.logic.choose(run.logic.equal(value, element), run.logic.number(i), rank)
    return rank


def _in(run: Rounds, e: ir.Op, values: list[Value]) -> Term:
    of, kind, mine = values[1], e.args[1].type, e.args[0].type
    if _unknown(kind):
        return run.logic.false
    item = t.element(kind)
    assert item is not None
    if isinstance(kind, t.Set | t.Map | t.Bag) and not isinstance(of, Many):
        container = run.term(of, kind, e)
        known = run.logic.true
        if isinstance(mine, t.Union) and not t.fits(mine, item):
            known = run.encoding.is_option(run.sure(values[0]), mine, (item,))
        key = run.term(run.fit(values[0], mine, item, e), item, e)
        if isinstance(kind, t.Map) and kind.total:
            return run.logic.all((known, run.encoding.bounds(key, item)))
        return run.logic.all((known, run.encoding.get(kind, container, key)[0]))
    wide = _wider(mine, item)
    element = run.term(run.fit(values[0], mine, wide, e), wide, e)
    return run.member(run.elements(of, kind, e), element, wide, e)


def _len(run: Rounds, e: ir.Op, values: list[Value]) -> Term:
    kind = e.args[0].type
    many = run.elements(values[0], kind, e)
    if not many.listed:
        raise NotEncodable(f"len of a {kind}, which has no bound")
    one, none = run.logic.number(1), run.logic.number(0)
    return run.logic.add(none, *(run.logic.choose(row.when, one, none) for row in many.rows))


def _pointwise(work: Callable[[Rounds, Term, Term], Term]) -> Operator:
    """A set from two: whether each element is in it."""

    def combine(run: Rounds, e: ir.Op, values: list[Value]) -> Value:
        if not isinstance(e.type, t.Set) or _unknown(e.type):
            raise NotEncodable(f"{e.op} of empty sets of unknown type")
        a, b = _both_sets(run, e, values, e.type)
        element = run.logic.fresh("e", run.encoding.shape(e.type.item))
        inside = work(run, run.logic.read(a, element), run.logic.read(b, element))
        return run.logic.by_cases(element, inside)

    return combine


def _both_sets(
    run: Rounds, e: ir.Op, values: Sequence[Value], kind: t.Type
) -> tuple[Term, Term]:
    fitted = [run.fit(v, arg.type, kind, e) for v, arg in zip(values, e.args, strict=True)]
    return run.term(fitted[0], kind, e), run.term(fitted[1], kind, e)


def _everywhere(work: Callable[[Rounds, Term, Term], Term]) -> Operator:
    """A comparison of two sets: what is true of every element."""

    def compare(run: Rounds, e: ir.Op, values: list[Value]) -> Term:
        kind = _wider(e.args[0].type, e.args[1].type)
        if not isinstance(kind, t.Set) or _unknown(kind):
            raise NotEncodable(f"{e.op} of empty sets of unknown type")
        a, b = _both_sets(run, e, values, kind)
        logic = run.logic
        elements = run.encoding.universe(kind.item)
        if elements is not None:
            return logic.all(work(run, logic.read(a, x), logic.read(b, x)) for x in elements)
        x = logic.fresh("e", run.encoding.shape(kind.item))
        return logic.forall([x], logic.true, work(run, logic.read(a, x), logic.read(b, x)))

    return compare


def _proper(compare: Operator) -> Operator:
    def proper(run: Rounds, e: ir.Op, values: list[Value]) -> Term:
        equal = run.logic.negate(_equal(run, e, values))
        return run.logic.all((run.sure(compare(run, e, values)), equal))

    return proper


def _keys(run: Rounds, e: ir.Op, values: list[Value]) -> Term:
    kind = e.args[0].type
    assert isinstance(kind, t.Map)
    key = run.logic.fresh("k", run.encoding.shape(kind.key))
    there = run.encoding.get(kind, run.sure(values[0]), key)[0]
    if kind.total:
        there = run.encoding.bounds(key, kind.key)
    return run.logic.by_cases(key, there)


def _values(run: Rounds, e: ir.Op, values: list[Value]) -> Many:
    return _entries(run, e, values, lambda key, value: value)


def _items(run: Rounds, e: ir.Op, values: list[Value]) -> Many:
    kind = t.element(e.type)
    assert kind is not None
    data = run.encoding.data(kind)
    return _entries(run, e, values, lambda key, value: run.logic.make(data, 0, [key, value]))


def _entries(
    run: Rounds, e: ir.Op, values: list[Value], make: Callable[[Term, Term], Term]
) -> Many:
    kind, item = e.args[0].type, t.element(e.type)
    assert item is not None
    rows: list[Row] = []
    for row in run.elements(values[0], kind, e).rows:
        key = run.sure(row.value)
        value = run.encoding.get(kind, run.sure(values[0]), key)[1]
        rows.append(Row(row.names, row.when, make(key, value)))
    return Many(tuple(rows), item)


def _get(run: Rounds, e: ir.Op, values: list[Value]) -> Value:
    kind = e.args[0].type
    item = t.element(kind)
    assert item is not None
    key = run.term(run.fit(values[1], e.args[1].type, item, e), item, e)
    there, value = run.encoding.get(kind, run.term(values[0], kind, e), key)
    found = run.fit(value, kind.value if isinstance(kind, t.Map) else t.INT, e.type, e)
    default = run.fit(values[2], e.args[2].type, e.type, e)
    return run.merge(there, found, default, e)


def _fold(kind: str) -> Operator:
    def fold(run: Rounds, e: ir.Op, values: list[Value]) -> Term:
        return run.fold(kind, run.elements(values[0], e.args[0].type, e), e)

    return fold


def _gathered(run: Rounds, e: ir.Op, values: list[Value]) -> Value:
    """`set list tuple` of what can be iterated."""
    if _unknown(e.args[0].type):
        return Many((), t.Unknown())
    if isinstance(e.type, t.Set) and isinstance(e.args[0].type, t.Set):
        return run.fit(values[0], e.args[0].type, e.type, e)
    many = run.elements(values[0], e.args[0].type, e)
    item = t.element(e.type) or many.item
    fitted = run.fit(many, t.Iter(many.item, False), t.Iter(item, False), e)
    assert isinstance(fitted, Many)
    return run.settle(fitted, e.type, e)


def _sorted(run: Rounds, e: ir.Op, values: list[Value]) -> Value:
    kind = e.args[0].type
    if not isinstance(kind, t.Set | t.Map | t.Bag) or isinstance(values[0], Many):
        raise NotEncodable(f"sorted of a {kind}: only sets and maps are gone through in order")
    # The elements of listed types, and the numbers of a quantifier, come in ascending order.
    return run.elements(values[0], kind, e)


def _dict_of(run: Rounds, e: ir.Op, values: list[Value]) -> Value:
    return run.fit(values[0], e.args[0].type, e.type, e)


def _counter_of(run: Rounds, e: ir.Op, values: list[Value]) -> Value:
    kind, logic = e.args[0].type, run.logic
    item = t.element(e.type)
    if item is None or isinstance(item, t.Unknown):
        return Many((), t.Unknown())
    if isinstance(values[0], Many) and not values[0].rows:
        return run.encoding.empty(e.type)
    key = logic.fresh("e", run.encoding.shape(item))
    if isinstance(kind, t.Set | t.Map | t.Bag):
        there, value = run.encoding.get(kind, run.term(values[0], kind, e), key)
        count = logic.number(1) if isinstance(kind, t.Set) else value
        return logic.by_cases(key, logic.choose(there, count, logic.number(0)))
    many = run.elements(values[0], kind, e)
    if not many.listed:
        raise NotEncodable("Counter of a collection without a bound")
    counts = [
        logic.choose(
            logic.all((r.when, run.encoding.equal(run.sure(r.value), key, item))),
            logic.number(1), logic.number(0),
        )
        for r in many.rows
    ]  # fmt: skip
    return logic.by_cases(key, logic.add(logic.number(0), *counts))


def _range(run: Rounds, e: ir.Op, values: list[Value]) -> Many:
    logic = run.logic
    terms = [run.sure(v) for v in values]
    low = terms[0] if len(terms) > 1 else logic.number(0)
    high = terms[1] if len(terms) > 1 else terms[0]
    step = 1 if len(terms) < 3 else logic.known(terms[2])
    if step is None:
        raise NotEncodable("a range whose step is not a number")
    if step == 0:
        run.stop("undefined", logic.true, e)
        return Many((), t.INT)
    ends = logic.known(low), logic.known(high)
    if ends[0] is not None and ends[1] is not None and len(range(*ends, step)) <= LISTED:
        rows = [Row((), logic.true, logic.number(i)) for i in range(*ends, step)]
        return Many(tuple(rows), t.INT)
    if step < 0:
        raise NotEncodable("a descending range without fixed ends")
    window = run.encoding.universe(t.INT)

    def inside(i: Term) -> Term:
        on = logic.remainder(logic.add(i, logic.negative(low)), logic.number(step))
        hit = logic.true if step == 1 else logic.equal(on, logic.number(0))
        return logic.all((logic.at_most(low, i), logic.less(i, high), hit))

    if window is not None:
        return Many(tuple(Row((), inside(i), i) for i in window), t.INT)
    name = logic.fresh("i", logic.int)
    return Many((Row((name,), inside(name), name),), t.INT)


def _reversed(run: Rounds, e: ir.Op, values: list[Value]) -> Many:
    many = run.elements(values[0], e.args[0].type, e)
    if not many.listed:
        raise NotEncodable("reversed of a collection without a bound")
    return Many(many.rows[::-1], many.item)


def _zipped(run: Rounds, e: ir.Op, columns: list[list[Value]]) -> Many:
    item = t.element(e.type)
    assert isinstance(item, t.Tuple)
    data = run.encoding.data(item)
    rows = [
        Row((), run.logic.true, run.logic.make(data, 0, [run.sure(v) for v in row]))
        for row in zip(*columns, strict=False)
    ]
    return Many(tuple(rows), item)


def _enumerate(run: Rounds, e: ir.Op, values: list[Value]) -> Many:
    items = _listed(run, run.elements(values[0], e.args[0].type, e), e)
    return _zipped(run, e, [[run.logic.number(i) for i in range(len(items))], items])


def _zip(run: Rounds, e: ir.Op, values: list[Value]) -> Many:
    many = [run.elements(v, arg.type, e) for v, arg in zip(values, e.args, strict=True)]
    return _zipped(run, e, [_listed(run, m, e) for m in many])


def _concat(run: Rounds, e: ir.Op, values: list[Value]) -> Many:
    a, b = (run.fit(v, arg.type, e.type, e) for v, arg in zip(values, e.args, strict=True))
    assert isinstance(a, Many) and isinstance(b, Many)
    return Many((*a.rows, *b.rows), t.element(e.type) or a.item)


def _count(run: Rounds, e: ir.Op, values: list[Value]) -> Term:
    many = run.elements(values[0], e.args[0].type, e)
    if not many.listed:
        raise NotEncodable("count in a sequence without a bound")
    element = run.term(run.fit(values[1], e.args[1].type, many.item, e), many.item, e)
    one, none, logic = run.logic.number(1), run.logic.number(0), run.logic
    hits = [
        logic.all((r.when, run.encoding.equal(run.sure(r.value), element, many.item)))
        for r in many.rows
    ]
    return logic.add(none, *(logic.choose(hit, one, none) for hit in hits))


def _total(run: Rounds, e: ir.Op, values: list[Value]) -> Term:
    kind = e.args[0].type
    many = run.elements(values[0], kind, e)
    if not many.listed:
        raise NotEncodable(f"the total of a {kind}, which has no bound")
    bag = run.term(values[0], kind, e)
    return run.logic.add(
        run.logic.number(0), *(run.logic.read(bag, run.sure(r.value)) for r in many.rows)
    )


def _display(run: Rounds, e: ir.Op, values: list[Value]) -> Value:
    item = t.element(e.type)
    assert item is not None
    fitted = [run.fit(v, a.type, item, e) for v, a in zip(values, e.args, strict=True)]
    many = Many(tuple(Row((), run.logic.true, v) for v in fitted), item)
    return run.settle(many, e.type, e)


def _tuple(run: Rounds, e: ir.Op, values: list[Value]) -> Value:
    if not isinstance(e.type, t.Tuple):
        return _display(run, e, values)
    triples = zip(values, e.args, e.type.items, strict=True)
    return run.made(e.type, [run.fit(v, a.type, kind, e) for v, a, kind in triples])


def _map(run: Rounds, e: ir.Op, values: list[Value]) -> Value:
    kind = e.type
    if not isinstance(kind, t.Map) or _unknown(kind):
        return Many((), t.Unknown())
    terms = [
        run.term(run.fit(v, a.type, of, e), of, e)
        for v, a, of in zip(values, e.args, [kind.key, kind.value] * len(values), strict=False)
    ]
    partial = t.Map(kind.key, kind.value, kind.mutable)
    made = run.encoding.empty(partial)
    for key, value in zip(terms[::2], terms[1::2], strict=True):
        made = run.logic.write(made, key, run.encoding.present(kind.value, value))
    return run.fit(made, partial, kind, e)


_SUBSET = _everywhere(lambda run, a, b: run.logic.implies(a, b))
_SUPERSET = _everywhere(lambda run, a, b: run.logic.implies(b, a))

OPERATORS: Mapping[str, Operator] = {
    "neg": _integers(lambda run, v: run.logic.negative(v[0])),
    "add": _integers(lambda run, v: run.logic.add(*v)),
    "sub": _integers(lambda run, v: run.logic.add(v[0], run.logic.negative(v[1]))),
    "mul": _integers(lambda run, v: run.logic.times(v[0], v[1])),
    "floordiv": _divide(lambda run, a, b: run.logic.floor_divide(a, b)),
    "mod": _divide(lambda run, a, b: run.logic.remainder(a, b)),
    "abs": _integers(
        lambda run, v: run.logic.choose(
            run.logic.less(v[0], run.logic.number(0)), run.logic.negative(v[0]), v[0]
        )
    ),
    "min": _least(-1),
    "max": _least(1),
    "int": _int,
    "bool": _bool,
    "eq": _equal,
    "ne": lambda run, e, v: run.logic.negate(_equal(run, e, v)),
    "lt": _order(lambda run, a, b: run.logic.less(a, b)),
    "le": _order(lambda run, a, b: run.logic.at_most(a, b)),
    "gt": _order(lambda run, a, b: run.logic.less(b, a)),
    "ge": _order(lambda run, a, b: run.logic.at_most(b, a)),
    "not": lambda run, e, v: run.logic.negate(run.sure(v[0])),
    "in": _in,
    "not_in": lambda run, e, v: run.logic.negate(_in(run, e, v)),
    "len": _len,
    "union": _pointwise(lambda run, a, b: run.logic.any((a, b))),
    "intersection": _pointwise(lambda run, a, b: run.logic.all((a, b))),
    "difference": _pointwise(lambda run, a, b: run.logic.all((a, run.logic.negate(b)))),
    "symmetric_difference": _pointwise(
        lambda run, a, b: run.logic.negate(run.logic.equal(a, b))
    ),
    "subset": _SUBSET,
    "proper_subset": _proper(_SUBSET),
    "superset": _SUPERSET,
    "proper_superset": _proper(_SUPERSET),
    "disjoint": _everywhere(lambda run, a, b: run.logic.negate(run.logic.all((a, b)))),
    "concat": _concat,
    "count": _count,
    "total": _total,
    "keys": _keys,
    "values": _values,
    "items": _items,
    "get": _get,
    "all_of": _fold("all"),
    "any_of": _fold("any"),
    "sum_of": _fold("sum"),
    "min_of": _fold("min"),
    "max_of": _fold("max"),
    "sorted": _sorted,
    "set_of": _gathered,
    "frozenset_of": _gathered,
    "list_of": _gathered,
    "tuple_of": _gathered,
    "dict_of": _dict_of,
    "counter_of": _counter_of,
    "range": _range,
    "reversed": _reversed,
    "enumerate": _enumerate,
    "zip": _zip,
    "set": _display,
    "list": _display,
    "tuple": _tuple,
    "map": _map,
}

REFUSED: Mapping[str, str] = {
    "slice": "lists have no encoding over unbounded lengths",
    "index": "lists have no encoding over unbounded lengths",
}
