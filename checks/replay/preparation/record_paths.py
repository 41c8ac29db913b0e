"""Paths: texts that name a value in a record by the keys on the way to it.

    $.a.b                    the key `a`, in its object the key `b`
    $['log.level']           a key that has a dot; the quotes may be double ones
    $.attributes['a.b'].c    both forms in one path

A backslash in quotes stands before a quote or a backslash of the key (RFC 9535, section 2.3.1).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import TypeGuard

QUOTED = ("$['", '$["')
# A name up to the next dot or quoted key, or a quoted key.
STEP = re.compile(
    r"""\.((?:(?!\[['"])[^.])*)|\['((?:[^'\\]|\\['"\\])*)'\]|\["((?:[^"\\]|\\['"\\])*)"\]"""
)
ESCAPED = re.compile(r"""\\(['"\\])""")
NEEDS_ESCAPE = re.compile(r"""(['\\])""")


def is_path(value: object) -> TypeGuard[str]:
    """Whether a value of a template is a path, and no constant."""
    return isinstance(value, str) and (value.startswith("$.") or value[:3] in QUOTED)


@lru_cache(maxsize=1024)
def names_in(path: str) -> tuple[str, ...]:
    """The keys of which a path consists. Raises ValueError where it is none."""
    out: list[str] = []
    at = 1
    while at < len(path):
        step = STEP.match(path, at)
        if step is None:
            raise ValueError(
                f"{path} is no path: at {path[at:]} there has to be a dot and a name,"
                " or a key such as ['log.level']"
            )
        plain, *quoted = step.groups()
        inside = next((each for each in quoted if each is not None), "")
        out.append(ESCAPED.sub(r"\1", inside) if plain is None else plain)
        at = step.end()
    return (*out,)


def path_of(names: Iterable[str]) -> str:
    """The path that consists of these keys; those that a dot cannot name are in quotes."""
    return "$" + "".join(map(_step, names))


def _step(name: str) -> str:
    plain = f".{name}"
    found = STEP.fullmatch(plain)
    return plain if name and found else "['" + NEEDS_ESCAPE.sub(r"\\\1", name) + "']"


def wrong_path(path: str) -> str:
    """What is wrong with a path, as a phrase; empty where nothing is."""
    if not is_path(path):
        return f'"{path}" has to be a path such as "$.a"'
    try:
        names_in(path)
    except ValueError as error:
        return str(error)
    return ""
