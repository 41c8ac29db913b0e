"""What is to be proved of a machine, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lawful.checks.verdict import Trace, Verdict
from lawful.spec import ir
from lawful.spec.errors import Place
from lawful.spec.ir import Json

NO_START = "no start is possible: nothing is proved of it"
START_UNKNOWN = "not shown that a start is possible: nothing is proved of it"
NO_STEP = "there is no transition: nothing is proved of it"
ENDED = "Z3 does not decide it: its process ended"
TO_INDUCTION = "counterexample to induction"
AT_START = "violation at the start"
VACUOUS = "vacuous: it can never happen where the invariants hold, so nothing is proved of it"
NOT_SHOWN = "not shown that it can happen: nothing is proved of it"
UNSEEN = "a container may get larger than its type allows, and is not followed from there on"


@dataclass(frozen=True, slots=True)
class Obligation:
    """One thing to prove: that a start or a transition (`obligation`) keeps `property`.

    `leans` names the invariants that the proof used; it may not need all of them. `depth` is how
    many steps of a run it is about; `before`: that it is proved was known from another time.
    `units` are those of Z3's work that were spent on it: the same each time, on every machine.
    """

    property: str
    obligation: str
    verdict: Verdict
    covers: str
    seconds: float
    counterexample: Mapping[str, Json] | None = None
    note: str = ""
    uses: frozenset[str] = frozenset()
    depth: int = 1
    cached: bool = False
    units: int = 0


NOT_ASKED = "none"  # The method of what only `check` judges.
INDUCTIVE = ("induction", "k-induction")


@dataclass(frozen=True, slots=True)
class PropertyProof:
    """A property's verdict, and the method that established it.

    `trace` is a run that violates it; `events`: all runs of at most so many were looked at.
    """

    name: str
    verdict: Verdict
    method: str
    covers: str
    note: str = ""
    trace: Trace | None = None
    events: int | None = None

    @property
    def settled_otherwise(self) -> bool:
        """Whether a run refutes it, or a method that has no obligations proves it."""
        return self.trace is not None or (self.verdict.good and self.method not in INDUCTIVE)


@dataclass(frozen=True, slots=True)
class RedundantGuard:
    """A guard of a transition that is true wherever the ones before it are."""

    transition: str
    place: Place
    text: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """Clauses that are inductive together with what is proved; those that the proofs lean on, as
    properties of the machine; and all obligations as they are with them."""

    clauses: tuple[ir.Property, ...]
    obligations: tuple[Obligation, ...]


@dataclass(frozen=True, slots=True)
class ProofResult:
    """What was established of one machine."""

    machine: str
    obligations: tuple[Obligation, ...]
    properties: tuple[PropertyProof, ...]
    seconds: float
    redundant_guards: tuple[RedundantGuard, ...] = ()
    proposal: Proposal | None = None

    @property
    def counted(self) -> tuple[Obligation, ...]:
        """The obligations that matter: why a property is not inductive is no question once it is
        proved or refuted in another way."""
        settled = {p.name for p in self.properties if p.settled_otherwise}
        return tuple(o for o in self.obligations if o.property not in settled)
