"""The one door to Z3: terms made by small functions that simplify as they build.

Reads are pushed through what was written (`select` through `store`, a field through its record),
so that terms over the state after a step end in reads of the state before it: quantifiers are then
matched against ground reads, and no array theory is left to decide. Whatever is typed `Term` or
`Shape` here is Z3's own; Z3 has no types of its own, so `Any` stays inside this file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any, NewType, final

import z3 as _z3

z3: Any = _z3


@final
class Foreign:
    """An object of Z3; no other file looks inside."""


Term = NewType("Term", Foreign)
Shape = NewType("Shape", Foreign)


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """A datatype: `variants` are (name, names of the fields), by position everywhere else."""

    shape: Shape
    variants: tuple[tuple[str, tuple[str, ...]], ...]


class Logic:
    """Terms of one Z3 context; equal calls give equal terms, in every process."""

    def __init__(self) -> None:
        self.context: Any = z3.Context()
        self.true = Term(z3.BoolVal(True, self.context))
        self.false = Term(z3.BoolVal(False, self.context))
        self.bool = Shape(z3.BoolSort(self.context))
        self.int = Shape(z3.IntSort(self.context))
        self.real = Shape(z3.RealSort(self.context))
        self._fresh = 0
        # Terms are kept with the results: Z3 gives the numbers of freed terms to new ones.
        self._pushed: dict[tuple[object, ...], tuple[Any, Any, Term]] = {}

    # Constants and shapes.

    def fresh(self, name: str, shape: Shape) -> Term:
        """A constant that occurs nowhere else."""
        self._fresh += 1
        return Term(z3.Const(f"{name}!{self._fresh}", shape))

    def again(self, name: Term) -> Term:
        """Another constant of the same shape, named alike."""
        return self.fresh(str(name).split("!")[0], Shape(_any(name).sort()))

    def const(self, name: str, shape: Shape) -> Term:
        """The constant of that name."""
        return Term(z3.Const(name, shape))

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

    # Truth.

    def is_true(self, term: Term) -> bool:
        """Whether the term is `true`."""
        return same(term, self.true)

    def all(self, terms: Iterable[Term]) -> Term:
        """The conjunction: flat, without repeats; false where it says p and not p."""
        found: dict[int, Term] = {}
        for term in terms:
            for part in conjuncts(term):
                if same(part, self.false) or _number(self.negate(part)) in found:
                    return self.false
                if not same(part, self.true):
                    found.setdefault(_number(part), part)
        parts = list(found.values())
        return Term(z3.And(*parts)) if len(parts) > 1 else (parts or [self.true])[0]

    def any(self, terms: Iterable[Term]) -> Term:
        """The disjunction, simplified as `all` is."""
        return self.negate(self.all(self.negate(term) for term in terms))

    def negate(self, term: Term) -> Term:
        """Not `term`; a double negation is undone."""
        if same(term, self.true):
            return self.false
        if same(term, self.false):
            return self.true
        return Term(_any(term).arg(0)) if z3.is_not(term) else Term(z3.Not(term))

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
        if _boolean(then) and (_literal(then) or _literal(other)):
            return self.all((self.implies(test, then), self.any((test, other))))
        if z3.is_not(test):
            return self.choose(self.negate(test), other, then)
        return Term(z3.If(test, then, other))

    def equal(self, a: Term, b: Term) -> Term:
        """Equality; decided where both are literals or made by constructors."""
        if same(a, b):
            return self.true
        if _boolean(a):
            return self._equivalent(a, b)
        if _value(a) and _value(b):
            return self.false
        if _constructed(a) and _constructed(b):
            if not _any(a).decl().eq(_any(b).decl()):
                return self.false
            return self.all(self.equal(x, y) for x, y in zip(_args(a), _args(b), strict=True))
        if _defined_by_cases(a) or _defined_by_cases(b):
            key = self.fresh("k", Shape(_any(a).sort().domain()))
            return self.forall([key], self.true, self.equal(self.read(a, key), self.read(b, key)))
        if _number(b) < _number(a) and not (_value(b) or _constructed(b)):
            a, b = b, a
        return Term(_any(a) == _any(b))

    def _equivalent(self, a: Term, b: Term) -> Term:
        for one, two in ((a, b), (b, a)):
            if same(one, self.true):
                return two
            if same(one, self.false):
                return self.negate(two)
        return self.false if same(a, self.negate(b)) else Term(_any(a) == _any(b))

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
        if z3.is_add(value) and _any(value).num_args() == 2:
            for name, other in (_args(value), _args(value)[::-1]):
                if any(same(name, n) for n in names) and not any(occurs(n, other) for n in names):
                    return [(name, self.add(term, self.negative(other)))], self.true
        if not _constructed(value) or not _any(value).num_args():
            return [], self.equal(term, value)
        solved: list[tuple[Term, Term]] = []
        rest = [self._test(term, _recognizer(value))]
        for accessor, arg in zip(_accessors(value), _args(value), strict=True):
            left = [name for name in names if not any(same(name, s) for s, _ in solved)]
            more, residue = self.solve(self._field(term, accessor), arg, left)
            solved.extend(more)
            rest.append(residue)
        return solved, self.all(rest)

    def _close(self, quantifier: Any, names: Sequence[Term], body: Term) -> Term:
        used = [name for name in names if occurs(name, body)]
        if not used:
            return body
        # Bound names are made canonical, so that equal formulas are one term.
        plain = [Term(z3.Const(str(n).split("!")[0] + f"?{i}", _any(n).sort()))
                 for i, n in enumerate(used)]
        return Term(quantifier(plain, self.replace(body, list(zip(used, plain, strict=True)))))

    def replace(self, term: Term, pairs: Sequence[tuple[Term, Term]]) -> Term:
        """The term with each first of the pairs replaced by the second."""
        return Term(z3.substitute(term, *pairs)) if pairs else term

    def known(self, term: Term) -> int | None:
        """The integer that the term is, or None where it is not a literal."""
        return int(_any(term).as_long()) if z3.is_int_value(term) else None

    # Integers. Python floors where Z3 keeps the remainder non-negative.

    def add(self, *terms: Term) -> Term:
        """The sum."""
        whole = sum(_any(t).as_long() for t in terms if z3.is_int_value(t))
        rest = [t for t in terms if not z3.is_int_value(t)]
        if not rest:
            return self.number(whole)
        first = reduce(lambda a, b: _any(a) + _any(b), rest)
        return Term(_any(first) + whole) if whole else Term(first)

    def negative(self, term: Term) -> Term:
        """`-term`."""
        return self.number(-_any(term).as_long()) if _value(term) else Term(-_any(term))

    def times(self, a: Term, b: Term) -> Term:
        """The product."""
        return Term(z3.simplify(_any(a) * _any(b)) if _value(a) and _value(b) else _any(a) * b)

    def less(self, a: Term, b: Term) -> Term:
        """`a < b`."""
        return self.negate(self.at_most(b, a))

    def at_most(self, a: Term, b: Term) -> Term:
        """`a <= b`."""
        if same(a, b):
            return self.true
        term = _any(a) <= _any(b)
        return Term(z3.simplify(term) if _value(a) and _value(b) else term)

    def floor_divide(self, a: Term, b: Term) -> Term:
        """`a // b` as in Python; for b = 0 any number."""
        up, down = _any(a) / _any(b), (-_any(a)) / (-_any(b))
        return self._by_sign(b, up, down)

    def remainder(self, a: Term, b: Term) -> Term:
        """`a % b` as in Python: it has the sign of b."""
        return self._by_sign(b, _any(a) % _any(b), -((-_any(a)) % (-_any(b))))

    def _by_sign(self, b: Term, positive: Any, negative: Any) -> Term:
        chosen = self.choose(self.less(self.number(0), b), Term(positive), Term(negative))
        return Term(z3.simplify(chosen)) if _value(b) else chosen

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
            return self.constant(Shape(_any(key).sort()), body)
        if z3.is_select(body) and same(Term(_any(body).arg(1)), key):
            array = Term(_any(body).arg(0))
            if not occurs(key, array):
                return array
        return self._close(z3.Lambda, [key], body)

    def written(self, array: Term) -> list[Term] | None:
        """The keys, literals in ascending order, of an array that was written out in full."""
        keys: dict[int, Term] = {}
        while z3.is_store(array):
            key = Term(_any(array).arg(1))
            if not z3.is_int_value(key):
                return None
            keys[_any(key).as_long()] = key
            array = Term(_any(array).arg(0))
        return [keys[i] for i in sorted(keys)] if z3.is_const_array(array) else None

    def read(self, array: Term, key: Term) -> Term:
        """The value at `key`, pushed through whatever the array was made by."""
        return self._push(("read", _number(key)), array, key, self._read)

    def _read(self, array: Term, key: Term) -> Term:
        term = _any(array)
        if z3.is_quantifier(term) and term.is_lambda():
            return self.rebuild(Term(z3.substitute_vars(term.body(), key)))
        if z3.is_store(term):
            below = self.read(Term(term.arg(0)), key)
            return self.choose(self.equal(key, Term(term.arg(1))), Term(term.arg(2)), below)
        if z3.is_const_array(term):
            return Term(term.arg(0))
        if z3.is_app_of(term, z3.Z3_OP_ITE):
            test, then, other = _args(array)
            return self.choose(test, self.read(then, key), self.read(other, key))
        return Term(z3.Select(term, key))

    def rebuild(self, term: Term) -> Term:
        """The term made anew by this class, after a substitution: reads are pushed again."""
        return self._push("rebuild", term, None, lambda t, _: self._rebuild(t))

    def _rebuild(self, term: Term) -> Term:
        t = _any(term)
        if z3.is_quantifier(t) or t.num_args() == 0:
            return term
        args = [self.rebuild(arg) for arg in _args(term)]
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
        return Term(_any(data.shape).constructor(variant)(*args))

    def is_variant(self, data: Data, variant: int, term: Term) -> Term:
        """Whether the value is of that variant."""
        return self._test(term, _any(data.shape).recognizer(variant))

    def field(self, data: Data, variant: int, index: int, term: Term) -> Term:
        """A field of the value; of another variant's value it is anything."""
        return self._field(term, _any(data.shape).accessor(variant, index))

    def _test(self, term: Term, test: Any) -> Term:
        def decide(t: Term, _: Any) -> Term:
            if _any(t).sort().num_constructors() == 1:
                return self.true
            if _constructed(t):
                return self.truth(_any(t).decl().eq(test.params()[0]))
            if z3.is_app_of(t, z3.Z3_OP_ITE):
                cond, then, other = _args(t)
                return self.choose(cond, self._test(then, test), self._test(other, test))
            return Term(test(t))

        return self._push(("is", str(test.params()[0])), term, None, decide)

    def _field(self, term: Term, accessor: Any) -> Term:
        def get(t: Term, _: Any) -> Term:
            for own, arg in zip(_accessors(t), _args(t), strict=True) if _constructed(t) else ():
                if own.eq(accessor):
                    return arg
            if z3.is_app_of(t, z3.Z3_OP_ITE):
                cond, then, other = _args(t)
                return self.choose(cond, self._field(then, accessor), self._field(other, accessor))
            return Term(accessor(t))

        return self._push(("field", accessor.name(), str(accessor.domain(0))), term, None, get)

    def _push(self, key: object, term: Term, by: Any, work: Callable[[Term, Any], Term]) -> Term:
        found = self._pushed.get((key, _number(term)))
        if found is None:
            found = (term, by, work(term, by))
            self._pushed[key, _number(term)] = found
        return found[2]


