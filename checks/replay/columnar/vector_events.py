"""Events over components: which transition each instance of a block takes, and what follows.

A block has the rows of many instances that do one event at once, one row of each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lawful.spec import ir
from lawful.spec import types as t

from .components import (
    Array,
    Components,
    Convert,
    Symbols,
    components_of,
    conversion,
    equal,
    selected,
)
from .layout import Built, EventColumns, Fixed, Leaf, Origin, Told, Unsupported
from .vector_bodies import Bodies, Candidate, Ignored
from .vectors import Frame

IGNORED = -1  # In place of the index of a transition.


@dataclass(frozen=True, slots=True)
class Block:
    """The rows from `start` to `end` of arrays by path."""

    arrays: Mapping[str, Array]
    symbols: Symbols
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Output:
    """The recorded outputs of the rows of a block; `untold` are the rows that say nothing of it."""

    values: Components
    untold: Array


Read = Callable[[Block], Components]
Fields = dict[str, Components]


@dataclass(frozen=True, slots=True)
class Served:
    """What became of the rows of a block: `failed` are left to the compiled steps.

    `written` has the new values of the fields that some row may have changed, `taken` the index of
    each row's transition, or one for all.
    """

    failed: Array
    written: Fields
    taken: Array


class VectorEvent:
    """One event of a machine. Unsupported where arrays cannot run it."""

    def __init__(self, machine: ir.Machine, columns: EventColumns) -> None:
        bodies = Bodies(machine)
        event = next(each for each in machine.events if each.name == columns.name)
        rows = machine.serving(event.name)
        self.names = [row.name for row in rows]
        self.params = [[name for name, _ in row.function.params] for row in rows]
        self.candidates: list[Candidate] = []
        self.compare: list[Convert] = []  # From each transition's output to the event's.
        for row in rows:
            self.candidates.append(bodies.candidate(row))
            if columns.told is not None and columns.told.origin is not None:
                self.compare.append(conversion(row.function.output, event.output))
        self.ignores: list[tuple[list[str], Ignored]] = []
        for ignore in machine.ignores:
            if ignore.event == event.name:
                params = [] if ignore.when is None else [n for n, _ in ignore.when.params]
                self.ignores.append((params, bodies.ignored(ignore)))
        origins = zip(columns.origins, event.params, strict=True)
        self.arguments = [reading(origin, kind) for origin, (_, kind) in origins]
        self.told = None if columns.told is None else outputs(columns.told, event.output)
        # What an ignored event gives; None where no recorded output is like it.
        self.nothing = _given_by_none(event.output)
        self.writes = tuple(sorted({name for each in self.candidates for name in each.writes}))
        fixed = {p.name for p in machine.parameters}
        self.fields = tuple(sorted((bodies.read | {*self.writes}) - fixed))
        self.parameters = tuple(sorted(bodies.read & fixed))

    def served(self, fields: Fields, block: Block) -> Served:
        """What the rows of a block do; `fields` has the instances' fields, and the parameters."""
        given = [read(block) for read in self.arguments]
        told = None if self.told is None else self.told(block)
        if len(self.candidates) == 1 and not self.ignores:
            ok, frame = self._tried(0, dict(fields), given, block)
            bad = np.logical_not(ok)
            for each in frame.faults:
                bad = bad | each
            if told is not None:
                bad = bad | np.logical_not(self._alike(0, frame, told))
            return Served(bad, {name: frame.fields[name] for name in self.writes}, 0)
        return self._chosen(fields, given, told, block)

    def _chosen(
        self, fields: Fields, given: list[Components], told: Output | None, block: Block
    ) -> Served:
        """Exactly one of several transitions has to be enabled; if none is, an `ignore`."""
        rows = block.end - block.start
        failed = np.zeros(rows, dtype=bool)
        count = np.zeros(rows, dtype=np.int64)
        taken = np.full(rows, IGNORED, dtype=np.int64)
        written = {name: fields[name] for name in self.writes}
        for index, candidate in enumerate(self.candidates):
            ok, frame = self._tried(index, dict(fields), given, block)
            for each in frame.faults:
                failed |= each
            count += ok
            taken[ok] = index
            if told is not None:
                failed |= ok & np.logical_not(self._alike(index, frame, told))
            for name in candidate.writes:
                written[name] = selected(ok, frame.fields[name], written[name])
        ignored = np.zeros(rows, dtype=bool)
        for params, row in self.ignores:
            frame = Frame(dict(fields), _named(params, given), block.symbols)
            ignored |= row.test(frame)
            for each in (*frame.faults, *frame.refused):
                failed |= each & (count == 0)
        failed |= (count > 1) | ((count == 0) & ~ignored)
        if told is not None:
            none = False if self.nothing is None else equal(told.values, self.nothing)
            failed |= (count == 0) & np.logical_not(none)
        return Served(failed, written, taken)

    def _tried(
        self, index: int, fields: Fields, given: list[Components], block: Block
    ) -> tuple[Array, Frame]:
        """The rows in which a transition is enabled, and the frame after it."""
        frame = Frame(fields, _named(self.params[index], given), block.symbols)
        self.candidates[index].run(frame)
        rows = block.end - block.start
        ok = np.ones(rows, dtype=bool) if frame.path is None else np.full(rows, frame.path)
        for each in frame.refused:
            ok &= np.logical_not(each)
        return ok, frame

    def _alike(self, index: int, frame: Frame, told: Output) -> Array:
        """Where the output is the recorded one, or the row says nothing of it."""
        if frame.output is None:  # No row came to a `return`.
            return told.untold
        return told.untold | equal(self.compare[index](frame.output), told.values)


