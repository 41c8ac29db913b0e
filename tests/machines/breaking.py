"""Machines with one small change, and what notices it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from lawful import Machine
from lawful import machines as package
from lawful.checks.explore import Limits, explore
from lawful.checks.mutation.mutants import Mutant, identities, mutants
from lawful.spec import ir
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from lawful.targets import scope_of
from tests.spec import texts

FOLDER = Path(package.__path__[0])
RELATIVE = re.compile(r"^from \.\w+ import (\([^)]*\)|.*)$\n", re.MULTILINE)
Key = tuple[str, str, str, int, int, int]


def keyed(cls: type[Machine], owner: str) -> dict[Key, Mutant]:
    """The mutants of one machine inside another, by the place and the words of each change.

    A machine has the same rows where it is a part, and where a variant inherits or extends them.
    """
    met = Counter[tuple[str, str, str, int, int]]()
    found: dict[Key, Mutant] = {}
    for each in mutants(resolve(cls).machine):
        if each.owner != owner:
            continue
        row, place = each.row.rpartition(".")[2], each.place
        key = (row, each.change.operator, each.change.what, place.line, place.column)
        met[key] += 1
        found[(*key, met[key])] = each
    return found


def names(cls: type[Machine]) -> dict[Key, str]:
    """The identity of each mutant of a machine, by the same keys."""
    every = keyed(cls, cls.__name__)
    return dict(zip(every, identities(list(every.values())), strict=True))


def fails(cls: type[Machine], owner: str, row: str, what: str, most: int | None = None) -> set[str]:
    """The properties that fail first where the text of the owner is changed so; or all of them,
    within so many states."""
    (mutant,) = (
        each
        for each in mutants(resolve(cls).machine)
        if (each.owner, each.row, each.change.what) == (owner, row, what)
    )
    return failing(cls, mutant.made(), most)


def failing(
    cls: type[Machine],
    machine: ir.Machine | None = None,
    most: int | None = None,
    scope: str = "scope",
) -> set[str]:
    """The properties that fail, of the class or of a machine that is its mutant; as `fails`."""
    found = resolve(cls)
    flat = lower(machine or found.machine, scope_of(cls, [scope]))
    limits = Limits(first=True) if most is None else Limits(most)
    result = explore(flat, found.world, {}, limits=limits)
    return {p.name for p in result.properties if p.verdict.value in ("violated", "undefined")}


def replaced(
    system: str, modules: Sequence[str], change: tuple[str, str, str], machine: str
) -> type[Machine]:
    """A machine of the system where a text of one module, which is there once, is another one."""
    return rewritten(system, modules, [change], machine)


def rewritten(
    system: str, modules: Sequence[str], changes: Sequence[tuple[str, str, str]], machine: str
) -> type[Machine]:
    """The same with several changes, made one after the other.

    `modules` are all those that it is made of, in an order in which each finds what it imports.
    """
    found = {name: (FOLDER / system / f"{name}.py").read_text(encoding="utf-8") for name in modules}
    for module, old, new in changes:
        assert found[module].count(old) == 1, (old, found[module].count(old))
        found[module] = found[module].replace(old, new)
    whole = "\n".join(RELATIVE.sub("", text) for text in found.values())
    cls: type[Machine] = vars(texts.module(whole, head=""))[machine]
    return cls
