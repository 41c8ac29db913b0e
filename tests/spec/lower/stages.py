"""The rules of the stages, asked of a machine after each pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lawful import Machine, Scope
from lawful.spec import ir
from lawful.spec.analysis.named_elements import named_elements
from lawful.spec.errors import DeclarationError, Problems
from lawful.spec.flat import Flat, Timed
from lawful.spec.lower.pipeline import (
    PASSES,
    PROOF_PASSES,
    REPLAY_PASSES,
    Request,
    given,
    stages,
)
from lawful.spec.lower.serial_bits import Narrowed
from lawful.spec.resolve import abstract_scopes, resolve


def broken_on_the_way(
    machine: ir.Machine, scope: Scope, abstracts: Mapping[str, Scope]
) -> list[str]:
    """The broken rules of each stage, where the machine becomes a `Flat`."""
    found: list[str] = []
    named = named_elements(machine, given(machine, scope))
    for each, made in stages(PASSES, machine, Request(scope, abstracts, named, False, Problems())):
        found += [f"{each.name}: {line}" for rule in each.rules for line in rule(made)]
    for passes in (PROOF_PASSES, REPLAY_PASSES):
        for each, made in stages(passes, machine, Request(scope, {}, named, True, Problems())):
            found += [f"{each.name}: {line}" for rule in each.rules for line in rule(made)]
    return found


def broken_in_scopes(machines: Iterable[type[Machine]]) -> tuple[int, list[str]]:
    """In how many scopes these machines can be lowered, and the broken rules in all of them."""
    scopes, found = 0, list[str]()
    for cls in machines:
        resolved = resolve(cls)
        for scope in resolved.scopes.values():
            try:
                lines = broken_on_the_way(resolved.machine, scope, abstract_scopes(resolved))
            except DeclarationError:  # A machine of the tests may have no whole scope.
                continue
            scopes += 1
            found += [f"{cls.__name__}: {line}" for line in lines]
    return scopes, found


def broken(flat: Flat) -> list[str]:
    """The broken rules of all stages: what a pass establishes, later ones leave true."""
    made = {Timed: flat.machine, Narrowed: Narrowed(flat.machine, flat.serials), Flat: flat}
    return [
        f"{each.name}: {line}"
        for each in PASSES
        for rule in each.rules
        for line in rule(made[each.gives])
    ]
