"""Integers as texts, of any size.

Python makes no decimal text of an integer of more than `sys.get_int_max_str_digits()` digits, and
reads none: by default 4,300, and never less than 640. So here an integer beyond 640 digits has a
hexadecimal text, `0x...` or `-0x...`, which has no limit.
"""

from __future__ import annotations

import re
import sys

BITS = (
    2126  # Of integers of up to 640 digits, decimal texts of which every Python writes and reads.
)
HEXADECIMAL = "0x[1-9a-f][0-9a-f]*"
_FORM = re.compile(f"0|-?[1-9][0-9]*|-?{HEXADECIMAL}")


def written(value: int) -> str:
    """The text of an integer."""
    return str(value) if value.bit_length() <= BITS else hex(value)


def is_text(text: object) -> bool:
    """Whether it is the text of an integer."""
    return isinstance(text, str) and _FORM.fullmatch(text) is not None


def read(text: str) -> int:
    """The integer of a text; ValueError for another text, and for more decimal digits than Python
    reads."""
    if not is_text(text):
        raise ValueError(f"expected the digits of an integer, found {text!r:.80}")
    try:
        return int(text, 16 if "x" in text else 10)
    except ValueError as error:
        raise ValueError(beyond()) from error


def beyond() -> str:
    """The words for an integer of more decimal digits than Python reads."""
    most = sys.get_int_max_str_digits()
    how = 'write it as {"$int": "0x..."}'
    return f"an integer of more than {most:,} digits, which Python does not read: {how}"


def is_beyond(error: ValueError) -> bool:
    """Whether `json.loads` raised this for such an integer."""
    return error.__class__ is ValueError
