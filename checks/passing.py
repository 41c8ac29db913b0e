"""Time in a state: what one tick makes of it, and what keeps time from passing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.values import FrozenMap

from .boxes import Box

Machines = Mapping[str, ir.Machine]


def urgent_and_due(machines: Machines, name: str, box: Box) -> Iterator[str]:
    """The places of the urgent timers that are due, parts included."""
    for v, value in zip(machines[name].variables, box, strict=False):
        match v.type:
            case t.Timer(urgent=True) if value == 0:
                yield v.name
            case t.Map(value=t.Timer(urgent=True)):
                yield from (f"{v.name}[{k}]" for k, left in value.items() if left == 0)
            case t.Part(machine=part):
                yield from (f"{v.name}.{at}" for at in urgent_and_due(machines, part, value))
            case t.Map(value=t.Part(machine=part)):
                for k, each in value.items():
                    inside = urgent_and_due(machines, part, each)
                    yield from (f"{v.name}[{k}].{at}" for at in inside)
            case _:
                pass


def advance(machines: Machines, name: str, box: Box) -> None:
    """One tick passes: clocks go on, and every armed timer is due one tick sooner."""
    for i, v in enumerate(machines[name].variables):
        match v.type:
            case t.Clock():
                box[i] += 1
            case t.Timer():
                box[i] = _sooner(box[i])
            case t.Map(value=t.Timer()):
                box[i] = _each(box[i], _sooner)
            case t.Part(machine=part):
                advance(machines, part, box[i])
            case t.Map(value=t.Part(machine=part)):
                for each in box[i].values():
                    advance(machines, part, each)
            case _:
                pass


def _sooner(left: int | None) -> int | None:
    return None if left is None else max(0, left - 1)


def _each(held: Mapping[Any, Any], change: Callable[[Any], Any]) -> FrozenMap[Any, Any]:
    return FrozenMap({k: change(v) for k, v in held.items()})
