"""The numbers among opaque values: of one type, for Python takes True, 1 and 1.0 for one value.

Which of the equal values a set keeps would tell the order in which they came.
"""

from __future__ import annotations

import dataclasses
import typing
from decimal import Decimal
from fractions import Fraction
from typing import Any

NUMBERS: tuple[type[Any], ...] = (bool, int, float, complex, Decimal, Fraction)


def numbers_in(annotation: Any) -> tuple[type[Any], ...]:
    """The types of numbers that an annotation names, inside other types, too."""
    own = tuple(number for number in NUMBERS if number is annotation)
    if own:
        return own
    inside = (numbers_in(each) for each in typing.get_args(annotation))
    return tuple(dict.fromkeys(number for found in inside for number in found))


def mixed(value: Any, number: type[Any]) -> Any:
    """The first number in an opaque value that is not of this type; None where there is none."""
    cls: type[Any] = value.__class__
    if cls in NUMBERS:
        return None if cls is number else value
    held: Any = ()
    if cls in (tuple, frozenset):
        held = value
    elif dataclasses.is_dataclass(cls):
        held = [getattr(value, f.name) for f in dataclasses.fields(cls)]
    return next((found for each in held if (found := mixed(each, number)) is not None), None)
