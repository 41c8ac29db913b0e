"""Growing sorts: `class Node(Sort, growing=True)`. An instance may get elements after it was made.

At run time the elements are the instance's universe, and a call makes it larger. Engines that
explore or prove read a machine in which the universe is a variable, and growth is a step
(`spec.lower.growth`). This module has the names of both, and what is asked of a machine's sorts.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import ir
from .. import types as t

ELEMENT = "element"  # The parameter of the step.


def growing_sorts(machine: ir.Machine) -> tuple[t.Sort, ...]:
    """The sorts of a machine that may grow, in the order of their names."""
    found = {k for k in machine.types if isinstance(k, t.Sort) and k.growing}
    return tuple(sorted(found, key=str))


def universe_name(sort: t.Sort) -> str:
    """The variable that has the elements of a sort; no field of a declaration has this name."""
    return f"universe_{sort.name}"


def step_name(sort: t.Sort) -> str:
    """The step in which a sort grows; no event of a declaration has this name."""
    return f"grow_{sort.name}"


def universes(machine: ir.Machine) -> Iterator[tuple[t.Sort, ir.Variable]]:
    """The growing sorts that have a variable, each with it; none of a machine as declared."""
    known = {v.name: v for v in machine.variables}
    for sort in growing_sorts(machine):
        if universe_name(sort) in known:
            yield sort, known[universe_name(sort)]


def grown_by(machine: ir.Machine, name: str) -> t.Sort | None:
    """The sort that grows in the step of this name; None for any other step."""
    return next((sort for sort, _ in universes(machine) if step_name(sort) == name), None)


def grows(kind: t.Type, sort: t.Sort | None = None) -> bool:
    """Whether values of a type may contain elements of a growing sort, or of this one."""
    return any(isinstance(k, t.Sort) and k.growing and sort in (None, k) for k in t.inside(kind))


def growing_maps(machine: ir.Machine, sort: t.Sort | None = None) -> Iterator[ir.Variable]:
    """The variables of a machine itself that are total maps and get keys as a sort grows."""
    for v in machine.variables:
        if isinstance(v.type, t.Map) and v.type.total and grows(v.type.key, sort):
            yield v
