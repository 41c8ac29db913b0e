"""A validator for the part of JSON Schema that `json_schema` writes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

TYPES: Mapping[str, tuple[type[Any], ...]] = {
    "boolean": (bool,),
    "null": (type(None),),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "array": (list,),
    "object": (dict,),
}
KNOWN = {
    *("$schema", "title", "type", "const", "enum", "anyOf", "not", "pattern", "minimum", "maximum"),
    "format",
    *("properties", "required", "additionalProperties", "propertyNames"),
    *("items", "prefixItems", "minItems", "maxItems", "uniqueItems"),
}


def valid(data: Any, schema: Mapping[str, Any]) -> bool:
    """Whether the data is what the schema describes."""
    assert schema.keys() <= KNOWN
    kinds = TYPES[schema["type"]] if "type" in schema else (object,)
    if schema.get("type") == "integer" and isinstance(data, float) and data.is_integer():
        data = int(data)  # Of the same number JSON has several texts.
    number = isinstance(data, bool) and int in kinds
    return isinstance(data, kinds) and not number and _rest(data, schema)


def _rest(data: Any, schema: Mapping[str, Any]) -> bool:
    return (
        ("const" not in schema or data == schema["const"])
        and ("enum" not in schema or data in schema["enum"])
        and ("anyOf" not in schema or any(valid(data, each) for each in schema["anyOf"]))
        and ("not" not in schema or not valid(data, schema["not"]))
        and (not isinstance(data, str) or bool(re.search(schema.get("pattern", ""), data)))
        and (not isinstance(data, str) or _of_format(data, schema))
        and (not isinstance(data, int) or _within(data, schema))
        and (data.__class__ is not list or _array(data, schema))
        and (data.__class__ is not dict or _object(data, schema))
    )


FORMATS: Mapping[str, str] = {  # RFC 3339 and RFC 4122; "decimal" is of OpenAPI's registry.
    "date": r"\d{4}-\d\d-\d\d",
    "time": r"\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)",
    "date-time": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)",
    "duration": r"P(?=.)(\d+D)?(T(?=.)(\d+H(?=\d+M|\Z)|)(\d+M)?(\d+S)?)?",
    "uuid": r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
    "decimal": r"-?\d+(\.\d+)?",
}


def _of_format(data: str, schema: Mapping[str, Any]) -> bool:
    return "format" not in schema or bool(re.fullmatch(FORMATS[schema["format"]], data))


def _within(data: int, schema: Mapping[str, Any]) -> bool:
    return bool(schema.get("minimum", data) <= data <= schema.get("maximum", data))


def _array(data: Any, schema: Mapping[str, Any]) -> bool:
    first: list[Any] = schema.get("prefixItems", [])
    rest = schema.get("items", {})
    unique = [each for n, each in enumerate(data) if each not in data[:n]]  # 1 is 1.0.
    return (
        schema.get("minItems", 0) <= len(data) <= schema.get("maxItems", len(data))
        and all(valid(each, of) for each, of in zip(data, first, strict=False))
        and all(valid(each, rest) for each in data[len(first) :])
        and (not schema.get("uniqueItems") or unique == data)
    )


def _object(data: Any, schema: Mapping[str, Any]) -> bool:
    members: dict[str, Any] = schema.get("properties", {})
    more: Any = schema.get("additionalProperties", {})
    names: Any = schema.get("propertyNames", {})
    for name, each in data.items():
        of: Any = members.get(name, more)
        if of is False or not valid(name, names) or not valid(each, of):
            return False
    return all(name in data for name in schema.get("required", []))
