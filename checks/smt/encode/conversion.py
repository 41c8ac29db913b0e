"""Conversions of symbolic values: to terms, to other types, and two values into one.

`convert` makes a value of one type one of another; `to_term` makes it a term; `merge` chooses
between two values by a condition. Sequences are gone through as `Elements` without gaps.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product, zip_longest

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.values.time import clock_of

from ..algebra.term import Term
from .lengths import erase
from .sorts import LISTED, NotEncodable
from .symbolic import Composite, Element, Elements, OtherState, Unencodable, Value
from .time import armed
from .trail import Trail


def eval_as(run: Trail, e: ir.Expr, type: t.Type) -> Value:
    """The value of an expression, converted to the type."""
    return convert(run, run.eval(e), e.type, type, e)


def eval_term(run: Trail, e: ir.Expr, type: t.Type | None = None) -> Term:
    """The value of an expression as a term of its own or the given type; raises NotEncodable."""
    wanted = type or e.type
    return to_term(run, eval_as(run, e, wanted), wanted, e)


def as_term(value: Value) -> Term:
    """The value, which has to be a term; raises NotEncodable where it is not."""
    if isinstance(value, Unencodable):
        raise NotEncodable(value.why)
    if isinstance(value, Composite):
        lost = (field.why for field in value.fields if isinstance(field, Unencodable))
        raise NotEncodable(next(lost, "a sequence inside a value"))
    if isinstance(value, Elements):
        raise NotEncodable("a sequence inside a value")
    assert not isinstance(value, OtherState)
    return value


def field_of(run: Trail, value: Value, kind: t.Type, name: str) -> Value:
    """A field of a machine, record or union of records; a timer's `armed`, a clock's `now`."""
    if isinstance(value, OtherState):
        return value.state[name]
    encoding = run.encoding
    if isinstance(kind, t.Clock):
        return value
    if isinstance(kind, t.Timer):
        return armed(encoding, as_term(value))
    if isinstance(kind, t.Union):
        return _field_of_union(run, as_term(value), kind, name)
    names = [field for field, _ in encoding.variants(kind)[0][1]]
    if isinstance(value, Composite):
        return value.fields[names.index(name)]
    return run.logic.field(encoding.data(kind), 0, names.index(name), as_term(value))


def _field_of_union(run: Trail, value: Term, kind: t.Union, name: str) -> Term:
    found: Term | None = None
    for i, option in enumerate(kind.options):
        data = run.encoding.data(kind)
        record = run.logic.field(data, i, 0, value)
        here = as_term(field_of(run, record, option, name))
        test = run.logic.is_variant(data, i, value)
        found = here if found is None else run.logic.choose(test, here, found)
    assert found is not None
    return found


def now(run: Trail) -> Term:
    """The current tick by the clock of the whole machine; 0 before there is a state."""
    clock = clock_of(run.encoding.machine)
    if clock is None or clock.name not in run.state:
        return run.logic.number(0)
    return as_term(run.state[clock.name])


def to_term(run: Trail, value: Value, type: t.Type, node: ir.Node) -> Term:
    """The value as a term of the type's shape; raises NotEncodable."""
    match value:
        case Elements():
            return _collection_term(run, value, type, node)
        case Composite(fields=fields):
            whole = run.encoding.product(type, len(fields))
            kinds = [of for _, of in run.encoding.variants(whole)[0][1]]
            pairs = zip(fields, kinds, strict=True)
            terms = [to_term(run, v, k, node) for v, k in pairs]
            made = run.logic.make(run.encoding.data(whole), 0, terms)
            if isinstance(type, t.Union):
                return run.encoding.inject(made, type, type.options.index(whole))
            return made
        case OtherState():
            raise NotEncodable("a whole machine as a value", node.place)
        case Unencodable(why=why):
            raise NotEncodable(why, node.place)
        case _:
            return value


def _collection_term(run: Trail, value: Elements, type: t.Type, node: ir.Node) -> Term:
    if isinstance(type, t.Union):
        kinds = t.Seq(value.item, mutable=False), t.Set(value.item, mutable=False)
        for mine, (i, option) in product(kinds, enumerate(type.options)):
            if t.fits(mine, option):
                return run.encoding.inject(to_term(run, value, option, node), type, i)
        raise NotEncodable(f"a collection where a {type} is expected", node.place)
    if isinstance(type, t.Seq):
        return _sequence_term(run, value, type, node)
    if not isinstance(type, t.Set):
        raise NotEncodable(f"a value of type {type}", node.place)
    logic = run.logic
    if isinstance(type.item, t.Unknown):
        raise NotEncodable("an empty set of unknown type", node.place)
    element = logic.fresh("e", run.encoding.shape(type.item))
    return logic.by_cases(element, contains(run, value, element, type.item, node))


