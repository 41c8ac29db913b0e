"""Integers of more digits than Python writes: journals, stores, snapshots, refusals and JSON have
them like any other, and a plain one that nobody can read is named."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, Record, Refused, Timer, Undefined, require, transition
from lawful.checks.replay import ReplayProgram, replay
from lawful.checks.replay.parquet import to_parquet
from lawful.runtime.journal import Journal, JournalError, read
from lawful.runtime.outbox import Outbox
from lawful.runtime.store import Store
from tests.runtime.helpers import refused

VAST = 10**5000
BEYOND = "an integer of more than 4,300 digits"


class Key(Record):
    number: int


class Vast(Machine):
    total: int = 0
    seen: set[int] = set()
    counts: Counter[int] = Counter()
    by_key: dict[Key, int] = {}
    share: Fraction | None = None
    alarms: dict[int, Timer] = {}

    @transition()
    def add(self, n: int) -> int:
        self.total += n
        self.seen.add(n)
        self.by_key[Key(n)] = n
        self.counts[n] += abs(n)
        return self.total

    @transition()
    def divide(self, share: Fraction) -> Fraction:
        self.share = share
        return share

    @transition()
    def wake(self, n: int) -> None:
        self.alarms[n] = Timer()
        self.alarms[n].start(5.0)

    @transition()
    def less(self, n: int) -> None:
        require(n < self.total, f"{n} is not less")

    @transition()
    def known(self, n: int) -> None:
        require(n in self.seen)

    @transition()
    def get(self, n: int) -> int:
        return self.by_key[Key(n)] + self.counts[n]

    @transition()
    def same(self, share: Fraction) -> None:
        require(share == self.share)


def filled(vast: Vast) -> Vast:
    """The machine after events with vast integers."""
    assert vast.add(VAST) == VAST
    assert vast.add(-2 * VAST) == -VAST
    assert vast.divide(Fraction(VAST, 7)) == Fraction(VAST, 7)
    vast.wake(VAST)
    return vast


def test_refusals_and_faults_say_them() -> None:
    vast = filled(Vast())
    told = refused(lambda: vast.less(VAST))
    assert (
        str(told)
        == f"less: {hex(VAST)} is not less ({hex(VAST)[:57]}... < -{hex(VAST)[:56]}... is false)"
    )
    assert told.values == {"n": {"$int": hex(VAST)}, "total": {"$int": hex(-VAST)}}
    assert "known: n in seen is false: n = 0x" in str(refused(lambda: vast.known(1 + VAST)))
    assert "same: share == share is false" in str(refused(lambda: vast.same(Fraction(1, VAST))))
    with pytest.raises(Undefined, match="KeyError"):
        vast.get(1 + VAST)
    wrong: Any = f"{VAST:x}"
    with pytest.raises(TypeError, match="add: n is a int, not '"):
        vast.add(wrong)
    assert f"total={hex(-VAST)}" in repr(vast)


def test_snapshots_and_json_have_them() -> None:
    vast = filled(Vast())
    data = json.loads(json.dumps(vast.lawful.snapshot()))
    assert data["variables"]["total"] == {"$int": hex(-VAST)}
    back = Vast.lawful.restore(data)
    assert (back.total, back.seen, back.by_key) == (vast.total, vast.seen, vast.by_key)
    assert (back.counts, back.share) == (vast.counts, vast.share)
    assert back.lawful.take_json("add", {"n": {"$int": hex(VAST)}}) == 0
    with pytest.raises(ValueError, match=f"add: n: {BEYOND}"):
        back.lawful.take_json("add", {"n": {"$int": f"1{'0' * 5000}"}})
    with pytest.raises(ValueError, match="add: n: expected a int, found"):
        back.lawful.take_json("add", {"n": {"$int": "0xAB"}})
    with pytest.raises(ValueError, match="add takes an object of n: int, not"):
        back.lawful.take_json("add", {"m": VAST})


def test_a_store_keeps_them(tmp_path: Path) -> None:
    sent: list[Any] = []
    with Store(tmp_path / "s.db", outbox=[Vast]) as store:
        vast = filled(store.add(Vast(), "a"))
        assert store.once("k", vast.add, VAST) == store.once("k", vast.add, VAST) == 0
        with pytest.raises(Refused, match="less: 0x"):
            store.once("l", vast.less, VAST)
        with pytest.raises(Refused, match="less: 0x"):
            store.once("l", vast.less, VAST)
        assert Outbox(store, Vast, lambda letter: sent.append(letter.output)).deliver() == 4
        assert sent == [VAST, -VAST, Fraction(VAST, 7), 0]
        with Store(tmp_path / "s.db") as other:  # It finds what a process that died would leave.
            back = other.restore(Vast, "a")
            names = [row["transition"] for row in other.events("a")]
        assert names == ["add", "add", "divide", "wake", "add"]
        assert (back.total, back.seen, back.counts) == (vast.total, vast.seen, vast.counts)
        assert (back.share, [*back.alarms]) == (Fraction(VAST, 7), [VAST])


@pytest.mark.parametrize("form", ["lines", "parquet"])
def test_a_journal_has_them_and_replay_reads_them(form: str, tmp_path: Path) -> None:
    path: Path = tmp_path / "j.jsonl"
    with Journal(path) as journal:
        vast = Vast()
        journal.attach(vast, "a")
        filled(vast)
        refused(lambda: vast.less(VAST))
    rows = [*read(path)]
    assert [row["seq"] for row in rows] == [0, 1, 2, 3, 4, 5]
    assert rows[1]["args"] == {"n": {"$int": hex(VAST)}}
    given: str = str(path)
    if form == "parquet":
        pytest.importorskip("pyarrow")
        given = str(tmp_path / "table")
        to_parquet([str(path)], given)
    result = replay([given], ReplayProgram((Vast.lawful.ir,)))
    assert (result.total.events, result.total.verdicts) == (5, {"fits": 1})


def test_a_plain_one_is_named(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with Journal(path) as journal:
        vast = Vast()
        journal.attach(vast, "a")
        vast.add(5)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text(lines[0] + lines[1].replace('"n":5', f'"n":1{"0" * 5000}'))
    with pytest.raises(JournalError, match=f"j.jsonl:2: {BEYOND}"):
        list(read(path))
    with pytest.raises(JournalError, match=f"j.jsonl:2: {BEYOND}"):
        Journal(path)
