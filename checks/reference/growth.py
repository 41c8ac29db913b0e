"""What the growth of a sort does to a state.

The universe has one element more when this is asked (`domains` gives the elements). Each total map
over the sort gets, for each key that it did not have, the value that its default has for it.
Nothing else changes: no set, no partial map, no other variable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.growth import growing_maps
from lawful.spec.values.world import FrozenMap

from .states import WorkingCopy

Default = Callable[[ir.Variable], FrozenMap]


def grow(
    machines: Mapping[str, ir.Machine],
    default: Default,
    sort: t.Sort,
    name: str,
    working: WorkingCopy,
) -> None:
    """Give the total maps of a machine and of its parts their new keys."""
    maps = {v.name for v in growing_maps(machines[name], sort)}
    for i, v in enumerate(machines[name].variables):
        if v.name in maps:
            working[i] = FrozenMap({**default(v), **working[i]})
        match v.type:
            case t.Part(machine=part):
                grow(machines, default, sort, part, working[i])
            case t.Map(value=t.Part(machine=part)):
                for each in working[i].values():
                    grow(machines, default, sort, part, each)
            case _:
                pass
