"""The operators that make and take apart collections; `operators` includes this table."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import TypeAlias

from lawful.spec import ir
from lawful.spec import types as t

from ..algebra.term import Term
from .conversion import as_term, contains, convert, make_product, merge, settle, to_term
from .iteration import NO_FIRST, elements, fold, least
from .sequences import places, sorted_elements
from .sorts import LISTED, NotEncodable
from .symbolic import Element, Elements, Value
from .trail import Trail

Operator: TypeAlias = Callable[[Trail, ir.Op, list[Value]], Value]


def unknown(kind: t.Type) -> bool:
    """Whether it is the type of an empty display, whose items have no type yet."""
    return isinstance(t.element(kind), t.Unknown) or isinstance(kind, t.Unknown)


def _keys(run: Trail, e: ir.Op, values: list[Value]) -> Term:
    kind = e.args[0].type
    assert isinstance(kind, t.Map)
    run.stop_at_extra_key(kind, e)
    key = run.logic.fresh("k", run.encoding.shape(kind.key))
    there = run.encoding.get(kind, as_term(values[0]), key)[0]
    if kind.total:
        there = run.encoding.bounds(key, kind.key)
    return run.logic.by_cases(key, there)


def _values(run: Trail, e: ir.Op, values: list[Value]) -> Elements:
    return _entries(run, e, values, lambda key, value: value)


def _items(run: Trail, e: ir.Op, values: list[Value]) -> Elements:
    kind = t.element(e.type)
    assert kind is not None
    data = run.encoding.data(kind)
    return _entries(run, e, values, lambda key, value: run.logic.make(data, 0, [key, value]))


def _entries(
    run: Trail, e: ir.Op, values: list[Value], make: Callable[[Term, Term], Term]
) -> Elements:
    kind, item = e.args[0].type, t.element(e.type)
    assert item is not None
    rows: list[Element] = []
    for row in elements(run, values[0], kind, e).rows:
        key = as_term(row.value)
        value = run.encoding.get(kind, as_term(values[0]), key)[1]
        rows.append(Element(row.names, row.when, make(key, value)))
    return Elements(tuple(rows), item)


def _get(run: Trail, e: ir.Op, values: list[Value]) -> Value:
    kind = e.args[0].type
    item = t.element(kind)
    assert item is not None
    key = to_term(run, convert(run, values[1], e.args[1].type, item, e), item, e)
    there, value = run.lookup(kind, to_term(run, values[0], kind, e), key)
    found = convert(run, value, kind.value if isinstance(kind, t.Map) else t.INT, e.type, e)
    default = convert(run, values[2], e.args[2].type, e.type, e)
    return merge(run, there, found, default, e)


def _fold(op: str) -> Operator:
    def operator(run: Trail, e: ir.Op, values: list[Value]) -> Term:
        return fold(run, op, elements(run, values[0], e.args[0].type, e), e)

    return operator


def _gathered(run: Trail, e: ir.Op, values: list[Value]) -> Value:
    """`set`, `list` or `tuple` of an iterable."""
    if unknown(e.args[0].type):
        return Elements((), t.Unknown())
    if isinstance(e.type, t.Set) and isinstance(e.args[0].type, t.Set):
        return convert(run, values[0], e.args[0].type, e.type, e)
    many = elements(run, values[0], e.args[0].type, e)
    item = t.element(e.type) or many.item
    fitted = convert(run, many, t.Iter(many.item, False), t.Iter(item, False), e)
    assert isinstance(fitted, Elements)
    return settle(run, fitted, e.type, e)


def _sorted(run: Trail, e: ir.Op, values: list[Value]) -> Value:
    kind = e.args[0].type
    many = elements(run, values[0], kind, e)
    if isinstance(kind, t.Set | t.Map | t.Bag) and not isinstance(values[0], Elements):
        # The elements of listed types, and the numbers of a quantifier, come in ascending order.
        return many
    return sorted_elements(run, many, e)


def _dict_of(run: Trail, e: ir.Op, values: list[Value]) -> Value:
    return convert(run, values[0], e.args[0].type, e.type, e)


def _counter_of(run: Trail, e: ir.Op, values: list[Value]) -> Value:
    kind, logic = e.args[0].type, run.logic
    item = t.element(e.type)
    if item is None or isinstance(item, t.Unknown):
        return Elements((), t.Unknown())
    if isinstance(values[0], Elements) and not values[0].rows:
        return run.encoding.empty(e.type)
    key = logic.fresh("e", run.encoding.shape(item))
    if isinstance(kind, t.Set | t.Map | t.Bag):
        there, value = run.encoding.held(kind, to_term(run, values[0], kind, e), key)
        count = logic.number(1) if isinstance(kind, t.Set) else value
        return logic.by_cases(key, logic.choose(there, count, logic.number(0)))
    many = elements(run, values[0], kind, e)
    if not many.listed:
        raise NotEncodable("Counter of a collection without a bound")
    counts = [
        logic.choose(
            logic.all((r.when, run.encoding.equal(as_term(r.value), key, item))),
            logic.number(1),
            logic.number(0),
        )
        for r in many.rows
    ]
    return logic.by_cases(key, logic.add(logic.number(0), *counts))


def _range(run: Trail, e: ir.Op, values: list[Value]) -> Elements:
    logic = run.logic
    terms = [as_term(v) for v in values]
    low = terms[0] if len(terms) > 1 else logic.number(0)
    high = terms[1] if len(terms) > 1 else terms[0]
    step = 1 if len(terms) < 3 else logic.known(terms[2])
    if step is None:
        raise NotEncodable("a range whose step is not a number")
    if step == 0:
        run.stop("undefined", logic.true, e)
        return Elements((), t.INT)
    first, last = logic.known(low), logic.span(high)
    if first is not None and last is not None:
        numbers = range(first, last[step > 0], step)
        if len(numbers) <= LISTED:
            return _listed_range(run, numbers, high)
    if step < 0:
        raise NotEncodable("a descending range without fixed ends")
    window = run.encoding.universe(t.INT)

    def inside(i: Term) -> Term:
        on = logic.remainder(logic.add(i, logic.negative(low)), logic.number(step))
        hit = logic.true if step == 1 else logic.equal(on, logic.number(0))
        return logic.all((logic.at_most(low, i), logic.less(i, high), hit))

    if window is not None:
        return Elements(tuple(Element((), inside(i), i) for i in window), t.INT)
    name = logic.fresh("i", logic.int)
    return Elements((Element((name,), inside(name), name),), t.INT)


def _listed_range(run: Trail, numbers: range, high: Term) -> Elements:
    """The numbers of a range up to its end, which is not beyond the last of these."""
    logic = run.logic
    rows: list[Element] = []
    for i in map(logic.number, numbers):
        there = logic.less(i, high) if numbers.step > 0 else logic.less(high, i)
        rows.append(Element((), there, i))
    return Elements(tuple(rows), t.INT, dense=True)


def _reversed(run: Trail, e: ir.Op, values: list[Value]) -> Elements:
    many = elements(run, values[0], e.args[0].type, e)
    if not many.listed:
        raise NotEncodable("reversed of a collection without a bound")
    return Elements(many.rows[::-1], many.item)


def _zipped(run: Trail, e: ir.Op, columns: list[tuple[Element, ...]]) -> Elements:
    item = t.element(e.type)
    assert isinstance(item, t.Tuple)
    rows = [
        Element(
            (), run.logic.all(r.when for r in row), make_product(run, item, [r.value for r in row])
        )
        for row in zip(*columns, strict=False)
    ]
    return Elements(tuple(rows), item, dense=True)


def _enumerate(run: Trail, e: ir.Op, values: list[Value]) -> Elements:
    rows = places(run, values[0], e.args[0].type, e).rows
    numbers = [Element((), run.logic.true, run.logic.number(i)) for i in range(len(rows))]
    return _zipped(run, e, [tuple(numbers), rows])


def _zip(run: Trail, e: ir.Op, values: list[Value]) -> Elements:
    pairs = zip(values, e.args, strict=True)
    return _zipped(run, e, [places(run, v, arg.type, e).rows for v, arg in pairs])


def _concat(run: Trail, e: ir.Op, values: list[Value]) -> Elements:
    both: list[Element] = []
    item = t.element(e.type)
    assert item is not None
    for value, arg in zip(values, e.args, strict=True):
        many = elements(run, value, arg.type, e)
        fitted = convert(run, many, t.Iter(many.item, True), t.Iter(item, True), e)
        assert isinstance(fitted, Elements)
        both += fitted.rows
    return Elements(tuple(both), item)


def _count(run: Trail, e: ir.Op, values: list[Value]) -> Term:
    many = elements(run, values[0], e.args[0].type, e)
    if not many.listed:
        raise NotEncodable("count in a sequence without a bound")
    element = to_term(run, convert(run, values[1], e.args[1].type, many.item, e), many.item, e)
    one, none, logic = run.logic.number(1), run.logic.number(0), run.logic
    hits = [
        logic.all((r.when, run.encoding.equal(as_term(r.value), element, many.item)))
        for r in many.rows
    ]
    return logic.add(none, *(logic.choose(hit, one, none) for hit in hits))


def _total(run: Trail, e: ir.Op, values: list[Value]) -> Term:
    kind = e.args[0].type
    assert isinstance(kind, t.Bag)
    return run.encoding.total(to_term(run, values[0], kind, e), kind)


def _display(run: Trail, e: ir.Op, values: list[Value]) -> Value:
    item = t.element(e.type)
    assert item is not None
    fitted = [convert(run, v, a.type, item, e) for v, a in zip(values, e.args, strict=True)]
    many = Elements(tuple(Element((), run.logic.true, v) for v in fitted), item)
    return settle(run, many, e.type, e)


def _tuple(run: Trail, e: ir.Op, values: list[Value]) -> Value:
    if not isinstance(e.type, t.Tuple):
        return _display(run, e, values)
    triples = zip(values, e.args, e.type.items, strict=True)
    return make_product(run, e.type, [convert(run, v, a.type, kind, e) for v, a, kind in triples])


def _map(run: Trail, e: ir.Op, values: list[Value]) -> Value:
    kind = e.type
    if not isinstance(kind, t.Map) or unknown(kind):
        return Elements((), t.Unknown())
    terms = [
        to_term(run, convert(run, v, a.type, of, e), of, e)
        for v, a, of in zip(values, e.args, [kind.key, kind.value] * len(values), strict=False)
    ]
    partial = t.Map(kind.key, kind.value, kind.mutable)
    made = run.encoding.empty(partial)
    for key, value in zip(terms[::2], terms[1::2], strict=True):
        made = run.logic.write(made, key, run.encoding.present(kind.value, value))
    return convert(run, made, partial, kind, e)


def _or_default(op: str) -> Operator:
    """`min` or `max` with a default: of the elements as they are in the result's type."""

    def operator(run: Trail, e: ir.Op, values: list[Value]) -> Value:
        default = convert(run, values[1], e.args[1].type, e.type, e)
        if unknown(e.args[0].type):
            return default
        many = elements(run, values[0], e.args[0].type, e)
        if not many.rows:
            return default
        some = run.logic.any(row.when for row in many.rows)
        with run.where(some):
            best = convert(run, fold(run, op, many, e), many.item, e.type, e)
        return merge(run, some, best, default, e)

    return operator


