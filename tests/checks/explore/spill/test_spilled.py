"""The search whose states are in files: the same whole results as in memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lawful import Machine, Scope
from lawful.checks.explore import CheckResult, Limits, explore
from lawful.checks.explore.check import NoEngine
from lawful.checks.explore.checkpoints import Snapshots, Unfit
from lawful.checks.explore.codegen.text import Program
from lawful.checks.explore.compiled.typed_memory import ALL_ONES, fill
from lawful.checks.explore.spill import (
    block_expansion,
    run_code,
    sorted_runs,
    spilled,
    spilled_search,
    window,
)
from lawful.checks.explore.spill.run_code import RunCode
from lawful.checks.explore.spill.sorted_runs import SortedRuns
from lawful.checks.explore.spill.spilled import Spilled
from lawful.checks.explore.spill.spilled_search import REFUSED
from lawful.checks.verdict import Verdict
from lawful.spec.lower import lower
from lawful.spec.resolve import abstract_scopes, resolve
from tests.checks.declarations.timed import Fischer
from tests.checks.declarations.wide import Crowd
from tests.classics.broken import AlternatingBitWithoutBit, PetersonWithoutFlags
from tests.classics.table import CLASSICS
from tests.classics.two_phase import TwoPhase

LAST = "def expand(w, store, at, out, info, room):"  # The function that is written last.


def checked(cls: type[Machine], limits: Limits) -> CheckResult:
    found = resolve(cls)
    scope = found.scopes.get("scope", Scope())
    flat = lower(found.machine, scope, abstract_scopes(found))
    return explore(flat, found.world, found.expects, engine="compiled", limits=limits)


def comparable(result: CheckResult) -> CheckResult:
    """Without times, and without what states in files do not tell."""
    kept = tuple(p for p in result.properties if p.kind not in REFUSED)
    return dataclasses.replace(result, properties=kept, seconds=0.0, compile_seconds=0.0)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """A window, blocks and parts so small that every way is gone."""
    sizes = {spilled: ("BLOCK", "WINDOW", "PART"), block_expansion: ("GATHERED",)}
    for module, names in sizes.items():
        for name in names:
            monkeypatch.setattr(module, name, 16)
    monkeypatch.setattr(sorted_runs, "PART", 512)
    expand = window.Window.scout

    def forgetful(self: window.Window, *given: Any) -> Any:
        fill(self.arrays.recent, ALL_ONES)  # Else machine code leaves out what it met a moment ago.
        return expand(self, *given)

    monkeypatch.setattr(window.Window, "scout", forgetful)


def same(cls: type[Machine], folder: Path) -> bool:
    whole = checked(cls, Limits(workers=1))
    return comparable(checked(cls, Limits(spill=folder))) == comparable(whole)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "cls",
    [
        pytest.param(TwoPhase, id="TwoPhase"),
        pytest.param(PetersonWithoutFlags, id="PetersonWithoutFlags"),
        pytest.param(Fischer, id="Fischer"),
        pytest.param(Crowd, id="Crowd"),
        pytest.param(AlternatingBitWithoutBit, id="AlternatingBit", marks=pytest.mark.nightly),
    ],
)
@pytest.mark.usefixtures("tiny")
def test_the_result_is_that_of_the_search_in_memory(cls: type[Machine], tmp_path: Path) -> None:
    assert same(cls, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.nightly
@pytest.mark.parametrize("row", CLASSICS, ids=lambda row: row.machine.__name__)
def test_every_classic(row: Any, tmp_path: Path) -> None:
    assert same(row.machine, tmp_path)


def test_a_level_of_one_pass_in_memory(tmp_path: Path) -> None:
    found = checked(TwoPhase, Limits(spill=tmp_path))
    assert (found.distinct, found.generated, found.depth) == (288, 1_146, 11)


def test_what_needs_the_steps_is_unknown_by_name(tmp_path: Path) -> None:
    found = checked(AlternatingBitWithoutBit, Limits(spill=tmp_path))
    (live,) = (p for p in found.properties if p.name == "sent_leads_to_received")
    why = "leads_to needs the steps between all states, which --spill does not keep"
    assert (live.verdict, live.why, live.trace) == (Verdict.UNKNOWN, why, None)


def test_a_limit_of_states_ends_it_after_a_level(tmp_path: Path) -> None:
    found = checked(TwoPhase, Limits(states=20, spill=tmp_path))
    assert (found.complete, found.stopped) == (False, "states")
    assert found.properties[0].verdict is Verdict.BOUNDED


@pytest.mark.parametrize("after", [1, None], ids=["a function", "all"])
def test_seconds_end_what_comes_before_it(
    after: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether they are over after one function of the steps or after all, no machine code is made:
    nobody could end that."""
    written, add, compiled = list[str](), Program.add, list[Any]()

    def noted(program: Program, lines: Sequence[str]) -> None:
        written.append(lines[0])
        add(program, lines)

    def met(self: Limits, states: int, seconds: float, failed: bool) -> str:
        over = len(written) == after if after else bool(written) and written[-1] == LAST
        return "seconds" if over else ""

    monkeypatch.setattr(Program, "add", noted)
    monkeypatch.setattr(spilled_search, "compiled", compiled.append)
    monkeypatch.setattr(Limits, "met", met)
    result = checked(TwoPhase, Limits(seconds=1.0, spill=tmp_path))
    assert (result.engine, result.stopped, result.complete) == ("compiled", "seconds", False)
    assert (result.distinct, result.generated, compiled) == (0, 0, [])
    assert {p.verdict for p in result.properties} == {Verdict.UNKNOWN}
    assert after is None or len(written) == after
    assert [*tmp_path.iterdir()] == []


