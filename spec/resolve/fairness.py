"""Fairness: its groups, from `fairness = Fairness(...)` and from `@transition(fair=...)`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lawful.spec import ir
from lawful.spec.errors import Place, Problems, nearest
from lawful.spec.syntax.declare import declared
from lawful.spec.syntax.members import Members
from lawful.spec.values.time import with_ticks
from lawful.spec.words import Group


def fairness_of(machine: ir.Machine, members: Members) -> tuple[ir.Fair, ...]:
    """The groups of a machine whose transitions are known, with the parameters for whose every
    value they hold separately; what `fairness_fits` refuses is left out."""
    steps = {row.name for row in with_ticks(machine).transitions}
    found: list[ir.Fair] = []
    for group, _ in _groups(members):
        if steps.issuperset(group.names):
            each = shared(machine, group.names) if group.each is None else group.each
            found.append((group.strength, group.names, each))
    return tuple(found)


def _groups(members: Members) -> Iterator[tuple[Group, Place]]:
    if members.fairness is not None:
        place = declared(members.chain[-1]).place("fairness")
        for group in members.fairness.groups:
            yield group, place
    for name, member in members.methods.items():
        fair = None if member.header is None else member.header.fair
        if fair is not None:
            yield Group(fair, (name,)), member.tree.place


def shared(machine: ir.Machine, names: Sequence[str]) -> tuple[str, ...]:
    """The parameters that all these transitions have by name and type: what `each` is where a
    group does not say it."""
    steps = {row.name: row.function.params for row in with_ticks(machine).transitions}
    rows = [steps[name] for name in names]
    return tuple(p[0] for p in rows[0] if all(p in row for row in rows)) if rows else ()


def fairness_fits(machine: ir.Machine, members: Members, problems: Problems) -> None:
    """A group names transitions of the machine, and parameters that all of them have."""
    steps = with_ticks(machine).transitions
    known = {row.name: [n for n, _ in row.function.params] for row in steps}
    for group, place in _groups(members):
        if not group.names:
            problems.add(
                "L217",
                place,
                f"{group.strength} fairness of no transition",
                f"one of {', '.join(known)}",
                "name the transitions of the group",
            )
        for name in group.names:
            if name not in known:
                problems.add(
                    "L217",
                    place,
                    f"fairness of {name}",
                    f"one of {', '.join(known)}",
                    nearest(name, known),
                )
                continue
            for each in group.each or ():
                if each not in known[name]:
                    problems.add(
                        "L217",
                        place,
                        f"each {each} of {name}",
                        f"one of {', '.join(known[name])}" if known[name] else "no parameter",
                        nearest(each, known[name]),
                    )
