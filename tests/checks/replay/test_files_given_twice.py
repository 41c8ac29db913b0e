"""Rows in the order of their files: a file that is given twice is one, and a copy is named."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lawful.checks.replay import (
    JointProgram,
    Preparation,
    ReplayProgram,
    ReplayResult,
    replay,
    replay_increment,
)
from lawful.checks.replay.columnar.layout import layout_of_prepared
from lawful.checks.replay.columnar.local import tally_columns
from lawful.checks.replay.sources import copies, numbered, sources
from tests.checks.replay.conftest import NEEDS_SPARK
from tests.checks.replay.journals import written
from tests.checks.replay.test_redelivered_rows import MAPPING, Door
from tests.checks.replay.test_spark import same

BY_FILE = dataclasses.replace(MAPPING, seq="", preparation=Preparation(order="file"))
PROGRAM = ReplayProgram((Door.lawful.ir,), mapping=BY_FILE)


def day(folder: Path, name: str, first: bool = True) -> Path:
    """A door that moves three times."""
    folder.mkdir(exist_ok=True)
    told = [{"i": "a", "n": n, "e": "set", "to": (n % 2 == 0) == first} for n in range(3)]
    return written(folder / name, [json.dumps(each) for each in told])


def linked(path: Path) -> Path:
    other = path.with_name("linked.jsonl")
    other.symlink_to(path)
    return other


TWICE: dict[str, Callable[[Path], list[Path]]] = {
    "by one path": lambda path: [path, path],
    "by another path": lambda path: [path, path.parent / ".." / path.parent.name / path.name],
    "by its folder": lambda path: [path.parent, path],
    "by a link": lambda path: [path, linked(path)],
}


def counts(found: ReplayResult) -> tuple[int, int, int]:
    counted = found.total.counts
    return found.verdicts["fits"], counted["judged"], counted["duplicates"]


@pytest.mark.parametrize("how", TWICE)
def test_one_file_twice_is_one(how: str, tmp_path: Path) -> None:
    path = day(tmp_path / "in", "1.jsonl")
    given = TWICE[how](path)
    later = day(tmp_path, "2.jsonl", first=False)
    found = replay([*given, later], PROGRAM)
    assert (counts(found), found.remark) == ((1, 6, 3), "")
    joint = replay([*given, later], JointProgram((PROGRAM,)))
    assert counts(joint) == (1, 6, 3)
    layout = layout_of_prepared(PROGRAM)
    assert layout is not None
    files = sources([*given, later], foreign=True)
    assert tally_columns(files, PROGRAM, layout) == found.tallies


def test_a_copy_is_named_and_counts(tmp_path: Path) -> None:
    one, other = day(tmp_path, "1.jsonl"), day(tmp_path, "2.jsonl")
    found = replay([one, other], PROGRAM)
    told = f"{one} and {other} have the same content; each row counts, so leave out a copy"
    assert (counts(found), found.remark) == ((0, 6, 0), told)
    assert replay([one, other], JointProgram((PROGRAM,))).remark == told
    prepared = dataclasses.replace(MAPPING, preparation=Preparation())
    numbers = ReplayProgram((Door.lawful.ir,), mapping=prepared)
    by_number = replay([one, other], numbers)
    assert (counts(by_number), by_number.remark) == ((1, 3, 3), "")


def test_numbers_of_files(tmp_path: Path) -> None:
    one, other = str(day(tmp_path, "1.jsonl")), str(day(tmp_path, "2.jsonl", first=False))
    far = "s3a://bucket/a.jsonl"
    given = [one, far, other, one, far]
    assert [number for number, _ in numbered(given)] == [0, 1, 2, 0, 1]
    assert copies(given) is None  # Of one size, and not alike.


@pytest.mark.nightly
@NEEDS_SPARK[0]
@NEEDS_SPARK[1]
@pytest.mark.usefixtures("session")
def test_on_spark(tmp_path: Path) -> None:
    path = day(tmp_path / "in", "1.jsonl")
    answer: Any = same([path, path, linked(path)], PROGRAM)
    assert answer["by_instance"] == {"a": "fits"}
    assert answer["counts"]["duplicates"] == 6


def test_findings_of_increments_keep_their_file(tmp_path: Path) -> None:
    """Also of the last row of a file, which is judged when a later one comes, and of findings that
    an earlier increment made."""
    wrong = [{"i": "a", "e": "set", "to": to} for to in (True, True, False, False)]
    days = [written(tmp_path / f"{n}.jsonl", [json.dumps(each) for each in wrong]) for n in (1, 2)]
    program = dataclasses.replace(PROGRAM, every=True)
    states: Any = {}
    places: list[list[tuple[Any, Any]]] = []
    for each in (*days, day(tmp_path, "3.jsonl")):
        found = replay_increment([each], program, states)
        states = found.states
        (rows,) = found.tallies.machines["Door"].found.rows.values()
        places.append([(f.details["file"], f.details["number"]) for _, f in rows])
    one, two = [[(str(each), n) for n in (2, 4)] for each in days]
    assert places == [one, [*one, *two], [*one, *two]]
    whole: Any = replay([*days, tmp_path / "3.jsonl"], program).to_json()
    assert [(each["file"], each["number"]) for each in whole["deviations"]] == [*one, *two]
