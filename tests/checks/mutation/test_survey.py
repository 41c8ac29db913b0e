"""Surveys of mutants: what notices them, files of answers, marks, the command."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from lawful import Machine, Scope
from lawful.checks.explore import Limits
from lawful.checks.mutation import survey_text
from lawful.checks.mutation.judge import Judge
from lawful.checks.mutation.marks import FILE, Mark, marks_beside
from lawful.checks.mutation.mutants import Mutant, mutants
from lawful.checks.mutation.survey import Survey, chosen, survey, with_marks
from lawful.cli import main
from lawful.spec.resolve import resolve
from tests.spec import texts


def surveyed(
    cls: type[Machine],
    scope: Scope | None = None,
    *,
    most: int | None = None,
    limits: Limits | None = None,
    proving: bool = False,
    kept: Path | None = None,
) -> Survey:
    found = resolve(cls)

    def make() -> tuple[Judge, Sequence[Mutant]]:
        within = found.scopes.get("scope", Scope()) if scope is None else scope
        judge = Judge(found, within, limits or Limits(), proving)
        return judge, chosen(list(mutants(found.machine)), most)

    return survey(make, kept=kept)


def last(text: str) -> type[Machine]:
    return texts.last_machine(texts.module(text))


def told(found: Survey) -> dict[str, str]:
    return {mutant.what: f"{each.outcome} {each.by}".strip() for mutant, each in found.judged}


SMALL = """
class Small(Machine):
    n: Nat = 0
    m: Nat = 0

    @transition()
    def up(self) -> None:
        require(self.n < 3, "high")
        self.n += 1

    @transition()
    def mark(self) -> None:
        self.m = 1

    @invariant
    def low(self) -> bool:
        return self.n <= 3

    scope = Scope(Nat=range(0, 6))
    deadlock_ok = True
"""


WEAKER = """
class Weaker(Machine):
    a: Nat = 0
    b: Nat = 0
    c: Nat = 0
    deadlock_ok = True

    @transition()
    def grow(self) -> None:
        require(self.a < 3)
        self.a += 1

    @transition()
    def spread(self, b: Nat, c: Nat) -> None:
        require(b < 1 and c < 1)
        self.b = b
        self.c = c

    @invariant
    def few(self) -> bool:
        return self.b <= 1000

    scope = Scope(Nat=range(0, 40))
"""


COUNTS = """
class Up(Machine):
    n: Nat = 0
    deadlock_ok = True

    @transition()
    def up(self) -> None:
        self.n += 1

    scope = Scope(Nat=range(0, 4))

