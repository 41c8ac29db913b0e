"""Types as sorts of Z3: the shapes of values, and how values are made and read.

| type | shape |
| --- | --- |
| integers | integers, unbounded; their bounds are formulas (`values`) |
| enum, sort of n elements | a datatype of constants; a sort without a size is uninterpreted, |
| | and the elements that the machine names are different constants of it |
| opaque | uninterpreted |
| record, tuple, union, part | a datatype; the alternatives of a union are its variants |
| set, bag | an array to bool, to int (0: absent) |
| map | an array to `absent` or `present(value)`; a total map, to its values |
| timer | whether it is armed; beside the step `tick`, the ticks left, -1 where it does not run |
| clock | its present tick, an integer |
| float | a real number, compared, copied and turned into ticks only |
| list, sequence | a datatype with a variant for each length, up to the greatest |

Equal values are equal terms, and unequal values unequal terms: an absent key has one encoding. A
list whose length has no bound has no shape: what needs one raises `NotEncodable`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from lawful.spec import types as t
from lawful.spec.analysis.named_elements import explored, named_elements
from lawful.spec.errors import Place, Unsupported
from lawful.spec.ir import Machine
from lawful.spec.values.time import tick_of

from ..algebra.logic import Data, Logic
from ..algebra.term import Shape, Term
from .lengths import Lengths, erase

LISTED = 64  # Types with more values are quantified over instead of listed.
LONGEST = 16  # Longer lists are not spelled out.

ENTRY = t.Clock()  # No tuple has one in it, so that the key is free.


class NotEncodable(Unsupported):
    """A construct has no encoding; `construct` names it, `place` is where it is written."""

    def __init__(self, construct: str, place: Place | None = None) -> None:
        self.construct = construct
        self.place = place
        super().__init__(f"{place}: {construct}" if place and place.file else construct)


@dataclass(frozen=True)
class Options:
    """`sizes`: elements of sorts; `window`: the only integers, in a search for models."""

    sizes: Mapping[str, int]
    window: range | None = None


class Shapes:
    """The shapes of one machine's types."""

    def __init__(self, machine: Machine, options: Options) -> None:
        self.logic = Logic()
        self.options = options
        self.machine = machine
        self.tick = tick_of(machine)  # The length of a tick; None without the step `tick`.
        self.lengths = Lengths(machine, options.sizes)
        self.facts: list[Term] = []  # That constants are within the window, or distinct.
        self.given: set[Term] = set()  # Constants for arbitrary values, without bound names.
        self.elements = named_elements(machine)  # The elements that the declaration names, by sort.
        self._named: dict[t.Type, dict[str, Term]] = {}
        self._machines = dict(_inner(machine))
        self._machines |= {m.name: m for m in machine.abstracts}
        self._shapes: dict[t.Type, Shape] = {}
        self._data: dict[t.Type, Data] = {}
        for kind in machine.types:
            if isinstance(kind, t.Sort) and kind.name not in options.sizes:
                for text in self.elements.get(kind.name, ()):
                    self.named(kind, text)

    def inner(self, name: str) -> Machine:
        """The machine of that name: this one, a part at any depth, or one that it refines."""
        return self._machines[name]

    def know(self, parts: Sequence[Machine]) -> None:
        """Let `inner` find the parts of another version, whose names are others."""
        self._machines |= {
            each.name: each for part in parts for each in dict(_inner(part)).values()
        }

    # Shapes.

    def shape(self, type: t.Type) -> Shape:
        """The Z3 sort of the type; raises NotEncodable where it has none."""
        if isinstance(type, t.Seq):
            self.longest(type)  # Raises the error with the type as it is declared.
        type = erase(type)
        if type not in self._shapes:
            self._shapes[type] = self._shape(type)
        return self._shapes[type]

    def _shape(self, type: t.Type) -> Shape:
        logic = self.logic
        match type:
            case t.Timer() if self.tick:
                return logic.int
            case t.Bool() | t.Timer() | t.Text():
                return logic.bool
            case t.Int() | t.Clock():
                return logic.int
            case t.Float():
                return logic.real
            case t.Opaque(name=name):
                return logic.sort(name)
            case t.Sort(name=name) if name not in self.options.sizes:
                return logic.sort(name)
            case t.Set(item=item):
                return logic.array(self.shape(item), logic.bool)
            case t.Bag(item=item):
                return logic.array(self.shape(item), logic.int)
            case t.Map(key=key, value=value, total=True):
                return logic.array(self.shape(key), self.shape(value))
            case t.Map(key=key, value=value):
                return logic.array(self.shape(key), self.maybe(value).shape)
            case t.Iter():
                raise NotEncodable(f"a value of type {type}")
            case _:
                return self.data(type).shape

    def data(self, type: t.Type) -> Data:
        """The datatype of an enum, sort, record, tuple, union, part or None."""
        type = erase(type)
        if type not in self._data:
            name = f"part {type}" if isinstance(type, t.Part) else str(type)
            variants = [
                (f"{name}:{variant}", [(field, self.shape(of)) for field, of in fields])
                for variant, fields in self.variants(type)
            ]
            self._data[type] = self.logic.datatype(name, variants)
        return self._data[type]

    def maybe(self, value: t.Type) -> Data:
        """The datatype of a map's entries: absent, or present with a value."""
        key = t.Tuple((erase(value), ENTRY))
        if key not in self._data:
            self._data[key] = self.logic.datatype(
                f"entry {value}",
                [(f"no {value}", []), (f"present {value}", [("value", self.shape(value))])],
            )
        return self._data[key]

    def variants(self, type: t.Type) -> list[tuple[str, list[tuple[str, t.Type]]]]:
        """The variants of a datatype: name, and its fields with their types."""
        match type:
            case t.Enum(members=members):
                return [(member, []) for member in members]
            case t.Sort(name=name, ordered=ordered):
                # The place of a named element in an order is not known.
                named = {} if ordered else self.elements
                return [(text, []) for text in explored(name, self.options.sizes[name], named)]
            case t.Nothing():
                return [("None", [])]
            case t.Record(name=name, fields=fields):
                return [(name, list(fields))]
            case t.Tuple(items=items):
                return [("tuple", [(str(i), item) for i, item in enumerate(items)])]
            case t.Union(options=options):
                return [(str(o), [] if isinstance(o, t.Nothing) else [("it", o)]) for o in options]
            case t.Part(machine=machine):
                return [(machine, fields_of(self.inner(machine)))]
            case t.Seq(item=item):
                lengths = range(self.longest(type) + 1)
                return [(str(n), [(str(i), item) for i in range(n)]) for n in lengths]
            case _:
                raise NotEncodable(f"a value of type {type}")

    def longest(self, type: t.Seq) -> int:
        """The greatest length of a value of this shape; raises NotEncodable without one."""
        found = self.lengths.longest.get(erase(type.item))
        if found is None:
            raise NotEncodable(f"a value of type {type}, whose length has no bound")
        if found > LONGEST:
            raise NotEncodable(f"a value of type {type}, of up to {found} items")
        return found

    def product(self, type: t.Type, count: int) -> t.Type:
        """The record or tuple with so many fields among the alternatives of the type."""
        if not isinstance(type, t.Union):
            return type
        rows = [o for o in type.options if isinstance(o, t.Record | t.Tuple)]
        found = [o for o in rows if len(self.variants(o)[0][1]) == count]
        if len(found) != 1:
            raise NotEncodable(f"a value of type {type}, whose parts are no values")
        return found[0]

    def element(self, type: t.Type, name: str) -> Term:
        """The member of an enum or element of a sort, by its name; raises NotEncodable."""
        if isinstance(type, t.Sort) and type.name not in self.options.sizes:
            return self.named(type, name)
        names = [variant for variant, _ in self.variants(type)]
        if name not in names:
            raise NotEncodable(f"{name!r} as one of the {len(names)} elements of {type}")
        return self.logic.make(self.data(type), names.index(name), [])

    def all_named(self, type: t.Type) -> Mapping[str, Term]:
        """The values of an uninterpreted sort that have a name."""
        return self._named.get(type, {})

    def named(self, type: t.Type, name: str) -> Term:
        """A value of an uninterpreted sort, unequal to those with other names."""
        known = self._named.setdefault(type, {})
        if name not in known:
            term = self.logic.const(name, self.shape(type))
            self.facts += [self.logic.negate(self.logic.equal(term, o)) for o in known.values()]
            known[name] = term
        return known[name]

    # Values.

    def universe(self, type: t.Type) -> list[Term] | None:
        """Every value of a small finite type, else None; of integers those of the window."""
        logic = self.logic
        match type:
            case t.Bool():
                return [logic.false, logic.true]
            case t.Int() if self.options.window is not None:
                return [logic.number(i) for i in self.options.window]
            case t.Sort(name=name) if name not in self.options.sizes:
                return None
            case t.Enum() | t.Sort() | t.Nothing():
                data = self.data(type)
                return [logic.make(data, i, []) for i in range(len(data.variants))]
            case t.Record() | t.Tuple():
                rows = self._rows([of for _, of in self.variants(type)[0][1]])
                return None if rows is None else [logic.make(self.data(type), 0, r) for r in rows]
            case t.Union(options=options):
                each = [self.universe(option) for option in options]
                if any(values is None for values in each):
                    return None
                pairs = zip(options, each, strict=True)
                return [
                    self.inject(v, type, i)
                    for i, (_, values) in enumerate(pairs)
                    for v in values or ()
                ]
            case _:
                return None

    def _rows(self, types: Sequence[t.Type]) -> list[tuple[Term, ...]] | None:
        columns: list[list[Term]] = []
        count = 1
        for type in types:
            values = self.universe(type)
            if values is None or (count := count * len(values)) > LISTED:
                return None
            columns.append(values)
        return list(product(*columns))

    def keys(self, type: t.Map) -> list[Term] | None:
        """The keys of a total map, where they are few enough to list."""
        if isinstance(type.key, t.Int) and type.key.low is not None and type.key.high is not None:
            whole = range(type.key.low, type.key.high + 1)
            return [self.logic.number(i) for i in whole] if len(whole) <= LISTED else None
        return self.universe(type.key)

    def fresh(self, name: str, type: t.Type) -> Term:
        """An arbitrary value; with a window, its integers and keys are within the window."""
        if self.options.window is not None:
            return self._within(name, type)
        return self.give(self.logic.fresh(name, self.shape(type)))

    def give(self, constant: Term) -> Term:
        """Note the constant as an arbitrary value, and return it."""
        self.given.add(constant)
        return constant

    def _within(self, name: str, type: t.Type) -> Term:
        logic = self.logic
        match type:
            case t.Int() | t.Timer() if self.tick or isinstance(type, t.Int):
                term = logic.fresh(name, logic.int)
                window = self.options.window or range(0)
                low, high = window.start, window.stop - 1
                self.facts.append(logic.at_most(logic.number(low), term))
                self.facts.append(logic.at_most(term, logic.number(high)))
                return term
            case t.Record() | t.Tuple() | t.Part():
                fields = self.variants(type)[0][1]
                args = [self._within(f"{name}.{field}", of) for field, of in fields]
                return logic.make(self.data(type), 0, args)
            case t.Union(options=options):
                terms = [
                    self.inject(self._within(name, option), type, i)
                    for i, option in enumerate(options)
                ]
                for other in terms[1:]:
                    terms[0] = logic.choose(logic.fresh(f"{name}?", logic.bool), other, terms[0])
                return terms[0]
            case t.Seq():
                return self._longer(name, type, ())
            case t.Set(item=item) | t.Bag(item=item) | t.Map(key=item):
                keys = self.universe(item)
                if keys is None:
                    return logic.fresh(name, self.shape(type))
                return self._listed(name, type, keys)
            case _:
                return logic.fresh(name, self.shape(type))

    def _longer(self, name: str, type: t.Seq, items: tuple[Term, ...]) -> Term:
        """An arbitrary sequence that begins with these items."""
        data, n = self.data(type), len(items)
        ends = self.logic.make(data, n, items)
        if n == self.longest(type):
            return ends
        more = self._longer(name, type, (*items, self._within(f"{name}[{n}]", type.item)))
        return self.logic.choose(self.logic.fresh(f"{name}?", self.logic.bool), more, ends)

    def _listed(self, name: str, type: t.Type, keys: Sequence[Term]) -> Term:
        array = self.empty(type)
        for key in keys:
            array = self.logic.write(array, key, self._entry(name, type))
        return array

    def _entry(self, name: str, type: t.Type) -> Term:
        logic = self.logic
        match type:
            case t.Set():
                return logic.fresh(f"{name}?", logic.bool)
            case t.Map(value=value, total=True):
                return self._within(f"{name}[]", value)
            case t.Map(value=value):
                there = logic.fresh(f"{name}?", logic.bool)
                some = self.present(value, self._within(f"{name}[]", value))
                return logic.choose(there, some, self.absent(value))
            case _:
                return self._within(f"{name}[]", t.NAT)

    def empty(self, type: t.Type) -> Term:
        """A container without elements; a total map with one arbitrary value everywhere."""
        logic = self.logic
        match type:
            case t.Set(item=item):
                return logic.constant(self.shape(item), logic.false)
            case t.Bag(item=item):
                return logic.constant(self.shape(item), logic.number(0))
            case t.Map(key=key, value=value, total=True):
                return logic.constant(self.shape(key), logic.fresh("any", self.shape(value)))
            case t.Map(key=key, value=value):
                return logic.constant(self.shape(key), self.absent(value))
            case _:
                raise NotEncodable(f"a value of type {type}")

    def present(self, value: t.Type, term: Term) -> Term:
        """The entry of a partial map with this value."""
        return self.logic.make(self.maybe(value), 1, [term])

    def absent(self, value: t.Type) -> Term:
        """The entry of a partial map without a value."""
        return self.logic.make(self.maybe(value), 0, [])

    def get(self, type: t.Type, container: Term, key: Term) -> tuple[Term, Term]:
        """Whether `key` is in the set, bag or map, and its value or count (of a set: the same)."""
        logic = self.logic
        entry = logic.read(container, key)
        match type:
            case t.Map(value=value, total=False):
                data = self.maybe(value)
                return logic.is_variant(data, 1, entry), logic.field(data, 1, 0, entry)
            case t.Map():
                return logic.true, entry
            case t.Bag():
                return logic.negate(logic.equal(entry, logic.number(0))), entry
            case _:
                return entry, entry

    def inject(self, term: Term, union: t.Type, option: int) -> Term:
        """A value of one alternative as one of the union."""
        data = self.data(union)
        args = [term] if data.variants[option][1] else []
        return self.logic.make(data, option, args)


def fields_of(machine: Machine) -> list[tuple[str, t.Type]]:
    """A machine's variables and parameters: the fields of a part."""
    variables = [(v.name, v.type) for v in machine.variables]
    return variables + [(p.name, p.type) for p in machine.parameters]


def _inner(machine: Machine) -> list[tuple[str, Machine]]:
    return [(machine.name, machine), *(row for part in machine.parts for row in _inner(part))]
