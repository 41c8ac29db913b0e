"""A control variable that is not named `state`: journals, deadlines, counts and lint tell of it."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, Nat, Refused, Scope, State, require, transition
from lawful.checks.replay import ReplayProgram, TraceMapping
from lawful.checks.replay.fold import fold
from lawful.checks.replay.preparation.preparation_table import Preparation
from lawful.checks.replay.rows import Row
from lawful.runtime.journal import Hidden, Journal
from lawful.spec.analysis.control_variable import control_variable
from tests.checks.lint.test_findings import found_in
from tests.checks.replay.journals import written
from tests.checks.replay.test_runtime_journals import findings, judged
from tests.spec import texts


class Phase(State):
    NEW = "new"
    PAID = "paid"
    SENT = "sent"


class Level(State):
    LOW = "low"
    HIGH = "high"


class Order(Machine):
    level: Level = Level.LOW  # A State, too, but no header names it.
    phase: Phase = Phase.NEW
    items: Nat = 0

    @transition(source=Phase.NEW)
    def add(self) -> None:
        require(self.items < 1, "one is enough")
        self.items += 1

    @transition(source=Phase.NEW, target=Phase.PAID)
    def pay(self) -> None: ...

    @transition(source=Phase.PAID, target=Phase.SENT)
    def send(self) -> None: ...

    @transition
    def look(self) -> Nat:
        return self.items

    scope = Scope(Nat=range(0, 2))


def journal(path: Path, hidden: Hidden | None = None) -> list[dict[str, Any]]:
    """The rows of one order."""
    order = Order()
    with Journal(path) as kept:
        kept.attach(order, "o", hidden)
        order.add()
        order.pay()
        with pytest.raises(Refused):
            order.pay()
        order.send()
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_rows_of_a_journal_tell_of_it(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    rows = journal(path)
    told = [(row["outcome"], row["before"], row["after"]) for row in rows]
    assert told == [
        ("made", None, "NEW"),
        ("done", "NEW", "NEW"),
        ("done", "NEW", "PAID"),
        ("refused", "PAID", "PAID"),
        ("done", "PAID", "SENT"),
    ]
    result = judged(path, Order)
    assert result.verdicts["deviates"] == 0
    assert result.total.rows == 5
    spoilt = copy.deepcopy(rows)
    spoilt[2]["before"] = "SENT"
    (finding,) = findings(judged(written(path, spoilt), Order))
    assert (finding["index"], "before" in finding["clause"]) == (2, True)
    older = [{**row, "before": None, "after": None} for row in rows]
    assert judged(written(path, older), Order).verdicts["deviates"] == 0


def test_its_name_hides_it(tmp_path: Path) -> None:
    rows = journal(tmp_path / "j.jsonl", Hidden(excluded=frozenset({"phase"})))
    assert all(row["after"] == {"$hidden": "excluded"} for row in rows[1:])


def test_deadlines_and_counts_are_of_it() -> None:
    mapping = TraceMapping(
        instance="$.order",
        seq="",
        event="$.what",
        time="$.at",
        deadlines={"PAID": 60.0},
        preparation=Preparation(order="time"),
    )
    program = ReplayProgram((Order.lawful.ir,), mapping=mapping)
    rows: list[Row] = []
    for what, at in (("add", 0.0), ("pay", 10.0), ("send", 71.0)):
        (data,) = mapping.prepared({"order": "a", "what": what, "at": at}, 0)
        row = program.row_of(data, "")
        assert isinstance(row, Row)
        rows.append(row)
    (late,) = fold(program, "a", rows).findings
    assert (late.kind, late.control) == ("deadline", "PAID")
    assert dict(fold(program, "a", rows[:1]).states) == {"NEW": 2}


def test_lint_is_of_it() -> None:
    found = {(each.kind, each.what) for each in found_in(Order).rows}
    assert ("sink", "nothing leaves SENT, which is not terminal") in found
    assert ("unanswered", "nothing is said about send in NEW, SENT") in found


HEAD = "class Way(State):\n    A = 1\n    B = 2\n\nclass Mode(State):\n    C = 1\n    D = 2\n\n"
BODIES = {
    "    state: Way = Way.A\n    mode: Mode = Mode.C\n": "state",
    "    way: Way = Way.A\n": "way",
    "    way: Way = Way.A\n    mode: Mode = Mode.C\n": None,
    "    ways: dict[bool, Way] = total(Way.A)\n": None,
    "    n: Nat = 0\n": None,
}


@pytest.mark.parametrize(("fields", "name"), BODIES.items())
def test_which_variable_it_is(fields: str, name: str | None) -> None:
    text = f"{HEAD}class M(Machine):\n{fields}"
    for kind, member in (("way", "Way.B"), ("mode", "Mode.D"), ("state", "Way.B")):
        if f"    {kind}: " in fields:
            text += f"\n    @transition(target={member})\n    def to_{kind}(self) -> None: ...\n"
    if "ways" in fields:
        text += '\n    @transition(target=Way.B, of="ways[k]")\n'
        text += "    def go(self, k: bool) -> None: ...\n"
    held = control_variable(texts.resolved(text).machine)
    assert (None if held is None else held.name) == name
