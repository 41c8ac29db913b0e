"""Programs of users under mypy and pyright, both strict: what is right passes, what is wrong not."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
Found = set[tuple[str, int]]  # Files, from this folder, and lines.


def mypy(folder: Path) -> Found:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-incremental"),
            *("--explicit-package-bases", "--output=json", "right", "wrong"),
        ],
        cwd=HERE, capture_output=True, text=True, check=False,
        env={"MYPYPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 1, done.stdout + done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {(row["file"], row["line"]) for row in rows if row["severity"] == "error"}


def pyright(folder: Path) -> Found:
    settings = {
        "include": [str(HERE / "right"), str(HERE / "wrong")],
        "extraPaths": [str(ROOT)],
        "typeCheckingMode": "strict",
        "reportMissingTypeStubs": False,
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pyright", "--outputjson", "-p", str(folder)),
            *("--pythonpath", sys.executable),
        ],
        cwd=folder, capture_output=True, text=True, check=False,
    )
    answer = json.loads(done.stdout)
    assert answer["summary"]["filesAnalyzed"] == len(expected_files()), done.stdout
    return {
        (Path(row["file"]).relative_to(HERE).as_posix(), row["range"]["start"]["line"] + 1)
        for row in answer["generalDiagnostics"]
        if row["severity"] == "error"
    }


def expected_files() -> list[Path]:
    return sorted([*HERE.glob("right/*.py"), *HERE.glob("wrong/*.py")])


def expected() -> Found:
    return {
        (path.relative_to(HERE).as_posix(), number)
        for path in expected_files()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if line.endswith("# error")
    }


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_every_marked_line_is_reported_and_no_other(
    checker: Callable[[Path], Found], tmp_path: Path
) -> None:
    found = checker(tmp_path)
    assert sorted(found - expected()) == [] and sorted(expected() - found) == []
