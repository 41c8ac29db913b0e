"""The search whose states are in files: the same whole results as in memory."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lawful import Machine, Scope
from lawful.checks.explore import CheckResult, Limits, explore
from lawful.checks.explore.check import NoEngine
from lawful.checks.explore.compiled import sorted_runs, spilled
from lawful.checks.explore.compiled.sorted_runs import SortedRuns
from lawful.checks.explore.compiled.spilled import Spilled
from lawful.checks.explore.compiled.spilled_search import REFUSED
from lawful.checks.verdict import Verdict
from lawful.spec.lower import lower
from lawful.spec.resolve import abstract_scopes, resolve
from tests.checks.declarations.timed import Fischer
from tests.checks.declarations.wide import Crowd
from tests.classics.broken import AlternatingBitWithoutBit, PetersonWithoutFlags
from tests.classics.table import CLASSICS
from tests.classics.two_phase import TwoPhase


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
    """Blocks and levels so small that every way is gone."""
    for name, size in (("BLOCK", 7), ("GATHERED", 16), ("HELD", 40), ("RANGES", 4)):
        monkeypatch.setattr(spilled, name, size)
    monkeypatch.setattr(sorted_runs, "MERGED", 5)
    scout = Spilled._scout

    def forgetful(self: Spilled, *given: Any) -> Any:
        self.arrays.recent[:] = -1  # Else machine code leaves out what it met a moment ago.
        return scout(self, *given)

    monkeypatch.setattr(Spilled, "_scout", forgetful)


def same(cls: type[Machine], folder: Path) -> bool:
    whole = checked(cls, Limits(workers=1))
    return comparable(checked(cls, Limits(spill=folder))) == comparable(whole)


@pytest.mark.parametrize(
    "cls",
    [TwoPhase, PetersonWithoutFlags, AlternatingBitWithoutBit, Fischer, Crowd],
    ids=lambda cls: cls.__name__,
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


def test_what_it_does_not_do_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="--resume cannot be had with --spill"):
        checked(TwoPhase, Limits(spill=tmp_path, resume=tmp_path))
    found = resolve(TwoPhase)
    flat = lower(found.machine, found.scopes.get("scope", Scope()))
    with pytest.raises(NoEngine, match="not for the reference engine"):
        explore(flat, found.world, {}, engine="reference", limits=Limits(spill=tmp_path))
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="File exists"):
        checked(TwoPhase, Limits(spill=tmp_path / "file"))


def test_states_of_one_hash_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def one(words: Any) -> Any:
        return np.full(len(words), 1 << 63, np.uint64)

    monkeypatch.setattr(spilled, "hashed", one)
    assert same(TwoPhase, tmp_path)


def seen_nothing(self: SortedRuns, hashes: Any, words: Any) -> Any:
    return np.zeros(len(hashes), bool)


def every_row(rows: Any) -> Any:
    return rows[np.argsort(rows[:, spilled.HASH].view(np.uint64))]


def last_of_each(rows: Any) -> Any:
    turned = rows.copy()
    turned[:, spilled.ORDER] *= -1
    found = KEPT(turned)
    found[:, spilled.ORDER] *= -1
    return found


KEPT = spilled.first_of_each


@pytest.mark.parametrize(
    ("owner", "name", "broken"),
    [
        (SortedRuns, "holds", seen_nothing),
        (spilled, "first_of_each", every_row),
        (spilled, "first_of_each", last_of_each),
    ],
    ids=["no anti-join", "equal states twice", "parents of the last step"],
)
@pytest.mark.usefixtures("tiny")
def test_a_broken_level_is_noticed(
    owner: Any, name: str, broken: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, name, broken)
    whole = checked(PetersonWithoutFlags, Limits(workers=1))
    found = checked(PetersonWithoutFlags, Limits(states=5_000, spill=tmp_path))
    assert comparable(found) != comparable(whole)
