"""Timer invariants: the clauses about timers that all starts and steps keep together.

Nothing else is assumed, in particular no declared invariant; so they are known before any of these
is proved. A clause that is not kept is dropped, until the rest is inductive (C. Flanagan,
K. R. M. Leino, "Houdini, an annotation assistant for ESC/Java", 2001).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lawful.spec.lower import Sized
from lawful.spec.values.time import tick_of

from ..smt.algebra.logic import Logic
from ..smt.algebra.term import Term
from ..smt.encode.sorts import NotEncodable, Options
from ..smt.obligations import Case, attempt
from ..smt.solver.budget import Budget, Effort
from ..smt.solver.processes import map_in_order
from ..smt.solver.solve import Answer, ask, script
from ..smt.system import TransitionSystem
from ..smt.timer_clauses import TimerClause, clauses

EACH = 4_000_000  # Units for a question.


def proved_timer_clauses(
    lowered: Sized, effort: Effort, workers: int = 1
) -> tuple[TimerClause, ...]:
    """The clauses of a machine with the step `tick` that this effort proves."""
    rows = clauses(lowered.machine) if tick_of(lowered.machine) else []
    # In a process of its own: Z3 may crash it.
    one = [rows] if rows else []
    found = map_in_order(
        lambda all_of_them: _kept(lowered, all_of_them, effort),
        lambda _, _how: [],
        one,
        workers,
    )
    return tuple(rows[i] for places in found for i in places)


def scripts(lowered: Sized, shown: Sequence[TimerClause]) -> Iterator[tuple[str, str]]:
    """Each start and step, with the question in SMT-LIB 2.6 whether it breaks a clause."""
    system = TransitionSystem(lowered.machine, Options(lowered.sizes))
    terms = [row.term(system.run(system.state)) for row in shown]
    for name in _names(system) if shown else ():
        case = system.case(name)
        if isinstance(case, Case):
            facts, goals = _question(system, case, (shown, dict(enumerate(terms))))
            yield name, script(system.logic, (*facts, _one_is_not(system.logic, goals)))


def _names(system: TransitionSystem) -> tuple[str, ...]:
    return (*system.starts, *(row.name for row in system.machine.transitions))


def _kept(lowered: Sized, rows: Sequence[TimerClause], effort: Effort) -> list[int]:
    """The positions of the clauses that are true in every state."""
    system, budget = TransitionSystem(lowered.machine, Options(lowered.sizes)), effort.begin()
    cases = [system.case(name) for name in _names(system)]
    terms = [attempt(row.term, system.run(system.state)) for row in rows]
    left = {i: each for i, each in enumerate(terms) if not isinstance(each, NotEncodable)}
    while left:
        lost: set[int] = set()
        for case in cases:
            if isinstance(case, NotEncodable):
                return []  # Nothing is known about this case.
            lost |= _lost(system, _question(system, case, (rows, left)), budget)
        lost |= set(left) if budget.over else set()
        if not lost:
            return list(left)
        left = {i: each for i, each in left.items() if i not in lost}
    return []


Goals = Mapping[int, Term]


def _question(
    system: TransitionSystem, case: Case, known: tuple[Sequence[TimerClause], Goals]
) -> tuple[tuple[Term, ...], Goals]:
    """The facts of a start or step, with the clauses before it; and the goal that it keeps each."""
    rows, left = known
    logic, step = system.logic, case.step
    facts: tuple[Term, ...] = system.parameter_facts()
    if case.before is not None:
        facts = (*system.state_facts(), *left.values())
    # Nothing is known about a step beyond the lengths of its encoding.
    seen, goes = logic.negate(step.stopped["excess"]), logic.all((step.done, case.bounded))
    run, goals = system.run(step.after), dict[int, Term]()
    for i in left:
        after = attempt(rows[i].term, run)
        kept = logic.false if isinstance(after, NotEncodable) else logic.implies(goes, after)
        goals[i] = logic.all((seen, kept))
    return (*facts, *case.given, case.within), goals


def _one_is_not(logic: Logic, goals: Goals) -> Term:
    return logic.negate(logic.all(goals.values()))


def _lost(
    system: TransitionSystem, question: tuple[tuple[Term, ...], Goals], budget: Budget
) -> set[int]:
    """The positions of the clauses that are not proved to be kept."""
    facts, asked = question[0], dict(question[1])
    logic, lost = system.logic, set[int]()

    def shown(goals: Goals) -> Answer:
        return ask(logic, (*facts, _one_is_not(logic, goals)), budget.units(EACH))

    while asked:
        answer = shown(asked)
        if answer.status == "unsat":
            return lost
        model = answer.model
        no = [i for i, g in asked.items() if model is not None and model.truth(logic.negate(g))]
        for i in no or list(asked):
            goal = asked.pop(i)
            if no or shown({i: goal}).status != "unsat":
                lost.add(i)
    return lost
