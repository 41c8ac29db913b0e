"""Hash-consing: the terms and shapes of one logic, each made once, and fresh constants."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from .term import Of, Op, Shape, Term, Variants


class Naming:
    """The terms, shapes and constants of one logic."""

    def __init__(self) -> None:
        self._terms: dict[tuple[object, ...], Term] = {}
        self._shapes: dict[tuple[object, ...], Shape] = {}
        self._about, self._count = "", 0
        self._counted: set[str] = set()
        self._bits = 1

    def term(self, op: Op, args: tuple[Term, ...], shape: Shape, data: object = None) -> Term:
        """The one term with this operator and these arguments."""
        key = op, args, shape, data
        found = self._terms.get(key)
        if found is None:
            found = self._terms[key] = Term(op, args, shape, data)
        return found

    @property
    def terms_made(self) -> int:
        """How many terms were made."""
        return len(self._terms)

    def shape(
        self, of: Of, name: str = "", inner: Sequence[Shape] = (), variants: Variants = ()
    ) -> Shape:
        """The one shape with this declaration."""
        key = of, name, tuple(inner), variants
        found = self._shapes.get(key)
        if found is None:
            found = self._shapes[key] = Shape(of, name, tuple(inner), variants)
        return found

    def const(self, name: str, shape: Shape) -> Term:
        """The constant of that name."""
        found = self.term("constant", (), shape, name)
        if not found.free:
            found.free = self._bits
            self._bits <<= 1
        return found

    def fresh(self, name: str, shape: Shape) -> Term:
        """A new constant; its name begins with `name`."""
        self._count += 1
        return self.const(f"{name}!{self._about}{self._count}", shape)

    @contextmanager
    def counting(self, about: str) -> Generator[None]:
        """A block in which fresh constants have numbers of their own and `about` in their names.

        So the terms made in it do not depend on earlier ones. Each name may be used once.
        """
        assert about not in self._counted
        self._counted.add(about)
        before = self._about, self._count
        self._about, self._count = f"{about.replace(' ', '-')}.", 0
        try:
            yield
        finally:
            self._about, self._count = before

    def again(self, name: Term) -> Term:
        """A new constant with the shape and the name of this one, under another number."""
        return self.like(str(name).split("!")[0], name)

    def like(self, name: str, term: Term) -> Term:
        """A new constant with the shape of a term."""
        return self.fresh(name, term.shape)
