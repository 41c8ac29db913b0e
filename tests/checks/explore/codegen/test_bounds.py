"""How often the type inside a container is looked at for tests of its bounds."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from annotated_types import Interval

from lawful import Machine, Scope, transition
from lawful.checks.explore.codegen import bounds
from lawful.checks.explore.expansion.successors import stepping
from lawful.checks.explore.layout.layouts import Layout
from lawful.checks.explore.space import Space
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve

Key = Annotated[int, Interval(ge=0, le=99)]
Small = Annotated[int, Interval(ge=0, le=2)]


class Free(Machine):
    """No value of these has bounds that a step could break."""

    held: dict[Key, bool] = {}
    told: tuple[bool, ...] = ()

    @transition()
    def put(self, key: Key) -> None:
        self.held[key] = True
        self.told = self.told + (True,)

    scope = Scope(told=50)


class Bounded(Free):
    """Numbers have."""

    counted: dict[Annotated[int, Interval(ge=0, le=3)], Small] = {}

    @transition()
    def count(self, key: Annotated[int, Interval(ge=0, le=3)]) -> None:
        self.counted[key] = self.counted.get(key, 0) + 1


def looks(cls: type[Machine], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Where values are for which tests of bounds are sought."""
    tests: Any = vars(bounds)["_Tests"]
    found, looked = list[str](), tests.of

    def of(self: Any, layout: Layout, at: str) -> Any:
        found.append(at)
        return looked(self, layout, at)

    resolved = resolve(cls)
    space = Space(lower(resolved.machine, resolved.scopes["scope"]), resolved.world)
    with monkeypatch.context() as patch:
        patch.setattr(tests, "of", of)
        stepping(space)
    return found


def test_a_type_without_bounds_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not for each of a hundred keys, nor for each of fifty places of a list."""
    assert len(looks(Free, monkeypatch)) == 22
    assert len(looks(Bounded, monkeypatch)) == 48
