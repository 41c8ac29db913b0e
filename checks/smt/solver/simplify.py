"""A question made smaller before Z3 sees it: by cases of what is finite, and by what is known.

What the facts say outright - a condition, or that a term is some value - is put into all other
facts and into the goals. What a step does not touch is then, word for word, what was assumed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod

from lawful.checks.smt.algebra.logic import Logic
from lawful.checks.smt.algebra.term import Term, conjuncts, is_fixed

MOST_CASES = 16
ROUNDS = 3  # What is put in makes more of what is known; this often is looked for it.


def cases(logic: Logic, names: Iterable[Term]) -> Iterator[list[tuple[Term, Term]]]:
    """What each of these constants can be, where that is one of a few values."""
    few: list[Term] = []
    for name in names:
        if name.op == "constant" and logic.values(name.shape):
            sizes = [len(logic.values(each.shape)) for each in (*few, name)]
            few += [name] if prod(sizes) <= MOST_CASES else []
    for values in product(*(logic.values(name.shape) for name in few)):
        yield list(zip(few, values, strict=True))


class SimplifiedFacts:
    """Facts, and those with names, where constants are some values, with what is known put in."""

    def __init__(
        self,
        logic: Logic,
        facts: Sequence[Term],
        named: Mapping[str, Term],
        put: Sequence[tuple[Term, Term]] = (),
    ) -> None:
        kept, told = [logic.equal(name, value) for name, value in put], list(put)
        left, named = list(facts), dict(named)
        self._known: list[Callable[[Term], Term]] = []
        self._true = logic.true
        for _ in range(ROUNDS):
            known = logic.putting(told)
            self._known.append(known)
            left = [part for fact in left for part in conjuncts(known(fact))]
            named = {name: known(fact) for name, fact in named.items()}
            found = [fact for fact in dict.fromkeys(left) if _is_told(fact)]
            kept += found
            left = [f for f in dict.fromkeys(left) if not _is_told(f) and f is not logic.true]
            told = [pair for fact in found for pair in _known(logic, fact)]
            if not told:
                break
        self.facts = (*kept, *left)
        self.named: Mapping[str, Term] = named

    def goals(self, goals: Iterable[Term], own: str) -> tuple[Term, ...]:
        """What is left to be shown of the goals: a part of the hypothesis `own` is known."""
        for known in self._known:
            goals = [part for goal in goals for part in conjuncts(known(goal))]
        had = {self._true, *conjuncts(self.named.get(own, self._true))}
        return tuple(goal for goal in dict.fromkeys(goals) if goal not in had)


def _is_told(fact: Term) -> bool:
    """Whether it is one condition, or that it is not true: no choice of several."""
    plain = fact.args[0] if fact.op == "not" else fact
    return plain.op not in ("and", "if", "true", "false", "forall")


def _known(logic: Logic, fact: Term) -> Iterator[tuple[Term, Term]]:
    """What terms are, where this is true."""
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
