"""The representation of values, the same under every hash seed."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..records import field_names, is_record_value
from ..sorting import LONG, in_order


def text_of(value: Any) -> str:
    """Its `str`, of an integer however many digits it has."""
    return shown(value) if value.__class__ is int else str(value)


def repr_of(value: Any) -> str:
    """Its `repr`, of an integer however many digits it has."""
    if value.__class__ is int:
        return shown(value)
    try:
        return repr(value)
    except ValueError:  # It holds an integer of more digits than Python writes.
        return shown(value)


def text_of_error(error: BaseException) -> str:
    """What an exception says; a KeyError the key, likewise."""
    if isinstance(error, KeyError) and len(error.args) == 1:
        return repr_of(error.args[0])
    return str(error)


def shown(value: Any) -> str:
    """Its `repr`, the elements of sets and the keys of maps in an order that no hash seed has."""
    held: Any = value
    if isinstance(value, set | frozenset):
        inside = ", ".join(shown(each) for each in in_order(held))
        if not inside:
            return repr(held)
        return f"{{{inside}}}" if isinstance(value, set) else f"frozenset({{{inside}}})"
    if isinstance(value, dict):
        rows = ", ".join(f"{shown(key)}: {shown(held[key])}" for key in in_order(held))
        return f"Counter({{{rows}}})" if isinstance(value, Counter) and rows else f"{{{rows}}}"
    if value.__class__ in (list, tuple):
        inside = ", ".join(map(shown, held))
        if isinstance(value, list):
            return f"[{inside}]"
        return f"({inside},)" if len(held) == 1 else f"({inside})"
    if is_record_value(value):
        fields = ", ".join(f"{n}={shown(getattr(held, n))}" for n in field_names(held.__class__))
        return f"{type(value).__name__}({fields})"
    if value.__class__ is int and held.bit_length() > LONG:
        from ..integer_texts import written  # Few integers are so large.

        return written(held)
    try:
        return repr(value)
    except ValueError:  # Python writes no Fraction of such integers.
        return f"{type(value).__name__}(...)"