def test_what_it_does_not_do_is_refused(tmp_path: Path) -> None:
    found = resolve(TwoPhase)
    flat = lower(found.machine, found.scopes.get("scope", Scope()))
    with pytest.raises(NoEngine, match="not for the reference engine"):
        explore(flat, found.world, {}, engine="reference", limits=Limits(spill=tmp_path))
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="File exists"):
        checked(TwoPhase, Limits(spill=tmp_path / "file"))


@pytest.mark.parametrize(
    ("module", "told"),
    [
        ("llvmlite.binding", "llvmlite: pip install 'lawful[check]'"),
        ("pyarrow", "pyarrow: pip install 'lawful[spark]'"),
    ],
)
def test_a_library_that_is_not_there_is_named(
    module: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacking(*_: object, **__: object) -> None:
        raise ModuleNotFoundError(f"No module named '{module}'", name=module)

    monkeypatch.setattr(spilled_search, "search", lacking)
    with pytest.raises(NoEngine) as caught:
        checked(TwoPhase, Limits(spill=tmp_path))
    assert str(caught.value) == f"--spill needs {told}"


def test_states_of_one_hash_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = run_code.texts()
    alike = [text.replace("h *= 0xC4CEB9FE1A85EC53", "h = 7") for text in texts]
    assert alike != texts
    monkeypatch.setattr(run_code, "texts", lambda: alike)
    run_code.run_code.cache_clear()
    monkeypatch.setattr(spilled, "WINDOW", 16)
    monkeypatch.setattr(block_expansion, "GATHERED", 16)
    try:
        assert set(RunCode(2, 0).sort(np.arange(12).reshape(4, 3))[1].tolist()) == {3}
        assert same(TwoPhase, tmp_path)
    finally:
        run_code.run_code.cache_clear()


def seen_nothing(self: SortedRuns, rows: Any, hashes: Any) -> Any:
    return rows


def no_run(self: Spilled) -> None:
    self.whole = False
    self.window.begin(0)


def backwards(self: window.Window) -> Any:
    met = TAKE(self)
    return window.Met(*(column[::-1] for column in met))


def from_the_block(self: window.Window) -> Any:
    met = TAKE(self)
    return met._replace(parents=met.parents % 16)


def a_run_lost(self: SortedRuns, parts: Any) -> None:
    ADD(self, parts)
    if len(self.runs) > 2:
        self.runs.pop(0)


TAKE, ADD = window.Window.take, SortedRuns.add


@pytest.mark.parametrize(
    ("owner", "name", "broken"),
    [
        (SortedRuns, "unseen", seen_nothing),
        (SortedRuns, "add", a_run_lost),
        (Spilled, "_forget", no_run),
        (window.Window, "take", backwards),
        (window.Window, "take", from_the_block),
    ],
    ids=["no anti-join", "a run lost", "no first run", "other numbers", "wrong parents"],
)
@pytest.mark.usefixtures("tiny")
def test_a_broken_level_is_noticed(
    owner: Any, name: str, broken: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = checked(PetersonWithoutFlags, Limits(workers=1))
    monkeypatch.setattr(owner, name, broken)
    try:
        found = checked(PetersonWithoutFlags, Limits(states=150, spill=tmp_path))
    except AssertionError as error:
        assert "no step leads from state" in str(error)
    else:
        assert comparable(found) != comparable(whole)


# Snapshots.


class Killed(BaseException):
    pass


def at_once(_: Snapshots) -> bool:
    return True


def killed_after(writes: int, monkeypatch: pytest.MonkeyPatch, of: Any = Spilled) -> None:
    """A search is killed in the level after its so-manieth snapshot."""
    write, advance, left = Snapshots.write, of.advance, [writes]

    def counted(self: Snapshots, items: Any) -> None:
        write(self, items)
        left[0] -= 1

    def killed(self: Any, span: Any) -> Any:
        if left[0] < 0:
            raise Killed
        found = advance(self, span)
        if left[0] <= 0:
            left[0] = -1  # One level more, which no snapshot has.
        return found

    monkeypatch.setattr(Snapshots, "due", at_once)
    monkeypatch.setattr(Snapshots, "write", counted)
    monkeypatch.setattr(of, "advance", killed)


@pytest.mark.parametrize(
    "writes", [4, *(pytest.param(each, marks=pytest.mark.nightly) for each in (1, 9))]
)
@pytest.mark.usefixtures("tiny")
def test_a_search_that_was_killed_goes_on(
    writes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = Limits(spill=tmp_path / "states", resume=tmp_path)
    with monkeypatch.context() as patch, pytest.raises(Killed):
        killed_after(writes, patch)
        checked(TwoPhase, limits)
    whole = comparable(checked(TwoPhase, Limits(workers=1)))
    monkeypatch.setattr(Snapshots, "due", at_once)
    assert comparable(checked(TwoPhase, limits)) == whole
    runs = {file.name for file in (tmp_path / "states" / "TwoPhase.states").glob("seen.*")}
    assert runs != set()
    assert comparable(checked(TwoPhase, limits)) == whole  # It is over: nothing is left to do.
    assert {file.name for file in (tmp_path / "states" / "TwoPhase.states").glob("seen.*")} <= runs


@pytest.mark.usefixtures("tiny")
def test_a_search_that_a_limit_stopped_goes_on(tmp_path: Path) -> None:
    limits = Limits(spill=tmp_path, resume=tmp_path)
    asked = iter([False] * 15 + [True] * 1_000)
    stopped = checked(TwoPhase, dataclasses.replace(limits, stop=lambda: next(asked)))
    assert (stopped.complete, 0 < stopped.distinct < 288) == (False, True)
    assert comparable(checked(TwoPhase, limits)) == comparable(checked(TwoPhase, Limits(workers=1)))


@pytest.mark.usefixtures("tiny")
def test_files_that_are_gone_are_noticed(tmp_path: Path) -> None:
    limits = Limits(spill=tmp_path, resume=tmp_path)
    checked(TwoPhase, dataclasses.replace(limits, states=100))
    place = tmp_path / "TwoPhase.states"
    (place / "states").rename(place / "elsewhere")
    with pytest.raises(Unfit, match="does not have the states"):
        checked(TwoPhase, limits)
    (place / "elsewhere").rename(place / "states")
    for run in place.glob("seen.*"):
        run.write_bytes(run.read_bytes()[:-16])
    with pytest.raises(Unfit, match=r"cannot be read: .* in place of"):
        checked(TwoPhase, limits)
    with pytest.raises(Unfit, match="is of a search without --spill"):
        (tmp_path / "other").mkdir()
        other = Limits(resume=tmp_path / "other")
        checked(TwoPhase, other)
        checked(TwoPhase, dataclasses.replace(other, spill=tmp_path))
