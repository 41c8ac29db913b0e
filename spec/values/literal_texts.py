"""The texts of a `Literal` as values: members of an enum that are texts, too.

So they compare, hash, print and become JSON as their texts do, and engines treat them as members.
"""

from __future__ import annotations

import enum
import functools
import re
from typing import Any

MOST = 60  # Characters of a class's name; two with one name are refused where they are declared.


class LiteralText(enum.StrEnum):
    """Base of the classes that `literal_class` makes."""

    __repr__ = str.__repr__

    def __reduce_ex__(self, _protocol: object) -> tuple[Any, ...]:
        return member, (tuple(each.value for each in type(self)), self.value)


@functools.cache
def literal_class(texts: tuple[str, ...]) -> type[LiteralText]:
    """The class of these texts, which are sorted, and differ. Its name is made of them.

    Raises ValueError for a text that Python gives no member.
    """
    name = "Literal_" + re.sub(r"\W", "_", "_".join(texts))[:MOST]
    # Called through a variable: type checkers want the name of an enum written out.
    make: Any = LiteralText
    made: type[LiteralText] = make(name, {text: text for text in texts}, module=__name__)
    if len(made) < len(texts):
        raise ValueError(f"{texts}: one of them has a name that enums keep for themselves")
    return made


def member(texts: tuple[str, ...], text: str) -> LiteralText:
    """One of the texts, as a value: how it is unpickled."""
    return literal_class(texts)(text)
