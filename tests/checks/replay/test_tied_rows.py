"""Rows at one time in any order: the verdict is that of all orders, each replayed by itself."""

from __future__ import annotations

import dataclasses
import itertools
import json
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, Nat, State, require, terminal, transition
from lawful.checks.replay import ReplayProgram, replay, replay_frame, replay_increment
from lawful.checks.replay.increments.continuation import Increment
from lawful.checks.replay.mapping import mapping_of
from lawful.checks.replay.rows import Row
from lawful.checks.replay.tally import Tallies
from lawful.checks.replay.unseen import tied_rows
from tests.checks.replay import answers
from tests.checks.replay.conftest import NEEDS_SPARK
from tests.checks.replay.test_foreign_logs import by_instance


class Door(State):
    SHUT = "shut"
    OPEN = "open"


class Hall(Machine):
    """The order of its events matters: who enters passes the open door."""

    state: Door = Door.SHUT
    inside: Nat = 0

    @transition(source=Door.SHUT, target=Door.OPEN)
    def open(self) -> None: ...

    @transition(source=Door.OPEN, target=Door.SHUT)
    def shut(self) -> None: ...

    @transition(source=Door.OPEN)
    def enter(self, by: Nat) -> None:
        require(by > 0)
        self.inside += by

    @transition()
    def leave(self, by: Nat) -> None:
        require(by <= self.inside)
        self.inside -= by

    @transition()
    def double(self) -> None:
        self.inside *= 2

    @terminal
    def few(self) -> bool:
        return self.state == Door.SHUT and self.inside <= 3


def mapping(ties: Any, **more: Any) -> dict[str, Any]:
    how = {"order": "time", **({"ties": ties} if ties else {})}
    args = {"enter": {"by": "$.by"}, "leave": {"by": "$.by"}}
    return {
        "instance": "$.k",
        "event": "$.e",
        "time": "$.t",
        "args": args,
        "preparation": how,
        **more,
    }


def program(ties: Any = "any", **more: Any) -> ReplayProgram:
    return ReplayProgram((Hall.lawful.ir,), mapping=mapping_of(mapping(ties)), **more)


Told = dict[str, Any]


def written(path: Path, rows: Sequence[Told]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def row(at: int, event: str, **more: int) -> Told:
    return {"k": "a", "t": at, "e": event, **more}


def orders(rows: Sequence[Told]) -> Iterator[list[Told]]:
    """The rows in all orders that their times allow, each at a time of its own."""
    groups = [[*each] for _, each in itertools.groupby(rows, key=lambda row: row["t"])]
    for order in itertools.product(*(itertools.permutations(group) for group in groups)):
        flat = [row for group in order for row in group]
        yield [{**row, "t": at} for at, row in enumerate(flat)]


EVENTS = [("open", 0), ("shut", 0), ("double", 0), ("enter", 1), ("enter", 2), ("enter", 3)]


def random_rows(made: random.Random) -> list[Told]:
    """No two rows of one time are alike: they would be one."""
    told = [[("open", 0)], made.sample(EVENTS, 2), made.sample(EVENTS[1:], made.randint(1, 3))]
    told.append([("shut", 0)] * made.randint(0, 1))
    return [
        row(at, event, **({"by": by} if by else {}))
        for at, group in enumerate(told)
        for event, by in group
    ]


def test_as_all_orders_one_by_one(tmp_path: Path) -> None:
    """Which of them fit, judged by the replay of rows that have times of their own."""
    made = random.Random(20)
    told: dict[str, list[Told]] = {}
    single: list[Told] = []
    passing = [row(0, "open"), row(1, "enter", by=2), row(1, "double"), row(2, "shut")]
    later = [*passing[:3], row(2, "leave", by=3), row(3, "shut")]  # Only one of the orders fits.
    for number, rows in enumerate([passing, [*passing[:2], passing[3]], later]):
        told[f"i{number}"] = [{**each, "k": f"i{number}"} for each in rows]
    for number in range(3, 22):
        told[f"i{number}"] = [{**each, "k": f"i{number}"} for each in random_rows(made)]
    for number in range(22):
        for at, order in enumerate(orders(told[f"i{number}"])):
            single += [{**each, "k": f"i{number}-{at}"} for each in order]
    file = written(tmp_path / "tied.jsonl", [row for rows in told.values() for row in rows])
    alone = replay([written(tmp_path / "one.jsonl", single)], program(None))
    by_order: dict[str, set[str]] = {}
    for name, verdict in by_instance(alone).items():
        by_order.setdefault(name.split("-")[0], set()).add(str(verdict))
    found = by_instance(replay([file], program()))
    seen: set[frozenset[str]] = set()
    for name, verdicts in by_order.items():
        passed = verdicts - {"deviates"}
        assert found[name] == ("fits" if "fits" in passed else "open" if passed else "deviates")
        one = written(tmp_path / "alone.jsonl", told[name])
        counts = replay([one], program()).total.counts
        assert counts.get("hinges", 0) == (len(verdicts) > 1 and bool(passed)), name
        seen.add(frozenset(verdicts))
    assert len(seen) >= 6  # All that an order can decide is among them.


def test_states_after_all_orders() -> None:
    """Rows that count: what is left of them is looked at once for each number so far."""
    rows = [Row("a", 0, event=event) for event in ("+2", "*2", "-1", "=", "+5")]

    def step(states: Any, row: Row) -> Any:
        steps: dict[str, Callable[[int], int | None]] = {
            "+2": lambda n: n + 2,
            "*2": lambda n: n * 2,
            "-1": lambda n: n - 1 if n > 3 else None,
            "=": lambda n: n,
            "+5": lambda n: n + 5 if n < 8 else None,
        }
        out = steps[str(row.event)](states[0])
        return () if out is None else (out,)

    ends: set[int] = set()
    failed = False
    for order in itertools.permutations(rows):
        now: Any = (1,)
        for each in order:
            now = now and step(now, each)
        ends.update(now)
        failed = failed or not now
    start: Any = (1,)
    found = tied_rows.orders_of(rows, start, step)
    told: Any = {*found.ends}
    assert (told, found.some_fail, len(found.best)) == (ends, failed, 5)
    assert failed and len(ends) > 3


TIED = [row(1, "enter", by=1), row(1, "open"), row(1, "shut"), row(2, "double")]


@pytest.mark.parametrize(
    "wrong",
    [
        [*TIED[:3], TIED[1], row(1, "enter", by=0)],
        [row(1, "double"), row(1, "double"), *(row(1, "enter", by=by) for by in (1, 2, 3))],
    ],
)
def test_what_is_said_of_an_instance_that_no_order_fits(wrong: list[Told], tmp_path: Path) -> None:
    """The same, whichever row comes first in the file; a row that comes twice is one row."""
    said: set[str] = set()
    for order in [*itertools.permutations(wrong)][::17]:
        found: Any = replay([written(tmp_path / "r.jsonl", order)], program()).to_json()
        (machine,) = found["machines"]
        finding = machine["deviations"][0]
        assert finding["event"] == "enter"
        assert finding["clause"].endswith("(in every order of 4 rows at this time)")
        assert machine["counts"]["duplicates"] == 1
        said.add(json.dumps([finding, machine["counts"]], sort_keys=True))
    assert len(said) == 1


@pytest.mark.parametrize("cut", range(len(TIED) + 1))
def test_increments_are_cut_anywhere(cut: int, tmp_path: Path) -> None:
    """Also between rows of one time."""
    rows = [*TIED, row(3, "open"), row(4, "shut")]
    whole = replay([written(tmp_path / "r.jsonl", rows)], program())
    found = Increment(Tallies(every=False), {})
    for part in filter(None, (rows[:cut], rows[cut:])):
        found = replay_increment([written(tmp_path / "p.jsonl", part)], program(), found.states)
    tally, other = found.tallies.machines["Hall"], whole.total
    assert (tally.verdicts, tally.counts) == (other.verdicts, other.counts)
    assert tally.verdicts["fits"] == 1 and tally.counts["hinges"] == 1


def test_too_many_orders_are_inconclusive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tied_rows, "MOST_STEPS", 30)
    rows = [row(0, "open"), *(row(1, "enter", by=by) for by in range(1, 6))]
    found = replay([written(tmp_path / "r.jsonl", rows)], program())
    assert found.verdicts["inconclusive"] == 1
    assert "5 rows at one time have too many orders to try" in json.dumps(found.to_json())


