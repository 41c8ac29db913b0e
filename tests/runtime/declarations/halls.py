"""A machine that has elements of a sort in every kind of place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lawful import Machine, Nat, Param, Record, Sort, assume, transition


class N(Sort):
    """Who takes part."""


class Pair(Record):
    one: N
    two: N | None


class Part(Machine):
    """A part that is made with parameters."""

    most: Param[Nat] = 1
    who: N | None = None

    @assume
    def few(self) -> bool:
        return self.most <= 3

    @transition()
    def take(self, who: N) -> None:
        self.who = who


class Hall(Machine):
    """Elements in every kind of place."""

    lim: Param[Nat] = 1
    owner: Param[N | None] = None
    one: N | None = None
    pair: Pair | None = None
    some: set[N] = set()
    row: list[N] = []
    at: dict[N, Nat] = {}
    inside: tuple[frozenset[Pair], ...] = ()
    parts: dict[N, Part] = {}
    flag: bool = False

    @assume
    def small(self) -> bool:
        return self.lim <= 3

    @transition()
    def take(self, n: N) -> None:
        self.one = n

    @transition()
    def take_pair(self, pair: Pair) -> None:
        self.pair = pair

    @transition()
    def take_some(self, some: frozenset[N]) -> None:
        self.some = set(some)

    @transition()
    def take_inside(self, inside: tuple[frozenset[Pair], ...]) -> None:
        self.inside = inside

    @transition()
    def perhaps(self, n: N | None) -> None:
        self.one = n

    @transition()
    def count(self, at: Mapping[bool, N]) -> None:
        self.one = at[True]

    @transition()
    def open(self, n: N, most: Nat) -> None:
        self.parts[n] = Part(most=most)


A, B, X = N("a"), N("b"), N("x")
TOLD: Any = {N: ["a", "b"]}
STRANGE = r"N\('x'\) is no element"


def hall(**more: Any) -> Hall:
    return Hall(universe=TOLD, **more)
