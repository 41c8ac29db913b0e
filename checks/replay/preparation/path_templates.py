"""Templates: JSON in which a path such as "$.a.b" stands for the value at a.b in a record.

A record is the JSON object of one row of a trace. Besides paths a template of a computed field may
have functions, each an object with one of these keys:

    {"$join" = ["$.a", "-", "$.b"]}             one text; numbers and booleans become texts
    {"$key" = ["$.host", "$.pid"]}              a text for the values together, no two alike
    {"$find" = "port ([0-9]+)", in = "$.text"}  what a regular expression finds: its first group
    {"$find_all" = "blk_[0-9]+", in = "$.text"} all that it finds, as a list
    {"$lower" = "$.a"}                          a text in lower case
    {"$sum" = ["$.begun", "$.took"]}            a sum of numbers
    {"$json" = "$.message"}                     what a text of JSON says
    {"$if" = {"$.a" = 1}, then = x, else = y}   one of two, by a condition

A function may stand wherever a path may, so also inside another one.

A condition is an object of paths: each has to have the value, or one of a list of values, or a text
in which the regular expression of {"$matches" = "..."} is found.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Context, Decimal
from typing import Any

from lawful.spec.codec.as_json import is_list, is_object
from lawful.spec.ir import Json

from ..rows import loads
from .record_paths import is_path, names_in, path_of, wrong_path

Record = dict[str, Any]
FUNCTIONS = ("$join", "$key", "$find", "$find_all", "$lower", "$sum", "$json", "$if")
MATCHES = "$matches"


class MissingPath(Exception):
    """A record has no value at a path that a template names."""

    def __init__(self, what: str, path: str = "") -> None:
        super().__init__(what)
        self.path = path

    def told(self, data: Mapping[str, Any]) -> str:
        """What is missing in this record; with the path that differs in dots and `_` alone, if the
        record has a value there."""
        other = _spelt(_plain(".".join(names_in(self.path))), data) if self.path else ()
        return f"{self}; it has {path_of(other)}" if other else str(self)


def _plain(name: str) -> str:
    return name.replace("_", ".")


def _spelt(wanted: str, data: Mapping[str, Any]) -> tuple[str, ...]:
    """The keys on the way to a value that are `wanted` if dots join them; empty for none."""
    for name, value in data.items():
        known = _plain(name)
        if known == wanted:
            return (name,)
        if is_object(value) and wanted.startswith(f"{known}."):
            inner = _spelt(wanted[len(known) + 1 :], value)
            if inner:
                return (name, *inner)
    return ()


def value_at(path: str, data: Mapping[str, Any]) -> Any:
    """The value at a path. Raises MissingPath where there is none."""
    found: Any = data
    try:
        for name in names_in(path):
            found = found[name]
    except (KeyError, TypeError):  # A TypeError where something on the way is no object.
        raise MissingPath(f"no value at {path}", path) from None
    return found


def put(path: str, data: Record, value: Any) -> None:
    """Set the value at a path; what is on the way and no object is replaced.

    An object on the way is copied first, so that records which share it do not change each other.
    """
    *outer, last = names_in(path)
    inside: Any = data
    for name in outer:
        known = inside.get(name)
        inside[name] = dict(known) if is_object(known) else {}
        inside = inside[name]
    inside[last] = value


Filled = Callable[[Mapping[str, Any]], Any]
Holds = Callable[[Mapping[str, Any]], bool]


def conditions_in(template: Json) -> Iterator[Mapping[str, Json]]:
    """The conditions in a template of a computed field."""
    if is_object(template):
        asked = template.get("$if")
        if is_object(asked):
            yield asked
    inside = template.values() if is_object(template) else template if is_list(template) else ()
    for each in inside:
        yield from conditions_in(each)


def filling(template: Json) -> Filled:
    """The function that replaces every path in the template by the value there in a record. It
    raises MissingPath where there is none."""
    if is_path(template):
        return reading(template)
    if is_object(template):
        parts = [(name, filling(value)) for name, value in template.items()]
        return lambda data: {name: fill(data) for name, fill in parts}
    if is_list(template):
        items = [*map(filling, template)]
        return lambda data: [fill(data) for fill in items]
    return lambda data: template


def reading(path: str) -> Filled:
    """The function that gives the value at a path, as `value_at` does."""
    name, *inner = names_in(path)
    if inner:
        return lambda data: value_at(path, data)

    def read(data: Mapping[str, Any]) -> Any:
        try:
            return data[name]
        except KeyError:
            raise MissingPath(f"no value at {path}", path) from None

    return read


def filled(template: Json, data: Mapping[str, Any]) -> Any:
    """The template with every path in it replaced by the value there in the record."""
    return filling(template)(data)


def paths_in(template: Json) -> Iterator[str]:
    """The paths in a template."""
    if is_path(template):
        yield template
    elif is_object(template):
        for each in template.values():
            yield from paths_in(each)
    elif is_list(template):
        for each in template:
            yield from paths_in(each)


def computing(template: Json) -> Filled:
    """The function that gives the value of a computed field of a record. It raises MissingPath
    where a path of the field has no value."""
    if is_list(template):
        items = [*map(computing, template)]
        return lambda data: [make(data) for make in items]
    if not is_object(template):
        return filling(template)
    name = next((each for each in FUNCTIONS if each in template), None)
    if name is None:
        parts = [(field, computing(value)) for field, value in template.items()]
        return lambda data: {field: value(data) for field, value in parts}
    given = template[name]
    if name == "$if":
        asked = condition(given)
        then, other = (computing(template.get(each)) for each in ("then", "else"))
        return lambda data: then(data) if asked(data) else other(data)
    if name in ("$find", "$find_all"):
        return _finding(name, str(given), computing(template.get("in")))
    function, value = OF_VALUE[name], computing(given)
    return lambda data: function(value(data))


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


def _key(value: Any) -> str:
    """A text for these values. A null is none: a table has it where CSV and OTLP have nothing."""
    if value is None or (is_list(value) and None in value):
        raise MissingPath("a value of $key is null")
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _joined(value: Any) -> str:
    return "".join(map(as_text, value if is_list(value) else [value]))


def _sum(value: Any) -> Any:
    """The sum of numbers, without the rounding of floating-point numbers before its end."""
    total = Decimal(0)
    for each in value if is_list(value) else [value]:
        if isinstance(each, bool) or not isinstance(each, int | float) or not math.isfinite(each):
            raise MissingPath(f"{as_text(each)} is no number, so there is no $sum")
        total = EXACT.add(total, Decimal(repr(each)))
    return int(total) if total == int(total) else float(total)


def _json(value: Any) -> Any:
    """What a text of JSON says; any other value stays as it is."""
    if not isinstance(value, str):
        return value
    try:
        return loads(value)
    except (ValueError, RecursionError) as error:
        raise MissingPath("no JSON in the text") from error


EXACT = Context(prec=400)  # Digits of a sum: enough for numbers of 64 bits and for floats.
OF_VALUE: dict[str, Callable[[Any], Any]] = {
    "$lower": _lower,
    "$key": _key,
    "$join": _joined,
    "$sum": _sum,
    "$json": _json,
}


def _finding(name: str, pattern: str, text: Filled) -> Filled:
    """What a regular expression finds in a text: the first group of it, or all."""
    expression = re.compile(pattern)

    def find(data: Mapping[str, Any]) -> Any:
        found = text(data)
        if not isinstance(found, str):
            raise MissingPath(f"no text in which {pattern!r} could be found")
        if name == "$find_all":
            return [_told(match) for match in expression.finditer(found)]
        match = expression.search(found)
        if match is None:
            raise MissingPath(f"no {pattern!r} in the text")
        return _told(match)

    return find


def _told(match: re.Match[str]) -> str:
    """The first group that is found, of several alternatives; without groups all that is found."""
    if not match.re.groups:
        return match.group()
    return next((each for each in match.groups() if each is not None), "")


def computed(template: Json, data: Mapping[str, Any]) -> Any:
    """The value of a computed field. Raises MissingPath where a path of it has no value."""
    return computing(template)(data)


def as_text(value: Any) -> str:
    """A value as text: a text as it is, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def condition(asked: Any) -> Holds:
    """The function that says whether a record has what a condition asks for."""
    tests = [(reading(path), _test(wanted)) for path, wanted in asked.items()]

    def has(data: Mapping[str, Any]) -> bool:
        try:
            return all(test(read(data)) for read, test in tests)
        except MissingPath:
            return False

    return has