class Twice(Machine):
    twice: Nat = 0
    deadlock_ok = True

    @transition()
    def up(self) -> None:
        self.twice += 2

    @refines(Up)
    def counts(self) -> Up:
        return Up.lawful.state(n=self.twice // 2)

    scope = Scope(Nat=range(0, 7))
"""


FEWER_BITS = """
class Serials(Machine):
    s: Annotated[int, Serial(bits=8)] = 0
    n: Nat = 0

    @transition()
    def send(self) -> None:
        require(self.n < 3, "full")
        self.s += 1
        self.n += 1

    @invariant
    def apart(self) -> bool:
        return not before(self.s, 0)

    deadlock_ok = True
    scope = Scope(Nat=range(0, 12), Serial=3)
"""


RESULT = """
class Till(Machine):
    n: Nat = 0

    def emptied(self) -> Nat:
        taken = self.n
        self.n = 0
        return taken

    @transition()
    def add(self) -> None:
        require(self.n < 2, "full")
        self.n += 1

    @transition()
    def empty(self) -> Nat:
        return self.emptied()

    @invariant
    def few(self) -> bool:
        return self.n <= 2

    scope = Scope(Nat=range(0, 5))
"""


def test_a_result_that_is_returned_at_once_is_changed() -> None:
    """What the call gives is one place, and what is returned another."""
    told_of = told(surveyed(last(RESULT)))
    changed = {what: by for what, by in told_of.items() if what.startswith("empty: ")}
    assert changed == {"empty: _1 + 1 for _1": "survived"}


def test_check_coverage_and_the_rest() -> None:
    """What a mutant is noticed by; the others survive."""
    assert told(surveyed(last(SMALL))) == {
        "up: without require(self.n < 3)": "noticed check low",
        "up: not self.n < 3 for self.n < 3": "noticed coverage up",
        "up: self.n <= 3 for self.n < 3": "noticed check low",
        "up: 4 for 3": "noticed check low",
        "up: 2 for 3": "survived",
        "up: without the assignment of self.n": "survived",
        "up: self.n + 1 + 1 for self.n + 1": "noticed check low",
        "up: self.n - 1 for self.n + 1": "noticed check bounds",
        "up: 2 for 1": "noticed check low",
        "up: 0 for 1": "survived",
        "mark: without the assignment of self.m": "survived",
        "mark: 2 for 1": "survived",
        "mark: 0 for 1": "survived",
        "initial value: n = 1 for 0": "survived",
        "initial value: m = 1 for 0": "survived",
    }


def test_fewer_are_chosen_evenly_and_the_machine_itself_must_end() -> None:
    found = surveyed(last(SMALL), most=4)
    assert [mutant.change.what for mutant, _ in found.judged] == [
        "without require(self.n < 3)",
        "2 for 3",
        "2 for 1",
        "0 for 1",
    ]
    with pytest.raises(ValueError, match="not explored to its end, 3 states: its mutants need"):
        surveyed(last(SMALL), limits=Limits(states=2))


def test_a_weaker_verdict_or_a_limit_notices_nothing() -> None:
    """`holds-within-scope` for `holds`, and 4 * 4 + 1,000 states, leave a mutant undecided."""
    found = surveyed(last(WEAKER))
    assert [each.what for each in found.of("undecided")] == [
        "grow: without require(self.a < 3)",
        "spread: without require(b < 1 and c < 1)",
        "spread: not (b < 1 and c < 1) for b < 1 and c < 1",
        "spread: c < 1 for b < 1 and c < 1",
        "spread: not b < 1 and c < 1 for b < 1 and c < 1",
        "spread: b < 1 for b < 1 and c < 1",
        "spread: b < 1 and not c < 1 for b < 1 and c < 1",
        "spread: c for b",
        "spread: b for c",
    ]
    assert told(found)["spread: without require(b < 1 and c < 1)"] == (
        "undecided deadlock: unknown, not holds"
    )
    assert (found.tried, found.noticed) == (33, {"check": 1, "coverage": 3})
    assert survey_text.text(found).splitlines()[:3] == [
        "  4 of 33 mutants are noticed (1 by check, 3 by coverage)",
        "  within the scope: Nat = 0..39",
        "  20 of 33 mutants survive: nothing notices them",
    ]


def test_what_a_refined_machine_forbids_is_noticed() -> None:
    assert told(surveyed(last(COUNTS))) == {
        # What never counts refines Up, too; no bound cuts it then, which notices nothing.
        "up: without the assignment of self.twice": "survived",
        "up: self.twice + 2 + 1 for self.twice + 2": "noticed check counts",
        "up: self.twice - 2 for self.twice + 2": "noticed check bounds",
        "up: 3 for 2": "noticed check counts",
        "up: 1 for 2": "survived",
        "initial value: twice = 1 for 0": "survived",
    }


def test_a_violation_that_only_fewer_bits_have_notices_nothing() -> None:
    """With 3 bits `s` passes half the circle after 5 sends, with the declared 8 after 129."""
    few, every = (
        told(surveyed(last(FEWER_BITS), Scope(Nat=range(0, 12), Serial=bits))) for bits in (3, 8)
    )
    assert few["send: without the assignment of self.n"] == (
        "undecided deadlock: bounded, not holds-within-scope"
    )
    assert every["send: without the assignment of self.n"] == "noticed check apart"


PROVED = """
class Proved(Machine):
    n: Nat = 0
    limit: Param[Nat] = 1
    deadlock_ok = True

    @transition()
    def up(self) -> None:
        require(self.n < self.limit and self.n < 100)
        self.n += 1

    @invariant
    def low(self) -> bool:
        return self.n <= 100

    scope = Scope(Nat=range(0, 4), limit=(1, 2))
"""


def test_a_proof_notices_what_the_scope_does_not_show() -> None:
    """`n` comes to 100 outside the scope alone."""
    explored, proved = (told(surveyed(last(PROVED), proving=proving)) for proving in (False, True))
    off = "up: self.n <= 100 for self.n < 100"
    assert (explored[off], proved[off]) == ("survived", "noticed prove low")


def test_an_interrupted_survey_goes_on_from_its_file(tmp_path: Path) -> None:
    kept = tmp_path / "answers.jsonl"
    whole = surveyed(last(SMALL), kept=kept)
    lines = kept.read_text(encoding="utf-8").splitlines(keepends=True)
    assert len(lines) == 16
    name, row = json.loads(lines[1])
    lines[1] = json.dumps([name, row | {"by": "check of the file"}]) + "\n"
    kept.write_text("".join(lines[:7]) + lines[7][:9], encoding="utf-8")
    again = surveyed(last(SMALL), kept=kept)
    assert told(again) == told(whole) | {
        "up: without require(self.n < 3)": "noticed check of the file"
    }
    assert kept.read_text(encoding="utf-8") == "".join(lines)
    with pytest.raises(ValueError, match="answers of another survey"):
        surveyed(last(SMALL), Scope(Nat=range(0, 7)), kept=kept)


def test_marks_name_equivalent_mutants_and_may_be_wrong_or_stale(tmp_path: Path) -> None:
    found = surveyed(last(SMALL))
    line = "self.m = 1"
    good = Mark("Small", "mark", line, "without the assignment of self.m", "nobody reads m")
    wrong = Mark("Small", "up", 'require(self.n < 3, "high")', "4 for 3", "a mistake")
    stale = Mark("Small", "mark", "self.m = 7", "2 for 1", "the line has changed")
    marked = with_marks(found, (good, wrong, stale))
    assert [(mutant.what, mark) for mutant, mark in marked.marked] == [
        ("mark: without the assignment of self.m", good)
    ]
    assert [mark for mark, _ in marked.wrong] == [wrong] and marked.stale == (stale,)
    assert len(marked.of("survived")) == len(found.of("survived")) - 1
    lines = survey_text.text(marked).splitlines()
    assert lines[-3:] == [
        "  1 of 15 mutants are marked as equivalent",
        "  wrong mark: Small.up: 4 for 3: check low notices it",
        "  stale mark: Small.mark: 2 for 1: no mutant of 'self.m = 7'",
    ]
    folder = Path(found.judged[0][0].place.file).parent
    every = [mutant for mutant, _ in found.judged]
    file = folder / FILE
    try:
        rows = (("machine", "Small"), ("row", "mark"), ("line", line), ("change", good.change))
        text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in rows)
        file.write_text(f'[[mutant]]\n{text}because = "nobody reads m"\n', encoding="utf-8")
        assert marks_beside(every) == (good,)
        file.write_text(f"[[mutant]]\n{text}", encoding="utf-8")
        with pytest.raises(ValueError, match="mutant 1: expected the texts machine, row, line"):
            marks_beside(every)
    finally:
        file.unlink()


def test_the_command_judges_in_several_processes(capsys: pytest.CaptureFixture[str]) -> None:
    target = ["lint", "tests.classics.peterson", "--mutants", "4", "--workers", "2"]
    assert main([*target, "--json", "-"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["machines"]
    assert row["mutants"] == {
        "tried": 4,
        "possible": 4,
        "noticed": {"check": 4},
        "survived": [],
        "undecided": [],
        "marked": [],
        "engines": {"generated": 4},
    }
    assert main([*target, "--quiet", "--max-states", "3"]) == 5


NARROWED = """
class Box(Record):
    n: Nat

class Pair(Record):
    m: tuple[Nat, ...]

class Narrowed(Machine):
    x: Nat | None = None
    k: Box | Pair | None = None
    s: set[Nat] = set()

    @transition()
    def put(self, v: Nat) -> None:
        require(self.x is None and v < 2)
        self.x = v

    @transition()
    def take(self) -> Nat:
        if self.x is None:
            refuse("empty")
        self.s.add(self.x)
        return self.x

    @transition()
    def find(self) -> Nat:
        match self.k:
            case Box(n=n):
                return n
            case Pair(m=m):
                return m[0]
            case None:
                return 0

    scope = Scope(Nat=range(0, 3), **{"Pair.m": 1})
    deadlock_ok = True
"""


def test_a_mutant_that_undoes_a_narrowing_is_no_machine() -> None:
    found = told(surveyed(last(NARROWED)))
    said = "no machine it reads {}, and no test before says that"
    assert {what: why for what, why in found.items() if why.startswith("no machine")} == {
        "take: self.x is not None for self.x is None": said.format("self.x as Nat"),
        "take: False for self.x is None": said.format("self.x as Nat"),
        "take: without the refusal": said.format("self.x as Nat"),
        "find: None for self.k": said.format("_1 as Box"),
        "find: not isinstance(_1, Box) for isinstance(_1, Box)": said.format("_1 as Box"),
        "find: True for isinstance(_1, Box)": said.format("_1 as Box"),
        "find: False for isinstance(_1, Box)": said.format("_1 as Pair | None"),
        "find: not isinstance(_1, Pair) for isinstance(_1, Pair)": said.format("_1 as Pair"),
        "find: True for isinstance(_1, Pair)": said.format("_1 as Pair"),
    }
    assert found["take: True for self.x is None"] == "noticed coverage take"
    assert found["find: False for isinstance(_1, Pair)"] == "survived"


STARTED = """
from lawful import *

class Started(Machine):
    x: Nat
    y: Nat

    @initial
    def begin(self) -> None:
        self.x = 1
        self.y = self.x

    @transition
    def add(self) -> None:
        self.x += 1
        self.y += 1

    @invariant
    def alike(self) -> bool:
        return self.x == self.y

    scope = Scope(Nat=range(0, 3))
"""


def test_a_mutant_that_starts_without_a_value_is_no_machine() -> None:
    found = told(surveyed(last(STARTED)))
    assert {what: why for what, why in found.items() if why.startswith("no machine")} == {
        "begin: without the assignment of self.x": "no machine x, which has no value yet",
        "begin: without the assignment of self.y": "no machine y, left out by begin",
    }
