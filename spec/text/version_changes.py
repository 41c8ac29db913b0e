"""What a newer version of a machine lost, won and changed: transitions, states, properties."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from .. import ir
from .. import types as t
from ..quick_dataclass import dataclass
from .statements import block, path

Kind = Literal["transition", "state", "property", "helper"]
Change = Literal["lost", "won", "changed"]


@dataclass(frozen=True, slots=True)
class VersionChange:
    """One change. `kind` is that of what changed; of a property `detail` is its own kind."""

    change: Change
    kind: Kind
    name: str
    detail: str

    def __str__(self) -> str:
        detail = f" ({self.detail})" if self.detail else ""
        return f"{self.change} {self.kind} {self.name}{detail}"


def version_changes(old: ir.Machine, new: ir.Machine) -> tuple[VersionChange, ...]:
    """The changes from one version to the other; places, comments and docstrings do not count.

    A property that has another kind is lost, and won as the other: `@invariant` promises more than
    `@reachable`. The members of an enum are states where a transition is declared between them.
    """
    helpers = _changes("helper", _helpers(old), _helpers(new))
    return (
        *_changes("transition", _transitions(old), _transitions(new)),
        *_changes("state", _states(old), _states(new)),
        *_changes("property", _properties(old), _properties(new)),
        # What is no longer called, or newly called, is a change of its callers.
        *(each for each in helpers if each.change == "changed"),
    )


# By name: what the thing is, and what it says.
Things = Mapping[str, tuple[str, object]]


def _changes(kind: Kind, old: Things, new: Things) -> Iterator[VersionChange]:
    for name in dict.fromkeys((*old, *new)):
        was, now = old.get(name), new.get(name)
        if was == now:
            continue
        if was is not None and now is not None and was[0] == now[0]:
            yield VersionChange("changed", kind, name, now[0])
            continue
        if was is not None:
            yield VersionChange("lost", kind, name, was[0])
        if now is not None:
            yield VersionChange("won", kind, name, now[0])


def _transitions(machine: ir.Machine) -> Things:
    return {each.name: ("", _transition(each)) for each in machine.transitions}


def _transition(each: ir.Transition) -> tuple[object, ...]:
    places = [None if place is None else path(place) for place in (each.control, each.timer)]
    return each.event, each.source, each.target, *places, _function(each.function)


def _properties(machine: ir.Machine) -> Things:
    return {each.name: (str(each.kind), _function(each.function)) for each in machine.properties}


def _helpers(machine: ir.Machine) -> Things:
    return {each.name: ("", _function(each)) for each in machine.functions}


def _function(function: ir.Function) -> tuple[object, ...]:
    """What a function says. Text has no types inside: a state more in an enum changes no body."""
    params = [(name, str(kind)) for name, kind in function.params]
    return params, str(function.output), block(function.body)


def _states(machine: ir.Machine) -> Things:
    enums = [
        each.control.type
        for each in machine.transitions
        if each.control is not None and isinstance(each.control.type, t.Enum)
    ]
    return {f"{enum.name}.{name}": ("", name) for enum in enums for name in enum.members}
