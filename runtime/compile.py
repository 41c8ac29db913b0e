"""A machine class -> its `Plan`: generated functions, compiled under the declaration's own lines."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.bounds import bounded
from lawful.spec.errors import Place
from lawful.spec.resolve import Resolved
from lawful.spec.walk import everything

from . import arguments, support
from .effects import Eraser, Reach, Writes
from .emit import Names, attribute, call, located, name
from .plan import Alarm, Candidate, Ignoring, Plan, State, Way
from .step import Body, Header, any_of, assign, compare, if_, outside

ERROR = "error"


@dataclass(frozen=True)
class Made:
    """A generated function: where it belongs, what it is called there, and in tracebacks."""

    file: str
    node: ast.FunctionDef
    shown: str


class Compiler:
    """Compiles one machine; made for one run, and kept for what is compiled on demand."""

    def __init__(self, resolved: Resolved) -> None:
        self.resolved = resolved
        self.machine = resolved.machine
        ghosts = {
            m.name: frozenset(v.name for v in m.variables if v.ghost)
            for m in (self.machine, *self.machine.parts)
        }
        self.ghosts = ghosts
        self.reach = Reach(self._erased_machine())
        taken = frozenset(_locals(self.machine))
        self.names = Names(resolved.world, taken)
        self.functions: dict[str, str] = {}
        self.made: list[Made] = []
        self.plan = self._plan()

    def run(self) -> Plan:
        """Everything that an instance needs."""
        m, plan = self.machine, self.plan
        for function in m.functions:
            self.functions[function.name] = self.names.reserve(_own(function.name))
        for base in m.bases:
            self.functions[f"super {base.name}"] = self.names.reserve(_own(base.name) + "_of_base")
        wanted = [p.function for p in m.properties if self._is_called(p)]
        for function in wanted:
            self.functions[function.name] = self.names.reserve(function.name)
        for function in (*m.functions, *wanted):
            self.made.append(self._function(function))
        for base in m.bases:
            key = self.functions[f"super {base.name}"]
            self.made.append(self._transition(base, key))
        self._ways()
        self.made.append(self._fresh())
        self._define(self.made)
        get = self.names.globals
        for function in (*m.functions, *wanted):
            plan.functions[function.name] = get[self.functions[function.name]]
        plan.fresh = get["fresh"] if "fresh" in get else get[self.fresh_name]
        for way in plan.ways.values():
            self._finish_way(way)
        for start in plan.starts.values():
            self._finish_way(start)
        plan.text = self.text
        plan.watched = self._watched
        return plan