def _named(params: list[str], given: list[Components]) -> Fields:
    return dict(zip(params, given, strict=False))


def _given_by_none(output: t.Type) -> Components | None:
    try:
        return conversion(t.Nothing(), output)(())
    except Unsupported:
        return None


def reading(origin: Origin, kind: t.Type) -> Read:
    """How the values of an argument or output of this type are read from arrays."""
    match origin:
        case Leaf(path=path, kind=of):
            convert = conversion(of, kind)
            return lambda block: convert((block.arrays[path][block.start : block.end],))
        case Built(kind=of, of=parts):
            into = conversion(of, kind)
            rows = zip(parts, of.fields, strict=True)
            reads = [reading(part, each) for part, (_, each) in rows]
            return lambda block: into(tuple(c for read in reads for c in read(block)))
        case Fixed(value=value, kind=of):
            widen = conversion(of, kind)
            components_of(value, of, {})  # It has components, or this is not supported.
            return lambda block: widen(components_of(value, of, block.symbols))


def outputs(told: Told, kind: t.Type) -> Callable[[Block], Output] | None:
    """How the recorded outputs of this type are read from arrays; None where all are None."""
    if told.origin is None:
        return None
    read, null = reading(told.origin, kind), null_of(told.path)
    if not told.path:
        return lambda block: Output(read(block), False)
    if not told.may_be_none:
        return lambda block: Output(read(block), block.arrays[null][block.start : block.end])
    none = conversion(t.Nothing(), kind)(())

    def values(block: Block) -> Output:
        return Output(
            selected(block.arrays[null][block.start : block.end], none, read(block)), False
        )

    return values


def null_of(path: str) -> str:
    """The name of the array that says where there is no value at a path."""
    return f"null {path}"


def leaves(origin: Origin | None) -> list[Leaf]:
    """The columns of which an argument or output is made."""
    match origin:
        case Leaf():
            return [origin]
        case Built(of=parts):
            return [leaf for part in parts for leaf in leaves(part)]
        case _:
            return []


def terminal_of(machine: ir.Machine) -> tuple[list[Callable[[Frame], Any]], frozenset[str]]:
    """The functions that say where an instance may end, and the fields that they read."""
    bodies = Bodies(machine)
    tests = [bodies.holds(p) for p in machine.of_kind("terminal")]
    return tests, frozenset(bodies.read)
