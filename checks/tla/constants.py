"""Constants of the scope, given in JSON form, as TLA+."""

from __future__ import annotations

from typing import Any

from lawful.spec import types as t
from lawful.spec.codec.as_json import is_object

from .kinds import NONE, integer
from .names import CannotWrite, quoted, word
from .terms import seconds


def token(name: str, number: object) -> str:
    """The model value that stands for an opaque value."""
    return f"{word(name)}_{number}"


def constant(data: Any, kind: t.Type) -> str:
    """The value as TLA+. Raises CannotWrite for a type that has no constants."""
    match kind:
        case _ if data is None:
            return NONE
        case t.Bool():
            return "TRUE" if data else "FALSE"
        case t.Int():
            return integer(int(data["$int"]) if is_object(data) else data)
        case t.Float():
            return seconds(data)
        case t.Enum():
            return quoted(data)
        case t.Sort():
            return word(data)
        case t.Opaque(name=name):
            return token(name, data["id"])
        case t.Record(name=name, fields=fields):
            rows = [f"{word(f)} |-> {constant(data[f], of)}" for f, of in fields]
            return f"[{', '.join([f'is |-> {quoted(name)}', *rows])}]"
        case t.Union(options=options):
            return constant(data, _option(data, options))
        case t.Tuple(items=items):
            rows = [constant(v, of) for v, of in zip(data["$tuple"], items, strict=True)]
            return f"<<{', '.join(rows)}>>"
        case t.Seq(item=item):
            every: Any = data["$tuple"] if is_object(data) else data
            return f"<<{', '.join(constant(v, item) for v in every)}>>"
        case t.Set(item=item):
            return f"{{{', '.join(constant(v, item) for v in data['$set'])}}}"
        case t.Map(key=key, value=value):
            return _map(data, key, value)
        case _:
            raise CannotWrite(f"a parameter that is {kind}")


def _option(data: Any, options: tuple[t.Type, ...]) -> t.Type:
    tag = data.get("$") if is_object(data) else None
    for option in options:
        if option.name == tag if isinstance(option, t.Record) else option != t.NOTHING:
            return option
    raise AssertionError(f"{data!r} is none of {options}")


def _map(data: Any, key: t.Type, value: t.Type) -> str:
    rows = data["$map"] if "$map" in data else data.items()
    text = "<<>>"
    for k, v in rows:
        text = f"Put({text}, {constant(k, key)}, {constant(v, value)})"
    return text
