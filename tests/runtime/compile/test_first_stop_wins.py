"""What stops a step first decides its outcome: in Python's order, whatever the hash seed."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import Counter
from typing import Annotated, Any

import pytest
from annotated_types import Interval

from lawful import Machine, Nat, Sort, needed, require, transition
from lawful.checks.reference import Reference
from tests.runtime.compile.test_against_reference import expected, told

Key = Annotated[int, Interval(ge=-1, le=9)]


class Writer(Machine):
    """Every way to write an item, with a guard and a partial operation in one statement."""

    m: dict[Key, Nat] = {}
    rows: dict[Key, dict[Key, Nat]] = {}
    bags: Counter[Key] = Counter()
    queue: list[Nat] = []
    i: int = 0
    o: Key | None = None

    @transition()
    def undefined_value(self) -> None:
        self.m[needed(self.o, "none")] = 1 % self.i

    @transition()
    def refused_value(self) -> None:
        self.m[self.m[2]] = needed(self.o, "none")

    @transition()
    def undefined_count(self) -> None:
        self.bags[needed(self.o, "none")] = 1 % self.i

    @transition()
    def refused_count(self) -> None:
        self.bags[self.m[2]] = needed(self.o, "none")

    @transition()
    def undefined_row(self) -> None:
        self.rows[1][needed(self.o, "none")] = 1

    @transition()
    def refused_before_row(self) -> None:
        self.rows[1][2] = needed(self.o, "none")

    @transition()
    def undefined_before_row(self) -> None:
        self.rows[needed(self.o, "none")][2] = 1 % self.i

    @transition()
    def refused_row(self) -> None:
        self.rows[needed(self.o, "none")][self.m[2]] = 1

    @transition()
    def refused_queue(self) -> None:
        self.queue[self.m[2]] = needed(self.o, "none")

    @transition()
    def undefined_queue(self) -> None:
        self.queue[needed(self.o, "none")] = 1 % self.i

    @transition()
    def undefined_read(self) -> None:
        self.m[2] += needed(self.o, "none")

    @transition()
    def refused_key(self) -> None:
        self.m[needed(self.o, "none")] += 1 % self.i

    @transition()
    def refused_bag_key(self) -> None:
        self.bags[needed(self.o, "none")] += 1 % self.i

    @transition()
    def undefined_added(self) -> None:
        self.bags[self.i] += 1 % self.i + needed(self.o, "none")

    @transition()
    def refused_second(self) -> None:
        self.i, self.m[needed(self.o, "none")] = 1, 2

    @transition()
    def undefined_first(self) -> None:
        self.m[self.m[2]], self.m[needed(self.o, "none")] = 1, 2

    @transition()
    def undefined_right(self) -> None:
        self.m[needed(self.o, "none")], self.i = 1, 1 % self.i

    @transition()
    def undefined_delete(self) -> None:
        del self.rows[1][needed(self.o, "none")]

    @transition()
    def refused_delete(self) -> None:
        del self.rows[needed(self.o, "none")][self.m[2]]

    @transition()
    def undefined_insert(self) -> None:
        self.queue.insert(1 % self.i, needed(self.o, "none"))

    @transition()
    def refused_insert(self) -> None:
        self.queue.insert(needed(self.o, "none"), 1 % self.i)


EVENTS = [tr.name for tr in Writer.lawful.ir.transitions]


@pytest.mark.parametrize("event", EVENTS)
def test_what_python_evaluates_first_decides(event: str) -> None:
    wanted = event.partition("_")[0]
    machine = Writer()
    got = told(machine, event, ())
    assert got[0] == wanted
    assert machine == Writer()
    engine = Reference(Writer.lawful.ir, Writer.lawful.resolved.world)
    outcome = engine.step(engine.initial({}), event, {})
    assert expected(outcome, Writer.lawful.ir.transition(event))[0] == wanted


@pytest.mark.parametrize("seed", range(20))
def test_where_every_operand_has_a_value_nothing_stops_the_step(seed: int) -> None:
    chance = random.Random(seed)
    tables: dict[str, Any] = {
        "m": {k: chance.randint(0, 3) for k in range(-1, 4)},
        "rows": {k: {0: 1, 1: 2, 2: 3, 3: 4} for k in range(4)},
        "queue": (1, 2, 3, 4),
        "i": chance.randint(1, 3),
        "o": chance.randint(0, 3),
    }
    for event in EVENTS:
        machine = Writer.lawful.state(**tables)
        got = told(machine, event, ())
        assert got[0] == "done", event


class Name(Sort):
    pass


class Loops(Machine):
    """Loops over what has no order, of which one round refuses and another has no value."""

    names: set[Name] = set()
    levels: dict[Name, int] = {}
    seen: int = 0

    @transition()
    def meet(self, name: Name, level: int) -> None:
        self.names.add(name)
        self.levels[name] = level

    @transition()
    def of_set(self) -> None:
        for name in self.names:
            require(self.levels[name] > 0, "not yet")
            self.seen += 6 // (self.levels[name] - 1)

    @transition()
    def of_map(self) -> None:
        for level in self.levels.values():
            require(level > 0, "not yet")
            self.seen += 6 // (level - 1)

    @transition()
    def asserted(self) -> None:
        for name in self.names:
            assert self.levels[name] > 0
            self.seen += 6 // (self.levels[name] - 1)

    @transition()
    def guarded(self) -> None:
        for name in self.names:
            require(name in self.levels, "unknown")
            self.levels[name] = 2


def loops(levels: dict[str, int], event: str) -> tuple[Any, ...]:
    machine = Loops()
    for name, level in levels.items():
        machine.meet(Name(name), level)
    return told(machine, event, ())


LOOPS = ("of_set", "of_map", "asserted")
SCRIPT = """
from tests.runtime.compile.test_first_stop_wins import LOOPS, loops
print([loops({"a": 1, "b": 0, "c": 1, "d": 0, "e": 1}, event)[0] for event in LOOPS])
"""


@pytest.mark.nightly
def test_the_hash_seed_decides_nothing() -> None:
    said = set[str]()
    for seed in range(6):
        said.add(
            subprocess.run(
                [sys.executable, "-c", SCRIPT],
                env={**os.environ, "PYTHONHASHSEED": str(seed)},
                capture_output=True,
                text=True,
                check=True,
            ).stdout
        )
    assert len(said) == 1


@pytest.mark.parametrize("event", LOOPS)
def test_the_past_decides_nothing(event: str) -> None:
    one, other = {"a": 1, "b": 0, "c": 3}, {"c": 3, "b": 0, "a": 1}
    assert loops(one, event) == loops(other, event)


def test_the_order_is_the_reference_engines() -> None:
    engine = Reference(Loops.lawful.ir, Loops.lawful.resolved.world)
    for levels in ({"a": 1, "b": 0}, {"a": 0, "b": 1}):
        state = engine.initial({})
        for name, level in levels.items():
            outcome: Any = engine.step(state, "meet", {"name": Name(name), "level": level})
            state = outcome.state
        for event in LOOPS:
            outcome = engine.step(state, event, {})
            wanted = expected(outcome, Loops.lawful.ir.transition(event))
            assert loops(levels, event)[0] == wanted[0]


def test_only_where_it_could_show_there_is_an_order() -> None:
    text = Loops.lawful.generated()
    # The transition, and its event; `guarded` may put keys into a map, whose order shows.
    assert text.count("in in_order(") == 2 * len((*LOOPS, "guarded"))
