"""Reading the variables of an implementation and comparing them with a state of the model.

An implementation may keep values in its own form: variables are items of a mapping or attributes of
an object, a list may stand for a tuple, a dict for a bag, a deadline for a timer. But 1 is not
True, and a value of another type is a difference.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any, TypeGuard

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.quick_dataclass import dataclass
from lawful.spec.records import field_names, is_record_value
from lawful.spec.sorting import in_order
from lawful.spec.values.literal_texts import LiteralText
from lawful.spec.values.world import FrozenBag, FrozenMap, World, chosen

from ..reference.states import State

Read = Callable[[str], Any]
ABSENT = "nothing"
SAME_TIME = 1e-3  # Seconds by which two deadlines of one timer may differ.


@dataclass(frozen=True, slots=True)
class Difference:
    """One path at which the state of the implementation differs from that of the model."""

    path: str
    expected: str
    found: str


class Armed(int):
    """An armed timer with its deadline. To the reference engine it is True, equal to any other."""

    deadline: float

    def __new__(cls, deadline: float) -> Armed:
        made = super().__new__(cls, True)
        made.deadline = deadline
        return made


class WrongType(Exception):
    """A value of the implementation does not have the declared type."""


class Unseen(Exception):
    """The view lacks a variable: an error in the test, not in the implementation."""


def _is_mapping(value: Any) -> TypeGuard[Mapping[Any, Any]]:
    return isinstance(value, Mapping)


def _is_sequence(value: Any) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, list | tuple)


def _is_tuple(value: Any) -> TypeGuard[tuple[Any, ...]]:
    return isinstance(value, tuple)


def _is_set(value: Any) -> TypeGuard[Set[Any]]:
    return isinstance(value, set | frozenset)


def reader(source: Any) -> Read:
    """A function that reads variables by name, from a mapping or from attributes.

    It raises `Unseen` where there is no such variable.
    """

    def read(name: str) -> Any:
        try:
            return source[name] if _is_mapping(source) else getattr(source, name)
        except (KeyError, AttributeError) as error:
            shown = type(source).__name__
            raise Unseen(
                f"{shown} shows no {name}: let `view` show it, or name it in `unseen`"
            ) from error

    return read


class StateComparison:
    """Compares states of one machine with the variables of an implementation."""

    def __init__(self, machine: ir.Machine, world: World, unseen: frozenset[str]) -> None:
        self.machine = machine
        self.world = world
        self.unseen = unseen
        self.parts = {part.name: part for part in machine.parts}

    def differences(self, state: State, read: Read) -> list[Difference]:
        """Where the implementation differs from this state; ghosts are not compared."""
        return list(self._variables(self.machine, state, read, self.unseen))

    def same(self, mine: Any, theirs: Any, kind: t.Type) -> bool:
        """Whether the value of the implementation is that of the model."""
        return not list(self._compared(kind, mine, theirs, ""))

    def _variables(
        self, machine: ir.Machine, state: State, read: Read, unseen: frozenset[str]
    ) -> Iterator[Difference]:
        for v, mine in zip(machine.variables, state, strict=False):
            if not v.ghost and v.name not in unseen:
                yield from self._compared(v.type, mine, read(v.name), v.name)

    def _compared(self, kind: t.Type, mine: Any, theirs: Any, path: str) -> Iterator[Difference]:
        match kind:
            case t.Part(machine=name):
                inner = self._variables(self.parts[name], mine, reader(theirs), frozenset())
                yield from (Difference(f"{path}.{d.path}", d.expected, d.found) for d in inner)
            case t.Map(value=t.Part() | t.Timer() as of) if _is_mapping(theirs):
                yield from _keys(mine, theirs, path)
                for key in mine:
                    if key in theirs:
                        at = f"{path}[{spelled(key)}]"
                        yield from self._compared(of, mine[key], theirs[key], at)
            case t.Timer():
                yield from _timers(mine, theirs, path)
            case _:
                try:
                    value = plain(theirs, kind, self.world)
                except WrongType:
                    yield Difference(path, spelled(mine), f"{theirs!r}, which is no {kind}")
                else:
                    yield from _parted(mine, value, path)


def _parted(mine: Any, theirs: Any, path: str) -> Iterator[Difference]:
    """The differences of two values; of maps and sets only the elements that differ."""
    if mine == theirs:
        return
    if _is_mapping(mine) and _is_mapping(theirs):
        yield from _keys(mine, theirs, path)
        for key in mine:
            if key in theirs and mine[key] != theirs[key]:
                at = f"{path}[{spelled(key)}]"
                yield Difference(at, spelled(mine[key]), spelled(theirs[key]))
    elif _is_set(mine) and _is_set(theirs):
        for each in in_order(mine ^ theirs):
            rows = (spelled(each), ABSENT) if each in mine else (ABSENT, spelled(each))
            yield Difference(f"{path}, in it", *rows)
    else:
        yield Difference(path, spelled(mine), spelled(theirs))


def _keys(mine: Mapping[Any, Any], theirs: Mapping[Any, Any], path: str) -> Iterator[Difference]:
    """The keys that only one of them has."""
    for key in sorted(mine.keys() ^ theirs.keys(), key=spelled):
        rows = [spelled(each[key]) if key in each else ABSENT for each in (mine, theirs)]
        yield Difference(f"{path}[{spelled(key)}]", rows[0], rows[1])


def plain(value: Any, kind: t.Type, world: World) -> Any:
    """The value in the form of the model. Raises WrongType where it has another type."""
    match kind:
        case t.Timer():
            return _armed(value)
        case t.Clock():
            return plain(getattr(value, "now", value), t.NAT, world)
        case t.Nothing() if value is None:
            return value
        case t.Bool() if isinstance(value, bool):
            return value
        case t.Int() if isinstance(value, int) and not isinstance(value, bool):
            return value
        case t.Float() if isinstance(value, int | float) and not isinstance(value, bool):
            return value
        case t.Enum(name=name) if isinstance(value, world.enums[name]):
            return value
        case t.Literal(name=name, members=texts) if type(value) is str and value in texts:
            return world.enums[name](value)
        case t.Sort(name=name) if isinstance(value, world.sorts[name]):
            return value
        case t.Text() if isinstance(value, str):
            return value
        case t.Opaque() if type(value).__hash__ is not None:
            return value
        case t.Record(name=name, fields=fields) if isinstance(value, world.records[name]):
            return type(value)(*(plain(getattr(value, f), of, world) for f, of in fields))
        case t.Union():
            return _one_of(value, kind, world)
        case _:
            return _container(value, kind, world)


def _one_of(value: Any, kind: t.Union, world: World) -> Any:
    try:
        return plain(value, chosen(value, kind), world)
    except TypeError as error:
        raise WrongType from error


def _container(value: Any, kind: t.Type, world: World) -> Any:
    match kind:
        case t.Tuple(items=items) if _is_sequence(value) and len(value) == len(items):
            return tuple(plain(v, of, world) for v, of in zip(value, items, strict=True))
        case t.Seq(item=item) if _is_sequence(value):
            return tuple(plain(v, item, world) for v in value)
        case t.Set(item=item) if _is_set(value):
            return frozenset(plain(v, item, world) for v in value)
        case t.Bag(item=item) if _is_mapping(value):
            counts = ((plain(k, item, world), plain(n, t.INT, world)) for k, n in value.items())
            return FrozenBag({k: n for k, n in counts if n})
        case t.Map(key=key, value=of) if _is_mapping(value):
            rows = ((plain(k, key, world), plain(v, of, world)) for k, v in value.items())
            return FrozenMap(rows)
        case _:
            raise WrongType


def _timers(mine: Any, theirs: Any, path: str) -> Iterator[Difference]:
    """Differences of two timers: armed or not, and the deadline if the implementation has it."""
    due = getattr(theirs, "deadline", None if isinstance(theirs, bool) else theirs)
    rows = ["armed" if armed else "stopped" for armed in (mine, _armed(theirs))]
    if rows[0] != rows[1]:
        yield Difference(path, *rows)
    elif (
        isinstance(mine, Armed)
        and isinstance(due, int | float)
        and abs(due - mine.deadline) > SAME_TIME
    ):
        yield Difference(path, f"due at {mine.deadline:g}", f"due at {due:g}")


def _armed(value: Any) -> bool:
    """Whether a timer is armed: an object with `armed`, a bool, or a deadline (None: stopped)."""
    armed = getattr(value, "armed", value)
    return armed if isinstance(armed, bool) else armed is not None


def spelled(value: Any) -> str:
    """A value as Python text, the same in every process."""
    if isinstance(value, LiteralText):
        return repr(value)
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if is_record_value(value):
        inside = ", ".join(
            f"{n}={spelled(getattr(value, n))}" for n in field_names(value.__class__)
        )
        return f"{type(value).__name__}({inside})"
    if _is_set(value):
        inside = ", ".join(spelled(each) for each in in_order(frozenset(value)))
        return f"{{{inside}}}" if value else "set()"
    if _is_mapping(value):
        return f"{{{', '.join(f'{spelled(k)}: {spelled(v)}' for k, v in value.items())}}}"
    if _is_tuple(value):
        parts = [spelled(each) for each in value]
        return f"({', '.join(parts)}{',' * (len(parts) == 1)})"
    return repr(value)
