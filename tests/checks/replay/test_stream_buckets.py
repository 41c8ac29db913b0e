"""A bucket of a stream without Spark: its rows in any order, its states from batch to batch."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from lawful import Machine, Nat, require, transition
from lawful.checks.replay import ReplayProgram
from lawful.checks.replay.columnar.blocks import Packer, WholeInstances
from lawful.checks.replay.columnar.json_lines import LineDecoder
from lawful.checks.replay.columnar.layout import layout_of
from lawful.checks.replay.mapping import mapping_of
from lawful.checks.replay.sources import ReplayError
from lawful.checks.replay.spark.block_tasks import DecodeLines
from lawful.checks.replay.spark.inputs import FRAME
from lawful.checks.replay.spark.packed_streams import (
    CHUNKS,
    COLUMNS,
    TEXTS,
    WithFirst,
    packed_processor,
)
from lawful.checks.replay.spark.partitions import COUNT
from lawful.checks.replay.spark.streaming import STATES, bucket_processor

pytest.importorskip("pyspark.sql.streaming.stateful_processor")
frames: Any = pytest.importorskip("pandas")
pa: Any = pytest.importorskip("pyarrow")


class Window(Machine):
    sent: Nat = 0

    @transition()
    def send(self) -> None:
        self.sent += 1

    @transition()
    def ack(self, upto: Nat) -> None:
        require(upto == self.sent, "acknowledges something else")


MAPPING: dict[str, Any] = {
    "instance": "$.i",
    "seq": "$.n",
    "event": "$.e",
    "args": {"ack": {"upto": "$.upto"}},
}
PROGRAM = ReplayProgram((Window.lawful.ir,), mapping=mapping_of(MAPPING), resumable=True)


class States:
    """The states of a bucket, as Spark would keep them; `others` are those of other names."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str], tuple[str]] = {}
        self.value: tuple[Any, ...] | None = None
        self.others: dict[str, States] = {}

    def getMapState(self, name: str, *_types: str) -> States:
        return self if name == STATES else self.others.setdefault(name, States())

    def getValueState(self, name: str, *_types: str) -> States:
        return self.others.setdefault(name, States())

    def get(self) -> tuple[Any, ...] | None:
        return self.value

    def update(self, value: tuple[Any, ...]) -> None:
        self.value = value

    def containsKey(self, key: tuple[str]) -> bool:
        return key in self.kept

    def getValue(self, key: tuple[str]) -> tuple[str]:
        return self.kept[key]

    def updateValue(self, key: tuple[str], value: tuple[str]) -> None:
        self.kept[key] = value


def parts_of(rows: list[Mapping[str, Any]]) -> Iterator[Any]:
    """The rows of a batch, in several frames, as Spark gives them; the last one counts them."""
    cut = len(rows) // 2
    for part in (rows[:cut], rows[cut:]):
        lines = [
            {"instance": row.get("i"), "form": FRAME, "line": json.dumps(row).encode()}
            for row in part
        ]
        lines.append({"instance": None, "form": COUNT, "line": b""})
        yield frames.DataFrame(lines)


