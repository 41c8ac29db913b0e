"""The command line where its output cannot be written: the verdict stays, and the error is told."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lawful.cli import main
from lawful.command_table import command_rows
from lawful.commands import files
from lawful.commands.errors import CommandError
from tests.lawful.test_cli import SURPRISE
from tests.lawful.test_reports import WORKER, journal


@pytest.fixture
def gone_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folders were there when the command began."""
    monkeypatch.setattr(files, "look", id)


@pytest.mark.usefixtures("gone_meanwhile")
@pytest.mark.parametrize("option", ["--json", "--junit", "--sarif"])
def test_what_was_found_is_told_though_a_file_cannot_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    path, nowhere = tmp_path / "surprise.py", tmp_path / "missing" / "file"
    path.write_text(SURPRISE)
    assert main(["check", f"{path}", option, f"{nowhere}"]) == 5
    told = capsys.readouterr()
    assert "below_two is violated: n < 2 is false (n = 2)" in told.out
    assert told.err == f"cannot write {nowhere}: No such file or directory\n"


REPLAYED = ["--junit", "--sarif", "--report", "--metrics", "--itf", "--pytest"]


@pytest.mark.usefixtures("gone_meanwhile")
@pytest.mark.parametrize("option", REPLAYED)
def test_replay_tells_its_verdicts_before_it_writes_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    """Neither a signal nor a file that cannot be written takes the verdicts away."""
    (tmp_path / "file").write_text("")
    nowhere = tmp_path / "file" / "below"
    asked = ["--engine", "local", option, f"{nowhere}"]
    assert main(["replay", f"{journal(tmp_path)}", WORKER, *asked]) == 5
    told = capsys.readouterr()
    assert "1 deviates" in told.out
    assert f"{nowhere}" in told.err


