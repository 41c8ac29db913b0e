"""Snapshots: a search that was stopped or killed anywhere goes on to the very same answer."""

from __future__ import annotations

import dataclasses
import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, Scope
from lawful.checks.explore import CheckResult, Engine, Limits, checkpoints, explore
from lawful.checks.explore import check as exploring
from lawful.checks.explore.checkpoints import Unfit
from lawful.checks.explore.compiled import memory, plain
from lawful.checks.explore.layout.layouts import NotGenerated
from lawful.checks.explore.space import Space
from lawful.checks.verdict import Verdict
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from tests.checks.declarations.exploration import Trap
from tests.checks.declarations.liveness import Semaphore
from tests.classics.peterson import Peterson
from tests.classics.two_phase import TwoPhase
from tests.root import ROOT

MACHINES = (TwoPhase, Peterson, Semaphore, Trap)


class Killed(BaseException):
    """The process ends here: nothing after it is done."""


def checked(cls: type[Machine], engine: Engine = "auto", **limits: Any) -> CheckResult:
    found = resolve(cls)
    flat = lower(found.machine, found.scopes.get("scope", Scope()))
    symmetry = limits.pop("symmetry", False)
    given = Limits(**limits)
    return explore(flat, found.world, found.expects, engine=engine, symmetry=symmetry, limits=given)


def established(result: CheckResult) -> CheckResult:
    """All but the time that it took."""
    return dataclasses.replace(result, seconds=0.0)


class Dice:
    """Says stop after some random number of questions, at most so many."""

    def __init__(self, seed: int, most: int) -> None:
        self.random = random.Random(seed)
        self.most = most
        self.left = 0

    def __call__(self) -> bool:
        self.left -= 1
        return self.left <= 0

    def throw(self) -> None:
        self.left = self.random.randint(1, self.most)


def in_pieces(cls: type[Machine], dice: Dice, **asked: Any) -> tuple[CheckResult, int]:
    """The answer of a search that is stopped again and again, and of how many pieces it is."""
    pieces = 0
    while True:
        dice.throw()
        pieces += 1
        result = checked(cls, stop=dice, **asked)
        # What happens for ever is judged after the search, and stopped as well.
        late = any(p.why == "not decided in the time that there was" for p in result.properties)
        if result.complete and not late:
            return result, pieces
        assert result.complete or result.stopped == "asked"


