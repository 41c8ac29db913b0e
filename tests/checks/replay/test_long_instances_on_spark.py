"""Long instances on Spark: with ranges and without, the same records."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from lawful.checks.replay import ReplayProgram, replay, replay_frame
from lawful.checks.replay.columnar.blocks import WholeInstances
from lawful.checks.replay.columnar.chains import Chain, joined
from lawful.checks.replay.columnar.row_ranges import Ranges, cut
from lawful.checks.replay.spark import block_tasks, long_instances
from lawful.checks.replay.spark.block_tasks import PARTITIONS, Reading
from lawful.checks.replay.spark.inputs import of_frame
from lawful.checks.replay.spark.partitions import COVERED

from .conftest import NEEDS_SPARK
from .test_long_instances import log, program


def found(records: Any) -> Counter[str]:
    """The records of a replay; what tasks covered is added up."""
    out: Counter[str] = Counter()
    for row in records.collect():
        each = row.asDict()
        much = each.pop("count") if each["record"] == COVERED else 1
        out[str(each)] += much
    return out


def sent(frame: Any, of: ReplayProgram, how: Reading) -> list[str | None]:
    """The instances of the rows that workers get."""
    from pyspark.sql.classic.dataframe import DataFrame

    got: list[Any] = []

    def kept(rows: Any, *_: Any) -> Any:
        got.append(rows)
        return rows

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DataFrame, "mapInArrow", kept)
        of_frame(frame, of, how)
    (rows,) = got
    return [row[0] for row in rows.collect()]


def _number(name: str) -> int:
    """A number in place of the name of an instance of the log."""
    return 7 if name == "gate" else 10 + int(name.removeprefix("other"))


class TestOnSpark:
    """The jobs, on a trace with a long instance and others."""

    pytestmark = NEEDS_SPARK

    @pytest.fixture
    def lines(self, monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
        """The lines of a log; ranges of few rows are worth a pass over it."""
        monkeypatch.setattr(long_instances, "LONG", 100)
        monkeypatch.setattr(long_instances, "SHARE", 0.5)
        rows = log(11, 900, 0.01)
        rows += [{**row, "id": f"other{i}"} for i in range(6) for row in log(i, 60, 0.02)]
        random.Random(2).shuffle(rows)
        return [json.dumps(row).encode() for row in rows] + [b"{]", b'{"id": "gate", "n": "x"}']

    @pytest.mark.nightly
    @pytest.mark.parametrize("form", ["lines", "table", "decimals", "numbers"])
    def test_frames_are_the_same(
        self, session: Any, lines: list[bytes], form: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        chains: list[Chain] = []

        def seen(*args: Any) -> list[Chain]:
            chains.extend(joined(*args))
            return chains

        monkeypatch.setattr(long_instances, "joined", seen)
        if form == "lines":
            frame = session.createDataFrame([(line,) for line in lines], "value binary")
        else:
            data = [json.loads(line) for line in lines[:-2]]
            cells = [[row.get(name) for name in ("id", "n", "what", "code", "on")] for row in data]
            kept = [row for row in cells if not {str, bool} & {type(row[1]), type(row[3])}]
            types = "id string, n long, what string, code long, on boolean"
            kept = [[*row[:4], row[4] if isinstance(row[4], bool) else None] for row in kept]
            kept += [[None, 3, "open", None, None], [None, None, "open", None, None]]
            if form == "numbers":
                kept = [
                    [None if row[0] is None else _number(str(row[0])), *row[1:]] for row in kept
                ]
                types = types.replace("id string", "id long")
            frame = session.createDataFrame(kept, types)
            if form == "decimals":  # Spark itself makes the typed columns of such a table.
                frame = frame.withColumn("n", frame["n"].cast("decimal(20)"))
        of = program(True, "resync", False)
        split, one = (
            found(replay_frame(frame, of, split_long=yes).records) for yes in (True, False)
        )
        assert split == one
        gate = "7" if form == "numbers" else "gate"
        assert [chain.segments[0].instance for chain in chains] == [gate]
        assert len(chains[0].segments) > 2 and chains[0].found

    def test_spark_leaves_out_rows_of_other_instances(self, session: Any) -> None:
        """Of a table, workers get the rows of long instances and all others apart."""
        types = "id string, n long, what string, code long, on boolean"
        rows = [("gate", 1), ("door", 1), (None, 1), (None, None), ("gate", None)]
        cells = [(name, number, "open", None, None) for name, number in rows]
        frame = session.createDataFrame(cells, types)
        (range_,) = cut("gate", [1], 1)
        for form in (frame, frame.withColumn("n", frame["n"].cast("decimal(20)"))):
            for placing, mine in (
                (Ranges((range_,), (0,)), {"gate"}),
                (WholeInstances((0,), frozenset({"gate"})), {"door", None}),
                (WholeInstances((0,)), {"gate", "door", None}),
            ):
                found = sent(form, program(True, "resync", False), Reading(placing))
                assert Counter(found) == Counter(name for name, _ in rows if name in mine)

    @pytest.mark.nightly
    def test_files_are_the_same(self, session: Any, lines: list[bytes], tmp_path: Path) -> None:
        path = tmp_path / "log.jsonl"
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        of = program(True, "resync", False)
        assert replay([path], of, "spark").total == replay([path], of, "local").total

    @pytest.mark.nightly
    @pytest.mark.parametrize("partitions", [1, 3, 16])
    def test_ranges_are_spread_evenly(self, session: Any, partitions: int) -> None:
        """Spark's own hash gives each partition as many ranges, or one more."""
        before = session.conf.get(PARTITIONS)
        session.conf.set(PARTITIONS, partitions)
        try:
            buckets = block_tasks.even_buckets(session, 50)
        finally:
            session.conf.set(PARTITIONS, before)
        frame = session.createDataFrame([(bucket,) for bucket in buckets], "bucket int")
        query = f"pmod(hash(bucket), {partitions}) AS at"
        sizes = Counter(row["at"] for row in frame.selectExpr(query).collect())
        assert len(set(buckets)) == 50 and len(sizes) == partitions
        assert max(sizes.values()) - min(sizes.values()) <= 1
