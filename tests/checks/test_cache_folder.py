"""The user's cache folder: where it is, and what checks do without one."""

from __future__ import annotations

from pathlib import Path

import pytest

from lawful.checks.cache_folder import cache_folder
from lawful.checks.explore.compiled import llvm
from lawful.checks.explore.expansion.successors import Text
from lawful.checks.smt.solver import cache


def test_it_is_in_the_folder_that_the_environment_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder("steps") == tmp_path / "lawful" / "steps"
    assert cache_folder("proofs") == tmp_path / "lawful" / "proofs"


def test_it_is_in_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert cache_folder("proofs") == tmp_path / ".cache" / "lawful" / "proofs"


def test_without_a_home_folder_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", nowhere)
    assert cache_folder("proofs") is None
    assert llvm.kept(Text("", 1, 1), llvm.QUICK) is None
    with cache.kept_in(cache_folder("proofs")):
        assert cache.folder() is None
        cache.note("key", frozenset())
        assert cache.shown("key") is None
