"""Tables of mutants: who notices each mutant of the classes that a service embeds.

A table is a text file with a line for each mutant: its identity, what noticed it, and the change.
Judges are asked in turn, the next one about what the last one missed. What nothing notices is
marked in `equivalent_mutants.toml` beside the declaration, with the reason. A mutant is *open*
while not every judge was asked, and none that was asked notices it.

The nightly tests judge every mutant again, each by the machine that the table names, and what
survives by all of them: a few in each test. With `MUTANTS=write` the tests that read a whole table
judge all anew and write it. `MUTANTS_WORKERS` is a number of processes.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lawful import Machine
from lawful.checks.explore import Limits
from lawful.checks.mutation.judge import Judge
from lawful.checks.mutation.marks import Mark, marks_beside
from lawful.checks.mutation.mutants import Mutant, identities, mutants
from lawful.spec.resolve import resolve
from lawful.targets import scope_of

Key = tuple[str, str, str, int, int, int]
WORKERS = int(os.environ.get("MUTANTS_WORKERS", "1"))
FEW = 40  # Mutants that one test judges: some minutes' work.
SURVIVED, NO_MACHINE, OPEN = "survived", "no machine", "open"


@dataclass(frozen=True)
class Asked:
    """A machine that judges within a scope.

    `called` has the name that a machine of the table has in it, where that is another one; `bounds`
    change the scope, as `--scope KEY=VALUE` does.
    """

    cls: type[Machine]
    scope: str = "scope"
    called: Mapping[str, str] = field(default_factory=dict[str, str])
    bounds: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        words = [self.cls.__name__, *([self.scope] if self.scope != "scope" else []), *self.bounds]
        return " ".join(words)


@dataclass(frozen=True)
class Table:
    """The mutants of some machines within a whole one, who judges them, and the file."""

    file: Path
    whole: type[Machine]
    owners: tuple[str, ...]
    judges: tuple[Asked, ...]

    def every(self) -> dict[str, Mutant]:
        """All mutants, by identity."""
        own = [m for m in mutants(resolve(self.whole).machine) if m.owner in self.owners]
        return dict(zip(identities(own), own, strict=True))

    def kept(self) -> dict[str, str]:
        """The committed table: by identity, what noticed the mutant."""
        lines = self.file.read_text(encoding="utf-8").splitlines()
        rows = (line.split(" | ") for line in lines if not line.startswith("#"))
        return {name: by for name, by, *_ in rows}

    def marked(self) -> dict[str, Mark]:
        """The marks of mutants that survive, by the identity of the mutant."""
        every = self.every()
        marks = marks_beside(every.values())
        return {name: mark for name, each in every.items() for mark in marks if mark.fits(each)}

    def judged(self) -> dict[str, str]:
        """What notices each mutant; `survived` where nothing does."""
        keys = _keyed(self.every().items())
        found: dict[str, str] = {}
        for asked in self.judges:
            left = {key: name for key, name in keys.items() if name not in found}
            found |= {left[key]: by for key, by in noticed(asked, list(left))}
        return {name: found.get(name, SURVIVED) for name in keys.values()}

    def questions(self) -> list[Question]:
        """All that the table says, a few mutants at a time. Nobody is asked about those that are
        open."""
        kept = self.kept()
        return [
            Question(self, asked, f"{asked.name} {at // FEW + 1}", tuple(mine[at : at + FEW]))
            for asked in self.judges
            for mine in [[name for name, by in kept.items() if self.is_asked(asked, by)]]
            for at in range(0, len(mine), FEW)
        ]

    def asked_about(self) -> set[str]:
        """The mutants that are in some question."""
        return {name for question in self.questions() for name in question.mutants}

    def is_asked(self, asked: Asked, by: str) -> bool:
        """What is no machine is none for the whole one, and everybody is asked about what
        survives."""
        if by == NO_MACHINE:
            return asked == Asked(self.whole)
        return by == SURVIVED or judge_of(by) == asked.name

    def rewritten(self) -> None:
        """Written anew if that is asked for."""
        if os.environ.get("MUTANTS") == "write":
            self.write(self.judged())

    def write(self, found: Mapping[str, str]) -> None:
        every = self.every()
        head = f"# A mutant of {', '.join(self.owners)} | what noticed it | the change\n"
        rows = (f"{name} | {by} | {every[name].what}\n" for name, by in found.items())
        self.file.write_text(head + "".join(rows), encoding="utf-8")


@dataclass(frozen=True)
class Question:
    """What one judge has to say of a few mutants of a table, by their identities."""

    table: Table
    asked: Asked
    name: str
    mutants: tuple[str, ...]

    def said(self) -> dict[str, str]:
        """By the table: the judge that notices a mutant, or that it is no machine, or survives."""
        kept = self.table.kept()
        return {name: judge_of(kept[name]) for name in self.mutants}

    def answered(self) -> dict[str, str]:
        """The same, by the judge."""
        keys = _keyed(self.table.every().items())
        mine = [key for key, name in keys.items() if name in self.mutants]
        found = {keys[key]: judge_of(by) for key, by in noticed(self.asked, mine)}
        return {name: found.get(name, SURVIVED) for name in self.mutants}


def each_question(*tables: Table) -> pytest.MarkDecorator:
    """The parameter `question` of a test."""
    every = [each for table in tables for each in table.questions()]
    ids = [f"{each.table.file.stem} {each.name}" for each in every]
    return pytest.mark.parametrize("question", every, ids=ids)


def judge_of(by: str) -> str:
    """The name of the judge, without what it noticed the mutant by."""
    for kind in (" check ", " coverage "):
        by = by.partition(kind)[0]
    return by


def _keyed(named: Iterable[tuple[str, Mutant]]) -> dict[Key, str]:
    """The names by the place and the words of each change. A machine has the same rows where it is
    a part, and where a variant inherits or extends them."""
    met = Counter[tuple[str, str, str, int, int]]()
    found: dict[Key, str] = {}
    for name, each in named:
        row, place = each.row.rpartition(".")[2], each.place
        key = (each.owner, row, each.change.what, place.line, place.column)
        met[key] += 1
        found[(*key, met[key])] = name
    return found


def _within(asked: Asked) -> dict[Key, Mutant]:
    """The mutants in the machine that judges, by the keys of the table."""
    back = {there: here for here, there in asked.called.items()}
    every = list(mutants(resolve(asked.cls).machine))
    keys = _keyed((str(i), each) for i, each in enumerate(every))
    return {(back.get(key[0], key[0]), *key[1:]): every[int(i)] for key, i in keys.items()}


def within(table: Table, asked: Asked, names: Iterable[str]) -> dict[str, Mutant]:
    """Mutants of the table in the machine that judges, by identity."""
    keys = {name: key for key, name in _keyed(table.every().items()).items()}
    there = _within(asked)
    return {name: there[keys[name]] for name in names}


def noticed(asked: Asked, keys: Sequence[Key]) -> list[tuple[Key, str]]:
    """Those of the mutants that this judge notices, or that are no machine, and what by."""
    if WORKERS == 1:
        return _noticed(asked, keys)
    with ProcessPoolExecutor(WORKERS) as pool:
        parts = [pool.submit(_noticed, asked, keys[i::WORKERS]) for i in range(WORKERS)]
        return [each for part in parts for each in part.result()]


def _noticed(asked: Asked, keys: Sequence[Key]) -> list[tuple[Key, str]]:
    resolved, bounds = resolve(asked.cls), [asked.scope, *asked.bounds]
    mine, found = _within(asked), list[tuple[Key, str]]()
    judge = Judge(resolved, scope_of(asked.cls, bounds), Limits())
    for key in (each for each in keys if each in mine):
        judgement = judge(mine[key])
        if judgement.outcome == "noticed":
            found.append((key, f"{asked.name} {judgement.by}"))
        if judgement.outcome == "no machine":
            found.append((key, NO_MACHINE))
    return found