def _test(wanted: Json) -> Callable[[Any], bool]:
    if is_object(wanted) and MATCHES in wanted:
        search = re.compile(str(wanted[MATCHES])).search
        return lambda value: isinstance(value, str) and search(value) is not None
    options = wanted if is_list(wanted) else [wanted]
    return lambda value: any(_same(value, each) for each in options)


def holds(asked: Any, data: Mapping[str, Any]) -> bool:
    """Whether a record has what a condition asks for."""
    return condition(asked)(data)


def _same(value: Any, wanted: Json) -> bool:
    """Equality of JSON: true is not 1."""
    return value == wanted and isinstance(value, bool) == isinstance(wanted, bool)


def wrong_template(template: Json, functions: bool) -> str:
    """What is wrong in a template, as a phrase; empty where nothing is."""
    if is_list(template):
        return next(filter(None, (wrong_template(each, functions) for each in template)), "")
    if is_path(template):
        return wrong_path(template)
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
        inside = wrong_template(template["in"], functions)
        return wrong_pattern(template[names[0]]) or inside
    if names == ["$if"]:
        then, other = (wrong_template(template.get(n), functions) for n in ("then", "else"))
        return wrong_condition(template["$if"]) or then or other
    return next(filter(None, (wrong_template(each, functions) for each in template.values())), "")


def wrong_condition(asked: Any) -> str:
    """What is wrong with a condition, as a phrase; empty where nothing is."""
    if not is_object(asked):
        return "a condition has to be an object of paths"
    for path, wanted in asked.items():
        if not is_path(path):
            return f'a condition has paths such as "$.a", not "{path}"'
        if why := wrong_path(path):
            return why
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
