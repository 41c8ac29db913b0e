"""Machine code writes nothing behind the arrays that it is given."""

from __future__ import annotations

import ctypes
from typing import Annotated, Any

import numpy as np
import pytest
from annotated_types import Interval

from lawful import Machine, Scope, transition
from lawful.checks.explore.compiled import arrays, threads, typed_memory
from lawful.checks.explore.compiled.engine import search
from lawful.checks.explore.compiled.memory import Memory
from lawful.checks.explore.compiled.typed_memory import INT64
from lawful.checks.explore.limits import Limits
from lawful.checks.explore.native import kernel_rows
from lawful.checks.explore.space import Space
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from tests.classics.two_phase import TwoPhase

UNTOUCHED = -7_777_777
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


@pytest.fixture
def guarded(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The arrays that are made from now on, each twice as long as it is said to be: nobody is to
    touch its second half."""
    whole = list[Any]()

    def zeros(size: int, kind: typed_memory.Kind = INT64) -> Any:
        if size == 0 or kind != INT64:
            return typed_memory.zeros(size, kind)
        held = bytearray(2 * size * 8)
        made: Any = np.frombuffer(held, np.int64)
        made[size:] = UNTOUCHED
        whole.append(made)
        first_half: Any = (ctypes.c_int64 * size).from_buffer(held)  # It does not grow there.
        return typed_memory.viewed(first_half, kind)

    monkeypatch.setattr(arrays, "zeros", zeros)
    return whole


def untouched(whole: list[Any]) -> bool:
    return all((made[len(made) // 2 :] == UNTOUCHED).all() for made in whole)


def space_of(cls: type[Machine], scope: Scope | None = None) -> Space:
    resolved = resolve(cls)
    return Space(lower(resolved.machine, scope or resolved.scopes["scope"]), resolved.world)


def test_nothing_is_written_behind_the_arrays_of_one_thread(guarded: list[Any]) -> None:
    """A state leads to more new states than are gathered before they are looked up."""
    found = search(space_of(Pairs), Limits(states=20_000, workers=1), tier="compiled")
    assert found.count >= 20_000
    filled = [made for made in guarded if len(made) > 2 * kernel_rows.BATCH]
    assert len(filled) > 5 and any(made[kernel_rows.BATCH] != 0 for made in filled)
    assert untouched(guarded)


@pytest.mark.nightly
def test_nothing_is_written_behind_the_arrays_of_several_threads(
    guarded: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each place for a chunk of states is used."""
    monkeypatch.setattr(threads, "LEAST", 2 * kernel_rows.CHUNK)
    found = search(space_of(TwoPhase, Scope(RM=6)), Limits(workers=2), tier="compiled")
    assert found.count == 50_816 and isinstance(found.store, Memory)
    size = 2 * len(found.store.arrays.fresh)
    rows = [
        made[: size // 2].reshape(kernel_rows.SLOTS, -1) for made in guarded if len(made) == size
    ]
    assert any((fresh[:, 0] != 0).all() for fresh in rows)  # A hash.
    assert untouched(guarded)
