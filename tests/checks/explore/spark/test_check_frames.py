"""Checks within many scopes, each answered by itself: the answers are those of `explore` here.

Here the task runs in this process; a test of replay's Spark session runs it there.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import pickle
from typing import Any

import pytest

from lawful import Machine, Scope
from lawful.checks.explore import CheckResult, Limits, explore
from lawful.checks.explore.spark.arrow_rows import rows_of
from lawful.checks.explore.spark.check_frames import (
    ASKED,
    RESULT,
    ROW,
    BoundedCheck,
    check_frame,
    row_of,
)
from lawful.checks.explore.spark.question_jobs import Answers
from tests.checks.explore.spark.frames import Session
from tests.checks.explore.spark.test_clustered import SYSTEMS, batch, lowered
from tests.classics.broken import PetersonWithoutFlags
from tests.classics.table import CLASSICS
from tests.classics.two_phase import TwoPhase
from tests.machines.test_large import named
from tests.spec import texts


def asked(frame: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = frame.dicts()
    return sorted(rows, key=lambda row: row["number"])


SIZES = [Scope(RM=1), Scope(RM=3), Scope(RM=2)]


def test_a_row_for_each_scope() -> None:
    rows = asked(check_frame(Session(), TwoPhase, SIZES))
    kept = ("number", "machine", "scope", "verdict", "as_expected", "complete", "stopped")
    assert [tuple(row[name] for name in kept) for row in rows] == [
        (0, "TwoPhase", '{"RM": "1"}', "holds", True, True, ""),
        (1, "TwoPhase", '{"RM": "3"}', "holds", True, True, ""),
        (2, "TwoPhase", '{"RM": "2"}', "holds", True, True, ""),
    ]
    counts = ("distinct", "generated", "depth", "cuts", "error")
    assert [tuple(row[name] for name in counts) for row in rows] == [
        (12, 20, 5, 0, None),
        (288, 1_146, 11, 0, None),
        (56, 154, 8, 0, None),
    ]
    assert [*rows[0]] == [column.split()[0] for column in ROW.split(", ")]


def test_a_violation_has_the_length_of_its_counterexample() -> None:
    (row,) = asked(check_frame(Session(), PetersonWithoutFlags, [Scope()]))
    here = in_this_process(BoundedCheck(lowered(PetersonWithoutFlags)[1], {}))
    assert row["verdict"] == "violated" and row["as_expected"]
    assert {p["name"]: (p["verdict"], p["events"]) for p in row["properties"]} == {
        p.name: (p.verdict.value, None if p.trace is None else len(p.trace))
        for p in here.properties
    }


def test_a_scope_without_a_state_has_an_error_and_the_others_their_rows() -> None:
    source = texts.module(EMPTY)
    rows = asked(check_frame(Session(), texts.last_machine(source), [Scope(n=(1,)), Scope(n=(2,))]))
    assert [row["distinct"] for row in rows] == [1, None]
    assert rows[0]["error"] is None and "no initial state" in rows[1]["error"]
    assert {rows[1][name] for name in rows[1]} == {
        1,
        "Few",
        rows[1]["scope"],
        None,
        rows[1]["error"],
    }


EMPTY = """
class Few(Machine):
    n: Param[Nat] = 1

    @assume
    def one(self) -> bool:
        return self.n == 1

    @transition()
    def stay(self) -> None:
        pass

    scope = Scope(n=(1,))
"""


def test_limits_are_of_each_check() -> None:
    rows = asked(check_frame(Session(), TwoPhase, SIZES, limits=Limits(states=100)))
    assert [(row["complete"], row["stopped"]) for row in rows] == [
        (True, ""),
        (False, "states"),
        (True, ""),
    ]


def test_no_scope_is_no_answer() -> None:
    with pytest.raises(ValueError, match="there is nothing to ask"):
        check_frame(Session(), TwoPhase, [])


def in_this_process(check: BoundedCheck, cls: type[Machine] = PetersonWithoutFlags) -> CheckResult:
    return explore(check.flat, lowered(cls)[0].world, check.expects)


def comparable(found: CheckResult) -> CheckResult:
    """Without what depends on the machine's speed."""
    return dataclasses.replace(found, engine="", seconds=0, compile_seconds=0)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "cls", [*(row.machine for row in CLASSICS), *map(named, SYSTEMS)], ids=lambda cls: cls.__name__
)
def test_every_classic_and_system(cls: type[Machine]) -> None:
    """The whole result, traces and texts: the worker has other classes for the values."""
    found, flat = lowered(cls)
    check = BoundedCheck(flat, found.expects)
    given = batch([(0, cls.__name__, json.dumps({}), pickle.dumps(check))], ASKED)
    task = Answers(functools.partial(row_of, False), f"{ROW}, {RESULT}")
    (row,) = rows_of(task([given]))
    assert comparable(pickle.loads(row[-1])) == comparable(in_this_process(check, cls))
