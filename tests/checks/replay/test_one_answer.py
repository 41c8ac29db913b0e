"""A batch, increments, a stream, columns, a store, Spark and this process give one answer.

The law is `differences`: of any trace, however it is spoilt, all ways to replay answer as the
replay row by row in this process does.
"""

from __future__ import annotations

import itertools
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from lawful.checks.replay import ReplayProgram
from tests.checks.replay import answers
from tests.checks.replay.answers import Answer, Parts
from tests.checks.replay.conftest import NEEDS_SPARK
from tests.checks.replay.spoilt_traces import Spoilt, Trace, journals, orders, spoilt

Way = Callable[[ReplayProgram, Parts, Path], Answer]
HERE: dict[str, Way] = {
    "columns": answers.by_columns,
    "store": answers.by_store,
    "increments": answers.by_increments,
}
ORDERS = -1
FEW_SEEDS = (ORDERS, ORDERS, 6, 7)


def differences(trace: Trace, how: Spoilt, ways: Mapping[str, Way]) -> tuple[Answer, list[str]]:
    """The answer row by row, and the ways that answer otherwise."""
    parts = how.of(trace)
    with tempfile.TemporaryDirectory() as name:
        wanted = answers.row_by_row(trace.program, parts, Path(name))
    found: list[str] = []
    for way, run in ways.items():
        with tempfile.TemporaryDirectory() as name:
            given = run(trace.program, parts, Path(name))
        found += [f"{trace.name}: {way}: {each}" for each in _unlike(wanted, given, way)]
    return wanted, found


def _unlike(wanted: Answer, given: Answer, way: str) -> list[str]:
    if way == "stream":
        wanted = replace(wanted, covered={})
    names = ("verdicts", "sums", "findings", "covered", "rejected")
    pairs = ((name, getattr(wanted, name), getattr(given, name)) for name in names)
    return [f"{name}: {other}, not {mine}" for name, mine, other in pairs if mine != other]


def judged(
    seeds: st.SearchStrategy[int], folder: Path, ways: Mapping[str, Way], most: int
) -> Counter[str]:
    """Compare spoilt traces of random machines; how many instances had each verdict."""
    verdicts: Counter[str] = Counter()

    @settings(max_examples=most, phases=PHASES)
    @given(seeds, st.integers(0, 3), spoilt())
    def law(seed: int, form: int, how: Spoilt) -> None:
        traces = orders() if seed < 0 else journals(seed, folder)
        trace = traces[form % len(traces)] if traces else None
        if trace is not None and any(map(str.strip, itertools.chain(*how.of(trace)))):
            wanted, found = differences(trace, how, ways)
            assert found == []
            verdicts.update(wanted.verdicts.values())

    law()
    return verdicts


PHASES = (Phase.generate,)  # Machines are not made smaller, and a trace takes seconds on Spark.


def test_every_way_in_this_process(tmp_path: Path) -> None:
    verdicts = judged(st.sampled_from(FEW_SEEDS), tmp_path, HERE, 30)
    assert all(verdicts[name] for name in ("fits", "deviates", "quarantined"))


@pytest.mark.nightly
def test_many_machines_in_this_process(tmp_path: Path) -> None:
    verdicts = judged(st.integers(-40, 150), tmp_path, HERE, 500)
    assert min(verdicts[name] for name in ("fits", "deviates", "quarantined")) > 100


SPARK_EXAMPLES = 12


def on_spark(session: Any) -> dict[str, Way]:
    return {
        "spark": answers.on_spark(session),
        "increments on spark": answers.increments_on_spark(session),
        "stream": answers.as_stream(session),
    }


@pytest.mark.nightly
@NEEDS_SPARK[0]
@NEEDS_SPARK[1]
def test_random_machines_on_spark(session: Any, tmp_path: Path) -> None:
    """So few examples need not have every verdict: those of the test above have."""
    verdicts = judged(st.integers(-40, 400), tmp_path, on_spark(session), SPARK_EXAMPLES)
    assert verdicts.total() >= SPARK_EXAMPLES
