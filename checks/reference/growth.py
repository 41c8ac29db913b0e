"""What the growth of a sort does to a state.

The universe has one element more when this is asked: the engine's `domains` give it. Each total map
over the sort gets, for each key that it did not have, the value that its default has for it.
Nothing else changes: no set, no partial map, no other variable. So an instance that grows differs
from one that began with the element only in what happened before.
"""

from __future__ import annotations

from typing import Any

from lawful.spec import types as t
from lawful.spec.analysis.growth import growing_maps, step_name
from lawful.spec.values.world import FrozenMap

from .outcome import Outcome
from .states import State, WorkingCopy
from .steps import Reference


def grow(reference: Reference, state: State, sort: t.Sort) -> Outcome:
    """The state after the sort got an element; a fault where a default has no value or is out of
    its bounds."""

    def run(working: WorkingCopy) -> None:
        _grow(reference, reference.machine.name, sort, working)

    return reference.outermost(state, step_name(sort), run, state)


def _grow(reference: Reference, machine: str, sort: t.Sort, working: WorkingCopy) -> None:
    """Give the total maps of a machine and of its parts their new keys."""
    m = reference.machines[machine]
    maps = {v.name for v in growing_maps(m, sort)}
    for i, v in enumerate(m.variables):
        if v.name in maps:
            default: Any = reference.start_of(v)
            working[i] = FrozenMap({**default, **working[i]})
        match v.type:
            case t.Part(machine=part):
                _grow(reference, part, sort, working[i])
            case t.Map(value=t.Part(machine=part)):
                for each in working[i].values():
                    _grow(reference, part, sort, each)
            case _:
                pass
