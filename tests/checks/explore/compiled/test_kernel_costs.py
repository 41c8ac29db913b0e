"""What the search over packed words costs, as numbers of calls: no broken optimisation shows in
what is found, and no clock tells it from load."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from concurrent import futures
from dataclasses import dataclass
from typing import Self

import pytest

from lawful import Machine
from lawful.checks.explore.compiled import arrays, llvm, pace, threads
from lawful.checks.explore.compiled.engine import Tier, search
from lawful.checks.explore.expansion.successors import Text
from lawful.checks.explore.limits import Limits
from lawful.checks.explore.native import kernel_rows
from lawful.checks.explore.space import Space
from tests.checks.explore.compiled.both_engines import flat_of
from tests.checks.explore.compiled.counted_kernel import CountedKernel
from tests.classics.fifo import Fifo
from tests.classics.lamport_mutex import LamportMutex
from tests.classics.two_phase import TwoPhase

TIERS: tuple[Tier, ...] = ("compiled", "generated")


@dataclass(frozen=True)
class Case:
    """A search, and what it costs."""

    cls: type[Machine]
    costs: Mapping[str, int]
    states: int | None = None
    places: int = arrays.PLACES
    workers: int = 1


# 1,146 steps and the start; 290 of them lead to what was not met a moment ago. Each of those is
# looked for in one group, and two are there; each of the others is looked for once more, when it is
# known that it is new, and its place is.
SIMPLE = {"mixed": 1_146, "prefetch": 290 + 2, "held": 288, "acquired": 2, "scanned": 290 + 576}
CASES = {
    "simple": Case(TwoPhase, SIMPLE),
    # The table is doubled four times: of each group it is seen once whether it is full, and split
    # or moved as a whole. No state is hashed again.
    "growing": Case(TwoPhase, SIMPLE | {"scanned": 990, "enter": 5}, places=64),
    # Of 23 states that have the likely one 19 are it, and are not looked for again.
    "known": Case(
        Fifo, {"held": 1_204, "acquired": 23, "scanned": 4_153}, states=1_200, places=512
    ),
    # Each of the states that chunks lead to is looked for once more, and fetched ahead once more,
    # when it is kept.
    "team": Case(
        Fifo, {"held": 576, "prefetch": 604, "scanned": 1_273}, states=300, places=512, workers=2
    ),
    # Of the 6 pieces of each of 402 states 1,061 differ from those of the state before it.
    "folded": Case(
        LamportMutex,
        {"fold": 402, "piece_for": 1_061, "mixed_pair": 1_969, "held": 412},
        states=400,
    ),
}
BROKEN: dict[str, tuple[str, Mapping[str, str]]] = {
    "what was met a moment ago is forgotten": (
        "simple",
        {"copied(recent, near, out, e * WORDS, WORDS)": "near += 0"},
    ),
    "memory is not fetched ahead": (
        "simple",
        {"prefetch(table, hashes[k] >> 32 & mask & WHOLE)": "control[MASK] = mask"},
    ),
    "states are not fetched ahead": ("simple", {"prefetch(store, number * ROOT)": "number += 0"}),
    "no state is told by its hash": (
        "simple",
        {"like = found & GROUPED": "like = ~(found >> GROUP) & GROUPED"},
    ),
    "no state is likely": ("known", {"likely[k] = number": "likely[k] = -1"}),
    "groups overlap": ("known", {"place + GROUP & mask": "place + 1 & mask"}),
    "each state is entered anew": (
        "growing",
        {"if full_before(place):": "if mask:", "if behind:": "if mask:"},
    ),
    "each piece is looked up": ("folded", {"if like >= 0:": "if like > LOW:"}),
    "a team looks for each state": (
        "team",
        {"for j in range(winnowed(0, left)):\n        k = doubtful[j]": "for k in range(left):"},
    ),
    "a team fetches nothing before it keeps states": (
        "team",
        {"prefetch(table, fresh[k] >> 32 & mask & WHOLE)": "mask += 0"},
    ),
    "a team looks for no likely state": (
        "team",
        {"look_ahead(0, left)\n": "for k in range(left):\n        likely[k] = -1\n"},
    ),
    "a team keeps what is known until its turn": (
        "team",
        {"held(hashes[k], k, 0) < 0": "k >= 0"},
    ),
    "hashes are of some words only": ("folded", {"factor += 0x9E3779B97F4A7C16": "factor += 0"}),
}


class AtOnce:
    """Stands in for an executor: it does what it is given at once, so that one thread of two does
    the work of both."""

    def __init__(self, count: int) -> None:
        assert count == 1

    def submit(self, work: Callable[..., int], *given: object) -> Self:
        """The work is done, and has no result."""
        work(*given)
        return self

    def result(self) -> None:
        """There is none."""


def searched(
    case: Case, monkeypatch: pytest.MonkeyPatch, changed: Mapping[str, str]
) -> Counter[str]:
    """The calls of a search, which finds what plain steps find."""
    made = list[CountedKernel]()

    def compiled(text: Text) -> CountedKernel:
        made.append(CountedKernel(text, changed))
        return made[-1]

    monkeypatch.setattr(llvm, "compiled", compiled)
    monkeypatch.setattr(arrays, "PLACES", case.places)
    flat, resolved = flat_of(case.cls)
    monkeypatch.setattr(futures, "ThreadPoolExecutor", AtOnce)
    monkeypatch.setattr(threads, "LEAST", 1)
    monkeypatch.setattr(kernel_rows, "CHUNK", 4)
    monkeypatch.setattr(pace, "SECONDS", 1e9)  # No span is shorter where the machine is slow.
    space, limits = Space(flat, resolved.world), Limits(workers=case.workers, states=case.states)
    found, plainly = (search(space, limits, tier=tier) for tier in TIERS)
    assert (found.count, found.generated) == (plainly.count, plainly.generated)
    mine, theirs = (dict(each.store.kept(each.count)) for each in (found, plainly))
    assert {name: bytes(kept) for name, kept in mine.items()} == theirs
    return made[0].calls


@pytest.mark.parametrize("name", CASES)
def test_the_search_costs_so_many_calls(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = CASES[name]
    calls = searched(case, monkeypatch, {})
    assert {key: calls[key] for key in case.costs} == case.costs


@pytest.mark.parametrize("broken", BROKEN)
def test_what_an_optimisation_saves_is_noticed(
    broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without it the search finds the same, and costs something else."""
    name, changed = BROKEN[broken]
    calls = searched(CASES[name], monkeypatch, changed)
    assert {key: calls[key] for key in CASES[name].costs} != CASES[name].costs
