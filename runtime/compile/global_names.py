"""The global names of the generated code of one machine."""

from __future__ import annotations

from typing import Any

from lawful.spec import types as t
from lawful.spec.quick_dataclass import dataclass, field
from lawful.spec.values.world import World

from ..kernel.operators import first_new


@dataclass
class GlobalNames:
    """The global names of one machine's generated code, none of which the declaration uses."""

    world: World
    taken: frozenset[str]
    params: dict[str, tuple[t.Type, ...]]  # Of helpers, by their names.
    globals: dict[str, Any] = field(default_factory=dict[str, Any])
    locals: dict[str, str] = field(default_factory=dict[str, str])
    hidden: set[str] = field(default_factory=set[str])  # The names of locals, which hide others.
    makers: dict[str, str] = field(default_factory=dict[str, str])  # Of parts, by their machines.

    def put(self, name: str, value: Any) -> str:
        """Bind the value to this name, with underscores added where it is taken; the name."""
        chosen = self.locals.values()
        while (
            name in self.taken or name in chosen or not _same(self.globals.get(name, value), value)
        ):
            name += "_"
        self.globals[name] = value
        return name

    def reserve(self, name: str) -> str:
        """A name for a function that will be defined later."""
        return self.put(name, object())

    def number(self, prefix: str, value: Any) -> str:
        """A new numbered name for the value."""
        return self.put(f"{prefix}{len(self.globals)}", value)

    def maker(self, machine: str) -> str:
        """The name of the function that makes parts of this machine."""
        if machine not in self.makers:
            self.makers[machine] = key = self.reserve(f"new_{machine}")
            self.globals[key] = first_new(machine, self.globals, key)
        return self.makers[machine]

    def local(self, name: str) -> str:
        """A name for a local variable: always the same one, which the declaration does not use and
        nothing global has. A local would hide a helper of that name."""
        if name not in self.locals:
            made = name
            while made in self.taken or made in self.globals or made in self.hidden:
                made += "_"
            self.locals[name] = made
            self.hidden.add(made)
        return self.locals[name]


def _same(known: Any, value: Any) -> bool:
    return known is value or (isinstance(value, tuple) and bool(known == value))
