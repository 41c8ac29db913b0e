"""The values that variables take in states, place by place: `window`, `sender.window`, `rm[]`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.ir import Json
from lawful.spec.quick_dataclass import dataclass
from lawful.spec.text.reasons import text
from lawful.spec.values.world import encode, rank

from ..reference.states import State

MOST = 100  # Values that are listed of each place; all are counted.
SHOWN = 12  # Of those that people read.


@dataclass(frozen=True, slots=True)
class PlaceValues:
    """The values of a place: how many, the first ones in JSON form and in order, and for integers
    alone the least and the greatest."""

    count: int
    values: tuple[Json, ...]
    least: int | None = None
    most: int | None = None

    def __str__(self) -> str:
        if self.least is not None and self.most is not None and self.count > 1:
            if self.count == self.most - self.least + 1:
                return f"{self.least}..{self.most}"
            if self.count > SHOWN:
                return f"{self.count:,} values in {self.least}..{self.most}"
        if not self.count:
            return "nothing"
        named = ", ".join(text(value) for value in self.values[:SHOWN])
        more = f", ... ({self.count:,} values)" if self.count > SHOWN else ""
        return named + more


class Collector:
    """Collects the values, place by place: `window`, `sender.window`. The values in a container
    have one name, `rm[]`; its size and, for a partial map, its keys are collected too."""

    def __init__(self, machine: ir.Machine) -> None:
        self.machine = machine
        self._kinds: dict[str, t.Type] = {}
        self._values: dict[str, set[Any]] = {}
        self._seen: dict[str, set[Any]] = {}

    def look(self, state: State) -> None:
        """Take one more state."""
        self._look_at(self.machine, state, "")

    def take(self, place: str, kind: t.Type, value: Any) -> None:
        """Take a value of a variable, which is no single part, by its path."""
        self._at(place, kind, value)

    def found(self) -> Mapping[str, PlaceValues]:
        """The collected values, in the order of the declaration."""
        return {
            place: _values(self._values.get(place, ()), self._kinds.get(place, t.INT))
            for place in _places(self.machine, self.machine, "")
        }

    def _look_at(self, machine: ir.Machine, state: State, prefix: str) -> None:
        for v, value in zip(machine.variables, state, strict=False):
            seen = self._seen.setdefault(prefix + v.name, set())
            if value not in seen:
                seen.add(value)
                self._at(prefix + v.name, v.type, value)

    def _at(self, place: str, kind: t.Type, value: Any) -> None:
        match kind:
            case t.Part(machine=name):
                self._look_at(self.machine.part(name), value, f"{place}.")
            case t.Map(key=key, value=of):
                if not kind.total:
                    self._size(place, len(value))
                    self._each(f"keys({place})", key, value)
                for inside in value.values():
                    self._at(f"{place}[]", of, inside)
            case t.Bag(item=item):
                self._size(place, value.total())
                self._each(f"{place}[]", item, (each for each, n in value.items() if n))
            case t.Set(item=item) | t.Seq(item=item):
                self._size(place, len(value))
                self._each(f"{place}[]", item, value)
            case _:
                self._each(place, kind, (value,))

    def _size(self, place: str, size: int) -> None:
        self._each(f"len({place})", t.INT, (size,))

    def _each(self, place: str, kind: t.Type, values: Iterable[Any]) -> None:
        self._kinds[place] = kind
        self._values.setdefault(place, set()).update(values)


def _places(whole: ir.Machine, machine: ir.Machine, prefix: str) -> Iterator[str]:
    for v in machine.variables:
        yield from _inside(whole, prefix + v.name, v.type)


def _inside(whole: ir.Machine, place: str, kind: t.Type) -> Iterator[str]:
    match kind:
        case t.Part(machine=name):
            yield from _places(whole, whole.part(name), f"{place}.")
        case t.Map(value=of):
            if not kind.total:
                yield from (f"len({place})", f"keys({place})")
            yield from _inside(whole, f"{place}[]", of)
        case t.Bag() | t.Set() | t.Seq():
            yield from (f"len({place})", f"{place}[]")
        case _:
            yield place


def _values(values: Iterable[Any], kind: t.Type) -> PlaceValues:
    forms = sorted((encode(value, kind) for value in values), key=rank)
    first, count = tuple(forms[:MOST]), len(forms)
    if isinstance(kind, t.Int | t.Clock) and count:
        numbers: list[int] = [*values]
        return PlaceValues(count, first, min(numbers), max(numbers))
    return PlaceValues(count, first)


def to_json(found: PlaceValues) -> Json:
    """The entry of a place in the JSON of `lawful check`."""
    out: dict[str, Json] = {"count": found.count, "values": list(found.values)}
    if found.least is not None:
        out |= {"least": found.least, "most": found.most}
    return out
