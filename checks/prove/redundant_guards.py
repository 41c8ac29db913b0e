"""Guards that never refuse: they follow from the invariants and from the guards before them."""

from __future__ import annotations

from lawful.checks.smt.encode.bounds import pertinent
from lawful.checks.smt.encode.sorts import NotEncodable
from lawful.checks.smt.obligations import tried
from lawful.checks.smt.solver.budget import Effort
from lawful.checks.smt.solver.processes import in_order
from lawful.checks.smt.solver.simplify import Narrowed
from lawful.checks.smt.solver.solve import ask, known_possible, note_possible
from lawful.checks.smt.system import Subject
from lawful.spec import ir
from lawful.spec.analysis.walk import statements
from lawful.spec.text.expressions import expr

from .result import Needless

EACH = Effort(300_000)  # For each guard: what is not decided at once is not called needless.


def needless(subject: Subject, done: set[str], workers: int) -> list[Needless]:
    """The needless guards of transitions that can happen, `done`; only what is proved may be
    assumed by the subject."""
    rows = [row for row in subject.machine.transitions if row.name in done]

    def found(row: ir.Transition) -> list[Needless]:
        refusals = tried(_refusals, subject, row)
        return [] if isinstance(refusals, NotEncodable) else refusals

    def nothing(_row: ir.Transition, _how: str) -> list[Needless]:
        return []

    return [each for row in in_order(found, nothing, rows, workers) for each in row]


def _refusals(subject: Subject, row: ir.Transition) -> list[Needless]:
    with subject.logic.counting(f"{row.name}.guards"):
        case, run = subject.step(row), subject.run(subject.state)
        run.step(row, {name: value for name, (value, _) in case.args.items()})
    facts = (*subject.facts(), *case.given)
    found: list[Needless] = []
    for guard in (s for s in statements(row.function.body) if isinstance(s, ir.Require)):
        where = subject.logic.any(s.when for s in run.stops if s.node is guard)
        asked = pertinent(subject.encoding, (*facts, where))
        refused = Narrowed(subject.logic, asked, {}).facts
        if known_possible(refused):
            continue
        answer = ask(subject.logic, refused, EACH.begin())
        if answer.status == "unsat":
            found.append(Needless(row.name, guard.place, expr(guard.test)))
        elif answer.status == "sat":
            note_possible(refused)
    return found
