"""Names of a machine's free functions in its text: each has one name, which nothing else has.

A method of a record is shown as a function of the module. Two records may have methods of one name,
and a local may have the name of a method.
"""

from __future__ import annotations

import builtins
import dataclasses
from collections.abc import Iterator

from .. import ir, words
from .. import types as t
from ..analysis.walk import everything, replaced
from .expressions import own_name


def with_own_names(m: ir.Machine) -> ir.Machine:
    """The machine with its free functions, and those of its parts, renamed where that is needed."""
    nodes = [*everything([m])]
    called = {each.function for each in nodes if isinstance(each, ir.Call) and each.of is None}
    free = {f.name: f for f in nodes if isinstance(f, ir.Function) and f.name in called}
    taken = {*dir(builtins), *dir(words), *_names(nodes)}
    renamed: dict[str, str] = {}
    for key, function in sorted(free.items()):
        name = old = own_name(key)
        if name in taken and function.params:
            name += f"_of_{str(function.params[0][1]).lower()}" * _of_value(function)
        while name in taken:
            name += "_"
        taken.add(name)
        if name != old:
            renamed[key] = f"{key.removesuffix(old)}{name}"
    if not renamed:
        return m

    def change(node: ir.Node) -> ir.Node | None:
        match node:
            case ir.Function(name=name) if name in renamed:
                return replaced(dataclasses.replace(node, name=renamed[name]), change)
            case ir.Call(function=name) if name in renamed:
                return replaced(dataclasses.replace(node, function=renamed[name]), change)
            case _:
                return None

    made = replaced(m, change)
    assert isinstance(made, ir.Machine)
    return made


def _of_value(function: ir.Function) -> bool:
    return isinstance(function.params[0][1], t.Record | t.Enum)


def _names(nodes: list[ir.Node]) -> Iterator[str]:
    """The names of locals and types."""
    for node in nodes:
        match node:
            case ir.Local(name=name):
                yield name
            case ir.Clause(names=names) | ir.Loop(names=names):
                yield from names
            case ir.Function(params=params):
                yield from (name for name, _ in params)
            case ir.Machine(name=name, types=types):
                yield name
                yield from map(str, types)
            case _:
                pass
