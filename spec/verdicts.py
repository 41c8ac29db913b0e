"""Verdicts, built-in properties and kinds of properties: the words of every check, in one table.

What a check establishes of a property is a `Verdict`. A property is one of `BUILT_IN`, which every
machine has, or a method of one of the `KINDS`.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Literal

from .quick_dataclass import dataclass


class Verdict(enum.Enum):
    """How much was established; strongest first, failures last."""

    PROVED = "proved"
    PROVED_WITHIN = "proved-within"
    HOLDS = "holds"
    HOLDS_WITHIN_SCOPE = "holds-within-scope"
    BOUNDED = "bounded"
    SAMPLED = "sampled"
    UNKNOWN = "unknown"
    VIOLATED = "violated"
    UNDEFINED = "undefined"

    @property
    def proved(self) -> bool:
        """Whether it is established by proof."""
        return self in PROVED

    @property
    def failed(self) -> bool:
        """Whether something was found that is wrong."""
        return self in FAILED

    @property
    def good(self) -> bool:
        """Whether this passes where nothing else is expected."""
        return self in GOOD

    @property
    def open(self) -> bool:
        """Whether neither the property nor a failure of it is established."""
        return self in OPEN


PROVED = frozenset({Verdict.PROVED, Verdict.PROVED_WITHIN})
GOOD = PROVED | {Verdict.HOLDS, Verdict.HOLDS_WITHIN_SCOPE}
OPEN = frozenset({Verdict.BOUNDED, Verdict.SAMPLED, Verdict.UNKNOWN})
FAILED = frozenset({Verdict.VIOLATED, Verdict.UNDEFINED})

_ORDER = list(Verdict)


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The weakest of the verdicts; `unknown` where there are none, for nothing was established."""
    return max(verdicts, key=_ORDER.index, default=Verdict.UNKNOWN)


Fault = Literal["bounds", "asserts", "undefined", "ambiguous"]
FAULTS: tuple[Fault, ...] = ("bounds", "asserts", "undefined", "ambiguous")  # Ends of a step.
BUILT_IN = ("deadlock", *FAULTS)

PropertyKind = Literal[
    "invariant",
    "step_property",
    "reachable",
    "recoverable",
    "terminal",
    "assume",
    "constraint",
    "eventually",
    "eventually_always",
    "infinitely_often",
    "leads_to",
    "refines",
]


@dataclass(frozen=True, slots=True)
class Characteristics:
    """The characteristics of properties of one kind.

    `gives`: the method's result: a truth value, two of them, or a state of the abstract machine.
    `over`: the domain of the property: a state, a step, ...; `search` means all reachable states,
    `run` an infinite run. `assumption`: the property has no verdict, but limits what is checked.
    """

    gives: Literal["bool", "two bools", "state"]
    over: Literal["parameters", "state", "step", "search", "run"]
    assumption: bool = False


KINDS: dict[PropertyKind, Characteristics] = {
    "invariant": Characteristics("bool", "state"),
    "step_property": Characteristics("bool", "step"),
    "reachable": Characteristics("bool", "search"),
    "recoverable": Characteristics("bool", "search"),
    "terminal": Characteristics("bool", "state", assumption=True),
    "assume": Characteristics("bool", "parameters", assumption=True),
    "constraint": Characteristics("bool", "state", assumption=True),
    "eventually": Characteristics("bool", "run"),
    "eventually_always": Characteristics("bool", "run"),
    "infinitely_often": Characteristics("bool", "run"),
    "leads_to": Characteristics("two bools", "run"),
    "refines": Characteristics("state", "step"),
}

Kinds = tuple[PropertyKind, ...]
ASSUMPTIONS: Kinds = tuple(kind for kind, row in KINDS.items() if row.assumption)
JUDGED: Kinds = tuple(kind for kind, row in KINDS.items() if not row.assumption)
SAFETY: Kinds = tuple(kind for kind in JUDGED if KINDS[kind].over in ("state", "step"))
LIVENESS: Kinds = tuple(kind for kind, row in KINDS.items() if row.over == "run")
BY_SEARCH: Kinds = (
    *(kind for kind, row in KINDS.items() if row.over == "search"),
    *LIVENESS,
)
# A part's properties of these kinds are judged in its whole, too: of its states, steps and runs.
OF_PARTS: Kinds = tuple(
    k for k in JUDGED if KINDS[k].over != "search" and KINDS[k].gives != "state"
)
