"""Terms, made by small functions that simplify as they build.

Reads are pushed through what was written (`select` through `store`, a field through its record),
so that terms over the state after a step end in reads of the state before it: quantifiers are then
matched against ground reads, and no array theory is left to decide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

from .foreign import (
    Shape,
    Term,
    accessors_of,
    arguments,
    bound_names,
    conjuncts,
    inner,
    is_boolean,
    is_by_cases,
    is_constructed,
    is_literal,
    is_value,
    number,
    occurs,
    order,
    recognizer_of,
    same,
    z3,
)
from .naming import Naming


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """A datatype: `variants` are (name, names of the fields), by position everywhere else."""

    shape: Shape
    variants: tuple[tuple[str, tuple[str, ...]], ...]


class Logic(Naming):
    """Terms of one Z3 context; equal calls give equal terms, in every process."""

    def __init__(self) -> None:
        super().__init__()
        self.true = Term(z3.BoolVal(True, self.context))
        self.false = Term(z3.BoolVal(False, self.context))
        self.bool = Shape(z3.BoolSort(self.context))
        self.int = Shape(z3.IntSort(self.context))
        self.real = Shape(z3.RealSort(self.context))
        # Terms are kept with the results: Z3 gives the numbers of freed terms to new ones.
        self._pushed: dict[tuple[object, ...], tuple[Any, Any, Term]] = {}

    # Shapes and values.

    def is_container(self, term: Term) -> bool:
        """Whether the term is an array."""
        return bool(inner(term).sort().kind() == z3.Z3_ARRAY_SORT)

    def truth(self, value: bool) -> Term:
        """`true` or `false`."""
        return self.true if value else self.false

    def number(self, value: int) -> Term:
        """An integer."""
        return Term(z3.IntVal(value, self.context))

    def fraction(self, value: float) -> Term:
        """A real number, exactly that of the float."""
        exact = Fraction(value)
        return Term(z3.Q(exact.numerator, exact.denominator, self.context))

    def array(self, key: Shape, value: Shape) -> Shape:
        """Functions from keys to values, equal where they give the same."""
        return Shape(z3.ArraySort(key, value))

    def sort(self, name: str) -> Shape:
        """An uninterpreted sort: any number of elements, at least one."""
        return Shape(z3.DeclareSort(name, self.context))

    def datatype(
        self, name: str, variants: Sequence[tuple[str, Sequence[tuple[str, Shape]]]]
    ) -> Data:
        """A sum of products; `variants` are (name, fields), fields (name, shape)."""
        # A field's accessor is named after its variant too, for Z3 keeps one name space.
        new = z3.Datatype(name, ctx=self.context)
        for variant, fields in variants:
            new.declare(variant, *((f"{variant}.{field}", shape) for field, shape in fields))
        names = tuple((variant, tuple(f for f, _ in fields)) for variant, fields in variants)
        return Data(Shape(new.create()), names)

    def function(self, name: str, shapes: Sequence[Shape]) -> Callable[..., Term]:
        """An uninterpreted function; the last shape is that of its values."""
        declared = z3.Function(name, *shapes)
        return lambda *args: Term(declared(*args))

    def has_shape(self, term: Term, shape: Shape) -> bool:
        """Whether the term is of that shape."""
        return bool(inner(term).sort().eq(shape))

    # Truth.

    def is_true(self, term: Term) -> bool:
        """Whether the term is `true`."""
        return same(term, self.true)

    def all(self, terms: Iterable[Term]) -> Term:
        """The conjunction: flat, without repeats; false where it says p and not p."""
        found: dict[int, Term] = {}
        denied: set[int] = set()
        true, false = number(self.true), number(self.false)
        for term in terms:
            for part in conjuncts(term):
                n = number(part)
                if z3.is_not(part):
                    other = number(Term(inner(part).arg(0)))
                    denied.add(other)
                    wrong = other in found
                else:
                    wrong = n in denied or n == false
                if wrong:
                    return self.false
                if n != true:
                    found.setdefault(n, part)
        parts = list(found.values())
        return Term(z3.And(*parts)) if len(parts) > 1 else (parts or [self.true])[0]

    def any(self, terms: Iterable[Term]) -> Term:
        """The disjunction, simplified as `all` is."""
        return self.negate(self.all(self.negate(term) for term in terms))

    def negate(self, term: Term) -> Term:
        """Not `term`; a double negation is undone."""
        n = number(term)
        if n == number(self.true):
            return self.false
        if n == number(self.false):
            return self.true
        return Term(inner(term).arg(0)) if z3.is_not(term) else Term(z3.Not(term))

    def real_of(self, term: Term) -> Term:
        """An integer as a real number."""
        return Term(z3.ToReal(term))

    def implies(self, first: Term, then: Term) -> Term:
        """`then`, wherever `first` is true."""
        return self.any((self.negate(first), then))

    def choose(self, test: Term, then: Term, other: Term) -> Term:
        """`then if test else other`."""
        if same(then, other) or same(test, self.true):
            return then
        if same(test, self.false):
            return other
        if is_boolean(then) and (is_literal(then) or is_literal(other)):
            return self.all((self.implies(test, then), self.any((test, other))))
        if z3.is_not(test):
            return self.choose(self.negate(test), other, then)
        return Term(z3.If(test, then, other))

    def equal(self, a: Term, b: Term) -> Term:
        """Equality; decided where both are literals or made by constructors."""
        if same(a, b):
            return self.true
        if is_boolean(a):
            return self._equivalent(a, b)
        if is_value(a) and is_value(b):
            return self.false
        if is_constructed(a) and is_constructed(b):
            if not inner(a).decl().eq(inner(b).decl()):
                return self.false
            return self.all(
                self.equal(x, y) for x, y in zip(arguments(a), arguments(b), strict=True)
            )
        if is_by_cases(a) or is_by_cases(b):
            key = self.fresh("k", Shape(inner(a).sort().domain()))
            return self.forall([key], self.true, self.equal(self.read(a, key), self.read(b, key)))
        # The order of numbers depends on what else was made before, that of hashes does not.
        if order(b) < order(a) and not (is_value(b) or is_constructed(b)):
            a, b = b, a
        return Term(inner(a) == inner(b))

    def _equivalent(self, a: Term, b: Term) -> Term:
        for one, two in ((a, b), (b, a)):
            if same(one, self.true):
                return two
            if same(one, self.false):
                return self.negate(two)
        return self.false if same(a, self.negate(b)) else Term(inner(a) == inner(b))

    def forall(self, names: Sequence[Term], where: Term, body: Term) -> Term:
        """For all values of `names` where `where` is true; conjunctions become several."""
        parts = [self.implies(where, part) for part in conjuncts(body)]
        return self.all(self._close(z3.ForAll, names, part) for part in parts)

    def exists(self, names: Sequence[Term], body: Term) -> Term:
        """For some values of `names`."""
        return self.negate(self.forall(names, body, self.false))

    def solve(
        self, term: Term, value: Term, names: Sequence[Term]
    ) -> tuple[list[tuple[Term, Term]], Term]:
        """`term == value` as what it makes each of `names`, where it does, and the rest of it."""
        if any(same(value, name) for name in names):
            return [(value, term)], self.true
        if z3.is_add(value) and inner(value).num_args() == 2:
            for name, other in (arguments(value), arguments(value)[::-1]):
                if any(same(name, n) for n in names) and not any(occurs(n, other) for n in names):
                    return [(name, self.add(term, self.negative(other)))], self.true
        if not is_constructed(value) or not inner(value).num_args():
            return [], self.equal(term, value)
        solved: list[tuple[Term, Term]] = []
        rest = [self._test(term, recognizer_of(value))]
        for accessor, arg in zip(accessors_of(value), arguments(value), strict=True):
            left = [name for name in names if not any(same(name, s) for s, _ in solved)]
            more, residue = self.solve(self._field(term, accessor), arg, left)
            solved.extend(more)
            rest.append(residue)
        return solved, self.all(rest)

    def _close(self, quantifier: Any, names: Sequence[Term], body: Term) -> Term:
        used = [name for name in names if occurs(name, body)]
        if not used:
            return body
        # Bound names are made canonical, so that equal formulas are one term; they differ from
        # those bound inside, for Z3 writes them as they are.
        plain = [
            Term(z3.Const(str(n).split("!")[0] + f"?{i}", inner(n).sort()))
            for i, n in enumerate(used, self._bound(body))
        ]
        return Term(quantifier(plain, self.replace(body, list(zip(used, plain, strict=True)))))

    def _bound(self, term: Term) -> int:
        """A number above those of all names that are bound in the term."""
        above, seen, stack = 0, set[int](), [term]
        while stack:
            each = stack.pop()
            if number(each) in seen:
                continue
            seen.add(number(each))
            above = max([above, *(1 + int(n.rpartition("?")[2]) for n in bound_names(each))])
            stack.extend(arguments(each))
        return above

    def replace(self, term: Term, pairs: Sequence[tuple[Term, Term]]) -> Term:
        """The term with each first of the pairs replaced by the second."""
        return Term(z3.substitute(term, *pairs)) if pairs else term

    def known(self, term: Term) -> int | None:
        """The integer that the term is, or None where it is not a literal."""
        return int(inner(term).as_long()) if z3.is_int_value(term) else None

    # Integers. Python floors where Z3 keeps the remainder non-negative.

    def add(self, *terms: Term) -> Term:
        """The sum."""
        whole = sum(inner(t).as_long() for t in terms if z3.is_int_value(t))
        rest = [t for t in terms if not z3.is_int_value(t)]
        if not rest:
            return self.number(whole)
        first = reduce(lambda a, b: inner(a) + inner(b), rest)
        return Term(inner(first) + whole) if whole else Term(first)

    def negative(self, term: Term) -> Term:
        """`-term`."""
        return self.number(-inner(term).as_long()) if is_value(term) else Term(-inner(term))

    def times(self, a: Term, b: Term) -> Term:
        """The product."""
        return Term(
            z3.simplify(inner(a) * inner(b)) if is_value(a) and is_value(b) else inner(a) * b
        )

    def less(self, a: Term, b: Term) -> Term:
        """`a < b`."""
        return self.negate(self.at_most(b, a))

    def at_most(self, a: Term, b: Term) -> Term:
        """`a <= b`."""
        if same(a, b):
            return self.true
        term = inner(a) <= inner(b)
        return Term(z3.simplify(term) if is_value(a) and is_value(b) else term)

    def floor_divide(self, a: Term, b: Term) -> Term:
        """`a // b` as in Python; for b = 0 any number."""
        up, down = inner(a) / inner(b), (-inner(a)) / (-inner(b))
        return self._by_sign(b, up, down)

    def remainder(self, a: Term, b: Term) -> Term:
        """`a % b` as in Python: it has the sign of b."""
        return self._by_sign(b, inner(a) % inner(b), -((-inner(a)) % (-inner(b))))

    def _by_sign(self, b: Term, positive: Any, negative: Any) -> Term:
        chosen = self.choose(self.less(self.number(0), b), Term(positive), Term(negative))
        return Term(z3.simplify(chosen)) if is_value(b) else chosen

    # Arrays.

    def constant(self, key: Shape, value: Term) -> Term:
        """The array that has `value` everywhere."""
        return Term(z3.K(key, value))

    def write(self, array: Term, key: Term, value: Term) -> Term:
        """The array with `value` at `key`."""
        return Term(z3.Store(array, key, value))

    def by_cases(self, key: Term, body: Term) -> Term:
        """The array that has `body` at `key`, a constant from `fresh`."""
        if not occurs(key, body):
            return self.constant(Shape(inner(key).sort()), body)
        if z3.is_select(body) and same(Term(inner(body).arg(1)), key):
            array = Term(inner(body).arg(0))
            if not occurs(key, array):
                return array
        return self._close(z3.Lambda, [key], body)

    def written(self, array: Term) -> list[Term] | None:
        """The keys, literals in ascending order, of an array that was written out in full."""
        keys: dict[int, Term] = {}
        while z3.is_store(array):
            key = Term(inner(array).arg(1))
            if not z3.is_int_value(key):
                return None
            keys[inner(key).as_long()] = key
            array = Term(inner(array).arg(0))
        return [keys[i] for i in sorted(keys)] if z3.is_const_array(array) else None

    def stored(self, array: Term, key: Term) -> Term:
        """Whether the key is one of those at which something was written."""
        if z3.is_store(array):
            below, at, _ = arguments(array)
            return self.any((self.equal(key, at), self.stored(below, key)))
        if z3.is_app_of(array, z3.Z3_OP_ITE):
            test, then, other = arguments(array)
            return self.choose(test, self.stored(then, key), self.stored(other, key))
        return self.false

    def read(self, array: Term, key: Term) -> Term:
        """The value at `key`, pushed through whatever the array was made by."""
        return self._push(("read", number(key)), array, key, self._read)

    def _read(self, array: Term, key: Term) -> Term:
        term = inner(array)
        if z3.is_quantifier(term) and term.is_lambda():
            return self.rebuild(Term(z3.substitute_vars(term.body(), key)))
        if z3.is_store(term):
            below = self.read(Term(term.arg(0)), key)
            return self.choose(self.equal(key, Term(term.arg(1))), Term(term.arg(2)), below)
        if z3.is_const_array(term):
            return Term(term.arg(0))
        if z3.is_app_of(term, z3.Z3_OP_ITE):
            test, then, other = arguments(array)
            return self.choose(test, self.read(then, key), self.read(other, key))
        return Term(z3.Select(term, key))

    def rebuild(self, term: Term) -> Term:
        """The term made anew by this class, after a substitution: reads are pushed again."""
        return self._push("rebuild", term, None, lambda t, _: self._rebuild(t))

    def _rebuild(self, term: Term) -> Term:
        t = inner(term)
        if z3.is_quantifier(t) or t.num_args() == 0:
            return term
        args = [self.rebuild(arg) for arg in arguments(term)]
        kind = t.decl().kind()
        if kind == z3.Z3_OP_SELECT:
            return self.read(args[0], args[1])
        if kind == z3.Z3_OP_ITE:
            return self.choose(*args)
        if kind == z3.Z3_OP_EQ:
            return self.equal(*args)
        if kind in (z3.Z3_OP_AND, z3.Z3_OP_OR, z3.Z3_OP_NOT):
            several = self.all if kind == z3.Z3_OP_AND else self.any
            return self.negate(args[0]) if kind == z3.Z3_OP_NOT else several(args)
        if kind == z3.Z3_OP_DT_ACCESSOR:
            return self._field(args[0], t.decl())
        if kind == z3.Z3_OP_DT_IS:
            return self._test(args[0], t.decl())
        return Term(t.decl()(*args))

    # Datatypes.

    def make(self, data: Data, variant: int, args: Sequence[Term]) -> Term:
        """The value of that variant with these fields."""
        return Term(inner(data.shape).constructor(variant)(*args))

    def is_variant(self, data: Data, variant: int, term: Term) -> Term:
        """Whether the value is of that variant."""
        return self._test(term, inner(data.shape).recognizer(variant))

    def field(self, data: Data, variant: int, index: int, term: Term) -> Term:
        """A field of the value; of another variant's value it is anything."""
        return self._field(term, inner(data.shape).accessor(variant, index))

    def _test(self, term: Term, test: Any) -> Term:
        def decide(t: Term, _: Any) -> Term:
            if inner(t).sort().num_constructors() == 1:
                return self.true
            if is_constructed(t):
                return self.truth(inner(t).decl().eq(test.params()[0]))
            if z3.is_app_of(t, z3.Z3_OP_ITE):
                cond, then, other = arguments(t)
                return self.choose(cond, self._test(then, test), self._test(other, test))
            return Term(test(t))

        return self._push(("is", str(test.params()[0])), term, None, decide)

    def _field(self, term: Term, accessor: Any) -> Term:
        def get(t: Term, _: Any) -> Term:
            for own, arg in (
                zip(accessors_of(t), arguments(t), strict=True) if is_constructed(t) else ()
            ):
                if own.eq(accessor):
                    return arg
            if z3.is_app_of(t, z3.Z3_OP_ITE):
                cond, then, other = arguments(t)
                return self.choose(cond, self._field(then, accessor), self._field(other, accessor))
            return Term(accessor(t))

        return self._push(("field", accessor.name(), str(accessor.domain(0))), term, None, get)

    def _push(self, key: object, term: Term, by: Any, work: Callable[[Term, Any], Term]) -> Term:
        found = self._pushed.get((key, number(term)))
        if found is None:
            found = (term, by, work(term, by))
            self._pushed[key, number(term)] = found
        return found[2]
