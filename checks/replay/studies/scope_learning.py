"""The values that recorded events had: the bounds of a scope in which production stays.

Only states count that a recorded event led to, as the machine does it; what deviates, and what is
not certain, is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.ir import Json
from lawful.spec.values.world import chosen, decode

from ...reference.states import State
from ..engine_choice import Tell, silent
from ..fold import Fold
from ..in_process import tally_rows
from ..program import ReplayProgram
from ..row_step import Stepper
from ..rows import Row
from ..tally import Tally
from ..unseen.tied_fold import TiedFold

# Types of which states can be compared by value: elements of sorts and opaque values have other
# names within a scope.
COMPARED = (t.Bool, t.Enum, t.Int, t.Nothing)


@dataclass
class Range:
    """The least and the most of numbers, or of sizes."""

    low: int
    high: int

    def take(self, number: int) -> None:
        """Count one more."""
        self.low, self.high = min(self.low, number), max(self.high, number)


@dataclass
class Learned:
    """What was seen of one machine.

    `numbers` and `sizes` are of variables (`sent`) and arguments (`ack.upto`), of numbers inside
    them as well. `kinds` has the ranges of `Nat` and `int`. `parameters` has the values in JSON
    form. `elements` has the names of the elements of each sort. `states` are texts: see `compared`.
    """

    machine: ir.Machine
    numbers: dict[str, Range] = field(default_factory=dict[str, Range])
    sizes: dict[str, Range] = field(default_factory=dict[str, Range])
    kinds: dict[str, Range] = field(default_factory=dict[str, Range])
    parameters: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    elements: dict[str, int] = field(default_factory=dict[str, int])
    states: set[str] = field(default_factory=set[str])
    tally: Tally = field(default_factory=Tally)

    def take(self, name: str, value: Any, kind: t.Type) -> None:
        """Count a value, and the numbers and sizes in it."""
        match kind:
            case t.Int(name=of):
                _wider(self.numbers, name, value)
                _wider(self.kinds, of, value)
            case t.Union() | t.Record() | t.Tuple():
                for inner, of_inner in _inside(value, kind):
                    self.take(name, inner, of_inner)
            case t.Seq(item=item) | t.Set(item=item):
                _wider(self.sizes, name, len(value))
                for each in value:
                    self.take(name, each, item)
            case t.Map() | t.Bag():
                key, of_value = (
                    (kind.key, kind.value) if isinstance(kind, t.Map) else (kind.item, t.NAT)
                )
                _wider(self.sizes, name, len(value))
                for each, inner in value.items():
                    self.take(name, each, key)
                    if not isinstance(of_value, t.Part):
                        self.take(name, inner, of_value)
            case _:
                return

    @property
    def bounds(self) -> dict[str, Range | int]:
        """The scope by keys: a size for each sort, ranges for `Nat`, `int` and numeric variables,
        sizes for variables that hold a container."""
        out: dict[str, Range | int] = dict(sorted(self.elements.items()))
        out.update(sorted(self.kinds.items()))
        for v in self.machine.variables:
            if isinstance(v.type, t.Int) and v.name in self.numbers:
                out[v.name] = self.numbers[v.name]
            elif isinstance(v.type, t.Seq | t.Bag) and v.name in self.sizes:
                out[v.name] = max(1, self.sizes[v.name].high)
        return out

    @property
    def scope(self) -> list[str]:
        """The same as options `--scope`, with the values of parameters that are whole numbers."""
        out = [
            f"{key}={bound.low}..{bound.high}" if isinstance(bound, Range) else f"{key}={bound}"
            for key, bound in self.bounds.items()
        ]
        for name, texts in sorted(self.parameters.items()):
            values = [json.loads(text) for text in texts]
            if all(type(value) is int for value in values):
                out.append(f"{name}={','.join(map(str, sorted(values)))}")
        return out


def _wider(ranges: dict[str, Range], name: str, number: int) -> None:
    ranges.setdefault(name, Range(number, number)).take(number)


def _inside(value: Any, kind: t.Union | t.Record | t.Tuple) -> Iterator[tuple[Any, t.Type]]:
    """The values in a record or a tuple, and the present one of a union."""
    match kind:
        case t.Union():
            yield value, chosen(value, kind)
        case t.Record(fields=fields):
            yield from ((getattr(value, name), of) for name, of in fields)
        case t.Tuple(items=items):
            yield from zip(value, items, strict=True)


class _Watch(TiedFold):
    """A fold that tells what states and arguments it saw."""

    learned: Mapping[str, Learned]

    def _went(self, stepper: Stepper, row: Row, after: State, taken: str | None) -> None:
        super()._went(stepper, row, after, taken)
        if self.lost is None:
            self._learn(stepper, after)
            self._learn_arguments(stepper, row)

    def _begin(self, stepper: Stepper, row: Row) -> State | None:
        begun = super()._begin(stepper, row)
        if begun is not None:
            self._learn(stepper, begun)
        return begun

    def _learn(self, stepper: Stepper, state: State) -> None:
        learned = self.learned[stepper.machine.name]
        for v, value in zip(stepper.machine.variables, state, strict=False):
            if not v.ghost and not isinstance(v.type, t.Part):
                learned.take(v.name, value, v.type)
        for name, value in stepper.form.parameters(state).items():
            learned.parameters.setdefault(name, set()).add(json.dumps(value, sort_keys=True))
        for sort, elements in self.universe.items():
            learned.elements[sort] = max(learned.elements.get(sort, 1), len(elements))
        learned.states.add(compared(learned.machine, stepper.shown(state)))

    def _learn_arguments(self, stepper: Stepper, row: Row) -> None:
        learned = self.learned[stepper.machine.name]
        for name, kind in stepper.events[row.event].params if row.event in stepper.events else ():
            if name in row.args:
                learned.take(f"{row.event}.{name}", _value(stepper, row.args[name], kind), kind)


def _value(stepper: Stepper, data: Json, kind: t.Type) -> Any:
    return decode(data, kind, stepper.world)


def compared(machine: ir.Machine, shown: Mapping[str, Json]) -> str:
    """The part of a state, in JSON form, by which states are compared, as text."""
    kept = {name: shown[name] for name in compared_names(machine)}
    return json.dumps(kept, sort_keys=True)


def compared_names(machine: ir.Machine) -> list[str]:
    """The variables by which states are compared: truth values, numbers, enums, None."""
    return [
        v.name
        for v in machine.variables
        if not v.ghost
        and all(
            isinstance(each, COMPARED)
            for each in (v.type.options if isinstance(v.type, t.Union) else (v.type,))
        )
    ]


def learned(
    paths: Iterable[str | Path], program: ReplayProgram, tell: Tell = silent
) -> dict[str, Learned]:
    """What the traces say of each machine, by name. In this process, row by row.

    Raises ReplayError where the traces are unreadable.
    """
    found = {machine.name: Learned(machine) for machine in program.machines}

    def watch(program: ReplayProgram, instance: str) -> Fold:
        made = _Watch(program, instance)
        made.learned = found
        return made

    tallies = tally_rows(program.sources(paths), program, tell, watch)
    for name, each in found.items():
        each.tally = tallies.machines.get(name, Tally())
    return found
