"""Which variables a function reads."""

from __future__ import annotations

import pytest

from lawful import Machine, Nat, Param, can, invariant, transition
from lawful.spec.analysis.reads import variables_read
from lawful.spec.resolve import resolve


class Part(Machine):
    count: Nat = 0

    @transition()
    def more(self) -> None:
        self.count += 1


class Reader(Machine):
    a: Nat = 0
    b: Nat = 0
    c: Nat = 0
    limit: Param[int] = 3
    part: Part = Part()

    @transition()
    def more(self) -> None:
        self.part.more()

    def low(self, n: int) -> bool:
        return n < self.limit

    def high(self) -> bool:
        return not self.low(self.b)

    @invariant
    def one(self) -> bool:
        return self.a == 0

    @invariant
    def by_helpers(self) -> bool:
        return self.high() and self.c == 0

    @invariant
    def of_a_part(self) -> bool:
        return self.part.count > 0

    @invariant
    def none(self) -> bool:
        return True

    @invariant
    def all_of_it(self) -> bool:
        return can(self.more)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("one", {"a"}),
        ("by_helpers", {"b", "c", "limit"}),
        ("of_a_part", {"part"}),
        ("none", set[str]()),
        ("all_of_it", None),
    ],
)
def test_what_a_function_reads(name: str, expected: set[str] | None) -> None:
    machine = resolve(Reader).machine
    function = next(p.function for p in machine.properties if p.name == name)
    assert variables_read(function, {f.name: f for f in machine.functions}) == expected