def _any(term: object) -> Any:
    return term


def _number(term: Term) -> int:
    return int(_any(term).get_id())


def _args(term: Term) -> list[Term]:
    return [Term(arg) for arg in _any(term).children()]


def _value(term: Term) -> bool:
    return bool(z3.is_int_value(term) or z3.is_rational_value(term))


def _literal(term: Term) -> bool:
    return bool(z3.is_true(term) or z3.is_false(term))


def _boolean(term: Term) -> bool:
    # Z3's own `is_bool` takes a lambda for a condition.
    return bool(_any(term).sort().kind() == z3.Z3_BOOL_SORT)


def _constructed(term: Term) -> bool:
    return bool(z3.is_app_of(term, z3.Z3_OP_DT_CONSTRUCTOR))


def _defined_by_cases(term: Term) -> bool:
    t = _any(term)
    if z3.is_quantifier(t):
        return bool(t.is_lambda())
    if not isinstance(t.sort(), z3.ArraySortRef):
        return False
    if z3.is_store(t) or z3.is_app_of(t, z3.Z3_OP_ITE):
        return any(_defined_by_cases(arg) for arg in _args(term))
    return False


def _variant(term: Term) -> int:
    """Which variant of its datatype a term made by a constructor is."""
    sort, constructor = _any(term).sort(), _any(term).decl()
    return next(i for i in range(sort.num_constructors()) if constructor.eq(sort.constructor(i)))


def _recognizer(term: Term) -> Any:
    return _any(term).sort().recognizer(_variant(term))


def _accessors(term: Term) -> list[Any]:
    sort, variant = _any(term).sort(), _variant(term)
    return [sort.accessor(variant, i) for i in range(_any(term).num_args())]


def same(a: Term, b: Term) -> bool:
    """Whether both are one term."""
    return bool(_any(a).eq(b))


def conjuncts(term: Term) -> list[Term]:
    """The parts of a conjunction, all the way down."""
    if not z3.is_and(term):
        return [term]
    return [part for arg in _args(term) for part in conjuncts(arg)]


def occurs(name: Term, term: Term) -> bool:
    """Whether the constant occurs in the term."""
    seen: set[int] = set()
    stack = [term]
    while stack:
        each = stack.pop()
        if _number(each) in seen:
            continue
        seen.add(_number(each))
        if same(each, name):
            return True
        stack.extend(_args(each))
    return False
