"""JSON as short text. One encoder serves all rows: to make one costs a third of a row.

text_of(data)                 the text of JSON data
texter(kind, form)(value)     the text of form(value), for some types without making the data
"""

from __future__ import annotations

import json
from collections.abc import Callable
from json import encoder as library
from typing import Any

from lawful.spec import types as t
from lawful.spec.values.world import EXACT

Form = Callable[[Any], Any]
Texter = Callable[[Any], str]

_ENCODER = json.JSONEncoder(separators=(",", ":"))
_make: Any = getattr(library, "c_make_encoder", None)  # Only of CPython.
_chunks = _make and _make(
    None, _ENCODER.default, library.encode_basestring_ascii, None, ":", ",", False, False, True
)
_TRUTH = {True: "true", False: "false"}


def text_of(data: Any) -> str:
    """The text of JSON data, which contain no cycle."""
    return _ENCODER.encode(data) if _chunks is None else "".join(_chunks(data, 0))


def text_of_time(seconds: float) -> str:
    """The text of a time."""
    plain = seconds.__class__ is float and seconds - seconds == 0.0  # Infinity has another text.
    return repr(seconds) if plain else text_of(seconds)


def text_of_name(name: str | None) -> str:
    """The text of a name, or of none."""
    return "null" if name is None else library.encode_basestring_ascii(name)


def texter(kind: t.Type, form: Form) -> Texter:
    """The function that makes the text of values of this type, whose JSON form `form` makes."""

    def text(value: Any) -> str:
        return text_of(form(value))

    def whole(value: Any) -> str:
        return "%d" % value if -EXACT <= value <= EXACT else text(value)  # noqa: UP031  # of a bool

    match kind:
        case t.Int():
            return whole
        case t.Bool():
            return _TRUTH.__getitem__
        case t.Nothing():
            return text_of_name
        case t.Enum():
            return lambda value: text_of_name(value.name)
        case _:
            return text


def head_of(name: str) -> str:
    """The start of a member of an object."""
    return f"{text_of(name)}:"
