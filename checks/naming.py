"""Constants of one Z3 context, each with a name that nothing else has."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from .foreign import Shape, Term, inner, z3


class Naming:
    """A Z3 context, and how often a constant was named in it."""

    def __init__(self) -> None:
        self.context: Any = z3.Context()
        self._about, self._count = "", 0
        self._counted: set[str] = set()

    def fresh(self, name: str, shape: Shape) -> Term:
        """A constant that occurs nowhere else."""
        self._count += 1
        return Term(z3.Const(f"{name}!{self._about}{self._count}", shape))

    @contextmanager
    def counting(self, about: str) -> Generator[None]:
        """Until the end, constants are counted by themselves: whatever else was made before, what
        this is about is made of the same terms. It can be done once for the same."""
        assert about not in self._counted
        self._counted.add(about)
        before = self._about, self._count
        self._about, self._count = f"{about.replace(' ', '-')}.", 0
        try:
            yield
        finally:
            self._about, self._count = before

    def again(self, name: Term) -> Term:
        """Another constant of the same shape, named alike."""
        return self.like(str(name).split("!")[0], name)

    def like(self, name: str, term: Term) -> Term:
        """A constant that occurs nowhere else, of the shape of a term."""
        return self.fresh(name, Shape(inner(term).sort()))

    def const(self, name: str, shape: Shape) -> Term:
        """The constant of that name."""
        return Term(z3.Const(name, shape))