def _sequence_term(run: Trail, value: Elements, type: t.Seq, node: ir.Node) -> Term:
    fitted = _convert_elements(run, value, type, node)
    assert isinstance(fitted, Elements)
    longest, rows = run.encoding.longest(type), without_gaps(run, fitted, node).rows
    if len(rows) > longest:
        # Items beyond the length are dropped: the caller must assume or prove that there are none.
        run.stop("beyond" if type.most is None else "excess", rows[longest].when, node)
    kept = [(r.when, to_term(run, r.value, type.item, node)) for r in rows[:longest]]
    return run.encoding.sequence(kept, type)


def sequence_elements(run: Trail, value: Value, kind: t.Seq, node: ir.Node) -> Elements:
    """The elements of a sequence, one row for each position."""
    if isinstance(value, Elements):
        return without_gaps(run, value, node)
    rows = run.encoding.items(to_term(run, value, kind, node), kind)
    return Elements(tuple(Element((), there, item) for there, item in rows), kind.item, dense=True)


def without_gaps(run: Trail, many: Elements, node: ir.Node) -> Elements:
    """The elements without the gaps between them; NotEncodable where they are not listed."""
    if many.dense:
        return many
    if not many.listed or len(many.rows) > LISTED:
        raise NotEncodable("the places of a collection without a bound", node.place)
    found = Elements((), many.item, dense=True)
    for row in many.rows:
        found = appended(run, found, row, node)
    return found


def appended(run: Trail, many: Elements, last: Element, node: ir.Node) -> Elements:
    """Elements without gaps, with `last` appended where it exists."""
    logic, rows, before = run.logic, list[Element](), run.logic.true
    for row in many.rows:
        there = logic.any((row.when, logic.all((last.when, before))))
        rows.append(Element((), there, merge(run, row.when, row.value, last.value, node)))
        before = row.when
    there = logic.all((last.when, before))
    if there is not logic.false:
        rows.append(Element((), there, last.value))
    return Elements(tuple(rows), many.item, dense=True)


def contains(run: Trail, many: Elements, element: Term, type: t.Type, node: ir.Node) -> Term:
    """Whether the element, of the elements' type or a wider one, is among them."""
    logic = run.logic
    found: list[Term] = []
    for row in many.rows:
        value = convert(run, row.value, many.item, type, node)
        value = to_term(run, value, type, node)
        solved, rest = logic.solve(element, value, row.names)
        left = [n for n in row.names if not any(n is s for s, _ in solved)]
        body = logic.replace(logic.all((row.when, rest)), solved)
        found.append(logic.exists(left, body))
    return logic.any(found)


def convert(run: Trail, value: Value, source: t.Type, target: t.Type, node: ir.Node) -> Value:
    """A value of one type as one of another, as `types.fits` allows; raises NotEncodable."""
    try:
        if not isinstance(value, Elements) and _changes_type(source, target):
            assert isinstance(source, t.Seq | t.Tuple)
            value = _items_of(run, value, source, node)
        if isinstance(value, Elements):
            return _convert_elements(run, value, target, node)
        if isinstance(value, Composite | OtherState):
            return value
        return run.encoding.coerce(to_term(run, value, source, node), source, target)
    except NotEncodable as error:
        raise error if error.place else NotEncodable(error.construct, node.place) from error


def _changes_type(source: t.Type, target: t.Type) -> bool:
    """Whether the conversion turns a sequence or tuple into one of another type."""
    ordered = isinstance(source, t.Seq | t.Tuple) and isinstance(target, t.Seq | t.Iter)
    return ordered and erase(source) != erase(target)


def _items_of(run: Trail, value: Value, source: t.Seq | t.Tuple, node: ir.Node) -> Elements:
    """The items of a sequence or tuple."""
    if isinstance(source, t.Seq):
        return sequence_elements(run, value, source, node)
    term, data = to_term(run, value, source, node), run.encoding.data(source)
    union = t.union(source.items)
    rows = [
        Element(
            (), run.logic.true, convert(run, run.logic.field(data, 0, i, term), of, union, node)
        )
        for i, of in enumerate(source.items)
    ]
    return Elements(tuple(rows), union, dense=True)