@pytest.mark.parametrize("cls", MACHINES, ids=lambda cls: cls.__name__)
def test_stopped_anywhere_it_goes_on_to_the_same(cls: type[Machine], tmp_path: Path) -> None:
    whole = checked(cls, "reference")
    dice = Dice(1, max(2, whole.distinct // 4))
    result, pieces = in_pieces(cls, dice, engine="reference", resume=tmp_path)
    assert established(result) == established(whole)
    assert pieces > 1
    # What is finished stays so: the answer is there at once.
    again = checked(cls, "reference", resume=tmp_path, states=1)
    assert established(again) == established(whole)


@pytest.mark.parametrize(("engine", "asks"), [("generated", 10), ("reference", 30)])
def test_orbits_go_on_too(engine: Engine, asks: int, tmp_path: Path) -> None:
    whole = checked(TwoPhase, engine, symmetry=True)
    dice = Dice(3, asks)
    result, pieces = in_pieces(TwoPhase, dice, engine=engine, symmetry=True, resume=tmp_path)
    assert established(result) == established(whole) and pieces > 2
    with pytest.raises(Unfit, match="was made with --symmetry"):
        checked(TwoPhase, resume=tmp_path)


@pytest.mark.parametrize("cls", MACHINES, ids=lambda cls: cls.__name__)
def test_so_do_generated_steps(
    cls: type[Machine], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plain, "SLICE", 1)
    whole = checked(cls, "generated")
    dice = Dice(7, max(2, whole.distinct // 4))
    result, pieces = in_pieces(cls, dice, engine="generated", resume=tmp_path)
    assert established(result) == established(whole)
    assert pieces > 1


def test_what_was_machine_code_goes_on_as_plain_python_and_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(plain, "SLICE", 5)
    monkeypatch.setattr(memory, "SLICE", 5)
    whole = checked(TwoPhase, "generated")
    dice = Dice(5, 12)
    engines: list[Engine] = ["generated", "compiled"]
    answers: list[CheckResult] = []
    while not answers or not answers[-1].complete:
        dice.throw()
        engine = engines[len(answers) % 2]
        answers.append(checked(TwoPhase, engine, stop=dice, resume=tmp_path))
    assert len(answers) > 3
    found = dataclasses.replace(answers[-1], engine=whole.engine)
    assert established(found) == established(whole)
    with pytest.raises(Unfit, match="of the generated engine, with which alone it goes on"):
        checked(TwoPhase, "reference", resume=tmp_path)


def test_what_no_engine_can_generate_goes_on_in_the_reference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object, **__: object) -> None:
        raise NotGenerated("anything")

    monkeypatch.setattr(exploring, "packed", never)
    result, pieces = in_pieces(TwoPhase, Dice(5, 90), resume=tmp_path)
    assert (result.distinct, result.generated, result.depth) == (288, 1146, 11)
    assert result.engine == "reference" and pieces > 4


# Killed.


class Fault:
    """Ends the process at the n-th of these calls."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, names: list[tuple[Any, str]]) -> None:
        self.left = 0
        for of, name in names:
            monkeypatch.setattr(of, name, self._counted(getattr(of, name)))

    def _counted(self, function: Any) -> Any:
        def call(*args: Any, **more: Any) -> Any:
            self.left -= 1
            if self.left == 0:
                raise Killed
            return function(*args, **more)

        return call


@pytest.mark.parametrize(
    "engine", [pytest.param("reference", marks=pytest.mark.nightly), "generated"]
)
def test_killed_at_any_write_it_goes_on_to_the_same(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plain, "SLICE", 20)
    whole = checked(TwoPhase, engine)
    monkeypatch.setattr(checkpoints.Snapshots, "due", due)
    fault = Fault(monkeypatch, [(checkpoints.Summed, "write"), (os, "fsync"), (os, "replace")])
    dice = random.Random(1)
    answers: list[CheckResult | None] = []
    while not answers or answers[-1] is None:
        fault.left = dice.randint(1, 200)
        try:
            answers.append(checked(TwoPhase, engine, resume=tmp_path))
        except Killed:
            answers.append(None)
    assert answers[-1] is not None and established(answers[-1]) == established(whole)
    assert len(answers) > 3


def due(_: checkpoints.Snapshots) -> bool:
    """Always."""
    return True


KILLING = """
import os, signal, sys
from lawful.checks.explore import checkpoints as snapshots
from lawful.checks.explore.compiled import plain
from lawful.cli import main

left, expanded = int(sys.argv[1]), plain.Expanding.expanded
plain.SLICE = 1
snapshots.Snapshots.due = lambda self: True

def counted(*args):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return expanded(*args)

plain.Expanding.expanded = counted
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.nightly
def test_killed_by_the_system_it_goes_on_to_the_same(tmp_path: Path) -> None:
    target = f"{ROOT / 'tests' / 'classics' / 'two_phase.py'}:TwoPhase"
    asked = ["check", target, "--json", "-", "--engine", "generated", "--resume", str(tmp_path)]
    answers: list[Any] = []
    for left in (97, 120, 1000):
        done = subprocess.run(
            [sys.executable, "-c", KILLING, str(left), *asked],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 0:
            answers.append(json.loads(done.stdout)["machines"][0])
        else:
            assert done.returncode == -signal.SIGKILL, done.stderr
    assert [(a["distinct"], a["generated"], a["depth"]) for a in answers] == [(288, 1146, 11)]


# What does not fit.


@pytest.mark.parametrize("symmetry", [False, True])
def test_it_stays_where_there_was_no_time_to_generate_steps(symmetry: bool, tmp_path: Path) -> None:
    """Nothing was searched then; the next run goes on from what was kept before."""

    def run(**limits: Any) -> CheckResult:
        return checked(TwoPhase, "generated", symmetry=symmetry, **limits)

    assert run(seconds=0.0, resume=tmp_path).distinct == 0
    assert [*tmp_path.iterdir()] == []
    first = run(states=30, resume=tmp_path)
    assert (first.stopped, first.complete) == ("states", False)
    (kept,) = tmp_path.iterdir()
    before = kept.read_bytes()
    ended = run(seconds=0.0, resume=tmp_path)
    assert (ended.stopped, ended.complete, ended.distinct) == ("seconds", False, 0)
    assert {p.verdict for p in ended.properties} == {Verdict.UNKNOWN}
    assert kept.read_bytes() == before
    assert established(run(resume=tmp_path)) == established(run())


def test_a_snapshot_of_something_else_is_refused(tmp_path: Path) -> None:
    found = resolve(TwoPhase)
    kept = tmp_path / "TwoPhase.snapshot"
    checked(TwoPhase, resume=tmp_path)
    wider = lower(found.machine, Scope(RM=2))
    with pytest.raises(Unfit, match="within another scope: RM=3, not RM=2; remove it"):
        explore(wider, found.world, found.expects, limits=Limits(resume=tmp_path))
    changed = dataclasses.replace(found.machine, deadlock_ok=not found.machine.deadlock_ok)
    flat = lower(changed, found.scopes["scope"])
    with pytest.raises(Unfit, match="another TwoPhase: its declaration has changed"):
        explore(flat, found.world, found.expects, limits=Limits(resume=tmp_path))
    kept.rename(tmp_path / "Peterson.snapshot")
    with pytest.raises(Unfit, match="is of TwoPhase; remove it, or give another folder"):
        checked(Peterson, resume=tmp_path)


def test_a_damaged_snapshot_is_refused(tmp_path: Path) -> None:
    checked(TwoPhase, resume=tmp_path)
    kept = tmp_path / "TwoPhase.snapshot"
    content = kept.read_bytes()
    for damaged, why in (
        (content[:-1], "is damaged"),
        (content[:-1] + b"?", "is damaged"),
        (b"something else\n", "is no snapshot"),
        (content[:40], "no snapshot that can be read"),
    ):
        kept.write_bytes(damaged)
        with pytest.raises(Unfit, match=why):
            checked(TwoPhase, resume=tmp_path)


def test_nothing_in_a_snapshot_is_run(tmp_path: Path) -> None:
    """A class that no search keeps is not made, whatever the file says."""
    found = resolve(TwoPhase)
    space = Space(lower(found.machine, found.scopes["scope"]), found.world)
    into = checkpoints.Snapshots(space, tmp_path, False)
    into.write([("states", Path("/"))])
    with pytest.raises(Unfit, match=r"a snapshot holds no pathlib\."):
        into.read()


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Unfit, match="cannot be read: Not a directory"):
        checked(TwoPhase, resume=tmp_path / "file")
