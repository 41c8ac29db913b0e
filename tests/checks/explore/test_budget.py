"""Every loop of an exploration asks whether to go on: who asks it to stop is heard in the middle of
one state, what was established stays, and values are not made before they are asked for."""

from __future__ import annotations

import dataclasses
import itertools
import time
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine
from lawful.checks.conform.runtime_check import compare
from lawful.checks.explore import CheckResult, Engine, explore, limits, search
from lawful.checks.explore.advice import advise
from lawful.checks.explore.codegen.text import Program
from lawful.checks.explore.compiled import engine as engine_module
from lawful.checks.explore.compiled import memory, orbit_search, pace
from lawful.checks.explore.coverage import coverage
from lawful.checks.explore.limits import Budget, Limits, OutOfBudget
from lawful.checks.explore.short_search import short_search
from lawful.checks.explore.simulate import Walks, simulate
from lawful.checks.explore.space import Space
from lawful.checks.explore.state_graph import state_graph
from lawful.checks.prove import nonvacuity as happens
from lawful.checks.prove import strengthening
from lawful.checks.prove.nonvacuity import transitions_seen
from lawful.checks.reference import Done
from lawful.checks.verdict import Verdict
from lawful.spec import types as t
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from lawful.spec.values.bounds import Values
from lawful.spec.values.world import World
from tests.spec import texts

HEADER = """from lawful import *

class Wide(Machine):
    scope = Scope(Nat=range(0, 6))
    x: Nat = 0
"""
# The 2**36 values of one parameter, wherever an engine goes through values.
WIDE = "frozenset[tuple[Nat, Nat]]"
STEP = f"""
    @transition()
    def put(self, s: {WIDE}) -> None:
        require(len(s) == 1)
        self.x = 1
"""
BEGIN = f"""
    @initial
    def begin(self, s: {WIDE}) -> None:
        require(len(s) == 37)
"""
SMALL = """
    @transition()
    def small(self) -> None:
        require(self.x < 5)
        self.x += 1
"""
ASKED = f"""
    @invariant
    def never(self, s: {WIDE}) -> bool:
        return len(s) < 99
"""
KINDS = {"a step": STEP, "a start": BEGIN + SMALL, "a property": SMALL + ASKED}


# The 90,000 rounds of one expression or body, wherever one is evaluated.
PAIRS = "for i in range(0, 300) for j in range(0, 300)"
LOOPS = {
    "a guard": f"""
    @transition()
    def put(self) -> None:
        require(sum(1 {PAIRS} if i < j) > 5)
        self.x = 1
""",
    "an invariant": f"""
{SMALL}
    @invariant
    def all_of_them(self) -> bool:
        return all(i + j >= 0 {PAIRS})
""",
    "a body": """
    @transition()
    def put(self) -> None:
        n = 0
        for i in range(0, 300):
            for j in range(0, 300):
                n = i - j
        self.x = max(0, n)
""",
    "helpers": """
    def inner(self, k: int) -> int:
        return sum(1 for i in range(0, 300) if i > k)

    @transition()
    def put(self) -> None:
        require(sum(self.inner(i) for i in range(0, 300)) > 5)
        self.x = 1
""",
    "subsets": """
    all: frozenset[tuple[Nat, Nat]] = frozenset({
        (0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (1, 2), (1, 3),
        (2, 0), (2, 1), (2, 2), (2, 3), (3, 0), (3, 1), (3, 2), (3, 3),
    })

    @transition()
    def put(self) -> None:
        require(any(len(s) > 14 for s in subsets(self.all)))
        self.x = 1
""",
    "a fold": """
    @transition()
    def put(self) -> None:
        require(sum(range(0, 90_000)) > 5)
        self.x = 1
""",
    "a start": f"""
    @initial
    def begin(self) -> None:
        require(sum(1 {PAIRS} if i < j) > 5)
        self.x = 1
{SMALL}""",
}


def wide(body: str) -> type[Machine]:
    return texts.last_machine(texts.module(HEADER + body))


