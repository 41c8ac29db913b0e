"""Planning leaves out what would be refused and nothing else; what it costs is what is present."""

from __future__ import annotations

import dataclasses
import itertools
import sys
from collections import Counter
from types import FrameType
from typing import Any

import pytest

from lawful import Machine, Scope
from lawful.checks.explore import CheckResult, Limits, explore
from lawful.checks.explore.compiled.engine import search as packed
from lawful.checks.explore.search import search
from lawful.checks.explore.space import Space
from lawful.checks.reference import Done
from lawful.spec.flat import Flat, Rule
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from lawful.spec.text.expressions import expr as shown
from tests.checks.declarations import argument_plans
from tests.spec import texts
from tests.spec.codec.test_every_machine import everyone, flat_of

MOST = 500  # Arguments of a rule that are all tried.


def unplanned(flat: Flat) -> Flat:
    """The same with every value of every parameter."""

    def plain(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
        rows = (
            (r, tuple(dataclasses.replace(p, over=None, guards=()) for p in r.plans)) for r in rules
        )
        return tuple(dataclasses.replace(rule, plans=plans) for rule, plans in rows)

    return dataclasses.replace(flat, rules=plain(flat.rules), initials=plain(flat.initials))


def told(result: CheckResult) -> dict[str, Any]:
    """Everything but the time, the engine and what it handed back; of a trace, its length."""
    rows = [
        (p.name, p.verdict, None if p.trace is None else len(p.trace)) for p in result.properties
    ]
    plain = {f.name: getattr(result, f.name) for f in dataclasses.fields(result)}
    return {
        **plain,
        "seconds": None,
        "handed_back": None,
        "compile_seconds": None,
        "engine": None,
        "not_generated": None,
        "properties": rows,
    }


def is_planned(flat: Flat | None) -> bool:
    """Whether it has a scope, and something is left out in it."""
    return flat is not None and unplanned(flat) != flat


PLANNED = (
    argument_plans.Collections,
    argument_plans.Values,
    argument_plans.Headers,
    argument_plans.Ranges,
)
EVERYONE = [cls for cls in everyone() if is_planned(flat_of(cls))]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("cls", PLANNED[1:], ids=lambda cls: cls.__name__)
def test_counts_are_those_of_all_values(cls: type[Machine]) -> None:
    flat = flat_of(cls)
    assert flat is not None and unplanned(flat) != flat
    world = resolve(cls).world
    one, other = (explore(each, world, {}) for each in (flat, unplanned(flat)))
    assert one.complete and told(one) == told(other)


def affordable(space: Space, state: Any) -> bool:
    """Whether all values can be tried in a state."""
    return all(
        sum(1 for _ in itertools.islice(space.arguments(rule, state), MOST)) < MOST
        for rule, _ in space.rules
    )


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("cls", "states"),
    [*((cls, 150) for cls in PLANNED), *((cls, 12) for cls in EVERYONE)],
    ids=lambda given: getattr(given, "__name__", str(given)),
)
def test_every_edge_is_one_of_all_values(cls: type[Machine], states: int) -> None:
    """The edges, in whatever order, of the first states."""
    whole = flat_of(cls)
    assert whole is not None
    # A rule of which nothing is left out may have more values than can be tried.
    pairs = zip(whole.rules, unplanned(whole).rules, strict=True)
    flat = dataclasses.replace(whole, rules=tuple(a for a, b in pairs if a != b))
    world = resolve(cls).world
    one, other = Space(flat, world), Space(unplanned(flat), world)
    starts = [list(space.initial()) for space in (one, other)]
    assert {repr(start) for start in starts[0]} == {repr(start) for start in starts[1]}
    seen = dict.fromkeys(out.state for _, _, out in starts[0] if isinstance(out, Done))
    for state in itertools.takewhile(lambda s: affordable(other, s), list(seen)):
        _compare(one, other, state, seen, states)


def _compare(one: Space, other: Space, first: Any, seen: dict[Any, None], states: int) -> None:
    """The states that are reached from one, breadth-first."""
    waiting = [first]
    while waiting:
        state = waiting.pop(0)
        edges = list(other.edges(state))
        assert {repr(edge) for edge in one.edges(state)} == {repr(edge) for edge in edges}
        for edge in edges:
            out = edge.outcome
            fresh = isinstance(out, Done) and not edge.cut and out.state not in seen
            if isinstance(out, Done) and fresh and len(seen) < states:
                seen[out.state] = None
                waiting.append(out.state)


