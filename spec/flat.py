"""A machine with a scope: everything bounded, every rule with the plan of its arguments.

Flat := machine, sizes, fields, parameters, initials: Rule*, rules: Rule*, plans of properties
Rule := name, Plan*
Plan := parameter, its bounded type, guards, and what to iterate instead of all its values
"""

from __future__ import annotations

from dataclasses import dataclass

from . import ir
from . import types as t


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
    """What explorers read.

    `fields` gives for (machine, variable) the type within the scope; `parameters` the values to
    try, in JSON form; `scope` the bounds as text, for verdicts; `abstracts` what it refines;
    `serials` the serial numbers that have fewer bits here: how many are declared, and explored.
    """

    machine: ir.Machine
    sizes: tuple[tuple[str, int], ...]
    fields: tuple[tuple[str, str, t.Type], ...]
    parameters: tuple[tuple[str, tuple[ir.Json, ...]], ...]
    initials: tuple[Rule, ...]
    rules: tuple[Rule, ...]
    properties: tuple[Rule, ...]
    scope: tuple[tuple[str, str], ...]
    abstracts: tuple[Flat, ...] = ()
    serials: tuple[tuple[int, int], ...] = ()
