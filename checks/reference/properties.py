"""The properties to check: those of the machine, and those of its parts in every family."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lawful.spec import ir
from lawful.spec.analysis.composition import Path, machines_in
from lawful.spec.flat import Rule
from lawful.spec.quick_dataclass import dataclass
from lawful.spec.sorting import in_order
from lawful.spec.text.reasons import text
from lawful.spec.values.world import encode
from lawful.spec.verdicts import OF_PARTS, PropertyKind

from .states import State

Keys = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class PropertyOf:
    """A property to judge: the machine's own, or one of its parts, called `part.property`.

    Every member of a family `peers` is checked, under the one name `peers.property`.
    """

    name: str
    row: ir.Property
    rule: Rule
    path: Path

    @property
    def kind(self) -> PropertyKind:
        return self.row.kind

    def members(self, state: State) -> Iterator[tuple[Keys, State]]:
        """The machines that have the property, by the keys of the families on the path."""
        yield from _members(self.path, state, ())

    def where(self, keys: Keys) -> str:
        """The path to a member, such as `peers[a]`; empty outside families."""
        if not keys:
            return ""
        left, names = list(keys), list[str]()
        for hop in self.path:
            at = "" if hop.key is None else f"[{text(encode(left.pop(0), hop.key))}]"
            names.append(hop.name + at)
        return ".".join(names)


def _members(path: Path, state: State, keys: Keys) -> Iterator[tuple[Keys, State]]:
    if not path:
        yield keys, state
        return
    hop, rest = path[0], path[1:]
    if hop.key is not None:
        for key in in_order(state[hop.at]):
            yield from _members(rest, state[hop.at][key], (*keys, key))
    else:
        yield from _members(rest, state[hop.at], keys)


def judged(machine: ir.Machine, rules: Mapping[str, Rule]) -> Iterator[PropertyOf]:
    """The machine's properties, and its parts' properties about all states and runs."""
    for inner in machines_in(machine):
        for p in inner.machine.properties:
            if not inner.path or p.kind in OF_PARTS:
                rule = rules[f"{inner.machine.name}.{p.name}"]
                yield PropertyOf(inner.prefix + p.name, p, rule, inner.path)


def unjudged(machine: ir.Machine) -> tuple[str, ...]:
    """The `reachable` properties of parts, `part.property`: the whole is not checked for them."""
    return tuple(
        inner.prefix + p.name
        for inner in machines_in(machine)
        for p in inner.machine.properties
        if inner.path and p.kind in ("reachable", "recoverable")
    )
