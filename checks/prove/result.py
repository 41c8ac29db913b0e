"""The results of a proof: obligations, the verdict of each property, and what else was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lawful.spec import ir
from lawful.spec.errors import Place
from lawful.spec.ir import Json

from ..verdict import Trace, Verdict

NO_START = "no start is possible: nothing is proved of it"
START_UNKNOWN = "not shown that a start is possible: nothing is proved of it"
NO_STEP = "there is no transition: nothing is proved of it"
ENDED = "Z3 does not decide it: its process ended"
TO_INDUCTION = "counterexample to induction"
AT_START = "violation at the start"
VACUOUS = "vacuous: it can never happen where the invariants hold, so nothing is proved of it"
NOT_SHOWN = "not shown that it can happen: nothing is proved of it"
UNSEEN = "a container may exceed the size of its type; what follows from there is not encoded"


@dataclass(frozen=True, slots=True)
class Obligation:
    """A proof obligation: the start or transition `obligation` keeps `property`.

    `uses` names the invariants that the proof used; it may not need all of them. `depth` is the
    number of steps that it is about. `cached`: the proof is from an earlier run. `units` of Z3's
    work were spent on it: the same each time, on every machine.
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


NOT_ASKED = "none"  # The method of properties that only `check` decides.
INDUCTIVE = ("induction", "k-induction")


@dataclass(frozen=True, slots=True)
class PropertyProof:
    """A property's verdict, and the method that established it.

    `trace` is a run that violates it; `events`: all runs with at most so many were examined.
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
        """Whether a run refutes the property, or a method without obligations proves it."""
        return self.trace is not None or (self.verdict.good and self.method not in INDUCTIVE)


@dataclass(frozen=True, slots=True)
class RedundantGuard:
    """A guard of a transition that the guards before it imply."""

    transition: str
    place: Place
    text: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """Clauses that are inductive together with what is proved.

    `clauses` are those that proofs use, as properties of the machine; `obligations` are all, with
    these clauses assumed.
    """

    clauses: tuple[ir.Property, ...]
    obligations: tuple[Obligation, ...]


@dataclass(frozen=True, slots=True)
class ProofResult:
    """The result of a proof about one machine. `not_generated` names the construct for which no
    steps can be generated, if the reference engine walked or explored because of it; `by_reference`
    names what that engine does in any case. `no_proposal` says why strengthening, where it was
    asked for, proposes nothing."""

    machine: str
    obligations: tuple[Obligation, ...]
    properties: tuple[PropertyProof, ...]
    seconds: float
    redundant_guards: tuple[RedundantGuard, ...] = ()
    proposal: Proposal | None = None
    no_proposal: str = ""
    not_generated: str = ""
    by_reference: tuple[str, ...] = ()

    @property
    def counted(self) -> tuple[Obligation, ...]:
        """The obligations that matter.

        Why a property is not inductive does not matter once it is decided by another method.
        """
        settled = {p.name for p in self.properties if p.settled_otherwise}
        return tuple(o for o in self.obligations if o.property not in settled)
