"""The universe of an instance that is replayed: as its first row tells it, and as it grows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lawful.runtime.elements import Elements
from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.growth import ELEMENT, growing_sorts, step_name
from lawful.spec.analysis.named_elements import named_elements, with_named
from lawful.spec.codec.as_json import is_list
from lawful.spec.ir import Json
from lawful.spec.values.world import World

from ..reference import Done, Outcome
from .deviations import Deviation, Malformed
from .mapping import HAPPENED
from .rows import Row

ValueOf = Callable[[str, Json, t.Type], Any]  # Of a name, its data and its type.


def told_universe(machine: ir.Machine, world: World, row: Row, value: ValueOf) -> Elements:
    """The elements of the sorts, as the row says that made the instance."""
    sorts = {k.name: k for k in machine.types if isinstance(k, t.Sort)}
    found = {
        name: tuple(value(name, each, sorts[name]) for each in recorded)
        for name, recorded in row.universe.items()
        if name in sorts and is_list(recorded)
    }
    for name, elements in found.items():
        if not elements or len(set(elements)) < len(elements):
            raise Malformed(f"the universe of {name} is empty or repeats: {row.universe[name]}")
    named = named_elements(machine, row.args) if found else {}
    rows = ((k, with_named(map(str, row), named.get(k, ()))) for k, row in found.items())
    return Elements(world.elements(rows))


def growing(machine: ir.Machine) -> Mapping[str, t.Sort]:
    """The sorts that may grow, by the names that rows give to their growth."""
    return {step_name(sort): sort for sort in growing_sorts(machine)}


def grown_universe(known: Elements, sort: t.Sort, row: Row, value: ValueOf) -> Elements:
    """The elements after the row says that one has joined."""
    if row.outcome not in ("done", HAPPENED) or set(row.args) != {ELEMENT}:
        raise Malformed(f"{row.event} is no event, but the growth of {sort.name}")
    if sort.name not in known:
        raise Deviation("argument", f"the instance was made without elements of {sort.name}")
    new, there = value(ELEMENT, row.args[ELEMENT], sort), known[sort.name]
    if new in there:
        raise Deviation("argument", f"{ELEMENT}: {new} is in the universe already")
    return Elements({**known, sort.name: (*there, new)})


def grown_state(outcome: Outcome) -> Done:
    """The end of the growth; Deviation where the machine has none."""
    if isinstance(outcome, Done):
        return outcome
    what = getattr(outcome, "what", "it is refused")
    raise Deviation("fault", f"{getattr(outcome, 'name', 'growth')}: {what}")
