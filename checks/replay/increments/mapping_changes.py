"""Mappings that differ: states go on only with the mapping by which the rows before were read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lawful.spec.codec.as_json import canonical, digest, is_object
from lawful.spec.ir import Json

from ..program import ReplayProgram

PRINT = "digest of the mapping"
IN_ORDER = "fields"  # Computed fields may read those before them; no other order means anything.


def print_of(program: ReplayProgram) -> str:
    """A digest of what the mapping says; of a journal, which needs none, it is empty."""
    found = program.compiled.get(PRINT)
    if not isinstance(found, str):
        mapping = program.mapping
        told = "" if mapping is None else digest(_ordered(mapping.to_json()))
        found = program.compiled[PRINT] = told
    return found


def _ordered(data: Json, key: str = "") -> Json:
    """The same, with a list of pairs for an object whose order counts."""
    if is_object(data):
        inside = {name: _ordered(each, name) for name, each in data.items()}
        return [[*each] for each in inside.items()] if key == IN_ORDER else inside
    return [_ordered(each) for each in data] if isinstance(data, list) else data


def changes(before: Json, now: Json) -> str:
    """Which keys of two mappings differ, and how, as text; empty where none does."""
    if not is_object(before) or not is_object(now):
        named = ["a mapping" if is_object(each) else "no mapping" for each in (before, now)]
        return "" if before == now else f"there was {named[0]}, and is {named[1]}"
    return "; ".join(_differing("", before, now))


def _differing(path: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for name in dict.fromkeys((*before, *now)):
        old, new = before.get(name), now.get(name)
        if is_object(old) and is_object(new) and name != IN_ORDER:
            yield from _differing(f"{path}{name}.", old, new)
        elif _ordered(old, name) != _ordered(new, name):
            yield f"{path}{name} was {_told(old)}, and is {_told(new)}"


def _told(value: Json) -> str:
    return "not given" if value is None else canonical(value)
