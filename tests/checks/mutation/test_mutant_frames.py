"""Mutants that are judged in another process, without source: the answers are those of a survey."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from lawful import Machine, Scope
from lawful.checks.explore import Limits
from lawful.checks.mutation.judge import Judge, Judgement
from lawful.checks.mutation.mutant_frames import mutant_frame, on_session
from lawful.checks.mutation.mutants import mutants
from lawful.checks.mutation.survey import survey
from lawful.spec.resolve import resolve
from tests.checks.explore.spark.frames import Session
from tests.checks.explore.spark.test_check_frames import asked
from tests.checks.explore.spark.test_clustered import SYSTEMS
from tests.checks.mutation import test_survey as texts
from tests.classics.table import CLASSICS
from tests.machines.test_large import named

TEXTS = {
    "SMALL": texts.SMALL,
    "WEAKER": texts.WEAKER,
    "PROVED": texts.PROVED,
    "COUNTS": texts.COUNTS,
    "FEWER_BITS": texts.FEWER_BITS,
    "NARROWED": texts.NARROWED,
}


def told(cls: type[Machine], most: int | None = None) -> dict[str, tuple[str, str]]:
    found = texts.surveyed(cls, most=most)
    return {mutant.what: (each.outcome, each.by) for mutant, each in found.judged}


def told_by_rows(cls: type[Machine], most: int | None = None) -> dict[str, tuple[str, str]]:
    frame: Any = mutant_frame(Session(), cls, most=most)
    return {f"{row['row']}: {row['change']}": (row["outcome"], row["by"]) for row in asked(frame)}


@pytest.mark.nightly
@pytest.mark.parametrize("name", TEXTS)
def test_a_row_for_each_mutant_as_a_survey_has_it(name: str) -> None:
    cls = texts.last(TEXTS[name])
    assert told_by_rows(cls) == told(cls)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "cls", [*(row.machine for row in CLASSICS), *map(named, SYSTEMS)], ids=lambda cls: cls.__name__
)
def test_some_of_every_classic_and_system(cls: type[Machine]) -> None:
    assert told_by_rows(cls, 5) == told(cls, 5)


def test_a_row_says_where_the_mutant_is() -> None:
    cls = texts.last(texts.SMALL)
    first, *rest = asked(mutant_frame(Session(), cls))
    (mutant, *_) = mutants(resolve(cls).machine)
    assert len(rest) == 14
    assert first | {"mutant": "", "engine": ""} == {
        "number": 0,
        "mutant": "",
        "machine": "Small",
        "row": "up",
        "operator": "drop guard",
        "change": "without require(self.n < 3)",
        "file": mutant.place.file,
        "line": mutant.place.line,
        "outcome": "noticed",
        "by": "check low",
        "engine": "",
        "not_generated": "",
    }


def test_a_survey_on_a_session_is_the_survey_here() -> None:
    found = resolve(texts.last(texts.SMALL))
    judge = Judge(found, found.scopes["scope"], Limits())
    every = list(mutants(found.machine))
    here = survey(lambda: (judge, every))
    there = survey(lambda: (judge, every), judging=on_session(Session()))
    assert [each for _, each in there.judged] == [each for _, each in here.judged]


def test_a_judge_that_travelled_has_no_classes_of_the_declaration() -> None:
    found = resolve(texts.last(texts.NARROWED))
    judge = Judge(found, found.scopes.get("scope", Scope()), Limits())
    text = pickle.dumps(judge)
    again = pickle.loads(text)
    assert again.found.world.records["Box"] is not found.world.records["Box"]
    (mutant, *_) = mutants(found.machine)
    assert isinstance(again(mutant), Judgement) and again(mutant) == judge(mutant)


def test_a_worker_unpickles_the_judge_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[bytes] = []
    loads = pickle.loads

    def noted(text: bytes) -> Any:
        loaded.append(text)
        return loads(text)

    monkeypatch.setattr(pickle, "loads", noted)
    rows = asked(mutant_frame(Session(), texts.last(texts.SMALL), most=4))
    panels = [each for each in loaded if b"Panel" not in each]
    assert (len(rows), len(set(panels)), len(panels)) == (4, 1, 1)
