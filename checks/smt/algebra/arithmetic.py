"""Numbers and their operators as terms, evaluated where their operands are known.

Division and remainder are Z3's, whose remainder is never negative; `logic` makes Python's of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import floor
from typing import cast

from .interning import Naming
from .term import Op, Shape, Term, is_value

DEEPEST = 100  # The depth to which a term is examined for its range.
QUOTIENTS = 8  # With more possible quotients, a division is left to Z3.

Span = tuple[int, int]  # The least and the greatest of some integers.


class Arithmetic(Naming):
    """Truth and numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.bool, self.int, self.real = self.shape("bool"), self.shape("int"), self.shape("real")
        self.true = self.term("true", (), self.bool)
        self.false = self.term("false", (), self.bool)
        self._limits: dict[Term, Span | None] = {}

    def truth(self, value: bool) -> Term:
        """`true` or `false`."""
        return self.true if value else self.false

    def number(self, value: int) -> Term:
        """An integer."""
        return self.term("value", (), self.int, int(value))

    def fraction(self, value: float) -> Term:
        """A real number: the decimal one that is written for the float."""
        return self.exactly(Fraction(repr(value)))

    def exactly(self, value: Fraction) -> Term:
        """A rational number."""
        return self.term("value", (), self.real, value)

    def known(self, term: Term) -> int | None:
        """The integer that the term is, or None where it is not a literal."""
        return cast(int, term.data) if is_value(term) and term.shape is self.int else None

    def real_of(self, term: Term) -> Term:
        """An integer as a real number."""
        if term.shape is self.real:
            return term
        if is_value(term):
            return self._value(_of(term), self.real)
        return self.term("real", (term,), self.real)

    def floor(self, term: Term) -> Term:
        """The greatest integer that is at most the real number."""
        if is_value(term):
            return self.number(floor(_of(term)))
        whole = term.args[0] if term.op == "real" else None
        return self.term("floor", (term,), self.int) if whole is None else whole

    def _value(self, number: int | Fraction, shape: Shape) -> Term:
        exact = Fraction(number) if shape is self.real else int(number)
        return self.term("value", (), shape, exact)

    def alike(self, terms: Sequence[Term]) -> Sequence[Term]:
        """The numbers with one shape: where one of them is real, integers are converted."""
        if any(term.shape is self.real for term in terms):
            return [self.real_of(term) for term in terms]
        return terms

    def add(self, *terms: Term) -> Term:
        """The sum, flat, with its known part last."""
        whole: int | Fraction = 0
        rest: list[Term] = []
        given = self.alike(terms)
        for term in given:
            for each in term.args if term.op == "+" else (term,):
                opposite = each.args[0] if each.op == "-" else None
                if is_value(each):
                    whole += _of(each)
                elif opposite in rest:
                    rest.remove(opposite)
                elif any(r.op == "-" and r.args[0] is each for r in rest):
                    rest.remove(next(r for r in rest if r.op == "-" and r.args[0] is each))
                else:
                    rest.append(each)
        shape = given[0].shape if given else self.int
        if whole or not rest:
            rest.append(self._value(whole, shape))
        return self.term("+", tuple(rest), shape) if len(rest) > 1 else rest[0]

    def negative(self, term: Term) -> Term:
        """`-term`."""
        if is_value(term):
            return self._value(-_of(term), term.shape)
        if term.op == "+":
            return self.add(*map(self.negative, term.args))
        return term.args[0] if term.op == "-" else self.term("-", (term,), term.shape)

    def times(self, a: Term, b: Term) -> Term:
        """The product."""
        a, b = self.alike((a, b))
        if is_value(b):
            a, b = b, a
        if is_value(a):
            if is_value(b):
                return self._value(_of(a) * _of(b), a.shape)
            if _of(a) in (0, 1):
                return b if _of(a) else a
        return self.term("*", (a, b), a.shape)

    def apart(self, a: Term, b: Term) -> int | Fraction | None:
        """The difference `b - a`; None where it is not a known number."""
        if is_value(a) and is_value(b):
            return _of(b) - _of(a)
        if "+" not in (a.op, b.op):
            return None
        found = self.add(b, self.negative(a))
        return _of(found) if is_value(found) else None

    def span(self, term: Term) -> Span | None:
        """The range of the term, as far as it is known: its least and its greatest value."""
        return self._spanned(term, {}, DEEPEST)

    def limit(self, constant: Term, low: int, high: int) -> None:
        """Note the range of a constant, for the encoding of divisions.

        The caller makes this a fact of every question in which the constant occurs.
        """
        self._limits[constant] = low, high

    def limited(self, term: Term) -> Span | None:
        """The range of a term, from the noted ranges of its constants."""
        return self._spanned(term, dict(self._limits), DEEPEST)

    def _spanned(self, term: Term, known: dict[Term, Span | None], depth: int) -> Span | None:
        """The range of a term; `known` caches the ranges of its subterms."""
        if term not in known:
            known[term] = self._span_of(term, known, depth)
        return known[term]

    def _span_of(self, term: Term, known: dict[Term, Span | None], depth: int) -> Span | None:
        if is_value(term):
            value = _of(term)
            return (value, value) if isinstance(value, int) else None
        if term.op not in SPANNED or not depth:
            return None
        args = term.args[1:] if term.op == "if" else term.args
        spans = [self._spanned(each, known, depth - 1) for each in args]
        if term.op == "mod":
            return _rest(spans[1])
        given = [span for span in spans if span is not None]
        return _SPANS[term.op](given) if len(given) == len(spans) else None

    def at_most(self, a: Term, b: Term) -> Term:
        """`a <= b`."""
        a, b = self.alike((a, b))
        apart = 0 if a is b else self.apart(a, b)
        if apart is not None:
            return self.truth(apart >= 0)
        return self.term("<=", (a, b), self.bool)

    def calculated(self, op: Op, args: Sequence[Term]) -> Term:
        """The operator applied to these arguments, evaluated where they are known."""
        match op:
            case "+":
                return self.add(*args)
            case "*":
                return self.times(*args)
            case "-":
                return self.negative(*args)
            case "<=":
                return self.at_most(*args)
            case "real":
                return self.real_of(*args)
            case "floor":
                return self.floor(*args)
            case _:
                return self._divided(op, *args)

    def _divided(self, op: Op, a: Term, b: Term) -> Term:
        """Z3's quotient and remainder, which is never negative.

        A division by a number that has few possible quotients is written as cases, which Z3 solves
        much faster.
        """
        by = self.known(b)
        if not by:
            return self.term(op, (a, b), self.int)
        n = self.known(a)
        if n is not None:
            rest = n % abs(by)
            return self.number(rest if op == "mod" else (n - rest) // by)
        if by == 1:
            return a if op == "div" else self.number(0)
        span = self.limited(a) if by > 0 else None
        if span is None or span[1] // by - span[0] // by >= QUOTIENTS:
            return self.term(op, (a, b), self.int)
        return self._by_quotients(op, a, by, range(span[0] // by, span[1] // by + 1))

    def _by_quotients(self, op: Op, a: Term, by: int, quotients: Sequence[int]) -> Term:
        """The quotient or remainder by a positive number, as a case for each possible quotient."""
        *below, last = (
            self.number(q) if op == "div" else self.add(a, self.number(-q * by)) for q in quotients
        )
        for q, value in reversed(list(zip(quotients, below, strict=False))):
            before = self.at_most(a, self.number(q * by + by - 1))
            last = last if value is last else self.term("if", (before, value, last), self.int)
        return last


def _rest(by: Span | None) -> Span | None:
    """The range of a remainder."""
    whole = by is not None and by[0] == by[1] and by[0]
    return (0, abs(whole) - 1) if whole else None


def _times(spans: Sequence[Span]) -> Span:
    (low, high), (least, most) = spans
    ends = [x * y for x in (low, high) for y in (least, most)]
    return min(ends), max(ends)


def _quotient(spans: Sequence[Span]) -> Span | None:
    (low, high), (by, most) = spans
    return (low // by, high // by) if by == most and by > 0 else None


_SPANS: Mapping[str, Callable[[Sequence[Span]], Span | None]] = {
    "if": lambda spans: (min(low for low, _ in spans), max(high for _, high in spans)),
    "+": lambda spans: (sum(low for low, _ in spans), sum(high for _, high in spans)),
    "-": lambda spans: (-spans[0][1], -spans[0][0]),
    "*": _times,
    "div": _quotient,
}
SPANNED = {*_SPANS, "mod"}


def _of(term: Term) -> int | Fraction:
    return cast(int | Fraction, term.data)
