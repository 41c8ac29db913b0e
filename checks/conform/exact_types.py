"""Whether values have exactly the classes that their types say.

Values of two engines can be equal and still differ: `True == 1`. This check is stricter than
`spec.values.bounds.belongs`, which accepts subclasses and mutable containers, as arguments from
outside may be; and it does not look at bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t

NOT_A_MAP = object()


def has_exact_type(value: Any, kind: t.Type) -> bool:
    """Whether a value, and every value in it, has exactly the class that the type says."""
    match kind:
        case t.Timer(ticks=True):
            return value is None or type(value) is int
        case t.Bool() | t.Timer():
            return value is True or value is False
        case t.Int():
            return type(value) is int
        case t.Nothing():
            return value is None
        case t.Literal(members=texts) if type(value) is str:
            return value in texts  # A text that Python's code wrote is the same text.
        case t.Enum(name=name) | t.Sort(name=name):
            return type(value).__name__ == name
        case t.Record(name=name, fields=fields):
            same = type(value).__name__ == name
            return same and all(has_exact_type(getattr(value, n), of) for n, of in fields)
        case t.Union(options=options):
            return any(has_exact_type(value, option) for option in options)
        case t.Tuple(items=items):
            same = value.__class__ is tuple and len(value) == len(items)
            return same and all(map(has_exact_type, value, items))
        case t.Seq(item=item):
            return value.__class__ is tuple and all(has_exact_type(v, item) for v in value)
        case t.Set(item=item):
            return value.__class__ is frozenset and all(has_exact_type(v, item) for v in value)
        case t.Bag(item=item):
            return all(has_exact_type(v, item) and type(n) is int for v, n in _pairs(value))
        case t.Map(key=key, value=of):
            return all(has_exact_type(k, key) and has_exact_type(v, of) for k, v in _pairs(value))
        case _:
            return True


def _pairs(value: Any) -> list[tuple[Any, Any]]:
    """The items of a map; where it is none, one item that has no type."""
    return list(value.items()) if issubclass(value.__class__, Mapping) else [(NOT_A_MAP, NOT_A_MAP)]


def state_has_exact_types(
    state: tuple[Any, ...],
    machine: ir.Machine,
    parts: Mapping[str, ir.Machine],
    ghosts: bool = True,
) -> bool:
    """Whether every variable of a state has; ghosts are only checked with `ghosts`."""
    for v, value in zip(machine.variables, state, strict=False):
        part = t.part_of(v.type)
        if part is not None:
            members = value.values() if isinstance(v.type, t.Map) else (value,)
            inner = parts[part.machine]
            if not all(state_has_exact_types(each, inner, parts, ghosts) for each in members):
                return False
        elif (ghosts or not v.ghost) and not has_exact_type(value, v.type):
            return False
    return True
