"""Legality of fairness: the groups that `Fairness(...)` and `@transition(fair=...)` name."""

from __future__ import annotations

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
