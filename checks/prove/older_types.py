"""Two versions of an enum, a record or a part in one encoding: the older one gets another name.

A term's type is known by its name, so that an enum which gained or lost a member would be two types
of one name, and so would a record or a part. The JSON form of a member is its own name alone, so
another name of its enum changes nothing of what `restore` reads. `restore` reads records and parts
by their names: `former` gives these.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.codec import as_json
from lawful.spec.ir import Json

from .scope_text import types

OLDER = " (older)"


def apart(old: ir.Machine, new: ir.Machine) -> ir.Machine:
    """The older machine, in which each part, and each enum and record that is another one in the
    newer version, has another name."""
    grown = {name for name, _, _ in changed_enums(old, new)}
    others = {was.name for was, _ in changed_records(old, new)}
    if not grown and not others and not old.parts:
        return old
    data: Any = as_json.to_json(old, places=False)
    for row in data["types"]:
        if row["is"] == "Part" and row["machine"] != old.name:
            row["machine"] += OLDER
        elif row.get("name") in {"Enum": grown, "Record": others}.get(row["is"], ()):
            row["name"] += OLDER
    _rename_parts(data["machine"])
    return as_json.from_json(data)


def _rename_parts(machine: Any) -> None:
    for part in machine["parts"]:
        part["name"] += OLDER
        _rename_parts(part)


def former(name: str) -> str:
    """The name of an older record or part, as it was declared."""
    return name.removesuffix(OLDER)


def as_declared(value: Json) -> Json:
    """A value of an older type with the names of its records as they were declared."""
    if isinstance(value, list):
        return [as_declared(each) for each in value]
    if not isinstance(value, dict):
        return value
    named = {key: as_declared(each) for key, each in value.items()}
    tag = named.get("$")
    return named | {"$": former(tag)} if isinstance(tag, str) else named


def changed_records(old: ir.Machine, new: ir.Machine) -> Iterator[tuple[t.Record, t.Record]]:
    """The records that have other fields, or fields of other types, in the newer version."""
    had = {kind.name: kind for kind in types(old) if isinstance(kind, t.Record)}
    for kind in types(new):
        if isinstance(kind, t.Record) and had.get(kind.name, kind) != kind:
            yield had[kind.name], kind


def changed_enums(
    old: ir.Machine, new: ir.Machine
) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """The enums with other members, their older ones and their newer ones."""
    had = {kind.name: kind.members for kind in types(old) if isinstance(kind, t.Enum)}
    for kind in types(new):
        if isinstance(kind, t.Enum) and had.get(kind.name, kind.members) != kind.members:
            yield kind.name, had[kind.name], kind.members
