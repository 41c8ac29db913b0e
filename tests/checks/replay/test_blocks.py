"""Blocks of typed rows: no row is lost, instances stay whole, ties stay in order."""

from __future__ import annotations

import pickle
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful import Machine, Nat, transition
from lawful.checks.replay import ReplayProgram, TraceMapping, program
from lawful.checks.replay.columnar import blocks, kernel, row_order
from lawful.checks.replay.columnar.layout import Layout, layout_of
from lawful.checks.replay.columnar.regular import arrow_types
from lawful.checks.replay.columnar.row_order import sorted_by
from lawful.checks.replay.parquet import arrow
from lawful.checks.replay.spark import block_tasks
from lawful.checks.replay.spark.partitions import TallyPartition, together
from lawful.runtime.instances.from_ir import class_of
from lawful.spec import ir
from lawful.spec.values.world import World

LONGS = st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3)


class Counted(Machine):
    total: Nat = 0

    @transition()
    def add(self, price: Nat) -> None:
        self.total += price


def counted() -> ReplayProgram:
    mapping = TraceMapping("$.id", "$.n", "$.what", args={"add": {"price": "$.price"}})
    return ReplayProgram((Counted.lawful.ir,), mapping=mapping)


@pytest.fixture
def layout() -> Layout:
    found = layout_of(counted())
    assert found is not None
    return found


@given(st.lists(st.tuples(LONGS, LONGS), max_size=40))
def test_the_order_is_that_of_a_stable_sort(pairs: list[tuple[int, int]]) -> None:
    first = np.array([a for a, _ in pairs], dtype=np.int64)
    second = np.array([b for _, b in pairs], dtype=np.int64)
    assert sorted_by(first, second).tolist() == sorted(range(len(pairs)), key=pairs.__getitem__)


def test_small_integers_are_sorted_as_large_ones() -> None:
    """Indices of names have 32 bits: 40,000 names and 40,000 rows need 32 bits and the sign."""
    names = np.arange(40_000, dtype=np.int32)[::-1]
    buckets = np.zeros(40_000, dtype=np.uint16)
    assert sorted_by(buckets, names).tolist() == list(range(39_999, -1, -1))


NAMES = st.sampled_from(["", "a", "b", "longer than the others"])
EDGES = [(sign << bits) + by for sign in (1, -1) for bits in (7, 15, 31) for by in (-1, 0)]
NUMBERS = st.sampled_from([0, 1, *EDGES, 2**63 - 1, -(2**63)])
ROWS = st.fixed_dictionaries(
    {
        "instance": NAMES,
        "seq": NUMBERS,
        "event": st.none() | st.sampled_from([0, 127, 128]),
        "raw": st.none() | st.binary(max_size=3),
        "place": st.none() | st.just("1 file:///t"),
        "$.price": st.none() | NUMBERS,
    }
)


@given(st.lists(ROWS, max_size=12), st.lists(ROWS, max_size=4))
def test_blocks_have_all_values(rows: list[dict[str, Any]], lost: list[dict[str, Any]]) -> None:
    """Integers of each width, columns without a value, and an instance without a name beside rows
    of no instance."""
    pa: Any = arrow()
    found = layout_of(counted())
    assert found is not None
    types = arrow_types(found)
    told = rows + [{**row, "instance": None, "seq": None} for row in lost]
    packer = blocks.Packer(types, blocks.WholeInstances((0,)), 3)
    made = [*packer.add(pa.Table.from_pylist(told, schema=types)), *packer.flushed()]
    assert {each for batch in made for each in batch.column("number").to_pylist()} <= {3 << 32}
    unpacked = [*blocks.rows_of_blocks(made, types, Counter())]
    assert all(batch.schema.equals(types) for batch in unpacked)
    names = sorted(rows, key=lambda row: (row["instance"], row["seq"]))
    assert [row for batch in unpacked for row in batch.to_pylist()] == told[len(rows) :] + names