class Asks:
    """Somebody who wants it to end the so-manieth time that he is asked."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.count = 0

    def __call__(self) -> bool:
        self.count += 1
        return self.count >= self.most


def checked(cls: type[Machine], engine: Engine, **asked: Any) -> CheckResult:
    found = resolve(cls)
    flat = lower(found.machine, found.scopes["scope"])
    return explore(flat, found.world, {}, engine=engine, limits=Limits(**asked))


@pytest.mark.parametrize("engine", ["reference", "generated", "compiled", "auto"])
@pytest.mark.parametrize("kind", KINDS)
def test_who_asks_it_to_stop_is_heard_in_the_middle_of_a_state(
    kind: str, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "ROUNDS", 1 << 10)
    monkeypatch.setattr(memory, "MOST_ROUNDS", 1 << 12)
    cls = wide(KINDS[kind])
    if kind == "a property" and engine in ("generated", "compiled"):
        engine = "auto"  # They have no place for so many values of a property.
    asks = Asks(5)
    result = checked(cls, engine, stop=asks)
    assert (result.complete, result.stopped) == (False, "asked")
    assert {p.verdict for p in result.properties} == {Verdict.UNKNOWN}
    assert asks.count == 5


@pytest.mark.one_in(6)
@pytest.mark.parametrize("engine", ["reference", "generated", "compiled"])
@pytest.mark.parametrize("kind", LOOPS)
def test_who_asks_it_to_stop_is_heard_in_the_middle_of_an_expression(
    kind: str, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "ROUNDS", 1 << 10)
    monkeypatch.setattr(memory, "MOST_ROUNDS", 1 << 12)
    cls = wide(LOOPS[kind])
    # Generated Python asks once for all rounds of a short loop.
    asks = Asks(3 if engine == "generated" else 7)
    result = checked(cls, engine, stop=asks)
    assert (result.complete, result.stopped, asks.count) == (False, "asked", asks.most)
    assert result.distinct <= 1
    whole = checked(cls, engine)
    assert (whole.complete, whole.stopped) == (True, "")


def test_walks_stop_in_the_middle_of_an_expression() -> None:
    found = resolve(wide(LOOPS["a guard"]))
    flat = lower(found.machine, found.scopes["scope"])
    asks = Asks(5)
    result = simulate(flat, found.world, {}, Walks(stop=asks))
    assert (asks.count, result.complete) == (5, False)


def test_the_exploration_of_a_proof_ends_in_the_middle_of_an_expression(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(strengthening, "LOOKS", 3)  # Generated Python asks less often.
    found = resolve(wide(LOOPS["a guard"]))
    flat = lower(found.machine, found.scopes["scope"])
    seen = strengthening.Seen(flat, found.world, found.machine)
    assert (seen.search.complete, len(seen.search.states)) == (False, 1)


def test_a_span_of_states_gets_shorter_where_they_take_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [0.0]
    clock = types.SimpleNamespace(perf_counter=lambda: now[0])
    monkeypatch.setattr(pace, "time", clock)
    found = pace.Pace(1 << 12)
    seen: list[int] = []
    for seconds in (0.0, 0.1, 0.1, 2.5, 0.2, 500.0):
        with found.measured():
            now[0] += seconds
        seen.append(found.states)
    assert seen == [1 << 11, 1 << 12, 1 << 12, 409, 409, 1]


@pytest.mark.parametrize("engine", ["reference", "generated", "compiled"])
def test_so_are_seconds(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "ROUNDS", 1 << 10)
    monkeypatch.setattr(memory, "MOST_ROUNDS", 1 << 12)
    cls, looks = wide(STEP), itertools.count(time.perf_counter())
    clock = types.SimpleNamespace(perf_counter=lambda: next(looks))  # A second later each time.
    begun = next(looks)
    for module in (limits, search, engine_module):
        monkeypatch.setattr(module, "time", clock)
    result = checked(cls, engine, seconds=40.0)
    assert (result.complete, result.stopped) == (False, "seconds")
    assert next(looks) - begun < 100


def test_a_search_that_was_stopped_in_a_state_goes_on_to_the_same(tmp_path: Path) -> None:
    # 2**12 arguments of every state: each of the pieces ends in the middle of one.
    text = (
        HEADER.replace("range(0, 6)", "range(0, 4)")
        + """
    @transition()
    def put(self, s: frozenset[tuple[Nat, bool]], more: Nat) -> None:
        require(len(s) == 1 and self.x < 3)
        self.x += 1

    @invariant
    def small(self, n: Nat) -> bool:
        return self.x <= n + 3

    @infinitely_often
    def back(self) -> bool:
        return self.x == 0
