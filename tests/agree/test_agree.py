"""Random well-typed machines over the whole language: every engine does the same.

The shards of a run keep their counts in a folder; the last one to end sums them, and fails where
something was never met. `make agreement` runs these tests alone, on ten times as many machines,
and prints the sum at the end.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lawful import Scope
from lawful.spec.errors import DeclarationError
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from tests.agree import searching
from tests.agree.examine import HEAD, SOLVED, examine, mutated, refused, seeded, text_of
from tests.agree.hits import Hits
from tests.agree.kinds import NESTINGS
from tests.spec import texts

SHARDS = 10
MACHINES = int(os.environ.get("AGREE_MACHINES", "5"))  # Of a shard; a few are refused.
LONG = 105  # Of a shard of the long run, which begins where the short one ends.
# Seeds of what no machine before them has: nestings of types, and few more of what a run must meet.
# After a change of the generator the run names what it misses, and `AGREE_MACHINES=22` finds it.
RARE = (
    *(50, 56, 60, 64, 72, 75, 78, 90, 94, 106, 108, 110, 131, 133, 134, 136, 146, 152, 154, 157),
    *(165, 166, 169, 171, 175, 176, 177, 178, 180, 181, 183, 184, 185, 186, 187, 188, 193, 210),
    *(104, 213, 878),
)
MUTATED = 7  # One module of so many is mutated, too.
REFUSED = Path(__file__).parent.parent / "refused"
FOUND = Path(__file__).parent / "found"
NIGHTLY = pytest.mark.nightly
Note = Callable[[str, object], None]


@pytest.mark.parametrize("shard", range(SHARDS))
def test_all_engines_agree(shard: int, shared: Path, tmp_path: Path, record_property: Note) -> None:
    seeds = dict.fromkeys([*range(shard, SHARDS * MACHINES, SHARDS), *RARE[shard::SHARDS]])
    hits, differences = campaign(seeds, tmp_path)
    assert not differences
    hits.write(shared / f"{shard}.json")
    rows = [shared / f"{i}.json" for i in range(SHARDS)]
    if all(row.exists() for row in rows):
        whole = Hits()
        for row in rows:
            whole.take(json.loads(row.read_text(encoding="utf-8")).items())
        handed_back = searching.share(whole)  # Of the random machines, not of those once found.
        for path in sorted(REFUSED.glob("L*.py")):
            count_refusals(path, whole)
        for path in sorted(FOUND.glob("*.txt")):
            was = whole.rows["total refused"]
            assert not examine(path.read_text(encoding="utf-8"), Random(0), whole, tmp_path)
            assert whole.rows["total refused"] == was, path
        share = f"handed back in whole searches: {handed_back:.2%} of the states"
        table = [*whole.table(), share, "disagreements: 0"]
        record_property("agreement", "\n".join(table))
        assert not whole.missing()
        assert whole.rows["total machines that name an element"] > SHARDS
        assert whole.rows["total machines"] * 20 >= whole.rows["total modules"] * 19
        assert whole.rows["total refused"] * 20 < whole.rows["total modules"]
        unpacked = sum(n for name, n in whole.rows.items() if name.startswith("not packed "))
        assert unpacked * 50 <= whole.rows["total packed machines"]
        assert handed_back < 0.03  # Of few machines; of many, in the nightly run, below 0.01.


def campaign(seeds: Iterable[int], folder: Path) -> tuple[Hits, list[str]]:
    """What a run over these seeds met, and the first machine that the engines differ about."""
    hits = Hits()
    for seed in seeds:
        text = seeded(seed)
        found = examine(text, Random(f"run {seed}"), hits, folder, solved=seed % SOLVED == 0)
        if found:
            return hits, [f"seed {seed}", *found, text]
        if seed % MUTATED == 0:
            wrong = refused(mutated(text, Random(f"mutation {seed}")), hits)
            if wrong is not None:
                return hits, [f"mutation of seed {seed}", wrong, text]
    return hits, []


def count_refusals(path: Path, hits: Hits) -> None:
    """Each number has a wrong declaration of its own."""
    try:
        found = resolve(texts.last_machine(texts.load(path)))
        lower(found.machine, found.scopes.get("scope", Scope()))
    except DeclarationError as error:
        for problem in error.problems:
            hits.add("refusal", problem.number)


QUICK = settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.large_base_example,
    ],
)


@settings(parent=QUICK)
@given(rng=st.randoms(use_true_random=False), nesting=st.sampled_from(NESTINGS))
def test_engines_agree_on_what_hypothesis_draws(
    rng: Random, nesting: tuple[str, str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A failure here shrinks to the least module that shows it."""
    folder = tmp_path_factory.getbasetemp()
    text = text_of(rng, nesting)
    assert not examine(text, Random(0), Hits(), folder), text


@NIGHTLY
@pytest.mark.parametrize("shard", range(10))
def test_engines_agree_in_a_long_run(shard: int, tmp_path: Path) -> None:
    first = 50 + shard * LONG
    _, differences = campaign(range(first, first + LONG), tmp_path)
    assert not differences


@NIGHTLY  # `test_all_engines_agree` ends with one run of each.
@pytest.mark.parametrize("path", sorted(FOUND.glob("*.txt")), ids=lambda path: path.stem)
def test_what_once_differed_agrees(path: Path, tmp_path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    hits = Hits()
    for seed in range(8):
        assert not examine(text, Random(seed), hits, tmp_path, solved=seed == 0)
    assert hits.rows["total machines"] == 8


def test_the_generator_does_not_depend_on_the_hash_seed() -> None:
    assert texts.module(seeded(7), HEAD).__name__ == texts.module(seeded(7), HEAD).__name__
    assert seeded(7) == seeded(7) != seeded(8)


@pytest.fixture(autouse=True)
def no_warnings() -> None:
    """Python warns of what a mutation makes of a text."""
    warnings.simplefilter("ignore", SyntaxWarning)
