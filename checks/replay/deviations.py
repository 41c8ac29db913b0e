"""What a row may say that a replay does not accept: the ways in which it is wrong."""

from __future__ import annotations

from lawful.spec.ir import Json


class Malformed(Exception):
    """The row says nothing that could be compared; its instance goes into quarantine."""


class Unreplayable(Exception):
    """The machine's answer cannot be worked out from the row."""


class Differs(Exception):
    """The machine would not have written this row."""

    def __init__(self, kind: str, clause: str, **details: Json) -> None:
        super().__init__(clause)
        self.kind = kind
        self.clause = clause
        self.details = details
