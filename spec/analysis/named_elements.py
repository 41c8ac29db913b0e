"""The elements of sorts that a declaration names; they are elements of their sorts, always.

    LEADER = Node("leader")                     # `Node=2` explores Node1, Node2 and leader

A scope and a universe give the other elements.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping

from .. import ir
from .. import types as t
from .walk import everything


def named_elements(machine: ir.Machine, given: Collection[str] = ()) -> dict[str, tuple[str, ...]]:
    """The texts of the elements that a machine names, by sort, in order: in its own bodies,
    properties and defaults and in those of its parts and of the machines that it refines.

    `given`: the parameters that have values, so that nobody uses their defaults.
    """
    found = _constants(machine)
    if found:  # Mostly nothing is named; otherwise some may be in defaults that nobody uses.
        found = _constants(_without_unused_defaults(machine, given))
    return {sort: tuple(sorted(texts)) for sort, texts in sorted(found.items())}


def _constants(machine: ir.Machine) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for node in everything((machine,)):
        if isinstance(node, ir.Const) and isinstance(node.type, t.Sort):
            found.setdefault(node.type.name, set()).add(str(node.value))
    return found


def with_named(elements: Iterable[str], named: Iterable[str]) -> tuple[str, ...]:
    """These elements, and those after them that the declaration names besides."""
    return tuple(dict.fromkeys((*elements, *named)))


def explored(sort: str, size: int, named: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The elements of a sort in a scope that gives it this size: `Node=2` are Node1 and Node2,
    and those that the declaration names."""
    return with_named((f"{sort}{i + 1}" for i in range(size)), named.get(sort, ()))


def without_defaults(machine: ir.Machine, given: Collection[str]) -> ir.Machine:
    """The machine without the defaults of these of its parameters."""
    if not any(p.name in given for p in machine.parameters):
        return machine
    rows = tuple(
        dataclasses.replace(p, default=None) if p.name in given else p for p in machine.parameters
    )
    return dataclasses.replace(machine, parameters=rows)


def _without_unused_defaults(machine: ir.Machine, given: Collection[str]) -> ir.Machine:
    made: dict[str, list[set[str]]] = {}
    for node in everything((machine,)):
        if isinstance(node, ir.New) and isinstance(node.type, t.Part):
            made.setdefault(node.type.machine, []).append({name for name, _ in node.args})
    parts = tuple(
        without_defaults(part, set[str].intersection(*made[part.name]) if part.name in made else ())
        for part in machine.parts
    )
    return dataclasses.replace(without_defaults(machine, given), parts=parts)
