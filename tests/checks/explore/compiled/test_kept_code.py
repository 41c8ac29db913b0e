"""Machine code that a search goes over to: when it is made, by which process, where it stays."""

from __future__ import annotations

import gc
import time
from pathlib import Path
from typing import Any

import pytest

from lawful.checks.explore.compiled import background as waiting
from lawful.checks.explore.compiled import llvm, llvm_text
from lawful.checks.explore.compiled.background import Compiler
from lawful.checks.explore.compiled.llvm import kept
from lawful.checks.explore.expansion.successors import Text, stepping
from lawful.checks.explore.space import Space
from tests.checks.explore.compiled.both_engines import flat_of
from tests.classics.jugs import Jugs


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def steps_of_jugs() -> Text:
    flat, resolved = flat_of(Jugs)
    return stepping(Space(flat, resolved.world)).text


@pytest.mark.optimised
def test_a_second_process_compiles(alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Started where what was made at once is too slow, and not needed the next time."""
    monkeypatch.setattr(waiting, "PATIENCE", 0.0)
    monkeypatch.setattr(waiting, "LONGER", 0.0)
    text = steps_of_jugs()
    compiler = Compiler(text)
    assert [compiler.better(1, 9) is None for _ in range(2)] == [False, True]
    assert compiler.seconds == 0.0
    while (best := compiler.better(1, 9)) is None:
        time.sleep(0.1)
    assert best.seconds == 0.0 < compiler.seconds
    assert compiler.better(1, 9) is None
    files = set((alone / "lawful" / "steps").iterdir())
    assert files == {kept(text, llvm.QUICK), kept(text, llvm.SPEED)}
    assert len(files) == 2
    assert Compiler(text).better(1, 9) is not None


def test_code_that_is_not_optimised_is_kept_too(
    alone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next search that lasts longer than a moment need not make it again."""
    monkeypatch.setattr(waiting, "PATIENCE", 0.0)
    text = steps_of_jugs()
    first, second = (Compiler(text).better(1, 9) for _ in range(2))
    assert first is not None and second is not None
    assert first.seconds > 0.0 == second.seconds
    assert list((alone / "lawful" / "steps").iterdir()) == [kept(text, llvm.QUICK)]


def test_steps_are_translated_without_looking_for_garbage(
    alone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That takes as long as the translation; the collector goes on afterwards."""
    assert alone.is_dir() and gc.isenabled()
    looked, translate = list[bool](), llvm_text.assembly

    def noted(*given: Any) -> str:
        looked.append(gc.isenabled())
        return translate(*given)

    monkeypatch.setattr(llvm_text, "assembly", noted)
    assert llvm.quick(steps_of_jugs()).seconds > 0.0
    assert (looked, gc.isenabled()) == ([False], True)
