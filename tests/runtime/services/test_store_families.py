"""Stored instances with families of parts come back from the rows alone, under every policy."""

from __future__ import annotations

from random import Random
from typing import Annotated, get_args

import pytest
from annotated_types import MaxLen

from lawful import Machine, Nat, Refused, Sort, require, transition
from lawful.runtime.store import Policy, Store


class Name(Sort):
    """A name."""


class Part(Machine):
    n: Nat = 0
    q: Annotated[list[Nat], MaxLen(60)] = []
    m: dict[Nat, Nat] = {}

    @transition
    def bump(self, x: Nat) -> None:
        self.n += 1
        self.q.append(x)
        self.m[x] = self.n


class Outer(Machine):
    parts: dict[Nat, Part] = {}

    @transition
    def make(self, k: Nat) -> None:
        self.parts[k] = Part()

    @transition
    def bump(self, k: Nat, x: Nat) -> None:
        require(k in self.parts)
        self.parts[k].bump(x)


class Whole(Machine):
    parts: dict[Nat, Part] = {}
    named: dict[Name, Part] = {}
    outer: dict[Nat, Outer] = {}
    one: Part = Part()

    @transition
    def make(self, k: Nat) -> None:
        self.parts[k] = Part()

    @transition
    def name(self, k: Name) -> None:
        self.named[k] = Part()

    @transition
    def under(self, k: Nat, x: Nat) -> None:
        if k not in self.outer:
            self.outer[k] = Outer()
        self.outer[k].make(x)

    @transition
    def bump_under(self, k: Nat, x: Nat) -> None:
        require(k in self.outer)
        self.outer[k].bump(x, k)

    @transition
    def bump(self, k: Nat, x: Nat) -> None:
        require(k in self.parts)
        self.parts[k].bump(x)

    @transition
    def bump_named(self, k: Name, x: Nat) -> None:
        require(k in self.named)
        self.named[k].bump(x)

    @transition
    def drop(self, k: Nat) -> None:
        require(k in self.parts)
        del self.parts[k]

    @transition
    def bump_one(self, x: Nat) -> None:
        self.one.bump(x)


def some_event(whole: Whole, rng: Random) -> None:
    k, x, name = rng.randrange(4), rng.randrange(4), Name(rng.choice("abc"))
    match rng.randrange(8):
        case 0:
            whole.make(k)
        case 1:
            whole.name(name)
        case 2:
            whole.under(k, x)
        case 3:
            whole.bump_under(k, x)
        case 4:
            whole.bump(k, x)
        case 5:
            whole.bump_named(name, x)
        case 6:
            whole.drop(k)
        case _:
            whole.bump_one(x)


@pytest.mark.parametrize("policy", get_args(Policy))
def test_families_come_back_from_rows(policy: Policy) -> None:
    restored = 0
    for seed in range(6):
        rng = Random(f"{policy} {seed}")
        with Store(":memory:") as store:
            whole = store.add(Whole(universe={Name: ["a", "b", "c"]}), "a")
            for _ in range(40):
                try:
                    some_event(whole, rng)
                except Refused:
                    continue
                if rng.random() < 0.1:
                    store.snapshot("a")
                if rng.random() < 0.3:
                    before = whole
                    whole = store.restore(Whole, "a", policy=policy)
                    assert whole == before
                    restored += 1
    assert restored > 40


def test_two_parts_of_a_family_come_back() -> None:
    with Store(":memory:") as store:
        whole = store.add(Whole(universe={Name: ["a"]}), "a")
        whole.make(1)
        whole.make(2)
        whole.bump(2, 3)
        assert store.restore(Whole, "a") == whole
        assert [whole.parts[k].n for k in (1, 2)] == [0, 1]
