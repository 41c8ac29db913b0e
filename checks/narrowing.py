"""A question made smaller before Z3 sees it: by cases of what is finite, and by what is known.

What the facts say outright - a condition, or that a term is some value - is put into all other
facts and into the goals. What a step does not touch is then, word for word, what was assumed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from .logic import Logic
from .term import Term, conjuncts, is_fixed

MOST_CASES = 16
ROUNDS = 3  # What is put in makes more of what is known; this often is looked for it.


@dataclass(frozen=True)
class Narrow:
    """Facts, those with names, and goals."""

    facts: tuple[Term, ...]
    named: Mapping[str, Term]
    goals: tuple[Term, ...]


def cases(logic: Logic, names: Iterable[Term]) -> Iterator[list[tuple[Term, Term]]]:
    """What each of these constants can be, where that is one of a few values."""
    few: list[Term] = []
    for name in names:
        if name.op == "constant" and logic.values(name.shape):
            sizes = [len(logic.values(each.shape)) for each in (*few, name)]
            few += [name] if prod(sizes) <= MOST_CASES else []
    for values in product(*(logic.values(name.shape) for name in few)):
        yield list(zip(few, values, strict=True))


def narrowed(logic: Logic, whole: Narrow, own: str, put: Sequence[tuple[Term, Term]]) -> Narrow:
    """The question where the constants are these values, with what is known put in; a goal that is
    a part of the hypothesis of the name `own` is left out."""
    kept, told = [logic.equal(name, value) for name, value in put], list(put)
    facts, named, goals = list(whole.facts), dict(whole.named), list(whole.goals)
    for _ in range(ROUNDS):
        known = logic.putting(told)
        facts = [part for fact in facts for part in conjuncts(known(fact))]
        named = {name: known(fact) for name, fact in named.items()}
        goals = [part for goal in goals for part in conjuncts(known(goal))]
        found = [fact for fact in dict.fromkeys(facts) if _is_told(fact)]
        kept += found
        facts = [f for f in dict.fromkeys(facts) if not _is_told(f) and f is not logic.true]
        told = [pair for fact in found for pair in _known(logic, fact)]
        if not told:
            break
    had = {logic.true, *conjuncts(named.get(own, logic.true))}
    left = [goal for goal in dict.fromkeys(goals) if goal not in had]
    return Narrow((*kept, *facts), named, tuple(left))


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
