"""The bytecode of generated steps: kept once, used where it is whole, made anew elsewhere."""

from __future__ import annotations

import marshal
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from lawful.checks.explore.compiled import bytecode, kept_files
from lawful.checks.explore.compiled.engine import search
from lawful.checks.explore.limits import Limits
from lawful.checks.explore.space import Space
from tests.checks.explore.compiled.both_engines import flat_of
from tests.classics.jugs import Jugs

TEXT, OTHER = "def expand():\n    return 1\n", "def expand():\n    return 2\n"


@pytest.fixture(name="folder")
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(bytecode, "LONG", len(TEXT))
    return tmp_path / "lawful" / "bytecode"


def result(source: str) -> object:
    names: dict[str, object] = {}
    exec(bytecode.bytecode(source), names)
    expand = names["expand"]
    assert callable(expand)
    return expand()


def test_it_is_kept_and_used(folder: Path) -> None:
    assert result(TEXT) == 1
    (file,) = folder.iterdir()
    kept_files.write(file, marshal.dumps(compile(OTHER, "<steps>", "exec")))
    assert result(TEXT) == 2  # Of the file.
    assert result(OTHER) == 2
    assert len(list(folder.iterdir())) == 2


@pytest.mark.parametrize("keep", [0, 31, 32, -1])
def test_what_was_not_written_whole_is_made_anew(folder: Path, keep: int) -> None:
    assert result(TEXT) == 1
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    file.write_bytes(whole[:keep])
    assert result(TEXT) == 1
    assert file.read_bytes() == whole


def test_another_python_has_another_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert result(TEXT) == 1
    monkeypatch.setattr(sys, "flags", SimpleNamespace(optimize=1))
    assert result(TEXT) == 1
    monkeypatch.setattr("importlib.util.MAGIC_NUMBER", b"none")
    assert result(TEXT) == 1
    assert len(list(folder.iterdir())) == 3


def test_short_texts_and_those_without_a_place_are_kept_nowhere(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert result(TEXT[:-1]) == 1
    with monkeypatch.context() as homeless:
        homeless.setattr(bytecode, "cache_folder", nowhere)
        assert result(TEXT) == 1
    assert not folder.exists()
    folder.parent.mkdir()
    folder.touch()  # No folder can be made there.
    assert result(TEXT) == 1
    assert folder.read_bytes() == b""


def nowhere(name: str) -> None:
    assert name == "bytecode"


def test_a_search_takes_it(folder: Path) -> None:
    flat, resolved = flat_of(Jugs)
    first, second = (
        search(Space(flat, resolved.world), Limits(), tier="generated") for _ in range(2)
    )
    assert list(first.states) == list(second.states)
    assert (first.count, len(list(folder.iterdir()))) == (16, 1)