"""
    )
    cls = texts.last_machine(texts.module(text))
    whole = checked(cls, "reference")
    assert (whole.distinct, whole.generated) == (4, 97)
    for most in (3, 7, 20):
        for _ in range(40):
            found = checked(cls, "reference", resume=tmp_path / str(most), stop=Asks(most * 10))
            if found.complete:
                break
        found = checked(cls, "reference", resume=tmp_path / str(most))
        assert dataclasses.replace(found, seconds=0.0) == dataclasses.replace(whole, seconds=0.0)


def test_machine_code_that_needs_more_rounds_gets_them(monkeypatch: pytest.MonkeyPatch) -> None:
    text = HEADER.replace("range(0, 6)", "range(0, 4)") + STEP.replace("tuple[Nat, Nat]", "Nat")
    text = text.replace("s: frozenset[Nat]", "s: frozenset[Nat], a: frozenset[Nat], b: Nat, c: Nat")
    cls = texts.last_machine(texts.module(text))
    whole = checked(cls, "reference")
    assert (whole.distinct, whole.generated) == (2, 1 + 2 * 4 * 16 * 16)
    for rounds in ((1 << 6, 1 << 7), (1 << 6, 1 << 20), (1 << 20, 1 << 20)):
        monkeypatch.setattr(memory, "ROUNDS", rounds[0])
        monkeypatch.setattr(memory, "MOST_ROUNDS", rounds[1])
        found = checked(cls, "compiled")
        assert _timeless(found) == _timeless(whole)


def _timeless(result: CheckResult) -> CheckResult:
    """The result without the engine and its times."""
    return dataclasses.replace(result, seconds=0.0, compile_seconds=0.0, engine="", handed_back=0)


def test_walks_stop_in_the_middle_of_a_step() -> None:
    found = resolve(wide(STEP))
    flat = lower(found.machine, found.scopes["scope"])
    asks = Asks(3)
    result = simulate(flat, found.world, {}, Walks(stop=asks))
    assert asks.count == 3
    assert (result.complete, result.properties[-1].verdict) == (False, Verdict.UNKNOWN)


def test_coverage_and_the_comparison_with_the_runtime_stop_in_the_middle_of_a_state() -> None:
    cls = wide(STEP)
    found = resolve(cls)
    space = Space(lower(found.machine, found.scopes["scope"]), found.world)
    first = [outcome.state for _, _, outcome in space.initial() if isinstance(outcome, Done)]
    seen = coverage(space, first * 5, Limits(stop=Asks(3)))
    assert seen.states == 1
    compared = compare(space, cls, Limits(stop=Asks(3)))
    assert (compared.complete, compared.states) == (False, 1)


def test_so_does_advice() -> None:
    found = resolve(wide(STEP))
    asks = Asks(3)
    said = advise(found, found.scopes["scope"], {}, Limits(stop=asks))
    assert (said.why, asks.count) == ("asked", 3)


def test_so_do_the_walks_that_proofs_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(happens, "LOOKS", 5)
    found = resolve(wide(BEGIN + STEP))
    assert transitions_seen(lower(found.machine, found.scopes["scope"]), found.world).met == set()


GENERATING = f"""
{SMALL}
    @transition()
    def less(self) -> None:
        require(self.x > 0)
        self.x -= 1

    @invariant
    def low(self) -> bool:
        return self.x < 7
