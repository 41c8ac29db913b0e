"""Machine code writes nothing behind the arrays that it is given."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import pytest
from annotated_types import Interval

from lawful import Machine, Scope, transition
from lawful.checks.explore.compiled import arrays, kernel_rows, threads
from lawful.checks.explore.compiled.engine import search
from lawful.checks.explore.limits import Limits
from lawful.checks.explore.space import Space
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve

BEHIND, UNTOUCHED = 64, -7_777_777
Digit = Annotated[int, Interval(ge=0, le=499)]


class Pairs(Machine):
    """A state has 500 successors, all but itself new until somebody else finds them."""

    a: Digit = 0
    b: Digit = 0

    @transition()
    def first(self, to: Digit) -> None:
        self.a = to

    @transition()
    def second(self, to: Digit) -> None:
        self.b = to

    deadlock_ok = True
    scope = Scope()


@pytest.mark.parametrize("workers", [1, 2])
def test_nothing_is_written_behind_an_array(workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A state has as many successors as are gathered before they are looked up, and one less."""
    whole = list[Any]()

    def guarded(size: int) -> Any:
        made = np.full(size + BEHIND, UNTOUCHED, np.int64)
        made[:size] = 0
        whole.append(made)
        return made[:size]

    monkeypatch.setattr(arrays, "_zeros", guarded)
    monkeypatch.setattr(threads, "LEAST", 2 * kernel_rows.CHUNK)
    resolved = resolve(Pairs)
    space = Space(lower(resolved.machine, resolved.scopes["scope"]), resolved.world)
    found = search(space, Limits(states=20_000, workers=workers), tier="compiled")
    assert found.count >= 20_000
    filled = [made for made in whole if len(made) > kernel_rows.BATCH + BEHIND]
    assert len(filled) > 5 * workers
    assert all((made[-BEHIND:] == UNTOUCHED).all() for made in whole)
    assert any(made[kernel_rows.BATCH] != 0 for made in filled)
