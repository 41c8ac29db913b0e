"""Every way by which a state, a parameter or an argument comes into an instance, and everything
that it keeps out: elements that were not told, empty universes, what an `@assume` excludes, and
opaque values of another type."""

from __future__ import annotations

import copy
import json
import pickle
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import pytest

from lawful import (
    Machine,
    Nat,
    Opaque,
    OrderedSort,
    Param,
    Record,
    Sort,
    Undefined,
    assume,
    initial,
    invariant,
    total,
    transition,
)
from lawful.checks.replay import ReplayProgram, replay
from lawful.runtime.journal import Journal
from lawful.runtime.store import Store, StoreError


class N(Sort):
    """Who takes part."""


class Seat(OrderedSort):
    """Where they sit."""


class Pair(Record):
    one: N
    two: N | None


class Part(Machine):
    """A part that is made with parameters."""

    most: Param[Nat] = 1
    who: N | None = None

    @assume
    def few(self) -> bool:
        return self.most <= 3

    @transition()
    def take(self, who: N) -> None:
        self.who = who


class Hall(Machine):
    """Elements in every kind of place."""

    lim: Param[Nat] = 1
    owner: Param[N | None] = None
    one: N | None = None
    pair: Pair | None = None
    some: set[N] = set()
    row: list[N] = []
    at: dict[N, Nat] = {}
    inside: tuple[frozenset[Pair], ...] = ()
    parts: dict[N, Part] = {}
    flag: bool = False

    @assume
    def small(self) -> bool:
        return self.lim <= 3

    @transition()
    def take(self, n: N) -> None:
        self.one = n

    @transition()
    def take_pair(self, pair: Pair) -> None:
        self.pair = pair

    @transition()
    def take_some(self, some: frozenset[N]) -> None:
        self.some = set(some)

    @transition()
    def take_inside(self, inside: tuple[frozenset[Pair], ...]) -> None:
        self.inside = inside

    @transition()
    def perhaps(self, n: N | None) -> None:
        self.one = n

    @transition()
    def count(self, at: Mapping[bool, N]) -> None:
        self.one = at[True]

    @transition()
    def open(self, n: N, most: Nat) -> None:
        self.parts[n] = Part(most=most)


A, B, X = N("a"), N("b"), N("x")
TOLD: Any = {N: ["a", "b"]}
STRANGE = r"N\('x'\) is no element"


def hall(**more: Any) -> Hall:
    return Hall(universe=TOLD, **more)


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
    return [["a", {"machine": "Part", "parameters": {"most": 2}, "variables": {"who": None}} | more]]


