"""Candidate invariants: the simplest clauses that are true in all known states.

An atom compares a variable with a constant or another variable, or asks whether something is in a
container; a clause may have one element of a sort as its parameter. A clause says of at most three
atoms or negated atoms that they are never true together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any

from lawful.spec import ir, ops
from lawful.spec import types as t
from lawful.spec.text.expressions import expr

from ..reference import Reference
from ..reference.expressions import SELF, Guard
from ..reference.missing_values import NoValue
from ..reference.states import State

NAME = "x"  # The parameter of a clause.
MOST = 60  # With more literals, clauses of three are not tried: there would be too many.


@dataclass(frozen=True)
class CandidateClause:
    """`of` is the type of the parameter, None without one; `size` counts the atoms."""

    value: ir.Expr
    of: t.Type | None
    size: int

    @property
    def text(self) -> str:
        """The clause as it is written."""
        return expr(self.value)


@dataclass(frozen=True)
class Literal:
    """An atom or its negation, and where it is true: a bit for each known state and element."""

    atom: ir.Expr
    positive: bool
    known: int


class CandidateClauses:
    """The clauses of one machine that hold in all of the given states."""

    def __init__(
        self,
        reference: Reference,
        elements: Mapping[t.Type, Sequence[Any]],
        states: Sequence[State],
    ) -> None:
        self.reference = reference
        self.machine = reference.machine
        self.elements = (
            elements  # The elements of each sort that a clause may have as its parameter.
        )
        self.states = states
        self.place = self.machine.place
        self.known: dict[t.Type | None, list[tuple[ir.Expr, int]]] = {}

    def excluding(self, state: State) -> list[CandidateClause]:
        """The clauses that are false in this state: the simplest first, then the most general."""
        found: dict[str, tuple[tuple[int, int, str], CandidateClause]] = {}
        for kind in (None, *self.elements):
            for element in (None,) if kind is None else self.elements[kind]:
                literals = list(self._true_in(state, kind, element))
                for together, says in _never(literals):
                    clause = CandidateClause(self._denied(together), kind, len(together))
                    found[clause.text] = (clause.size, -says, clause.text), clause
        return [clause for _, clause in sorted(found.values(), key=lambda row: row[0])]

    def _true_in(self, state: State, kind: t.Type | None, element: Any) -> Iterator[Literal]:
        """The literals that are true in a state for an element."""
        many = len(self.states) * (1 if kind is None else len(self.elements[kind]))
        for atom, known in self._atoms_known(kind):
            try:
                positive = bool(self.reference.eval(atom, {SELF: state, NAME: element}))
            except (NoValue, Guard):
                continue
            yield Literal(atom, positive, known if positive else known ^ ((1 << many) - 1))

    def _denied(self, together: Sequence[Literal]) -> ir.Expr:
        """The clause that denies these literals, as an implication with a positive conclusion if
        possible."""
        *given, last = sorted(together, key=lambda literal: not literal.positive)
        then = self._not(last.atom) if last.positive else last.atom
        if not given:
            return then
        rows = tuple(g.atom if g.positive else self._not(g.atom) for g in given)
        first = rows[0] if len(rows) == 1 else ir.And(self.place, t.BOOL, rows)
        return ir.Or(self.place, t.BOOL, (self._not(first), then))

    def _not(self, e: ir.Expr) -> ir.Expr:
        if isinstance(e, ir.Op) and e.op in ops.OPPOSITES:
            return self._op(ops.OPPOSITES[e.op], *e.args)
        return self._op("not", e)

    def _atoms_known(self, kind: t.Type | None) -> list[tuple[ir.Expr, int]]:
        """The atoms, and where each is true; without those that are undefined in some state."""
        if kind not in self.known:
            rows = ((atom, self._where(atom, kind)) for atom in self._atoms(kind))
            self.known[kind] = [(atom, known) for atom, known in rows if known is not None]
        return self.known[kind]

    def _where(self, e: ir.Expr, kind: t.Type | None) -> int | None:
        """A bit for each known state and element where it is true; None where it is undefined."""
        found, bit = 0, 1
        code = self.reference.code(e)
        try:
            for state in self.states:
                for element in (None,) if kind is None else self.elements[kind]:
                    found |= bit if code({SELF: state, NAME: element}) else 0
                    bit <<= 1
        except (NoValue, Guard):
            return None
        return found

    # Atoms.

    def _atoms(self, kind: t.Type | None) -> Iterator[ir.Expr]:
        numbers: list[ir.Expr] = []
        for value in self._values(kind):
            if isinstance(value.type, t.Int):
                numbers.append(value)
            yield from self._about(value, kind)
        for one, other in permutations(numbers, 2):
            yield self._op("le", one, other)

    def _op(self, name: str, *args: ir.Expr) -> ir.Expr:
        return ir.Op(self.place, t.BOOL, name, args)

    def _const(self, value: ir.Plain, kind: t.Type) -> ir.Expr:
        return ir.Const(self.place, kind, value)

    def _values(self, kind: t.Type | None) -> Iterator[ir.Expr]:
        """The values that atoms read: variables, those of parts, a map's value of the element."""
        yield from self._fields(self.machine, ir.Self(self.place, t.Part(self.machine.name)), kind)

    def _fields(
        self, machine: ir.Machine, owner: ir.Expr, kind: t.Type | None
    ) -> Iterator[ir.Expr]:
        for v in machine.variables:
            value = ir.Field(self.place, v.type, owner, v.name)
            if isinstance(v.type, t.Part):
                yield from self._fields(self.machine.part(v.type.machine), value, kind)
            elif isinstance(v.type, t.Map) and v.type.total and v.type.key == kind:
                key = ir.Local(self.place, v.type.key, NAME)
                yield ir.Item(self.place, v.type.value, value, key)
            else:
                yield value

    def _about(self, value: ir.Expr, kind: t.Type | None) -> Iterator[ir.Expr]:
        """The atoms about one value."""
        element = None if kind is None else ir.Local(self.place, kind, NAME)
        match value.type:
            case t.Bool():
                yield value
            case t.Timer():
                yield ir.Field(self.place, t.BOOL, value, "armed")
            case t.Enum(members=members):
                yield from (self._op("eq", value, self._const(m, value.type)) for m in members)
            case t.Int():
                yield self._op("eq", value, self._const(0, t.INT))
            case t.Union(options=options) if t.NOTHING in options:
                yield ir.IsA(self.place, t.BOOL, value, (t.NOTHING,))
                if element is not None and kind in options:
                    yield self._op("eq", value, element)
            case t.Sort() if element is not None and value.type == kind:
                yield self._op("eq", value, element)
            case t.Set(item=item):
                yield from (self._op("in", each, value) for each in self._items(item, element))
                yield self._empty(value)
            case t.Map(total=False, key=key):
                yield from (self._op("in", each, value) for each in self._items(key, element))
                yield self._empty(value)
            case t.Seq() | t.Bag():
                yield self._empty(value)
            case _:
                pass

    def _empty(self, value: ir.Expr) -> ir.Expr:
        size = ir.Op(self.place, t.INT, "len", (value,))
        return self._op("eq", size, self._const(0, t.INT))

    def _items(self, item: t.Type, element: ir.Expr | None) -> Iterator[ir.Expr]:
        """The items whose membership is tested: members, the element, records of these alone."""
        match item:
            case t.Enum(members=members):
                yield from (self._const(m, item) for m in members)
            case t.Sort() if element is not None and element.type == item:
                yield element
            case t.Union(options=options):
                for option in options:
                    yield from self._items(option, element)
            case t.Record(fields=fields) if len(fields) < 2:
                inner = [of for _, of in fields]
                if not inner:
                    yield ir.Make(self.place, item, ())
                elif element is not None and inner[0] == element.type:
                    yield ir.Make(self.place, item, (element,))
            case _:
                pass


def _never(literals: Sequence[Literal]) -> Iterator[tuple[tuple[Literal, ...], int]]:
    """At most three literals that are true together in no known state, none of them redundant.

    With each, the number of states in which those before the last are true together.
    """
    alone = [each for each in literals if not each.known]
    yield from (((each,), 0) for each in alone)
    rest = [each for each in literals if each.known]
    apart: set[tuple[int, int]] = set()
    for i, j in combinations(range(len(rest)), 2):
        if not rest[i].known & rest[j].known:
            apart.add((i, j))
            yield (rest[i], rest[j]), rest[i].known.bit_count()
    if len(rest) > MOST:
        return
    for i, j, k in combinations(range(len(rest)), 3):
        both = rest[i].known & rest[j].known
        if not both & rest[k].known and not {(i, j), (i, k), (j, k)} & apart:
            yield (rest[i], rest[j], rest[k]), both.bit_count()
