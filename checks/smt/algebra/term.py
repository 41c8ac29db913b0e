"""Terms and their shapes, hash-consed: within one logic, equal terms are one object.

`logic` builds them; only `solver.z3_terms` makes Z3's objects of them. A term knows which constants
occur in it, and has a digest of its content, which is the same in every process.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from fractions import Fraction
from typing import Literal, cast, final

Of = Literal["bool", "int", "real", "array", "sort", "data"]
Variants = tuple[tuple[str, tuple[tuple[str, "Shape"], ...]], ...]
Op = Literal[
    "constant",
    "value",
    "true",
    "false",
    "not",
    "and",
    "if",
    "=",
    "forall",
    "lambda",
    "apply",
    "+",
    "*",
    "-",
    "div",
    "mod",
    "<=",
    "real",
    "floor",
    "select",
    "store",
    "everywhere",
    "make",
    "is",
    "field",
    "size",
]


@final
class Shape:
    """The shape of terms: truth, numbers, arrays, uninterpreted sorts, or datatypes.

    `inner` are an array's key and value; `variants` those of a datatype, with their fields.
    """

    __slots__ = ("digest", "inner", "name", "of", "variants")

    def __init__(
        self, of: Of, name: str = "", inner: tuple[Shape, ...] = (), variants: Variants = ()
    ) -> None:
        self.of: Of = of
        self.name = name
        self.inner = inner
        self.variants = variants
        fields = [(v, [(f, s.digest) for f, s in row]) for v, row in variants]
        content = repr((of, name, [s.digest for s in inner], fields))
        self.digest: bytes = _digest(content.encode())


class Term:
    """One term. `data` is what its operator needs besides its arguments: a name, a number, the
    constants that a quantifier binds, or the variant of a datatype and the index of a field.

    `free` has a bit for each constant that occurs free in it. `above` is greater than the number of
    every name that is bound in it.
    """

    __slots__ = ("above", "args", "data", "digest", "free", "op", "shape")

    def __init__(self, op: Op, args: tuple[Term, ...], shape: Shape, data: object) -> None:
        self.op: Op = op
        self.args = args
        self.shape = shape
        self.data = data
        self.free: int = 0
        self.above: int = 0
        self.digest: bytes = b""
        free = above = 0
        for arg in args:
            free |= arg.free
            above = max(above, arg.above)
        for name in bound(self):
            free &= ~name.free
            above = max(above, 1 + int(str(name.data).rpartition("?")[2]))
        self.free = free
        self.above = above
        content = b"".join(n.digest for n in bound(self)) or repr(data).encode()
        head = f"{op} {len(args)} {len(content)} ".encode() + content + shape.digest
        self.digest = _digest(head + b"".join([arg.digest for arg in args]))

    def __str__(self) -> str:
        if self.op in ("constant", "value"):
            return str(self.data)
        names = " ".join(map(str, bound(self)))
        data = names if names else "" if self.data is None else str(self.data)
        return f"({' '.join(filter(None, (self.op, data, *map(str, self.args))))})"


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()


def bound(term: Term) -> tuple[Term, ...]:
    """The constants that the term itself binds."""
    if term.op in ("forall", "lambda"):
        return cast(tuple[Term, ...], term.data)
    return ()


def is_value(term: Term) -> bool:
    """Whether it is a numeral."""
    return term.op == "value"


def numeral(term: Term) -> int:
    """The integer that it is."""
    return cast(int, term.data)


def fraction(term: Term) -> Fraction:
    """The rational number that it is."""
    return cast(Fraction, term.data)


def is_literal(term: Term) -> bool:
    """Whether it is `true` or `false`."""
    return term.op in ("true", "false")


def is_fixed(term: Term) -> bool:
    """Whether it is a literal: a number, or a constructor without fields."""
    return term.op == "value" or (term.op == "make" and not term.args)


def is_by_cases(term: Term) -> bool:
    """Whether it is an array that contains a lambda."""
    if term.op in ("store", "if") and term.shape.of == "array":
        return any(map(is_by_cases, term.args))
    return term.op == "lambda"


def conjuncts(term: Term) -> tuple[Term, ...]:
    """The conjuncts of a conjunction, none of which is a conjunction; else the term itself."""
    return term.args if term.op == "and" else (term,)


def occurs(name: Term, term: Term) -> bool:
    """Whether the constant occurs in the term."""
    return name.free & term.free != 0


def variant(term: Term) -> int:
    """The variant of a term made by a constructor, by its position in the datatype."""
    return cast(int, term.data)


def subterms(*terms: Term) -> Iterator[Term]:
    """The terms and all their subterms, each once."""
    seen: set[Term] = set()
    stack = [*terms]
    while stack:
        each = stack.pop()
        if each not in seen:
            seen.add(each)
            stack.extend(each.args)
            yield each


def constants(term: Term) -> Iterator[Term]:
    """The constants in the term, each once."""
    return (each for each in subterms(term) if each.op == "constant")
