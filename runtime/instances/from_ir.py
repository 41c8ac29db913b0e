"""The compiled class of a machine of which there is only the IR: no class statement, no source.

A replay runs the steps of such a class in processes that do not have the declaration.
"""

from __future__ import annotations

from typing import Any

from lawful.spec import ir
from lawful.spec.resolve import Resolved
from lawful.spec.syntax.declare import slot
from lawful.spec.values.world import World

from ..compile.compiler import Compiler
from ..kernel.state import State


def class_of(machine: ir.Machine, world: World) -> type[State]:
    """A class whose instances run the machine's steps; `world` has the classes of its values.

    It has no methods: `__plan__.ways` has the functions. Raises ValueError where the machine has
    parts, whose classes there are none of.
    """
    if machine.parts:
        raise ValueError(f"{machine.name} has parts")
    fields = [v.name for v in machine.variables] + [p.name for p in machine.parameters]
    space = {"__slots__": [slot(name) for name in fields], "__module__": __name__}
    metaclass: Any = type(State)
    made: type[State] = metaclass(machine.name, (State,), space)
    plan = Compiler(Resolved(machine, world, {}, {}, {})).run()
    plan.cls = made
    made.__plan__ = plan
    return made
