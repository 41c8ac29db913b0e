"""Increments: yesterday's states and today's rows give the verdicts of all rows together."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import pickle
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from lawful.checks.replay import ReplayError, ReplayProgram, replay, replay_increment
from lawful.checks.replay.fold import fold
from lawful.checks.replay.increments.continuation import Continuation, Increment
from lawful.checks.replay.increments.given_files import GivenFiles
from lawful.checks.replay.increments.state_files import read_states, states_text
from lawful.checks.replay.mapping import mapping_of
from lawful.checks.replay.problems import InstanceVerdict
from lawful.checks.replay.rows import Row, combined, journal_row, parse, row_json
from lawful.checks.replay.tally import Tallies
from lawful.cli import main
from lawful.commands.exit_codes import ExitCode
from tests.checks.replay.journals import (
    PROGRAM,
    Bell,
    Tampered,
    Worker,
    interleaved,
    of,
    rows,
    tampered,
    worker,
    written,
)


def in_parts(parts: Iterable[list[Row]], program: ReplayProgram) -> InstanceVerdict:
    """The last verdict on an instance whose rows come in these parts, each sorted."""
    text, verdict = "", None
    for part in parts:
        going_on = Continuation(program, "a", text)
        for row in sorted(part, key=lambda each: each.seq):
            going_on.take(row)
        verdict = going_on.end()
        assert json.loads(verdict.snapshot)["instance"] == "a"
        text = verdict.snapshot
    assert verdict is not None
    return dataclasses.replace(verdict, snapshot="")


def told(case: Tampered | None = None) -> list[Row]:
    """The rows of the instance `a` of a journal, which may be spoilt, in order."""
    journal = rows()
    if case is not None:
        case.spoil(journal)
    found = [parse(json.dumps(each), journal_row) for each in journal]
    mine = [row for row in found if isinstance(row, Row) and row.instance == "a"]
    return sorted(mine, key=lambda row: row.seq)


@pytest.mark.one_in(12)
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.name, marks=pytest.mark.nightly if n % 2 else ())
        for n, case in enumerate(tampered())
    ],
)
def test_any_cut_gives_the_verdict_of_all_rows(case: Tampered) -> None:
    its = told(case)
    for program in (PROGRAM, dataclasses.replace(PROGRAM, every=True, after="stop")):
        whole = fold(program, "a", its)
        for cut in range(1, len(its)):
            assert in_parts([its[:cut], its[cut:]], program) == whole
        assert in_parts([[row] for row in its], program) == whole


def test_a_row_that_is_missing_may_come_in_the_next_increment() -> None:
    its = told()
    whole = fold(PROGRAM, "a", its)
    assert in_parts([[*its[:2], *its[4:]], its[2:4]], PROGRAM) == whole
    first = in_parts([[*its[:2], *its[4:]]], PROGRAM)
    assert (first.verdict, first.counts["gaps"]) == ("quarantined", 1)


def test_a_missing_row_may_come_twice() -> None:
    """What waited for it comes after both, not after the first."""
    its = told()
    whole = fold(PROGRAM, "a", [*its[:3], its[2], *its[3:]])
    assert whole.counts["duplicates"] == 1
    assert in_parts([[*its[:2], *its[3:]], [its[2], its[2]]], PROGRAM) == whole


def test_files_of_three_days(tmp_path: Path) -> None:
    wrong = worker("b")
    of(wrong, "b", 2)["output"] = 9
    lines = interleaved(worker("a"), wrong, worker("c"))
    cut = len(lines) // 3
    days = [lines[:cut], lines[cut : 2 * cut], lines[2 * cut :]]
    last = Increment(Tallies(every=False), {})
    for number, day in enumerate(days):
        path = written(tmp_path / f"{number}.jsonl", day)
        last = replay_increment([path], PROGRAM, last.states)
    whole = replay([written(tmp_path / "all.jsonl", lines)], PROGRAM)
    assert last.tallies == whole.tallies
    assert sorted(last.states) == ["a", "b", "c"]
    with pytest.raises(ReplayError, match="a state of another format"):
        replay_increment([tmp_path / "0.jsonl"], PROGRAM, {"a": '{"v": 0}'})
    strange = json.loads(last.states["a"]) | {"fingerprint": "0000"}
    with pytest.raises(ReplayError, match="a state of Worker 0000, which is not given"):
        replay_increment([tmp_path / "0.jsonl"], PROGRAM, {"a": json.dumps(strange)})


def test_states_in_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = worker("b")
    of(wrong, "b", 2)["output"] = 9
    lines = interleaved(worker("a"), wrong)
    cut = len(lines) // 2
    days = [
        written(tmp_path / f"{n}.jsonl", part) for n, part in enumerate((lines[:cut], lines[cut:]))
    ]
    target, first, second = "tests.checks.replay.journals:Worker", tmp_path / "1", tmp_path / "2"
    assert main(["replay", str(days[0]), target, "--keep", str(first), "--quiet"]) in (0, 2)
    more = ["--resume", str(first), "--keep", str(second), "--json", "-"]
    capsys.readouterr()
    assert main(["replay", str(days[1]), target, *more]) == 2
    assert json.loads(capsys.readouterr().out)["by_instance"] == {"a": "fits", "b": "deviates"}
    assert sorted(read_states(second, PROGRAM).states) == ["a", "b"]
    again = read_states(second, PROGRAM)
    assert states_text(again.states, PROGRAM) == second.read_text(encoding="utf-8")
    assert again.files == GivenFiles()
    assert main(["replay", str(days[1]), target, *more, "--engine", "spark"]) == ExitCode.USAGE


NUMBERED: dict[str, Any] = {"instance": "$.i", "seq": "$.n", "event": "$.t"}


def summed(text: str) -> str:
    """The file of states with the checksum that belongs to it."""
    first, _, rest = text.partition("\n")
    told = {**json.loads(first), "sum": ""}
    found = hashlib.sha256(f"{json.dumps(told)}\n{rest}".encode()).hexdigest()
    return json.dumps({**told, "sum": found}) + "\n" + rest


def of_version_2(text: str) -> str:
    """The file as lawful wrote it before its first line was in the checksum."""
    first, _, rest = text.partition("\n")
    told = {**json.loads(first), "v": 2, "sum": hashlib.sha256(rest.encode()).hexdigest()}
    del told["files"]
    return json.dumps(told) + "\n" + rest


# What is wrong with a file of states: how it is made, and what is said.
BROKEN: dict[str, tuple[Callable[[str], str], str]] = {
    "empty": (lambda text: "", "is empty, and no file of states; write it anew"),
    "cut at a line end": (
        lambda text: text[: text.rstrip().rindex("\n") + 1],
        "has 1 states, and by its line 1 2: a part of the file is missing; write it anew",
    ),
    "only its first line": (lambda text: text[: text.index("\n") + 1], "has 0 states, and by its"),
    "cut within a line": (lambda text: text[:-9], "has 1 states, and by its line 1 2"),
    "without its first line": (
        lambda text: text[text.index("\n") + 1 :],
        "line 1 is a state of a file whose first line is missing",
    ),
    "changed": (lambda text: text.replace("IDLE", "BUSY"), "has another checksum than its line 1"),
    "of another form": (
        lambda text: '{"instance": 1}\n',
        "line 1 is no state of an instance, with instance, state: it has instance",
    ),
    "no JSON": (lambda text: "instance,state\n", "line 1 is no JSON: "),
    "no object": (lambda text: "[]\n", "line 1 is no JSON object"),
    "lacks a key": (
        lambda text: text.replace('"sum"', '"some"', 1),
        "line 1 has v, states, some, mappings, files, not",
    ),
    "a changed first line": (
        lambda text: text.replace('"mappings": {}', '"mappings": []', 1),
        "line 1: mappings is a list, not an object",
    ),
    "a first line without its form": (
        lambda text: text.replace('"given": 0', '"gave": 0', 1),
        "has another checksum than its line 1 says; write it anew",
    ),
    "a changed number of files": (
        lambda text: text.replace('"given": 0', '"given": 1', 1),
        "has another checksum than its line 1 says; write it anew",
    ),
    "a space in its first line": (
        lambda text: text.replace(", ", ",  ", 1),
        "has another checksum than its line 1 says; write it anew",
    ),
    "files of another form": (
        lambda text: summed(text.replace('"known": {}', '"known": {"a": 1}', 1)),
        "line 1: files has another form (TypeError: ",
    ),
    "version 2, changed": (
        lambda text: of_version_2(text).replace("IDLE", "BUSY"),
        "has another checksum than its line 1 says",
    ),
    "newer": (
        lambda text: text.replace('"v": 3', '"v": 9', 1),
        "line 1: states of another format, version 9; this lawful reads 1 to 3",
    ),
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_file_of_states_that_is_not_whole(how: str, tmp_path: Path) -> None:
    day = written(tmp_path / "day", interleaved(worker("a"), worker("b")))
    text = states_text(replay_increment([day], PROGRAM, {}).states, PROGRAM)
    path, (broken, told) = tmp_path / "states", BROKEN[how]
    path.write_text(text, encoding="utf-8")
    assert sorted(read_states(path, PROGRAM).states) == ["a", "b"]
    path.write_text(of_version_2(text), encoding="utf-8")
    assert read_states(path, PROGRAM).files is None
    path.write_text(broken(text), encoding="utf-8")
    with pytest.raises(ReplayError) as error:
        read_states(path, PROGRAM)
    assert str(error.value).startswith(f"{path}: {told}")


STRANGE = ("", "\u2028", "\x85", "a\x0bb", "\x1c", "\r", "\n", "é")


def test_names_and_values_may_be_any_text(tmp_path: Path) -> None:
    """Some characters end a line for Python, and a lone surrogate has no UTF-8."""
    program = ReplayProgram((Bell.lawful.ir,), mapping=mapping_of(NUMBERED))
    rows = [{"i": name, "n": n, "t": "\ud800"} for n, name in enumerate(STRANGE)]
    day = written(tmp_path / "day", rows)
    kept, states = replay_increment([day], program, {}).states, tmp_path / "states"
    states.write_text(states_text(kept, program), encoding="utf-8")
    assert sorted(kept) == sorted(STRANGE)
    assert read_states(states, program).states == kept
    before = [
        {"instance": name, "state": text.replace('"v":2', '"v":1')} for name, text in kept.items()
    ]
    lines = [json.dumps(each, ensure_ascii=False) + "\n" for each in before]
    states.write_text("".join(lines), encoding="utf-8", newline="")
    assert sorted(read_states(states, program).states) == sorted(STRANGE)
    states.write_text(states_text({}, program), encoding="utf-8")
    assert read_states(states, program).states == {}


def test_the_command_names_the_file_of_a_state_that_it_cannot_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    day, states = written(tmp_path / "day", worker("a")), tmp_path / "states"
    given = ["replay", str(day), "tests.checks.replay.journals:Worker", "--quiet"]
    assert main([*given, "--keep", str(states)]) == 0
    other = [*given[:2], "tests.checks.replay.journals:Bell", "--resume", str(states)]
    assert main(other) == ExitCode.USAGE
    told = capsys.readouterr().err
    assert f"{states}: instance a: a state of Worker " in told
    assert "(given: Bell " in told and "name it by --older" in told
    with pytest.raises(ReplayError, match=r"a: a state that cannot be read .KeyError: "):
        replay_increment([day], PROGRAM, {"a": '{"v": 1, "instance": "a"}'})


@pytest.mark.parametrize("option", ["--pytest", "--itf"])
def test_what_needs_all_rows_does_not_go_on_from_states(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A test or a trace of the later rows alone would begin in another state."""
    day, states = written(tmp_path / "day", worker("a")), tmp_path / "states"
    given = ["replay", str(day), "tests.checks.replay.journals:Worker", "--quiet"]
    assert main([*given, "--keep", str(states), option, str(tmp_path / "out")]) == 0
    more = ["--resume", str(states), option, str(tmp_path / "out")]
    assert main([*given, *more]) == ExitCode.USAGE
    told = "needs all rows of an instance, and --resume leaves out earlier ones"
    assert f"{option} {told}; replay the whole log for it" in capsys.readouterr().err


