"""What is wrong with a row, as text: where, what was found, and what was expected.

Problems with one text are of one kind, so a text names the type of a value, and not the value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lawful.spec.codec.as_json import is_list, is_object
from lawful.spec.errors import nearest

from ..preparation.record_paths import names_in, path_of

NO_NUMBER = "a row without a sequence number"
CAST = '`casts` of the [preparation] make an "int" of it'
ANOTHER = "the log of another program needs --mapping"


def kind_of(value: Any) -> str:
    """The type of a JSON value, in words."""
    if value is None:
        return "null or missing"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int):
        return "a whole number"
    if isinstance(value, float):
        return "a number with a fraction"
    if isinstance(value, str):
        return "a text"
    return "a list" if is_list(value) else "an object" if is_object(value) else "another value"


def cast_hint(casts: Mapping[str, str], path: str) -> str:
    """How a text at a path becomes a number, by the casts that there are already."""
    kind = casts.get(path)
    if kind is None:
        return CAST
    if kind == "text":
        return f'`casts` make a "{kind}" of it; "int" makes a number of a text'
    return f'its cast to "{kind}" cannot read this text'


def no_number(where: str, value: Any, how: str = CAST) -> str:
    """Why a value is no sequence number; `how` a text becomes one."""
    if type(value) is int:
        return f"{NO_NUMBER}: {where} is a number below 0 or beyond 63 bits"
    why = f"{NO_NUMBER}: {where} is {kind_of(value)}, not a whole number from 0 on"
    return f"{why}; {how}" if how and isinstance(value, str) else why


def no_column(path: str, name: str, what: str, there: Iterable[str]) -> str:
    """Why nothing is at a path: of the columns or fields that are there none has the name."""
    known = [*there]
    dotted = ".".join(names_in(path))
    close = f"write {path_of((dotted,))}" if dotted in known else nearest(name, known, "")
    has = ", ".join(known) or "no fields"
    return f"the mapping reads {path}; {what} has {has}{f': {close}' if close else ''}"


def no_time(where: str, value: Any, unit: str) -> str:
    """Why a value is no time."""
    kind = "a text of another form" if isinstance(value, str) else kind_of(value)
    return f'time has another form than its unit says: {where} is {kind}, and unit is "{unit}"'


def no_name(where: str, value: Any, wanted: str = "a text or a whole number") -> str:
    """Why a value is no name of an instance, which is `wanted`."""
    if isinstance(value, str):
        return f"no instance: {where} is a text that UTF-8 cannot hold"
    return f"no instance: {where} is {kind_of(value)}, not {wanted}"
