"""Whole results of checks: clocks, timers that count, refinements, and sets and maps over many
possible elements, the same in every engine."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import Any

import pytest

from benchmarks._models import SmallClockedLink
from lawful import Clock, Expect, Machine, Nat, Param, Scope, Timer, refines, require, transition
from lawful.checks.explore import CheckResult, Engine, explore
from lawful.checks.explore.codegen import prelude
from lawful.checks.explore.codegen import time as generated_time
from lawful.checks.explore.codegen.expressions import Owner
from lawful.checks.explore.codegen.time import TimeCell
from lawful.checks.explore.compiled import engine as packed
from lawful.checks.explore.compiled import plain
from lawful.checks.explore.refinement import Failing, Refining
from lawful.checks.explore.space import Space
from lawful.checks.reference.states import State
from lawful.checks.verdict import Verdict
from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.lower import lower
from lawful.spec.resolve import abstract_scopes, resolve
from tests.agree.examine import HEAD
from tests.checks.declarations.acknowledging import Acks, Resends
from tests.checks.declarations.attempts import AttemptsFixed
from tests.checks.declarations.playable import Doubled
from tests.checks.declarations.timed import Fischer, House, Patient, Prompt, Rooms
from tests.checks.declarations.wide import Crowd, Window
from tests.classics.implementing import Changeable, Hasty, Implements
from tests.root import ROOT
from tests.spec import texts


class Waits(Machine):
    """Timers with floats, products and a time that grows from start to start."""

    clock: Clock = Clock(tick=0.5)
    first: Timer = Timer(urgent=True)
    second: Timer = Timer()
    again: Nat = 1

    pause: Param[float] = 0.7

    @transition()
    def begin(self) -> None:
        require(not self.first.armed, "it runs")
        self.first.start(self.pause)
        self.second.start(2.25)

    @transition(timer="first")
    def later(self) -> None:
        self.again += 1
        self.first.start(self.again * 2 - 1)

    @transition(timer="second")
    def end(self) -> None:
        self.first.stop()

    deadlock_ok = True
    scope = Scope(clock=range(0, 12), again=range(0, 4), pause=(0.7, 1.0, 0.0))


class Once(Machine):
    on: bool = False

    @transition()
    def switch(self) -> None:
        require(not self.on, "it is on")
        self.on = True

    deadlock_ok = True


class BackAgain(Machine):
    """Its second step is the first one backwards, which the abstract machine does not have."""

    on: bool = False
    rounds: Nat = 0

    @transition()
    def switch(self) -> None:
        self.on = not self.on
        self.rounds += 1

    @refines(Once)
    def switched_once(self) -> Once:
        return Once.lawful.state(on=self.on)

    scope = Scope(Nat=range(0, 4))
    expects = Expect(switched_once=("violated", 2))


TIMED = (Patient, Prompt, Fischer, House, Rooms, Acks, Resends, AttemptsFixed, Waits)
REFINING = (Implements, Hasty, Changeable, Doubled, BackAgain)


def checked(cls: type[Machine], engine: Engine) -> CheckResult:
    found = resolve(cls)
    flat = lower(found.machine, found.scopes["scope"], abstract_scopes(found))
    result = explore(flat, found.world, found.expects, engine=engine)
    assert result.engine == engine
    assert result.handed_back in ((0,) if cls in (Crowd, Window) else range(result.distinct))
    return dataclasses.replace(result, engine="", seconds=0.0, compile_seconds=0.0, handed_back=0)


@functools.cache
def by_reference(cls: type[Machine]) -> CheckResult:
    return checked(cls, "reference")


@pytest.mark.one_in(18)
@pytest.mark.parametrize("engine", ["generated", "compiled"])
@pytest.mark.parametrize(
    "cls",
    [*TIMED, *REFINING, pytest.param(Window, marks=pytest.mark.nightly)],
    ids=lambda cls: cls.__name__,
)
def test_the_result_is_that_of_the_reference_engine(cls: type[Machine], engine: Engine) -> None:
    assert checked(cls, engine) == by_reference(cls)


def test_a_link_whose_timers_count_ticks() -> None:
    """Of both entries of unicast, within a small scope; the benchmark has a larger one."""
    found = checked(SmallClockedLink, "generated")
    assert found == by_reference(SmallClockedLink)
    assert (found.distinct, found.generated, found.depth, found.cuts) == (448, 1_430, 16, 307)


def test_a_tick_that_forgets_the_timers_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = generated_time.time_cells

    def clocks(m: Owner, machine: ir.Machine, at: int = 0) -> Iterator[TimeCell]:
        return (cell for cell in cells(m, machine, at) if isinstance(cell.kind, t.Clock))

    monkeypatch.setattr(generated_time, "time_cells", clocks)
    with pytest.raises(AssertionError):
        assert checked(Patient, "generated") == by_reference(Patient)


def test_a_refinement_that_nobody_asks_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_space: Space) -> tuple[Refining, ...]:
        return ()

    monkeypatch.setattr(packed, "refinements", none)
    with pytest.raises(AssertionError):
        assert checked(Doubled, "generated") == checked(Doubled, "reference")


def test_states_that_agree_in_what_a_view_reads_are_viewed_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen, view = list[State](), Refining.view

    def noted(self: Refining, state: State) -> State:
        seen.append(state)
        return view(self, state)

    monkeypatch.setattr(Refining, "view", noted)
    found = checked(Implements, "generated")
    assert found.distinct == 288
    viewed = seen[1:]  # The start is viewed as one, too.
    assert len({tuple(state[1].items()) for state in viewed}) == len(viewed) == 34


@pytest.mark.parametrize("engine", ["generated", "compiled"])
def test_what_may_be_none_is_looked_for_in_collections(engine: Engine) -> None:
    text = (ROOT / "tests/agree/found/optional_members.txt").read_text(encoding="utf-8")
    cls = texts.machine(text, HEAD)
    found = checked(cls, engine)
    assert found == by_reference(cls)
    verdicts = [row.verdict for row in found.properties if row.kind == "invariant"]
    assert verdicts == [Verdict.VIOLATED] * 11


@pytest.mark.parametrize("engine", ["generated", "compiled"])
def test_a_step_back_is_no_step_forth(engine: Engine) -> None:
    found = checked(BackAgain, engine)
    assert found == by_reference(BackAgain)
    (verdict,) = [row for row in found.properties if row.name == "switched_once"]
    assert verdict.trace is not None
    assert (verdict.verdict, len(verdict.trace.steps)) == (Verdict.VIOLATED, 2)


def test_two_views_are_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs, leads = list[tuple[State, State]](), Refining.leads

    def noted(self: Refining, old: State, new: State) -> Failing | None:
        pairs.append((old, new))
        return leads(self, old, new)

    monkeypatch.setattr(Refining, "leads", noted)
    checked(Implements, "generated")
    assert len(set(pairs)) == len(pairs) > 10


def test_a_search_begins_anew_with_more_room() -> None:
    crowd = checked(Crowd, "generated")
    assert crowd == checked(Crowd, "reference")
    assert crowd.distinct == 499


def appended(w: prelude.Cells, at: int, size: int, keys: int, item: int) -> int:
    """A new item at the end of the row, be it in order there or not."""
    first = at + 1 + w[at] * size
    w[first : first + size] = [*w[item : item + keys], *[0] * (size - keys)]
    w[at] += 1
    return w[at] - 1


def lost(w: prelude.Cells, at: int, size: int, keys: int, item: int) -> int:
    """A new item in the place of the last one."""
    found = appended(w, at, size, keys, item)
    w[at] = max(1, w[at] - 1)
    return found


@pytest.mark.nightly
@pytest.mark.parametrize("new_row", [appended, lost], ids=lambda new_row: new_row.__name__)
def test_a_broken_insertion_is_noticed(new_row: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(plain.FASTER, "new_row", new_row)
    with pytest.raises(AssertionError):
        assert checked(Window, "generated") == checked(Window, "reference")


def test_coverage_knows_how_much_room_there_is() -> None:
    found = resolve(Crowd)
    flat = lower(found.machine, found.scopes["scope"])
    fast, slow = (
        explore(flat, found.world, found.expects, engine=engine, coverage=True).coverage
        for engine in ("generated", "reference")
    )
    assert fast is not None and slow is not None
    assert dataclasses.replace(fast, engine="") == dataclasses.replace(slow, engine="")
