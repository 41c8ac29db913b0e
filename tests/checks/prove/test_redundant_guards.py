"""Guards that follow from the invariants and from the guards before them."""

from __future__ import annotations

from lawful.checks.prove import prove
from lawful.spec.resolve import resolve
from tests.spec import texts

GUARDED = """
class Guarded(Machine):
    low: int = 0
    high: int = 0
    odd: int = 0

    @transition()
    def up(self, by: int) -> None:
        require(by > 1, "forward")
        require(by != 0, "not nothing")
        require(self.low <= self.high, "as the invariant says")
        require(self.odd % 2 == 0, "as what is not proved says")
        self.high += by

    @transition()
    def follow(self) -> None:
        require(self.low < self.high)
        if self.odd > 3:
            require(self.low != self.high)
        self.low += 1

    @transition()
    def never(self) -> None:
        require(self.low > self.high)
        require(self.low > self.high)

    @transition()
    def spoil(self, by: int) -> None:
        self.odd = by

    @invariant
    def ordered(self) -> bool:
        return self.low <= self.high

    @invariant
    def even(self) -> bool:
        return self.odd % 2 == 0
"""


def test_only_what_follows_is_needless() -> None:
    result = prove(resolve(texts.last_machine(texts.module(GUARDED))).machine, sizes={})
    assert [(g.transition, g.text) for g in result.redundant_guards] == [
        ("up", "by != 0"),
        ("up", "self.low <= self.high"),
        ("follow", "self.low != self.high"),
    ]


SUMS = """
class Sums(Machine):
    sums: dict[int, int] = {}
    most: int = 0

    @transition()
    def put(self, k: int, by: int) -> None:
        require(by > 0)
        self.sums[k] = self.sums.get(k, 0) + by
        self.most = max(self.most, self.sums[k])

    @transition()
    def see(self, k: int, j: int) -> None:
        require(k in self.sums and j in self.sums)
        require(self.sums[k] + self.sums[j] <= 2 * self.most, "as the invariant says")
        self.most += 1

    @invariant
    def bounded(self) -> bool:
        return all(n <= self.most for n in self.sums.values())
"""


def test_what_follows_by_a_search_is_needless() -> None:
    """Simplification does not show it: Z3 takes some hundred units of the budget of a guard."""
    result = prove(resolve(texts.last_machine(texts.module(SUMS))).machine, sizes={})
    assert [(g.transition, g.text) for g in result.redundant_guards] == [
        ("see", "self.sums[k] + self.sums[j] <= 2 * self.most")
    ]
