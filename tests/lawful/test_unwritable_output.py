"""The command line where its output cannot be written: the verdict stays, and the error is told."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lawful.cli import main
from lawful.commands import files
from tests.lawful.test_cli import SURPRISE
from tests.lawful.test_reports import WORKER, journal


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