def test_rows_of_another_form_are_no_part_of_an_order(tmp_path: Path) -> None:
    rows = [*TIED[:3], row(1, "sing"), row(1, "enter")]
    found = replay([written(tmp_path / "r.jsonl", rows)], program())
    assert found.verdicts["quarantined"] == 1
    assert found.total.counts["unknown_events"] == 1


@pytest.mark.parametrize("more", [{"attach": True}, {"partial": True}, {"combine": True}])
def test_what_does_not_go_together_is_refused(more: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match='ties = "any" is for traces that tell everything else'):
        ReplayProgram((Hall.lawful.ir,), mapping=mapping_of(mapping("any", **more)))
    with pytest.raises(ValueError, match='a list of events, or "any"'):
        mapping_of(mapping("some"))


@pytest.mark.nightly
@NEEDS_SPARK[0]
@NEEDS_SPARK[1]
def test_on_spark(session: Any, tmp_path: Path) -> None:
    made = random.Random(21)
    rows = [{**row, "k": f"i{i}"} for i in range(40) for row in random_rows(made)]
    made.shuffle(rows)
    file = written(tmp_path / "r.jsonl", rows)
    frame = replay_frame(session.read.text(str(file)), program()).verdicts.collect()
    found = replay([file], program())
    assert {each.instance: each.verdict for each in frame} == by_instance(found)
    assert sum(each.hinges for each in frame) == found.total.counts["hinges"] > 0


@pytest.mark.nightly
@NEEDS_SPARK[0]
@NEEDS_SPARK[1]
@pytest.mark.parametrize("watermark", [None, "3 seconds"])
def test_in_a_stream(session: Any, watermark: str | None, tmp_path: Path) -> None:
    """Rows of one time are also in several micro-batches. Within the watermark rows come in any
    order; without one, those of an instance come in that of their times."""
    made = random.Random(22)
    parts: list[list[str]] = [[], [], []]
    for number in range(20):
        rows = [{**row, "k": f"i{number}"} for row in random_rows(made)]
        where = [made.randrange(3) for _ in rows]
        for part, told in zip(where if watermark else sorted(where), rows, strict=True):
            parts[part].append(json.dumps(told))
    wanted = answers.row_by_row(program(), parts, tmp_path)
    found = answers.as_stream(session, watermark)(program(), parts, tmp_path)
    assert found == dataclasses.replace(wanted, covered={})
    assert wanted.sums["hinges"] and {*wanted.verdicts.values()} == {"fits", "open", "deviates"}
