"""The mutants of a machine, judged as one job of Spark: one row of a data frame for each.

The machine, its mutants and what they are compared with travel as data: a worker needs lawful, and
no source. It makes each of its mutants and judges it whole, with one thread.
"""

from __future__ import annotations

import dataclasses
import functools
import pickle
from collections.abc import Iterator, Sequence
from typing import Any

from lawful.runtime.instance import Machine
from lawful.spec.quick_dataclass import dataclass
from lawful.spec.resolve import resolve
from lawful.spec.words import Scope

from ..explore import Limits
from ..explore.spark.arrow_rows import Row
from ..explore.spark.question_jobs import answered
from .judge import Judge, Judgement
from .mutants import Mutant, identities
from .mutants import mutants as mutants_of
from .survey import Judging, chosen

ASKED = (
    "number int, mutant string, machine string, row string, operator string, change string, "
    "file string, line int"
)
TOLD = "outcome string, by string, engine string, not_generated string"


def mutant_frame(
    session: Any,
    machine: type[Machine],
    *,
    scope: Scope | None = None,
    limits: Limits | None = None,
    most: int | None = None,
    proving: bool = False,
) -> Any:
    """Judge the mutants of a machine as one job of a Spark session.

    Returns a data frame of Spark.

    The bounds of `scope` are over those of the machine's own. `most`: so many mutants, evenly
    chosen. `proving`: those that exploration misses are given to proofs by induction. Limits are of
    each exploration. The machine itself is explored here first.

    Columns: `number` (from 0), `mutant` (a name that stays while its line stays), `machine`, `row`
    (the transition, helper, start or variable), `operator`, `change` (in words), `file`, `line`;
    `outcome` (noticed, survived, undecided, no machine), `by` (what noticed it, or why it is not
    decided or no machine), `engine`, `not_generated`. Marks of equivalent mutants are not looked
    at.

    Raises `DeclarationError` where a bound is missing, and `ValueError` where the machine cannot be
    explored within the limits or has no mutants. Spark computes the rows when they are used, and
    anew for each use.
    """
    found = resolve(machine)
    within = found.scopes.get("scope", Scope())
    within = within if scope is None else within.widened(scope.bounds)
    judge = Judge(found, within, limits or Limits(), proving)
    every = chosen(list(mutants_of(found.machine)), most)
    return judged_frame(session, judge, every, range(len(every)))


def judged_frame(
    session: Any, judge: Judge, mutants: Sequence[Mutant], numbers: Sequence[int]
) -> Any:
    """The columns of `mutant_frame` for the mutants with these numbers."""
    names = identities(mutants)
    rows = [(i, names[i], *_told(mutants[i])) for i in numbers]
    # One pickle: a change names a node of the machine by its identity.
    panel = Panel(pickle.dumps((judge, list(mutants))))
    return answered(session, rows, ASKED, panel, f"{ASKED}, {TOLD}")


def on_session(session: Any) -> Judging:
    """Judge as one job of this session: answers come when all are there."""

    def judging(
        judge: Judge, mutants: Sequence[Mutant], left: Sequence[int]
    ) -> Iterator[tuple[int, Judgement]]:
        frame = judged_frame(session, judge, mutants, left)
        names = [field.name for field in dataclasses.fields(Judgement)]
        rows: list[Any] = frame.select("number", *names).collect()
        for row in sorted(rows):
            yield row[0], Judgement(*row[1:])

    return judging


@dataclass(frozen=True, slots=True)
class Panel:
    """The judge and all mutants, pickled; a call judges one of them."""

    pickled: bytes

    def __call__(self, question: Row) -> Row:
        """A row of `ASKED` and `TOLD`."""
        judge, mutants = _unpickled(self.pickled)
        number: int = question[0]
        return *question, *dataclasses.astuple(judge(mutants[number]))


@functools.lru_cache(maxsize=2)
def _unpickled(pickled: bytes) -> tuple[Judge, Sequence[Mutant]]:
    """Kept, because a worker process judges many mutants."""
    judge, mutants = pickle.loads(pickled)
    return judge, mutants


def _told(mutant: Mutant) -> Row:
    place = mutant.place
    return (
        mutant.owner,
        mutant.row,
        mutant.change.operator,
        mutant.change.what,
        place.file,
        place.line,
    )
