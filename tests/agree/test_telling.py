"""Exported modules of random machines do what the reference engine does, on random states."""

from __future__ import annotations

from pathlib import Path

import pytest

from lawful.checks.explore.layout.layouts import NotGenerated
from lawful.spec.errors import DeclarationError
from lawful.spec.resolve import resolve
from tests.agree import packing, planning
from tests.agree.examine import HEAD, forget, seeded
from tests.agree.telling import CannotWrite, as_tla, ours, told
from tests.spec import texts

COMPILED = sorted((Path(__file__).parent / "compiled").glob("*.txt"))
SHARDS = 10


def steps(text: str) -> int:
    """How many steps were compared on a few states; none of a machine that is not written."""
    try:
        space = planning.space(resolve(texts.machine(text, HEAD)))
        both = None if space is None else told(space)
        states = (
            [] if space is None else list(packing.states(packing.stepping(space), packing.STATES))
        )
    except (DeclarationError, NotGenerated, CannotWrite, ValueError):
        return 0  # A ValueError where a part's default breaks what it assumes.
    finally:
        forget()
    count = 0
    for state in states:
        if both is None:
            continue
        less, module = both
        wanted = ours(less, state)
        assert module.steps(as_tla(less.machine, state, less.machine)) == wanted
        count += len(wanted[0]) + len(wanted[1])
    return count


@pytest.mark.nightly
def test_every_operator_means_the_same_in_tla() -> None:
    counts = [steps(path.read_text(encoding="utf-8")) for path in COMPILED]
    assert sum(map(bool, counts)) > len(counts) / 2


@pytest.mark.nightly
@pytest.mark.parametrize("shard", range(SHARDS))
def test_random_machines_mean_the_same_in_tla(shard: int) -> None:
    assert sum(steps(seeded(seed)) for seed in range(shard, 400, SHARDS)) > 40
