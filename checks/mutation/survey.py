"""A survey of the mutants of a machine: each of them is judged, and the answers are counted."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from .judge import Judge, Judgement, Outcome
from .marks import Mark, marks_beside
from .mutants import Mutant, identities

Tell = Callable[[str], None]
MakeJudge = Callable[[], tuple[Judge, Sequence[Mutant]]]
# Who judges: the judge, the mutants, and the numbers of those that are to be judged -> the answers.
Judging = Callable[[Judge, Sequence[Mutant], Sequence[int]], Iterable[tuple[int, Judgement]]]


@dataclass(frozen=True, slots=True)
class Survey:
    """The mutants that were judged, with what became of each.

    `scope` has the bounds of the exploration, `every` counts the mutants that were to be judged.
    `marked` are the survivors that are marked as equivalent, with their marks; `wrong` are marks of
    mutants that were noticed, `stale` are marks that fit no mutant.
    """

    scope: Mapping[str, str]
    every: int
    judged: tuple[tuple[Mutant, Judgement], ...]
    marked: tuple[tuple[Mutant, Mark], ...] = ()
    wrong: tuple[tuple[Mark, Judgement], ...] = ()
    stale: tuple[Mark, ...] = ()

    def of(self, outcome: Outcome) -> tuple[Mutant, ...]:
        """The mutants with this outcome; those that are marked as equivalent are left out."""
        marked = {id(mutant) for mutant, _ in self.marked}
        rows = (mutant for mutant, each in self.judged if each.outcome == outcome)
        return tuple(mutant for mutant in rows if id(mutant) not in marked)

    @property
    def tried(self) -> int:
        """How many mutants were machines, and were judged."""
        return sum(each.outcome != "no machine" for _, each in self.judged)

    @property
    def noticed(self) -> Mapping[str, int]:
        """How many mutants check, coverage and proof noticed."""
        rows = (each.by.partition(" ")[0] for _, each in self.judged if each.outcome == "noticed")
        return Counter(rows)

    @property
    def engines(self) -> Mapping[str, int]:
        """How many mutants each engine explored."""
        return Counter(each.engine for _, each in self.judged if each.engine)

    @property
    def sound(self) -> bool:
        """Whether nothing survived without a mark, and every mark is true as far as is known."""
        return not (self.of("survived") or self.of("undecided") or self.wrong or self.stale)


def chosen(every: Sequence[Mutant], most: int | None) -> Sequence[Mutant]:
    """At most so many of the mutants, evenly chosen; all of them for None."""
    step = 1 if most is None else max(1, -(-len(every) // most))
    return every[::step]


def survey(
    make: MakeJudge,
    *,
    judging: Judging | None = None,
    kept: Path | None = None,
    tell: Tell = lambda _: None,
) -> Survey:
    """Judge the mutants that `make` returns with the judge that it returns.

    `judging` says where; without it, here and one by one. Answers are added to the file `kept` as
    they come, from which an interrupted survey goes on. Raises ValueError where the machine cannot
    be explored, or the file is of something else.
    """
    judge, mutants = make()
    names = identities(mutants)
    with _answers(kept, _about(judge)) as (known, add):
        left = [i for i, name in enumerate(names) if name not in known]
        for i, judgement in (judging or here)(judge, mutants, left) if left else ():
            known[names[i]] = judgement
            add(names[i], judgement)
            tell(f"{len(known)} of {len(names)}, {judgement.outcome}: {mutants[i].what}")
    judged = tuple((each, known[name]) for each, name in zip(mutants, names, strict=True))
    return with_marks(Survey(judge.bounds, len(mutants), judged), marks_beside(mutants))


def with_marks(found: Survey, marks: Sequence[Mark]) -> Survey:
    """The survey with what its marks say."""
    marked: list[tuple[Mutant, Mark]] = []
    wrong: list[tuple[Mark, Judgement]] = []
    stale: list[Mark] = []
    for mark in marks:
        fitting = [(mutant, each) for mutant, each in found.judged if mark.fits(mutant)]
        marked += ((m, mark) for m, each in fitting if each.outcome in ("survived", "undecided"))
        wrong += ((mark, each) for _, each in fitting if each.outcome == "noticed")
        if not fitting and found.every == len(found.judged):
            stale.append(mark)
    return Survey(found.scope, found.every, found.judged, tuple(marked), tuple(wrong), tuple(stale))


def here(
    judge: Judge, mutants: Sequence[Mutant], left: Sequence[int]
) -> Iterator[tuple[int, Judgement]]:
    """Judge in this process, one by one."""
    yield from ((i, judge(mutants[i])) for i in left)


def in_processes(make: MakeJudge, workers: int) -> Judging:
    """Judge in so many processes. `make` is called in each, and has to be picklable and to return
    the same mutants in the same order."""

    def judging(
        judge: Judge, mutants: Sequence[Mutant], left: Sequence[int]
    ) -> Iterator[tuple[int, Judgement]]:
        if workers == 1 or len(left) < 2:
            yield from here(judge, mutants, left)
            return
        with ProcessPoolExecutor(workers, get_context("spawn"), _prepare, (make,)) as pool:
            yield from zip(left, pool.map(_judged, left), strict=True)

    return judging


_HERE: list[tuple[Judge, Sequence[Mutant]]] = []  # Of a process that judges: its one judge.


def _prepare(make: MakeJudge) -> None:
    _HERE.append(make())


def _judged(number: int) -> Judgement:
    judge, mutants = _HERE[0]
    return judge(mutants[number])


def _about(judge: Judge) -> dict[str, Any]:
    """What answers in a file depend on, beside the text of each line."""
    bounds = {key: str(value) for key, value in judge.scope.bounds.items()}
    return {"machine": judge.found.machine.name, "scope": bounds, "proving": judge.proving}


@contextmanager
def _answers(
    kept: Path | None, about: Mapping[str, Any]
) -> Generator[tuple[dict[str, Judgement], Callable[[str, Judgement], None]]]:
    """The answers in the file, and a function that adds one."""
    if kept is None:
        yield {}, lambda _name, _judgement: None
        return
    head = json.dumps(dict(about), sort_keys=True)
    text = kept.read_text(encoding="utf-8") if kept.exists() else ""
    whole = text[: text.rfind("\n") + 1]  # A last line without its end was cut by an interrupt.
    first, *rows = whole.splitlines() or [head]
    if first != head:
        raise ValueError(f"{kept} has the answers of another survey: {first}; expected {head}")
    known = {name: Judgement(**row) for name, row in map(json.loads, rows)}
    with kept.open("a", encoding="utf-8") as file:
        file.truncate(len(whole.encode()))
        if not whole:
            file.write(f"{head}\n")

        def add(name: str, judgement: Judgement) -> None:
            file.write(json.dumps([name, asdict(judgement)]) + "\n")
            file.flush()

        yield known, add
