"""Relations between values of one type (equality, order, bounds), and conversion between types."""

from __future__ import annotations

from collections.abc import Sequence

from lawful.spec import types as t

from ..algebra.term import Term, subterms
from .lengths import erase
from .sorts import NotEncodable, Shapes


class Encoding(Shapes):
    """The types of one machine as sorts of Z3, with their relations."""

    def equal(self, a: Term, b: Term, type: t.Type) -> Term:
        """Equality of two values of the type."""
        logic = self.logic
        match type:
            case t.Map(key=key, value=value, total=True):
                # At keys outside their bounds a total map has no value: the array's is arbitrary.
                keys = self.keys(type)
                if keys is None:
                    k = logic.fresh("k", self.shape(key))
                    same = self.equal(logic.read(a, k), logic.read(b, k), value)
                    inside = self.bounds(k, key)
                    free = inside is logic.true
                    return logic.equal(a, b) if free else logic.forall([k], inside, same)
                pairs = ((logic.read(a, k), logic.read(b, k)) for k in keys)
                return logic.all(self.equal(x, y, value) for x, y in pairs)
            case t.Set(item=key) | t.Bag(item=key) | t.Map(key=key):
                keys = self.universe(key)
                if keys is None:
                    return logic.equal(a, b)
                return logic.all(logic.equal(logic.read(a, k), logic.read(b, k)) for k in keys)
            case t.Record() | t.Tuple() | t.Part():
                data, fields = self.data(type), self.variants(type)[0][1]
                return logic.all(
                    self.equal(logic.field(data, 0, i, a), logic.field(data, 0, i, b), of)
                    for i, (_, of) in enumerate(fields)
                )
            case t.Seq(item=item):
                places = zip(self.items(a, type), self.items(b, type), strict=True)
                return logic.all(
                    logic.all((logic.equal(u, v), logic.implies(u, self.equal(x, y, item))))
                    for (u, x), (v, y) in places
                )
            case _:
                return logic.equal(a, b)

    def items(self, term: Term, type: t.Seq) -> list[tuple[Term, Term]]:
        """For each position of a sequence, whether there is an item, and the item."""
        logic, data = self.logic, self.data(type)
        longest = len(data.variants) - 1
        rows: list[tuple[Term, Term]] = []
        for i in range(longest):
            item = logic.field(data, longest, i, term)
            for n in range(longest - 1, i, -1):
                shorter = logic.is_variant(data, n, term)
                item = logic.choose(shorter, logic.field(data, n, i, term), item)
            ends = logic.any(logic.is_variant(data, n, term) for n in range(i + 1))
            rows.append((logic.negate(ends), item))
        return rows

    def sequence(self, rows: Sequence[tuple[Term, Term]], type: t.Seq) -> Term:
        """The sequence of the rows up to the first that does not exist."""
        data = self.data(type)
        values = [value for _, value in rows]
        made = self.logic.make(data, len(rows), values)
        for n, (there, _) in reversed(list(enumerate(rows))):
            made = self.logic.choose(there, made, self.logic.make(data, n, values[:n]))
        return made

    def less(self, a: Term, b: Term, type: t.Type) -> Term:
        """Whether one value comes before another; raises NotEncodable for an unordered type."""
        logic = self.logic
        match type:
            case t.Int():
                return logic.less(a, b)
            case t.Tuple(items=items):
                data = self.data(type)
                found = logic.false
                for i, item in reversed(list(enumerate(items))):
                    x, y = (logic.field(data, 0, i, each) for each in (a, b))
                    later = logic.all((self.equal(x, y, item), found))
                    found = logic.any((self.less(x, y, item), later))
                return found
            case _:
                return logic.less(self.rank(a, type), self.rank(b, type))

    def rank(self, element: Term, type: t.Type) -> Term:
        """The position of an element of a sort with a size."""
        rank = self.logic.number(0)
        for i, each in enumerate(self.elements_of(type)):
            here = self.logic.equal(element, each)
            rank = self.logic.choose(here, self.logic.number(i), rank)
        return rank

    def elements_of(self, type: t.Type) -> list[Term]:
        """The elements of a sort, in order; raises NotEncodable where it has no size."""
        elements = self.universe(type)
        if elements is None:
            raise NotEncodable(f"the order of {type}, which has no size")
        return elements

    def coerce(self, term: Term, source: t.Type, target: t.Type) -> Term:
        """A value of `source` as one of `target`, wider or known to fit; raises NotEncodable."""
        if erase(source) == erase(target):
            return term
        match source, target:
            case t.Int(), t.Float():
                return self.logic.real_of(term)
            case t.Union(options=options), _:
                return self._by_option(term, source, options, target)
            case _, t.Union(options=options):
                for i, option in enumerate(options):
                    if t.fits(erase(source), erase(option)):
                        return self.inject(self.coerce(term, source, option), target, i)
            case t.Tuple(items=mine), t.Tuple(items=theirs) if len(mine) == len(theirs):
                data = self.data(source)
                args = [
                    self.coerce(self.logic.field(data, 0, i, term), *pair)
                    for i, pair in enumerate(zip(mine, theirs, strict=True))
                ]
                return self.logic.make(self.data(target), 0, args)
            case t.Set(item=mine), t.Set(item=theirs):
                return self._rekeyed(term, source, target)
            case t.Map(key=mine), t.Map(key=theirs):
                return self._rekeyed(term, source, target)
            case _:
                pass
        raise NotEncodable(f"a {source} where a {target} is expected")

    def held(self, type: t.Type, container: Term, key: Term) -> tuple[Term, Term]:
        """As `get`, for a key that may be outside its bounds: a total map has no such key."""
        there, value = self.get(type, container, key)
        if isinstance(type, t.Map) and type.total:
            there = self.bounds(key, type.key)
        return there, value

    def is_option(self, term: Term, union: t.Union, wanted: Sequence[t.Type]) -> Term:
        """Whether the union's value is of one of the wanted types."""
        erased = [erase(w) for w in wanted]
        options = [erase(o) for o in union.options]
        data = self.data(union)
        found = [i for i, o in enumerate(options) if any(t.fits(o, w) for w in erased)]
        return self.logic.any(self.logic.is_variant(data, i, term) for i in found)

    def _by_option(
        self, term: Term, source: t.Type, options: tuple[t.Type, ...], target: t.Type
    ) -> Term:
        data = self.data(source)
        result: Term | None = None
        for i, option in enumerate(options):
            if any(t.fits(erase(option), erase(o)) for o in t.options(target)):
                field = data.variants[i][1]
                none = self.logic.make(self.data(t.NOTHING), 0, []) if not field else None
                value = self.logic.field(data, i, 0, term) if none is None else none
                other = self.coerce(value, option, target)
                test = self.logic.is_variant(data, i, term)
                result = other if result is None else self.logic.choose(test, other, result)
        if result is None:
            raise NotEncodable(f"a {source} where a {target} is expected")
        return result

    def _rekeyed(self, term: Term, source: t.Type, target: t.Type) -> Term:
        logic = self.logic
        mine, theirs = t.element(source), t.element(target)
        assert mine is not None and theirs is not None
        key = logic.fresh("k", self.shape(theirs))
        same_keys = erase(mine) == erase(theirs)
        if not same_keys and not isinstance(theirs, t.Union):
            raise NotEncodable(f"a {source} where a {target} is expected")
        old = key if same_keys else self.coerce(key, theirs, mine)
        # A key that no old key is converted to is absent, whatever the old array has there.
        known = logic.true if same_keys else logic.equal(self.coerce(old, mine, theirs), key)
        there, value = self.held(source, term, old)
        if isinstance(source, t.Map) and isinstance(target, t.Map):
            new = self.coerce(value, source.value, target.value)
            if target.total:
                return logic.by_cases(key, new)
            entry = self.present(target.value, new)
            there = logic.all((known, there))
            return logic.by_cases(key, logic.choose(there, entry, self.absent(target.value)))
        return logic.by_cases(key, logic.all((known, there)))

    def bounds(self, term: Term, type: t.Type) -> Term:
        """Whether the value keeps the bounds of its type, inside containers and records too."""
        logic = self.logic
        match type:
            case t.Int(low=low, high=high):
                above = [] if low is None else [logic.at_most(logic.number(low), term)]
                below = [] if high is None else [logic.at_most(term, logic.number(high))]
                return logic.all([*above, *below])
            case t.Clock():
                return logic.at_most(logic.number(0), term)
            case t.Timer() if self.tick:
                return logic.at_most(logic.number(-1), term)
            case t.Record() | t.Tuple() | t.Part():
                data, fields = self.data(type), self.variants(type)[0][1]
                return logic.all(
                    self.bounds(logic.field(data, 0, i, term), of)
                    for i, (_, of) in enumerate(fields)
                )
            case t.Union(options=options):
                data = self.data(type)
                return logic.all(
                    logic.implies(
                        logic.is_variant(data, i, term),
                        self.bounds(logic.field(data, i, 0, term), option),
                    )
                    for i, option in enumerate(options)
                    if data.variants[i][1]
                )
            case t.Seq(item=item, most=most):
                rows = self.items(term, type)
                beyond = [] if most is None else [logic.negate(there) for there, _ in rows[most:]]
                inside = [logic.implies(there, self.bounds(x, item)) for there, x in rows]
                return logic.all((*beyond, *inside))
            case t.Bag(most=int() as most):
                each = self.bounds(term, t.Bag(type.item))
                return logic.all((each, logic.at_most(self.total(term, type), logic.number(most))))
            case t.Set(item=item) | t.Bag(item=item) | t.Map(key=item):
                return self._all_entries(term, type, item)
            case _:
                return logic.true

    def total(self, bag: Term, type: t.Bag) -> Term:
        """The number of elements of a bag; raises NotEncodable where they cannot be listed."""
        keys = self.universe(type.item)
        if keys is None:
            raise NotEncodable(f"the total of a {type}, which has no bound")
        logic = self.logic
        return logic.add(logic.number(0), *(logic.read(bag, key) for key in keys))

    def size(self, elements: Term, type: t.Set) -> Term:
        """How many elements a set without a bound has.

        Only for a set of the state with elements added and removed; NotEncodable for others. The
        facts about a size are incomplete: proofs from them are sound, but models are not trusted.
        """
        found = self.logic.size(elements)
        for part in subterms(found):
            if part.op == "size":
                (of,) = part.args
                if not self._is_given(of) or not _is_numbers(type.item):
                    raise NotEncodable(f"len of a {type}, which has no bound")
        return found

    def _is_given(self, term: Term) -> bool:
        """Whether it is an arbitrary value or a field of one, and not a bound name."""
        while term.op == "field":
            (term,) = term.args
        return term in self.given

    def _all_entries(self, container: Term, type: t.Set | t.Bag | t.Map, item: t.Type) -> Term:
        """Whether all entries keep their bounds, and no other key has an entry."""
        logic, windowed = self.logic, self.options.window is not None
        total = isinstance(type, t.Map) and type.total
        by_bounds = isinstance(type, t.Map) and (total or not windowed)
        keys = self.keys(type) if isinstance(type, t.Map) and by_bounds else self.universe(item)
        key = logic.fresh("k", self.shape(item))
        if keys is None:
            return logic.forall([key], logic.true, self._entry_bounds(container, type, key))
        listed = logic.all(self._entry_bounds(container, type, each) for each in keys)
        if total or windowed:  # Beyond its keys a total map is not read; there is no other integer.
            return listed
        there = self.get(type, container, key)[0]
        return logic.all((listed, logic.forall([key], there, self.bounds(key, item))))

    def _entry_bounds(self, container: Term, type: t.Type, key: Term) -> Term:
        logic = self.logic
        there, value = self.get(type, container, key)
        match type:
            case t.Map(key=of, value=values):
                # Where a total map cannot be listed, only the keys inside their bounds count.
                inside = self.bounds(key, of)
                where = inside if type.total else there
                kept = self.bounds(value, values)
                return logic.implies(where, kept if type.total else logic.all((inside, kept)))
            case t.Bag(item=of):
                positive = logic.at_most(logic.number(0), value)
                return logic.implies(there, logic.all((self.bounds(key, of), positive)))
            case t.Set(item=of):
                return logic.implies(there, self.bounds(key, of))
            case _:
                return logic.true


def _is_numbers(type: t.Type) -> bool:
    """Whether values of the type contain no element of a sort, whose size may be open."""
    return not any(isinstance(inner, t.Sort | t.Opaque) for inner in t.inside(type))
