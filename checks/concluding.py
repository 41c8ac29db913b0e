"""What the obligations of a machine amount to: each property's verdict."""

from __future__ import annotations

from collections.abc import Iterator

from lawful.spec import ir
from lawful.spec import types as t

from .induction import VACUOUS, Induction
from .judged import LIVENESS
from .obligation import NO_START, NO_STEP, START_UNKNOWN, Obligation, PropertyProof
from .shapes import NotEncodable
from .verdict import Verdict, worst

EXPLORATION_ONLY = "exploration only"
EXPLORED: tuple[ir.PropertyKind, ...] = ("reachable", "recoverable", *LIVENESS)


def conclude(induction: Induction, obligations: list[Obligation]) -> list[PropertyProof]:
    """Each property's verdict; nothing is proved of a machine that cannot start."""
    exact = induction.exact
    starts = [n for n in exact.starts if not isinstance(exact.case(n), NotEncodable)]
    begins = any(name not in induction.vacuous for name in starts)
    never = starts == exact.starts and all(induction.vacuous.get(n) == VACUOUS for n in starts)
    out: list[PropertyProof] = []
    for name in dict.fromkeys(o.property for o in obligations):
        mine = [o for o in obligations if o.property == name]
        verdict = worst(o.verdict for o in mine)
        note = ""
        if not begins and verdict not in (Verdict.VIOLATED, Verdict.UNDEFINED):
            verdict, note = Verdict.UNKNOWN, NO_START if never else START_UNKNOWN
        method = "induction" if all(o.depth == 1 for o in mine) else "k-induction"
        out.append(PropertyProof(name, verdict, method, induction.covers, note))
    for j in () if induction.steps else exact.of_kind("step_property"):
        out.append(PropertyProof(j.name, Verdict.UNKNOWN, "induction", induction.covers, NO_STEP))
    return [*out, *_not_asked(induction.machine)]


def _not_asked(machine: ir.Machine) -> Iterator[PropertyProof]:
    """What induction cannot judge."""
    names = [] if machine.deadlock_ok else ["deadlock"]
    names += [p.name for p in machine.properties if p.kind in EXPLORED]
    names += _of_parts(machine, machine, "")
    for name in names:
        yield PropertyProof(name, Verdict.UNKNOWN, "none", "", EXPLORATION_ONLY)


def _of_parts(whole: ir.Machine, machine: ir.Machine, prefix: str) -> Iterator[str]:
    """What parts have to reach, which is judged in the whole."""
    for v in machine.variables:
        kind = t.part_of(v.type)
        if kind is not None:
            part, name = whole.part(kind.machine), f"{prefix}{v.name}."
            yield from (name + p.name for p in part.properties if p.kind in LIVENESS)
            yield from _of_parts(whole, part, name)
