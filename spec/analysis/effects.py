"""Which variables a body may write, and which names it uses."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

from .. import ir
from .. import types as t
from ..quick_dataclass import dataclass, field
from .places import in_state, root, variable_of
from .walk import everything, statements, written


@dataclass
class Writes:
    """The variables that a step may assign; `parts`: it may change its parts, or which
    there are; `anything`: it calls an ancestor's transition that is not known yet."""

    variables: dict[str, None] = field(default_factory=dict[str, None])
    parts: bool = False
    anything: bool = False

    def add(self, other: Writes) -> None:
        self.variables.update(other.variables)
        self.parts = self.parts or other.parts
        self.anything = self.anything or other.anything


class Reach:
    """Finds the writes of a machine's functions and transitions, including those of functions they
    call."""

    def __init__(
        self,
        functions: Iterable[ir.Function],
        bases: Iterable[ir.Transition],
        ghosts: frozenset[str],
    ) -> None:
        self.ghosts = ghosts
        self.functions = {f.name: f for f in functions}
        self.bases = {b.name: b for b in bases}
        self.known: dict[str, Writes] = {}

    def of_transition(self, transition: ir.Transition) -> Writes:
        out = Writes()
        places = [transition.timer] if transition.timer is not None else []
        if transition.target is not None and transition.control is not None:
            places.append(transition.control)
        for place in places:
            self._place(out, place)
        out.add(self.of_body(transition.function.body))
        return out

    def of_body(self, body: Iterable[ir.Stmt]) -> Writes:
        out = Writes()
        for stmt in statements(body):
            if isinstance(stmt, ir.Step):
                out.parts = True
            for place in written(stmt):
                self._place(out, place)
            match stmt:
                case ir.Do(call=call):
                    out.add(self.of_function(call.function))
                case ir.Base(name=name):
                    out.add(self._base(name))
                case _:
                    pass
        return out

    def _place(self, out: Writes, place: ir.Expr) -> None:
        name = variable_of(place)
        if name in self.ghosts:
            return  # It is not there when the machine runs.
        if t.contains(place.type, t.Part):
            out.parts = True  # A machine comes or goes.
        if name is not None:
            out.variables[name] = None
        elif not isinstance(root(place), ir.Local):
            out.parts = True

    def of_function(self, function: str) -> Writes:
        """What a call of the function writes."""
        if function not in self.functions:
            return Writes(anything=True)
        if function not in self.known:
            self.known[function] = Writes()  # Helpers do not call one another in a circle.
            self.known[function] = self.of_body(self.functions[function].body)
        return self.known[function]

    def _base(self, name: str) -> Writes:
        key = f"super {name}"
        if name not in self.bases:
            return Writes(anything=True)
        if key not in self.known:
            self.known[key] = self.of_transition(self.bases[name])
        return self.known[key]


def assigned(body: Iterable[ir.Stmt]) -> set[str]:
    """The locals that a body assigns: what its caller gave may be gone."""
    found: set[str] = set()
    for stmt in statements(body):
        match stmt:
            case ir.Loop(names=keys) | ir.Unpack(names=keys):
                found.update(keys)
            case _:
                found.update(p.name for p in written(stmt) if isinstance(p, ir.Local))
    return found


def in_place(stmt: ir.Stmt) -> tuple[str, ...]:
    """The variables whose containers the statement changes in place."""
    found: dict[str, None] = {}
    for each in statements((stmt,)):
        match each:
            case ir.Assign(target=ir.Item() as place) | ir.Update(target=place):
                name = variable_of(place)
                if name is not None and not _is_scalar(place):
                    found[name] = None
            case _:
                pass
    return tuple(found)


def _is_scalar(place: ir.Expr) -> bool:
    """A timer by itself: its variable is assigned, no container changes."""
    return isinstance(place, ir.Field) and isinstance(place.type, t.Timer)


def acts(function: ir.Function) -> bool:
    """Whether a helper changes the state, or can refuse: it is more than an expression."""
    for node in everything(function.body):
        match node:
            case ir.Require() | ir.Refuse() | ir.Assert() | ir.Needed():
                return True
            case ir.Step() | ir.Base() | ir.Do():
                return True
            case ir.Assign(target=target) | ir.Update(target=target):
                if in_state(target):
                    return True
            case _:
                pass
    return False


def all_names(machine: ir.Machine) -> set[str]:
    """Every name that a body of the user's may use."""
    found: set[str] = set()
    for node in everything((machine,)):
        if (names := NAMING.get(node.__class__)) is not None:
            found.update(names(node))
    return found


# The names that the nodes of a class have, for a machine has many nodes and few of these.
NAMING: dict[type, Callable[[Any], Iterable[str]]] = {
    ir.Local: lambda node: (node.name,),
    **dict.fromkeys((ir.Clause, ir.Loop, ir.Unpack), operator.attrgetter("names")),
    **dict.fromkeys((ir.Function, ir.Event), lambda node: (name for name, _ in node.params)),
}