def _first_or(run: Trail, e: ir.Op, values: list[Value]) -> Value:
    found = convert(run, values[1], e.args[1].type, e.type, e)
    many, names = values[0], list[Term]()
    assert isinstance(many, Elements)
    for row in reversed(many.rows):
        names += row.names
        here = least(run, row) if row.names else row
        found = merge(run, here.when, convert(run, here.value, many.item, e.type, e), found, e)
    if len(set(names)) < len(names):  # A row that stands for many elements: rows are not in order.
        raise NotEncodable(NO_FIRST)
    return found


def _subsets(run: Trail, e: ir.Op, values: list[Value]) -> Elements:
    kind, item = e.args[0].type, t.element(e.type)
    assert isinstance(item, t.Set)
    members = run.encoding.universe(item.item)
    if members is None or 2 ** len(members) > LISTED:
        raise NotEncodable(f"the subsets of a {kind}: its elements are not few")
    logic = run.logic
    many = elements(run, values[0], kind, e)
    rows: list[Element] = []
    for size in range(len(members) + 1):
        for chosen in itertools.combinations(members, size):
            made = run.encoding.empty(item)
            for element in chosen:
                made = logic.write(made, element, logic.true)
            when = logic.all(contains(run, many, element, item.item, e) for element in chosen)
            rows.append(Element((), when, made))
    return Elements(tuple(rows), item)


COLLECTIONS: Mapping[str, Operator] = {
    "concat": _concat,
    "count": _count,
    "total": _total,
    "keys": _keys,
    "values": _values,
    "items": _items,
    "get": _get,
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
    "all_of": _fold("all"),
    "any_of": _fold("any"),
    "sum_of": _fold("sum"),
    "min_or": _or_default("min"),
    "max_or": _or_default("max"),
    "first_or": _first_or,
    "subsets": _subsets,
    "min_of": _fold("min"),
    "max_of": _fold("max"),
}
