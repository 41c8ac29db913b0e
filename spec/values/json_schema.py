"""JSON Schemas of types: they accept the JSON form of each value (see `world`).

They are complete in themselves, without references, so that they can stand inside another
document. `take_json` takes what they describe, with exceptions that no schema can tell: a key that
comes twice in a `$map`, two texts of one opaque value, bounds of a `$int`, a whole number with a
point or an exponent beyond 2**53, and what a pattern does not know of a date.
"""

from __future__ import annotations

from typing import Any

from .. import types as t
from ..integer_texts import HEXADECIMAL
from ..ir import Json
from . import opaque_texts
from .opaques import TEXTS, encoded_class, text_class
from .world import EXACT, TAGS, World

DIALECT = "https://json-schema.org/draft/2020-12/schema"
NATURAL = f"^(0|[1-9][0-9]*|{HEXADECIMAL})$"
DIGITS = f"^(0|-?[1-9][0-9]*|-?{HEXADECIMAL})$"
BASE64 = "([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"
ENCODED: dict[str, str] = {  # The encodings of opaque values, by their classes.
    "bytes": f"bytes:{BASE64}",
    "str": r"str:[\s\S]*",
    "int": f"int:{DIGITS[1:-1]}",
    **{name: f"{name}:{opaque_texts.FORMS[name].pattern}" for name in TEXTS},
}


def schema_of(type: t.Type, world: World) -> dict[str, Json]:
    """The schema of a type, whose classes are in `world`; TypeError for timers, clocks and parts,
    which are no values."""
    match type:
        case t.Bool():
            return {"type": "boolean"}
        case t.Nothing():
            return {"type": "null"}
        case t.Text():
            return {"type": "string"}
        case t.Float():
            return {"type": "number"}
        case t.Int():
            return _integer(type)
        case t.Enum(members=members):
            return {"enum": list(members)}
        case t.Sort(name=name):
            return {"type": "string", "title": name}
        case t.Opaque(name=name):
            return _opaque(name, world)
        case t.Record(name=name, fields=fields):
            held: dict[str, Json] = {field: schema_of(of, world) for field, of in fields}
            return {"title": name, **_object({"$": {"const": name}, **held})}
        case t.Union(options=options):
            return {"anyOf": [schema_of(option, world) for option in options]}
        case _:
            return _container(type, world)


def _container(type: t.Type, world: World) -> dict[str, Json]:
    match type:
        case t.Tuple(items=items):
            each: list[Json] = [schema_of(item, world) for item in items]
            size = {"minItems": len(each), "maxItems": len(each)}
            return _object({"$tuple": {"type": "array", "prefixItems": each, **size}})
        case t.Seq(item=item, mutable=mutable, most=most):
            values: dict[str, Json] = {"type": "array", "items": schema_of(item, world)}
            if most is not None:
                values["maxItems"] = most
            return values if mutable else _object({"$tuple": values})
        case t.Set(item=item):
            of: Json = {"type": "array", "items": schema_of(item, world), "uniqueItems": True}
            return _object({"$set": of})
        case t.Bag(item=item):
            return _map(item, world, _integer(t.NAT), total=False)
        case t.Map(key=key, value=value, total=total):
            return _map(key, world, schema_of(value, world), total)
        case _:
            raise TypeError(f"no JSON Schema for {type}")


def _opaque(name: str, world: World) -> dict[str, Json]:
    """The text of a value, where its class has texts; else an object with its encoding."""
    cls = text_class(world.encodable.get(name))
    if cls is not None:
        return {"title": name, **opaque_texts.schema(cls)}
    known = world.encodable.get(name)
    names = [each for each in ENCODED if known is None or encoded_class(each) in known]
    pattern = "|".join(ENCODED[each] for each in names) or "(?!)"  # No value has an encoding.
    encoded: Json = {"type": "string", "pattern": f"^({pattern})$"}
    return _object({"$opaque": {"const": name}, "id": encoded})


def _object(members: dict[str, Any]) -> dict[str, Json]:
    """An object of exactly these members."""
    return {
        "type": "object",
        "properties": members,
        "required": list(members),
        "additionalProperties": False,
    }


def _integer(type: t.Int) -> dict[str, Json]:
    """An integer in its bounds; one that is not exact everywhere is also `{"$int": "..."}`."""
    plain: dict[str, Json] = {"type": "integer"}
    if type.low is not None:
        plain["minimum"] = type.low
    if type.high is not None:
        plain["maximum"] = type.high
    if type.low is not None and type.high is not None and max(-type.low, type.high) <= EXACT:
        return plain
    natural = type.low is not None and type.low >= 0
    digits: Json = {"type": "string", "pattern": NATURAL if natural else DIGITS}
    return {"anyOf": [plain, _object({"$int": digits})]}


def _map(key: t.Type, world: World, value: Json, total: bool) -> dict[str, Json]:
    """A map: an object where keys are names, else rows of key and value."""
    row: Json = {
        "type": "array",
        "prefixItems": [schema_of(key, world), value],
        "minItems": 2,
        "maxItems": 2,
    }
    rows = _object({"$map": {"type": "array", "items": row}})
    match key:
        case t.Enum(members=members) if TAGS.isdisjoint(members):
            named = _object({member: value for member in members})
            return {"anyOf": [named if total else {**named, "required": []}, rows]}
        case t.Sort() | t.Text():
            tags: list[Json] = [*sorted(TAGS)]
            names: Json = {"not": {"enum": tags}}
            free: dict[str, Json] = {"type": "object", "propertyNames": names}
            return {"anyOf": [{**free, "additionalProperties": value}, rows]}
        case _:
            return rows
