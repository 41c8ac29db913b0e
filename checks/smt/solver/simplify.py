"""Simplification before Z3 sees a question: by cases of finite arguments, and by substitution.

A fact that is a single condition, or that gives a term a value, is substituted in all other facts
and in the goals. A goal about what a step does not change then becomes one of the assumptions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod

from ..algebra.logic import Logic
from ..algebra.term import Term, conjuncts, is_fixed

MOST_CASES = 16
ROUNDS = 3  # A substitution may yield more such facts: the number of passes.


def cases(logic: Logic, names: Iterable[Term]) -> Iterator[list[tuple[Term, Term]]]:
    """The combinations of values of those constants that have few values."""
    few: list[Term] = []
    for name in names:
        if name.op == "constant" and logic.values(name.shape):
            sizes = [len(logic.values(each.shape)) for each in (*few, name)]
            few += [name] if prod(sizes) <= MOST_CASES else []
    for values in product(*(logic.values(name.shape) for name in few)):
        yield list(zip(few, values, strict=True))


class SimplifiedFacts:
    """Facts and named hypotheses, with constants fixed and with what is known substituted."""

    def __init__(
        self,
        logic: Logic,
        facts: Sequence[Term],
        named: Mapping[str, Term],
        put: Sequence[tuple[Term, Term]] = (),
    ) -> None:
        kept, equations = [logic.equal(name, value) for name, value in put], list(put)
        left, named = list(facts), dict(named)
        self._known: list[Callable[[Term], Term]] = []
        self._true = logic.true
        for _ in range(ROUNDS):
            known = logic.putting(equations)
            self._known.append(known)
            left = [part for fact in left for part in conjuncts(known(fact))]
            named = {name: known(fact) for name, fact in named.items()}
            found = [fact for fact in dict.fromkeys(left) if _is_condition(fact)]
            kept += found
            left = [f for f in dict.fromkeys(left) if not _is_condition(f) and f is not logic.true]
            equations = [pair for fact in found for pair in _known(logic, fact)]
            if not equations:
                break
        self.facts = (*kept, *left)
        self.named: Mapping[str, Term] = named

    def goals(self, goals: Iterable[Term], own: str) -> tuple[Term, ...]:
        """The conjuncts of the goals that remain to be proved, given the hypothesis `own`."""
        for known in self._known:
            goals = [part for goal in goals for part in conjuncts(known(goal))]
        had = {self._true, *conjuncts(self.named.get(own, self._true))}
        return tuple(goal for goal in dict.fromkeys(goals) if goal not in had)


def _is_condition(fact: Term) -> bool:
    """Whether it is one condition or its negation, and not a combination of several."""
    plain = fact.args[0] if fact.op == "not" else fact
    return plain.op not in ("and", "if", "true", "false", "forall")


def _known(logic: Logic, fact: Term) -> Iterator[tuple[Term, Term]]:
    """The terms whose values this fact gives, with these values."""
    if fact.op == "not":
        yield fact.args[0], logic.false
        return
    yield fact, logic.true
    if fact.op == "=" and is_fixed(fact.args[1]):
        yield fact.args[0], fact.args[1]
    elif fact.op == "is":
        (of,) = fact.args
        for test in logic.tests(of):
            if test is not fact and test.op == "is":
                yield test, logic.false
