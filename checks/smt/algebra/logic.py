"""Terms, made by small functions that simplify as they build.

Reads are pushed through what was written (`select` through `store`, a field through its record),
so that terms over the state after a step end in reads of the state before it: quantifiers are then
matched against ground reads, and no array theory is left to decide.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from .arithmetic import Arithmetic
from .substitution import Pairs
from .term import (
    Op,
    Shape,
    Term,
    bound,
    conjuncts,
    is_by_cases,
    is_fixed,
    is_literal,
    occurs,
    subterms,
    variant,
)


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """A datatype: `variants` are (name, names of the fields), by position everywhere else."""

    shape: Shape
    variants: tuple[tuple[str, tuple[str, ...]], ...]


class Logic(Arithmetic):
    """Builds and simplifies terms. Equal calls give equal terms, in every process."""

    def __init__(self) -> None:
        super().__init__()
        self._pushed: dict[tuple[object, Term], Term] = {}
        self._put: dict[tuple[Term, Term], Pairs] = {}
        self.counts = False  # Whether some term is the size of a set.

    # Shapes and values.

    def is_container(self, term: Term) -> bool:
        """Whether the term is an array."""
        return term.shape.of == "array"

    def array(self, key: Shape, value: Shape) -> Shape:
        """Functions from keys to values, equal where they give the same."""
        return self.shape("array", inner=(key, value))

    def sort(self, name: str) -> Shape:
        """An uninterpreted sort: any number of elements, at least one."""
        return self.shape("sort", name)

    def datatype(
        self, name: str, variants: Sequence[tuple[str, Sequence[tuple[str, Shape]]]]
    ) -> Data:
        """A sum of products; `variants` are (name, fields), fields (name, shape)."""
        shape = self.shape("data", name, (), tuple((v, tuple(row)) for v, row in variants))
        return Data(shape, tuple((v, tuple(f for f, _ in row)) for v, row in variants))

    def function(self, name: str, shapes: Sequence[Shape]) -> Callable[..., Term]:
        """An uninterpreted function; the last shape is that of its values."""
        return lambda *args: self.term("apply", args, shapes[-1], name)

    def has_shape(self, term: Term, shape: Shape) -> bool:
        """Whether the term is of that shape."""
        return term.shape is shape

    # Truth.

    def all(self, terms: Iterable[Term]) -> Term:
        """The conjunction: flat, without repeats; false where it contains p and not p.

        Each part is simplified under the parts before it.
        """
        found: dict[Term, None] = {}
        for term in terms:
            for given in conjuncts(term):
                part = self._where(found, given)
                for each in conjuncts(part) if part is not given else (part,):
                    if each is self.false or self.negate(each) in found:
                        return self.false
                    if each is not self.true:
                        found[each] = None
        return self._both(tuple(found))

    def _both(self, parts: tuple[Term, ...]) -> Term:
        return self.term("and", parts, self.bool) if len(parts) > 1 else (*parts, self.true)[0]

    def _where(self, known: Container[Term], part: Term) -> Term:
        """The part; a disjunction without the disjuncts known to be false, and `true` where one is
        known to be true."""
        if part.op != "not" or part.args[0].op != "and":
            return part
        denied = part.args[0].args
        if any(self.negate(each) in known for each in denied):
            return self.true
        left = tuple(each for each in denied if each not in known)
        return part if len(left) == len(denied) else self.negate(self._both(left))

    def any(self, terms: Iterable[Term]) -> Term:
        """The disjunction, simplified like `all`; common parts are factored out."""
        rows = list(terms)
        common = set(conjuncts(rows[0])) if len(rows) > 1 else set[Term]()
        for row in rows[1:]:
            common &= {*conjuncts(row)} if common else set()
        if common - {self.true}:
            shared = [part for part in conjuncts(rows[0]) if part in common]
            rest = [self._both(tuple(p for p in conjuncts(r) if p not in common)) for r in rows]
            return self.all((*shared, self.any(rest)))
        return self.negate(self.all(self.negate(row) for row in rows))

    def negate(self, term: Term) -> Term:
        """The negation; of a negation, its argument."""
        if is_literal(term):
            return self.truth(term is self.false)
        return term.args[0] if term.op == "not" else self.term("not", (term,), self.bool)

    def implies(self, first: Term, then: Term) -> Term:
        """The implication: `then` is true wherever `first` is."""
        return self.any((self.negate(first), then))

    def choose(self, test: Term, then: Term, other: Term) -> Term:
        """`then if test else other`."""
        if then is other or test is self.true:
            return then
        if test is self.false:
            return other
        if test.op == "not":
            return self.choose(test.args[0], other, then)
        if then.op == "if" and then.args[0] is test:
            return self.choose(test, then.args[1], other)
        if other.op == "if" and other.args[0] is test:
            return self.choose(test, then, other.args[2])
        if test.op == "=" and self._alike_where(test, then, other):
            return other
        if then.shape is self.bool and (is_literal(then) or is_literal(other)):
            return self.all((self.implies(test, then), self.any((test, other))))
        return self.term("if", (test, then, other), then.shape)

    def _alike_where(self, test: Term, then: Term, other: Term) -> bool:
        """Whether both become one term when one side of the equality `test` replaces the other."""
        for name, value in (test.args, test.args[::-1]):
            if name.op == "constant" and (occurs(name, then) or occurs(name, other)):
                pairs = self._put.setdefault((name, value), Pairs([(name, value)]))
                if pairs.written(then, self.term) is pairs.written(other, self.term):
                    return True
        return False

    def equal(self, a: Term, b: Term) -> Term:
        """Equality; decided where both are literals or made by constructors."""
        if a is b:
            return self.true
        if a.shape is self.bool:
            return self._equivalent(a, b)
        if a.shape.of in ("int", "real"):
            a, b = self.alike((a, b))
            apart = self.apart(a, b)
            if apart is not None:
                return self.truth(apart == 0)
        if a.op == b.op == "make":
            if variant(a) != variant(b):
                return self.false
            return self.all(self.equal(x, y) for x, y in zip(a.args, b.args, strict=True))
        if is_by_cases(a) or is_by_cases(b):
            key = self.fresh("k", a.shape.inner[0])
            return self.forall([key], self.true, self.equal(self.read(a, key), self.read(b, key)))
        # Arguments are ordered by their digests, which are the same in every process; values last.
        if (is_fixed(a), a.digest) > (is_fixed(b), b.digest):
            a, b = b, a
        if is_fixed(b) and b.op == "make" and not _is_plain(b.shape):
            return self._test(a, variant(b))
        return self.term("=", (a, b), self.bool)

    def _equivalent(self, a: Term, b: Term) -> Term:
        for one, two in ((a, b), (b, a)):
            if one is self.true:
                return two
            if one is self.false:
                return self.negate(two)
        if a is self.negate(b):
            return self.false
        return self.term("=", (a, b) if a.digest < b.digest else (b, a), self.bool)

    def forall(self, names: Sequence[Term], where: Term, body: Term) -> Term:
        """For all values of `names` where `where` is true; one quantifier for each conjunct."""
        parts = [self.implies(where, part) for part in conjuncts(body)]
        return self.all(self._close("forall", names, part) for part in parts)

    def exists(self, names: Sequence[Term], body: Term) -> Term:
        """For some values of `names`."""
        return self.negate(self.forall(names, body, self.false))

    def solve(
        self, term: Term, value: Term, names: Sequence[Term]
    ) -> tuple[list[tuple[Term, Term]], Term]:
        """`term == value` solved for `names`: the equations (name, term), and the remainder."""
        if value in names:
            return [(value, term)], self.true
        if value.op == "+":
            for i, name in enumerate(value.args):
                others = (*value.args[:i], *value.args[i + 1 :])
                if name in names and not any(occurs(n, o) for n in names for o in others):
                    return [(name, self.add(term, *map(self.negative, others)))], self.true
        if value.op != "make" or not value.args:
            return [], self.equal(term, value)
        solved: list[tuple[Term, Term]] = []
        rest = [self._test(term, variant(value))]
        for i, arg in enumerate(value.args):
            left = [name for name in names if name not in dict(solved)]
            more, residue = self.solve(self._field(term, (variant(value), i)), arg, left)
            solved.extend(more)
            rest.append(residue)
        return solved, self.all(rest)

    def _close(self, quantifier: Op, names: Sequence[Term], body: Term) -> Term:
        used = [name for name in names if occurs(name, body)]
        if not used:
            return body
        # Bound names are canonical, so that formulas equal up to renaming are one term. They
        # differ from the names bound inside, so that no name is captured.
        plain = tuple(self.const(f"?{i}", n.shape) for i, n in enumerate(used, body.above))
        inside = self.replace(body, list(zip(used, plain, strict=True)))
        shape = self.bool
        if quantifier == "lambda":
            shape = self.array(used[0].shape, body.shape)
        return self.term(quantifier, (inside,), shape, plain)

    def values(self, shape: Shape) -> list[Term]:
        """Every value of a datatype without fields; an empty list for other shapes."""
        if shape.of != "data" or not _is_plain(shape):
            return []
        return [self.term("make", (), shape, i) for i in range(len(shape.variants))]

    def replace(self, term: Term, pairs: Sequence[tuple[Term, Term]]) -> Term:
        """The term with each first of the pairs replaced by the second."""
        return self._replaced(term, Pairs(pairs))

    def putting(self, pairs: Sequence[tuple[Term, Term]]) -> Callable[[Term], Term]:
        """A function that replaces each first of the pairs by the second; for many terms."""
        kept = Pairs(pairs)
        return lambda term: self._replaced(term, kept)

    def tests(self, term: Term) -> list[Term]:
        """For each variant of the datatype, the condition that the value is of that variant."""
        return [self._test(term, i) for i in range(len(term.shape.variants))]

    def _replaced(self, term: Term, pairs: Pairs) -> Term:
        return pairs.put(term, self._made, self.term)

    def _made(self, term: Term, args: Sequence[Term]) -> Term:
        """The term with these arguments instead of its own, simplified."""
        match term.op:
            case "select":
                return self.read(*args)
            case "if":
                return self.choose(*args)
            case "=":
                return self.equal(*args)
            case "and":
                return self.all(args)
            case "not":
                return self.negate(args[0])
            case "size":
                return self.size(args[0])
            case "field":
                return self._field(args[0], cast(tuple[int, int], term.data))
            case "is":
                return self._test(args[0], cast(int, term.data))
            case "+" | "*" | "-" | "<=" | "div" | "mod" | "real" | "floor":
                return self.calculated(term.op, args)
            case "forall":
                return self.forall(bound(term), self.true, args[0])
            case "lambda":
                return self.by_cases(bound(term)[0], args[0])
            case _:
                return self.term(term.op, tuple(args), term.shape, term.data)

    # Integers. Python floors where Z3 keeps the remainder non-negative.

    def less(self, a: Term, b: Term) -> Term:
        """`a < b`."""
        return self.negate(self.at_most(b, a))

    def floor_divide(self, a: Term, b: Term) -> Term:
        """`a // b` as in Python; for b = 0 any number."""
        up = self.calculated("div", (a, b))
        down = self.calculated("div", (self.negative(a), self.negative(b)))
        return self.choose(self.less(self.number(0), b), up, down)

    def remainder(self, a: Term, b: Term) -> Term:
        """`a % b` as in Python: it has the sign of b."""
        up = self.calculated("mod", (a, b))
        down = self.calculated("mod", (self.negative(a), self.negative(b)))
        return self.choose(self.less(self.number(0), b), up, self.negative(down))

    # Arrays.

    def constant(self, key: Shape, value: Term) -> Term:
        """The array that has `value` everywhere."""
        return self.term("everywhere", (value,), self.array(key, value.shape))

    def write(self, array: Term, key: Term, value: Term) -> Term:
        """The array with `value` at `key`."""
        return self.term("store", (array, key, value), array.shape)

    def by_cases(self, key: Term, body: Term) -> Term:
        """The array (a lambda) that has `body` at `key`, a constant from `fresh`."""
        if not occurs(key, body):
            return self.constant(key.shape, body)
        if body.op == "select" and body.args[1] is key and not occurs(key, body.args[0]):
            return body.args[0]
        return self._close("lambda", [key], body)

    def written(self, array: Term) -> list[Term] | None:
        """The keys, literals in ascending order, of an array that was written out in full."""
        keys: dict[int, Term] = {}
        while array.op == "store":
            array, key, _ = array.args
            known = self.known(key)
            if known is None:
                return None
            keys[known] = key
        return [keys[i] for i in sorted(keys)] if array.op == "everywhere" else None

    def stored(self, array: Term, key: Term) -> Term:
        """Whether the array was written at this very key."""
        if array.op == "store":
            below, at, _ = array.args
            return self.any((self.equal(key, at), self.stored(below, key)))
        if array.op == "if":
            test, then, other = array.args
            return self.choose(test, self.stored(then, key), self.stored(other, key))
        return self.false

    def read(self, array: Term, key: Term) -> Term:
        """The value at `key`; a read of a written or chosen array becomes reads of the original."""
        return self._push(key, array, lambda a: self._read(a, key))

    def _read(self, array: Term, key: Term) -> Term:
        match array.op:
            case "lambda":
                return self.replace(array.args[0], [(bound(array)[0], key)])
            case "store":
                below, at, value = array.args
                return self.choose(self.equal(key, at), value, self.read(below, key))
            case "everywhere":
                return array.args[0]
            case "if":
                test, then, other = array.args
                return self.choose(test, self.read(then, key), self.read(other, key))
            case _:
                return self.term("select", (array, key), array.shape.inner[1])

    def size(self, array: Term) -> Term:
        """The number of keys with `true`: a term for the innermost array, changed by each write."""

        def counted(a: Term) -> Term:
            match a.op:
                case "store":
                    below, at, value = a.args
                    before, had = self.size(below), self._one(self.read(below, at))
                    return self.add(before, self._one(value), self.negative(had))
                case "if":
                    test, then, other = a.args
                    return self.choose(test, self.size(then), self.size(other))
                case "everywhere" if a.args[0] is self.false:
                    return self.number(0)
                case _:
                    self.counts = True
                    return self.term("size", (a,), self.int, "size")

        return self._push("size", array, counted)

    def sizes(self, terms: Iterable[Term]) -> Iterator[Term]:
        """A fact for each size in the terms: it is 0 for the empty set and positive for others."""
        for size in subterms(*terms) if self.counts else ():
            if size.op == "size":
                (of,) = size.args
                any_of = self.const("element", of.shape.inner[0])
                nothing = self.forall([any_of], self.true, self.negate(self.read(of, any_of)))
                none, some = self.equal(size, self.number(0)), self.less(self.number(0), size)
                yield self.choose(nothing, none, some)

    def _one(self, truth: Term) -> Term:
        return self.choose(truth, self.number(1), self.number(0))

    # Datatypes.

    def make(self, data: Data, variant: int, args: Sequence[Term]) -> Term:
        """The value of that variant with these fields."""
        return self.term("make", tuple(args), data.shape, variant)

    def is_variant(self, data: Data, variant: int, term: Term) -> Term:
        """Whether the value is of that variant."""
        return self._test(term, variant)

    def field(self, data: Data, variant: int, index: int, term: Term) -> Term:
        """A field of the value; of a value of another variant, an arbitrary value."""
        return self._field(term, (variant, index))

    def _test(self, term: Term, wanted: int) -> Term:
        rows = term.shape.variants

        def decide(t: Term) -> Term:
            if len(rows) == 1:
                return self.true
            if t.op == "make":
                return self.truth(t.data == wanted)
            if t.op == "if":
                cond, then, other = t.args
                return self.choose(cond, self._test(then, wanted), self._test(other, wanted))
            if _is_plain(t.shape):
                return self.equal(t, self.term("make", (), t.shape, wanted))
            if len(rows) == 2 and not wanted:
                return self.negate(self._test(t, 1))
            return self.term("is", (t,), self.bool, wanted)

        return self._push(wanted, term, decide)

    def _field(self, term: Term, at: tuple[int, int]) -> Term:
        def get(t: Term) -> Term:
            if t.op == "make" and t.data == at[0]:
                return t.args[at[1]]
            if t.op == "if":
                cond, then, other = t.args
                return self.choose(cond, self._field(then, at), self._field(other, at))
            return self.term("field", (t,), t.shape.variants[at[0]][1][at[1]][1], at)

        return self._push(at, term, get)

    def _push(self, key: object, term: Term, work: Callable[[Term], Term]) -> Term:
        found = self._pushed.get((key, term))
        if found is None:
            found = self._pushed[key, term] = work(term)
        return found


def _is_plain(shape: Shape) -> bool:
    """Whether no variant of the datatype has fields: its values are compared, not tested."""
    return not any(fields for _, fields in shape.variants)
