"""Blocks of typed rows: no row is lost, instances stay whole, ties stay in order."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful import Machine, Nat, transition
from lawful.checks.replay import ReplayProgram, TraceMapping
from lawful.checks.replay.columnar import blocks, kernel, row_order
from lawful.checks.replay.columnar.layout import Layout, layout_of
from lawful.checks.replay.columnar.regular import arrow_types
from lawful.checks.replay.columnar.row_order import sorted_by
from lawful.checks.replay.parquet import arrow

LONGS = st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3)


class Counted(Machine):
    total: Nat = 0

    @transition()
    def add(self, price: Nat) -> None:
        self.total += price


@pytest.fixture
def layout() -> Layout:
    mapping = TraceMapping("$.id", "$.n", "$.what", args={"add": {"price": "$.price"}})
    found = layout_of(ReplayProgram((Counted.lawful.ir,), mapping=mapping))
    assert found is not None
    return found


@given(st.lists(st.tuples(LONGS, LONGS), max_size=40))
def test_the_order_is_that_of_a_stable_sort(pairs: list[tuple[int, int]]) -> None:
    first = np.array([a for a, _ in pairs], dtype=np.int64)
    second = np.array([b for _, b in pairs], dtype=np.int64)
    assert sorted_by(first, second).tolist() == sorted(range(len(pairs)), key=pairs.__getitem__)


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
        packer = blocks.Packer(types, buckets, task)
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
