"""How the text of an imported declaration begins, and the names that it uses."""

from __future__ import annotations

from collections.abc import Mapping

BOUNDS = "from typing import Annotated\n\nfrom annotated_types import Interval\n"
HEAD = '''"""Imported from a transitions.Machine."""

{bounds}from lawful import {names}
{imports}

class Place(State):
    """Where a model is."""

{states}


class Imported(Machine):
    """{doc}"""

    state: Place = Place.{initial}
{timers}'''
NAMES = (
    *("Machine", "Scope", "State", "Timer", "event", "ignore", "invariant", "require", "terminal"),
    "transition",
)
RESERVED = frozenset(
    {
        *NAMES,
        "Annotated",
        "Interval",
        "Place",
        "state",
        "lawful",
        "scope",
        "expects",
        "fairness",
        "deadlock_ok",
        "self",
    }
)


def imports_of(enums: Mapping[str, str]) -> str:
    """The lines that import enums, from their modules by name."""
    return "".join(f"from {module} import {name}\n" for name, module in enums.items())
