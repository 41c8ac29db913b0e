"""Which random machines the fast engine refuses, by seed, with the reason: as it was and as it is;
and which share of the states of the others it hands back.

`refused/095ba0f.txt` has what that commit refused of the same machines. `REFUSALS=write` writes the
list of today anew; that takes three minutes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from lawful.checks.explore.expansion.successors import Stepping
from lawful.checks.explore.layout.layouts import NotGenerated
from lawful.checks.explore.space import Space
from lawful.spec.errors import DeclarationError
from lawful.spec.resolve import resolve
from tests.agree import planning, searching
from tests.agree.examine import HEAD, forget, seeded
from tests.agree.hits import Hits
from tests.spec import texts

FOLDER = Path(__file__).parent / "refused"
BEFORE, TODAY = FOLDER / "095ba0f.txt", FOLDER / "today.txt"
FOUND = sorted((Path(__file__).parent / "found").glob("*.txt"))
SEEDS = 2_100
FEW = (*range(20), 83, 88, 162, 295, 665, 839, 1199)  # Some with wide sets, and refused ones.


def refused(seeds: Iterable[int], hits: Hits | None = None) -> tuple[int, dict[int, str]]:
    """How many machines of these seeds have a scope, and why the fast engine refuses some. Where
    `hits` are given, the others are searched, and it counts the states that are handed back."""
    count, found = 0, dict[int, str]()
    for seed, space in spaces(seeds):
        count += 1
        try:
            Stepping(space.flat, space.world, space)
        except NotGenerated as reason:
            found[seed] = str(reason)
        if hits is not None:
            searching.search(space, hits)
    return count, found


def spaces(seeds: Iterable[int]) -> Iterator[tuple[int, Space]]:
    """The machines of these seeds that have a scope."""
    for seed in seeds:
        try:
            space = planning.space(resolve(texts.machine(seeded(seed), HEAD)))
            if space is not None:
                yield seed, space
        except DeclarationError:
            continue
        finally:
            forget()


def listed(path: Path) -> tuple[int, dict[int, str]]:
    """The same from a list."""
    first, *rows = path.read_text(encoding="utf-8").splitlines()
    pairs = (row.split(" ", 1) for row in rows)
    return int(first.split()[0]), {int(seed): why for seed, why in pairs}


def test_at_most_two_in_a_hundred_are_refused() -> None:
    """More of the machines have a scope today than then."""
    (then, before), (machines, now) = listed(BEFORE), listed(TODAY)
    assert 1_800 < then <= machines
    assert len(before) * 4 > then
    assert len(now) * 50 <= machines


def test_some_of_the_list_of_today_are_what_is_refused() -> None:
    _, today = listed(TODAY)
    _, found = refused(FEW)
    assert found == {seed: why for seed, why in today.items() if seed in FEW}


def test_no_machine_that_once_differed_is_refused() -> None:
    for path in FOUND:
        space = planning.space(resolve(texts.machine(path.read_text(encoding="utf-8"), HEAD)))
        forget()
        if space is not None:
            Stepping(space.flat, space.world, space)


@pytest.mark.nightly
def test_what_is_refused_is_listed_and_less_than_one_in_a_hundred_states_is_handed_back() -> None:
    hits = Hits()
    machines, found = refused(range(SEEDS), hits)
    if os.environ.get("REFUSALS") == "write":
        rows = [f"{machines} machines with a scope", *(f"{s} {why}" for s, why in found.items())]
        TODAY.write_text("\n".join(rows) + "\n", encoding="utf-8")
    print(f"{searching.share(hits):.2%} of {hits.rows[f'total {searching.SEARCHED}']:,} states")
    assert (machines, found) == listed(TODAY)
    assert hits.rows[f"total {searching.SEARCHED}"] > 3_000
    assert searching.share(hits) < 0.01
