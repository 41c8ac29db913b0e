"""The logs of docs/foreign_logs.md: its commands print what the page says."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from lawful.cli import main
from tests.checks.replay.conftest import NEEDS_SPARK
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


VERDICTS = [
    {"fits": 3},
    {"fits": 2, "deviates": 1},
    {"fits": 3},
    {"fits": 4, "deviates": 1},
    {"fits": 8, "open": 6, "deviates": 4},
    {"deviates": 1},
    {"fits": 1},
]


@pytest.mark.nightly
@pytest.mark.usefixtures("session")
class TestOnSpark:
    pytestmark = NEEDS_SPARK

    def test_the_logs_of_the_page(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Every verdict, problem, count, covered name and rejected row is that of this process,
        of the logs as they are and with two lines that cannot be read."""
        commands = dict.fromkeys(command for command, _ in saved(tmp_path))
        monkeypatch.chdir(tmp_path)
        found: list[dict[str, int]] = []
        for command in commands:
            log, *rest = command.removeprefix("lawful replay ").split()
            answers = compared([log, *rest])
            found.append({name: n for name, n in answers["verdicts"].items() if n})
            spoilt = f"spoilt_{log}"
            first, rows = Path(log).read_bytes().split(b"\n", 1)  # The first names the columns.
            Path(spoilt).write_bytes(first + b"\nno row of this log\n" + rows + b"\xff\xfe\n")
            assert compared([spoilt, *rest])["rejected"]["rows"] > 0
        capsys.readouterr()
        assert found == VERDICTS


def compared(arguments: list[str]) -> Any:
    """The answer of both engines with all problems, which is to be one."""
    answers: list[Any] = []
    codes: list[int] = []
    for engine in ("local", "spark"):
        file = Path(f"{engine}.json")
        more = ["--engine", engine, "--all", "--json", str(file), "--quiet"]
        codes.append(main(["replay", *arguments, *more]))
        answer = json.loads(file.read_text(encoding="utf-8"))
        assert answer.pop("engine") == engine
        for name in ("seconds", "remark"):
            answer.pop(name)
        answers.append(answer)
    assert codes[0] == codes[1]
    assert answers[0] == answers[1]
    return answers[0]
