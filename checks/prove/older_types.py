"""Two versions of an enum in one encoding: the older one gets a name of its own.

A term's type is known by its name, so that an enum which gained or lost a member would be two types
of one name. The JSON form of a member is its own name alone, so another name of its enum changes
nothing of what `restore` reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.codec import as_json

from .scope_text import types

OLDER = " (older)"


def apart(old: ir.Machine, new: ir.Machine) -> ir.Machine:
    """The older machine, in which each enum that has other members in the newer one has another
    name."""
    grown = {name for name, _, _ in changed_enums(old, new)}
    if not grown:
        return old
    data: Any = as_json.to_json(old, places=False)
    for row in data["types"]:
        if row["is"] == "Enum" and row["name"] in grown:
            row["name"] += OLDER
    return as_json.from_json(data)


def changed_enums(
    old: ir.Machine, new: ir.Machine
) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """The enums with other members, their older ones and their newer ones."""
    had = {kind.name: kind.members for kind in types(old) if isinstance(kind, t.Enum)}
    for kind in types(new):
        if isinstance(kind, t.Enum) and had.get(kind.name, kind.members) != kind.members:
            yield kind.name, had[kind.name], kind.members
