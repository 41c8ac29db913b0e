"""Vacuity: a start or transition that can never happen keeps every property.

Its proofs are vacuous. This module finds such cases and reopens their obligations.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial

from ..smt.algebra.term import Term
from ..smt.encode.bounds import pertinent
from ..smt.encode.sorts import NotEncodable
from ..smt.obligations import Case
from ..smt.solver.processes import map_in_order
from ..smt.solver.solve import ask, known_possible, note_possible
from ..smt.system import START, TransitionSystem
from ..verdict import Verdict
from .counterexamples import QUICK_UNITS
from .induction import Induction
from .result import NOT_SHOWN, VACUOUS, Obligation

Seen = Callable[[], Collection[str | None]]  # Known to happen; None is the start from defaults.


def grounded(
    induction: Induction, obligations: list[Obligation], transitions_seen: Seen
) -> list[Obligation]:
    """The obligations; open are those of cases that cannot happen or are not known to happen."""
    induction.vacuous = unmet(induction, transitions_seen)
    out: list[Obligation] = []
    for o in obligations:
        # The only obligation of a contested event is that its transitions exclude each other.
        contested = o.property == "ambiguous" and o.obligation in induction.exact.contested
        why = "" if contested else induction.vacuous.get(o.obligation, "")
        unfounded = bool(why) and o.verdict.good
        out.append(replace(o, verdict=Verdict.UNKNOWN, note=why, cached=False) if unfounded else o)
    return out


def unmet(induction: Induction, transitions_seen: Seen) -> dict[str, str]:
    """Each case that cannot happen under the invariants, or is not known to, with the reason."""
    left = [
        n for n in (*induction.exact.starts, *induction.steps) if not _known_possible(induction, n)
    ]
    if left:
        met = {START if each is None else each for each in transitions_seen()}
        for case in map(induction.exact.case, met & {*left}):
            assert isinstance(case, Case)
            note_possible(_can_happen(induction.exact, case))
        left = [name for name in left if name not in met]
    found = map_in_order(partial(_shown_possible, induction), _not_shown, left, induction.workers)
    left = [name for name, shown in zip(left, found, strict=True) if not shown]
    why = map_in_order(partial(_impossible, induction), _unexplained, left, induction.workers)
    return {name: note for name, note in zip(left, why, strict=True) if note}


def _known_possible(induction: Induction, name: str) -> bool:
    """Whether the cache knows that the case can happen; true for one without encoding."""
    case = induction.exact.case(name)
    return isinstance(case, NotEncodable) or known_possible(_can_happen(induction.exact, case))


def _shown_possible(induction: Induction, name: str) -> bool:
    """Whether a short search finds that it can happen."""
    case, quick = induction.exact.case(name), induction.effort.begin().units(QUICK_UNITS)
    assert isinstance(case, Case)
    if induction.examples.search(name, "", _can_happen, quick) is None:
        return False
    note_possible(_can_happen(induction.exact, case))
    return True


def _impossible(induction: Induction, name: str) -> str:
    """Why the case counts as vacuous; empty where it can happen."""
    case = induction.exact.case(name)
    assert isinstance(case, Case)
    budget = induction.effort.begin()
    status = ask(induction.exact.logic, _can_happen(induction.exact, case), budget).status
    late = f"{NOT_SHOWN}{budget.struck}"
    return {"unsat": VACUOUS, "unknown": late, "sat": ""}[status]


def _not_shown(_name: str, _how: str) -> bool:
    return False


def _unexplained(_name: str, _how: str) -> str:
    return NOT_SHOWN


def _can_happen(system: TransitionSystem, case: Case) -> tuple[Term, ...]:
    """The condition that the case happens.

    A start out of its bounds does not happen; a step out of its bounds does, and is a fault.
    """
    return pertinent(
        system.encoding,
        (*system.happens(case), case.within)
        if case.before is None
        else (*system.possible(case), case.step.done, case.within),
    )
