"""Traces of random machines that are spoilt: rows shuffled, lost, given twice, tied, or changed.

A spoilt trace comes in parts. What the contract of increments asks for is kept: of an instance
whose rows have no dense numbers, no part has a row that belongs before rows of an earlier part; and
a row that is given again comes in the part that has the row.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import strategies as st

from lawful import Ambiguous, PropertyViolated, Refused, Undefined
from lawful.checks.replay import Preparation, ReplayProgram
from lawful.checks.replay.mapping import mapping_of
from lawful.runtime.journal import Journal, read
from lawful.spec import ir
from lawful.spec.errors import DeclarationError
from lawful.spec.values.time import clock_of
from tests.agree.engines import Engines
from tests.agree.examine import HEAD, forget, seeded
from tests.agree.hits import Hits
from tests.agree.replaying import ways
from tests.checks.replay import test_columnar
from tests.spec import texts

Row = dict[str, Any]
OTHERS: tuple[Any, ...] = (None, 1, -1, "x", True, 1.5, {}, [], 2**70)
INSTANCES = 4
EVENTS = 8
NO_EVENT = (Refused, Undefined, PropertyViolated, Ambiguous)
JUNK = ("", "  ", "{", "[]", '{"no": "instance"}', "\\u0000", '{"instance": 1e999}')


@dataclass(frozen=True)
class Trace:
    """The rows of some instances, each in order; `number` and `output` are keys of a row."""

    name: str
    program: ReplayProgram
    rows: tuple[tuple[Row, ...], ...]
    number: str = "seq"
    output: str = "output"

    @property
    def dense(self) -> bool:
        """Whether rows may come in any order, because their numbers tell what is missing."""
        return self.program.dense


@functools.cache
def orders() -> tuple[Trace, ...]:
    """Orders, all events of which have typed columns; and the same prepared. Few random machines
    have any."""
    rng, rows = Random(0), list[tuple[Row, ...]]()
    for number in range(2 * INSTANCES):
        its, machine = test_columnar.order(rng, f"order-{number}"), test_columnar.Order(limit=500)
        rows.append(tuple(line | {"gave": test_columnar.gave(machine, line)} for line in its))
    machines, plain = test_columnar.PROGRAM.machines, test_columnar.MAPPING
    mapping = dataclasses.replace(plain, output="$.gave")
    prepared = dataclasses.replace(mapping, preparation=Preparation(casts={"$.n": "int"}))
    programs = {"orders": mapping, "prepared orders": prepared}
    return tuple(
        Trace(name, ReplayProgram(machines, mapping=each), tuple(rows), "n", "gave")
        for name, each in programs.items()
    )


# Random machines.


@functools.lru_cache(maxsize=64)
def journals(seed: int, folder: Path) -> tuple[Trace, ...]:
    """A journal of a random machine, and the same events as a foreign trace in three forms:
    numbered, in the order of their times, and numbered and prepared. None of a seed that gives no
    machine."""
    try:
        engines = Engines(texts.machine(seeded(seed), HEAD), Random(seed), Hits())
    except (DeclarationError, ValueError):
        return ()
    finally:
        forget()
    if engines.declared is None:
        return ()
    path = folder / f"{seed}.jsonl"
    _run(engines, path)
    by_instance: dict[str, list[Row]] = {}
    for row in read(path):
        by_instance.setdefault(row["instance"], []).append(row)
    rows = tuple(map(tuple, by_instance.values()))
    if sum(map(len, rows)) <= 2 * len(rows):
        return ()
    machine = engines.resolved.machine
    program = ReplayProgram((machine,), anywhere=True)
    return (Trace(f"journal {seed}", program, rows), *foreign(seed, machine, rows))


def _run(engines: Engines, path: Path) -> None:
    """Random events of some instances."""
    machine, rng = engines.machine, engines.rng
    params = {row.name: row.function.params for row in machine.transitions}
    params |= {event.name: event.params for event in machine.events}
    with Journal(path) as journal:
        for number in range(INSTANCES):
            state = engines.start()
            if state is None:
                state = engines.state()
            instance = engines.running.instance(state)
            journal.attach(instance, f"i{number}")
            for _ in range(EVENTS):
                name = rng.choice(ways(engines.resolved.machine))
                instance.__environment__.clock.advance(rng.choice([0.0, 0.5, engines.running.tick]))
                try:
                    instance.lawful.take(name, *engines.args(params[name]))
                except NO_EVENT:
                    continue


def foreign(seed: int, machine: ir.Machine, rows: Sequence[Sequence[Row]]) -> Iterator[Trace]:
    """The events of a journal as rows that a mapping reads."""
    params = {row.name: row.function.params for row in machine.transitions}
    params |= {event.name: event.params for event in machine.events}
    paths: Row = {"instance": "$.id", "seq": "$.n", "event": "$.what", "time": "$.at"}
    paths |= {"output": "$.out", "machine": machine.name, "unit": "us"}
    paths["args"] = {
        name: {param: f"$.{name}.{param}" for param, _ in each} for name, each in params.items()
    }
    told = tuple(
        tuple(
            {
                "id": row["instance"],
                "n": row["seq"],
                "at": int(row["time"] * 1e6) + row["seq"],
                "what": row["event"],
                "out": row["output"],
                row["event"]: row["args"],
            }
            for row in its
            if row["outcome"] in ("done", "ignored")
        )
        for its in rows
    )
    if clock_of(machine) is None:
        del paths["time"]  # Rows with times have no typed columns.
    by_time = {**paths, "time": "$.at", "seq": None, "preparation": {"order": "time"}}
    kept = {**paths, "preparation": {"fields": {"what": "$.what"}}}
    forms = {"numbered": (paths, "n"), "by time": (by_time, "at"), "prepared": (kept, "n")}
    for name, (data, number) in forms.items():
        program = ReplayProgram((machine,), mapping=mapping_of(data))
        yield Trace(f"{name} {seed}", program, told, number, "out")


# Spoiling.

Spoil = Callable[[Trace, list[list[Row]], Random], None]


def _lose(_trace: Trace, rows: list[list[Row]], rng: Random) -> None:
    its = _some(rows, rng)
    if its:
        its.pop(rng.randrange(len(its)))


def _change(_trace: Trace, rows: list[list[Row]], rng: Random) -> None:
    """Another value somewhere in a row."""
    its = _some(rows, rng)
    if its:
        row = rng.choice(its)
        key = rng.choice(sorted(row))
        row[key] = rng.choice(OTHERS)


def _leave_out(_trace: Trace, rows: list[list[Row]], rng: Random) -> None:
    its = _some(rows, rng)
    if its:
        row = rng.choice(its)
        del row[rng.choice(sorted(row))]


def _again(_trace: Trace, rows: list[list[Row]], rng: Random) -> None:
    its = _some(rows, rng)
    if its:
        at = rng.randrange(len(its))
        its.insert(at, dict(its[at]))


def _tie(trace: Trace, rows: list[list[Row]], rng: Random) -> None:
    """A second row with the number of one, which differs in what no report shows."""
    its = _some(rows, rng)
    if its:
        at = rng.randrange(len(its))
        its.insert(at, its[at] | {trace.output: "tied"})


def _move(trace: Trace, rows: list[list[Row]], rng: Random) -> None:
    """Another number."""
    its = _some(rows, rng)
    if its:
        row = rng.choice(its)
        number = row.get(trace.number)
        if type(number) is int:
            row[trace.number] = max(0, number + rng.choice([-2, -1, 1, 2]))


def _some(rows: list[list[Row]], rng: Random) -> list[Row]:
    return rng.choice(rows) if rows else []


SPOILS: dict[str, Spoil] = {
    "lost": _lose,
    "changed": _change,
    "left out": _leave_out,
    "again": _again,
    "tied": _tie,
    "moved": _move,
}


@dataclass(frozen=True)
class Spoilt:
    """How a trace is spoilt: what is done with rows, how many parts it has, and chance."""

    spoils: tuple[str, ...]
    parts: int
    junk: int
    seed: int

    def of(self, trace: Trace) -> list[list[str]]:
        """The lines of the parts."""
        rng = Random(self.seed)
        rows = [[dict(row) for row in its] for its in trace.rows]
        for name in self.spoils:
            SPOILS[name](trace, rows, rng)
        parts: list[list[str]] = [[] for _ in range(self.parts)]
        for its in rows:
            for row, at in zip(its, self._together(trace, its, rng), strict=True):
                parts[at].append(json.dumps(row))
        for _ in range(self.junk):
            rng.choice(parts).append(rng.choice(JUNK))
        for part in parts:
            rng.shuffle(part)
        return parts

    def _together(self, trace: Trace, its: list[Row], rng: Random) -> list[int]:
        """The part of each row. Rows of one number are in one part, and others in any part, if
        numbers are dense; otherwise later numbers are in no earlier part."""
        numbers = [row.get(trace.number) for row in its]
        known = sorted({each for each in numbers if type(each) is int})
        drawn = [rng.randrange(self.parts) for _ in known]
        part_of = dict(zip(known, drawn if trace.dense else sorted(drawn), strict=True))
        return [
            part_of[each] if type(each) is int else rng.randrange(self.parts) for each in numbers
        ]


def spoilt() -> st.SearchStrategy[Spoilt]:
    """Any way to spoil a trace; the smallest is none."""
    spoils = st.lists(st.sampled_from([*SPOILS]), max_size=4).map(tuple)
    return st.builds(Spoilt, spoils, st.integers(1, 3), st.integers(0, 2), st.integers(0, 999))
