"""Operations on lists and sequences: item, slice, index, comparison, and updates.

They work on `Elements` without gaps (`dense`), where the position of an item is its index.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from lawful.spec import ir
from lawful.spec import types as t

from ..algebra.term import Term
from .conversion import appended, as_term, convert, merge, sequence_elements, to_term, without_gaps
from .iteration import elements
from .sorts import NotEncodable
from .symbolic import Element, Elements, Value
from .trail import Trail


def places(run: Trail, value: Value, kind: t.Type, node: ir.Node) -> Elements:
    """The items of a list, sequence or ordered collection, without gaps."""
    if isinstance(value, Elements) or not isinstance(kind, t.Seq):
        return without_gaps(run, elements(run, value, kind, node), node)
    return sequence_elements(run, value, kind, node)


def length(run: Trail, many: Elements) -> Term:
    """The number of items."""
    found = run.logic.number(len(many.rows))
    for i, row in reversed(list(enumerate(many.rows))):
        found = run.logic.choose(row.when, found, run.logic.number(i))
    return found


def hits(run: Trail, many: Elements, index: Term, node: ir.Node) -> list[Term]:
    """For each position, whether the index (which may be negative) denotes it; undefined where it
    denotes none."""
    logic, known, n = run.logic, run.logic.known(index), len(many.rows)
    there = [row.when for row in many.rows]
    if known is not None and known >= 0:
        run.stop("undefined", logic.negate(there[known]) if known < n else logic.true, node)
        return [logic.truth(i == known) for i in range(n)]
    if known is not None:

        def is_there(at: int) -> Term:
            return there[at] if at < n else logic.false

        found = [
            logic.all((is_there(i - known - 1), logic.negate(is_there(i - known))))
            for i in range(n)
        ]
    else:
        turned = logic.add(index, length(run, many))
        at = logic.choose(logic.less(index, logic.number(0)), turned, index)
        found = [logic.all((w, logic.equal(at, logic.number(i)))) for i, w in enumerate(there)]
    run.stop("undefined", logic.negate(logic.any(found)), node)
    return found


def item(run: Trail, many: Elements, index: Term, node: ir.Node) -> Value:
    """The item at an index."""
    return chosen(run, many, hits(run, many, index, node), node)


def chosen(run: Trail, many: Elements, found: Sequence[Term], node: ir.Node) -> Value:
    """The item at the position whose condition is true; an arbitrary value where none is."""
    if not many.rows:
        if isinstance(many.item, t.Unknown):
            raise NotEncodable("an item of an empty list", node.place)
        return run.logic.fresh("none", run.encoding.shape(many.item))
    value = many.rows[-1].value
    for hit, row in list(zip(found, many.rows, strict=True))[-2::-1]:
        value = merge(run, hit, row.value, value, node)
    return value


def put(run: Trail, many: Elements, index: Term, value: Value, node: ir.Node) -> Elements:
    """The list with the value at an index."""
    found = hits(run, many, index, node)
    rows = [
        Element((), row.when, merge(run, hit, value, row.value, node))
        for hit, row in zip(found, many.rows, strict=True)
    ]
    return Elements(tuple(rows), many.item, dense=True)


def kept(run: Trail, many: Elements, tests: Sequence[Term], node: ir.Node) -> Elements:
    """The items whose tests are true, without gaps."""
    rows = [
        replace(row, when=run.logic.all((row.when, test)))
        for row, test in zip(many.rows, tests, strict=True)
    ]
    return without_gaps(run, Elements(tuple(rows), many.item), node)


def _clamped(run: Trail, many: Elements, end: Term) -> Term:
    """An end of a slice as a position that is not negative."""
    logic = run.logic
    zero = logic.number(0)
    known = logic.known(end)
    if known is not None and known >= 0:
        return end
    turned = logic.add(end, length(run, many))
    turned = logic.choose(logic.less(turned, zero), zero, turned)
    return logic.choose(logic.less(end, zero), turned, end)


def sliced(run: Trail, e: ir.Op, values: list[Value]) -> Value:
    """`of[low:high]`; the ends are None where they are left out."""
    logic, kind = run.logic, e.args[0].type
    many = places(run, values[0], kind, e)
    low, high = (
        None if isinstance(arg.type, t.Nothing) else _clamped(run, many, as_term(value))
        for arg, value in zip(e.args[1:], values[1:], strict=True)
    )
    tests: list[Term] = []
    for i in range(len(many.rows)):
        at = logic.number(i)
        above = logic.true if low is None else logic.at_most(low, at)
        below = logic.true if high is None else logic.less(at, high)
        tests.append(logic.all((above, below)))
    return kept(run, many, tests, e)


def index(run: Trail, e: ir.Op, values: list[Value]) -> Term:
    """The first position of an item."""
    many = places(run, values[0], e.args[0].type, e)
    wanted = to_term(run, convert(run, values[1], e.args[1].type, many.item, e), many.item, e)
    first = _first(run, many, wanted)
    run.stop("undefined", run.logic.negate(run.logic.any(first)), e)
    found = run.logic.number(0)
    for i, hit in reversed(list(enumerate(first))):
        found = run.logic.choose(hit, run.logic.number(i), found)
    return found


def _first(run: Trail, many: Elements, wanted: Term) -> list[Term]:
    """For each position, whether the wanted item is there and at no earlier position."""
    logic, seen, out = run.logic, run.logic.false, list[Term]()
    for row in many.rows:
        same = run.encoding.equal(as_term(row.value), wanted, many.item)
        here = logic.all((row.when, same))
        out.append(logic.all((here, logic.negate(seen))))
        seen = logic.any((seen, here))
    return out


def equal(run: Trail, a: Elements, b: Elements, kind: t.Type, node: ir.Node) -> Term:
    """Whether two lists have the same items, as values of a type that both fit."""
    logic, found = run.logic, list[Term]()
    item = t.element(kind) or t.NOTHING
    a, b = without_gaps(run, a, node), without_gaps(run, b, node)
    common = min(len(a.rows), len(b.rows))
    longer = (*a.rows[common:], *b.rows[common:])
    found += [logic.negate(row.when) for row in longer]
    for x, y in zip(a.rows[:common], b.rows[:common], strict=True):
        left = to_term(run, convert(run, x.value, a.item, item, node), item, node)
        right = to_term(run, convert(run, y.value, b.item, item, node), item, node)
        same = run.encoding.equal(left, right, item)
        found += [logic.equal(x.when, y.when), logic.implies(x.when, same)]
    return logic.all(found)


def sorted_elements(run: Trail, many: Elements, node: ir.Node) -> Elements:
    """The items in ascending order, by insertion."""
    logic = run.logic
    found = Elements((), many.item, dense=True)
    for last in without_gaps(run, many, node).rows:
        rows, before, there = list[Element](), logic.true, logic.true
        old: Value = last.value
        for row in found.rows:
            greater = run.encoding.less(as_term(last.value), as_term(row.value), many.item)
            stays = logic.all((row.when, logic.negate(logic.all((last.when, greater)))))
            shifted = merge(run, before, last.value, old, node)
            rows.append(
                Element(
                    (),
                    logic.any((row.when, logic.all((last.when, there)))),
                    merge(run, stays, row.value, shifted, node),
                )
            )
            before, there, old = stays, row.when, row.value
        value = merge(run, before, last.value, old, node)
        rows.append(Element((), logic.all((last.when, there)), value))
        found = Elements(tuple(rows), many.item, dense=True)
    return found


# Changes.


Updated = tuple[Elements, Value | None]  # The list after an update, and the result of the update.


def changed(run: Trail, s: ir.Update, kind: t.Seq, args: Sequence[Value]) -> Updated:
    """The list after an update, and the result of the update; `args[0]` is the list before it."""
    return UPDATES["Seq", s.op](run, s, sequence_elements(run, args[0], kind, s), args[1:])


def _item_type(s: ir.Update) -> t.Type:
    assert isinstance(s.target.type, t.Seq)
    return s.target.type.item


def _given(run: Trail, s: ir.Update, args: Sequence[Value], position: int = 0) -> Value:
    """An argument, converted to the type of the list's items."""
    return convert(run, args[position], s.args[position].type, _item_type(s), s)


