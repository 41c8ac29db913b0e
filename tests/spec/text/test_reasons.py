"""What is said of a false condition: the same in every engine."""

from __future__ import annotations

import pytest

from lawful import Machine, Nat, Record, State, Timer, implies, require, transition
from lawful.spec import ir
from lawful.spec.text import reasons


class Mode(State):
    ON = "on"
    OFF = "off"


class Msg(Record):
    n: Nat


class Said(Machine):
    mode: Mode = Mode.ON
    n: Nat = 0
    flag: bool = False
    table: dict[Nat, Nat] = {}
    last: Msg | None = None
    idle: Timer = Timer()

    def small(self, x: Nat) -> bool:
        return x < self.n

    @transition()
    def one(self, m: Msg, key: Nat) -> None:
        require(m.n <= self.n and self.mode == Mode.OFF and 0 < key < 5)
        require(self.flag)
        require(not self.flag)
        require(self.idle.armed)
        require(key in self.table)
        require(self.table[key] > 1)
        require(self.last is not None)
        require(key not in self.table or self.table[key] > 1)
        require(all(q > key for q in self.table if self.table[q] > 0))
        require(self.small(key))
        require(implies(self.flag, self.last == m))
        require(self.n != 4)


TOLD = [
    ("1 <= 2 is false", "m.n <= n is false (m.n = 1, n = 2)"),
    ("1 == 2 is false", "mode == Mode.OFF is false (mode = 1)"),
    ("1 < 2 is false", "0 < key is false (key = 2)"),
    ("1 < 2 is false", "key < 5 is false (key = 1)"),
    ("flag is false", "flag is false"),
    ("flag is true", "flag is true"),
    ("idle.armed is false", "idle.armed is false"),
    ("key in table is false: key = 1, table = 2", "key in table is false (key = 1, table = 2)"),
    ("1 > 2 is false", "table[key] > 1 is false (table[key] = 1)"),
    ("last is not None is false: last = 1", "last is not None is false (last = 1)"),
    # Not `table[key]`: the condition may be false without its having a value.
    (
        "key not in table or table[key] > 1 is false: key = 1, table = 2",
        "key not in table or table[key] > 1 is false (key = 1, table = 2)",
    ),
    (
        "all(q > key for q in table if table[q] > 0) is false: table = 1, key = 2",
        "all(q > key for q in table if table[q] > 0) is false (table = 1, key = 2)",
    ),
    ("small(key) is false: key = 1", "small(key) is false (key = 1)"),
    (
        "implies(flag, last == m) is false: flag = 1, last = 2, m = 3",
        "implies(flag, last == m) is false (flag = 1, last = 2, m = 3)",
    ),
    ("1 != 2 is false", "n != 4 is false (n = 1)"),
]


def guards() -> list[ir.Expr]:
    body = Said.lawful.ir.transition("one").function.body
    found = [stmt.test for stmt in body if isinstance(stmt, ir.Require)]
    return [each for test in found for each in reasons.conjuncts(test)]


@pytest.mark.parametrize("row", range(len(TOLD)))
def test_what_is_told(row: int) -> None:
    test = guards()[row]
    values = [str(i) for i, _ in enumerate(reasons.shown(test), 1)]
    assert (reasons.refusal(test, values), reasons.failure(test, values)) == TOLD[row]


def test_all_of_them_are_told() -> None:
    assert len(guards()) == len(TOLD)


def test_values_are_named_by_their_places() -> None:
    assert reasons.named(guards()[0], [7, 1]) == {"m.n": 7, "n": 1}
    assert reasons.named(guards()[1], ["ON", "OFF"]) == {"mode": "ON"}


FORMS: list[tuple[ir.Json, str]] = [
    (7, "7"),
    (None, "None"),
    (True, "True"),
    ("OPEN", "OPEN"),
    ({"$int": "123456789012345678901"}, "123456789012345678901"),
    ({"$": "Ack", "seqno": 1, "to": "a"}, "Ack(seqno=1, to=a)"),
    ({"$tuple": [1]}, "(1,)"),
    ({"$set": [1, 2]}, "{1, 2}"),
    ({"$set": []}, "set()"),
    ({"$map": [[1, {"$": "M"}]]}, "{1: M()}"),
    ({"a": [1, 2]}, "{a: [1, 2]}"),
    ({"$opaque": "Payload", "id": 0}, "Payload(0)"),
    (list(range(50)), "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16..."),
]


@pytest.mark.parametrize(("form", "text"), FORMS)
def test_values_as_text(form: ir.Json, text: str) -> None:
    assert reasons.text(form) == text
    assert len(reasons.text(form)) <= reasons.LONGEST
