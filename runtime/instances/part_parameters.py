"""Parameters of parts, which a declaration fixes where it makes the part.

A snapshot of an older version may have others: what is proved of the newer one is false of these.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.walk import everything
from lawful.spec.quick_dataclass import dataclass
from lawful.spec.syntax.declare import slot
from lawful.spec.values.text import repr_of

from ..kernel.dispatch import tree
from ..kernel.plan import Plan
from ..kernel.state import State


@dataclass(frozen=True, slots=True)
class Strange:
    """A parameter of a part with another value than the declaration gives it: `declared` ones."""

    place: str
    part: State
    name: str
    declared: tuple[Any, ...]

    def __str__(self) -> str:
        wanted = " or ".join(map(repr, self.declared))
        found = getattr(self.part, slot(self.name))
        return f"{self.place}.{self.name} is {found!r}, and the declaration makes it with {wanted}"


def strange_parameters(state: State) -> Iterator[Strange]:
    """The parameters of parts, at any depth, with values that the declaration does not give."""
    for whole in tree(state):
        for variable, family in whole.__plan__.families.items():
            held = getattr(whole, slot(variable), None)
            if held is None:
                continue
            rows = held.items() if family else ((None, held),)
            for key, part in rows:
                place = f"{whole.__plan__.name}.{variable}"
                place = f"{place}[{repr_of(key)}]" if family else place
                for name in part.__plan__.parameters:
                    declared = _declared(whole.__plan__, part, variable, name)
                    if declared and getattr(part, slot(name)) not in declared:
                        yield Strange(place, part, name, declared)


def as_declared(state: State) -> None:
    """ValueError where a part has a parameter that the declaration does not give it."""
    for each in strange_parameters(state):
        raise ValueError(f"the snapshot is of another declaration: {each}")


def taken_from_declaration(state: State) -> None:
    """Give parts the parameters of the declaration. ValueError where it makes such parts with
    several values, so that nobody knows which."""
    for each in strange_parameters(state):
        first, *others = each.declared
        if others:
            raise ValueError(f"the snapshot is of another declaration: {each}")
        setattr(each.part, slot(each.name), first)


def _declared(plan: Plan, part: State, variable: str, name: str) -> tuple[Any, ...]:
    """The values that a parameter of a part may have; empty where only a run tells."""
    kind = plan.fields[variable]
    of = kind.value if isinstance(kind, t.Map) else kind
    own = next(v.initial for v in plan.machine.variables if v.name == variable)
    # A part that is no member of a family is made once, as its variable is declared.
    m = plan.machine
    bodies = (m.transitions, m.initials, m.functions, m.bases)
    where = (own, *bodies) if isinstance(kind, t.Map) else (own,)
    found: list[Any] = []
    for node in everything(where):
        if isinstance(node, ir.New) and node.type == of:
            arg = dict(node.args).get(name)
            if arg is None and name in part.__plan__.defaults:
                found.append(part.__plan__.defaults[name])
            elif isinstance(arg, ir.Const):
                found.append(_constant(arg, plan))
            else:
                return ()
    return tuple(value for i, value in enumerate(found) if value not in found[:i])


def _constant(e: ir.Const, plan: Plan) -> Any:
    world = plan.resolved.world
    match e.type:
        case t.Enum(name=name):
            return world.enums[name][str(e.value)]
        case t.Sort(name=name):
            return world.sorts[name](str(e.value))
        case _:
            return e.value
