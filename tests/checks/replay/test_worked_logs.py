"""The logs of docs/foreign_logs.md: its commands print what the page says."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from lawful.cli import main
from tests.checks.replay.foreign_logs import FOLDER
from tests.test_walked_pages import blocks, differs

COMMAND = re.compile(r"lawful (replay .*)")


def saved(folder: Path) -> list[tuple[str, str]]:
    """The folder of a reader who saved the files of the page; each command with what it prints."""
    for path in FOLDER.iterdir():
        shutil.copy(path, folder)
    shown: list[tuple[str, str]] = []
    command = ""
    for name, kind, text in blocks("foreign_logs"):
        if name:
            (folder / name).write_text(text, encoding="utf-8")
        elif kind == "sh":
            command = text.splitlines()[-1]
        else:
            shown.append((command, text))
    raft = (folder / "raft.toml").read_text(encoding="utf-8")
    (folder / "attached.toml").write_text(f"attach = true\n{raft}", encoding="utf-8")
    return shown


def test_the_commands_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = saved(tmp_path)
    monkeypatch.chdir(tmp_path)
    codes: list[int] = []
    for command, text in shown:
        match = COMMAND.fullmatch(command)
        assert match is not None, command
        codes.append(main(match.group(1).split()))
        printed = capsys.readouterr().out
        assert differs(text, printed) is None, f"{differs(text, printed)}\n\n{printed}"
    assert codes == [0, 2, 0, 2, 2, 2, 0]
