"""Incremental proof search: goals share one solver.

A hypothesis is added only when a candidate model falsifies it.

A hypothesis that a goal does not need makes its search longer, often much. So the search begins
with the few that are likely, and adds those that are false in the model that Z3 returns: until Z3
finds no model, or no hypothesis that is left excludes one. This is the loop of lazy abstraction by
counterexamples (Clarke et al., CAV 2000), over hypotheses.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..algebra.logic import Logic
from ..algebra.term import Term
from . import cache
from .budget import Budget
from .solve import Answer, answered, key, limited
from .z3_terms import Translation, renew, translation, z3

# Settings under which only `unsat` is an answer: quantifiers are instantiated at array reads alone,
# and arrays are not extensional. A search that does not succeed ends soon.
PLAIN: Mapping[str, Any] = {
    "smt.mbqi": False,
    "smt.array.extensional": False,
    "smt.array.weak": True,
}
TURN_UNITS, TURNS = 6_000_000, 3
LONG_UNITS = 1_000_000
NO_HYPOTHESIS = "no hypothesis excludes the candidate model"
# The cache has, for each question, which hypotheses answer it. No hypothesis has this name.
NEEDED = ("its hypotheses",)


class IncrementalSearch:
    """A solver with the facts that several goals share, and hypotheses by name."""

    def __init__(self, logic: Logic, facts: Sequence[Term], named: Mapping[str, Term]) -> None:
        self._logic = logic
        self._facts = facts
        self._named = named
        self._made: tuple[Translation, Any] | None = None
        self._marks: dict[str, Any] = {}
        self._ended: dict[Term, Answer] = {}

    def shown(self, goal: Term, first: Collection[str], budget: Budget) -> Answer:
        """`unsat` where hypotheses prove the goal within the budget, else `unknown`.

        The search begins with the hypotheses called `first`. An answer is kept where the search
        came to its end.
        """
        if goal in self._ended:
            return self._ended[goal]
        known = self._known(goal)
        if known is None:
            known = self._tried(goal, first, budget)
            if known.status == "unsat":
                self._note(goal, known.used)
        if known.status == "unsat" or known.why:
            self._ended[goal] = known
        return known

    def _tried(self, goal: Term, first: Collection[str], budget: Budget) -> Answer:
        """The answer: a search that takes too long is begun again, with another random seed."""
        found = Answer("unknown")
        for turn in range(TURNS):
            own = budget.units(TURN_UNITS)
            if not budget.over:
                found = self._searched(goal, first, own, turn)
            if own.spent > LONG_UNITS:
                self._made = None  # Lemmas of a long search slow the next one down.
            if found.status == "unsat" or found.why:
                break
        return found

    def _searched(self, goal: Term, first: Collection[str], budget: Budget, seed: int) -> Answer:
        """The answer; `why` is set where no hypothesis was left to add."""
        made, solver = self._solver()
        solver.set(random_seed=seed)
        solver.push()
        for fact in self._against(goal):
            solver.add(made(fact))
        had: list[str] = []
        missed = [name for name in self._named if name in first]
        while True:
            for name in missed:
                solver.add(z3.Implies(self._marks[name], made(self._named[name])))
            had += missed
            try:
                with limited(solver, budget):
                    result = solver.check(*(self._marks[name] for name in had))
                if result == z3.unsat:
                    core = solver.unsat_core()
                    solver.pop()
                    used = frozenset(name for name in had if self._marks[name] in core)
                    return Answer("unsat", used=used)
                if result == z3.unknown and not _at_its_end(solver):
                    break
                missed = self._missed(made, solver.model(), had)
            except z3.Z3Exception:
                break
            if not missed:
                solver.pop()
                return Answer("unknown", why=NO_HYPOTHESIS)
        renew(self._logic, sparing=True)
        return Answer("unknown")

    def _missed(self, made: Translation, model: Any, had: Collection[str]) -> list[str]:
        """The hypotheses that are false in the model; if none is, those that it leaves open."""
        values = {
            name: model.eval(made(fact), model_completion=True)
            for name, fact in self._named.items()
            if name not in had
        }
        wrong = [name for name, value in values.items() if z3.is_false(value)]
        return wrong or [name for name, value in values.items() if not z3.is_true(value)]

    def _against(self, goal: Term) -> Iterable[Term]:
        """The negated goal, with an index at which arrays in it differ, if they differ."""
        against = self._logic.negate(goal)
        return (against, *self._logic.sizes((against,)), *_apart(self._logic, against))

    def _solver(self) -> tuple[Translation, Any]:
        # After a search was cut short, its context is not used again.
        if self._made is None or self._made[0] is not translation(self._logic, sparing=True):
            made = translation(self._logic, sparing=True)
            solver = z3.SimpleSolver(ctx=made.context)
            solver.set(**PLAIN)
            sizes = self._logic.sizes((*self._facts, *self._named.values()))
            for fact in (*self._facts, *sizes):
                solver.add(made(fact))
            self._made = made, solver
            self._marks = {n: z3.Bool(f"hypothesis {n}", made.context) for n in self._named}
        return self._made

    # The cache: proofs of earlier runs, perhaps with fewer hypotheses than now.

    def _known(self, goal: Term) -> Answer | None:
        asked = (*self._facts, self._logic.negate(goal))
        names = cache.shown(key(asked, NEEDED))
        if names is None or not names <= self._named.keys():
            return None
        return answered(asked, {name: self._named[name] for name in sorted(names)})

    def _note(self, goal: Term, used: frozenset[str]) -> None:
        asked = (*self._facts, self._logic.negate(goal))
        few = {name: self._named[name] for name in sorted(used)}
        cache.note(key(asked, NEEDED), used)
        cache.note(key((*asked, *few.values()), few), used)


def _apart(logic: Logic, fact: Term) -> Iterator[Term]:
    """For each two arrays that are compared: an index at which they differ, if they do."""
    stack, seen = [fact], {fact}
    while stack:
        each = stack.pop()
        if each.op == "=" and logic.is_container(each.args[0]):
            one, other = each.args
            # Each pair has an index of its own: where one pair differs another may be equal.
            at = logic.const(f"apart {each.digest.hex()}", one.shape.inner[0])
            same = logic.equal(logic.read(one, at), logic.read(other, at))
            yield logic.any((each, logic.negate(same)))
        elif each.op in ("and", "not", "if"):
            stack += [arg for arg in each.args if arg not in seen]
            seen.update(each.args)


def _at_its_end(solver: Any) -> bool:
    """Whether a search without an answer ended by itself and was not cut short."""
    return str(solver.reason_unknown()).startswith("(incomplete")
