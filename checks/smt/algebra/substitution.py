"""Substitution of terms for terms, without recursion: terms may be deep."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .term import Op, Shape, Term, bound, is_by_cases

Make = Callable[[Term, Sequence[Term]], Term]
Write = Callable[[Op, tuple[Term, ...], Shape, object], Term]


class Pairs:
    """Terms with their replacements, and the results so far, above and below quantifiers."""

    __slots__ = ("below", "known", "mask")

    def __init__(self, pairs: Sequence[tuple[Term, Term]]) -> None:
        self.known = dict(pairs)
        self.below = dict(pairs)
        self.mask = 0
        for name, _ in pairs:
            self.mask |= name.free

    def put(self, term: Term, make: Make, write: Write) -> Term:
        """The term with the replacements; `make` builds a term of new arguments."""

        def made(each: Term, args: Sequence[Term]) -> Term:
            if not bound(each):
                return make(each, args)
            return make(each, [self._simplified(arg, make, write) for arg in each.args])

        return self._deep(term, self.known, made, _above)

    def _simplified(self, term: Term, make: Make, write: Write) -> Term:
        """The body of a quantifier with the replacements, simplified only where no quantifier is
        made: one made below another could bind the names that the outer one binds."""

        def made(each: Term, args: Sequence[Term]) -> Term:
            if bound(each) or any(map(is_by_cases, args)):
                return write(each.op, tuple(args), each.shape, each.data)
            return make(each, args)

        return self._deep(term, self.below, made, _all)

    def written(self, term: Term, write: Write) -> Term:
        """The term with the replacements, not simplified."""

        def made(each: Term, args: Sequence[Term]) -> Term:
            return write(each.op, tuple(args), each.shape, each.data)

        return self._deep(term, self.below, made, _all)

    def _deep(
        self,
        term: Term,
        known: dict[Term, Term],
        made: Make,
        inside: Callable[[Term], tuple[Term, ...]],
    ) -> Term:
        """The new term, made bottom-up from the new arguments; `inside` gives those to visit."""
        if not self.mask & term.free:
            return term
        stack = [term]
        while stack:
            each = stack[-1]
            args = () if each in known else inside(each)
            left = [arg for arg in args if self.mask & arg.free and arg not in known]
            if left:
                stack += left
                continue
            stack.pop()
            if each not in known:
                known[each] = made(each, [known.get(arg, arg) for arg in args])
        return known[term]


def _all(term: Term) -> tuple[Term, ...]:
    return term.args


def _above(term: Term) -> tuple[Term, ...]:
    """The arguments of a term; none of a quantifier."""
    return () if bound(term) else term.args
