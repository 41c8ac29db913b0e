"""Legality of assumptions: an `@assume` is about parameters, which have their values first."""

from __future__ import annotations

from collections.abc import Iterator

from .. import ir
from ..analysis.walk import everything
from ..errors import Problems
from ..syntax.members import Members


def assumptions_read_parameters(machine: ir.Machine, members: Members, problems: Problems) -> None:
    """Note where an assumption reads a variable or a part, also through a helper or a property."""
    variables = {v.name for v in machine.variables}
    for assumed in machine.of_kind("assume"):
        for node in _read(assumed.function, _called(machine), set()):
            match node:
                case ir.Field(of=ir.Self(), name=name) if name in variables:
                    found = f"{name}, a variable"
                case ir.Can(name=name):
                    found = f"can({name})"
                case _:
                    continue
            problems.add(
                "L205",
                node.place,
                f"{found}, in the assumption {assumed.name}",
                _expected(machine),
                "make it a Param, or an @invariant of what a state has",
            )


def _called(machine: ir.Machine) -> dict[str, ir.Function]:
    functions = (*machine.functions, *(p.function for p in machine.properties))
    return {f.name: f for f in functions}


def _read(
    function: ir.Function, called: dict[str, ir.Function], seen: set[str]
) -> Iterator[ir.Node]:
    """What is inside a function and those of the machine that it calls."""
    if function.name in seen:
        return
    seen.add(function.name)
    for node in everything(function.body):
        yield node
        if isinstance(node, ir.Call) and node.function in called:
            yield from _read(called[node.function], called, seen)


def _expected(machine: ir.Machine) -> str:
    names = ", ".join(p.name for p in machine.parameters)
    return f"parameters alone: {names}" if names else "parameters alone, and there are none"