def test_a_block_has_a_name_once_and_integers_of_few_bytes(layout: Layout) -> None:
    """2 bytes of the number, 1 of the event and 1 of the price of each of 20,000 rows; the rest is
    less than a byte of each. As they are, the columns have 35 bytes of a row."""
    pa: Any = arrow()
    types = arrow_types(layout)
    told: list[Any] = [
        {"instance": f"instance {at % 20:02}", "seq": at // 20, "event": 0, "$.price": at % 100}
        for at in range(20_000)
    ]
    table = pa.Table.from_pylist(told, schema=types)
    packer = blocks.Packer(types, blocks.WholeInstances((0, 1, 2, 3)), 0)
    made = [*packer.add(table), *packer.flushed()]
    sizes = [len(row) for batch in made for row in batch.column("rows").to_pylist()]
    assert len(sizes) == 4
    assert 4 * 20_000 < sum(sizes) < 5 * 20_000 < table.nbytes // 7


@pytest.mark.parametrize("buckets", [64, 1], ids=["small buckets", "a large bucket"])
@pytest.mark.parametrize("most", [7, 1 << 20], ids=["many blocks", "one of each bucket"])
def test_rows_come_back_sorted_and_whole(
    most: int, buckets: int, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """300 rows of 40 instances in two tasks, with ties, and 9 rows of no instance; more rows of a
    bucket than may be held are sorted in files."""
    monkeypatch.setattr(blocks, "MOST_ROWS", most)
    monkeypatch.setattr(kernel, "ROWS", 16)
    pa: Any = arrow()
    types, rng = arrow_types(layout), random.Random(1)
    told: list[Any] = [
        {"instance": f"i{rng.randrange(40)}", "seq": rng.randrange(5), "event": 0, "$.price": at}
        for at in range(300)
    ]
    lost: list[Any] = [{"raw": f"line {at}".encode()} for at in range(9)]
    rows = told + lost
    made: list[Any] = []
    for task in (1, 0):  # They end in any order.
        packer = blocks.Packer(types, blocks.WholeInstances(tuple(range(buckets))), task)
        mine = rows[task::2]
        for start in range(0, len(mine), 10):
            part = pa.Table.from_pylist(mine[start : start + 10], schema=types)
            made += [row for each in packer.add(part) for row in each.to_pylist()]
        made += [row for each in packer.count("plain", 100 + task) for row in each.to_pylist()]
        made += [row for each in packer.flushed() for row in each.to_pylist()]
    rng.shuffle(made)
    made.sort(key=lambda each: (each["bucket"], each["number"]))
    schema = pa.schema([("bucket", pa.int32()), ("number", pa.int64()), ("rows", pa.binary())])
    spilled: list[int] = []
    add = row_order.Runs.add

    def counted(runs: row_order.Runs, table: Any, rows: int) -> None:
        spilled.append(table.num_rows)
        add(runs, table, rows)

    monkeypatch.setattr(row_order.Runs, "add", counted)
    batches = pa.Table.from_pylist(made, schema=schema).to_batches(max_chunksize=5)
    read: Counter[str] = Counter()
    found = [
        row for each in blocks.rows_of_blocks(batches, types, read) for row in each.to_pylist()
    ]
    assert read == {"plain": 201}
    assert (len(spilled) > 20) == (most == 7)
    known = [row for row in found if row["instance"] is not None]
    names = [row["instance"] for row in known]
    runs = [a for a, b in zip(names, [None, *names], strict=False) if a != b]
    assert len(runs) == len(set(runs)) == len({row["instance"] for row in told})
    for name in runs:
        # Task 0 read the even rows, task 1 the odd ones: so their ties are in order.
        mine = sorted((at % 2, at) for at, row in enumerate(told) if row["instance"] == name)
        wanted = sorted(mine, key=lambda each: told[each[1]]["seq"])
        mine_found = [row["$.price"] for row in known if row["instance"] == name]
        assert mine_found == [told[at]["$.price"] for _, at in wanted]
    assert sorted(row["raw"] for row in found if row["instance"] is None) == sorted(
        row["raw"] for row in lost
    )


def test_a_giant_instance_is_merged_in_parts(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """4,096 rows of one instance in 8 runs of 512: at most two runs' worth is held at once."""
    pa: Any = arrow()
    types = arrow_types(layout)
    numbers = list(range(4096))
    random.Random(2).shuffle(numbers)
    runs = row_order.Runs()
    for start in range(0, 4096, 512):
        told: list[Any] = [
            {"instance": "i", "seq": number, "event": 0, "$.price": number}
            for number in numbers[start : start + 512]
        ]
        runs.add(pa.Table.from_pylist(told, schema=types), 64)
    held: list[int] = []
    in_order = row_order.in_order

    def counting(table: Any, rows: int) -> Any:
        held.append(table.num_rows)
        return in_order(table, rows)

    monkeypatch.setattr(row_order, "in_order", counting)
    found = [seq for each in runs.merged(64) for seq in each.column("seq").to_pylist()]
    assert found == list(range(4096))
    assert sum(held) == 4096
    assert len(held) == 8
    assert max(held) <= 2 * 512


def test_the_tasks_of_a_worker_compile_a_machine_once(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each task of a worker gets the program anew, as bytes; a worker compiles it once."""
    made: list[str] = []

    def counting(machine: ir.Machine, world: World) -> Any:
        made.append(machine.name)
        return class_of(machine, world)

    monkeypatch.setattr("lawful.checks.replay.columnar.steps.class_of", counting)
    monkeypatch.setattr(program, "_known", {})  # As in a new worker.
    pa: Any = arrow()
    types = arrow_types(layout)
    task = pickle.dumps(TallyPartition(counted()))
    tallied: list[bytes] = []
    for number in range(3):
        told: list[Any] = [{"instance": f"i{number}", "seq": 0, "event": 0, "$.price": 1}]
        packer = blocks.Packer(types, blocks.WholeInstances((0,)), number)
        packed = [*packer.add(pa.Table.from_pylist(told, schema=types)), *packer.flushed()]
        for batch in pickle.loads(task)(packed):
            tallied += batch.column(0).to_pylist()
    tallies, _ = together(tallied)
    assert tallies.machines["Counted"].verdicts == {"fits": 3}
    assert made == ["Counted"]


def test_batches_of_a_table_are_read_together_and_rows_keep_their_places(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark sends small batches. A row of no instance in any of them is told with its own place."""
    pa: Any = arrow()
    monkeypatch.setattr(block_tasks, "ROWS", 25)
    names = ["id", "n", "what", "price", "lawful place"]
    lost = {3, 17, 48, 61}
    rows = [
        (None if i in lost else f"i{i % 7}", i, "add", 1, f"{i} file:///t.parquet")
        for i in range(64)
    ]
    batches = [
        pa.RecordBatch.from_pylist(
            [dict(zip(names, row, strict=True)) for row in rows[at : at + 10]]
        )
        for at in range(0, len(rows), 10)
    ]
    assert [each.num_rows for each in block_tasks.together(batches)] == [30, 30, 4]
    packed = block_tasks.PackTable(counted(), blocks.WholeInstances((5, 2, 9)))(batches)
    made = sorted((row for each in packed for row in each.to_pylist()), key=lambda r: r["bucket"])
    assert [row["bucket"] for row in made] == [2, 5, 9]
    schema = pa.schema([("bucket", pa.int32()), ("number", pa.int64()), ("rows", pa.binary())])
    whole = pa.Table.from_pylist(made, schema=schema).to_batches()
    found = blocks.rows_of_blocks(whole, arrow_types(layout), Counter())
    told = [row for each in found for row in each.to_pylist()]
    assert {row["place"] for row in told if row["instance"] is None} == {rows[i][4] for i in lost}
    assert [len(told), sum(row["place"] is not None for row in told)] == [64, 4]
