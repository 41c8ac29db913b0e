"""Rows in the order of their files: a file that is given twice is one, and a copy is named."""

from __future__ import annotations

import dataclasses
import json
import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from lawful.checks.replay import (
    GivenFiles,
    Increment,
    JointProgram,
    Preparation,
    ReplayError,
    ReplayProgram,
    ReplayResult,
    replay,
    replay_increment,
)
from lawful.checks.replay.columnar.layout import layout_of_prepared
from lawful.checks.replay.columnar.local import tally_columns
from lawful.checks.replay.in_process import tally_rows
from lawful.checks.replay.increments.state_files import read_states, states_text
from lawful.checks.replay.mapping import mapping_of
from lawful.checks.replay.sources import copies, numbered, sources
from lawful.checks.replay.tally import Tallies
from lawful.cli import main
from lawful.commands.exit_codes import ExitCode
from lawful.spec.codec.as_json import is_list, is_object
from tests.checks.replay.answers import Answer, of_tallies
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
    assert [number for number, _ in numbered([one, one, other])] == [0, 0, 1]
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


def in_increments(
    parts: Iterable[Sequence[Path]], program: ReplayProgram, kept: Path | None = None
) -> Increment:
    """The last increment; states and files go through a file where one is `kept`."""
    found = Increment(Tallies(every=False), {})
    for given in parts:
        states, files = found.states, found.files
        if kept is not None and kept.exists():
            read = read_states(kept, program)
            assert (read.states, read.files) == (states, files)
        found = replay_increment([*given], program, states, files=files)
        if kept is not None:
            kept.write_text(states_text(found.states, program, found.files), encoding="utf-8")
    return found


def plain(tallies: Tallies) -> Answer:
    """Everything of the tallies but rejected rows, which are told once, and names of files, which a
    whole replay adds later."""
    found = dataclasses.replace(of_tallies(tallies), rejected={})
    findings = [json.loads(each) for each in found.findings]
    for each in findings:
        each["details"] = without_files(json.loads(each["details"]))
    return dataclasses.replace(found, findings=sorted(map(json.dumps, findings)))


def without_files(data: Any) -> Any:
    if is_object(data):
        return {name: without_files(each) for name, each in data.items() if name != "file"}
    return [*map(without_files, data)] if is_list(data) else data


def days(folder: Path, chance: random.Random) -> list[Path]:
    """Files of some doors each; some have no row of any, but rows of other machines, or none that
    can be read."""
    out: list[Path] = []
    for number in range(4):
        names = chance.sample("abc", chance.randrange(3))
        told: list[Any] = [
            {"i": name, "e": "set", "to": chance.random() < 0.5} for name in names for _ in range(3)
        ]
        lines = [*map(json.dumps, told), '{"i": "a", "e": "other"}', "no JSON"]
        chance.shuffle(lines)
        out.append(written(folder / f"{number}.jsonl", lines))
    return out


ELSEWHERE = dataclasses.replace(
    PROGRAM, mapping=dataclasses.replace(BY_FILE, elsewhere=("other",)), every=True
)


@pytest.mark.parametrize("remembered", [0, 2, 1000])
def test_increments_find_what_a_replay_of_all_files_finds(remembered: int, tmp_path: Path) -> None:
    """Also where a file is given again, was forgotten, or had no row of an instance: verdicts,
    counts, and the numbers of findings."""
    program = dataclasses.replace(ELSEWHERE, remembered=remembered)
    again = 0
    for seed in range(60):
        chance = random.Random(seed)
        folder = tmp_path / str(seed)
        folder.mkdir()
        given = days(folder, chance)
        given = [*given, *chance.choices(given, k=3)]
        chance.shuffle(given)
        cut = sorted(chance.sample(range(1, len(given)), 2))
        parts = [given[: cut[0]], given[cut[0] : cut[1]], given[cut[1] :]]
        found = in_increments([part for part in parts if part], program, folder / "states")
        whole = tally_rows(sources(given, foreign=True), program)
        if "Door" not in whole.machines:
            continue
        assert plain(found.tallies) == plain(whole)
        assert found.files.count == len(found.files.known) == len({*given})
        again += whole.machines["Door"].counts["duplicates"]
    assert again > 200


def test_what_a_file_is_known_by(tmp_path: Path) -> None:
    """By its path and what it had: it may grow, and another file may have its name. A copy counts,
    and is named."""
    one = day(tmp_path, "1.jsonl")
    first = replay_increment([one], PROGRAM, {})
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(one.read_bytes())
    copied = replay_increment([copy], PROGRAM, first.states, files=first.files)
    told = f"{copy} begins with all that {one} had in an earlier increment; each row counts, so "
    assert copied.remark == f"{told}leave out a copy"
    assert copied.tallies.machines["Door"].counts == {"judged": 6, "deviations": 1}
    rows = one.read_text(encoding="utf-8")
    one.write_text(rows + rows.splitlines(keepends=True)[1], encoding="utf-8")
    grown = replay_increment([one], PROGRAM, first.states, files=first.files)
    assert (grown.remark, grown.tallies.machines["Door"].verdicts) == ("", {"fits": 1})
    assert grown.tallies.machines["Door"].counts == {"judged": 4, "duplicates": 3}
    assert (grown.files.count, [each.last for each in grown.files.known.values()]) == (1, [4])
    day(tmp_path, "1.jsonl", first=False)
    rotated = replay_increment([one], PROGRAM, first.states, files=first.files)
    assert rotated.tallies.machines["Door"].counts == {"judged": 6}
    assert [each.number for each in rotated.files.known.values()] == [1]


