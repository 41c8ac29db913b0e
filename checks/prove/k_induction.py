"""K-induction: a property that is true in k consecutive states is true in the next one.

(M. Sheeran, S. Singh, G. Stalmarck, "Checking safety properties using induction and a SAT-solver",
2000.) It is tried for what induction over one step leaves open: the properties that are true in all
runs of fewer than k events are assumed together in k states, and those that do not follow are taken
back.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial

from ..smt.algebra.term import Term
from ..smt.encode.sorts import NotEncodable, Options
from ..smt.obligations import attempt
from ..smt.solver.budget import ENDLESS, Budget, Effort
from ..smt.solver.processes import map_with_shares
from ..smt.solver.solve import ask
from ..smt.system import TransitionSystem
from ..verdict import Verdict
from .bounded import Runs, searched
from .induction import Induction
from .result import Obligation, PropertyProof
from .unrolling import Run

Key = tuple[str, str]


def _whole(p: PropertyProof, k: int) -> bool:
    """Whether all runs of fewer than k events were examined."""
    return p.verdict is Verdict.BOUNDED and p.events is not None and p.events >= k - 1


@dataclass(frozen=True)
class Goal:
    """The goal at the end of a run, and the invariants of the states before it, by name."""

    facts: tuple[Term, ...]
    invariants: Mapping[str, tuple[Term, ...]]
    goal: Term


class KInduction:
    """The open obligations of an induction, over k steps."""

    def __init__(self, induction: Induction, effort: Effort) -> None:
        self.induction, self.effort = induction, effort
        self.system = TransitionSystem(
            induction.machine,
            Options(induction.lowered.sizes),
            timer_clauses=induction.timer_clauses,
        )
        self.goals: dict[Key, Goal | NotEncodable] = {}
        self.budget = ENDLESS.begin()

    def show(
        self,
        obligations: list[Obligation],
        depth: int,
        tell: Callable[[str], None] | None,
        altogether: Effort = ENDLESS,
    ) -> list[Obligation]:
        """The obligations, with those proved that follow from at most `depth` steps.

        `altogether` limits the effort for all of them.
        """
        self.budget = altogether.begin()
        for k in range(2, depth + 1):
            open = [o for o in obligations if not o.verdict.good]
            if not open:
                break
            if tell is not None:
                tell(f"{len(open)} obligations over {k} steps")
            names = {o.property for o in open}
            shown = self._shown(self._right(names, k), open, k)
            obligations = [shown.get((o.obligation, o.property), o) for o in obligations]
        late = self.budget.struck
        return [o if o.verdict.good else replace(o, note=f"{o.note}{late}") for o in obligations]

    def _right(self, names: Collection[str], k: int) -> set[str]:
        """Which of these properties are true in all runs of fewer than k events."""
        runs = Runs(k - 1, self.effort, self.budget, self.induction.workers)
        found = searched(self.induction.lowered, names, runs)
        return {p.name for p in found if p.verdict.good or _whole(p, k)}

    def _shown(
        self, tried_now: set[str], open: Collection[Obligation], k: int
    ) -> dict[Key, Obligation]:
        """The properties that follow, and those that are proved already."""
        known = set(self.system.hypotheses) - {o.property for o in open}
        names = [o.property for o in open if o.property in tried_now]
        rows: dict[str, list[Obligation]]
        rows = {name: [o for o in open if o.property == name] for name in names}
        self._encode([o for some in rows.values() for o in some], k)
        while rows:
            asked = partial(self._asked, k=k, assumed=known | {*rows})
            every = [*rows.values()]
            found = map_with_shares(asked, _lost, every, self.induction.workers, self.budget)
            if all(found):
                return {(o.obligation, o.property): o for some in found for o in some}
            lost = {name for name, some in zip(rows, found, strict=True) if not some}
            rows = {name: some for name, some in rows.items() if name not in lost}
        return {}

    def _encode(self, open: Collection[Obligation], k: int) -> None:
        """Encode the goals, once for all processes."""
        for o in open:
            if o.obligation not in self.system.starts:
                key = o.obligation, o.property
                self.goals[key] = attempt(self._goal, *key, k)

    def _asked(
        self, open: Collection[Obligation], budget: Budget, k: int, assumed: Collection[str]
    ) -> list[Obligation]:
        """The obligations of one property, proved; none if one of them is not."""
        shown: list[Obligation] = []
        for o in open:
            found = self._ask(o, budget, k, assumed)
            if found is None:
                return []
            shown.append(found)
        return shown

    def _ask(
        self, o: Obligation, budget: Budget, k: int, assumed: Collection[str]
    ) -> Obligation | None:
        """The obligation, proved; None where it does not follow or is not decided."""
        proved = Verdict.PROVED_WITHIN if self.induction.within else Verdict.PROVED
        shown = replace(o, verdict=proved, counterexample=None, note="", depth=k)
        if o.obligation in self.system.starts:
            return shown  # All runs of fewer events begin with a start.
        began = time.perf_counter()
        asked = self.goals[o.obligation, o.property]
        if isinstance(asked, NotEncodable):
            return None
        logic = self.system.logic
        named = {n: logic.all(h) for n, h in asked.invariants.items() if n in assumed}
        facts = (*asked.facts, logic.negate(asked.goal))
        own = budget.part(self.effort)
        answer = ask(logic, facts, own, named)
        if answer.status != "unsat":
            return None
        seconds = o.seconds + time.perf_counter() - began
        units = o.units + own.spent
        return replace(shown, seconds=seconds, units=units, uses=answer.used, cached=answer.cached)

    def _goal(self, case: str, name: str, k: int) -> Goal:
        """The goal that a run of k steps, the last one of this case, keeps the property."""
        system, logic = self.system, self.system.logic
        contested = name == "ambiguous" and case in system.contested
        run = Run(system, started=False)
        invariants = {n: [h] for n, h in system.assumed.items()}
        facts = [*run.facts]
        for _ in range(k - 1):
            run.extend()
            facts.append(run.links[-1].goes)
            for n, seen in invariants.items():
                seen.append(system.always(system.properties[n], run.states[-1]))
        if contested:
            goal = logic.negate(run.contested(case))
        else:
            run.extend(case)
            goal = self._kept(run, name)
        return Goal(tuple(facts), {n: tuple(h) for n, h in invariants.items()}, goal)

    def _kept(self, run: Run, name: str) -> Term:
        """The condition that the last step of a run keeps the property."""
        logic, link = self.system.logic, run.links[-1]
        seen = logic.negate(link.faults["excess"])
        if name in link.faults:
            return logic.all((seen, logic.negate(link.faults[name])))
        j = self.system.properties[name]
        states = run.states[-1:] if j.row.kind == "invariant" else run.states[-2:]
        return logic.all((seen, logic.implies(link.goes, self.system.always(j, *states))))


def _lost(_open: Collection[Obligation], _how: str) -> list[Obligation]:
    return []
