"""Templates: JSON in which a text such as "$.a.b" stands for the value at a.b in a record.

A record is the JSON object of one row of a trace. Besides paths a template of a computed field may
have functions, each an object with one of these keys:

    {"$join" = ["$.a", "-", "$.b"]}             one text; numbers and booleans become texts
    {"$key" = ["$.host", "$.pid"]}              a text for the values together, no two alike
    {"$find" = "port ([0-9]+)", in = "$.text"}  what a regular expression finds: its first group
    {"$find_all" = "blk_[0-9]+", in = "$.text"} all that it finds, as a list
    {"$lower" = "$.a"}                          a text in lower case
    {"$if" = {"$.a" = 1}, then = x, else = y}   one of two, by a condition

A condition is an object of paths: each has to have the value, or one of a list of values, or a text
in which the regular expression of {"$matches" = "..."} is found.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from lawful.spec.codec.as_json import is_list, is_object
from lawful.spec.ir import Json

Record = dict[str, Any]
FUNCTIONS = ("$join", "$key", "$find", "$find_all", "$lower", "$if")
MATCHES = "$matches"


class MissingPath(Exception):
    """A record has no value at a path that a template names."""


def value_at(path: str, data: Mapping[str, Any]) -> Any:
    """The value at a path. Raises MissingPath where there is none."""
    found: Any = data
    for name in path[2:].split("."):
        if not is_object(found) or name not in found:
            raise MissingPath(f"no value at {path}")
        found = found[name]
    return found


def put(path: str, data: Record, value: Any) -> None:
    """Set the value at a path; what is on the way and no object is replaced."""
    *outer, last = path[2:].split(".")
    inside: Any = data
    for name in outer:
        if not is_object(inside.get(name)):
            inside[name] = {}
        inside = inside[name]
    inside[last] = value


def filled(template: Json, data: Mapping[str, Any]) -> Any:
    """The template with every path in it replaced by the value there in the record."""
    if isinstance(template, str) and template.startswith("$."):
        return value_at(template, data)
    if is_object(template):
        return {name: filled(value, data) for name, value in template.items()}
    if is_list(template):
        return [filled(each, data) for each in template]
    return template


def paths_in(template: Json) -> Iterator[str]:
    """The paths in a template."""
    if isinstance(template, str) and template.startswith("$."):
        yield template
    elif is_object(template):
        for each in template.values():
            yield from paths_in(each)
    elif is_list(template):
        for each in template:
            yield from paths_in(each)


def computed(template: Json, data: Mapping[str, Any]) -> Any:
    """The value of a computed field. Raises MissingPath where a path of it has no value."""
    if not is_object(template):
        return filled(template, data)
    name = next((each for each in FUNCTIONS if each in template), None)
    if name is None:
        return {field: computed(value, data) for field, value in template.items()}
    given = template[name]
    if name == "$if":
        chosen = "then" if holds(given, data) else "else"
        return computed(template.get(chosen), data)
    if name in ("$find", "$find_all"):
        return _found(name, str(given), computed(template.get("in"), data))
    value = computed(given, data) if is_object(given) else filled(given, data)
    if name == "$lower":
        return value.lower() if isinstance(value, str) else value
    if name == "$key":
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return "".join(map(as_text, value if is_list(value) else [value]))


def _found(name: str, pattern: str, text: Any) -> Any:
    """What a regular expression finds in a text: the first group of it, or all."""
    if not isinstance(text, str):
        raise MissingPath(f"no text in which {pattern!r} could be found")
    groups = 1 if re.compile(pattern).groups else 0
    matches = [match.group(groups) for match in re.finditer(pattern, text)]
    if name == "$find_all":
        return matches
    if not matches:
        raise MissingPath(f"no {pattern!r} in the text")
    return matches[0]


def as_text(value: Any) -> str:
    """A value as text: a text as it is, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def holds(condition: Any, data: Mapping[str, Any]) -> bool:
    """Whether a record has what a condition asks for."""
    return all(_has(data, path, wanted) for path, wanted in condition.items())


def _has(data: Mapping[str, Any], path: str, wanted: Json) -> bool:
    try:
        value = value_at(path, data)
    except MissingPath:
        return False
    if is_object(wanted) and MATCHES in wanted:
        return isinstance(value, str) and re.search(str(wanted[MATCHES]), value) is not None
    return any(_same(value, each) for each in (wanted if is_list(wanted) else [wanted]))


def _same(value: Any, wanted: Json) -> bool:
    """Equality of JSON: true is not 1."""
    return value == wanted and isinstance(value, bool) == isinstance(wanted, bool)


def wrong_template(template: Json, functions: bool) -> str:
    """What is wrong in a template, as a phrase; empty where nothing is."""
    if is_list(template):
        return next(filter(None, (wrong_template(each, functions) for each in template)), "")
    if not is_object(template):
        return ""
    names = [each for each in FUNCTIONS if each in template]
    if names and not functions:
        return f"{names[0]} is for `fields` of the preparation alone"
    if len(names) > 1:
        return f"{names[0]} and {names[1]} in one object"
    if names and names[0].startswith("$find"):
        if "in" not in template:
            return f'{names[0]} needs `in`, for example in = "$.text"'
        return wrong_pattern(template[names[0]])
    if names == ["$if"]:
        return wrong_condition(template["$if"])
    return next(filter(None, (wrong_template(each, functions) for each in template.values())), "")


def wrong_condition(condition: Any) -> str:
    """What is wrong with a condition, as a phrase; empty where nothing is."""
    if not is_object(condition):
        return "a condition has to be an object of paths"
    for path, wanted in condition.items():
        if not path.startswith("$."):
            return f'a condition has paths such as "$.a", not "{path}"'
        if is_object(wanted):
            if set(wanted) != {MATCHES}:
                return f"a condition asks for a value, a list of values or {MATCHES}"
            if why := wrong_pattern(wanted[MATCHES]):
                return why
    return ""


def wrong_pattern(pattern: Any) -> str:
    """What is wrong with a regular expression, as a phrase; empty where nothing is."""
    try:
        re.compile(pattern)
    except (re.error, TypeError) as error:
        return f"{pattern!r} is no regular expression: {error}"
    return ""
