"""Whether TLC finds of a module what lawful found of its machine: counts, and every property.

A property is asked together with others where lawful says that it holds, alone where it does not:
TLC ends at the first that is false. So are the `never_...` of a property that is reached.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from lawful.spec.ir import Json
from lawful.spec.quick_dataclass import dataclass
from lawful.spec.verdicts import Verdict

from .module import Exported
from .properties import Written
from .tlc import LIVENESS, Answer, Tlc

Outcome = Literal["agrees", "differs", "no answer"]


@dataclass(frozen=True, slots=True)
class Told:
    """What lawful's exploration of every state found: counts, and a verdict for each property."""

    distinct: int
    depth: int
    verdicts: Mapping[str, Verdict]


@dataclass(frozen=True, slots=True)
class Row:
    """A definition of the module: what TLC is to say of it, and what it says.

    `answer` is None where TLC has no answer; `trouble` says why.
    """

    name: str
    about: str
    holds: bool
    answer: bool | None
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Agreement:
    """TLC's answers beside lawful's. `others` are properties of which nothing was asked."""

    told: Told
    distinct: int | None
    depth: int | None
    rows: tuple[Row, ...]
    others: tuple[str, ...]
    trouble: str = ""

    @property
    def differences(self) -> list[str]:
        """What TLC answers otherwise, in words."""
        out: list[str] = []
        for what, own, other in (
            ("distinct states", self.told.distinct, self.distinct),
            ("depth", self.told.depth, self.depth),
        ):
            if other is not None and own != other:
                out.append(f"{what}: lawful {own:,}, TLC {other:,}")
        for row in self.rows:
            if row.answer is not None and row.answer != row.holds:
                words = {True: "true", False: "false"}
                out.append(f"{row.name}: lawful {words[row.holds]}, TLC {words[row.answer]}")
        return out

    @property
    def troubles(self) -> list[str]:
        """Where TLC has no answer, and why."""
        named = [f"{r.name}: {r.trouble}" for r in self.rows if r.answer is None]
        whole = f"states: {self.trouble}" if self.trouble else ""
        return [whole, *named] if whole else named

    @property
    def outcome(self) -> Outcome:
        """Whether TLC says the same of everything that was asked."""
        if self.differences:
            return "differs"
        counted = self.distinct is not None and self.depth is not None
        return "agrees" if counted and not self.troubles else "no answer"

    def to_json(self) -> dict[str, Json]:
        """The key `tlc` of the answer of `lawful export --check`."""
        rows: list[Json] = [
            {"name": r.name, "property": r.about, "lawful": r.holds, "tlc": r.answer}
            for r in self.rows
        ]
        return {
            "outcome": self.outcome,
            "distinct": self.distinct,
            "depth": self.depth,
            "definitions": rows,
            "not_asked": list(self.others),
            "differences": list(self.differences),
            "troubles": list(self.troubles),
        }


def compare(made: Exported, told: Told, tlc: Tlc) -> Agreement:
    """Let TLC explore a module, and compare. Raises NoTlc where it does not start."""
    asked = [row for row in made.rows if _decided(row, told)]
    good = [row for row in asked if _true(row, told)]
    whole, rows = _together(made, [row for row in good if not row.live], tlc)
    live = [row for row in good if row.live]
    if live:
        rows += _together(made, live, tlc)[1]
    rows += _alone(made, [row for row in asked if row not in good], told, tlc)
    of = {row.about for row in asked}
    others = tuple(name for name in told.verdicts if name not in of)
    return Agreement(told, whole.distinct, whole.depth, tuple(rows), others, whole.trouble)


def _decided(row: Written, told: Told) -> bool:
    """Whether the verdict says something of the definition."""
    verdict = told.verdicts.get(row.about, Verdict.UNKNOWN)
    if verdict is Verdict.UNDEFINED:
        # Where a property has no value its other definition is true or false.
        return row.value or not (row.live or row.witness)
    return verdict.good or verdict is Verdict.VIOLATED


def _true(row: Written, told: Told) -> bool:
    """Whether TLC may find the definition true, by the verdict of its property."""
    verdict = told.verdicts[row.about]
    if row.value:
        return verdict is not Verdict.UNDEFINED
    return not row.witness and verdict.good


def _together(made: Exported, rows: list[Written], tlc: Tlc) -> tuple[Answer, list[Row]]:
    """One run for definitions that are all to be true.

    Where TLC finds one false, each is asked alone: of the others the run says nothing.
    """
    live = any(row.live for row in rows)
    whole = tlc.ask(made.name, made.module, made.asking(rows, live=live))
    if whole.wrong:
        return whole, [_one(made, row, tlc, holds=True) for row in rows]
    answer = None if whole.trouble else True
    return whole, [Row(row.name, row.about, True, answer, whole.trouble) for row in rows]


def _one(made: Exported, row: Written, tlc: Tlc, *, holds: bool) -> Row:
    found = tlc.ask(made.name, made.module, made.asking([row], live=row.live))
    if found.wrong and found.wrong != (LIVENESS if row.live else row.name):
        trouble = f"TLC names {found.wrong}"
        return Row(row.name, row.about, holds, None, trouble)
    answer = None if found.trouble else not found.wrong
    return Row(row.name, row.about, holds, answer, found.trouble)


def _alone(made: Exported, rows: list[Written], told: Told, tlc: Tlc) -> Iterator[Row]:
    """Definitions of which some are to be false, each by a run of its own.

    A step property has a second definition for steps that change nothing, and what is reached has
    one for each value of its parameters: it is enough that one of the first is false, and all of
    the second are to be false where the property holds.
    """
    for about in dict.fromkeys(row.about for row in rows):
        mine = [row for row in rows if row.about == about]
        found = [_one(made, row, tlc, holds=False) for row in mine]
        reached = mine[0].witness and told.verdicts[about].good
        if mine[0].witness and not reached:
            yield from _any(found, wanted=True)
        elif reached:
            yield from found
        else:
            yield from _any(found, wanted=False)


def _any(rows: list[Row], *, wanted: bool) -> Iterator[Row]:
    """Rows of which at least one is to have this answer: the others are as TLC says."""
    enough = any(row.answer is wanted for row in rows)
    for row in rows:
        holds = row.answer if enough and row.answer is not None else wanted
        yield Row(row.name, row.about, holds, row.answer, row.trouble)
