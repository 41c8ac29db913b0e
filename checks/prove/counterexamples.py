"""Counterexamples: sought among small integers, confirmed in the exact encoding, shown as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from lawful.spec.ir import Json

from ..smt.algebra.term import Term
from ..smt.encode.bounds import pertinent
from ..smt.encode.sorts import NotEncodable, Options
from ..smt.obligations import Case, Fixed, Question, attempt
from ..smt.solver.budget import Budget, Effort
from ..smt.solver.models import Witness
from ..smt.solver.small_models import preferences
from ..smt.solver.solve import Answer, ask, preferred_model
from ..smt.system import TransitionSystem
from ..smt.timer_clauses import TimerClause
from .result import AT_START, TO_INDUCTION, UNSEEN

WINDOW = range(-1, 5)  # The integers among which models are sought.
QUICK_UNITS = 6_000_000
PREFERRED_UNITS = 6_000_000


class Counterexamples:
    """Seeks models of the questions about one machine, whose exact encoding is `exact`."""

    def __init__(
        self,
        exact: TransitionSystem,
        sizes: Mapping[str, int],
        effort: Effort,
        timer_clauses: Sequence[TimerClause],
    ) -> None:
        self.exact, self.sizes, self.effort = exact, sizes, effort
        self.timer_clauses = timer_clauses

    @cached_property
    def _windowed(self) -> TransitionSystem:
        """The machine within the window of integers, where Z3 finds models fast."""
        options = Options(self.sizes, WINDOW)
        system = TransitionSystem(self.exact.machine, options, timer_clauses=self.timer_clauses)
        system.dropped = self.exact.dropped
        return system

    def small(self, name: str, property: str, budget: Budget) -> dict[str, Json] | None:
        """A counterexample with small integers, as JSON; None where none is found and confirmed."""

        def question(system: TransitionSystem, case: Case) -> tuple[Term, ...]:
            return against(system, system.question(case, property))

        confirmed = self.search(name, property, question, budget, small=True)
        if confirmed is None:
            return None
        system, case, answer = confirmed
        return self.as_json(system, case, property, answer)

    def search(
        self,
        name: str,
        property: str,
        facts: Callable[[TransitionSystem, Case], tuple[Term, ...]],
        budget: Budget,
        *,
        small: bool = False,
    ) -> tuple[TransitionSystem, Case, Answer] | None:
        """Values that make these facts true for a case: found in the window, confirmed exactly.

        With `small`, those close to the start are preferred.
        """
        system = self._windowed
        case = system.case(name, property)
        if isinstance(case, NotEncodable):
            return None
        asked = attempt(facts, system, case)
        if isinstance(asked, NotEncodable):
            return None
        answer = ask(system.logic, asked, budget)
        if answer.model is None:
            return None
        if small:
            some = budget.units(min(PREFERRED_UNITS, budget.left / 2))
            near = preferred_model(system.logic, asked, preferences(system, case), some)
            found = self._confirmed((name, property), (system, case, near), facts, budget)
            if found is not None:
                return found
        return self._confirmed((name, property), (system, case, answer), facts, budget)

    def _confirmed(
        self,
        about: tuple[str, str],
        found: tuple[TransitionSystem, Case, Answer],
        facts: Callable[[TransitionSystem, Case], tuple[Term, ...]],
        budget: Budget,
    ) -> tuple[TransitionSystem, Case, Answer] | None:
        """The same values in the exact encoding; None where they are not a model there."""
        (name, property), (system, case, answer) = about, found
        if answer.model is None:
            return None
        fixed, _, _ = system.values_of(case, Witness(system.encoding, answer.model))
        exact = self._put_in(fixed)
        again = exact.case(name, property)
        if isinstance(again, NotEncodable):
            return None
        confirmed = ask(exact.logic, facts(exact, again), budget)
        return (exact, again, confirmed) if confirmed.model is not None else None

    def as_json(
        self, system: TransitionSystem, case: Case, property: str, answer: Answer
    ) -> dict[str, Json] | None:
        """The counterexample as JSON; None where a value in it is infinite."""
        assert answer.model is not None
        witness = Witness(system.encoding, answer.model)
        fixed, after, output = system.values_of(case, witness)
        if witness.infinite:
            return None
        if witness.model.truth(case.step.stopped["excess"]):
            return {"label": UNSEEN}
        reached = witness.model.truth(case.step.done)
        out: dict[str, Json] = {
            "label": AT_START if case.before is None else TO_INDUCTION,
            "parameters": dict(fixed.parameters),
            "state": None if case.before is None else dict(fixed.state),
            "event": case.event,
            "transition": case.name,
            "args": dict(fixed.args),
            "after": after if reached else None,
            "output": output if reached else None,
        }
        partial = reached and system.undefined(case, property) is not system.logic.false
        if partial and self._undefined(fixed, case.name, property):
            out["undefined"] = True
        return out

    def _undefined(self, fixed: Fixed, name: str, property: str) -> bool:
        """Whether the property has no value after a case with these values."""
        system = self._put_in(fixed)
        case = system.case(name, property)
        if isinstance(case, NotEncodable):
            return False
        facts = (*system.happens(case), system.undefined(case, property))
        return ask(system.logic, facts, self.effort.begin().units(QUICK_UNITS)).model is not None

    def _put_in(self, fixed: Fixed) -> TransitionSystem:
        """The exact encoding with these fixed values."""
        options = Options(self.sizes)
        system = TransitionSystem(self.exact.machine, options, fixed, self.timer_clauses)
        system.dropped = self.exact.dropped
        return system


def against(system: TransitionSystem, question: Question) -> tuple[Term, ...]:
    """The facts, and the condition that one of the goals is false."""
    against = system.logic.negate(system.logic.all(question.goals))
    return pertinent(system.encoding, (*question.facts, against))
