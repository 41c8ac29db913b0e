"""Mutation operators for what stands around a body: headers, timers, ignored events, initial
values."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.walk import everything, reads_local, statements
from lawful.spec.text.expressions import expr

from .operators import Change
from .variants import near, none_in, variants


def header_changes(row: ir.Transition) -> Iterator[Change]:
    """Another source or target of a transition."""
    if row.control is None:
        return
    members = row.control.type.members if isinstance(row.control.type, t.Enum) else ()
    if row.source is not None:
        yield _header(row, "widen source", "from any state", source=None)
        if len(row.source) > 1:
            for name in row.source:
                fewer = tuple(each for each in row.source if each != name)
                yield _header(row, "narrow source", f"not from {name}", source=fewer)
    if row.target is not None:
        yield _header(row, "change target", "without its target", target=None)
        if len(row.target) == 1:
            for name in members:
                if name not in row.target:
                    to = f"to {name} for {row.target[0]}"
                    yield _header(row, "change target", to, target=(name,))


def _header(row: ir.Transition, operator: str, what: str, **fields: Any) -> Change:
    new = dataclasses.replace(row, **fields)
    return Change(operator, row, new, what)


def restarts(row: ir.Transition, owner: ir.Machine) -> Iterator[Change]:
    """A timer that the transition leaves alone is started again."""
    touched = {name for stmt in statements(row.function.body) for name in _timer_of(stmt)}
    for name, start in _starts(owner).items():
        if name in touched:
            continue
        body = row.function.body
        guards = next((i for i, s in enumerate(body) if not isinstance(s, ir.Require)), len(body))
        again = dataclasses.replace(start, place=row.place)
        longer = (*body[:guards], again, *body[guards:])
        function = dataclasses.replace(row.function, body=longer)
        new = dataclasses.replace(row, function=function)
        yield Change("restart timer", row, new, f"{expr(start.target)} is started again")


def _timer_of(stmt: ir.Stmt) -> Iterator[str]:
    match stmt:
        case ir.Update(target=ir.Field(of=ir.Self(), name=name, type=t.Timer())):
            yield name
        case _:
            pass


def _starts(owner: ir.Machine) -> dict[str, ir.Update]:
    """For each timer of the machine a statement that starts it and reads no local."""
    found: dict[str, ir.Update] = {}
    for node in everything(row.function for row in (*owner.transitions, *owner.bases)):
        match node:
            case ir.Update(op="start", args=args) if not any(map(reads_local, args)):
                for name in _timer_of(node):
                    found.setdefault(name, node)
            case _:
                pass
    return found


def ignore_changes(owner: ir.Machine) -> Iterator[Change]:
    """An event that is no longer ignored in one of the states."""
    for ignore in owner.ignores:
        if ignore.source is not None and len(ignore.source) > 1:
            for name in ignore.source:
                fewer = tuple(each for each in ignore.source if each != name)
                new = dataclasses.replace(ignore, source=fewer)
                yield Change("narrow source", ignore, new, f"not ignored in {name}")


def initial_changes(owner: ir.Machine) -> Iterator[Change]:
    """Another initial value of a variable."""
    for variable in owner.variables:
        value = variable.initial
        if value is None or variable.ghost:
            continue
        others = [*variants(value), *none_in(variable.type, value)]
        if isinstance(value, ir.Const):
            others += near(value)
        for other in others:
            what = f"{variable.name} = {expr(other)} for {expr(value)}"
            yield Change("change initial value", value, other, what)
