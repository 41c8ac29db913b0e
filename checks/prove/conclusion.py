"""The verdict of each property, from the obligations of an induction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lawful.spec import ir
from lawful.spec.analysis.composition import machines_in
from lawful.spec.text.reasons import text
from lawful.spec.verdicts import BY_SEARCH, LIVENESS

from ..smt.encode.sorts import NotEncodable
from ..smt.system import START
from ..verdict import Trace, Verdict, worst
from .induction import Induction
from .result import NO_START, NO_STEP, START_UNKNOWN, VACUOUS, Obligation, PropertyProof

EXPLORATION_ONLY = "exploration only"


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
        if not begins and not verdict.failed:
            verdict, note = Verdict.UNKNOWN, NO_START if never else START_UNKNOWN
        method = "induction" if all(o.depth == 1 for o in mine) else "k-induction"
        trace = None
        if verdict.failed:
            wrong = next(o for o in mine if o.verdict is verdict)
            trace, note = _at_start(wrong)
        out.append(PropertyProof(name, verdict, method, induction.covers, note, trace))
    for j in () if induction.steps else exact.of_kind("step_property"):
        out.append(PropertyProof(j.name, Verdict.UNKNOWN, "induction", induction.covers, NO_STEP))
    return [*out, *_not_asked(induction.machine)]


def _at_start(o: Obligation) -> tuple[Trace | None, str]:
    """The run that violates a property at its start, and the values that the start was given."""
    shown: Any = o.counterexample
    if shown is None:
        return None, o.note
    given = {**shown["parameters"], **shown["args"]}
    values = ", ".join(f"{name} = {text(value)}" for name, value in given.items())
    by = "" if o.obligation == START else f" by {o.obligation}"
    after, parameters = shown["after"], shown["parameters"]
    trace = Trace((), ()) if after is None else Trace(({**after, **parameters},), ())
    return trace, f"at the start{by}{f' with {values}' if values else ''}"


def _not_asked(machine: ir.Machine) -> Iterator[PropertyProof]:
    """The properties that only exploration decides."""
    names = [] if machine.deadlock_ok else ["deadlock"]
    names += [p.name for p in machine.properties if p.kind in BY_SEARCH]
    for inner in machines_in(machine):  # Liveness of parts is checked of the whole machine.
        own = inner.machine.properties if inner.path else ()
        names += [inner.prefix + p.name for p in own if p.kind in LIVENESS]
    for name in names:
        yield PropertyProof(name, Verdict.UNKNOWN, "none", "", EXPLORATION_ONLY)