# What a snapshot must not have: the values that are changed in a good one, and what is said.
STATES: dict[str, tuple[dict[str, Any], str]] = {
    "element": ({"one": "x"}, STRANGE),
    "element of a record": ({"pair": {"$": "Pair", "one": "a", "two": "x"}}, STRANGE),
    "element of a set": ({"some": {"$set": ["a", "x"]}}, STRANGE),
    "element of a list": ({"row": ["x"]}, STRANGE),
    "key": ({"at": {"x": 1}}, STRANGE),
    "element deep inside": (
        {"inside": {"$tuple": [{"$set": [{"$": "Pair", "one": "x", "two": None}]}]}}, STRANGE,
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
    "empty, restore": (lambda: Hall.lawful.restore(snapshot(), universe={N: ()}), "N is"),
    "empty, taken over": (
        lambda: Hall.lawful.restore(snapshot(), universe={N: ()}, renamed={}), "N has no element",
    ),
    "empty, state": (lambda: Hall.lawful.state(universe={N: set[Any]()}), "N has no element"),
    "empty, snapshot": (
        lambda: Hall.lawful.restore({**snapshot(), "universe": {"N": []}}), "N has no element",
    ),
    "no universe": (
        lambda: Hall.lawful.restore({**snapshot(), "universe": ["a"]}), "a universe is",
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
    other = type(N)("N", (Sort,), {"__slots__": ()})
    with pytest.raises(TypeError, match=r"Hall's N is .*test_doors\.N, another class"):
        Hall(universe={other: ["a"]})


# The issue's own example: what is proved of every universe.


class Rounds(Machine):
    """Done when everybody was added: nobody is late."""

    s: set[N] = set()
    done: bool = False
    bad: bool = False

    @transition()
    def add(self, k: N) -> None:
        self.s.add(k)

    @transition()
    def fin(self) -> None:
        self.done = all(x in self.s for x in N)

    @transition()
    def late(self, k: N) -> None:
        self.bad = self.done and k not in self.s

    @invariant
    def never(self) -> bool:
        return not self.bad

    @invariant
    def everybody(self) -> bool:
        return not self.done or all(x in self.s for x in N)


def test_nobody_is_late() -> None:
    made = Rounds(universe={N: ["a"]})
    made.add(A)
    made.fin()
    with pytest.raises(ValueError, match=r"late: k: N\('b'\) is no element"):
        made.late(B)
    saved = made.lawful.snapshot()
    assert saved["universe"] == {"N": ["a"]}
    again = Rounds.lawful.restore(saved)  # Without a word about the universe it is the same.
    with pytest.raises(ValueError, match=r"late: k: N\('b'\) is no element"):
        again.late(B)
    with pytest.raises(ValueError, match=r"with another universe: N is \['a'\], not \['a', 'b'\]"):
        Rounds.lawful.restore(saved, universe={N: [A, B]})
    with pytest.raises(ValueError, match="everybody"):
        Rounds.lawful.restore(saved, universe={N: [A, B]}, renamed={})


def test_a_universe_may_grow_where_every_invariant_allows_it() -> None:
    made = Rounds(universe={N: ["a"]})
    made.add(A)
    more = Rounds.lawful.restore(made.lawful.snapshot(), universe={N: "ba"}, renamed={})
    more.fin()
    assert (more.s, more.done) == ({A}, False)


class Line(Machine):
    first: Seat | None = None

    @transition()
    def take(self, seat: Seat) -> None:
        self.first = seat if self.first is None else min(self.first, seat)


def test_the_order_is_part_of_an_ordered_universe_only() -> None:
    line = Line(universe={Seat: ["b", "a"]})
    line.take(Seat("a"))
    saved = line.lawful.snapshot()
    assert Line.lawful.restore(saved, universe={Seat: ["b", "a"]}) == line
    with pytest.raises(ValueError, match="another universe: Seat is"):
        Line.lawful.restore(saved, universe={Seat: ["a", "b"]})
    assert Hall.lawful.restore(snapshot(), universe={N: ["b", "a"]}) == Hall.lawful.restore(
        snapshot()
    )


# Elements that the declaration names, total maps, `@initial`.

LEADER = N("leader")


class Led(Machine):
    """The leader may be none of those who take part."""

    who: N = LEADER
    boss: Param[N | None] = None

    @transition()
    def take(self, who: N) -> None:
        self.who = who

    @transition()
    def back(self) -> None:
        self.who = LEADER


class Bossed(Led):
    boss: Param[N] = LEADER


def test_a_state_may_have_an_element_that_the_declaration_names() -> None:
    led = Led(universe=TOLD)
    assert led.who == LEADER
    led.take(A)
    led.back()
    assert Led.lawful.restore(led.lawful.snapshot()) == pickle.loads(pickle.dumps(led)) == led
    assert Led.lawful.state(universe=TOLD, who=LEADER) == led
    for call in (lambda: led.take(LEADER), lambda: Led(universe=TOLD, boss=LEADER)):
        with pytest.raises(ValueError, match=r"N\('leader'\) is no element"):
            call()
    with pytest.raises(ValueError, match=r"boss: N\('leader'\) is no element"):
        Bossed(universe=TOLD)  # Proofs are of parameters that the universe has, defaults or not.


class Ready(Machine):
    ready: Mapping[N, bool] | None = None
    held: dict[N, Nat] = total(0)

    @initial
    def begin(self, who: N) -> None:
        self.held[who] = 1

    @transition()
    def put(self, ready: Mapping[N, bool]) -> None:
        self.ready = ready


def test_an_initial_is_a_door() -> None:
    made = Ready(universe=TOLD)
    with pytest.raises(ValueError, match="begin: who: " + STRANGE):
        made.begin(X)
    again = pickle.loads(pickle.dumps(made))
    again.begin(B)
    assert again.held == {A: 0, B: 1}


def test_a_total_map_over_a_sort_needs_a_universe() -> None:
    data = Ready.lawful.state(universe=TOLD).lawful.snapshot()
    del data["universe"]
    with pytest.raises(RuntimeError, match=r"a value for each N: .*universe=\{N: \[\.\.\.\]\}"):
        Ready.lawful.restore(data)
    assert Ready.lawful.restore(data, universe=TOLD).held == {A: 0, B: 0}


# Stores.


def test_a_store_keeps_the_universe(tmp_path: Path) -> None:
    with Store(tmp_path / "halls.db") as store:
        store.add(hall(), "h").take(A)
    with Store(tmp_path / "halls.db") as store:
        made = store.restore(Hall, "h")
        with pytest.raises(ValueError, match=STRANGE):
            made.take(X)
        made.take(B)
    with Store(tmp_path / "halls.db") as store:
        with pytest.raises(ValueError, match="another universe"):
            store.restore(Hall, "h", universe={N: ["a", "b", "x"]})
        assert store.restore(Hall, "h", universe=TOLD).one == B


def test_an_event_of_a_store_is_checked(tmp_path: Path) -> None:
    file = tmp_path / "halls.db"
    with Store(file) as store:
        store.add(hall(), "h").take(A)
    with sqlite3.connect(file) as db:
        db.execute("UPDATE event SET args = ?", (json.dumps({"n": "x"}),))
    db.close()
    with Store(file) as store, pytest.raises(StoreError, match="no element"):
        store.restore(Hall, "h")


# Journals.

LIES: dict[str, tuple[int, Callable[[dict[str, Any]], object], str, str]] = {
    "argument": (1, lambda row: row["args"].update(n="x"), "deviates", "n: x is no element"),
    "inside": (
        2, lambda row: row["args"]["pair"].update(two="x"), "deviates", "pair: x is no element",
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


# Opaque values.


class Carried(Machine):
    held: Annotated[int, Opaque("Payload")] | None = None
    text: Annotated[str, Opaque("Text")] | None = None
    either: Annotated[str | bytes, Opaque("Either")] | None = None
    anything: Annotated[object, Opaque("Any")] | None = None

    @transition()
    def put(self, held: Annotated[int, Opaque("Payload")]) -> None:
        self.held = held


def carried(**values: str) -> Carried:
    data = Carried().lawful.snapshot()
    names = {"held": "Payload", "text": "Text", "either": "Either", "anything": "Any"}
    for name, encoded in values.items():
        data["variables"][name] = {"$opaque": names[name], "id": encoded}
    return Carried.lawful.restore(data)


@pytest.mark.parametrize(
    ("name", "encoded", "told"),
    [
        ("held", "str:7", "Payload is of type int, not '7', a str"),
        ("held", "bytes:Nw==", "Payload is of type int, not b'7', a bytes"),
        ("text", "int:7", "Text is of type str, not 7, a int"),
        ("either", "int:7", "Either is of type bytes or str, not 7, a int"),
    ],
)
def test_an_opaque_value_comes_back_as_its_annotation_says(
    name: str, encoded: str, told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        carried(**{name: encoded})


def test_what_is_of_the_annotation_comes_back() -> None:
    made = carried(held="int:7", text="str:7", either="bytes:Nw==", anything="int:7")
    assert (made.held, made.text, made.either, made.anything) == (7, "7", b"7", 7)
    assert carried(either="str:7").either == "7"


def test_what_could_not_come_back_has_no_snapshot(tmp_path: Path) -> None:
    made: Any = Carried()
    with Store(tmp_path / "carried.db") as store:
        store.add(made, "c")
        with pytest.raises(TypeError, match="no encoding for '7': the opaque Payload is of type"):
            made.put("7")
    assert made.held is None
    made.put("7")
    with pytest.raises(TypeError, match="no encoding for '7': the opaque Payload is of type int"):
        made.lawful.snapshot()
