"""Replay in this process: what fits, what deviates and where, what cannot be judged."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, Nat, Param, transition
from lawful.checks.replay import (
    ReplayError,
    ReplayProgram,
    ReplayResult,
    TraceMapping,
    engine_choice,
    replay,
)
from lawful.checks.replay.engine_choice import chosen
from lawful.checks.replay.problems import COUNTS
from lawful.checks.replay.row_step import Stepper
from lawful.checks.replay.sources import Sources
from lawful.checks.replay.spark import session
from lawful.cli import main
from tests.checks.replay.journals import (
    PROGRAM,
    Bell,
    Recorder,
    Tampered,
    Worker,
    interleaved,
    job,
    of,
    rows,
    tampered,
    worker,
    written,
)
from tests.root import ROOT

BOTH = ReplayProgram((Worker.lawful.ir, Bell.lawful.ir))


def replayed(tmp_path: Path, journal: list[Any], program: ReplayProgram = PROGRAM) -> ReplayResult:
    return replay([written(tmp_path / "j.jsonl", journal)], program)


def test_a_journal_that_fits(tmp_path: Path) -> None:
    found = replayed(tmp_path, rows()).to_json()
    assert (found["instances"], found["events"], found["rows"]) == (3, 35, 38)
    expected = {"fits": 2, "open": 1, "deviates": 0, "inconclusive": 0, "quarantined": 0}
    assert found["verdicts"] == expected | {"empty": 0}
    assert found["counts"] == dict.fromkeys(COUNTS, 0) | {"judged": 35}
    assert found["failures"] == []
    assert found["by_instance"] == {"a": "fits", "b": "open", "c": "fits"}
    assert found["deviations"] == found["not_judged"] == found["totals"] == []
    assert found["coverage"] == {
        "transitions": {"take": 13, "finish_job": 10, "finish_all": 2, "lose_patience": 3},
        "states": {"IDLE": 21, "BUSY": 13, "OVER": 4},
    }
    assert found["other_machines"] == {"Bell": {"instances": 1, "rows": 4}}
    assert found["rejected"] == {"rows": 0, "reasons": []}


def test_machines_together(tmp_path: Path) -> None:
    result = replayed(tmp_path, rows(), BOTH)
    found: Any = result.to_json()
    assert result.exit_code == 0
    assert (found["instances"], found["other_machines"]) == (4, {})
    assert found["coverage"]["transitions"]["Bell.ring"] == 3
    assert [m["machine"] for m in found["machines"]] == ["Worker", "Bell"]
    assert found["machines"][1]["verdicts"]["fits"] == 1
    assert found["machines"][1]["coverage"] == {"transitions": {"ring": 3}, "states": {}}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("case", list(tampered()), ids=lambda case: case.name)
def test_what_becomes_of_a_spoilt_journal(case: Tampered, tmp_path: Path) -> None:
    journal = rows()
    case.spoil(journal)
    result = replayed(tmp_path, journal)
    found: Any = result.to_json()
    assert found["by_instance"]["a"] == case.verdict
    shown = [f for f in found["deviations"] + found["not_judged"] if f["instance"] == "a"]
    if case.verdict == "fits":
        assert not shown and result.exit_code == 0
        return
    wrong = [f for f in found["deviations"] if f["instance"] == "a"]
    finding = (wrong or shown)[0]
    assert (finding["kind"], finding["index"]) == (case.kind, case.index)
    assert case.clause in finding["clause"]
    assert result.exit_code == (2 if case.verdict == "deviates" else 3)
    assert found["by_instance"]["b"] == "open"
    # Every other row is judged: there is a finding of `a` alone, and what it has no state for.
    assert len(found["totals"]) == len(shown)
    assert found["counts"]["judged"] in (19, 34, 35)


def test_a_deviation_is_explained(tmp_path: Path) -> None:
    journal = rows()
    of(journal, "a", 4).update(event="finish", args={}, transition="finish_all")
    found: Any = replayed(tmp_path, journal).to_json()
    (finding,) = found["deviations"]
    assert finding["event"] == "finish" and finding["control"] == "IDLE"
    assert "state is IDLE, not BUSY; jobs are left (1 == 5 is false)" in finding["clause"]
    assert finding["legal"] == ["take"]
    assert finding["state"] == {
        "state": "IDLE",
        "job": None,
        "done": 1,
        "sizes": {"$map": [[1, 1]]},
        "patience": False,
    }
    assert finding["row"]["output"] == 2 and finding["row"]["transition"] == "finish_all"
    assert found["totals"] == [
        {
            "verdict": "deviates",
            "kind": "refused",
            "event": "finish",
            "state": "IDLE",
            "total": 1,
            "count": 1,
        }
    ]


def test_only_what_fits_is_covered(tmp_path: Path) -> None:
    journal = worker("a")
    whole = {"take": 6, "finish_job": 5, "finish_all": 1, "lose_patience": 1}
    assert replayed(tmp_path, journal).tallies.machines["Worker"].transitions == whole
    of(journal, "a", 4)["output"] = 9
    found = replayed(tmp_path, journal).tallies.machines["Worker"].transitions
    assert found == whole | {"take": 5}
    of(journal, "a", 4)["v"] = 9  # Then it is not known what the next row changes.
    found = replayed(tmp_path, journal).tallies.machines["Worker"].transitions
    assert found == {"take": 5, "finish_job": 5, "finish_all": 1}
    stopping = ReplayProgram(PROGRAM.machines, after="stop")
    found = replayed(tmp_path, journal, stopping).tallies.machines["Worker"].transitions
    assert found == {"take": 1, "finish_job": 1}


def test_findings_are_capped_and_counted(tmp_path: Path) -> None:
    journals = [worker(f"w{i:02}") for i in range(12)]
    for journal in journals:
        of(journal, journal[0]["instance"], 4)["output"] = 9
    found: Any = replayed(tmp_path, interleaved(*journals)).to_json()
    assert [f["instance"] for f in found["deviations"]] == ["w00", "w01", "w02"]
    assert [each["total"] for each in found["totals"]] == [12]


LINES: list[tuple[str, str]] = [
    ('{"v": 1, "inst', "not JSON"),
    ("[1, 2]", "not an object"),
    ("{}", "no instance: instance is null or missing, not a text"),
    ('{"instance": 7, "seq": 0}', "no instance: instance is a whole number, not a text"),
    ('{"instance": "\\ud800", "seq": 0}', "an instance that is no text"),
    ("[" * 100_000, "not JSON"),
    ('{"instance": "a", "instance": "a", "seq": 0}', "a key twice"),
    ('{"instance": "a", "seq": 3, "args": {"x": [{"y": 1, "y": 1}]}}', "a key twice"),
]


@pytest.mark.parametrize(("line", "reason"), LINES, ids=range(len(LINES)))
def test_what_is_no_row_is_counted(line: str, reason: str, tmp_path: Path) -> None:
    journal: list[Any] = [*map(json.dumps, rows()), line, "", "  "]
    result = replayed(tmp_path, journal)
    found: Any = result.to_json()
    assert found["rejected"]["rows"] == 1
    assert found["rejected"]["reasons"][0]["reason"] == reason
    assert found["verdicts"]["fits"] == 2 and result.exit_code == 3


def test_a_torn_last_line(tmp_path: Path) -> None:
    path = written(tmp_path / "j.jsonl", worker("a", 3))
    path.write_bytes(path.read_bytes()[:-30])
    found: Any = replay([path], PROGRAM).to_json()
    assert found["verdicts"]["open"] == 1 and found["rejected"]["rows"] == 1
    (reason,) = found["rejected"]["reasons"]
    assert reason["reason"] == "not JSON" and reason["first"][0].startswith('{"v": 1, "instance"')


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = written(tmp_path / "j.jsonl", worker("a"))
    path.write_bytes(path.read_bytes() + bytes(range(256)) + b'\n{"instance": "\xff"}\n')
    found: Any = replay([path], PROGRAM).to_json()
    assert found["verdicts"]["fits"] == 1
    assert found["rejected"]["rows"] == 3
    assert {each["reason"] for each in found["rejected"]["reasons"]} == {"not UTF-8", "not JSON"}


def test_no_journal_is_no_pass(tmp_path: Path) -> None:
    empty, junk = tmp_path / "empty.jsonl", tmp_path / "junk.jsonl"
    empty.write_bytes(b"\n \n")
    junk.write_bytes(bytes(range(256)) * 9)
    (tmp_path / "nothing").mkdir()
    strange = tmp_path / "strange"
    strange.mkdir()
    (strange / "notes.md").write_text("x", encoding="utf-8")
    torn = tmp_path / "torn.jsonl.gz"
    torn.write_bytes(gzip.compress(b"{}\n" * 1000)[:-9])
    fake = tmp_path / "fake.parquet"
    fake.write_bytes(b"PAR1" + bytes(100))
    other = written(tmp_path / "other.jsonl", Recorder("x").rows)
    for path, why in [
        (tmp_path / "missing", "there is no such file"),
        (empty, "has no row"),
        (tmp_path / "nothing", "has no row"),
        (junk, "no row of the journal is readable: not JSON, not UTF-8"),
        (strange, "neither lines nor a table"),
        (torn, "torn.jsonl.gz"),
        (fake, "fake.parquet"),
    ]:
        with pytest.raises(ReplayError) as caught:
            replay([path], PROGRAM)
        assert why in str(caught.value)
        assert "\n" not in str(caught.value)
    with pytest.raises(ReplayError, match="no row of Bell in the journal, only of Worker"):
        replay([other], ReplayProgram((Bell.lawful.ir,)))
    mapping = TraceMapping("$.k", "$.n", "$.e")
    with pytest.raises(ReplayError, match="no row of the log is readable"):
        replay([other], ReplayProgram((Bell.lawful.ir,), mapping=mapping))
    with pytest.raises(ReplayError, match="no trace is given"):
        replay([], PROGRAM)
    assert replay([other, empty], PROGRAM).verdicts == replay([other], PROGRAM).verdicts
    with pytest.raises(ReplayError, match="has no row"):
        replay([empty, empty], PROGRAM)
    with pytest.raises(ValueError, match="one or more machines"):
        ReplayProgram(())


class Scale(Machine):
    """Has the only kind of float there is, a parameter."""

    times: Nat = 0
    weight: Param[float] = 2.0

    @transition()
    def weigh(self) -> None:
        self.times += 1


@pytest.mark.parametrize(
    ("weight", "verdict"), [(2.0, "fits"), (2, "fits"), (True, "quarantined"), ("2", "quarantined")]
)
def test_a_float_may_be_told_as_a_whole_number(weight: Any, verdict: str, tmp_path: Path) -> None:
    program = ReplayProgram((Scale.lawful.ir,))
    recorder = Recorder("a", Stepper(Scale.lawful.ir))
    recorder.take("weigh")
    recorder.rows[0]["args"] = {"weight": weight}
    assert replayed(tmp_path, recorder.rows, program).verdicts[verdict] == 1


MARK = b"\xef\xbb\xbf"


def unread(tmp_path: Path) -> list[tuple[Path, str]]:
    """Files that no engine reads, for Spark would read them otherwise; and what is said of each."""
    told = "".join(f"{json.dumps(row)}\n" for row in worker("a")).encode()
    out: list[tuple[Path, str]] = []
    for name in ("_t.jsonl", ".t.jsonl", "_t.jsonl.gz", "t.jsonl._COPYING_"):
        out.append((tmp_path / name, "rename it"))
    for name in ("in/_t.jsonl", "in2/.t.json", "in3/_temporary/0/t.parquet"):
        out.append((tmp_path / name, "rename it"))
    out += [
        (tmp_path / name, "unpack it") for name in ("t.bz2", "t.BZ2", "t.jsonl.deflate", "t.zst")
    ]
    for path, _ in out:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(told) if path.suffix == ".gz" else told)
    (tmp_path / "bom.jsonl").write_bytes(MARK + told)
    (tmp_path / "bom.jsonl.gz").write_bytes(gzip.compress(MARK + told))
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "bom.jsonl")
    out += [(tmp_path / f"{n}", "byte order mark") for n in ("bom.jsonl", "bom.jsonl.gz")]
    out.append((tmp_path / "link.jsonl", "byte order mark"))
    folders = [(tmp_path / name, "rename it") for name in ("in", "in2", "in3")]
    return [(path, why) for path, why in out if path.parent == tmp_path] + folders


def test_what_another_engine_would_read_otherwise_is_refused(tmp_path: Path) -> None:
    for path, why in unread(tmp_path):
        with pytest.raises(ReplayError, match=why) as caught:
            replay([path], PROGRAM)
        assert str(path) in str(caught.value) and "\n" not in str(caught.value)
    for far in ("s3a://x/_t.jsonl", "s3a://x/.t.parquet/"):
        with pytest.raises(ReplayError, match="rename it"):
            replay([far], PROGRAM)


def test_a_mark_of_spark_in_a_folder_is_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "_under" / "parts"
    folder.mkdir(parents=True)
    written(folder / "0.jsonl", worker("a"))
    for name in ("_SUCCESS", ".0.jsonl.crc", "_committed_1"):
        (folder / name).write_bytes(b"x")
    assert replay([folder], PROGRAM).exit_code == 0


def test_folders_and_gzip(tmp_path: Path) -> None:
    whole = replayed(tmp_path, rows())
    folder = tmp_path / "parts"
    (folder / "day=1").mkdir(parents=True)
    lines = [json.dumps(row) for row in rows()]
    written(folder / "0.jsonl", lines[20:])
    (folder / "_SUCCESS").write_bytes(b"")
    (folder / "empty.jsonl").write_bytes(b"")
    packed = "".join(f"{line}\n" for line in lines[:20]).encode()
    (folder / "day=1" / "1.jsonl.gz").write_bytes(gzip.compress(packed))
    assert replay([folder], PROGRAM).tallies == whole.tallies


def test_a_timer_may_be_refused_until_it_is_due(tmp_path: Path) -> None:
    recorder = Recorder("a")
    recorder.take("take", job=job(1))
    recorder.rows.append(
        recorder.rows[-1]
        | {
            "seq": 2,
            "event": "lose_patience",
            "args": {},
            "outcome": "refused",
            "transition": None,
            "before": "BUSY",
            "changed": {},
            "output": None,
        }
    )
    assert replayed(tmp_path, recorder.rows).verdicts["open"] == 1


def test_a_program_travels_without_its_source() -> None:
    text = PROGRAM.text
    assert "journals.py" not in text and len(text) < 12_000
    back: ReplayProgram = pickle.loads(pickle.dumps(PROGRAM))
    assert back == PROGRAM
    assert back.steppers["Worker"].fingerprint == PROGRAM.steppers["Worker"].fingerprint


SCRIPT = """
import json, sys
from lawful.checks.replay.program import program_of
from lawful.checks.replay import replay
program = program_of(open(sys.argv[1]).read())
found = replay([sys.argv[2]], program).to_json()
found.pop("seconds")
print(json.dumps(found))
"""


@pytest.mark.nightly
def test_nothing_depends_on_the_hash_seed(tmp_path: Path) -> None:
    journal = rows()
    of(journal, "a", 9)["changed"] = {}
    of(journal, "b", 9)["output"] = "x"
    (tmp_path / "program.json").write_text(PROGRAM.text, encoding="utf-8")
    path = written(tmp_path / "j.jsonl", journal)
    outputs = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT, str(tmp_path / "program.json"), str(path)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(outputs) == 1
    (output,) = outputs
    assert json.loads(output)["verdicts"]["deviates"] == 2


def test_the_engine_is_chosen_by_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "j.jsonl", worker("a"))
    assert replay([path], PROGRAM, "auto").engine == "local"
    packed = tmp_path / "j.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    small = Sources((str(path),), ())
    assert chosen(small, "yarn") == chosen(Sources(("s3a://b/j.jsonl",), ())) == "spark"
    for missing, large in (("", "spark"), ("no Java", "local")):
        monkeypatch.setattr(session, "why_no_spark", lambda missing=missing: missing)
        monkeypatch.setattr(engine_choice, "SMALL", small.size)
        assert chosen(small) == "local"
        monkeypatch.setattr(engine_choice, "SMALL", small.size - 1)
        assert chosen(small) == large
        monkeypatch.setattr(engine_choice, "SMALL", 10 * packed.stat().st_size - 1)
        assert chosen(Sources((str(packed),), ())) == large


def test_a_wrong_choice_of_the_engine_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    files = Sources((__file__,), ())
    kilobytes = f"{files.size / 1024:,.0f} kB of lines"
    assert engine_choice.remark("local", files, "auto", None) == ""
    assert engine_choice.remark("spark", files, "spark", None) == (
        f"{kilobytes} need no Spark: --engine local replays them sooner"
    )
    assert engine_choice.remark("spark", files, "auto", "yarn") == ""
    monkeypatch.setattr(engine_choice, "SMALL", 1000)
    assert engine_choice.remark("spark", files, "auto", None) == ""
    assert engine_choice.remark("local", files, "local", None) == (
        f"{kilobytes} are more than 1000 bytes: --engine auto replays them on Spark"
    )
    monkeypatch.setattr(session, "why_no_spark", lambda: "Java is missing")
    assert engine_choice.remark("local", files, "auto", None) == (
        f"{kilobytes} are more than 1000 bytes, but Java is missing"
    )


def test_few_rows_start_no_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def start(_: str | None) -> None:
        raise AssertionError("Spark was started for four rows")

    monkeypatch.setattr(session, "session", start)
    monkeypatch.setattr(session, "why_no_spark", start)
    told: list[str] = []
    path = written(tmp_path / "j.jsonl", worker("a")[:4])
    found = replay([path], PROGRAM, "auto", tell=told.append)
    assert (found.engine, found.remark, found.total.rows) == ("local", "", 4)
    assert told == ["0 rows read"]
    assert main(["replay", str(path), "tests.checks.replay.journals:Worker", "--quiet"]) == 0