@pytest.mark.parametrize("asked", [[], ["--json", "-"]], ids=["text", "json"])
def test_output_that_nobody_reads_or_that_is_full_changes_no_verdict(
    tmp_path: Path, asked: list[str]
) -> None:
    path = tmp_path / "surprise.py"
    path.write_text(SURPRISE)
    command = [sys.executable, "-m", "lawful", "check", f"{path}", *asked]
    reader, writer = os.pipe()
    os.close(reader)
    gone = subprocess.run(command, check=False, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (gone.returncode, gone.stderr) == (1, "")
    with open("/dev/full", "w") as full:
        ran = subprocess.run(command, check=False, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (ran.returncode, ran.stderr) == (5, "cannot write the answer: No space left on device\n")


def test_a_file_is_written_as_a_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A signal comes when half of it is written."""
    path, write = tmp_path / "a.json", Path.write_text
    files.save(path, "older")
    path.chmod(0o640)

    def interrupted(file: Path, text: str, encoding: str) -> None:
        write(file, text[:2], encoding)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", interrupted)
        with pytest.raises(KeyboardInterrupt):
            files.save(path, "newer")
    assert [each.read_text() for each in tmp_path.iterdir()] == ["older"]
    files.save(path, "newer")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("newer", 0o640)


def test_a_pipe_and_a_link_stay_what_they_are(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDWR)  # Also to write into it does not wait then.
    try:
        files.save(pipe, "passes")
        assert (pipe.is_fifo(), os.read(end, 99)) == (True, b"passes")
    finally:
        os.close(end)
    link, held = tmp_path / "link", tmp_path / "held"
    link.symlink_to(held)
    files.save(link, "through")
    assert link.is_symlink() and held.read_text() == "through"


# What is known before the command begins.
BEGUN = "raise SystemExit('the command has begun')\n"
WRITTEN = {
    "check": ["--json", "--junit", "--sarif", "--itf", "--pytest"],
    "simulate": ["--json", "--junit", "--sarif", "--itf", "--pytest"],
    "prove": ["--json", "--junit", "--sarif", "--itf", "--smtlib"],
    "lint": ["--json", "--junit", "--sarif", "--answers"],
    "lock": ["--json", "--file"],
    "draw": ["--json", "--out"],
    "explore": ["--json", "--html"],
    "export": ["--json", "--out"],
    "certify": ["--json", "--out"],
    "replay": [
        "--json",
        "--junit",
        "--sarif",
        "--itf",
        "--pytest",
        "--report",
        "--metrics",
        "--keep",
    ],
    "infer-mapping": ["--json", "--out"],
}
FOLDERS = {"--itf", "--pytest", "--smtlib"}


@pytest.mark.parametrize(
    ("name", "option"), [(name, option) for name in WRITTEN for option in WRITTEN[name]]
)
@pytest.mark.parametrize("place", ["below a file", "in no folder", "a folder"])
def test_what_cannot_be_written_is_told_before_the_command_begins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, option: str, place: str
) -> None:
    target = tmp_path / "begun.py"
    target.write_text(BEGUN)
    folder = option in FOLDERS or (option == "--out" and name != "infer-mapping")
    paths = {
        "below a file": (target / "new", "Not a directory"),
        "in no folder": (tmp_path / "no" / "new", "No such file or directory"),
        "a folder": (tmp_path, "Is a directory"),
    }
    path, why = paths[place]
    traces = ["rows.jsonl"] if name in ("replay", "infer-mapping") else []
    more = ["--tla"] if name == "export" else []
    assert main([name, *traces, f"{target}", *more, option, f"{path}"]) in (4, 5)
    told = capsys.readouterr()
    assert told.out == ""
    if folder and place != "below a file":
        assert "the command has begun" in told.err and "cannot make" not in told.err
    else:
        what = "cannot make the folder" if folder else "cannot write"
        assert told.err == f"{what} {path}: {why}\n"
    left = {each.name for each in tmp_path.iterdir()} - {"__pycache__"}  # Python keeps bytecode.
    assert left == {"begun.py"}


def test_each_option_that_names_what_is_written_is_looked_at() -> None:
    """A file or folder that is read, or that is opened when the command begins, is not."""
    others = {"--mapping", "--tlc", "--resume", "--spill", "--store"} | {
        "--also",
        "--against",
        "--older",
    }
    found = {
        row.name: {word.names[-1] for word in row.options if word.kind} - others
        for row in command_rows()
    }
    everywhere = {"--json", "--junit", "--sarif", "--itf"}
    assert {name: found[name] - everywhere for name in WRITTEN} == {
        name: set(options) - everywhere for name, options in WRITTEN.items()
    }
    assert {name for name in found if found[name] - everywhere} <= {*WRITTEN, "diff"}


def test_a_file_that_is_looked_at_is_neither_cut_nor_touched(tmp_path: Path) -> None:
    kept, link, dangling = (tmp_path / name for name in ("a.json", "link", "dangling"))
    kept.write_text("older")
    os.utime(kept, (1, 1))
    link.symlink_to(kept)
    dangling.symlink_to(tmp_path / "no" / "file")
    files.look_at_file(kept)
    files.look_at_file(link)
    with pytest.raises(CommandError, match=f"cannot write {dangling}: No such file or directory"):
        files.look_at_file(dangling)
    assert (kept.read_text(), kept.stat().st_mtime) == ("older", 1)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.json", "dangling", "link"]


def test_two_answers_do_not_go_into_one_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target, path = tmp_path / "begun.py", tmp_path / "a"
    target.write_text(BEGUN)
    asked = ["--json", f"{path}", "--junit", f"{tmp_path}/./a"]
    assert main(["check", f"{target}", *asked]) == 5
    told = capsys.readouterr().err
    assert told == f"--json and --junit both write {path}; name two files\n"
    assert main(["check", f"{target}", "--json", "/dev/null", "--junit", "/dev/null"]) != 0
    assert "the command has begun" in capsys.readouterr().err
