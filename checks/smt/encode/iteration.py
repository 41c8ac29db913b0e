"""Iteration: comprehensions, quantifiers and folds, element by element or for all at once.

Collections over small finite types are iterated element by element, in order. Over all others a
body is evaluated once, for a bound name, and what it stops is quantified.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lawful.spec import ir
from lawful.spec import types as t

from ..algebra.term import Term
from .conversion import as_term, convert, eval_term, field_of, sequence_elements, to_term
from .sorts import NotEncodable
from .symbolic import (
    Composite,
    Element,
    Elements,
    Law,
    LocalValue,
    OtherState,
    StopKind,
    Unencodable,
    Value,
)
from .trail import Trail

NO_FIRST = "next(...) of a collection without a bound"


def elements(run: Trail, value: Value, kind: t.Type, node: ir.Node) -> Elements:
    """The elements of a collection: a row for each if the type is small, else a row with bound
    names."""
    logic, encoding = run.logic, run.encoding
    match kind:
        case _ if isinstance(value, Elements):
            return value
        case t.Set(item=item) | t.Bag(item=item) | t.Map(key=item):
            run.stop_at_extra_key(kind, node)
            container = to_term(run, value, kind, node)
            keys = encoding.keys(kind) if isinstance(kind, t.Map) and kind.total else None
            keys = keys or encoding.universe(item) or logic.written(container)
            if keys is not None:
                rows = [Element((), encoding.get(kind, container, k)[0], k) for k in keys]
                return Elements(tuple(rows), item)
            key = logic.fresh("q", encoding.shape(item))
            there = encoding.get(kind, container, key)[0]
            if isinstance(kind, t.Map) and kind.total:
                there = encoding.bounds(key, item)
            return Elements((Element((key,), there, key),), item)
        case t.Seq():
            return sequence_elements(run, value, kind, node)
        case t.Tuple(items=items):
            union = t.union(items)
            fields = [field_of(run, value, kind, str(i)) for i in range(len(items))]
            fitted = [convert(run, v, i, union, node) for v, i in zip(fields, items, strict=True)]
            return Elements(tuple(Element((), logic.true, v) for v in fitted), union)
        case _:
            raise NotEncodable(f"iterating over a {kind}", node.place)


def bind(run: Trail, names: Sequence[str], value: Value, kind: t.Type) -> None:
    """Bind the names of a loop or an unpacking to their values."""
    if len(names) == 1:
        run.frame.locals[names[0]] = LocalValue(value, kind)
        return
    assert isinstance(kind, t.Tuple)
    for i, (name, item) in enumerate(zip(names, kind.items, strict=True)):
        run.frame.locals[name] = LocalValue(field_of(run, value, kind, str(i)), item)


@dataclass(frozen=True)
class _Clause:
    """A clause of a comprehension: the clauses after it, the elements' type, and the body.

    `quit` is the fold over the comprehension that may stop early (`all`, `any`, `first`), if any.
    """

    clause: ir.Clause
    rest: Sequence[ir.Clause]
    item: t.Type
    body: Callable[[], Value]
    quit: str | None


def expand(
    run: Trail, clauses: Sequence[ir.Clause], body: Callable[[], Value], quit: str | None
) -> list[Element]:
    """The elements of a comprehension; `quit` is the fold over it that may stop early."""
    if not clauses:
        value = body()
        return [Element((), run.logic.true, value)]
    clause, rest = clauses[0], clauses[1:]
    over = elements(run, run.eval(clause.over), clause.over.type, clause)
    this = _Clause(clause, rest, over.item, body, quit)
    rows: list[Element] = []
    for row in over.rows:
        if row.names:
            rows += _for_all(run, this, _renamed(run, row))
            continue
        going = run.logic.true
        if quit is not None:
            going = run.logic.negate(_decided(run, rows, quit))
        with run.where(run.logic.all((row.when, going))):
            made = _of_element(run, this, row)
        rows += [Element(r.names, run.logic.all((row.when, r.when)), r.value) for r in made]
    return rows


def _of_element(run: Trail, this: _Clause, row: Element) -> list[Element]:
    """The elements that the clause and those after it yield for one element."""
    bind(run, this.clause.names, row.value, this.item)
    holds = run.logic.true
    for condition in this.clause.conditions:
        with run.where(holds):
            holds = run.logic.all((holds, eval_term(run, condition)))
    with run.where(holds):
        inner = expand(run, this.rest, this.body, this.quit)
    return [Element(r.names, run.logic.all((holds, r.when)), r.value) for r in inner]


def _for_all(run: Trail, this: _Clause, row: Element) -> list[Element]:
    """The same for a row with bound names: evaluated once, with its stop conditions quantified."""
    count = len(run.laws)
    with run.inside(row.when) as stops:
        inner = _of_element(run, this, row)
    if len(run.laws) > count:
        raise NotEncodable("next(...) of a range without a bound, for all of others")
    kinds: list[StopKind] = sorted({stop.kind for stop in stops})
    if len(kinds) > 1:
        raise NotEncodable(f"a quantifier that may be {' or '.join(kinds)}", this.clause.place)
    if kinds:
        stopped = run.logic.any(stop.when for stop in stops)
        if this.quit is not None:
            decided = run.logic.any((stopped, _decided(run, inner, this.quit)))
            stopped = run.logic.all((stopped, _reached(run, this.clause, row, decided)))
        run.stop(kinds[0], run.logic.exists(row.names, stopped), stops[0].node)
    return [
        Element((*row.names, *r.names), run.logic.all((row.when, r.when)), r.value) for r in inner
    ]


def _decided(run: Trail, rows: Sequence[Element], quit: str) -> Term:
    """The condition that the fold over these rows is already decided."""
    if quit == "first":
        return run.logic.any(run.logic.exists(row.names, row.when) for row in rows)
    decided: list[Term] = []
    for row in rows:
        value = as_term(row.value) if quit == "any" else run.logic.negate(as_term(row.value))
        decided.append(run.logic.exists(row.names, run.logic.all((row.when, value))))
    return run.logic.any(decided)


def _reached(run: Trail, clause: ir.Clause, row: Element, ends: Term) -> Term:
    """The condition that an ordered fold reaches this element: no earlier one ended it."""
    name = row.names[0]
    ranged = isinstance(t.element(clause.over.type), t.Int)
    if len(row.names) > 1 or not ranged or as_term(row.value) is not name:
        raise NotEncodable("an operation without a value inside an ordered fold", clause.place)
    logic, before = run.logic, run.logic.again(name)
    going = logic.replace(logic.negate(ends), [(name, before)])
    where = logic.replace(row.when, [(name, before)])
    return logic.forall([before], logic.all((where, logic.less(before, name))), going)


def least(run: Trail, row: Element) -> Element:
    """The first element of a row of ascending integers; raises NotEncodable."""
    logic = run.logic
    name, *others = row.names
    if others or name.shape is not logic.int:
        raise NotEncodable(NO_FIRST)
    first = logic.fresh("first", logic.int)
    when = logic.replace(row.when, [(name, first)])
    # True in every state: one of the integers of a range, or of a set, is the least.
    law = logic.forall([name], row.when, logic.all((when, logic.at_most(first, name))))
    run.laws.append(Law(first, law))
    return Element((), when, _replaced_value(run, row.value, [(name, first)]))


def _renamed(run: Trail, row: Element) -> Element:
    """The row with fresh bound names: a collection may be iterated inside its own iteration."""
    pairs = [(n, run.logic.again(n)) for n in row.names]
    return Element(
        tuple(new for _, new in pairs),
        *(run.logic.replace(row.when, pairs), _replaced_value(run, row.value, pairs)),
    )


def _replaced_value(run: Trail, value: Value, pairs: Sequence[tuple[Term, Term]]) -> Value:
    match value:
        case Composite(fields=fields):
            return Composite(tuple(_replaced_value(run, v, pairs) for v in fields))
        case Elements() | OtherState() | Unencodable():
            raise NotEncodable("a sequence inside a collection")
        case _:
            return run.logic.replace(value, pairs)


def fold(run: Trail, op: str, many: Elements, node: ir.Node) -> Term:
    """`all any sum min max` of the elements; raises NotEncodable where they have no bound."""
    logic = run.logic
    if op == "all":
        return logic.all(logic.forall(r.names, r.when, as_term(r.value)) for r in many.rows)
    if op == "any":
        return _decided(run, many.rows, "any")
    if not many.listed:
        raise NotEncodable(f"{op} over a collection without a bound", node.place)
    rows = [(row.when, as_term(row.value)) for row in many.rows]
    if op == "sum":
        return logic.add(logic.number(0), *(logic.choose(w, v, logic.number(0)) for w, v in rows))
    best = rows[0][1] if rows else logic.fresh("none", run.encoding.shape(many.item))
    some = logic.false
    for when, value in rows:
        pair = (value, best) if op == "min" else (best, value)
        better = run.encoding.less(*pair, many.item)
        best = logic.choose(logic.all((when, logic.any((logic.negate(some), better)))), value, best)
        some = logic.any((some, when))
    run.stop("undefined", logic.negate(some), node)
    return best
