"""The armed timers of an instance and of its parts, each with its place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lawful.spec import types as t
from lawful.spec.syntax.declare import slot
from lawful.spec.values.text import repr_of

from ..kernel.state import State


@dataclass(slots=True)
class ArmedTimer:
    """An armed timer of a state: its variable, and its key where the variable is a map of timers.

    `place` is the path to it from the outermost machine, as text.
    """

    place: str
    state: State
    variable: str
    key: Any = None

    @property
    def deadline(self) -> float:
        """When it is due, in the seconds of the instance's clock."""
        held = getattr(self.state, slot(self.variable))
        due: float = held if self.key is None else held[self.key]
        return due

    def put_off(self, deadline: float) -> None:
        """Give it another deadline."""
        if self.key is None:
            setattr(self.state, slot(self.variable), deadline)
        else:
            getattr(self.state, slot(self.variable))[self.key] = deadline


def armed_timers(state: State, path: str = "") -> Iterator[ArmedTimer]:
    """The armed timers of a state and of its parts, whose places begin with `path`."""
    plan = state.__plan__
    for name in plan.variables:
        kind, held = plan.fields[name], getattr(state, slot(name), None)
        place = path + name  # Of a timer of the outermost machine, one text for all instances.
        match kind:
            case _ if held is None:
                pass
            case t.Timer():
                yield ArmedTimer(place, state, name)
            case t.Map(value=t.Timer()):
                armed = (key for key, due in held.items() if due is not None)
                yield from (ArmedTimer(f"{place}[{repr_of(k)}]", state, name, k) for k in armed)
            case t.Part():
                yield from armed_timers(held, f"{place}.")
            case t.Map(value=t.Part()):
                for key, part in held.items():
                    yield from armed_timers(part, f"{place}[{repr_of(key)}].")
            case _:
                pass
