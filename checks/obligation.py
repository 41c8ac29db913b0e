"""What is to be proved of a machine, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lawful.spec.ir import Json

from .verdict import Verdict


@dataclass(frozen=True, slots=True)
class Obligation:
    """One thing to prove: that a start or a transition (`obligation`) keeps `property`.

    `leans` names the invariants that the proof used; it may not need all of them.
    """

    property: str
    obligation: str
    verdict: Verdict
    covers: str
    seconds: float
    counterexample: Mapping[str, Json] | None = None
    note: str = ""
    leans: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class PropertyProof:
    """A property's verdict over all of its obligations."""

    name: str
    verdict: Verdict
    method: str
    covers: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class ProofResult:
    """What induction established of one machine."""

    machine: str
    obligations: tuple[Obligation, ...]
    properties: tuple[PropertyProof, ...]
    seconds: float
