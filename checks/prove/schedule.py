"""The obligations of an induction, tried in several processes: what ends one costs one answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter

from lawful.checks.smt.solver.processes import map_unordered

from .induction import Induction
from .result import Obligation

Row = tuple[str, str]


def in_turn(induction: Induction, asked: Sequence[Row]) -> list[Obligation]:
    """Each obligation, tried, in this order."""
    found = {(o.obligation, o.property): o for o in answers(induction, asked)}
    return [found[row] for row in asked]


def answers(induction: Induction, asked: Sequence[Row]) -> Iterator[Obligation]:
    """Each obligation, tried: those of one case by one process, which encodes them.

    They are asked in this order of one solver, that knows of no other case. So no answer depends on
    how many processes there are.
    """
    workers = induction.workers
    induction.prepare()
    cases = [list(rows) for _, rows in groupby(asked, key=itemgetter(0))]
    alone: list[Row] = []

    def of_case(rows: list[Row]) -> list[Obligation]:
        induction.begin()
        return [induction.answer(*row) for row in rows]

    def died(rows: list[Row], _how: str) -> list[Obligation]:
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
