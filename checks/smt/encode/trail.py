"""What a symbolic execution works on: values, places, the path taken, and what stopped it.

A value is a term wherever its type has an encoding. The other kinds of value are defined here:
`Elements` (what can be iterated), `Composite`, `OtherState` and `Unencodable`.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product, zip_longest
from typing import Literal, TypeAlias

from lawful.checks.smt.algebra.term import Term
from lawful.spec import ir
from lawful.spec import types as t

from .lengths import erase
from .sorts import LISTED, NotEncodable
from .values import Encoding


@dataclass(frozen=True, eq=False)
class Element:
    """The elements `value`, for all values of `names` where `when` is true."""

    names: tuple[Term, ...]
    when: Term
    value: Value


@dataclass(frozen=True, eq=False)
class Elements:
    """What can be iterated: the elements of all rows; in the order of the rows, where ordered."""

    rows: tuple[Element, ...]
    item: t.Type
    dense: bool = False  # A row is there only where all rows before it are.

    @property
    def listed(self) -> bool:
        """Whether every row is at most one element."""
        return not any(row.names for row in self.rows)


@dataclass(frozen=True, eq=False)
class Composite:
    """A record or tuple with a field that has no term."""

    fields: tuple[Value, ...]


@dataclass(frozen=True, eq=False)
class OtherState:
    """A state of the machine other than the one that is executed: read, never changed."""

    state: Mapping[str, Value]


@dataclass(frozen=True, eq=False)
class Unencodable:
    """A value that could not be encoded: reading it raises NotEncodable with this reason."""

    why: str


Value: TypeAlias = Term | Elements | Composite | OtherState | Unencodable
# A sequence longer than its shape is `beyond` the scope's length, or in `excess` of its `MaxLen`;
# so is a total map with a key too many, where it is gone through.
StopKind = Literal["refused", "undefined", "asserts", "bounds", "ambiguous", "beyond", "excess"]


@dataclass(frozen=True, eq=False)
class Stop:
    """Execution ends here where `when` is true; the stops of one execution exclude each other."""

    kind: StopKind
    when: Term
    node: ir.Node


@dataclass(frozen=True, eq=False)
class PathStep:
    """A step from a place to one inside it: a part's field, or a map's value at a key."""

    of: t.Type
    name: str = ""
    key: Term | None = None


StatePath: TypeAlias = tuple[PathStep, ...]


@dataclass
class Frame:
    """One body being executed: whose it is, its locals with their types, and its returns."""

    machine: ir.Machine
    own: StatePath | OtherState | Term | None
    locals: dict[str, tuple[Value, t.Type]] = field(default_factory=lambda: {})
    returns: list[BodyExit] = field(default_factory=lambda: [])
    output: t.Type = t.NOTHING
    broken: list[LoopExit] = field(default_factory=lambda: [])
    continued: list[LoopExit] = field(default_factory=lambda: [])


@dataclass(frozen=True, eq=False)
class BodyExit:
    """A way out of a body: where, with what value, in which state."""

    when: Term
    value: Value | None
    state: Mapping[str, Value]


@dataclass(frozen=True, eq=False)
class LoopExit:
    """A way out of a loop or a round of it: where, in which state, with which locals."""

    when: Term
    state: Mapping[str, Value]
    locals: Mapping[str, tuple[Value, t.Type]]


class Trail:
    """The state, the condition under which execution is still going on, and what stopped it."""

    def __init__(self, encoding: Encoding, state: Mapping[str, Value]) -> None:
        self.encoding = encoding
        self.logic = encoding.logic
        self.state = dict(state)
        self.path: Term = encoding.logic.true
        self.stops: list[Stop] = []
        self.extra: Term = encoding.logic.false  # A total map was given a key that is not its own.
        self.found: list[tuple[Term, Term]] = []  # What was looked for, and its law.

    def stop(self, kind: StopKind, where: Term, node: ir.Node) -> None:
        """Execution ends where `where` is true."""
        when = self.logic.all((self.path, where))
        if when is not self.logic.false:
            self.stops.append(Stop(kind, when, node))
            self.path = self.logic.all((self.path, self.logic.negate(where)))

    def exceed(self, where: Term, node: ir.Node, kept: bool) -> None:
        """A total map has a key too many; bounds are judged at the end of the step.

        One that is not `kept` in the state, but in a local, is judged by nobody, and not seen.
        """
        if kept:
            self.extra = self.logic.any((self.extra, self.logic.all((self.path, where))))
        else:
            self.stop("excess", where, node)

    def held(self, kind: t.Type, container: Term, key: Term) -> tuple[Term, Term]:
        """Whether the key is there, and what it has; a total map has what was put there, too."""
        there, value = self.encoding.held(kind, container, key)
        more = isinstance(kind, t.Map) and kind.total and self.extra is not self.logic.false
        if more:
            there = self.logic.any((there, self.logic.stored(container, key)))
        return there, value

    def listing(self, kind: t.Type, node: ir.Node) -> None:
        """What goes through total maps key by key does not see one that is too many.

        What exchanges or deletes them does not, either: whether it is gone then is not known.
        """
        if self.extra is not self.logic.false and self._has_total(kind):
            self.stop("excess", self.extra, node)

    def _has_total(self, kind: t.Type) -> bool:
        """Whether there are total maps in a value, those in its parts included."""
        for each in t.inside(kind):
            if isinstance(each, t.Map) and each.total:
                return True
            if isinstance(each, t.Part):
                variables = self.encoding.inner(each.machine).variables
                if any(self._has_total(v.type) for v in variables):
                    return True
        return False

    def stopped(self, *kinds: StopKind) -> Term:
        """Where execution was stopped in one of these ways."""
        return self.logic.any(s.when for s in self.stops if s.kind in kinds)

    @contextmanager
    def where(self, test: Term) -> Generator[None]:
        """What is evaluated inside is evaluated only where `test` is true."""
        before, count = self.path, len(self.stops)
        self.path = self.logic.all((before, test))
        yield
        inside = self.path
        if len(self.stops) == count:
            self.path = before
        else:
            skipped = self.logic.all((before, self.logic.negate(test)))
            self.path = self.logic.any((skipped, inside))

    @contextmanager
    def inside(self, test: Term) -> Generator[list[Stop]]:
        """Evaluate for bound names, where `test` is true; what stops it is collected apart."""
        kept = self.path, self.stops
        collected: list[Stop] = []
        self.path, self.stops = test, collected
        try:
            yield collected
        finally:
            self.path, self.stops = kept

    # Values.

    def term(self, value: Value, type: t.Type, node: ir.Node) -> Term:
        """The value as a term of the type's shape; raises NotEncodable."""
        match value:
            case Elements(rows=rows):
                return self._collected(rows, value, type, node)
            case Composite(fields=fields):
                whole = self.encoding.product(type, len(fields))
                kinds = [of for _, of in self.encoding.variants(whole)[0][1]]
                pairs = zip(fields, kinds, strict=True)
                terms = [self.term(v, k, node) for v, k in pairs]
                made = self.logic.make(self.encoding.data(whole), 0, terms)
                if isinstance(type, t.Union):
                    return self.encoding.inject(made, type, type.options.index(whole))
                return made
            case OtherState():
                raise NotEncodable("a whole machine as a value", node.place)
            case Unencodable(why=why):
                raise NotEncodable(why, node.place)
            case _:
                return value

    def _collected(
        self, rows: Sequence[Element], value: Elements, type: t.Type, node: ir.Node
    ) -> Term:
        if isinstance(type, t.Union):
            kinds = t.Seq(value.item, mutable=False), t.Set(value.item, mutable=False)
            for mine, (i, option) in product(kinds, enumerate(type.options)):
                if t.fits(mine, option):
                    return self.encoding.inject(self.term(value, option, node), type, i)
            raise NotEncodable(f"a collection where a {type} is expected", node.place)
        if isinstance(type, t.Seq):
            return self._sequence(value, type, node)
        if not isinstance(type, t.Set):
            raise NotEncodable(f"a value of type {type}", node.place)
        logic = self.logic
        if isinstance(type.item, t.Unknown):
            raise NotEncodable("an empty set of unknown type", node.place)
        element = logic.fresh("e", self.encoding.shape(type.item))
        return logic.by_cases(element, self.member(value, element, type.item, node))

    def _sequence(self, value: Elements, type: t.Seq, node: ir.Node) -> Term:
        fitted = self._fit_many(value, type, node)
        assert isinstance(fitted, Elements)
        longest, rows = self.encoding.longest(type), self.dense(fitted, node).rows
        if len(rows) > longest:
            # What comes after is not seen; whoever asks has to say that it does not matter.
            self.stop("beyond" if type.most is None else "excess", rows[longest].when, node)
        kept = [(r.when, self.term(r.value, type.item, node)) for r in rows[:longest]]
        return self.encoding.sequence(kept, type)

    def opened(self, value: Value, kind: t.Seq, node: ir.Node) -> Elements:
        """A sequence as its elements, one row for each place."""
        if isinstance(value, Elements):
            return self.dense(value, node)
        rows = self.encoding.items(self.term(value, kind, node), kind)
        return Elements(
            tuple(Element((), there, item) for there, item in rows), kind.item, dense=True
        )

    def dense(self, many: Elements, node: ir.Node) -> Elements:
        """The same elements without gaps; raises NotEncodable where they are not listed."""
        if many.dense:
            return many
        if not many.listed or len(many.rows) > LISTED:
            raise NotEncodable("the places of a collection without a bound", node.place)
        found = Elements((), many.item, dense=True)
        for row in many.rows:
            found = self.pushed(found, row, node)
        return found

    def pushed(self, many: Elements, last: Element, node: ir.Node) -> Elements:
        """The elements without gaps, and the last at the end where it is there."""
        logic, rows, before = self.logic, list[Element](), self.logic.true
        for row in many.rows:
            there = logic.any((row.when, logic.all((last.when, before))))
            rows.append(Element((), there, self.merge(row.when, row.value, last.value, node)))
            before = row.when
        there = logic.all((last.when, before))
        if there is not logic.false:
            rows.append(Element((), there, last.value))
        return Elements(tuple(rows), many.item, dense=True)

    def member(self, many: Elements, element: Term, type: t.Type, node: ir.Node) -> Term:
        """Whether a value of `type`, the type of the elements or wider, is among them."""
        logic = self.logic
        found: list[Term] = []
        for row in many.rows:
            value = self.fit(row.value, many.item, type, node)
            value = self.term(value, type, node)
            solved, rest = logic.solve(element, value, row.names)
            left = [n for n in row.names if not any(n is s for s, _ in solved)]
            body = logic.replace(logic.all((row.when, rest)), solved)
            found.append(logic.exists(left, body))
        return logic.any(found)

    def fit(self, value: Value, source: t.Type, target: t.Type, node: ir.Node) -> Value:
        """A value of one type as one of another, as `types.fits` allows; raises NotEncodable."""
        try:
            if not isinstance(value, Elements) and self._turns(source, target):
                assert isinstance(source, t.Seq | t.Tuple)
                value = self._placed(value, source, node)
            if isinstance(value, Elements):
                return self._fit_many(value, target, node)
            if isinstance(value, Composite | OtherState):
                return value
            return self.encoding.coerce(self.term(value, source, node), source, target)
        except NotEncodable as error:
            raise error if error.place else NotEncodable(error.construct, node.place) from error

    def _turns(self, source: t.Type, target: t.Type) -> bool:
        """Whether a sequence or tuple becomes one of another type."""
        ordered = isinstance(source, t.Seq | t.Tuple) and isinstance(target, t.Seq | t.Iter)
        return ordered and erase(source) != erase(target)

    def _placed(self, value: Value, source: t.Seq | t.Tuple, node: ir.Node) -> Elements:
        """The items of a sequence or tuple."""
        if isinstance(source, t.Seq):
            return self.opened(value, source, node)
        term, data = self.term(value, source, node), self.encoding.data(source)
        union = t.union(source.items)
        rows = [
            Element(
                (), self.logic.true, self.fit(self.logic.field(data, 0, i, term), of, union, node)
            )
            for i, of in enumerate(source.items)
        ]
        return Elements(tuple(rows), union, dense=True)

    def _fit_many(self, value: Elements, target: t.Type, node: ir.Node) -> Value:
        if not value.rows and isinstance(target, t.Set | t.Map | t.Bag):
            return (
                value if isinstance(t.element(target), t.Unknown) else self.encoding.empty(target)
            )
        if isinstance(target, t.Union):
            return self._collected(value.rows, value, target, node)
        item = t.element(target)
        if item is None:
            raise NotEncodable(f"a sequence where a {target} is expected", node.place)
        if isinstance(item, t.Unknown):
            return value
        rows = tuple(
            Element(r.names, r.when, self.fit(r.value, value.item, item, node)) for r in value.rows
        )
        fitted = Elements(rows, item, value.dense)
        return self.term(fitted, target, node) if isinstance(target, t.Set) else fitted

    def _is_list(self, a: Value, b: Value, item: t.Type) -> bool:
        """Whether what is no `Elements` of the two is a sequence of such items."""
        term = b if isinstance(a, Elements) else a
        if not isinstance(term, Term) or isinstance(item, t.Unknown):
            return False
        return self.logic.has_shape(term, self.encoding.shape(t.Seq(item, mutable=False)))

    def _either_list(self, test: Term, then: Elements, other: Elements, node: ir.Node) -> Elements:
        """One of two sequences without gaps, place by place."""
        logic, rows = self.logic, list[Element]()
        for a, b in zip_longest(then.rows, other.rows):
            if b is None:
                rows.append(Element((), logic.all((test, a.when)), a.value))
            elif a is None:
                rows.append(Element((), logic.all((logic.negate(test), b.when)), b.value))
            else:
                there = logic.choose(test, a.when, b.when)
                rows.append(Element((), there, self.merge(test, a.value, b.value, node)))
        item = then.item if then.rows else other.item
        return Elements(tuple(rows), item, dense=True)

    def merge(self, test: Term, then: Value, other: Value, node: ir.Node) -> Value:
        """`then` where the test is true, else `other`; both of one type."""
        if then is other:
            return then
        match then, other:
            case (Unencodable(), _) | (_, Unencodable()):
                return then if isinstance(then, Unencodable) else other
            case Elements(dense=True), Elements(dense=True):
                return self._either_list(test, then, other, node)
            case Elements(), Elements():
                no = self.logic.negate(test)
                mine = [
                    Element(r.names, self.logic.all((test, r.when)), r.value) for r in then.rows
                ]
                theirs = [
                    Element(r.names, self.logic.all((no, r.when)), r.value) for r in other.rows
                ]
                return Elements((*mine, *theirs), then.item)
            case Composite(), Composite():
                pairs = zip(then.fields, other.fields, strict=True)
                return Composite(tuple(self.merge(test, a, b, node) for a, b in pairs))
            case (Elements(item=item), _) | (_, Elements(item=item)) if self._is_list(
                then, other, item
            ):
                kind = t.Seq(item, mutable=False)
                both = [self.opened(each, kind, node) for each in (then, other)]
                return self.merge(test, both[0], both[1], node)
            case (Elements() | Composite() | OtherState(), _) | (
                _,
                Elements() | Composite() | OtherState(),
            ):
                raise NotEncodable("a choice between values without one encoding", node.place)
            case _:
                return self.logic.choose(test, then, other)
