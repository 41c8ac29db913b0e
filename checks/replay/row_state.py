"""A state as a row tells it: the forms of its values, and where a replay begins that cannot begin
at the machine's own start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lawful.checks.reference import Reference
from lawful.checks.reference.states import Box, State, freeze, thaw
from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.codec.as_json import is_object
from lawful.spec.ir import Json
from lawful.spec.values.world import FrozenMap, encode, rank

Read = Callable[[str, Json, t.Type], Any]


class Untold(Exception):
    """The row does not tell all of the state; the text says what is missing."""


class Told:
    """Reads the states of one machine; `read` turns a JSON form into a value or raises."""

    def __init__(self, reference: Reference, read: Read) -> None:
        self.reference = reference
        self.read = read

    def state(self, told: Mapping[str, Json], start: State) -> State:
        """The told state; the machine's parameters, and ghosts, are those of `start`."""
        return freeze(self._filled(self.reference.machine, told, thaw(start)))

    def _filled(self, machine: ir.Machine, told: Mapping[str, Json], box: Box) -> Box:
        for i, v in enumerate(machine.variables):
            if v.ghost:
                continue
            if v.name not in told:
                raise Untold(f"no value of {v.name} is told")
            box[i] = self._value(v.name, told[v.name], v.type, box[i])
        return box

    def _value(self, name: str, data: Json, kind: t.Type, old: Any) -> Any:
        match kind:
            case t.Part(machine=machine):
                return self._part(name, data, machine, old)
            case t.Map(key=key, value=t.Part(machine=machine)):
                rows = self._pairs(name, data, key)
                olds = dict(old or {})
                made = {k: self._part(name, v, machine, olds.get(k)) for k, v in rows}
                return FrozenMap(made)
            case _:
                return self.read(name, data, kind)

    def _pairs(self, name: str, data: Json, key: t.Type) -> list[tuple[Any, Json]]:
        """Keys as values; the forms of the parts as they are."""
        if not is_object(data):
            raise Untold(f"{name} is told in another form")
        rows = data.get("$map", list(map(list, data.items())))
        return [(self.read(name, k, key), v) for k, v in rows]

    def _part(self, name: str, data: Json, machine: str, old: Any) -> Box:
        row = self.reference.machines[machine]
        if not is_object(data):
            raise Untold(f"{name} is told in another form")
        missing = [p.name for p in row.parameters if p.name not in data]
        if missing:
            raise Untold(f"the parameter {missing[0]} of {name} is not told")
        box = old if isinstance(old, Box) else self.reference.fresh(machine, {})
        for i, p in enumerate(row.parameters, len(row.variables)):
            box[i] = self._value(p.name, data[p.name], p.type, None)
        return self._filled(row, data, box)


def form(parts: Mapping[str, ir.Machine], value: Any, kind: t.Type) -> Json:
    """The JSON form of a value; a part is an object of its variables, without ghosts, and its
    parameters."""
    match kind:
        case t.Part(machine=name):
            return _object(parts, parts[name], value)
        case t.Map(key=key, value=t.Part(machine=name)):
            rows = [(encode(k, key), _object(parts, parts[name], v)) for k, v in value.items()]
            rows.sort(key=lambda row: rank(row[0]))
            if isinstance(key, t.Enum | t.Sort):
                return {str(k): v for k, v in rows}
            return {"$map": [[k, v] for k, v in rows]}
        case _:
            return encode(value, kind)


def _object(parts: Mapping[str, ir.Machine], machine: ir.Machine, state: State) -> dict[str, Json]:
    fields = [(v.name, v.type, v.ghost) for v in machine.variables]
    fields += [(p.name, p.type, False) for p in machine.parameters]
    both = zip(fields, state, strict=True)
    return {name: form(parts, value, kind) for (name, kind, ghost), value in both if not ghost}
