"""What a symbolic execution works on: values, places, the path taken, and what stopped it.

A value is a Z3 term wherever its type has an encoding. The others live here: what can be iterated
(`Many`), a record with a sequence in it (`Made`), another state of the machine (`Whole`).
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from lawful.spec import ir
from lawful.spec import types as t

from .encode import Encoding
from .foreign import Term, same
from .shapes import NotEncodable


@dataclass(frozen=True, eq=False)
class Row:
    """The elements `value`, for all values of `names` where `when` is true."""

    names: tuple[Term, ...]
    when: Term
    value: Value


@dataclass(frozen=True, eq=False)
class Many:
    """What can be iterated: the elements of all rows; in the order of the rows, where ordered."""

    rows: tuple[Row, ...]
    item: t.Type

    @property
    def listed(self) -> bool:
        """Whether every row is at most one element."""
        return not any(row.names for row in self.rows)


@dataclass(frozen=True, eq=False)
class Made:
    """A record or tuple with a field that has no term."""

    fields: tuple[Value, ...]


@dataclass(frozen=True, eq=False)
class Whole:
    """A state of the machine other than the one that is executed: read, never changed."""

    state: Mapping[str, Value]


@dataclass(frozen=True, eq=False)
class Missing:
    """A value that could not be encoded: reading it raises NotEncodable with this reason."""

    why: str


Value: TypeAlias = Term | Many | Made | Whole | Missing
StopKind = Literal["refused", "undefined", "asserts", "bounds", "ambiguous"]


@dataclass(frozen=True, eq=False)
class Stop:
    """Execution ends here where `when` is true; the stops of one execution exclude each other."""

    kind: StopKind
    when: Term
    node: ir.Node


@dataclass(frozen=True, eq=False)
class At:
    """A step from a place to one inside it: a part's field, or a map's value at a key."""

    of: t.Type
    name: str = ""
    key: Term | None = None


Place: TypeAlias = tuple[At, ...]


@dataclass
class Frame:
    """One body being executed: whose it is, its locals with their types, and its returns."""

    machine: ir.Machine
    own: Place | Whole | Term | None
    locals: dict[str, tuple[Value, t.Type]] = field(default_factory=lambda: {})
    returns: list[Returned] = field(default_factory=lambda: [])
    output: t.Type = t.NOTHING


@dataclass(frozen=True, eq=False)
class Returned:
    """A way out of a body: where, with what value, in which state."""

    when: Term
    value: Value | None
    state: Mapping[str, Value]


class Trail:
    """The state, the condition under which execution is still going on, and what stopped it."""

    def __init__(self, encoding: Encoding, state: Mapping[str, Value]) -> None:
        self.encoding = encoding
        self.logic = encoding.logic
        self.state = dict(state)
        self.path: Term = encoding.logic.true
        self.stops: list[Stop] = []

    def stop(self, kind: StopKind, where: Term, node: ir.Node) -> None:
        """Execution ends where `where` is true."""
        when = self.logic.all((self.path, where))
        if not same(when, self.logic.false):
            self.stops.append(Stop(kind, when, node))
            self.path = self.logic.all((self.path, self.logic.negate(where)))

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
            case Many(rows=rows):
                return self._collected(rows, value, type, node)
            case Made(fields=fields):
                data = self.encoding.data(type)
                kinds = [of for _, of in self.encoding.variants(type)[0][1]]
                pairs = zip(fields, kinds, strict=True)
                return self.logic.make(data, 0, [self.term(v, k, node) for v, k in pairs])
            case Whole():
                raise NotEncodable("a whole machine as a value", node.place)
            case Missing(why=why):
                raise NotEncodable(why, node.place)
            case _:
                return value

    def _collected(self, rows: Sequence[Row], value: Many, type: t.Type, node: ir.Node) -> Term:
        if not isinstance(type, t.Set):
            raise NotEncodable(f"a value of type {type}", node.place)
        logic = self.logic
        if isinstance(type.item, t.Unknown):
            raise NotEncodable("an empty set of unknown type", node.place)
        element = logic.fresh("e", self.encoding.shape(type.item))
        return logic.by_cases(element, self.member(value, element, type.item, node))

    def member(self, many: Many, element: Term, type: t.Type, node: ir.Node) -> Term:
        """Whether a value of `type`, the type of the elements or wider, is among them."""
        logic = self.logic
        found: list[Term] = []
        for row in many.rows:
            value = self.fit(row.value, many.item, type, node)
            assert not isinstance(value, Many | Made | Whole | Missing)
            solved, rest = logic.solve(element, value, row.names)
            left = [n for n in row.names if not any(same(n, s) for s, _ in solved)]
            body = logic.rebuild(logic.replace(logic.all((row.when, rest)), solved))
            found.append(logic.exists(left, body))
        return logic.any(found)

    def fit(self, value: Value, source: t.Type, target: t.Type, node: ir.Node) -> Value:
        """A value of one type as one of another, as `types.fits` allows; raises NotEncodable."""
        try:
            if isinstance(value, Many):
                return self._fit_many(value, target, node)
            if isinstance(value, Made | Whole):
                return value
            return self.encoding.coerce(self.term(value, source, node), source, target)
        except NotEncodable as error:
            raise error if error.place else NotEncodable(error.construct, node.place) from error

    def _fit_many(self, value: Many, target: t.Type, node: ir.Node) -> Value:
        if not value.rows and isinstance(target, t.Set | t.Map | t.Bag):
            return (
                value if isinstance(t.element(target), t.Unknown) else self.encoding.empty(target)
            )
        item = t.element(target)
        if item is None:
            raise NotEncodable(f"a sequence where a {target} is expected", node.place)
        if isinstance(item, t.Unknown):
            return value
        rows = tuple(
            Row(r.names, r.when, self.fit(r.value, value.item, item, node)) for r in value.rows
        )
        fitted = Many(rows, item)
        return self.term(fitted, target, node) if isinstance(target, t.Set) else fitted

    def merge(self, test: Term, then: Value, other: Value, node: ir.Node) -> Value:
        """`then` where the test is true, else `other`; both of one type."""
        if then is other:
            return then
        match then, other:
            case (Missing(), _) | (_, Missing()):
                return then if isinstance(then, Missing) else other
            case Many(), Many():
                no = self.logic.negate(test)
                mine = [Row(r.names, self.logic.all((test, r.when)), r.value) for r in then.rows]
                theirs = [Row(r.names, self.logic.all((no, r.when)), r.value) for r in other.rows]
                return Many((*mine, *theirs), then.item)
            case Made(), Made():
                pairs = zip(then.fields, other.fields, strict=True)
                return Made(tuple(self.merge(test, a, b, node) for a, b in pairs))
            case (Many() | Made() | Whole(), _) | (_, Many() | Made() | Whole()):
                raise NotEncodable("a choice between values without one encoding", node.place)
            case _:
                return self.logic.choose(test, then, other)
