"""What an event that may change parts has changed: they change where they stand, so their values
before the event are kept."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, NamedTuple

from lawful.spec import types as t
from lawful.spec.syntax.declare import slot
from lawful.spec.values.unlike import unlike

from ..kernel.dispatch import UNSET, tree
from ..kernel.event_record import Changes
from ..kernel.plan import Plan, Way
from ..kernel.state import State


class _Held(NamedTuple):
    """A part, and what it and the parts inside it held: identities and values."""

    part: State
    cells: list[tuple[int, list[Any]]]


Parts = dict[Any, _Held]  # By their keys; a part that is no entry of a map has the key None.


class PartsBefore:
    """The values of an instance and its parts before an event that may change them."""

    def __init__(self, state: State, way: Way) -> None:
        self.values = {name: getattr(state, slot(name), UNSET) for name in way.writes}
        self.parts = {name: _parts(state, name) for name in state.__plan__.families}

    def changed(self, state: State) -> tuple[Mapping[str, PartsChange], Changes]:
        """What has changed of each variable that holds parts, if anything has; and of the others
        that have other objects the values before and now."""
        moved = dict[str, tuple[Any, Any]]()
        for name, old in self.values.items():
            new = getattr(state, slot(name), UNSET)
            if name not in self.parts and new is not old:
                moved[name] = old, new
        parts = dict[str, PartsChange]()
        for name, was in self.parts.items():
            now = _parts(state, name)
            put = [k for k, held in now.items() if k not in was or _unlike(was[k], held)]
            gone = [k for k in was if k not in now]
            if put or gone:
                parts[name] = PartsChange(now, put, gone, state.__plan__.families[name])
        return parts, moved


class PartsChange:
    """What an event changed of the parts that a variable holds.

    `put`: the keys of the parts that are new or have changed; `gone`: those of parts that are there
    no more. `family`: whether the variable is a map of parts; the key of another part is None.

    A part is copied when it is asked for, and the copy has the values at the end of the event. A
    part that has a clock or parts of its own is copied at once.
    """

    __slots__ = ("_copies", "_now", "family", "gone", "put")

    def __init__(self, now: Parts, put: list[Any], gone: list[Any], family: bool) -> None:
        self.put = put
        self.gone = gone
        self.family = family
        self._now = now
        self._copies = {
            key: copy.deepcopy(held.part)
            for key, held in now.items()
            if not _is_flat(held.part.__plan__)
        }

    def __len__(self) -> int:
        """How many parts there are."""
        return len(self._now)

    def whole(self) -> Any:
        """The value of the variable: copies of all parts."""
        if self.family:
            return {key: self.part(key) for key in self._now}
        return self.part(None) if self._now else None

    def part(self, key: Any) -> State:
        """The copy of one part."""
        made = self._copies.get(key)
        if made is None:
            held = self._now[key]
            made = copy.deepcopy(held.part)
            for name, value in zip(made.__plan__.slots, held.cells[0][1], strict=True):
                if value is not UNSET:
                    setattr(made, name, value)
            self._copies[key] = made
        return made


def _is_flat(plan: Plan) -> bool:
    """Whether the values of the variables are all that a copy needs."""
    return not plan.families and not any(isinstance(k, t.Clock) for k in plan.fields.values())


def _parts(state: State, name: str) -> Parts:
    """The parts that a variable holds, with their values, and those of the parts inside them."""
    held = getattr(state, slot(name), None)
    if held is None:
        return {}
    parts = held if state.__plan__.families[name] else {None: held}
    return {key: _Held(part, _cells(part)) for key, part in parts.items()}


def _unlike(was: _Held, now: _Held) -> bool:
    """Whether a part has changed, if only from a value to an equal one with another text."""
    if was.cells != now.cells:
        return True
    pairs = zip(was.cells, now.cells, strict=True)
    return any(any(map(unlike, old, new)) for (_, old), (_, new) in pairs)


def _cells(part: State) -> list[tuple[int, list[Any]]]:
    return [
        (id(each), [getattr(each, n, UNSET) for n in each.__plan__.slots]) for each in tree(part)
    ]
