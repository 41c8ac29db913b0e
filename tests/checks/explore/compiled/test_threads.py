"""Several threads find what one finds, in its order, and stop where it stops."""

from __future__ import annotations

from typing import Any

import pytest

from lawful import Machine, Scope, invariant, transition
from lawful.checks.explore.compiled import search_kernel, threads
from lawful.checks.explore.compiled.engine import PackedSearch, search
from lawful.checks.explore.limits import Limits
from lawful.checks.explore.space import Space
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from tests.classics.two_phase import TwoPhase


class Walk(Machine):
    """A corner of the plane; a wide level of many states, some of which break what is said."""

    x: int = 0
    y: int = 0
    z: int = 0

    @transition()
    def east(self) -> None:
        self.x += 1

    @transition()
    def north(self) -> None:
        self.y += 1

    @transition()
    def up(self) -> None:
        self.z += 1

    @invariant
    def near(self) -> bool:
        return self.x + 2 * self.y + 3 * self.z != 301

    deadlock_ok = True
    scope = Scope(int=range(0, 120))


def space_of(cls: type[Machine], scope: Scope | None = None) -> Space:
    resolved = resolve(cls)
    scope = scope or resolved.scopes["scope"]
    return Space(lower(resolved.machine, scope), resolved.world)


def found(space: Space, workers: int, **limits: Any) -> PackedSearch:
    return search(space, Limits(workers=workers, **limits), tier="compiled")


def told(s: PackedSearch) -> dict[str, Any]:
    failures = {name: (f.at, f.verdict, f.why) for name, f in s.failures.items()}
    return {
        "counts": (s.count, s.generated, s.depth, s.complete, s.expanded),
        "by": (s.enabled, s.new, dict(s.cut_by), failures, sorted(s.escaped)),
        "states": [tuple(s.store.words_of(n)) for n in range(0, s.count, 97)],
        "parents": [s.store.parent(n) for n in range(0, s.count, 89)],
    }


@pytest.mark.parametrize("workers", [2, 3])
def test_several_find_what_one_finds(workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = counted(monkeypatch)
    two_phase = space_of(TwoPhase, Scope(RM=6))
    one = told(found(two_phase, 1))
    assert not taken
    assert told(found(two_phase, workers)) == one
    assert sum(taken) > 30_000
    assert one["counts"][:2] == (50_816, 402_306)


def test_they_stop_where_one_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = counted(monkeypatch)
    space = space_of(Walk)
    for limits in ({}, {"states": 200_001}, {"states": 200_500}, {"first": True}):
        taken.clear()
        one = told(found(space, 1, **limits))
        assert told(found(space, 2, **limits)) == one
        assert bool(taken) == ("first" not in limits)  # Where it stops is one thread's to say.


def test_there_are_as_many_as_processors() -> None:
    assert 1 <= threads.processors() <= 4096
    assert threads.LEAST > search_kernel.CHUNK


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of states that the threads expand from now on."""
    taken: list[int] = []
    advance = threads.Workers.advance

    def noted(self: threads.Workers, span: Any) -> Any:
        stopped = advance(self, span)
        if stopped is not None:
            taken.append(stopped.next - span.next)
        return stopped

    monkeypatch.setattr(threads.Workers, "advance", noted)
    return taken
