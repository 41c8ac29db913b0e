"""Redundant guards: guards implied by the invariants and the guards before them."""

from __future__ import annotations

from collections.abc import Collection

from lawful.spec import ir
from lawful.spec.analysis.growth import universes
from lawful.spec.analysis.walk import everything, statements
from lawful.spec.text.expressions import expr

from ..smt.encode.bounds import pertinent
from ..smt.encode.sorts import NotEncodable
from ..smt.obligations import attempt
from ..smt.solver import cache
from ..smt.solver.budget import Effort
from ..smt.solver.processes import map_in_order
from ..smt.solver.simplify import SimplifiedFacts
from ..smt.solver.solve import ask, known_possible, note_possible
from ..smt.system import TransitionSystem
from .needed_guards import GuardKey
from .result import RedundantGuard

# Units for each guard; a guard that takes more is not reported. Those of the five systems that are
# redundant take at most 20,000. A longer search would find models of the others, for nothing.
EACH = Effort(75_000)


def redundant_guards(
    system: TransitionSystem,
    done: set[str],
    workers: int,
    needed: Collection[GuardKey] = (),
) -> list[RedundantGuard]:
    """The redundant guards of the transitions in `done`, which are known to happen.

    The system may assume only what is proved. Those in `needed` are known not to be redundant: for
    each of them some values make what Z3 would be asked true.
    """
    rows = [row for row in system.machine.transitions if row.name in done]
    if cache.folder() is None:  # Otherwise the cache is told of them.
        rows = [row for row in rows if any((row.name, g.place) not in needed for g in guards(row))]

    def found(row: ir.Transition) -> list[RedundantGuard]:
        refusals = attempt(_refusals, system, row, needed)
        return [] if isinstance(refusals, NotEncodable) else refusals

    def nothing(_row: ir.Transition, _how: str) -> list[RedundantGuard]:
        return []

    return [each for row in map_in_order(found, nothing, rows, workers) for each in row]


def guards(row: ir.Transition) -> list[ir.Require]:
    """The guards in the body of a transition, but not in what it calls."""
    return [s for s in statements(row.function.body) if isinstance(s, ir.Require)]


def _refusals(
    system: TransitionSystem, row: ir.Transition, needed: Collection[GuardKey]
) -> list[RedundantGuard]:
    with system.logic.counting(f"{row.name}.guards"):
        case, run = system.step(row), system.run(system.state)
        run.step(row, {name: value for name, (value, _) in case.args.items()})
    facts = (*system.facts(), *case.given)
    found: list[RedundantGuard] = []
    universe = {v.name for _, v in universes(system.machine)}
    for guard in guards(row):
        is_needed = (row.name, guard.place) in needed
        if is_needed and cache.folder() is None:
            continue
        if any(isinstance(n, ir.Field) and n.name in universe for n in everything((guard.test,))):
            continue  # No declaration has it.
        where = system.logic.any(s.when for s in run.stops if s.node is guard)
        asked = pertinent(system.encoding, (*facts, where))
        refused = SimplifiedFacts(system.logic, asked, {}).facts
        if known_possible(refused):
            continue
        if is_needed:
            note_possible(refused)
            continue
        answer = ask(system.logic, refused, EACH.begin())
        if answer.status == "unsat":
            found.append(RedundantGuard(row.name, guard.place, expr(guard.test)))
        elif answer.status == "sat":
            note_possible(refused)
    return found