def _convert_elements(run: Trail, value: Elements, target: t.Type, node: ir.Node) -> Value:
    if not value.rows and isinstance(target, t.Set | t.Map | t.Bag):
        return value if isinstance(t.element(target), t.Unknown) else run.encoding.empty(target)
    if isinstance(target, t.Union):
        return _collection_term(run, value, target, node)
    item = t.element(target)
    if item is None:
        raise NotEncodable(f"a sequence where a {target} is expected", node.place)
    if isinstance(item, t.Unknown):
        return value
    rows = tuple(
        Element(r.names, r.when, convert(run, r.value, value.item, item, node)) for r in value.rows
    )
    fitted = Elements(rows, item, value.dense)
    return to_term(run, fitted, target, node) if isinstance(target, t.Set) else fitted


def make_product(run: Trail, kind: t.Type, values: Sequence[Value]) -> Value:
    """A record, tuple or machine of these fields: a term if all of them are terms."""
    fields = [of for _, of in run.encoding.variants(kind)[0][1]]
    closed = [_closed(run, v, of) for v, of in zip(values, fields, strict=True)]
    terms = [v for v in closed if isinstance(v, Term)]
    if len(terms) < len(values):
        return Composite(tuple(values))
    return run.logic.make(run.encoding.data(kind), 0, terms)


def _closed(run: Trail, value: Value, kind: t.Type) -> Value:
    """A sequence as a term if its type has a shape."""
    if not isinstance(value, Elements):
        return value
    try:
        run.encoding.shape(kind)
    except NotEncodable:
        return value
    return to_term(run, value, kind, run.frame.machine)


def settle(run: Trail, many: Elements, kind: t.Type, node: ir.Node) -> Value:
    """The elements as a value of the type: a set is turned into a term at once."""
    if isinstance(kind, t.Set) and not isinstance(kind.item, t.Unknown):
        return convert(run, many, t.Iter(many.item, False), kind, node)
    return many


def merge(run: Trail, test: Term, then: Value, other: Value, node: ir.Node) -> Value:
    """`then` where the test is true, else `other`; both have one type. Raises NotEncodable."""
    if then is other:
        return then
    match then, other:
        case (Unencodable(), _) | (_, Unencodable()):
            return then if isinstance(then, Unencodable) else other
        case Elements(dense=True), Elements(dense=True):
            return _merge_sequences(run, test, then, other, node)
        case Elements(), Elements():
            no = run.logic.negate(test)
            mine = [Element(r.names, run.logic.all((test, r.when)), r.value) for r in then.rows]
            theirs = [Element(r.names, run.logic.all((no, r.when)), r.value) for r in other.rows]
            return Elements((*mine, *theirs), then.item)
        case Composite(), Composite():
            pairs = zip(then.fields, other.fields, strict=True)
            return Composite(tuple(merge(run, test, a, b, node) for a, b in pairs))
        case (Elements(item=item), _) | (_, Elements(item=item)) if _is_sequence_of(
            run, then, other, item
        ):
            kind = t.Seq(item, mutable=False)
            both = [sequence_elements(run, each, kind, node) for each in (then, other)]
            return merge(run, test, both[0], both[1], node)
        case Term(), Term():
            return run.logic.choose(test, then, other)
        case _:
            raise NotEncodable("a choice between values without one encoding", node.place)


def _is_sequence_of(run: Trail, a: Value, b: Value, item: t.Type) -> bool:
    """Whether one value is `Elements` and the other a term for a sequence of such items."""
    term = b if isinstance(a, Elements) else a
    if not isinstance(term, Term) or isinstance(item, t.Unknown):
        return False
    return run.logic.has_shape(term, run.encoding.shape(t.Seq(item, mutable=False)))


def _merge_sequences(
    run: Trail, test: Term, then: Elements, other: Elements, node: ir.Node
) -> Elements:
    """One of two sequences without gaps, position by position."""
    logic, rows = run.logic, list[Element]()
    for a, b in zip_longest(then.rows, other.rows):
        if b is None:
            rows.append(Element((), logic.all((test, a.when)), a.value))
        elif a is None:
            rows.append(Element((), logic.all((logic.negate(test), b.when)), b.value))
        else:
            there = logic.choose(test, a.when, b.when)
            rows.append(Element((), there, merge(run, test, a.value, b.value, node)))
    item = then.item if then.rows else other.item
    return Elements(tuple(rows), item, dense=True)