def _index(run: Trail, s: ir.Update, args: Sequence[Value]) -> Term:
    """The first argument as an index; -1 where there is none."""
    if not args:
        return run.logic.number(-1)
    return as_term(convert(run, args[0], s.args[0].type, t.INT, s))


def _extended(run: Trail, s: ir.Update, many: Elements, args: Sequence[Value]) -> Updated:
    more = elements(run, args[0], s.args[0].type, s)
    fitted = convert(run, more, t.Iter(more.item, True), t.Iter(_item_type(s), True), s)
    assert isinstance(fitted, Elements)
    return without_gaps(run, Elements((*many.rows, *fitted.rows), many.item), s), None


def _appended(run: Trail, s: ir.Update, many: Elements, args: Sequence[Value]) -> Updated:
    return appended(run, many, Element((), run.logic.true, _given(run, s, args)), s), None


def _with_item(run: Trail, s: ir.Update, many: Elements, args: Sequence[Value]) -> Updated:
    index = _index(run, s, args)
    return _inserted(run, many, index, _given(run, s, args, 1), s), None


def _without_item(run: Trail, s: ir.Update, many: Elements, args: Sequence[Value]) -> Updated:
    found = _first(run, many, to_term(run, _given(run, s, args), _item_type(s), s))
    run.stop("undefined", run.logic.negate(run.logic.any(found)), s)
    return kept(run, many, [run.logic.negate(hit) for hit in found], s), None


