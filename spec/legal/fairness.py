"""Fairness: the groups that `Fairness(...)` and `@transition(fair=...)` name, and their rules."""

from __future__ import annotations

from collections.abc import Sequence

from .. import ir
from ..errors import Problems, nearest
from ..syntax.members import Members
from ..values.time import with_ticks


def fairness_fits(machine: ir.Machine, members: Members, problems: Problems) -> None:
    """A group names transitions of the machine, and parameters that all of them have."""
    steps = with_ticks(machine).transitions
    known = {row.name: [n for n, _ in row.function.params] for row in steps}
    for group, place in members.fair_groups():
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


def fairness_of(machine: ir.Machine, members: Members) -> tuple[ir.Fair, ...]:
    """The groups of a machine whose transitions are known, with the parameters for whose every
    value they hold separately; what `fairness_fits` refuses is left out."""
    steps = {row.name for row in with_ticks(machine).transitions}
    found: list[ir.Fair] = []
    for group, _ in members.fair_groups():
        if steps.issuperset(group.names):
            each = shared(machine, group.names) if group.each is None else group.each
            found.append((group.strength, group.names, each))
    return tuple(found)


def shared(machine: ir.Machine, names: Sequence[str]) -> tuple[str, ...]:
    """The parameters that all these transitions have by name and type: what `each` is where a
    group does not say it."""
    steps = {row.name: row.function.params for row in with_ticks(machine).transitions}
    rows = [steps[name] for name in names]
    return tuple(p[0] for p in rows[0] if all(p in row for row in rows)) if rows else ()