def test_an_increment_may_have_no_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As the log of a day on which nothing happened; the first one has to have some."""
    day, none = written(tmp_path / "day", worker("a")), tmp_path / "none"
    none.write_text("\n", encoding="utf-8")
    first, second = tmp_path / "first", tmp_path / "second"
    given = ["tests.checks.replay.journals:Worker", "--quiet"]
    assert main(["replay", str(none), *given, "--keep", str(first)]) == ExitCode.USAGE
    assert "none: has no row" in capsys.readouterr().err
    assert main(["replay", str(day), *given, "--keep", str(first)]) == 0
    went_on = ["--resume", str(first), "--keep", str(second)]
    assert main(["replay", str(none), *given, *went_on]) == 0
    assert second.read_text(encoding="utf-8") == first.read_text(encoding="utf-8")
    missing = ["replay", str(tmp_path / "missing"), *given, *went_on]
    assert main(missing) == ExitCode.USAGE


def test_another_mapping_is_named(tmp_path: Path) -> None:
    text = '{"i": "a", "n": 1, "t": "ring"}'
    day, states = written(tmp_path / "day", [text]), tmp_path / "states"
    data = NUMBERED
    computed = {"$.a": "$.b", "$.c": "$.d"}
    defaults = {"$.x": 1, "$.y": 2}
    how = {"fields": computed, "defaults": defaults}

    def bell(**more: Any) -> ReplayProgram:
        return ReplayProgram((Bell.lawful.ir,), mapping=mapping_of({**data, **more}))

    before = bell(preparation=how)
    kept = replay_increment([day], before, {}).states
    states.write_text(states_text(kept, before), encoding="utf-8")
    again = {"defaults": dict(reversed(defaults.items())), "fields": dict(computed)}
    assert read_states(states, bell(preparation=again)).states == kept
    assert replay_increment([day], bell(preparation=again), kept).states
    turned = {**how, "fields": dict(reversed(computed.items()))}
    for program, told in (
        (bell(preparation=how, event="$.e"), 'event was "$.t", and is "$.e"; give that mapping'),
        (bell(preparation=how, zone="UTC", unit="iso"), 'zone was not given, and is "UTC"'),
        (bell(preparation={**how, "order": "file"}, seq=None), 'preparation.order was "", and is'),
        (bell(preparation=turned), "preparation.fields was "),
        (ReplayProgram((Bell.lawful.ir,)), "there was a mapping, and is no mapping"),
        (ReplayProgram((Worker.lawful.ir,), mapping=mapping_of(data)), "has states of Bell"),
    ):
        with pytest.raises(ReplayError) as error:
            read_states(states, program)
        assert told in str(error.value)
        with pytest.raises(ReplayError, match="instance a: a state of "):
            replay_increment([day], program, kept, files=GivenFiles())


def test_a_row_that_came_from_another_process() -> None:
    row = Row("a", 1, "Worker", event="take", outcome="happened")
    sent = pickle.loads(pickle.dumps(row))
    assert row_json(sent) == row_json(row)
    assert combined(sent, dataclasses.replace(row, output=1)) == dataclasses.replace(row, output=1)
