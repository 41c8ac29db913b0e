"""What records and rows say of events that change some of many parts."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, Nat, OrderedSort, require, transition
from lawful.checks.replay import ReplayProgram
from lawful.checks.replay.fold import fold
from lawful.checks.replay.rows import Row, journal_row
from lawful.runtime.journal import Journal, read
from lawful.runtime.kernel.event_record import Stepped
from lawful.runtime.store import Store


class Name(OrderedSort):
    """An account."""


class Account(Machine):
    held: Nat = 0
    notes: list[Nat] = []

    @transition()
    def put(self, much: Nat) -> None:
        self.held += much
        self.notes.append(much)


class Bank(Machine):
    accounts: dict[Name, Account] = {}
    opened: Nat = 0

    @transition()
    def open(self, name: Name) -> None:
        require(name not in self.accounts, "it is open")
        self.accounts[name] = Account()
        self.opened += 1

    @transition()
    def put(self, name: Name, much: Nat) -> None:
        require(name in self.accounts, "no such account")
        self.accounts[name].put(much)

    @transition()
    def end(self, name: Name) -> None:
        require(name in self.accounts, "no such account")
        del self.accounts[name]

    @transition()
    def give_everybody(self, much: Nat) -> None:
        for each in self.accounts.values():
            each.put(much)


A, B, C = map(Name, "abc")


def three(bank: Bank) -> None:
    for name in (A, B, C):
        bank.open(name)


def told(change: Any) -> Mapping[str, Any]:
    """What a row says of an event of three accounts."""
    return {"accounts": change}


def account(*notes: int) -> dict[str, Any]:
    return {"held": sum(notes), "notes": list(notes)}


def run(bank: Bank) -> None:
    three(bank)
    bank.put(B, 3)
    bank.end(A)
    bank.give_everybody(1)


def test_a_row_tells_the_parts_that_changed(tmp_path: Path) -> None:
    with Journal(tmp_path / "j") as journal:
        bank = Bank(universe={Name: ["a", "b", "c"]})
        three(bank)
        journal.attach(bank, "x")
        bank.put(B, 3)
        bank.end(A)
        bank.give_everybody(1)
    rows = [json.loads(line) for line in (tmp_path / "j").read_text(encoding="utf-8").splitlines()]
    assert [row["changed"] for row in rows[1:]] == [
        told({"$changed": {"set": [["b", account(3)]], "removed": []}}),
        told({"$changed": {"set": [], "removed": ["a"]}}),
        told({"b": account(3, 1), "c": account(1)}),
    ]


def test_a_replay_and_a_store_read_such_rows(tmp_path: Path) -> None:
    with Journal(tmp_path / "j") as journal, Store(tmp_path / "s.db") as store:
        bank = store.add(Bank(universe={Name: ["a", "b", "c"]}), "x")
        journal.attach(bank, "x")
        run(bank)
    rows = [journal_row(row, "") for row in read(tmp_path / "j")]
    whole = [row for row in rows if isinstance(row, Row)]
    verdict = fold(ReplayProgram((Bank.lawful.ir,)), "x", whole)
    assert (verdict.verdict, verdict.finding, verdict.events) == ("fits", None, 6)
    with Store(tmp_path / "s.db") as store:
        assert store.restore(Bank, "x") == bank


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"set": [["b", account(4)]], "removed": []}, "deviates"),
        ({"set": [["c", account(3)]], "removed": []}, "deviates"),
        ({"set": [["b", account(3)]], "removed": ["a"]}, "deviates"),
        ({"set": [["b", account(3)]], "removed": ["d"]}, "deviates"),
        ({"set": [], "removed": []}, "deviates"),
        ({"set": [["b"]], "removed": []}, "quarantined"),
        ({"added": [], "removed": []}, "quarantined"),
    ],
)
def test_a_row_with_another_change_is_found(tmp_path: Path, change: Any, found: str) -> None:
    with Journal(tmp_path / "j") as journal:
        bank = Bank(universe={Name: ["a", "b", "c"]})
        journal.attach(bank, "x")
        run(bank)
    lines = [json.loads(line) for line in (tmp_path / "j").read_text(encoding="utf-8").splitlines()]
    lines[4]["changed"] = told({"$changed": change})
    rows = [journal_row(line, "") for line in lines]
    whole = [row for row in rows if isinstance(row, Row)]
    verdict = fold(ReplayProgram((Bank.lawful.ir,)), "x", whole)
    assert verdict.finding is not None
    assert (verdict.verdict, verdict.finding.index) == (found, 4)


def test_a_record_that_is_read_late_has_the_values_at_the_end_of_its_event() -> None:
    bank = Bank(universe={Name: ["a", "b", "c"]})
    heard: list[Stepped] = []
    bank.lawful.observe(heard.append)
    run(bank)
    held = [{str(k): list(v.notes) for k, v in row.changed["accounts"].items()} for row in heard]
    assert held == [
        {"a": []},
        {"a": [], "b": []},
        {"a": [], "b": [], "c": []},
        {"a": [], "b": [3], "c": []},
        {"b": [3], "c": []},
        {"b": [3, 1], "c": [1]},
    ]
    assert [row.changed.get("opened") for row in heard] == [1, 2, 3, None, None, None]
    kept = copy.copy(heard[3].changed["accounts"][B])
    kept.put(5)
    assert list(heard[3].changed["accounts"][B].notes) == [3]
