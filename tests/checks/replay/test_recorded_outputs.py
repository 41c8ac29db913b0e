"""Outputs in logs of other programs: where a row has none, and where they are of another type."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import pytest
from annotated_types import Interval

from lawful import Machine, Nat, ignore, require, transition
from lawful.checks.replay import ReplayProgram, TraceMapping, replay
from lawful.checks.replay.columnar import kernel, vector_batches
from lawful.checks.replay.columnar.local import tally_columns
from lawful.checks.replay.in_process import tally_rows
from lawful.checks.replay.problems import FittingInstances
from lawful.checks.replay.sources import sources
from lawful.checks.replay.tally import Judged, Tallies
from tests.checks.replay import test_columnar

pa: Any = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.parquet")

Line = dict[str, Any]


class Account(Machine):
    sum: int = 0
    last: Nat | None = None

    @transition()
    def put(self, by: Nat) -> int:
        self.sum += by
        self.last = by
        return self.sum

    @transition()
    def peek(self) -> Nat | None:
        return self.last

    @transition()
    def reset(self) -> None:
        self.sum = 0
        self.last = None

    @transition()
    def check(self) -> Nat | None:
        require(self.sum > 100)
        return 3

    @transition()
    def one(self) -> Annotated[int, Interval(ge=1)]:
        return 1

    quiet = ignore("check", because="it says nothing")


MAPPING = TraceMapping(
    "$.i", "$.n", "$.e", output="$.r", args={"put": {"by": "$.by"}}, skip=("PING",)
)
PROGRAM = ReplayProgram((Account.lawful.ir,), mapping=MAPPING)


def lines_of(name: str, *rows: tuple[str, Any]) -> list[Line]:
    """Rows of an account: an event, and its output."""
    return [{"i": name, "n": n, "e": e, "by": n, "r": r} for n, (e, r) in enumerate(rows)]


# What one row says, after `put` and before `reset`, and the verdict.
CASES: dict[str, tuple[tuple[str, Any], str]] = {
    "never None, told": (("put", 1), "fits"),
    "never None, null": (("put", None), "fits"),
    "never None, another": (("put", 7), "deviates"),
    "never None, of another type": (("put", True), "deviates"),
    "a number as text": (("put", "1"), "deviates"),
    "may be None, told": (("peek", 0), "fits"),
    "may be None, null": (("peek", None), "deviates"),
    "always None, null": (("reset", None), "fits"),
    "always None, told": (("reset", 0), "deviates"),
    "ignored, null": (("check", None), "fits"),
    "ignored, told": (("check", 3), "deviates"),
    "skipped": (("PING", 3), "fits"),
}


def cases() -> tuple[list[Line], dict[str, str]]:
    told: list[Line] = []
    for name, (row, _) in CASES.items():
        told += lines_of(name, ("put", 0), row, ("reset", None), ("peek", None), ("PING", None))
    return told, {name: verdict for name, (_, verdict) in CASES.items()}


def without_nulls(told: list[Line]) -> list[Line]:
    return [{key: v for key, v in line.items() if v is not None} for line in told]


def written(path: Path, told: list[Line]) -> Path:
    path.write_bytes(test_columnar.text(told))
    return path


def both(path: Path, program: ReplayProgram = PROGRAM) -> Tallies:
    """The tallies by rows, which are those by columns."""
    files = sources([path])
    rows = tally_rows(files, program)
    assert tally_columns(files, program, test_columnar.the_layout(program)) == rows
    return rows


def test_null_and_nothing_are_the_same(tmp_path: Path) -> None:
    told, wanted = cases()
    for number, lines in enumerate((told, without_nulls(told))):
        found = both(written(tmp_path / f"{number}.jsonl", lines))
        assert found.machines["Account"].named == wanted


def test_a_table_says_the_same(tmp_path: Path) -> None:
    told, wanted = cases()
    kept = [line for line in told if type(line["r"]) not in (str, bool)]
    path = tmp_path / "t.parquet"
    pa.parquet.write_table(pa.Table.from_pylist(kept), path)
    found = both(path)
    del wanted["never None, of another type"], wanted["a number as text"]
    named = found.machines["Account"].named
    assert {name: named[name] for name in wanted} == wanted
    assert replay([path], PROGRAM).tallies.machines["Account"].named == named


@pytest.mark.parametrize("kind", [pa.float64(), pa.string(), pa.uint64()])
def test_a_column_of_another_type_is_not_taken_for_no_output(kind: Any, tmp_path: Path) -> None:
    told = [*lines_of("a", ("put", 7)), *lines_of("b", ("put", None))]
    table = pa.Table.from_pylist(told)
    path = tmp_path / "t.parquet"
    at = table.schema.get_field_index("r")
    pa.parquet.write_table(table.set_column(at, "r", table.column(at).cast(kind)), path)
    found = both(path)
    assert found.machines["Account"].named == {"a": "deviates", "b": "fits"}


def test_outputs_that_are_none_go_by_arrays(tmp_path: Path) -> None:
    """An account that says all outputs, or only some, advances together with others."""
    rng, told = random.Random(3), list[Line]()
    for i in range(80):
        account, rows = Account(), list[tuple[str, Any]]()
        for n in range(rng.randrange(2, 9)):
            name = rng.choice(["put", "peek", "reset", "one"])
            gave = account.put(n) if name == "put" else getattr(account, name)()
            rows.append((name, None if name in ("put", "one") and rng.random() < 0.3 else gave))
        told += lines_of(f"a{i}", *rows)
    together: list[str] = []
    tally = Tallies.add

    def noting(self: Tallies, judged: Judged) -> None:
        if isinstance(judged, FittingInstances):
            together.extend(judged.names)
        tally(self, judged)

    path = written(tmp_path / "t.jsonl", told)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vector_batches, "FEW", 2)
        patch.setattr(Tallies, "add", noting)
        layout = test_columnar.the_layout(PROGRAM)
        columns = tally_columns(sources([path]), PROGRAM, layout)
    assert columns == tally_rows(sources([path]), PROGRAM)
    assert columns.machines["Account"].verdicts == {"fits": 80}
    assert len(together) > 60


def test_few_accounts_go_by_compiled_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "Fold", None)  # It is not needed.
    told = lines_of("a", ("put", None), ("put", 1), ("peek", 1), ("reset", None), ("peek", None))
    layout = test_columnar.the_layout(PROGRAM)
    found = tally_columns(sources([written(tmp_path / "t.jsonl", told)]), PROGRAM, layout)
    assert found.machines["Account"].named == {"a": "fits"}


class Lamp(Machine):
    lit: bool = False

    @transition()
    def press(self) -> None:
        self.lit = not self.lit


def test_a_machine_without_an_output(tmp_path: Path) -> None:
    program = ReplayProgram((Lamp.lawful.ir,), mapping=replace(MAPPING, args={}))
    told = [*lines_of("a", ("press", None)), *lines_of("b", ("press", "done"))]
    found = both(written(tmp_path / "t.jsonl", told), program)
    assert found.machines["Lamp"].named == {"a": "fits", "b": "deviates"}


def test_parts_of_an_event_have_an_output_between_them(tmp_path: Path) -> None:
    program = ReplayProgram((Account.lawful.ir,), mapping=replace(MAPPING, combine=True))
    told = [
        {"i": "a", "n": 1, "e": "put", "r": None, "by": 3},
        {"i": "a", "n": 1, "e": "put", "r": 3, "by": 3},
        {"i": "b", "n": 1, "e": "put", "r": 4, "by": 3},
        {"i": "b", "n": 1, "e": "put", "r": None, "by": 3},
    ]
    for lines in (told, without_nulls(told)):
        found = replay([written(tmp_path / "t.jsonl", lines)], program)
        assert found.tallies.machines["Account"].named == {"a": "fits", "b": "deviates"}


def test_a_large_number_may_be_written_plainly(tmp_path: Path) -> None:
    told = [
        {"i": "a", "n": 1, "e": "put", "by": 2**60, "r": 2**60},
        {"i": "b", "n": 1, "e": "put", "by": 2**60, "r": {"$int": str(2**60)}},
        {"i": "c", "n": 1, "e": "put", "by": 2**60, "r": 2**60 + 1},
    ]
    named = both(written(tmp_path / "t.jsonl", told)).machines["Account"].named
    assert named == {"a": "fits", "b": "fits", "c": "deviates"}
