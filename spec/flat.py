"""A machine with a scope: everything bounded, every rule with the plan of its arguments.

Flat := machine, sizes, fields, parameters, initials: Rule*, rules: Rule*, plans of properties
Rule := name, Plan*
Plan := parameter, its bounded type, guards, and what to iterate instead of all its values
"""

from __future__ import annotations

from typing import NewType

from . import ir
from . import types as t
from .quick_dataclass import dataclass

# A machine with time in it: where it has a clock, a step `tick` and timers that count its ticks.
# Engines that explore or prove read no other; `lower.steps.with_all_steps` makes one.
Timed = NewType("Timed", ir.Machine)
# A machine as it runs: nothing assigns its ghosts. Replay reads no other.
Erased = NewType("Erased", ir.Machine)


@dataclass(frozen=True, slots=True)
class Plan:
    """How one parameter gets its values: those of `over` that `type` has, or all of `type`.

    None at all where one of `guards`, which read the parameters before it, is false; all of `type`
    for it and for those after it where one, or `over`, is undefined.
    """

    name: str
    type: t.Type
    over: ir.Expr | None = None
    guards: tuple[ir.Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """A transition, an initial or a property with the plans of its parameters, in order."""

    name: str
    plans: tuple[Plan, ...]


@dataclass(frozen=True, slots=True)
class Flat:
    """A machine within its scope: the input of explorers.

    `fields` gives for (machine, variable) the type within the scope; `parameters` the values to
    try, in JSON form; `scope` the bounds as text, for verdicts; `abstracts` the abstract machines
    that it refines; `serials` the serial numbers with fewer bits here: their declared and their
    explored number of bits.
    `sizes` has the numbers of elements that the scope gives; `elements` the elements of each sort,
    with those that the machine names.
    """

    machine: Timed
    sizes: tuple[tuple[str, int], ...]
    fields: tuple[tuple[str, str, t.Type], ...]
    parameters: tuple[tuple[str, tuple[ir.Json, ...]], ...]
    initials: tuple[Rule, ...]
    rules: tuple[Rule, ...]
    properties: tuple[Rule, ...]
    scope: tuple[tuple[str, str], ...]
    abstracts: tuple[Flat, ...] = ()
    serials: tuple[tuple[int, int], ...] = ()
    elements: tuple[tuple[str, tuple[str, ...]], ...] = ()
