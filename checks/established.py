"""Which clauses about timers are true in every state: what all starts and steps keep together.

Nothing else is assumed, least of all the declared invariants; so they are known before any of these
is proved. What is not kept is taken back until the rest is (C. Flanagan, K. R. M. Leino, "Houdini,
an annotation assistant for ESC/Java", 2001).
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from lawful.spec import ir
from lawful.spec.ticks import tick_of

from .asked import Case, tried
from .deadlines import Clause, clauses
from .shapes import NotEncodable, Options
from .solve import ask
from .spread import in_order
from .subject import Subject
from .term import Term

EACH = 1.0  # Seconds for a question.


def established(
    machine: ir.Machine, sizes: Mapping[str, int], seconds: float, workers: int = 1
) -> tuple[Clause, ...]:
    """Those of a machine with the step `tick` that are shown in so many seconds, or none."""
    rows = clauses(machine) if tick_of(machine) else []
    # In a process of its own, as all else that may end it.
    one = [rows] if rows else []
    found = in_order(lambda all_of_them: _kept((machine, sizes), all_of_them, seconds),
                     lambda _, _how: [], one, workers)
    return tuple(rows[i] for places in found for i in places)


def _kept(
    what: tuple[ir.Machine, Mapping[str, int]], rows: Sequence[Clause], seconds: float
) -> list[int]:
    """The places of those that are true in every state."""
    machine, sizes = what
    subject, until = Subject(machine, Options(sizes)), time.perf_counter() + seconds
    names = (*subject.starts, *(row.name for row in machine.transitions))
    cases = [case for case in map(subject.case, names) if isinstance(case, Case)]
    if len(cases) < len(names):
        return []  # Nobody knows what the others do.
    said = [tried(row.said, subject.run(subject.state)) for row in rows]
    left = {i: each for i, each in enumerate(said) if not isinstance(each, NotEncodable)}
    while left:
        lost: set[int] = set()
        for case in cases:
            if time.perf_counter() > until:
                return []
            lost |= _lost(subject, case, (rows, left))
        if not lost:
            return list(left)
        left = {i: each for i, each in left.items() if i not in lost}
    return []


def _lost(
    subject: Subject, case: Case, known: tuple[Sequence[Clause], Mapping[int, Term]]
) -> set[int]:
    """Those that a start or step is not shown to keep, where all of them are true before."""
    rows, left = known
    logic, step = subject.logic, case.step
    facts: tuple[Term, ...] = subject.about_starts()
    if case.before is not None:
        facts = (*subject.about_any(), *left.values())
    facts = (*facts, *case.given, case.within)
    # Of a step that is not seen to its end nothing is known.
    seen = logic.negate(step.excess)
    run = subject.run(step.after)
    goals = {i: tried(rows[i].said, run) for i in left}
    found = {i: goal for i, goal in goals.items() if not isinstance(goal, NotEncodable)}
    asked = {
        i: logic.all((seen, logic.implies(logic.all((step.done, case.bounded)), goal)))
        for i, goal in found.items()
    }
    lost = set(left) - set(found)
    while asked:
        answer = ask(logic, (*facts, logic.negate(logic.all(asked.values()))), EACH)
        if answer.status == "unsat":
            return lost
        no = {
            i for i, goal in asked.items()
            if answer.model is not None and answer.model.truth(logic.negate(goal))
        }
        for i in no or list(asked):
            alone = asked.pop(i)
            if no or ask(logic, (*facts, logic.negate(alone)), EACH).status != "unsat":
                lost.add(i)
    return lost
