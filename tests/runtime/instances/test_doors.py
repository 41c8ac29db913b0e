"""Every way by which a state, a parameter or an argument comes into an instance, and everything
that it keeps out: elements that were not told, empty universes, what an `@assume` excludes, and
opaque values of another type."""

from __future__ import annotations

import copy
import json
import pickle
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, Nat, Param, Sort, Undefined, assume, transition
from lawful.checks.replay import ReplayProgram, replay
from lawful.runtime.databases.sqlite import seal
from lawful.runtime.journal import Journal
from lawful.runtime.store import Store
from tests.runtime.declarations.halls import STRANGE, TOLD, A, B, Hall, N, Pair, Part, X, hall


def snapshot(**values: Any) -> dict[str, Any]:
    """A snapshot of a hall with a part, and with other values in it."""
    made = hall()
    made.open(A, 2)
    data = copy.deepcopy(made.lawful.snapshot())
    for name, value in values.items():
        data["parameters" if name in data["parameters"] else "variables"][name] = value
    return data


def as_older(data: dict[str, Any]) -> dict[str, Any]:
    return {**data, "shape": "older"}


def part(**more: Any) -> list[Any]:
    good = {"machine": "Part", "parameters": {"most": 2}, "variables": {"who": None}}
    return [["a", good | more]]


# What a snapshot must not have: the values that are changed in a good one, and what is said.
STATES: dict[str, tuple[dict[str, Any], str]] = {
    "element": ({"one": "x"}, STRANGE),
    "element of a record": ({"pair": {"$": "Pair", "one": "a", "two": "x"}}, STRANGE),
    "element of a set": ({"some": {"$set": ["a", "x"]}}, STRANGE),
    "element of a list": ({"row": ["x"]}, STRANGE),
    "key": ({"at": {"x": 1}}, STRANGE),
    "element deep inside": (
        {"inside": {"$tuple": [{"$set": [{"$": "Pair", "one": "x", "two": None}]}]}},
        STRANGE,
    ),
    "key of a part": ({"parts": [["x", part()[0][1]]]}, STRANGE),
    "element of a part": ({"parts": part(variables={"who": "x"})}, STRANGE),
    "parameter": ({"owner": "x"}, STRANGE),
    "assumption": ({"lim": 9}, "Hall: the assumption small is false"),
    "assumption of a part": ({"parts": part(parameters={"most": 9})}, "Part: the assumption few"),
}


def restored(data: dict[str, Any], _path: Path) -> object:
    return Hall.lawful.restore(data, universe=TOLD)


def restored_as_told(data: dict[str, Any], _path: Path) -> object:
    return Hall.lawful.restore(data)


def taken_over(data: dict[str, Any], _path: Path) -> object:
    return Hall.lawful.restore(as_older(data), universe=TOLD, renamed={})


def stored(data: dict[str, Any], path: Path) -> object:
    file = path / "halls.db"
    with Store(file) as store:
        store.add(hall(), "h")
    with sqlite3.connect(file) as db:
        db.execute("UPDATE snapshot SET data = ?", (json.dumps(data),))
        seal(db)
    db.close()
    with Store(file) as store:
        return store.restore(Hall, "h")


def pickled(data: dict[str, Any], _path: Path) -> object:
    """As an instance of another version of the class was pickled."""
    without = {key: value for key, value in data.items() if key != "universe"}
    free: Any = Hall.lawful.plan
    known, free.assumed = free.assumed, ()
    parts: Any = Part.lawful.plan
    of_part, parts.assumed = parts.assumed, ()
    try:
        make, (kept, _, unstarted) = Hall.lawful.restore(without).__reduce__()
    finally:
        free.assumed, parts.assumed = known, of_part
    return pickle.loads(pickle.dumps(_Made(make, (kept, {"N": (A, B)}, unstarted))))


class _Made:
    """Something that is pickled as an instance is."""

    def __init__(self, make: Callable[..., object], args: tuple[Any, ...]) -> None:
        self.made = make, args

    def __reduce__(self) -> Any:
        return self.made


DOORS = (restored, restored_as_told, taken_over, stored, pickled)


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
@pytest.mark.parametrize("bad", STATES)
def test_no_door_lets_in_what_is_no_state(
    bad: str, door: Callable[[dict[str, Any], Path], object], tmp_path: Path
) -> None:
    values, told = STATES[bad]
    with pytest.raises(ValueError, match=told):
        door(snapshot(**values), tmp_path)


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_each_door_lets_a_state_in(
    door: Callable[[dict[str, Any], Path], object], tmp_path: Path
) -> None:
    good = Hall.lawful.restore(snapshot())
    made: Any = door(snapshot(), tmp_path)
    assert made == good
    with pytest.raises(ValueError, match=STRANGE):
        made.take(X)  # It knows the universe.


# What is given by a caller.

