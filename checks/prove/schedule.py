"""The obligations of an induction, spread over processes; a crash costs one answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter

from ..smt.algebra.term import Term
from ..smt.encode.sorts import NotEncodable
from ..smt.obligations import Case
from ..smt.solver.processes import map_unordered
from .induction import Induction
from .result import Obligation

ObligationKey = tuple[str, str]  # The names of a case and of a property.


def in_turn(induction: Induction, asked: Sequence[ObligationKey]) -> list[Obligation]:
    """Try each obligation; the results in the order of the obligations."""
    found = {(o.obligation, o.property): o for o in answers(induction, asked)}
    return [found[row] for row in asked]


def answers(induction: Induction, asked: Sequence[ObligationKey]) -> Iterator[Obligation]:
    """Try each obligation; those of one case in one process, which encodes the case.

    They are asked in this order of one solver, which knows of no other case. So no answer
    depends on the number of processes. Several processes take the largest cases first, so that
    none works long at the last one while the others are idle.
    """
    workers = induction.workers
    induction.prepare()
    cases = [list(rows) for _, rows in groupby(asked, key=itemgetter(0))]
    if workers > 1:
        cases.sort(key=lambda rows: _size(induction.exact.case(*rows[0])), reverse=True)
    alone: list[ObligationKey] = []

    def of_case(rows: list[ObligationKey]) -> list[Obligation]:
        induction.begin()
        return [induction.answer(*row) for row in rows]

    def died(rows: list[ObligationKey], _how: str) -> list[Obligation]:
        alone.extend(rows)
        return []

    for _, answers in map_unordered(of_case, died, cases, workers):
        yield from answers
    for _, answers in map_unordered(
        of_case,
        lambda rows, how: [induction.cut_short(*rows[0], how)],
        [[row] for row in alone],
        workers,
    ):
        yield from answers


def _size(case: Case | NotEncodable) -> int:
    """How many terms say what the case does; about so long take its obligations."""
    if isinstance(case, NotEncodable):
        return 0
    values = (*case.step.after.values(), case.step.done, *case.step.stopped.values())
    seen = set[Term]()
    stack = [value for value in values if isinstance(value, Term)]
    while stack:
        each = stack.pop()
        if each not in seen:
            seen.add(each)
            stack += each.args
    return len(seen)
