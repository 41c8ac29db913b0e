"""A mapping as TOML: objects as tables, texts with escapes, notes as comments.

Names and texts may come from a trace, so none of them may end its line or its quotes: every
character that is not printable is escaped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lawful.spec.codec.as_json import is_list, is_object

LONGEST = 400  # Characters of a comment.
BARE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")


def tables(data: Mapping[str, Any], path: Sequence[str] = ()) -> list[str]:
    """An object as lines of TOML: values first, then tables.

    The values are texts, whole numbers, booleans and lists of these; no text has a lone surrogate.
    """
    lines = [f"[{'.'.join(map(key, path))}]"] if path else []
    plain = {name: value for name, value in data.items() if not is_object(value)}
    lines += [f"{key(name)} = {_value(value)}" for name, value in plain.items()]
    for name, value in data.items():
        if is_object(value) and value:
            lines += ["", *tables(value, (*path, name))]
    return lines


def key(name: str) -> str:
    """A key, in quotes if it needs them."""
    return name if name and BARE.issuperset(name) else _quoted(name)


def comment(text: str) -> str:
    """A text as a comment of one line, cut where it is long."""
    shown = "".join(char if char.isprintable() else _escape(char) for char in text)
    return f"# {shown}" if len(shown) <= LONGEST else f"# {shown[: LONGEST - 4]} ..."


def _value(value: Any) -> str:
    if is_list(value):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return _quoted(value) if isinstance(value, str) else str(value)


def _quoted(text: str) -> str:
    """A basic string (TOML 1.0.0, section String)."""
    inside = (f"\\{c}" if c in '"\\' else c if c.isprintable() else _escape(c) for c in text)
    return f'"{"".join(inside)}"'


def _escape(char: str) -> str:
    """The escape of a character; of TOML 1.0.0 the forms of four and eight digits."""
    number = ord(char)
    return f"\\u{number:04x}" if number < 1 << 16 else f"\\U{number:08x}"
