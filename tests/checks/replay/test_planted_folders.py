"""Logs of other systems in folders: a declaration, a mapping, and the verdicts that were planted.

`planted` has a folder for each log: `machine.py`, `mapping.toml`, the log, and `verdicts.toml`.
"""

from __future__ import annotations

import dataclasses
import importlib
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import pytest

from lawful import Machine, targets, transition
from lawful.checks.replay import (
    Preparation,
    ReplayProgram,
    replay,
    replay_frame,
    replay_increment,
    replay_stream,
)
from lawful.checks.replay.mapping import TraceMapping, mapping_of, read_mapping
from lawful.checks.replay.spark.streaming import PROVIDER, ROCKS_DB
from lawful.checks.report import replay_metrics, replays
from lawful.checks.report.deviation_tests import as_test, deviation_tests
from tests.checks.replay.answers import until_done
from tests.checks.replay.conftest import NEEDS_SPARK
from tests.checks.replay.journals import written

PLANTED = Path(__file__).parent / "planted"
NAMES = {
    "web": "Session",
    "units": "Unit",
    "ci": "Pipeline",
    "bpmn": "Claim",
    "grpc": "Call",
    "audit": "Account",
}
LINES = ("web", "units")  # Logs of lines in the order of their instances, which may be cut.
FORMS = ("parquet", "orc")
Owner = Literal["p", "q"]
pa: Any = pytest.importorskip("pyarrow")


def machine_of(name: str) -> type[Machine]:
    return targets.machine(f"{PLANTED / name / 'machine.py'}:{NAMES[name]}")


def program(name: str, mapping: TraceMapping | None = None) -> ReplayProgram:
    told = mapping or read_mapping(PLANTED / name / "mapping.toml")
    return ReplayProgram((machine_of(name).lawful.ir,), mapping=told)


def verdicts(name: str) -> dict[str, str]:
    told = (PLANTED / name / "verdicts.toml").read_text(encoding="utf-8")
    return tomllib.loads(told)


Statement = tuple[str, list[str], str | None, bool, int | None]
STATEMENTS: list[Statement] = [  # What, of which accounts, how much, whether done, balance after.
    ("UPDATE", ["a", "b"], "10.00", True, None),
    ("UPDATE", ["a"], "-2.50", True, 750),
    ("UPDATE", ["a", "b"], "-8.00", True, None),  # More than `a` has.
    ("LOCK", ["b"], None, True, None),
    ("UPDATE", ["b"], "1.00", True, None),  # In a frozen account.
    ("UPDATE", ["c"], "1.00", False, None),
    ("UPDATE", ["d"], "1.10", True, 111),
    ("LOCK", ["e"], None, True, 0),
]


def audit(unit: str = "us") -> Any:
    """The table of the audit, a statement each microsecond."""
    begun = datetime(2026, 3, 1, 9, tzinfo=UTC)
    times = [begun + timedelta(microseconds=n) for n in range(len(STATEMENTS))]
    what, whose, much, done, after = zip(*STATEMENTS, strict=True)
    amounts = [None if each is None else Decimal(each) for each in much]
    return pa.table(
        {
            "stmt": what,
            "accounts": whose,
            "amount": pa.array(amounts, pa.decimal128(12, 2)),
            "ok": done,
            "after": after,
            "at": pa.array(times, pa.timestamp(unit, "UTC")),
            "day": pa.array([begun.date()] * len(times), pa.date32()),
            "tag": pa.array([b"\xff"] * len(times), pa.binary()),
        }
    )


def write_table(folder: Path, form: str) -> Path:
    path = folder / f"audit.{form}"
    files: Any = importlib.import_module(f"pyarrow.{form}")
    files.write_table(audit(), path)
    return path


def logs_of(name: str, folder: Path) -> Iterator[list[Path]]:
    """The files of a log, in each of its forms."""
    if name == "audit":
        yield from ([write_table(folder, form)] for form in FORMS)
    else:
        told = ("machine.py", "mapping.toml", "verdicts.toml", "__pycache__")
        yield sorted(path for path in (PLANTED / name).iterdir() if path.name not in told)


@pytest.mark.parametrize("name", NAMES)
def test_every_verdict_is_as_planted(name: str, tmp_path: Path) -> None:
    how = program(name)
    for paths in logs_of(name, tmp_path):
        answer: Any = replay(paths, how).to_json()
        assert answer["by_instance"] == verdicts(name)
        again = mapping_of(how.mapping.to_json() if how.mapping is not None else {})
        assert replay(paths, program(name, again)).tallies == replay(paths, how).tallies


@pytest.mark.parametrize("name", NAMES)
def test_increments_end_with_the_same_verdicts(name: str, tmp_path: Path) -> None:
    """A log of lines is cut in three, any other into its files."""
    how, states, found = program(name), dict[str, str](), None
    for paths in logs_of(name, tmp_path):
        states = {}
        for path in cut(paths[0], tmp_path) if name in LINES else paths:
            found = replay_increment([path], how, states)
            states = dict(found.states)
        assert found is not None
        told = {k: v for tally in found.tallies.machines.values() for k, v in tally.named.items()}
        assert told == verdicts(name)