GIVEN: dict[str, tuple[Callable[[], object], str]] = {
    "parameter": (lambda: hall(owner=X), STRANGE),
    "assumption": (lambda: hall(lim=9), "the assumption small is false"),
    "state": (lambda: Hall.lawful.state(universe=TOLD, one=X), STRANGE),
    "state, inside": (lambda: Hall.lawful.state(universe=TOLD, pair=Pair(A, X)), STRANGE),
    "state, parameter": (lambda: Hall.lawful.state(universe=TOLD, owner=X), STRANGE),
    "state, assumption": (lambda: Hall.lawful.state(universe=TOLD, lim=9), "small is false"),
    "argument": (lambda: hall().take(X), "take: n: " + STRANGE),
    "record": (lambda: hall().take_pair(Pair(X, None)), r"take_pair: pair.one: " + STRANGE),
    "union": (lambda: hall().take_pair(Pair(A, X)), r"take_pair: pair.two: " + STRANGE),
    "perhaps": (lambda: hall().perhaps(X), STRANGE),
    "set": (lambda: hall().take_some(frozenset({A, X})), STRANGE),
    "deep": (lambda: hall().take_inside((frozenset({Pair(A, X)}),)), STRANGE),
    "map": (lambda: hall().count({True: X, False: A}), STRANGE),
    "by name": (lambda: hall().lawful.take("take", X), STRANGE),
    "may": (lambda: hall().lawful.may("take", X), STRANGE),
    "explain": (lambda: hall().lawful.explain("take", X), STRANGE),
    "empty": (lambda: Hall(universe={N: []}), "N has no element"),
    "empty, restore": (lambda: Hall.lawful.restore(snapshot(), universe={N: ()}), "N has no"),
    "empty, taken over": (
        lambda: Hall.lawful.restore(snapshot(), universe={N: ()}, renamed={}),
        "N has no element",
    ),
    "empty, state": (lambda: Hall.lawful.state(universe={N: set[Any]()}), "N has no element"),
    "empty, snapshot": (
        lambda: Hall.lawful.restore({**snapshot(), "universe": {"N": []}}),
        "N has no element",
    ),
    "no universe": (
        lambda: Hall.lawful.restore({**snapshot(), "universe": ["a"]}),
        "a universe is",
    ),
}


@pytest.mark.parametrize("bad", GIVEN)
def test_what_a_caller_gives_is_checked(bad: str) -> None:
    call, told = GIVEN[bad]
    with pytest.raises(ValueError, match=told):
        call()


def test_what_is_refused_changes_nothing_and_is_told_to_nobody() -> None:
    heard = list[object]()
    made = hall()
    made.take(A)
    made.lawful.observe(heard.append)
    before = made.lawful.snapshot()
    with pytest.raises(ValueError, match="take: n: " + STRANGE):
        made.take(X)
    with pytest.raises(Undefined, match="Part: the assumption few is false"):
        made.open(B, 9)
    assert made.lawful.snapshot() == before and not heard
    made.open(B, 3)
    assert made.parts[B].most == 3 and len(heard) == 1


class Ratio(Machine):
    part: Param[Nat] = 1

    @assume
    def some(self) -> bool:
        return 6 // self.part > 1

    @transition()
    def go(self) -> None: ...


def test_an_assumption_without_a_value_is_no_assumption_kept() -> None:
    data = Ratio().lawful.snapshot()
    data["parameters"]["part"] = 0
    told = "Ratio: the assumption some has no value for these parameters: ZeroDivisionError"
    with pytest.raises(ValueError, match=told):
        Ratio(part=0)
    with pytest.raises(ValueError, match=told):
        Ratio.lawful.state(part=0)
    with pytest.raises(ValueError, match=told):
        Ratio.lawful.restore(data)
    with pytest.raises(ValueError, match=told):
        Ratio.lawful.restore(as_older(data), renamed={})


def test_copies_know_the_universe() -> None:
    for made in (copy.copy(hall()), copy.deepcopy(hall()), pickle.loads(pickle.dumps(hall()))):
        made.take(A)
        with pytest.raises(ValueError, match=STRANGE):
            made.take(X)


def test_who_was_told_nothing_takes_every_element() -> None:
    made = Hall()
    made.take(X)
    made.take_pair(Pair(X, X))
    made.take_some(frozenset({A, X}))
    data = made.lawful.snapshot()
    assert "universe" not in data
    assert Hall.lawful.restore(data) == pickle.loads(pickle.dumps(made)) == made
    with pytest.raises(ValueError, match=STRANGE):
        Hall.lawful.restore(data, universe=TOLD)


def test_a_sort_of_another_class_is_another_sort() -> None:
    def other() -> type[Sort]:
        class N(Sort):
            """Another one of the same name."""

        return N

    with pytest.raises(TypeError, match=r"Hall's N is .*halls\.N, another class"):
        Hall(universe={other(): ["a"]})


# Journals.

LIES: dict[str, tuple[int, Callable[[dict[str, Any]], object], str, str]] = {
    "argument": (
        1,
        lambda row: row["args"].update(n="x"),
        "deviates",
        "n: x is not in the universe= of the instance",
    ),
    "inside": (
        2,
        lambda row: row["args"]["pair"].update(two="x"),
        "deviates",
        "pair: x is not in the universe= of the instance",
    ),
    "parameter": (0, lambda row: row["args"].update(owner="x"), "deviates", "owner: x is no"),
    "assumption": (0, lambda row: row["args"].update(lim=9), "deviates", "small is false"),
    "empty": (0, lambda row: row["universe"].update(N=[]), "quarantined", "universe of N is"),
    "twice": (0, lambda row: row["universe"].update(N=["a", "a"]), "quarantined", "universe of N"),
}


def journal(path: Path) -> list[dict[str, Any]]:
    made = hall()
    with Journal(path) as written:
        written.attach(made, "h")
        made.take(A)
        made.take_pair(Pair(A, B))
    return [json.loads(line) for line in path.read_text().splitlines()]


def verdict(path: Path, rows: list[dict[str, Any]]) -> tuple[dict[str, int], str]:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    found: Any = replay([path], ReplayProgram((Hall.lawful.ir,))).to_json()
    return {k: n for k, n in found["verdicts"].items() if n}, json.dumps(found)


@pytest.mark.parametrize("lie", LIES)
def test_a_replay_finds_what_no_instance_takes(lie: str, tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    rows = journal(path)
    assert verdict(path, rows)[0] == {"fits": 1}
    number, change, expected, told = LIES[lie]
    change(rows[number])
    verdicts, text = verdict(path, rows)
    assert verdicts == {expected: 1}
    assert told in text
