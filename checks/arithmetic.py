"""Numbers and their operators as terms, calculated where they are known.

Python floors where Z3 keeps the remainder non-negative.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import floor
from typing import cast

from .naming import Naming
from .term import Op, Shape, Term, is_value

DEEPEST = 100  # Levels of a term that are looked at for its span.


class Arithmetic(Naming):
    """Truth and numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.bool, self.int, self.real = self.shape("bool"), self.shape("int"), self.shape("real")
        self.true = self.term("true", (), self.bool)
        self.false = self.term("false", (), self.bool)

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
        """Numbers of one shape: the integers among reals as reals."""
        if any(term.shape is self.real for term in terms):
            return [self.real_of(term) for term in terms]
        return terms

    def add(self, *terms: Term) -> Term:
        """The sum: flat, what is known of it last."""
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
        """How much more `b` is than `a`, where that is known."""
        if is_value(a) and is_value(b):
            return _of(b) - _of(a)
        if "+" not in (a.op, b.op):
            return None
        found = self.add(b, self.negative(a))
        return _of(found) if is_value(found) else None

    def span(self, term: Term) -> tuple[int, int] | None:
        """The least and the greatest integer that the term can be, by how it is made; None where
        there is no end of them, or none is known."""
        known: dict[Term, tuple[int, int] | None] = {}

        def spanned(each: Term, depth: int) -> tuple[int, int] | None:
            if each not in known:
                known[each] = found(each, depth)
            return known[each]

        def found(each: Term, depth: int) -> tuple[int, int] | None:
            if is_value(each):
                value = _of(each)
                return (value, value) if isinstance(value, int) else None
            if each.op not in ("if", "+", "-") or not depth:
                return None
            spans: list[tuple[int, int]] = []
            for inner in each.args[1:] if each.op == "if" else each.args:
                span = spanned(inner, depth - 1)
                if span is None:
                    return None
                spans.append(span)
            lows, highs = [low for low, _ in spans], [high for _, high in spans]
            if each.op == "if":
                return min(lows), max(highs)
            return (sum(lows), sum(highs)) if each.op == "+" else (-highs[0], -lows[0])

        return spanned(term, DEEPEST)

    def at_most(self, a: Term, b: Term) -> Term:
        """`a <= b`."""
        a, b = self.alike((a, b))
        apart = 0 if a is b else self.apart(a, b)
        if apart is not None:
            return self.truth(apart >= 0)
        return self.term("<=", (a, b), self.bool)

    def calculated(self, op: Op, args: Sequence[Term]) -> Term:
        """What one of these operators makes of other arguments."""
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
        """Z3's own quotient and remainder, which is never negative."""
        if is_value(a) and is_value(b) and _of(b):
            n, d = cast(int, _of(a)), cast(int, _of(b))
            rest = n % abs(d)
            return self.number(rest if op == "mod" else (n - rest) // d)
        return self.term(op, (a, b), self.int)


def _of(term: Term) -> int | Fraction:
    return cast(int | Fraction, term.data)