def test_a_last_line_that_was_written_in_part(tmp_path: Path) -> None:
    """The rest of it comes later: the row is another one than that which was judged."""
    path = tmp_path / "1.jsonl"
    path.write_text('{"i": "a", "e": "set", "to": true}\n{"i": "b", "e": "se', encoding="utf-8")
    first = replay_increment([path], PROGRAM, {})
    with path.open("a", encoding="utf-8") as file:
        file.write('t", "to": true}\n{"i": "b", "e": "set", "to": false}\n')
    found = replay_increment([path], PROGRAM, first.states, files=first.files)
    door = found.tallies.machines["Door"]
    assert (door.verdicts, door.counts) == ({"fits": 2}, {"judged": 3, "duplicates": 1})


def test_what_a_last_line_got_later_is_not_taken_for_known(tmp_path: Path) -> None:
    """`open 1` became `open 12`: nobody remembers the row, and it says something else."""
    how: dict[str, Any] = {
        "format": "text",
        "line": r"(?P<i>\w) (?P<to>\w+) (?P<at>\d+)",
        "order": "file",
    }
    data = {"instance": "$.i", "event": "$.e", "args": {"set": {"to": "$.to"}}, "preparation": how}
    how |= {"fields": {"e": "set"}, "casts": {"$.to": "bool", "$.at": "int"}}
    data["output"] = "$.at"
    program = ReplayProgram((Door.lawful.ir,), mapping=mapping_of(data), remembered=0)
    one, two = tmp_path / "1.log", tmp_path / "2.log"
    one.write_text("a true 1\na false 1", encoding="utf-8")
    two.write_text("a true 1\n", encoding="utf-8")
    found = in_increments([[one], [two]], program)
    assert found.tallies.machines["Door"].counts["duplicates"] == 0
    with one.open("a", encoding="utf-8") as file:
        file.write("2\n")
    again = replay_increment([one], program, found.states, files=found.files)
    counts = again.tallies.machines["Door"].counts
    assert (counts["duplicates"], counts["late"]) == (1, 1)


def test_a_file_without_a_row_has_no_copy(tmp_path: Path) -> None:
    """As one of CSV that has only the names of its columns."""
    none, some = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    none.write_text("no row\n", encoding="utf-8")
    some.write_text('no row\n{"i": "a", "e": "set", "to": true}\n', encoding="utf-8")
    found = in_increments([[none], [some]], PROGRAM)
    assert (found.remark, [each.last for each in found.files.known.values()]) == ("", [0, 2])


def test_states_without_their_files_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = day(tmp_path, "1.jsonl")
    found = replay_increment([one], PROGRAM, {})
    with pytest.raises(ReplayError, match="only if the files of the increments before are known"):
        replay_increment([one], PROGRAM, found.states)
    with pytest.raises(ReplayError, match="a: a state of more files than `files` has; give those"):
        replay_increment([one], PROGRAM, found.states, files=GivenFiles())
    mapping, kept = tmp_path / "m.json", tmp_path / "states"
    mapping.write_text(json.dumps(BY_FILE.to_json()), encoding="utf-8")
    given = ["replay", str(one), f"{Door.__module__}:Door", "--mapping", str(mapping), "--quiet"]
    assert main([*given, "--keep", str(kept)]) == 0
    first = json.loads(kept.read_text(encoding="utf-8").splitlines()[0])
    assert list(first["files"]["known"]) == [str(one.resolve())]
    assert main([*given, "--resume", str(kept), "--keep", str(kept)]) == 0
    capsys.readouterr()
    older = written(tmp_path / "older", [json.dumps({"instance": "a", "state": found.states["a"]})])
    older.write_text(older.read_text().replace('\\"v\\":2', '\\"v\\":1'), encoding="utf-8")
    assert main([*given, "--resume", str(older)]) == ExitCode.USAGE
    assert "an earlier version of lawful kept have none: replay" in capsys.readouterr().err


def test_findings_of_increments_keep_their_file(tmp_path: Path) -> None:
    """Also of the last row of a file, which is judged when a later one comes, and of findings that
    an earlier increment made."""
    wrong = [{"i": "a", "e": "set", "to": to} for to in (True, True, False, False)]
    given = [written(tmp_path / f"{n}.jsonl", [json.dumps(each) for each in wrong]) for n in (1, 2)]
    program = dataclasses.replace(PROGRAM, every=True)
    found = Increment(Tallies(every=True), {})
    places: list[list[tuple[Any, Any]]] = []
    for each in (*given, day(tmp_path, "3.jsonl")):
        found = replay_increment([each], program, found.states, files=found.files)
        (rows,) = found.tallies.machines["Door"].found.rows.values()
        places.append([(f.details["file"], f.details["number"]) for _, f in rows])
    one, two = [[(str(each), n) for n in (2, 4)] for each in given]
    assert places == [one, [*one, *two], [*one, *two]]
    whole: Any = replay([*given, tmp_path / "3.jsonl"], program).to_json()
    assert [(each["file"], each["number"]) for each in whole["deviations"]] == [*one, *two]
