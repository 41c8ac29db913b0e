"""Programs of users under mypy and pyright, both strict: what is right passes, what is wrong not.

Every line that both are to report ends in `# error`, one for mypy alone in `# error: mypy`.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from lawful import Machine
from lawful.spec.lower import lower
from lawful.spec.resolve import abstract_scopes, resolve
from lawful.targets import scope_of

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
RIGHT = sorted(HERE.glob("right/*.py"))
WRONG = sorted(HERE.glob("wrong/*.py"))
Found = set[tuple[str, int]]  # Files and lines.


def mypy(folder: Path) -> Found:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-incremental"),
            *("--explicit-package-bases", "--output=json", "right", "wrong"),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={"MYPYPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 1, done.stdout + done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {(row["file"], row["line"]) for row in rows if row["severity"] == "error"}


def pyright(folder: Path) -> Found:
    settings = {
        "include": ["right", "wrong"],
        "extraPaths": [str(ROOT)],
        "typeCheckingMode": "strict",
        "reportMissingTypeStubs": False,
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    done = subprocess.run(
        [*(sys.executable, "-m", "pyright", "--outputjson"), *("--pythonpath", sys.executable)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    answer = json.loads(done.stdout)
    assert answer["summary"]["filesAnalyzed"] == len([*RIGHT, *WRONG]), done.stdout
    return {
        (
            Path(row["file"]).relative_to(folder.resolve()).as_posix(),
            row["range"]["start"]["line"] + 1,
        )
        for row in answer["generalDiagnostics"]
        if row["severity"] == "error"
    }


def expected(checker: str) -> Found:
    return {
        (path.relative_to(HERE).as_posix(), number)
        for path in (*RIGHT, *WRONG)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if line.endswith(("# error", f"# error: {checker}"))
    }


@pytest.mark.parametrize("checker", [pytest.param(mypy, marks=pytest.mark.nightly), pyright])
def test_every_marked_line_is_reported_and_no_other(
    checker: Callable[[Path], Found], tmp_path: Path
) -> None:
    for name in ("right", "wrong"):
        shutil.copytree(HERE / name, tmp_path / name, ignore=shutil.ignore_patterns("__*__"))
    found, marked = checker(tmp_path), expected(checker.__name__)
    assert len(marked) > 100 and {file for file, _ in marked} == {f"wrong/{p.name}" for p in WRONG}
    assert sorted(found - marked) == [] and sorted(marked - found) == []


def program(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"right_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.one_in(2)
@pytest.mark.parametrize("path", RIGHT, ids=lambda path: path.stem)
def test_what_is_right_for_type_checkers_is_right_and_runs(path: Path) -> None:
    module = program(path)
    scopes = 0
    for cls in vars(module).values():
        if isinstance(cls, type) and issubclass(cls, Machine) and cls is not Machine:
            found = resolve(cls)
            for name in found.scopes:
                lower(found.machine, scope_of(cls, [name]), abstract_scopes(found))
                scopes += 1
    assert scopes > 0
    module.embed()
