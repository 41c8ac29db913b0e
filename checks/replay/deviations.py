"""The exceptions with which the replay of one row ends: deviation, malformed row, inconclusive."""

from __future__ import annotations

from lawful.spec.ir import Json


class Malformed(Exception):
    """The row cannot be compared with the machine; its instance is quarantined."""


class Inconclusive(Exception):
    """The row has too little information to compute what the machine does."""


class Deviation(Exception):
    """The machine does something else than the row says.

    `kind` is the category ("output", "refused", ...), `clause` a sentence, `details` JSON data.
    """

    def __init__(self, kind: str, clause: str, **details: Json) -> None:
        super().__init__(clause)
        self.kind = kind
        self.clause = clause
        self.details = details
