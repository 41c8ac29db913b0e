"""The wheel and the source distribution, built from what Git keeps, used outside the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.root import ROOT

pytestmark = pytest.mark.nightly
FOLDERS = ("checks", "diagrams", "machines", "runtime", "spec")
# Each in a process of its own, in an environment with the core alone.
CORE = """
import pathlib, sys
import lawful
from lawful import Machine, Nat, transition
assert pathlib.Path(lawful.__file__).is_relative_to(sys.prefix), lawful.__file__

class Counter(Machine):
    n: Nat = 0

    @transition()
    def up(self) -> Nat:
        self.n += 1
        return self.n

assert Counter().up() == 1
print(sorted(name for name in sys.modules if name in ("z3", "numpy", "hypothesis", "pyspark")))
"""


def run(*command: str | Path, cwd: Path) -> str:
    """What a command prints; it has to succeed. It sees nothing of the checkout."""
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    words = [*map(str, command)]
    done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{words}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def environment(folder: Path, *packages: str | Path) -> Path:
    """The Python of a new environment with these packages."""
    run(sys.executable, "-m", "venv", folder, cwd=folder.parent)
    python = folder / "bin" / "python"
    run(python, "-m", "pip", "install", "-qq", *packages, cwd=folder)
    return python


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both distributions. The wheel is built from the other, as `build` does."""
    folder = tmp_path_factory.mktemp("distributions")
    source = folder / "source"
    source.mkdir()
    archive = folder / "source.tar"
    run("git", "-C", ROOT, "archive", "-o", archive, "HEAD", cwd=folder)
    with tarfile.open(archive) as tar:
        tar.extractall(source, filter="tar")
    python = environment(folder / "builder", "build")
    run(python, "-m", "build", source, "-o", folder / "dist", cwd=folder)
    return folder / "dist"


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (found,) = built.glob("*.whl")
    return found


def kept() -> set[str]:
    """The files of the package that Git keeps, by the names that they have when installed."""
    tracked = run("git", "-C", ROOT, "ls-files", cwd=ROOT).splitlines()
    inside = {path for path in tracked if path.startswith("lawful/") and "." in Path(path).name}
    linked = {f"lawful/{path}" for path in tracked if path.split("/")[0] in FOLDERS}
    code = {path for path in inside | linked if path.endswith((".py", ".html", ".css", ".js"))}
    return code | {"lawful/py.typed"}


def test_the_wheel_has_every_module_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == kept()


def test_the_source_distribution_has_them_too_and_no_tests(built: Path) -> None:
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        members = [member for member in archive if member.isfile()]
        assert not [member.name for member in archive if member.issym() or member.islnk()]
    names = {member.name.split("/", 1)[1] for member in members}
    assert kept() <= names
    assert {"LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml"} <= names
    assert not [name for name in names if name.startswith(("tests/", "spec/"))]


def test_the_core_runs_with_nothing_but_its_one_dependency(wheel: Path, tmp_path: Path) -> None:
    python = environment(tmp_path / "core", wheel)
    packages = run(python, "-m", "pip", "list", "--format", "freeze", cwd=tmp_path)
    names = {line.split("==")[0] for line in packages.splitlines()}
    assert names - {"pip", "setuptools", "wheel"} == {"annotated-types", "lawful"}
    program = tmp_path / "program.py"
    program.write_text(CORE, encoding="utf-8")
    assert run(python, program, cwd=tmp_path) == "[]\n"


def test_what_is_installed_passes_tests_outside_the_checkout(wheel: Path, tmp_path: Path) -> None:
    """The tests of the language, of instances and of the classics, and the command itself."""
    python = environment(tmp_path / "full", f"{wheel}[check,test,draw]", "pytest<9.2")
    shutil.copytree(ROOT / "tests", tmp_path / "tests")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    where = run(python, "-c", "import lawful; print(lawful.__file__)", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(tmp_path / "full")
    lawful = python.parent / "lawful"
    shown = run(lawful, "check", "lawful.machines.unicast.declaration", cwd=tmp_path)
    assert shown.endswith("2 machines: 2 as expected\n")
    folders = ["tests/spec/values", "tests/runtime/instances", "tests/classics"]
    run(python, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *folders, cwd=tmp_path)
