"""Machine code that a search goes over to: when it is made, by which process, where it stays."""

from __future__ import annotations

import gc
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine
from lawful.checks.explore.assembly import llvm_text
from lawful.checks.explore.compiled import background as waiting
from lawful.checks.explore.compiled import llvm, plain
from lawful.checks.explore.compiled.background import Compiler
from lawful.checks.explore.compiled.engine import PackedSearch, search
from lawful.checks.explore.compiled.llvm import kept
from lawful.checks.explore.expansion.successors import Text, stepping
from lawful.checks.explore.limits import Limits
from lawful.checks.explore.space import Space
from tests.checks.explore.compiled import copied_compiler
from tests.checks.explore.compiled.both_engines import flat_of
from tests.checks.explore.compiled.copied_compiler import found_by
from tests.classics.jugs import Jugs
from tests.classics.two_phase import TwoPhase
from tests.root import PATIENCE


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def space_of(cls: type[Machine]) -> Space:
    flat, resolved = flat_of(cls)
    return Space(flat, resolved.world)


def steps_of(cls: type[Machine]) -> Text:
    return stepping(space_of(cls)).text


def steps_of_jugs() -> Text:
    return steps_of(Jugs)


def sleeping(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """The second processes of searches that are started from now on: each waits for a minute."""
    started: list[subprocess.Popen[bytes]] = []

    def noted(text: Text) -> subprocess.Popen[bytes]:
        del text
        started.append(subprocess.Popen((sys.executable, "-c", "import time; time.sleep(60)")))
        return started[-1]

    monkeypatch.setattr(plain, "SLICE", 7)
    monkeypatch.setattr(waiting, "PATIENCE", 0.0)
    monkeypatch.setattr(waiting, "LONGER", 0.0)
    monkeypatch.setattr(waiting, "_started", noted)
    return started


def test_nothing_is_compiled_after_the_search(alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second process ends with the search that started it."""
    monkeypatch.setattr(llvm, "SPEED", llvm.QUICK + 1)
    started = sleeping(monkeypatch)
    assert search(space_of(TwoPhase), Limits()).tier == "compiled"
    assert [each.returncode for each in started] == [-signal.SIGKILL]
    quickly = kept(steps_of(TwoPhase), llvm.QUICK)
    assert list(alone.glob("lawful/steps/*")) == [quickly]


def test_nothing_is_compiled_after_a_search_that_is_interrupted(
    alone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert alone.is_dir()
    monkeypatch.setattr(llvm, "SPEED", llvm.QUICK + 1)
    started, over = sleeping(monkeypatch), PackedSearch.over

    def interrupted(self: PackedSearch) -> bool:
        if started:
            raise KeyboardInterrupt
        return over(self)

    monkeypatch.setattr(PackedSearch, "over", interrupted)
    with pytest.raises(KeyboardInterrupt):
        search(space_of(TwoPhase), Limits())
    assert [each.returncode for each in started] == [-signal.SIGKILL]


@pytest.mark.optimised
def test_a_second_process_ends_where_the_first_was_killed(alone: Path) -> None:
    """Its input ends then. Otherwise it would leave the machine code, and end with 0."""
    command = (sys.executable, "-m", waiting.__name__)
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        waiting.tell(process, steps_of(TwoPhase))
    assert process.returncode == 1
    assert not (alone / "lawful").exists()


@pytest.mark.nightly
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


def test_a_search_that_had_machine_code_has_it_at_once_the_next_time(
    alone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another one has its time in plain Python; nothing is looked up in the first moment."""
    monkeypatch.setattr(waiting, "BRIEF", 0.0)
    monkeypatch.setattr(waiting, "PATIENCE", 0.0)
    assert Compiler(steps_of_jugs()).better(1, 9) is not None
    monkeypatch.setattr(waiting, "PATIENCE", 1e9)
    assert Compiler(steps_of_jugs()).better(1, 9) is not None
    assert Compiler(steps_of(TwoPhase)).better(1, 9) is None
    monkeypatch.setattr(waiting, "BRIEF", 1e9)
    brief = Compiler(steps_of_jugs())
    assert brief.better(1, 9) is None and "lasted" not in vars(brief)
    assert len(list((alone / "lawful" / "searches").iterdir())) == 1


def test_a_search_that_goes_over_at_once_finds_the_same(
    alone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert alone.is_dir()
    monkeypatch.setattr(plain, "SLICE", 7)
    monkeypatch.setattr(waiting, "BRIEF", 0.0)
    monkeypatch.setattr(waiting, "PATIENCE", 0.0)
    first = search(space_of(TwoPhase), Limits())
    monkeypatch.setattr(waiting, "PATIENCE", 1e9)
    at_once, plainly = (search(space_of(TwoPhase), Limits(), tier=t) for t in (None, "generated"))
    assert (first.tier, at_once.tier, plainly.tier) == ("compiled", "compiled", "generated")
    assert found_by(first) == found_by(at_once) == found_by(plainly)


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


COPIED: dict[str, dict[str, object]] = {
    "goes_over": {
        "tiers": ("compiled", "generated"),
        "same": True,
        "kept": True,
        "seconds": True,
        "no child": True,
    },
    "ends_before": {"tier": "generated", "count": 288, "no child": True},
    "is_interrupted": {"no child": True},
    "fails": {"tier": "generated", "count": 288, "no child": True},
    "is_reaped": {"counts": (288, 288), "tier": "generated", "no child": True},
    "is_not_made": {
        "two processors": True,
        "one processor": False,
        "another thread": False,
        "short steps": False,
    },
}


def of_copied(name: str) -> subprocess.CompletedProcess[str]:
    command = (sys.executable, "-m", copied_compiler.__name__, name)
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=PATIENCE)


@pytest.mark.skipif(sys.platform != "linux", reason="a process is copied on Linux alone")
@pytest.mark.parametrize("name", COPIED)
def test_a_copy_of_the_process_compiles_long_steps(alone: Path, name: str) -> None:
    assert alone.is_dir()
    done = of_copied(name)
    assert (done.stdout, done.stderr) == (f"{COPIED[name]}\n", "")


@pytest.mark.skipif(sys.platform != "linux", reason="a process is copied on Linux alone")
def test_a_copy_ends_where_the_process_was_killed(alone: Path) -> None:
    """It holds the output open as long as it lives, so that this test does not end before."""
    assert alone.is_dir()
    assert of_copied("is_killed").returncode == -signal.SIGKILL
