"""States of a machine in the JSON form of journal rows: reading and writing them.

A replay reads a whole state where it cannot compute one: when a journal begins at an instance that
already had events, or whose `@initial` was called with arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.control_variable import control_variable
from lawful.spec.codec.as_json import is_object
from lawful.spec.ir import Json
from lawful.spec.values.world import FrozenMap, encode, rank

from ..reference import Reference
from ..reference.states import State, WorkingCopy, freeze, thaw
from .deviations import Malformed
from .difference import at, changes
from .flaws.row_texts import kind_of
from .rows import Absent

Read = Callable[[str, Json, t.Type], Any]


def may_be_none(kind: t.Type) -> bool:
    """Whether null stands for a value of this type."""
    if isinstance(kind, t.Union):
        return any(map(may_be_none, kind.options))
    return isinstance(kind, t.Nothing | t.Opaque | t.Unknown)


class StateReader:
    """Reads the states of one machine from rows.

    `read(name, data, type)` turns the JSON form of a value into the value, or raises.
    """

    def __init__(self, reference: Reference, read: Read) -> None:
        self.reference = reference
        self.read = read

    def state(self, data: Mapping[str, Json], start: State) -> State:
        """The state in `data`; the machine's parameters and ghosts are taken from `start`.

        Raises Malformed where `data` lacks a variable or has another form.
        """
        return freeze(self._filled(self.reference.machine, data, thaw(start)))

    def _filled(
        self, machine: ir.Machine, data: Mapping[str, Json], box: WorkingCopy
    ) -> WorkingCopy:
        for i, v in enumerate(machine.variables):
            if v.ghost:
                continue
            if v.name not in data:
                raise Malformed(f"the row has no value of {v.name}")
            box[i] = self._value(v.name, data[v.name], v.type, box[i])
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
        """The keys as values; the parts stay in JSON form."""
        if not is_object(data):
            raise Malformed(f"{name} is {kind_of(data)}, not an object of parts")
        rows = data.get("$map", list(map(list, data.items())))
        return [(self.read(name, k, key), v) for k, v in rows]

    def _part(self, name: str, data: Json, machine: str, old: Any) -> WorkingCopy:
        row = self.reference.machines[machine]
        if not is_object(data):
            raise Malformed(f"{name} is {kind_of(data)}, not an object with the values of a part")
        missing = [p.name for p in row.parameters if p.name not in data]
        if missing:
            raise Malformed(f"the row has no value of the parameter {missing[0]} of {name}")
        box = old if isinstance(old, WorkingCopy) else self.reference.fresh(machine, {})
        for i, p in enumerate(row.parameters, len(row.variables)):
            box[i] = self._value(p.name, data[p.name], p.type, None)
        return self._filled(row, data, box)


class StateForm:
    """Writes the states of one machine, without ghosts."""

    def __init__(self, machine: ir.Machine) -> None:
        self.machine = machine
        self.parts = {part.name: part for part in (machine, *machine.parts)}
        self.kept = tuple((i, v) for i, v in enumerate(machine.variables) if not v.ghost)
        held = control_variable(machine)
        self.at_control = None if held is None else machine.variables.index(held)
        self.never_none = {v.name for _, v in self.kept if not may_be_none(v.type)}

    @property
    def always_told(self) -> bool:
        """Whether rows of every age tell of the control state, and say null where there is none."""
        at = self.at_control
        return at is None or self.machine.variables[at].name == "state"

    @property
    def control_states(self) -> tuple[str, ...]:
        """The names of the control states; none where the machine has no control state."""
        kind = None if self.at_control is None else self.machine.variables[self.at_control].type
        return kind.members if isinstance(kind, t.Enum) else ()

    def control(self, state: State) -> str:
        """The name of the control state; empty where the machine has none."""
        return "" if self.at_control is None else str(state[self.at_control].name)

    def told(self, observed: Mapping[str, Json]) -> dict[str, Json]:
        """What a foreign row says of variables. Where a variable is never None, null says nothing:
        a column of a table has it in rows without a value."""
        never = self.never_none
        return {name: v for name, v in observed.items() if v is not None or name not in never}

    def shown(self, state: State) -> dict[str, Json]:
        """The variables of a state, without ghosts; parts as objects."""
        return {v.name: self.json(state[i], v.type) for i, v in self.kept}

    def parameters(self, state: State) -> dict[str, Json]:
        """The parameters of the instance in this state."""
        fixed = state[len(self.machine.variables) :]
        rows = zip(self.machine.parameters, fixed, strict=True)
        return {p.name: self.json(value, p.type) for p, value in rows}

    def fixed(self, state: State, universe: Mapping[str, Any]) -> dict[str, Json]:
        """What does not change while an instance lives: its parameters, and its elements."""
        out: dict[str, Json] = {}
        if self.machine.parameters:
            out["parameters"] = self.parameters(state)
        if universe:
            out["universe"] = {sort: [str(e) for e in row] for sort, row in universe.items()}
        return out

    def json(self, value: Any, kind: t.Type) -> Json:
        """The JSON form of a value of the machine."""
        return _form(self.parts, value, kind)

    def at(self, state: State, path: str) -> Json | Absent:
        """The JSON form at a path of a state; ABSENT where nothing is."""
        rows = [(v, state[i]) for i, v in self.kept if v.name == path.partition(".")[0]]
        return at({v.name: self.json(value, v.type) for v, value in rows}, path)

    def changes(self, v: ir.Variable, before: Any, after: Any) -> dict[str, Json]:
        """The new values of a variable that changed, by path; of a part only what differs."""
        now = self.json(after, v.type)
        if before is None or not isinstance(v.type, t.Part):
            return {v.name: now}
        return changes({v.name: self.json(before, v.type)}, {v.name: now})


def _form(parts: Mapping[str, ir.Machine], value: Any, kind: t.Type) -> Json:
    """The JSON form of a value.

    A part becomes an object of its variables and parameters, without ghosts.
    """
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
    return {name: _form(parts, value, kind) for (name, kind, ghost), value in both if not ghost}
