"""Identifiers for a declaration, made from the free texts that other libraries allow as names."""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Hashable, Iterable
from functools import partial
from typing import cast


class IdentifierTable:
    """Gives each thing one unused identifier, as near as possible to the wanted text."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._reserved = frozenset(taken)
        self._taken = set(self._reserved)
        self._of: dict[Hashable, str] = {}

    def of(self, thing: Hashable, wanted: str) -> str:
        """The name of a thing, chosen at the first call."""
        if thing not in self._of:
            self._of[thing] = self._free(identifier(wanted))
        return self._of[thing]

    def _free(self, wanted: str) -> str:
        reserved = keyword.iskeyword(wanted) or wanted in self._reserved
        name, number = f"{wanted}_" if reserved else wanted, 1
        while name in self._taken:
            number += 1
            name = f"{wanted.rstrip('_')}_{number}"
        self._taken.add(name)
        return name


def identifier(text: str) -> str:
    """An identifier that does not begin with an underscore: those are the library's."""
    name = re.sub(r"\W", "_", unicodedata.normalize("NFKC", text)).lstrip("_")
    return name if name.isidentifier() else f"n_{name}"


def name_of(func: object) -> str:
    """The name of a callback: its own text if it is given by name."""
    if isinstance(func, str):
        return func
    if isinstance(func, partial):
        return name_of(cast("partial[object]", func).func)
    return str(getattr(func, "__name__", type(func).__name__))
