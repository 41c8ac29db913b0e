"""Guards that follow from the invariants and from the guards before them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lawful.checks.prove import prove, redundant_guards
from lawful.checks.prove.nonvacuity import transitions_seen
from lawful.cli import main
from lawful.commands import prove as command
from lawful.commands.options import ProveOptions
from lawful.spec.lower import lower
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


GATES = """
class Door(State):
    OPEN = "open"
    SHUT = "shut"


class Gates(Machine):
    door: Door = Door.OPEN
    wing: Door = Door.OPEN
    inside: Nat = 0
    known: set[Nat] = set()
    bell: Timer = Timer()

    @transition(source=Door.OPEN, of="door")
    def enter(self, n: Nat) -> None:
        require(n > 0, "somebody")
        require(self.door == Door.OPEN, "as the header says")
        require(n != 0, "as the first guard says")
        require(self.inside + n < 3, "is full")
        self.inside += n
        self.known.add(n)
        require(self.inside != 1, "comes after a change")

    @transition(target=Door.SHUT, of="door")
    def shut(self) -> None:
        require(self.inside >= 0, "as the type says")
        self.bell.start(5)

    @transition(source=Door.SHUT, of="wing")
    def wait(self) -> None:
        require(self.inside < 0, "never happens")

    @transition()
    def greet(self, n: Nat) -> None:
        require(n in self.known, "a stranger")

    @transition(timer="bell")
    def ring(self) -> None:
        require(self.door == Door.SHUT, "as it was when the bell was set")

    scope = Scope(Nat=range(0, 3))
"""


def test_a_guard_that_refuses_in_a_reached_state_is_needed() -> None:
    """Where the header, or a guard before it, does not refuse; and whether Z3 would decide it."""
    found = resolve(texts.last_machine(texts.module(GATES)))
    walked = transitions_seen(lower(found.machine, found.scopes["scope"]), found.world)
    guards = {(row.name, g.place): g for row in found.machine.transitions for g in all_of(row)}
    said = sorted((name, guards[name, place].why.value) for name, place in walked.needed)
    assert said == [("enter", "is full"), ("enter", "somebody"), ("greet", "a stranger")]


def all_of(row: Any) -> Any:
    return redundant_guards.guards(row)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """An element for each guard about which Z3 is asked."""
    found: list[int] = []

    def counted(*given: Any) -> Any:
        found.append(1)
        return ask(*given)

    ask = vars(redundant_guards)["ask"]
    monkeypatch.setattr(redundant_guards, "ask", counted)
    return found


def test_of_a_guard_that_is_needed_nobody_asks_z3(
    asked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "workers", lambda: 1)
    cls = texts.last_machine(texts.module(GATES))
    how = ProveOptions((cls.__module__,), method="induction", no_cache=True)
    result = command.proved(cls, how, lambda told: None)
    assert len(asked) == 5  # Of eight.
    assert [(g.transition, g.text) for g in result.redundant_guards] == [
        ("enter", "self.door == Door.OPEN"),
        ("enter", "n != 0"),
        ("shut", "self.inside >= 0"),
    ]


def test_lock_asks_z3_of_the_same_guards(
    asked: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # Where nothing is known of any guard.
    path = tmp_path / "gates.py"
    path.write_text(texts.HEAD + GATES, encoding="utf-8")
    assert main(["lock", str(path), "--file", str(tmp_path / "lawful.lock"), "--quiet"]) == 0
    assert len(asked) == 5
