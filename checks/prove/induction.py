"""Induction with Z3: an invariant holds at the start, and every step keeps all of them together.

Each (case, property) is an obligation of its own: proved, unknown, or refuted by values. A start
that is refuted is a violation. A refuted step is a *counterexample to induction*: its state obeys
all invariants, but may be unreachable.

`counterexamples` seeks the values, `vacuity` takes back what is proved of steps that cannot happen.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import groupby
from operator import attrgetter

from lawful.spec.ir import Json
from lawful.spec.lower import Sized
from lawful.spec.verdicts import FAULTS

from ..smt.algebra.term import Term
from ..smt.encode.sorts import NotEncodable, Options
from ..smt.obligations import Case, Question, attempt
from ..smt.solver.budget import USUAL, Budget, Effort
from ..smt.solver.incremental import IncrementalSearch
from ..smt.solver.processes import map_in_order
from ..smt.solver.simplify import SimplifiedFacts, cases
from ..smt.solver.small_models import preferences
from ..smt.solver.solve import (
    Answer,
    ask,
    preferred_model,
    script,
)
from ..smt.system import TransitionSystem
from ..verdict import Verdict
from .counterexamples import PREFERRED_UNITS, QUICK_UNITS, Counterexamples, against
from .result import AT_START, ENDED, TO_INDUCTION, UNSEEN, Obligation
from .scope_text import covers
from .timer_invariants import proved_timer_clauses

NOT_CONFIRMED = "refuted, but perhaps only by parameters that are not allowed"
FIRST = 0.6  # The share of an obligation's budget for the proof, before models are sought.
AGAIN = 0.5  # The share that it has when it is asked again without a dropped invariant,
LOST = 0.05  # and when its property is lost already.


Ready = list[tuple[SimplifiedFacts, IncrementalSearch]]


class Induction:
    """The obligations of one machine, and the search for their proofs."""

    def __init__(
        self,
        lowered: Sized,
        effort: Effort = USUAL,
        workers: int = 1,
    ) -> None:
        self.lowered = lowered
        self.machine = lowered.machine
        self.effort = effort  # For each obligation.
        self.workers = workers
        self.covers, self.within = covers(lowered)
        self.timer_clauses = proved_timer_clauses(lowered, self.effort, workers)
        self.exact = TransitionSystem(
            self.machine, Options(lowered.sizes), timer_clauses=self.timer_clauses
        )
        self.examples = Counterexamples(self.exact, lowered.sizes, self.effort, self.timer_clauses)
        rows, of_ignores = self.machine.transitions, self.machine.is_of_ignores
        self.steps = [row.name for row in rows if not of_ignores(row)]
        self.of_ignores = [row.name for row in rows if of_ignores(row)]
        self.vacuous: Mapping[str, str] = {}
        self._asked_last: tuple[tuple[str, tuple[Term, ...]], Ready] = ("", ()), []

    def questions(self) -> Iterator[tuple[str, str]]:
        """Every (case, property), in the order of the declaration."""
        built_in = [n for n in FAULTS if n != "ambiguous" or self.machine.parts]
        contested = self.exact.contested
        invariants = [j.name for j in self.exact.of_kind("invariant")]
        invariants += [j.name for j in self.exact.of_kind("refines")]
        over_steps = [j.name for j in self.exact.of_kind("step_property")]
        for case in self.exact.starts:
            yield from ((case, name) for name in (*built_in, *invariants))
        for case in self.steps:
            for name in (*built_in, *invariants, *over_steps):
                if name != "ambiguous" or case not in contested:
                    yield case, name
        yield from ((event, "ambiguous") for event in contested)
        # They end in a fault or a refusal, and in no state.
        yield from ((case, name) for case in self.of_ignores for name in built_in)

    def prepare(self) -> None:
        """Encode all starts and steps, once for all processes."""
        for name in (*self.exact.starts, *self.steps, *self.of_ignores):
            self.exact.case(name)

    def begin(self) -> None:
        """Drop the solvers of the last case: answers must not depend on earlier cases."""
        self._asked_last = ("", ()), []

    def answer(self, name: str, property: str) -> Obligation:
        """Try one obligation."""
        began, budget = time.perf_counter(), self.effort.begin()
        found = self._answer(self._open(name, property), budget)
        if found.verdict is Verdict.PROVED and self.within:
            found = replace(found, verdict=Verdict.PROVED_WITHIN)
        return replace(found, seconds=time.perf_counter() - began, units=budget.spent)

    def cut_short(self, name: str, property: str, how: str) -> Obligation:
        """The obligation, open because its process ended."""
        return _cut_short(self._open(name, property), how)

    def _open(self, name: str, property: str) -> Obligation:
        return Obligation(property, name, Verdict.UNKNOWN, self.covers, 0.0)

    def _answer(self, open: Obligation, budget: Budget) -> Obligation:
        name, property = open.obligation, open.property
        case = self.exact.case(name, property)
        if isinstance(case, NotEncodable):
            return replace(open, note=f"not encodable: {case}")
        question = attempt(self.exact.question, case, property)
        if isinstance(question, NotEncodable):
            return replace(open, note=f"not encodable: {question}")
        first = budget.units(FIRST * budget.left)
        answer = self._asked((case, property), question, first, QUICK_UNITS)
        found = None
        if answer.status != "unsat":
            found = self.examples.small(name, property, budget.units(budget.left / 2))
            if found is None and answer.status == "unknown" and not budget.over:
                answer = self._refute((case, property), question, budget, budget.left)
        if answer.status == "unsat":
            kept = answer.cached
            return replace(open, verdict=Verdict.PROVED, uses=answer.used, cached=kept)
        if found is None and answer.model is not None:
            facts, more = against(self.exact, question), preferences(self.exact, case)
            near = preferred_model(self.exact.logic, facts, more, budget.units(PREFERRED_UNITS))
            found = self.examples.as_json(
                self.exact, case, property, near if near.model else answer
            )
        if found is None:
            why = answer.why or "the counterexample is infinite"
            return replace(open, note=f"Z3 does not decide it: {why}")
        if found["label"] == UNSEEN:
            return replace(open, note=UNSEEN)
        return self._failed(open, case, found)

    def _failed(self, open: Obligation, case: Case, example: Mapping[str, Json]) -> Obligation:
        """A refuted obligation: a violation of a start, a counterexample to induction of a step."""
        if case.before is not None:
            left = [n for n, h in self.exact.hypotheses.items() if isinstance(h, NotEncodable)]
            more = f"; not assumed, being not encodable: {', '.join(left)}" if left else ""
            return replace(open, counterexample=example, note=f"{TO_INDUCTION}{more}")
        if self.exact.lost:
            why = f"{NOT_CONFIRMED}: {', '.join(self.exact.lost)} not encodable"
            return replace(open, note=why)
        undefined = open.property == "undefined" or example.get("undefined") is True
        verdict = Verdict.UNDEFINED if undefined else Verdict.VIOLATED
        return replace(open, verdict=verdict, counterexample=example, note=AT_START)

    def script(self, name: str, property: str) -> str | None:
        """The obligation in SMT-LIB 2.6, unsatisfiable if it holds; None where it has no encoding.

        Dropped invariants are not assumed, as in `answer`.
        """
        case = self.exact.case(name, property)
        question = attempt(self.exact.question, case, property) if isinstance(case, Case) else case
        if isinstance(question, NotEncodable):
            return None
        return script(self.exact.logic, against(self.exact, question))

    def _asked(
        self, about: tuple[Case, str], question: Question, budget: Budget, full: float
    ) -> Answer:
        """The answer; that of the stronger question if it is `unsat`."""
        nearer = self.exact.nearer(*about)
        answer = Answer("unknown") if nearer is None else self._refute(about, nearer, budget, full)
        return answer if answer.status == "unsat" else self._refute(about, question, budget, full)

    def _refute(
        self, about: tuple[Case, str], question: Question, budget: Budget, full: float
    ) -> Answer:
        """Values that make the facts true and some goal false, goal by goal; or `unsat`.

        `full` limits the units of a search with all hypotheses.
        """
        used = set[str]()
        worst_answer, asked, cached = Answer("unsat"), 0, 0
        case, property = about
        own = property if case.before is not None else ""
        for each, standing in self._narrowed(case, question.facts):
            for goal in each.goals(question.goals, own):
                found = standing.shown(goal, {property, *used}, budget)
                if found.status != "unsat":
                    facts = (*each.facts, self.exact.logic.negate(goal))
                    found = ask(self.exact.logic, facts, budget.units(full), each.named)
                used |= found.used
                if found.status == "sat":
                    return found
                asked, cached = asked + 1, cached + found.cached
                worst_answer = found if found.status == "unknown" else worst_answer
        return replace(worst_answer, used=frozenset(used), cached=0 < asked == cached)

    def _narrowed(self, case: Case, facts: tuple[Term, ...]) -> Ready:
        """The facts by cases of the arguments, simplified, each with a solver.

        Consecutive properties of one case share them.
        """
        if self._asked_last[0] != (case.name, facts):
            given = set(facts)
            named = {n: h for n, h in self.exact.assumed.items() if h in given}
            tracked = set(named.values())
            others = tuple(fact for fact in facts if fact not in tracked)
            names = [v for v, _ in case.args.values() if isinstance(v, Term)]
            put = cases(self.exact.logic, names)
            some = [SimplifiedFacts(self.exact.logic, others, named, each) for each in put]
            found = [(n, IncrementalSearch(self.exact.logic, n.facts, n.named)) for n in some]
            self._asked_last = (case.name, facts), found
        return self._asked_last[1]

    def sift(self, obligations: list[Obligation]) -> list[Obligation]:
        """Reopen the proofs that used an unproved invariant, until no proof does."""
        dropped = self.exact.dropped
        while True:
            lost = {o.property for o in obligations if not o.verdict.good}
            good = {o.property for o in obligations} - lost
            failed = [h for h in self.exact.hypotheses if h not in good and h not in dropped]
            if not failed:
                return obligations
            dropped.update(failed)
            leaning = [o for o in obligations if o.verdict.good and o.uses & dropped]
            cases = [list(rows) for _, rows in groupby(leaning, key=attrgetter("obligation"))]
            without = partial(self._of_case_without, lost)
            found = map_in_order(without, _all_cut_short, cases, self.workers)
            changed = {(o.obligation, o.property): o for rows in found for o in rows}
            obligations = [changed.get((o.obligation, o.property), o) for o in obligations]

    def _of_case_without(
        self, lost: Collection[str], obligations: list[Obligation]
    ) -> list[Obligation]:
        self.begin()
        return [self._without(lost, o) for o in obligations]

    def _without(self, lost: Collection[str], obligation: Obligation) -> Obligation:
        """The obligation, asked again without the dropped invariants.

        It seldom holds without them, so its budget is smaller; smallest where its property has
        failed already.
        """
        gone = obligation.uses & self.exact.dropped
        part = LOST if obligation.property in lost else AGAIN
        case = self.exact.case(obligation.obligation, obligation.property)
        assert not isinstance(case, NotEncodable)
        question = self.exact.question(case, obligation.property)
        began, budget = time.perf_counter(), self.effort.times(part).begin()
        answer = self._asked((case, obligation.property), question, budget, budget.left)
        seconds, units = time.perf_counter() - began, obligation.units + budget.spent
        again = replace(obligation, seconds=obligation.seconds + seconds, units=units)
        if answer.status == "unsat":
            kept = obligation.cached and answer.cached
            return replace(again, uses=answer.used, cached=kept)
        return replace(
            again,
            verdict=Verdict.UNKNOWN,
            cached=False,
            note=f"holds only with invariants that are not proved: {', '.join(sorted(gone))}"
            f"{budget.struck}",
        )


def _cut_short(obligation: Obligation, how: str) -> Obligation:
    """The obligation, open: Z3 ended the process that searched."""
    return replace(obligation, verdict=Verdict.UNKNOWN, cached=False, note=f"{ENDED} ({how})")


def _all_cut_short(obligations: list[Obligation], how: str) -> list[Obligation]:
    return [_cut_short(o, how) for o in obligations]
