"""Iteration: comprehensions, quantifiers and folds, element by element or for all at once.

Collections over small finite types are gone through one by one, in order; over all others a body
is evaluated once, for a bound name, and what it stops is quantified.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lawful.checks.smt.algebra.term import Term
from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.values.time import clock_of

from .sorts import NotEncodable
from .time import armed
from .trail import (
    Composite,
    Element,
    Elements,
    Frame,
    OtherState,
    StopKind,
    Trail,
    Unencodable,
    Value,
)
from .values import Encoding

NO_FIRST = "next(...) of a collection without a bound"


class Rounds(Trail):
    """Goes through collections; how an expression is evaluated is for the heir to say."""

    def __init__(self, encoding: Encoding, state: Mapping[str, Value], machine: ir.Machine) -> None:
        super().__init__(encoding, state)
        self.frame = Frame(machine, ())

    @abstractmethod
    def eval(self, e: ir.Expr) -> Value:
        """The value of an expression."""

    def of_type(self, e: ir.Expr, type: t.Type) -> Value:
        """The value of the expression as one of the type."""
        return self.fit(self.eval(e), e.type, type, e)

    def to_term(self, e: ir.Expr, type: t.Type | None = None) -> Term:
        """The value as a term of the expression's or the given type; raises NotEncodable."""
        wanted = type or e.type
        return self.term(self.of_type(e, wanted), wanted, e)

    def sure(self, value: Value) -> Term:
        """The value, which is a term: its type is known to have an encoding."""
        if isinstance(value, Unencodable):
            raise NotEncodable(value.why)
        if isinstance(value, Composite):
            lost = (field.why for field in value.fields if isinstance(field, Unencodable))
            raise NotEncodable(next(lost, "a sequence inside a value"))
        if isinstance(value, Elements):
            raise NotEncodable("a sequence inside a value")
        assert not isinstance(value, OtherState)
        return value

    def field_of(self, value: Value, kind: t.Type, name: str) -> Value:
        """A field of a machine, record or union of records; a timer's `armed`, a clock's `now`."""
        if isinstance(value, OtherState):
            return value.state[name]
        encoding = self.encoding
        if isinstance(kind, t.Clock):
            return value
        if isinstance(kind, t.Timer):
            return armed(encoding, self.sure(value))
        if isinstance(kind, t.Union):
            return self._field_of_union(self.sure(value), kind, name)
        names = [field for field, _ in encoding.variants(kind)[0][1]]
        if isinstance(value, Composite):
            return value.fields[names.index(name)]
        return self.logic.field(encoding.data(kind), 0, names.index(name), self.sure(value))

    def _field_of_union(self, value: Term, kind: t.Union, name: str) -> Term:
        found: Term | None = None
        for i, option in enumerate(kind.options):
            data = self.encoding.data(kind)
            record = self.logic.field(data, i, 0, value)
            here = self.sure(self.field_of(record, option, name))
            test = self.logic.is_variant(data, i, value)
            found = here if found is None else self.logic.choose(test, here, found)
        assert found is not None
        return found

    def now(self) -> Term:
        """The present tick: what the whole's clock says, 0 before there is a state."""
        clock = clock_of(self.encoding.machine)
        if clock is None or clock.name not in self.state:
            return self.logic.number(0)
        return self.sure(self.state[clock.name])

    # Iteration.

    def elements(self, value: Value, kind: t.Type, node: ir.Node) -> Elements:
        """The elements of a collection: of listed types one by one, else for all of them."""
        logic, encoding = self.logic, self.encoding
        match kind:
            case _ if isinstance(value, Elements):
                return value
            case t.Set(item=item) | t.Bag(item=item) | t.Map(key=item):
                self.listing(kind, node)
                container = self.term(value, kind, node)
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
                return self.opened(value, kind, node)
            case t.Tuple(items=items):
                union = t.union(items)
                fields = [self.field_of(value, kind, str(i)) for i in range(len(items))]
                fitted = [self.fit(v, i, union, node) for v, i in zip(fields, items, strict=True)]
                return Elements(tuple(Element((), logic.true, v) for v in fitted), union)
            case _:
                raise NotEncodable(f"iterating over a {kind}", node.place)

    def bind(self, names: Sequence[str], value: Value, kind: t.Type) -> None:
        """Give a loop's or an unpacking's names their values."""
        if len(names) == 1:
            self.frame.locals[names[0]] = (value, kind)
            return
        assert isinstance(kind, t.Tuple)
        for i, (name, item) in enumerate(zip(names, kind.items, strict=True)):
            self.frame.locals[name] = (self.field_of(value, kind, str(i)), item)

    def expand(
        self, clauses: Sequence[ir.Clause], body: Callable[[], Value], quit: str | None
    ) -> list[Element]:
        """What a comprehension goes through; `quit` is the fold that may stop early."""
        if not clauses:
            value = body()
            return [Element((), self.logic.true, value)]
        clause, rest = clauses[0], clauses[1:]
        over = self.elements(self.eval(clause.over), clause.over.type, clause)
        rows: list[Element] = []
        for row in over.rows:
            if row.names:
                rows += self._for_all(clause, rest, (self._renamed(row), over.item, body, quit))
                continue
            going = self.logic.true
            if quit is not None:
                going = self.logic.negate(self._decision(rows, quit))
            with self.where(self.logic.all((row.when, going))):
                made = self._round(clause, rest, (row, over.item, body, quit))
            rows += [Element(r.names, self.logic.all((row.when, r.when)), r.value) for r in made]
        return rows

    def _decision(self, rows: Sequence[Element], quit: str) -> Term:
        """Where the fold over these rows is decided already."""
        if quit == "first":
            return self.logic.any(self.logic.exists(row.names, row.when) for row in rows)
        stop = self.logic.false if quit == "any" else self.logic.true
        decided: list[Term] = []
        for row in rows:
            value = (
                self.logic.negate(self.sure(row.value))
                if stop is self.logic.true
                else (self.sure(row.value))
            )
            decided.append(self.logic.exists(row.names, self.logic.all((row.when, value))))
        return self.logic.any(decided)

    def _renamed(self, row: Element) -> Element:
        """The row with names of its own: one collection may be gone through twice at once."""
        pairs = [(n, self.logic.again(n)) for n in row.names]
        return Element(
            tuple(new for _, new in pairs),
            *(self._replaced(row.when, pairs), self._replaced_value(row.value, pairs)),
        )

    def _replaced(self, term: Term, pairs: Sequence[tuple[Term, Term]]) -> Term:
        return self.logic.replace(term, pairs)

    def _replaced_value(self, value: Value, pairs: Sequence[tuple[Term, Term]]) -> Value:
        match value:
            case Composite(fields=fields):
                return Composite(tuple(self._replaced_value(v, pairs) for v in fields))
            case Elements() | OtherState() | Unencodable():
                raise NotEncodable("a sequence inside a collection")
            case _:
                return self._replaced(value, pairs)

    def _for_all(
        self,
        clause: ir.Clause,
        rest: Sequence[ir.Clause],
        given: tuple[Element, t.Type, Any, Any],
    ) -> list[Element]:
        row, quit, count = given[0], given[3], len(self.found)
        with self.inside(row.when) as stops:
            inner = self._round(clause, rest, given)
        if len(self.found) > count:
            raise NotEncodable("next(...) of a range without a bound, for all of others")
        kinds: list[StopKind] = sorted({stop.kind for stop in stops})
        if len(kinds) > 1:
            raise NotEncodable(f"a quantifier that may be {' or '.join(kinds)}", clause.place)
        if kinds:
            stopped = self.logic.any(stop.when for stop in stops)
            if quit is not None:
                earlier = self._earlier(clause, row, (inner, stopped, quit))
                stopped = self.logic.all((stopped, earlier))
            self.stop(kinds[0], self.logic.exists(row.names, stopped), stops[0].node)
        return [
            Element((*row.names, *r.names), self.logic.all((row.when, r.when)), r.value)
            for r in inner
        ]

    def least(self, row: Element) -> Element:
        """The first element of a row that goes upward through integers, where there is one."""
        logic = self.logic
        name, *others = row.names
        if others or name.shape is not logic.int:
            raise NotEncodable(NO_FIRST)
        first = logic.fresh("first", logic.int)
        when = logic.replace(row.when, [(name, first)])
        # True in every state: of integers that a range has, or a set, one is the least.
        law = logic.forall([name], row.when, logic.all((when, logic.at_most(first, name))))
        self.found.append((first, law))
        return Element((), when, self._replaced_value(row.value, [(name, first)]))

    def _earlier(
        self, clause: ir.Clause, row: Element, found: tuple[list[Element], Term, str]
    ) -> Term:
        """That an ordered fold gets as far as this element of a range."""
        inner, stopped, quit = found
        name = row.names[0]
        ranged = isinstance(t.element(clause.over.type), t.Int)
        if len(row.names) > 1 or not ranged or self.sure(row.value) is not name:
            raise NotEncodable("an operation without a value inside an ordered fold", clause.place)
        before = self.logic.again(name)
        going = self.logic.negate(self.logic.any((stopped, self._decision(inner, quit))))
        where = self.logic.all(
            (self._replaced(row.when, [(name, before)]), self.logic.less(before, name))
        )
        return self.logic.forall([before], where, self._replaced(going, [(name, before)]))

    def _round(
        self,
        clause: ir.Clause,
        rest: Sequence[ir.Clause],
        given: tuple[Element, t.Type, Any, Any],
    ) -> list[Element]:
        row, item, body, quit = given
        self.bind(clause.names, row.value, item)
        holds = self.logic.true
        for condition in clause.conditions:
            with self.where(holds):
                holds = self.logic.all((holds, self.to_term(condition)))
        with self.where(holds):
            inner = self.expand(rest, body, quit)
        return [Element(r.names, self.logic.all((holds, r.when)), r.value) for r in inner]

    def made(self, kind: t.Type, values: Sequence[Value]) -> Value:
        """A record or tuple of these fields: a term where all of them are."""
        fields = [of for _, of in self.encoding.variants(kind)[0][1]]
        closed = [self._closed(v, of) for v, of in zip(values, fields, strict=True)]
        terms = [v for v in closed if isinstance(v, Term)]
        if len(terms) < len(values):
            return Composite(tuple(values))
        return self.logic.make(self.encoding.data(kind), 0, terms)

    def _closed(self, value: Value, kind: t.Type) -> Value:
        """A sequence as a term, where its type has a shape."""
        if not isinstance(value, Elements):
            return value
        try:
            self.encoding.shape(kind)
        except NotEncodable:
            return value
        return self.term(value, kind, self.frame.machine)

    def settle(self, many: Elements, kind: t.Type, node: ir.Node) -> Value:
        """The elements as a value of the type: a set becomes a term as soon as it is known."""
        if isinstance(kind, t.Set) and not isinstance(kind.item, t.Unknown):
            return self.fit(many, t.Iter(many.item, False), kind, node)
        return many

    def fold(self, kind: str, many: Elements, node: ir.Node) -> Term:
        """`all any sum min max` of the elements; raises NotEncodable where they have no bound."""
        logic = self.logic
        if kind == "all":
            return logic.all(logic.forall(r.names, r.when, self.sure(r.value)) for r in many.rows)
        if kind == "any":
            return self._decision(many.rows, "any")
        if not many.listed:
            raise NotEncodable(f"{kind} over a collection without a bound", node.place)
        rows = [(row.when, self.sure(row.value)) for row in many.rows]
        if kind == "sum":
            return logic.add(
                logic.number(0), *(logic.choose(w, v, logic.number(0)) for w, v in rows)
            )
        best = rows[0][1] if rows else logic.fresh("none", self.encoding.shape(many.item))
        some = logic.false
        for when, value in rows:
            pair = (value, best) if kind == "min" else (best, value)
            better = self.encoding.less(*pair, many.item)
            best = logic.choose(
                logic.all((when, logic.any((logic.negate(some), better)))), value, best
            )
            some = logic.any((some, when))
        self.stop("undefined", logic.negate(some), node)
        return best