def cut(path: Path, folder: Path) -> Iterator[Path]:
    """A file in three parts."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    if path.suffix == ".ndjson":
        lines.pop(-2)  # The row that comes twice would come late.
    size = len(lines) // 3 + 1
    for number in range(3):
        part = folder / f"{number}{path.suffix}"
        part.write_text("".join(lines[size * number : size * (number + 1)]), encoding="utf-8")
        yield part


def test_findings_name_files_and_times(tmp_path: Path) -> None:
    """Of several files a finding has the file, and what is uncertain since a row has its time."""
    how = read_mapping(PLANTED / "web" / "mapping.toml")
    (log,) = next(logs_of("web", tmp_path))
    parts = [*cut(log, tmp_path)]
    assert isinstance(how.preparation, Preparation)
    by_file = dataclasses.replace(
        how, preparation=dataclasses.replace(how.preparation, order="file", ties=()), time=None
    )
    answer: Any = replay(parts, program("web", by_file)).to_json()
    assert [(each["instance"], each["file"], each["number"]) for each in answer["deviations"]] == [
        ("s2", str(parts[1]), 3),
        ("s3", str(parts[1]), 6),
    ]
    assert replays.headline(answer["deviations"][0]) == (
        f"instance s2, row 3 of {parts[1]}, event login in state OUT"
    )
    answer = replay([log], program("web", by_file)).to_json()
    assert "file" not in answer["deviations"][0]
    uncast = dataclasses.replace(how.preparation, casts={})
    answer = replay([log], program("web", dataclasses.replace(how, preparation=uncast))).to_json()
    (uncertain,) = (each for each in answer["not_judged"] if each["kind"] == "refused")
    assert uncertain["clause"] == (
        "buys nothing (0 > 0 is false) (in a state that is not certain since the row at "
        "2026-03-12T09:00:02)"
    )


def test_rows_in_the_order_of_time_are_named_by_their_times(tmp_path: Path) -> None:
    """On the page, in its pictures, and in tests, where their numbers would say nothing."""
    (log,) = logs = next(logs_of("web", tmp_path))
    result = replay(logs, program("web"))
    page = replays.html(result)
    assert "2026-03-12T09:00:03  login()" in page
    assert "<td>2026-03-12T09:00:02</td><td><code>refuse()</code></td>" in page
    made, *_ = deviation_tests([log], result)
    assert f"instance s3, row at {made.finding.details['time']}, event buy" in as_test(
        made, result, tmp_path / "machine.py", tmp_path
    )
    assert [row.seq for row in made.rows] == [0, 1]
    number = str(made.finding.index)
    assert number not in page
    told = replay_metrics.metrics(result).splitlines()
    # Of one a time is none; it is an instance of this machine, too.
    assert 'lawful_replay_instances{machine="Session",verdict="quarantined"} 2' in told


class Flag(Machine):
    owner: Owner | None = None
    raised: bool = False

    @transition()
    def lift(self, owner: Owner) -> None:
        self.owner, self.raised = owner, True


def test_null_says_nothing_of_a_variable_that_is_never_none(tmp_path: Path) -> None:
    told = {"instance": "$.i", "seq": "$.n", "event": "$.e", "args": {"lift": {"owner": "$.o"}}}
    seen = {"observed": {"owner": "$.owner", "raised": "$.raised"}}
    how = ReplayProgram((Flag.lawful.ir,), mapping=mapping_of({**told, **seen}))
    rows = [
        {"i": "a", "n": 1, "e": "lift", "o": "p", "owner": "p", "raised": None},
        {"i": "b", "n": 1, "e": "lift", "o": "p", "owner": None, "raised": True},
    ]
    path = written(tmp_path / "rows.jsonl", rows)
    answer: Any = replay([path], how).to_json()
    assert answer["by_instance"] == {"a": "fits", "b": "deviates"}
    assert answer["deviations"][0]["clause"] == (
        'observed.owner is null in the row, "p" in the machine'
    )


@pytest.mark.nightly
@NEEDS_SPARK[0]
@NEEDS_SPARK[1]
@pytest.mark.parametrize("name", NAMES)
def test_spark_answers_the_same(name: str, session: Any, tmp_path: Path) -> None:
    how = program(name)
    for paths in logs_of(name, tmp_path):
        assert replay(paths, how, engine="spark").tallies == replay(paths, how).tallies
    if name == "audit":
        frame = session.read.parquet(str(tmp_path / "audit.parquet"))
        found = replay_frame(frame, how).verdicts.collect()
        assert {row.instance: row.verdict for row in found} == verdicts(name)


@pytest.mark.nightly
@NEEDS_SPARK[0]
@NEEDS_SPARK[1]
@pytest.mark.parametrize("name", LINES)
def test_a_stream_answers_the_same(name: str, session: Any, tmp_path: Path) -> None:
    """A micro-batch for each third of the lines."""
    (path,) = next(logs_of(name, tmp_path))
    (tmp_path / "in").mkdir()
    found: dict[str, str] = {}

    def keep(batch: Any, _number: int) -> None:
        found.update(
            {row.instance: row.verdict for row in batch.where("record = 'instance'").collect()}
        )

    session.conf.set(PROVIDER, ROCKS_DB)
    try:
        for part in cut(path, tmp_path):
            part.rename(tmp_path / "in" / part.name)
            told = session.readStream.text(str(tmp_path / "in"))
            writer = replay_stream(told, program(name), buckets=2).writeStream
            writer = writer.outputMode("update").trigger(availableNow=True).foreachBatch(keep)
            until_done(writer.option("checkpointLocation", str(tmp_path / "kept")))
    finally:
        session.conf.unset(PROVIDER)
    assert found == verdicts(name)