def records_of(of: ReplayProgram, rows: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The records of one batch."""
    processor = bucket_processor(of, timed=False, buckets=1)
    processor.init(States())
    given = processor.handleInputRows((0,), parts_of(rows), None)
    return [row for frame in given for row in frame.to_dict("records")]


def verdicts_of(states: States, rows: list[Mapping[str, Any]]) -> dict[str, tuple[str, int]]:
    """Of each instance in a batch its verdict, and the number of its late rows. Each batch has a
    processor of its own, as after a restart."""
    processor = bucket_processor(PROGRAM, timed=False, buckets=1)
    processor.init(states)
    out: dict[str, tuple[str, int]] = {}
    for frame in processor.handleInputRows((0,), parts_of(rows), None):
        for row in frame.to_dict("records"):
            if row["record"] == "instance":
                assert row["instance"] not in out
                out[row["instance"]] = row["verdict"], int(row["late"])
    return out


def told(name: str, wrong: int | None = None) -> list[Mapping[str, Any]]:
    """Eight rows of an instance: a message and its acknowledgement, four times."""
    rows: list[Mapping[str, Any]] = []
    for n in range(4):
        rows.append({"i": name, "n": 10 * n, "e": "send"})
        upto = 99 if n == wrong else n + 1
        rows.append({"i": name, "n": 10 * n + 5, "e": "ack", "upto": upto})
    return rows


def test_rows_of_a_batch_are_judged_by_their_numbers() -> None:
    rows = [*told("a"), *told("b", wrong=2)]
    for seed in range(5):
        random.Random(seed).shuffle(rows)
        assert verdicts_of(States(), rows) == {"a": ("fits", 0), "b": ("deviates", 0)}


def test_later_batches_go_on_from_the_states() -> None:
    a, b = told("a"), told("b", wrong=0)
    states = States()
    assert verdicts_of(states, [*a[:3], *b[:1]]) == {"a": ("fits", 0), "b": ("fits", 0)}
    assert verdicts_of(states, b[1:]) == {"b": ("deviates", 0)}
    assert verdicts_of(states, [*reversed(a[3:])]) == {"a": ("fits", 0)}
    assert sorted(states.kept) == [("a",), ("b",)]
    # A row that came before an acknowledged one is late, and is not judged.
    assert verdicts_of(states, [{"i": "a", "n": 32, "e": "send"}]) == {"a": ("quarantined", 1)}


def test_how_many_rows_tell_what_is_compared() -> None:
    """A path that is misspelt has none; nothing is said of what no row could have told."""
    data = MAPPING | {"observed": {"sent": "$.sent"}, "output": "$.out"}
    for sent, count in (("sent", 3), ("snet", 0)):
        rows: list[Mapping[str, Any]] = [{**row, sent: 1} for row in told("a")[:3]]
        of = ReplayProgram((Window.lawful.ir,), mapping=mapping_of(data), resumable=True)
        records = records_of(of, rows)
        seen = [(row["name"], row["count"]) for row in records if row["record"] == "told"]
        assert seen == [("$.sent (observed.sent)", count)]
    assert [row["record"] for row in records_of(PROGRAM, told("a"))] == ["instance"]


def blocks_of(rows: list[Mapping[str, Any]]) -> Iterator[Any]:
    """The rows of a batch as blocks of two tasks, the later one first; each says what it read."""
    layout = layout_of(PACKED)
    assert layout is not None
    decoder, cut = LineDecoder(layout), len(rows) // 2
    for task, part in ((1, rows[cut:]), (0, rows[:cut])):
        packer = Packer(decoder.schema, WholeInstances((0,)), task)
        lines = [json.dumps(row).encode() for row in part]
        batches = [*packer.add(decoder.batch(lines)), *packer.count(FRAME, len(part))]
        for batch in (*batches, *packer.flushed()):
            yield batch.to_pandas()


PACKED = replace(PROGRAM, resumable=False)


def test_another_number_of_buckets_is_refused() -> None:
    """Each bucket says so that has something in the checkpoint, also where it has no instance."""
    nothing: list[Mapping[str, Any]] = []
    counted = "is of a stream with buckets = 1, not 2; give 1, or begin with a new checkpoint"
    makes: list[tuple[Callable[[int], Any], Callable[[list[Mapping[str, Any]]], Any]]] = [
        (partial(bucket_processor, PROGRAM, False), parts_of),
        (partial(packed_processor, PACKED), blocks_of),
    ]
    for make, parts in makes:
        states = States()
        for buckets in (1, 1, 2):
            processor = make(buckets)
            processor.init(states)
            found = processor.handleInputRows((0,), parts(nothing), None)
            if buckets == 1:
                assert [*found] == []
                continue
            with pytest.raises(ReplayError, match=counted):
                next(iter(found))


def test_blocks_of_a_task_end_with_one_for_bucket_0() -> None:
    lines = pa.array([json.dumps(row).encode() for row in told("a")], pa.binary())
    names = [pa.array([each] * len(lines), pa.string()) for each in (FRAME, None)]
    batch = pa.record_batch([names[0], lines, names[1]], names=["form", "line", "place"])
    pack = WithFirst(PACKED, DecodeLines(PACKED, WholeInstances((7,))))
    made = [number for each in pack([batch]) for number in each.column(0).to_pylist()]
    assert made == [7, 0]
    assert [*pack([])] == []


def test_a_packed_bucket_gives_the_same_records() -> None:
    a, b = told("a"), told("b", wrong=2)
    late: Mapping[str, Any] = {"i": "a", "n": 3, "e": "send"}
    texts, packed = States(), States()
    for part in ([*a[:3], *b[:5]], [*b[5:], *a[3:6], {"n": 1}], [late, *a[6:]]):
        records: list[list[Any]] = []
        for made, states, rows in (
            (bucket_processor(PROGRAM, timed=False, buckets=1), texts, parts_of(part)),
            (packed_processor(PACKED, 1), packed, blocks_of(part)),
        ):
            made.init(states)
            found = [frame.astype(object) for frame in made.handleInputRows((0,), rows, None)]
            plain = [frame.where(frame.notna(), None).to_dict("records") for frame in found]
            records.append(sorted((shown(row) for each in plain for row in each), key=repr))
        assert records[0] == records[1]
    assert {name for (name,) in packed.others[TEXTS].kept} == {"a", "b"}
    assert len(packed.others[CHUNKS].kept) == 2
    assert packed.others[COLUMNS].value is not None


def shown(row: Mapping[str, Any]) -> dict[str, Any]:
    """A record whose lists are lists."""
    return {
        name: list(each) if name == "legal" and each is not None else each
        for name, each in row.items()
    }
