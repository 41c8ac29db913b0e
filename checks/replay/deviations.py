"""The exceptions with which the replay of one row ends: deviation, malformed row, inconclusive."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NoReturn

from lawful.spec.ir import Json

from ..reference import Done, Fault, Outcome, Refusal
from ..reference.states import State
from .rows import ABSENT, Absent, plain


class Malformed(Exception):
    """The row cannot be compared with the machine; its instance is quarantined.

    `found` is what the row has in place of a value of the machine, which `details` tell.
    """

    def __init__(self, reason: str, found: Json | Absent = ABSENT) -> None:
        super().__init__(reason)
        self.details: dict[str, Json] = {}
        if not isinstance(found, Absent):
            self.details["found"] = plain(json.dumps(found))


class UnknownEvent(Malformed):
    """The machine does not have the event of the row."""


class Inconclusive(Exception):
    """The row has too little information to compute what the machine does."""


class Several(Exception):
    """The machine may have done the event of the row in several ways, all of which fit the row."""

    def __init__(self, ways: Sequence[Done]) -> None:
        super().__init__(f"{len(ways)} transitions may have served the event")
        self.ways = ways


class Deviation(Exception):
    """The machine does something else than the row says.

    `kind` is the category ("output", "refused", ...), `clause` a sentence, `details` JSON data.
    `after` is the state in which the machine is after the event; None where it does not do it.
    """

    def __init__(self, kind: str, clause: str, after: State | None = None, **details: Json) -> None:
        super().__init__(clause)
        self.kind = kind
        self.clause = clause
        self.after = after
        self.details = details


def none_taken(outcomes: Sequence[Outcome]) -> NoReturn:
    """Raise Deviation: no transition takes the event, each for a reason that the text gives."""
    reasons = [str(o.reason()) for o in outcomes if isinstance(o, Refusal)]
    faults = [o for o in outcomes if isinstance(o, Fault)]
    if faults:
        raise Deviation("fault", f"{faults[0].name}: {faults[0].what}")
    text = "; ".join(dict.fromkeys(reasons)) or "no transition serves it"
    raise Deviation("refused", text)


def another_taken(named: str, outcomes: Sequence[Outcome], done: Done) -> NoReturn:
    """Raise Deviation: the machine takes another transition than the one that the row names."""
    tried = [o for o in outcomes if not isinstance(o, Done) and o.transition == named]
    why = f" ({tried[0].reason()})" if tried and isinstance(tried[0], Refusal) else ""
    raise Deviation("transition", f"{named} is not possible{why}; {done.transition} is")


def ambiguous(done: Sequence[Done]) -> NoReturn:
    """Raise Deviation: several transitions are enabled, and the caller has no choice."""
    names = " and ".join(each.transition for each in done)
    raise Deviation("fault", f"ambiguous: {names} are enabled")
