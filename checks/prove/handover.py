"""Which values of an older type `restore` reads as values of a newer type, as terms.

A value is read where its JSON form in a snapshot is the form of a value of the newer type, and that
value keeps the newer type's bounds. `encode` and `decode` of `spec.values` define the forms. This
module tries them with examples for each pair of types, and makes terms of the outcomes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lawful.runtime.instances.snapshots import plain
from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.values.world import EXACT, FrozenBag, FrozenMap, Token, World, decode, encode

from ..smt.algebra.term import Term
from ..smt.encode.lengths import erase
from ..smt.encode.sorts import NotEncodable, fields_of
from ..smt.encode.values import Encoding
from .declared_parameters import PartVariable
from .older_types import former

SECONDS = (0.0, 1.5)


@dataclass(frozen=True, slots=True)
class Taken:
    """A value read as one of another type: the condition that its form fits, and the value, which
    is arbitrary elsewhere. Bounds are separate."""

    there: Term
    value: Term


DeclaredParameter = Callable[[PartVariable, ir.Machine, str], tuple[Term, ...]]


def names_of_part(part: ir.Machine) -> tuple[frozenset[str], frozenset[str]]:
    """The parameters and variables that a snapshot has of a part."""
    variables = frozenset(v.name for v in part.variables if not v.ghost)
    return frozenset(p.name for p in part.parameters), variables


def is_read(value: Any, old: t.Type, new: t.Type) -> bool:
    """Whether the JSON form of a value of one type is the form of a value of another."""
    try:
        decode(encode(value, old), new, World.made_of((*t.inside(old), *t.inside(new))))
    except ValueError:
        return False
    return True


def examples(kind: t.Type, world: World) -> Iterator[Any]:
    """Values of a type, at least one of each form that its values have."""
    match kind:
        case t.Bool():
            yield True
        case t.Int():
            yield 0
        case t.Float():
            yield from SECONDS
        case t.Nothing():
            yield None
        case t.Enum(name=name):
            yield from world.enums[name]
        case t.Sort(name=name):
            yield world.sorts[name]("any element")
        case t.Opaque(name=name):
            yield Token(name, 0)
        case t.Record(name=name, fields=fields):
            yield world.records[name](*(next(examples(of, world)) for _, of in fields))
        case t.Tuple(items=items):
            yield tuple(next(examples(item, world)) for item in items)
        case t.Union(options=options):
            for option in options:
                yield from examples(option, world)
        case t.Seq():
            yield ()
        case t.Set():
            yield frozenset[Any]()
        case t.Bag():
            yield FrozenBag[Any]()
        case t.Map():
            yield FrozenMap[Any, Any]()
        case _:
            raise NotEncodable(f"a value of type {kind}")


def _any_is_read(old: t.Type, new: t.Type) -> bool:
    old, new = plain(old), plain(new)
    world = World.made_of((*t.inside(old), *t.inside(new)))
    return any(is_read(each, old, new) for each in examples(old, world))


class Handover:
    """Makes the terms, in the older version's encoding.

    Of the opaque types in `refused` values are refused by their Python type: all of them, or some.
    `declared` gives the values of a part's parameter that the newer version declares.
    """

    def __init__(
        self, encoding: Encoding, refused: Mapping[str, bool], declared: DeclaredParameter
    ) -> None:
        self.encoding = encoding
        self.refused = refused
        self.declared = declared
        self.logic = encoding.logic
        self.at: PartVariable | None = None  # Which variable a part is in.

    def variable(
        self, term: Term, old: t.Type, owner: ir.Machine, variable: ir.Variable
    ) -> Taken | None:
        """A variable's value as that of a variable of the newer version; None where it never is
        one. Raises NotEncodable."""
        outer, self.at = self.at, PartVariable(owner, variable)
        found = self.taken(term, old, variable.type)
        self.at = outer
        return found

    def taken(self, term: Term, old: t.Type, new: t.Type) -> Taken | None:
        """The value as one of the newer type; None where it never is one."""
        logic = self.logic
        opaque = (kind.name for kind in t.inside(old) if isinstance(kind, t.Opaque))
        if old == new and self.refused.keys().isdisjoint(opaque):
            return Taken(logic.true, term)
        match old, new:
            case t.Opaque(name=name), t.Opaque() if self.refused.get(name):
                return None
            case t.Union(options=options), _:
                return self._of_union(term, old, options, new)
            case _, t.Union(options=options):
                return self._as_union(term, old, new, options)
            case (t.Timer(), t.Timer()):
                return Taken(logic.true, term)
            case t.Clock(tick=before), t.Clock(tick=after):
                return Taken(logic.true, self._ticks(term, before, after))
            case t.Part(), t.Part():
                return self._part(term, old, new)
            case t.Record(), t.Record() if former(old.name) == former(new.name):
                # Keys are read back, too.
                return self._record(term, old, new)
            case t.Map(value=t.Part()), t.Map(value=t.Part()):
                return self._entries(term, old, new)
            case _ if t.part_of(old) or t.part_of(new):
                raise NotEncodable(f"a {old} that is read as a {new}")
            case _ if not self._same_form(old, new):
                return None
            case t.Int(), t.Int():
                return Taken(logic.true, term)
            case t.Int(), t.Float():
                exact = [logic.at_most(logic.number(-EXACT), term)]
                exact.append(logic.at_most(term, logic.number(EXACT)))
                return Taken(logic.all(exact), logic.real_of(term))
            case t.Enum(), t.Enum():
                return self._member(term, old, new)
            case (t.Tuple() | t.Seq(), t.Tuple() | t.Seq()):
                return self._items(term, old, new)
            case (t.Set() | t.Bag() | t.Map(), t.Set() | t.Bag() | t.Map()):
                return self._entries(term, old, new)
            case _:
                raise NotEncodable(f"a {old} that is read as a {new}")

    def _same_form(self, old: t.Type, new: t.Type) -> bool:
        """Whether some value of the type is read; lengths of tuples are not compared here."""
        rows = [t.Tuple(()) if isinstance(each, t.Tuple) else each for each in (old, new)]
        return _any_is_read(rows[0], rows[1])

    # Alternatives.

    def _of_union(
        self, term: Term, union: t.Type, options: Sequence[t.Type], new: t.Type
    ) -> Taken | None:
        data = self.encoding.data(union)
        found: list[tuple[Term, Taken]] = []
        for i, option in enumerate(options):
            is_it = self.logic.is_variant(data, i, term)
            value = self.encoding.logic.make(self.encoding.data(t.NOTHING), 0, [])
            if data.variants[i][1]:
                value = self.logic.field(data, i, 0, term)
            each = self.taken(value, option, new)
            if each is not None:
                found.append((is_it, each))
        return self._one_of(found)

    def _as_union(
        self, term: Term, old: t.Type, union: t.Type, options: Sequence[t.Type]
    ) -> Taken | None:
        found: list[tuple[Term, Taken]] = []
        for i, option in enumerate(options):
            each = self.taken(term, old, option)
            if each is not None:
                value = self.encoding.inject(each.value, union, i)
                found.append((each.there, Taken(each.there, value)))
        return self._one_of(found)

    def _one_of(self, found: Sequence[tuple[Term, Taken]]) -> Taken | None:
        """The alternative whose condition is true."""
        if not found:
            return None
        there = self.logic.any(self.logic.all((when, each.there)) for when, each in found)
        value = found[-1][1].value
        for when, each in reversed(found[:-1]):
            value = self.logic.choose(when, each.value, value)
        return Taken(there, value)

    def _member(self, term: Term, old: t.Enum, new: t.Enum) -> Taken | None:
        logic, data = self.logic, self.encoding.data(old)
        found: list[tuple[Term, Taken]] = []
        for i, name in enumerate(old.members):
            if _any_is_read(t.Enum(old.name, (name,)), new):
                value = self.encoding.element(new, name)
                found.append((logic.is_variant(data, i, term), Taken(logic.true, value)))
        return self._one_of(found)

    # Time.

    def _ticks(self, term: Term, before: float, after: float) -> Term:
        """The tick of a clock whose ticks have another length: a snapshot has the seconds."""
        logic = self.logic
        old, new = Fraction(repr(before)), Fraction(repr(after))
        if old == new:
            return term
        # A part of the current tick has passed already.
        part = logic.fresh("part of a tick", logic.real)
        self.encoding.facts += [
            logic.at_most(logic.exactly(Fraction(0)), part),
            logic.less(part, logic.exactly(Fraction(1))),
        ]
        run = logic.add(logic.real_of(term), part)
        return logic.floor(logic.times(logic.exactly(old / new), run))

    # Records and parts.

    def _record(self, term: Term, old: t.Record, new: t.Record) -> Taken | None:
        """The record, where it has the fields of the newer one: `restore` reads no other."""
        logic, encoding = self.logic, self.encoding
        before = {name: (i, of) for i, (name, of) in enumerate(old.fields)}
        if before.keys() != dict(new.fields).keys():
            return None
        rows: list[Taken] = []
        for name, kind in new.fields:
            at, was = before[name]
            found = self.taken(logic.field(encoding.data(old), 0, at, term), was, kind)
            if found is None:
                return None
            rows.append(found)
        made = logic.make(encoding.data(new), 0, [each.value for each in rows])
        return Taken(logic.all(each.there for each in rows), made)

    def _part(self, term: Term, old: t.Part, new: t.Part) -> Taken | None:
        """The part, where it has the fields of the newer one: `restore` reads no other."""
        if former(old.machine) != new.machine:
            raise NotEncodable(f"a part {former(old.machine)} that is read as a {new}")
        encoding, logic = self.encoding, self.logic
        mine, theirs = encoding.inner(old.machine), encoding.inner(new.machine)
        if names_of_part(mine) != names_of_part(theirs):
            return None
        before = {n: (i, of) for i, (n, of) in enumerate(encoding.variants(old)[0][1])}
        conditions: list[Term] = []
        values: list[Term] = []
        for name, kind in fields_of(theirs):
            if name not in before:
                raise NotEncodable(f"the ghost {name} of {new}, which is new")
            at, was = before[name]
            value = logic.field(encoding.data(old), 0, at, term)
            variable = next((v for v in theirs.variables if v.name == name), None)
            if variable is not None:
                found = self.variable(value, was, theirs, variable)
            else:
                found = self._parameter(value, was, theirs, name, kind)
            if found is None:
                return None
            conditions.append(found.there)
            values.append(found.value)
        return Taken(logic.all(conditions), logic.make(encoding.data(new), 0, values))

    def _parameter(
        self, term: Term, was: t.Type, part: ir.Machine, name: str, kind: t.Type
    ) -> Taken | None:
        """The value that the newer declaration gives it, where it says one; the value in the
        snapshot is read all the same."""
        logic, equal = self.logic, self.encoding.equal
        read = self.taken(term, was, kind)
        assert self.at is not None
        declared = self.declared(self.at, part, name)
        if read is None or not declared:
            return read
        first, value = declared[0], read.value
        known = logic.any(equal(value, each, kind) for each in declared)
        one = logic.all(equal(first, each, kind) for each in declared[1:])
        there = (read.there, self.encoding.bounds(value, kind), logic.any((known, one)))
        return Taken(logic.all(there), logic.choose(known, value, first))

    # Sequences.

    def _items(self, term: Term, old: t.Type, new: t.Type) -> Taken | None:
        logic, encoding = self.logic, self.encoding
        rows: list[tuple[Term, Taken]] = []
        for i, (there, value, kind) in enumerate(self._places(term, old)):
            if isinstance(new, t.Seq):
                rows.append((there, self._certain(value, kind, new.item)))
            elif isinstance(new, t.Tuple) and i < len(new.items):
                rows.append((there, self._certain(value, kind, new.items[i])))
            else:
                rows.append((there, Taken(logic.false, value)))
        every = [logic.implies(there, each.there) for there, each in rows]
        if isinstance(new, t.Seq):
            if erase(old) == erase(new):
                return Taken(logic.all(every), term)
            made = encoding.sequence([(there, each.value) for there, each in rows], new)
            return Taken(logic.all(every), made)
        assert isinstance(new, t.Tuple)
        several = rows[: len(new.items)]
        if len(several) < len(new.items):
            return None
        every += [there for there, _ in several]
        values = [each.value for _, each in several]
        return Taken(logic.all(every), logic.make(encoding.data(new), 0, values))

    def _certain(self, term: Term, old: t.Type, new: t.Type) -> Taken:
        """As `taken`; where a value never is one of the newer type, any value of that type."""
        found = self.taken(term, old, new)
        if found is not None:
            return found
        return Taken(self.logic.false, self.logic.fresh("none", self.encoding.shape(new)))

    def _places(self, term: Term, kind: t.Type) -> Iterator[tuple[Term, Term, t.Type]]:
        """Each position of a tuple or sequence: whether it exists, its value, its type."""
        if isinstance(kind, t.Tuple):
            data = self.encoding.data(kind)
            for i, item in enumerate(kind.items):
                yield self.logic.true, self.logic.field(data, 0, i, term), item
        elif isinstance(kind, t.Seq):
            for there, value in self.encoding.items(term, kind):
                yield there, value, kind.item

    # Sets, bags and maps.

    def _entries(self, term: Term, old: t.Type, new: t.Type) -> Taken:
        logic, encoding = self.logic, self.encoding
        mine, theirs = t.element(old), t.element(new)
        assert mine is not None and theirs is not None
        if mine != theirs and (t.contains(mine, t.Float) or t.contains(theirs, t.Float)):
            raise NotEncodable(f"a {old} that is read as a {new}")
        key = logic.fresh("k", encoding.shape(mine))
        there, value = encoding.held(old, term, key)
        as_key = self._certain(key, mine, theirs)
        as_value = self._value(value, old, new)
        read = logic.all((as_key.there, as_value.there))
        every = [logic.forall([key], there, read)]
        # A form that two types share is read as either of them.
        wanted = logic.fresh("k", encoding.shape(theirs))
        back = self._certain(wanted, theirs, mine)
        there, value = encoding.held(old, term, back.value)
        there = logic.all((back.there, there))
        if isinstance(new, t.Map) and new.total:
            every.append(logic.forall([wanted], encoding.bounds(wanted, theirs), there))
        if erase(old) == erase(new):
            return Taken(logic.all(every), term)
        entry = self._entry(new, there, self._value(value, old, new).value)
        return Taken(logic.all(every), logic.by_cases(wanted, entry))

    def _value(self, value: Term, old: t.Type, new: t.Type) -> Taken:
        """The value at a key."""
        kinds = [of.value if isinstance(of, t.Map) else t.INT for of in (old, new)]
        if isinstance(old, t.Set):
            return Taken(self.logic.true, value)
        return self._certain(value, kinds[0], kinds[1])

    def _entry(self, new: t.Type, there: Term, value: Term) -> Term:
        match new:
            case t.Set():
                return there
            case t.Bag():
                return self.logic.choose(there, value, self.logic.number(0))
            case t.Map(value=of, total=False):
                encoding = self.encoding
                return self.logic.choose(there, encoding.present(of, value), encoding.absent(of))
            case _:
                return value