LARGE = """\
    class Msg(Record):
        kind: bool
        seqno: Nat
        again: Nat
        at: Nat
    class M(Machine):
        net: set[Msg] = set()
        turn: Nat = 0
        last: Msg | None = None
        @transition()
        def send(self, n: Nat, k: Nat) -> None:
            require(n == self.turn and k == n % 100)
            self.net.add(Msg(True, n, n, n))
            self.turn += 1
        @transition()
        def take(self, m: Msg) -> None:
            require(m in self.net)
            self.net.remove(m)
            self.last = m
        @transition()
        def same(self, m: Msg) -> None:
            require(m == self.last)
            self.last = None
        @transition()
        def part(self, kind: bool, n: Nat, k: Nat) -> None:
            require(Msg(kind, n, k, n) in self.net and k == n)
            self.net.discard(Msg(kind, n, k, n))
    """


@pytest.mark.parametrize("most", [4, 100])
def test_a_large_type_costs_what_is_present(most: int) -> None:
    """A parameter of two million records, and one of a hundred: the same states at one cost."""
    resolved = texts.resolved(LARGE)
    flat = lower(resolved.machine, Scope({"M.turn": range(0, 3)}, Nat=range(0, most)))
    calls = Counter[str]()
    space = Space(flat, resolved.world)
    reference: Any = space.reference
    step = reference.step

    def counted(state: Any, name: str, args: Any) -> Any:
        calls[name] += 1
        return step(state, name, args)

    reference.step = counted
    ((_, _, start),) = space.initial()
    assert isinstance(start, Done)
    seen = {start.state: None}
    for state in (waiting := [start.state]):
        for edge in space.edges(state):
            if not edge.cut and isinstance(edge.outcome, Done) and edge.outcome.state not in seen:
                seen[edge.outcome.state] = None
                waiting.append(edge.outcome.state)
    assert (len(seen), sum(calls.values())) == (12, 31)


RANGES = """\
    class M(Machine):
        at: Nat = 0
        @transition()
        def go(self, n: Nat) -> None:
            require(n > self.at and n <= self.at + 2)
            self.at = n
    """


@pytest.mark.parametrize("most", [100, 3_000])
def test_a_range_costs_what_is_in_it(most: int) -> None:
    """Of a hundred values as of three thousand only those are tried that are in the range."""
    resolved = texts.resolved(RANGES)
    space = Space(lower(resolved.machine, Scope(Nat=range(0, most))), resolved.world)
    found = search(space, Limits(states=40))
    assert (len(found.states), space.tried) == (40, 76)


def lines_of_steps(most: int) -> int:
    """How many lines of generated code a search of forty states runs through."""
    resolved = texts.resolved(RANGES)
    space = Space(lower(resolved.machine, Scope(Nat=range(0, most))), resolved.world)
    lines = 0

    def line(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal lines
        lines += frame.f_code.co_filename == "<steps>" and event == "line"
        return line

    before = sys.gettrace()
    sys.settrace(line)
    try:
        found = packed(space, Limits(states=40), tier="generated")
    finally:
        sys.settrace(before)
    assert (found.count, found.handed_back) == (40, 0)
    return lines


def test_generated_steps_cost_what_is_in_the_range() -> None:
    """A few more lines for larger numbers, and none for a value that is not tried."""
    small, large = lines_of_steps(100), lines_of_steps(3_000)
    assert 0 < large * 10 < small * 11


def test_the_ends_of_a_range() -> None:
    """In the text of the plan; a test of another form leaves the values as they are."""
    flat = flat_of(argument_plans.Ranges)
    assert flat is not None
    overs = {
        f"{rule.name}.{plan.name}": shown(plan.over)
        for rule in flat.rules
        for plan in rule.plans
        if plan.over is not None
    }
    assert overs == {
        "forward.n": "range(max(0, self.at + 1), min(100, self.at + 2 + 1))",
        "back.n": "range(0, min(100, self.at))",
        "below_far.n": "range(max(0, 97 + 1), min(100, self.far))",
        "set_limit.n": "range(max(0, 1), min(100, 3 + 1))",
        "to_limit.n": "range(0, min(100, self.limits[on] + 1))",
        "pair.low": "(self.at,)",
        "pair.high": "range(max(0, low + 1), min(100, low + 3))",
    }
