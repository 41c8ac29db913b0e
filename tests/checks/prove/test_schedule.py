"""In which order processes get the cases of an induction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from lawful import Machine, Nat, invariant, transition
from lawful.checks.prove import schedule
from lawful.checks.prove.induction import Induction
from lawful.spec.lower import sized
from lawful.spec.resolve import resolve


class Counts(Machine):
    here: Nat = 0
    there: Nat = 0

    @transition()
    def small(self) -> None:
        self.here = 1

    @transition()
    def large(self, n: Nat, m: Nat) -> None:
        self.here = n + m if n > self.there else self.there
        self.there = m + 1 if self.here > m else n

    @transition()
    def medium(self, n: Nat) -> None:
        self.here += n

    @invariant
    def is_natural(self) -> bool:
        return self.here >= 0


@pytest.mark.parametrize(
    ("workers", "order"),
    [
        (1, ["the start", "small", "large", "medium"]),
        (2, ["large", "medium", "small", "the start"]),
    ],
)
def test_several_processes_take_the_largest_cases_first(
    workers: int, order: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[str] = []

    def nothing_done(do: Any, died: Any, items: Sequence[Any], among: int) -> Iterator[Any]:
        given.extend(rows[0][0] for rows in items)
        assert among == workers
        return iter(())

    monkeypatch.setattr(schedule, "map_unordered", nothing_done)
    induction = Induction(sized(resolve(Counts).machine, {}), workers=workers)
    asked = list(induction.questions())
    assert list(schedule.answers(induction, asked)) == []
    assert given == order
