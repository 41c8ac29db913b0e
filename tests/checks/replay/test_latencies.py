"""The times before transitions: quantiles that do not depend on the engine or the order."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful.checks.replay import ReplayProgram, ReplayResult, replay, replay_increment
from lawful.checks.replay.latencies import interval, quantiles
from lawful.checks.replay.mapping import mapping_of
from lawful.checks.report import replays
from tests.checks.replay.conftest import MISSING
from tests.checks.replay.foreign_logs import Span
from tests.checks.replay.journals import PROGRAM, worker, written

MAPPING = {"instance": "$.i", "seq": "$.n", "event": "$.e", "time": "$.t", "unit": "ms"}
PROGRAM_OF_SPANS = ReplayProgram((Span.lawful.ir,), mapping=mapping_of(MAPPING))


def spans() -> list[dict[str, Any]]:
    """Ten spans: each is logged after 100 ms and ends after as many seconds as its number."""
    told: list[dict[str, Any]] = []
    for i in range(10):
        times = (0, 100, 100 + 1000 * i)
        events = zip(("start", "log", "end"), times, strict=True)
        told += [{"i": f"s{i}", "n": n, "e": e, "t": t} for n, (e, t) in enumerate(events)]
    return told


def replayed(folder: Path, engine: Any = "local") -> ReplayResult:
    path = written(folder / "s.jsonl", spans())
    return replay([path], PROGRAM_OF_SPANS, engine)


WAITS = {
    "end": {"count": 10, "median": 4.12, "p90": 8.15, "p99": 9.43, "most": 9.43},
    "log": {"count": 10, "median": 0.101, "p90": 0.101, "p99": 0.101, "most": 0.101},
}


def test_quantiles_of_a_trace(tmp_path: Path) -> None:
    result = replayed(tmp_path)
    (machine,) = json.loads(json.dumps(result.to_json()))["machines"]
    assert machine["latencies"] == WAITS
    page = replays.html(result)
    row = "<td>end</td><td>10</td><td>4.12</td><td>8.15</td><td>9.43</td><td>9.43</td>"
    assert row in page and "Seconds since the row before, at most 5 % too high" in page


def test_a_journal_has_times_of_its_own(tmp_path: Path) -> None:
    journal = [row | {"time": float(row["seq"])} for row in worker("a")]
    result = replay([written(tmp_path / "j.jsonl", journal)], PROGRAM)
    waits = quantiles(result.tallies.machines["Worker"].latencies)
    assert waits["take"]["median"] == waits["finish_job"]["most"] == 1.05
    assert result.tallies.machines["Worker"].latencies == {
        "take 0": 6,
        "finish_job 0": 5,
        "lose_patience 0": 1,
        "finish_all 0": 1,
    }


def test_increments_and_no_times(tmp_path: Path) -> None:
    states: dict[str, str] = {}
    found: Counter[str] = Counter()
    later = [{"i": "later", "n": 3, "e": "start", "t": 0}]
    for number in range(4):
        day = [row for row in [*spans(), *later] if row["n"] == number]
        made = replay_increment([written(tmp_path / "d.jsonl", day)], PROGRAM_OF_SPANS, states)
        states, found = dict(made.states), made.tallies.machines["Span"].latencies
    assert quantiles(found) == WAITS
    untimed = mapping_of({name: MAPPING[name] for name in ("instance", "seq", "event")})
    program = ReplayProgram((Span.lawful.ir,), mapping=untimed)
    result = replay([written(tmp_path / "s.jsonl", spans())], program)
    assert quantiles(result.tallies.machines["Span"].latencies) == {}
    assert "Seconds since" not in replays.html(result)


@given(st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=40))
def test_a_quantile_is_close(times: list[float]) -> None:
    found = quantiles(Counter(interval("go", 0, each) for each in times))["go"]
    assert interval("go", 0, 10**400) == interval("go", 0.0, 1e300) == interval("go", 0, 10**12)
    ordered = sorted(times)
    exact = {"median": ordered[(len(times) + 1) // 2 - 1], "most": ordered[-1]}
    for name, value in exact.items():
        told = found[name]
        assert isinstance(told, float) and 0.995 * value <= told <= 1.056 * value
    assert quantiles({interval("go", 5, 5): 2}) == {
        "go": {"count": 2, "median": 0.0, "p90": 0.0, "p99": 0.0, "most": 0.0}
    }


@pytest.mark.nightly
@pytest.mark.skipif(bool(MISSING), reason=MISSING)
@pytest.mark.xdist_group("spark")
def test_spark_tells_the_same(tmp_path: Path, session: Any) -> None:
    found = replayed(tmp_path, "spark").tallies.machines["Span"].latencies
    assert session is not None and quantiles(found) == WAITS
