"""Composition: a machine and the parts inside it at any depth, each with the path to it."""

from __future__ import annotations

from collections.abc import Iterator

from .. import ir
from .. import types as t
from ..quick_dataclass import dataclass
from ..verdicts import BUILT_IN


@dataclass(frozen=True, slots=True)
class Hop:
    """A step from a machine into a variable of it, which holds one part or a family of parts.

    `owner` is the machine's name; `at` the position of the variable among the machine's.
    """

    owner: str
    at: int
    variable: ir.Variable

    @property
    def name(self) -> str:
        """The name of the variable."""
        return self.variable.name

    @property
    def key(self) -> t.Type | None:
        """The type of the keys of a family; None for a single part."""
        kind = self.variable.type
        return kind.key if isinstance(kind, t.Map) else None


Path = tuple[Hop, ...]


@dataclass(frozen=True, slots=True)
class Inner:
    """A machine inside another one, or that one itself, whose path is empty."""

    path: Path
    machine: ir.Machine

    @property
    def prefix(self) -> str:
        """What stands before the names of its members in the whole: `peers.link.`."""
        return "".join(f"{hop.name}." for hop in self.path)


def machines_in(whole: ir.Machine) -> Iterator[Inner]:
    """The machine, then for each of its variables the parts there, outer before inner."""
    parts = {part.name: part for part in whole.parts}
    return _inside(parts, whole, ())


def judged(whole: ir.Machine) -> set[str]:
    """The names of all that has a verdict: the properties, those of parts too, and what every
    machine has."""
    own = {each.prefix + p.name for each in machines_in(whole) for p in each.machine.properties}
    return {*own, *BUILT_IN}


def _inside(parts: dict[str, ir.Machine], machine: ir.Machine, path: Path) -> Iterator[Inner]:
    yield Inner(path, machine)
    for at, v in enumerate(machine.variables):
        part = t.part_of(v.type)
        if part is not None and part.machine in parts:  # Else the declaration is refused.
            hop = Hop(machine.name, at, v)
            yield from _inside(parts, parts[part.machine], (*path, hop))