"""


class Clock:
    """A second passes with each look at it."""

    def __init__(self) -> None:
        self.now = -1.0

    def perf_counter(self) -> float:
        """The seconds so far."""
        self.now += 1.0
        return self.now


@pytest.mark.parametrize("seconds", [2.0, 4.0])
@pytest.mark.parametrize("symmetry", [False, True])
def test_steps_are_generated_within_the_seconds(
    seconds: float, symmetry: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each function that is written looks at the clock. Of some ten functions as many are written
    as there is time for; nothing is begun then, by this engine or another."""
    found, written = resolve(wide(GENERATING)), list[Program]()
    add = Program.add

    def noted(program: Program, lines: Sequence[str]) -> None:
        add(program, lines)
        written.append(program)

    monkeypatch.setattr(Program, "add", noted)
    flat = lower(found.machine, found.scopes["scope"])
    explore(flat, found.world, {}, symmetry=symmetry)
    assert len(written) > 6
    written.clear()
    clock = Clock()
    for module in (limits, engine_module, orbit_search):
        monkeypatch.setattr(module, "time", clock)
    within = Limits(seconds=seconds)
    result = explore(flat, found.world, {}, limits=within, symmetry=symmetry)
    assert len(written) == seconds - 1
    said = (result.engine, result.stopped, result.complete, result.distinct, result.generated)
    assert said == ("generated", "seconds", False, 0, 0)
    assert {p.verdict for p in result.properties} == {Verdict.UNKNOWN}


def test_a_short_search_and_a_graph_end_then_too() -> None:
    found = resolve(wide(GENERATING))
    flat, none = lower(found.machine, found.scopes["scope"]), Limits(seconds=0.0)
    short = short_search(Space(flat, found.world), none)
    assert (short.stopped, short.complete, len(short.states)) == ("seconds", False, 0)
    graph = state_graph(Space(flat, found.world), none)
    assert (graph.engine, graph.found.stopped, graph.steps) == ("generated", "seconds", [])


def test_only_seconds_end_the_generating(monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit that counts work ends a search at the same state, however many functions it has."""
    found, asks = resolve(wide(GENERATING)), Asks(10**9)
    flat = lower(found.machine, found.scopes["scope"])
    begun = list[int]()
    go = engine_module.PackedSearch.go

    def noted(self: engine_module.PackedSearch, *args: Any) -> Any:
        begun.append(asks.count)
        return go(self, *args)

    monkeypatch.setattr(engine_module.PackedSearch, "go", noted)
    short_search(Space(flat, found.world), Limits(seconds=1e9, stop=asks))
    assert begun == [0]


def test_a_limit_of_memory_is_looked_at_there_too(monkeypatch: pytest.MonkeyPatch) -> None:
    held = itertools.count()  # One byte more each time that somebody looks.
    monkeypatch.setattr(limits, "resident", lambda: next(held))
    result = checked(wide(STEP), "reference", memory=5)
    assert (result.complete, result.stopped, next(held)) == (False, "memory", 6)


def test_who_was_stopped_once_stays_stopped() -> None:
    budget = Budget(Limits(stop=Asks(1)))
    for asked in range(1, 200):
        if asked < Budget.EVERY:
            budget.ask()
        else:
            with pytest.raises(OutOfBudget):
                budget.ask()
    free = Budget()
    for _ in range(200):
        free.ask()


def test_many_values_are_made_when_they_are_asked_for() -> None:
    pair = t.Tuple((t.Int(0, 5), t.Int(0, 5)))
    values = Values(World({}, {}, {}), {})
    for kind in (
        t.Set(pair, False),
        t.Tuple((t.Set(pair, False), t.BOOL)),
        t.Map(pair, t.Int(0, 99), False, True),
        t.Seq(t.Set(pair, False), False, 3),
    ):
        assert len(list(itertools.islice(values.each(kind), 100))) == 100
    # Both ways are in the same order.
    few = t.Map(t.BOOL, t.Set(t.Int(0, 2), False), False, False)
    assert list(values.each(few)) == list(values.of(few))
    large = t.Tuple((t.Int(0, 5000), t.BOOL))
    assert list(values.each(large)) == [(i, b) for i in range(5001) for b in (False, True)]
