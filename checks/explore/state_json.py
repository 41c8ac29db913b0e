"""States as JSON: a whole state, or the changes of a step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.ir import Json
from lawful.spec.sorting import in_order
from lawful.spec.text.reasons import text
from lawful.spec.values.world import encode, encoded_map

from ..reference.states import State

Both = tuple[Any, Any]


def shown(
    whole: ir.Machine, state: State, machine: ir.Machine, fixed: Iterable[str] = ()
) -> dict[str, Json]:
    """The variables of a state by name, and the parameters named; parts as objects."""
    kept = {*(v.name for v in machine.variables), *fixed}
    return {
        name: _json(whole, value, kind)
        for (name, kind), value in zip(_rows(machine), state, strict=True)
        if name in kept
    }


def _json(whole: ir.Machine, value: Any, kind: t.Type) -> Json:
    part = t.part_of(kind)
    if part is None:
        return encode(value, kind)
    row = whole.part(part.machine)
    if not isinstance(kind, t.Map):
        return shown(whole, value, row, (p.name for p in row.parameters))
    fixed = [p.name for p in row.parameters]
    return encoded_map(((k, shown(whole, v, row, fixed)) for k, v in value.items()), kind.key)


def changes(
    whole: ir.Machine, machine: ir.Machine, both: tuple[State, State], prefix: str
) -> Iterator[tuple[str, Json]]:
    """The paths that differ, with their new values; a removed member is null."""
    for (name, kind), before, after in zip(_rows(machine), *both, strict=True):
        if before is not after:
            yield from _changed(whole, kind, (before, after), prefix + name)


def _rows(machine: ir.Machine) -> list[tuple[str, t.Type]]:
    rows = [(v.name, v.type) for v in machine.variables]
    return [*rows, *((p.name, p.type) for p in machine.parameters)]


def _changed(whole: ir.Machine, kind: t.Type, both: Both, path: str) -> Iterator[tuple[str, Json]]:
    before, after = both
    if isinstance(kind, t.Part):
        yield from changes(whole, whole.part(kind.machine), (before, after), f"{path}.")
    elif isinstance(kind, t.Map) and _by_item(kind, both):
        for key in in_order({**before, **after}):
            at = f"{path}[{text(encode(key, kind.key))}]"
            if key in before and key in after:
                yield from _changed(whole, kind.value, (before[key], after[key]), at)
            else:
                yield at, _json(whole, after[key], kind.value) if key in after else None
    elif not same(before, after):
        yield path, _json(whole, after, kind)


def _by_item(kind: t.Map, both: Both) -> bool:
    """Whether to tell a map item by item: families, and what has the same keys before and after."""
    before, after = both
    if before is None or after is None:
        return False
    return t.part_of(kind) is not None or before.keys() == after.keys()


def same(mine: Any, theirs: Any) -> bool:
    """Whether two values are equal and of one kind: `True` is not 1."""
    return mine.__class__ is theirs.__class__ and bool(mine == theirs)
