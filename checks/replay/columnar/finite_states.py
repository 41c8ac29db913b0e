"""The states of a machine that has few: each by its index.

It needs no NumPy: the driver of Spark may have none.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.control_variable import control_variable
from lawful.spec.ir import Json

MOST = 16  # States that a row is judged in at once; each costs what one costs without splitting.


@dataclass(frozen=True)
class FiniteStates:
    """The states of a machine whose variables are enums and booleans.

    A state is a tuple with a number for each variable: of the member of its enum, or 0 or 1.
    """

    variables: tuple[ir.Variable, ...]
    control: ir.Variable | None

    @cached_property
    def all(self) -> tuple[tuple[int, ...], ...]:
        """Every state; the index of one is that in this tuple."""
        return tuple(itertools.product(*(range(size_of(v.type)) for v in self.variables)))

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """What to multiply the numbers of a state with: their sum is the state's index."""
        sizes = [size_of(v.type) for v in self.variables]
        return tuple(_product(sizes[i + 1 :]) for i in range(len(sizes)))

    @cached_property
    def controls(self) -> tuple[str, ...]:
        """The name of the control state in each state; empty where there is no such variable."""
        if self.control is None:
            return ("",) * len(self.all)
        at, kind = self.variables.index(self.control), self.control.type
        assert isinstance(kind, t.Enum)
        return tuple(kind.members[state[at]] for state in self.all)

    def shown(self, index: int) -> dict[str, Json]:
        """The variables of a state in the form of a journal."""
        out: dict[str, Json] = {}
        for v, number in zip(self.variables, self.all[index], strict=True):
            out[v.name] = v.type.members[number] if isinstance(v.type, t.Enum) else bool(number)
        return out

    def index(self, shown: Mapping[str, Json]) -> int:
        """The index of a state in the form of a journal."""
        numbers = (
            v.type.members.index(str(shown[v.name]))
            if isinstance(v.type, t.Enum)
            else int(bool(shown[v.name]))
            for v in self.variables
        )
        return sum(n * weight for n, weight in zip(numbers, self.weights, strict=True))


def size_of(kind: t.Type) -> int:
    """How many values a variable of a finite machine has; 0 for other types."""
    match kind:
        case t.Enum(members=members):
            return len(members)
        case t.Bool():
            return 2
        case _:
            return 0


def _product(sizes: list[int]) -> int:
    out = 1
    for size in sizes:
        out *= size
    return out


def states_of(machine: ir.Machine) -> FiniteStates | None:
    """The states of a machine; None where there are more than `MOST`, or a variable is of another
    type or a ghost."""
    if any(v.ghost for v in machine.variables):
        return None
    count = _product([size_of(v.type) for v in machine.variables])
    few = 0 < count <= MOST
    return FiniteStates(machine.variables, control_variable(machine)) if few else None
