"""A pool of the values that occur in a run: arguments drawn from it pass more guards."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.sorting import in_order
from lawful.spec.values.bounds import breach
from lawful.spec.values.world import chosen

from ..reference.states import State

INT = "int"


class Near:
    """The values that occur, by type; integers also by their name.

    The order is that in which values were added, so it is the same in every process.
    """

    def __init__(self) -> None:
        self._known: dict[str, dict[Any, None]] = {}
        self._named: dict[tuple[str, str], dict[Any, None]] = {}

    @staticmethod
    def of(machine: ir.Machine, state: State) -> Near:
        """The values that occur in a state of the machine."""
        made = Near()
        made.state(machine, machine.parts, state)
        return made

    def state(self, machine: ir.Machine, parts: Iterable[ir.Machine], state: State) -> None:
        """Add what the variables and parameters hold, those of parts included."""
        known = {part.name: part for part in parts}
        kinds = [(v.name, v.type) for v in machine.variables]
        kinds += [(p.name, p.type) for p in machine.parameters]
        for (name, kind), value in zip(kinds, state, strict=True):
            match kind:
                case t.Part(machine=inner):
                    self.state(known[inner], known.values(), value)
                case t.Map(key=key, value=t.Part(machine=inner)):
                    for k, part in value.items():
                        self.add(key, k, name)
                        self.state(known[inner], known.values(), part)
                case _:
                    self.add(kind, value, name)

    def add_whole(self, kind: t.Type, value: Any) -> None:
        """Add a value of this type, without the values in it."""
        if isinstance(kind, t.Record | t.Opaque | t.Union) and value is not None:
            of = chosen(value, kind) if isinstance(kind, t.Union) else kind
            self._known.setdefault(key_of(of), {})[value] = None

    def add(self, kind: t.Type, value: Any, name: str = "") -> None:
        """Add a value of this type, and the values in it; `name` is its variable or field."""
        match kind:
            case t.Union() if value is not None:
                self.add(chosen(value, kind), value, name)
                return
            case t.Union() | t.Nothing() | t.Timer() | t.Bool() | t.Float() | t.Text():
                return
            case _ if value is None:
                return  # A variable that only an `@initial` will assign.
            case t.Record(fields=fields):
                for field, of in fields:
                    self.add(of, getattr(value, field), field)
            case t.Tuple(items=items):
                for of, each in zip(items, value, strict=True):
                    self.add(of, each)
            case t.Map(key=key, value=of):
                for k, v in value.items():
                    self.add(key, k, name)
                    self.add(of, v)
            case t.Seq(item=item) | t.Set(item=item) | t.Bag(item=item):
                for each in in_order(value):
                    self.add(item, each, name)
            case _:
                pass
        self._known.setdefault(key_of(kind), {})[value] = None
        if name:
            self._named.setdefault((key_of(kind), name), {})[value] = None

    def like(self, kind: t.Type) -> tuple[Any, ...]:
        """The values of this type that occur, within its bounds."""
        return _within(self._known.get(key_of(kind), {}), kind)

    def named(self, kind: t.Type, name: str) -> tuple[Any, ...]:
        """The values with this name of a variable, parameter or field."""
        return _within(self._named.get((key_of(kind), name), {}), kind)


def _within(values: Iterable[Any], kind: t.Type) -> tuple[Any, ...]:
    return tuple(value for value in values if breach(value, kind) is None)


def key_of(kind: t.Type) -> str:
    """The common key of types that differ only in bounds and mutability."""
    match kind:
        case t.Int():
            return INT
        case t.Seq(item=item):
            return f"sequence of {key_of(item)}"
        case t.Set(item=item):
            return f"set of {key_of(item)}"
        case t.Bag(item=item):
            return f"bag of {key_of(item)}"
        case t.Map(key=key, value=value):
            return f"map from {key_of(key)} to {key_of(value)}"
        case t.Tuple(items=items):
            return f"({', '.join(map(key_of, items))})"
        case _:
            return str(kind)
