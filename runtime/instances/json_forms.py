"""The JSON forms of values as they are inside an instance, for its journal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lawful.runtime.kernel.state import State
from lawful.spec import types as t
from lawful.spec.ir import Json
from lawful.spec.syntax.declare import slot
from lawful.spec.values.world import encode, rank


def variables(state: State) -> dict[str, Json]:
    """The JSON form of all variables."""
    return _fields(state, state.__plan__.variables)


def _part(state: State) -> dict[str, Json]:
    """The JSON form of all variables and parameters."""
    plan = state.__plan__
    return _fields(state, (*plan.variables, *plan.parameters))


def _fields(state: State, names: Iterable[str]) -> dict[str, Json]:
    kinds = state.__plan__.fields
    return {
        name: plain(getattr(state, slot(name)), kinds[name])
        for name in names
        if hasattr(state, slot(name))
    }


def plain(value: Any, kind: t.Type) -> Json:
    """The JSON form of a value as it is inside; a part is an object of its variables and
    parameters."""
    match kind:
        case t.Clock():
            return value.now  # type: ignore[no-any-return]  # a number of ticks
        case t.Part():
            return _part(value)
        case t.Map(key=key, value=t.Part()):
            rows = sorted(
                ((encode(k, key), _part(v)) for k, v in value.items()), key=lambda row: rank(row[0])
            )
            if isinstance(key, t.Enum | t.Sort):
                return {str(k): v for k, v in rows}
            return {"$map": [[k, v] for k, v in rows]}
        case _ if value is None:
            return None if not isinstance(kind, t.Timer) else False
        case _:
            return encode(value, kind)
