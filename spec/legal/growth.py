"""Legality of growing sorts: each total map over one has a default for the keys that come later."""

from __future__ import annotations

from collections.abc import Iterator

from .. import ir
from .. import types as t
from ..analysis.growth import growing_maps, growing_sorts, grows, step_name, universe_name
from ..analysis.walk import everything
from ..errors import Place, Problems
from ..syntax.members import Members


def growth_fits(machine: ir.Machine, members: Members, problems: Problems) -> None:
    """What a growing sort needs: defaults, no immutable map over it, two free names."""
    sorts = growing_sorts(machine)
    if not sorts:
        return
    for v in growing_maps(machine):
        if v.initial is None:
            problems.add(
                "L224",
                v.place,
                f"{v.name}: {v.type}, without a default",
                "a value for each key that comes later",
                f"write {v.name}: {v.type} = total(...)",
            )
    for place, name, kind in _kinds(machine):
        if any(_is_fixed(each) for each in t.inside(kind)):
            problems.add(
                "L224",
                place,
                f"{name}: {kind}",
                "no immutable map: it has no value for a key that comes later",
                "use a variable dict[K, V] = total(...), or a sort without growing=True",
            )
    for place, what in _too_early(machine):
        problems.add(
            "L224",
            place,
            what,
            "elements that are known before the instance is made",
            "name them, or use a sort without growing=True",
        )
    for sort in sorts:
        _names_are_free(machine, sort, problems)


def _is_fixed(kind: t.Type) -> bool:
    return isinstance(kind, t.Map) and not kind.mutable and grows(kind.key)


def _kinds(machine: ir.Machine) -> Iterator[tuple[Place, str, t.Type]]:
    """The types of what a state keeps, and of arguments."""
    yield from ((v.place, v.name, v.type) for v in machine.variables)
    yield from ((p.place, p.name, p.type) for p in machine.parameters)
    for event in machine.events:
        yield from ((event.place, name, kind) for name, kind in event.params)
    for start in machine.initials:
        yield from ((start.place, name, kind) for name, kind in start.params)


def _too_early(machine: ir.Machine) -> Iterator[tuple[Place, str]]:
    """Parameters and assumptions that go through a growing sort."""
    for p in machine.parameters:
        if p.default is not None and _goes_through(p.default):
            yield p.place, f"the default of {p.name}, which goes through a growing sort"
    for assumed in machine.of_kind("assume"):
        if _goes_through(assumed.function) or any(grows(k) for _, k in assumed.function.params):
            yield assumed.place, f"{assumed.name}, which goes through a growing sort"


def _goes_through(node: ir.Node) -> bool:
    inside = everything((node,))
    return any(isinstance(each, ir.Domain) and grows(each.type) for each in inside)


def _names_are_free(machine: ir.Machine, sort: t.Sort, problems: Problems) -> None:
    rows = [(v.name, v.place) for v in machine.variables]
    rows += [(p.name, p.place) for p in machine.parameters]
    rows += [(p.name, p.place) for p in machine.properties]
    rows += [(e.name, e.place) for e in machine.events]
    rows += [(row.name, row.place) for row in machine.transitions]
    for name, place in rows:
        if name in (universe_name(sort), step_name(sort)):
            problems.add(
                "L224",
                place,
                f"{name}, beside {sort.name}, a growing sort",
                f"the names {universe_name(sort)} and {step_name(sort)} for its growth alone",
                "rename it",
            )
