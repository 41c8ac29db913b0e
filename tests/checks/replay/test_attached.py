"""Journals that begin in the middle: instances attached late, restarted services, rotated files."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest

from lawful.checks.replay import ReplayProgram, replay
from lawful.checks.replay import rows as rows_of
from lawful.checks.replay.fold import fold
from lawful.checks.replay.rows import journal_row
from lawful.runtime.journal import Hidden, Journal, read
from tests.checks.replay.journals import Job, Row, Worker, written
from tests.checks.replay.test_runtime_journals import (
    Counter,
    Node,
    Shelf,
    Table,
    attempt,
    findings,
    judged,
)


def test_an_instance_that_is_attached_in_mid_life_is_no_deviation(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    worker = Worker()
    worker.take(Job(1, frozenset()))
    back = Worker.lawful.restore(worker.lawful.snapshot())
    with Journal(path) as journal:
        for name, each in (("w", worker), ("back", back)):
            journal.attach(each, name)
            each.finish()
    result = judged(path, Worker)
    assert (result.verdicts["open"], result.exit_code, result.total.rows) == (2, 0, 4)
    rows: list[Row] = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row["outcome"] for row in rows] == ["attached", "done"] * 2
    # It is one only where the row says that the instance was just made.
    told = copy.deepcopy(rows[:2])
    told[0]["outcome"] = "made"
    (finding,) = findings(judged(written(path, told), Worker))
    assert finding["index"] == 0 and 'state is "BUSY" in the row' in finding["clause"]
    assert judged(written(path, told), Worker, anywhere=True).verdicts["open"] == 1
    told = copy.deepcopy(rows[:2])
    told[1]["changed"]["done"] = 7
    assert judged(written(path, told), Worker).verdicts["deviates"] == 1
    del rows[0]["changed"]["done"]
    assert judged(written(path, rows[:2]), Worker).verdicts["quarantined"] == 1


def test_parts_and_elements_of_an_instance_that_is_attached_in_mid_life(tmp_path: Path) -> None:
    path, table = tmp_path / "j.jsonl", Table()
    table.seat(Node("b"))
    shelf = Shelf(universe={Node: [Node("a"), Node("b")]})
    shelf.all_alike(True)
    shelf.flip()
    counter = Counter(step=2)
    counter.from_nothing()
    counter.up()
    with Journal(path) as journal:
        for name, each in (("t", table), ("s", shelf), ("c", counter)):
            journal.attach(each, name)
        table.welcome(Node("a"))
        assert not attempt(shelf.flip)
        counter.up()
    result = judged(path, Table, Shelf, Counter)
    assert (result.verdicts["deviates"], result.exit_code, result.total.instances) == (0, 0, 3)
    rows: list[Row] = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row["outcome"] for row in rows[:3]] == ["attached", "made", "attached"]


class Lane:
    """A clock that may begin anew, as after a restart of the computer."""

    def __init__(self, at: float) -> None:
        self.at = at

    def now(self) -> float:
        self.at += 1.0
        return self.at


def test_a_service_that_restarts_goes_on_with_its_journal(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    worker = Worker(clock=Lane(5_000.0))
    with Journal(path) as journal:
        journal.attach(worker, "w")
        worker.take(Job(1, frozenset()))
    worker.finish()  # Of which no row tells.
    again = Worker.lawful.restore(worker.lawful.snapshot(), clock=Lane(3.0))
    with Journal(path) as journal:
        journal.attach(again, "w")
        again.take(Job(2, frozenset({1})))
        journal.attach(Worker(clock=Lane(1.0)), "x")
    with Journal(path) as journal:
        fresh = Worker(limit=9, clock=Lane(0.0))
        journal.attach(fresh, "w")
        fresh.take(Job(1, frozenset()))
    result = judged(path, Worker)
    told = [(row["instance"], row["seq"], row["outcome"]) for row in read(path)]
    assert told == [
        ("w", 0, "made"),
        ("w", 1, "done"),
        ("w", 2, "attached"),
        ("w", 3, "done"),
        ("x", 0, "made"),
        ("w", 4, "attached"),
        ("w", 5, "done"),
    ]
    assert (result.exit_code, result.total.rows) == (0, 7), result.to_json()
    rows: list[Row] = list(read(path))
    rows[3]["time"] = 0.0
    assert "time goes back" in json.dumps(judged(written(path, rows), Worker).to_json())


@pytest.fixture(scope="module")
def rotating(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The files of one journal, in their order: more than nine."""
    path, rng = tmp_path_factory.mktemp("rotating") / "j.jsonl", random.Random(4)
    with Journal(path, buffer=0, largest=4_000) as journal:
        workers = [Worker(limit=30) for _ in range(3)]
        for number, each in enumerate(workers):
            hidden = Hidden(frozenset({"sizes"})) if number == 2 else None
            journal.attach(each, f"w{number}", hidden)
        for number in range(240):
            each = rng.choice(workers)
            attempt(each.take, Job(number, frozenset({number % 3})))
            attempt(rng.choice((each.finish, each.lose_patience)))
    files = [path.with_name(f"j.jsonl.{n}") for n in range(1, len(list(path.parent.iterdir())))]
    assert len(files) > 9 and all(each.exists() for each in files)
    return [*files, path]


def test_rotated_files_are_replayed_one_by_one(rotating: list[Path]) -> None:
    for number, each in enumerate(rotating):
        result = judged(each, Worker)
        # Of the instance with a hidden variable a later file does not say enough.
        wanted = {"deviates": 0, "quarantined": 0, "inconclusive": int(number > 0)}
        assert {name: result.verdicts[name] for name in wanted} == wanted, result.to_json()
        assert result.total.instances == 3
        # Spark sorts the rows of an instance, and folds them.
        program, lines = ReplayProgram((Worker.lawful.ir,)), each.read_text().splitlines()
        rows = [journal_row(json.loads(line), line) for line in lines]
        for name in ("w0", "w1", "w2"):
            mine = sorted(
                (r for r in rows if isinstance(r, rows_of.Row) and r.instance == name),
                key=lambda row: row.seq,
            )
            assert fold(program, name, mine).verdict in ("fits", "open", "inconclusive")


def test_rotated_files_are_replayed_together(rotating: list[Path]) -> None:
    program = ReplayProgram((Worker.lawful.ir,))
    folder = replay([rotating[0].parent], program)
    rows = sum(1 for each in rotating for _ in read(each))
    assert (folder.exit_code, folder.total.rows, folder.total.instances) == (0, rows, 3)
    for some in (rotating, rotating[::-1], [*rotating[3:], *rotating[:3]]):
        assert replay(some, program).tallies == folder.tallies
    last = replay(rotating[-3:][::-1], program)
    assert (last.verdicts["deviates"], last.verdicts["quarantined"]) == (0, 0)
    assert replay([*rotating[:2], *rotating[3:]], program).verdicts["quarantined"] == 3


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [("changed", "done", 99), ("args", "limit", 4), ("changed", "state", "OVER")],
)
def test_where_a_new_file_begins_the_row_is_compared(
    part: str, name: str, value: Any, rotating: list[Path], tmp_path: Path
) -> None:
    rows = [row for each in rotating for row in read(each)]
    rows = [row for row in rows if row["instance"] == "w0"]
    at = next(i for i, row in enumerate(rows) if row["outcome"] == "continued")
    rows[at][part][name] = value
    finding = findings(judged(written(tmp_path / "j.jsonl", rows), Worker))[0]
    assert finding["index"] == at and finding["clause"].startswith(f"{name} is ")