def _cleared(_run: Trail, s: ir.Update, _many: Elements, _args: Sequence[Value]) -> Updated:
    return Elements((), _item_type(s), dense=True), None


def _popped(run: Trail, node: ir.Update, many: Elements, args: Sequence[Value]) -> Updated:
    """The list without one item (the last one where there is no index), and that item."""
    found = hits(run, many, _index(run, node, args), node)
    value = chosen(run, many, found, node)
    logic, rows = run.logic, list[Element]()
    past = logic.false
    for i, row in enumerate(many.rows[1:]):
        # Each position after the removed one gets the next item.
        past = logic.any((past, found[i]))
        moved = merge(run, past, row.value, many.rows[i].value, node)
        rows.append(Element((), row.when, moved))
    return Elements(tuple(rows), many.item, dense=True), value


def _inserted(run: Trail, many: Elements, at: Term, value: Value, node: ir.Node) -> Elements:
    """The list with one more item before an index, or at the end."""
    logic = run.logic
    at = _clamped(run, many, at)
    rows, before = list[Element](), logic.true
    for i in range(len(many.rows) + 1):
        here, later = logic.equal(at, logic.number(i)), logic.less(at, logic.number(i))
        new = value
        if i < len(many.rows):
            row = many.rows[i]
            new = merge(run, logic.any((here, logic.negate(row.when))), value, row.value, node)
        if i:
            behind = many.rows[i - 1]
            new = merge(run, logic.all((later, behind.when)), behind.value, new, node)
        rows.append(Element((), before, new))
        before = many.rows[i].when if i < len(many.rows) else before
    return Elements(tuple(rows), many.item, dense=True)


UPDATES: Mapping[
    tuple[str, str], Callable[[Trail, ir.Update, Elements, Sequence[Value]], Updated]
] = {
    ("Seq", "append"): _appended,
    ("Seq", "extend"): _extended,
    ("Seq", "insert"): _with_item,
    ("Seq", "pop"): _popped,
    ("Seq", "remove"): _without_item,
    ("Seq", "clear"): _cleared,
}
