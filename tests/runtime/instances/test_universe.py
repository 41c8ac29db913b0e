"""What an instance knows of its universe, for as long as it lives; opaque values that come back."""

from __future__ import annotations

import copy
import json
import pickle
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import pytest

from lawful import (
    Machine,
    Nat,
    Opaque,
    OrderedSort,
    Param,
    initial,
    invariant,
    successor,
    total,
    transition,
)
from lawful.runtime.databases.sqlite import seal
from lawful.runtime.store import Store, StoreError
from tests.runtime.declarations.halls import STRANGE, TOLD, A, B, Hall, N, X, hall
from tests.runtime.services.test_store import died

# What is proved of every universe.


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


class Seat(OrderedSort):
    """Where they sit."""


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
    made = hall()
    made.take(B)
    saved = made.lawful.snapshot()
    assert Hall.lawful.restore(saved, universe={N: ["b", "a"]}) == made


# Elements that the declaration names, total maps, `@initial`.

LEADER = N("leader")


class Led(Machine):
    """The leader is one of N, whoever takes part."""

    who: N = LEADER
    marks: dict[N, bool] = total(False)
    row: tuple[N, ...] = ()
    boss: Param[N | None] = None

    @transition()
    def take(self, who: N) -> None:
        self.who = who

    @transition()
    def back(self) -> None:
        self.who = LEADER

    @transition()
    def mark(self) -> int:
        for each in N:
            self.marks[each] = True
        return len(N)

    @invariant
    def there(self) -> bool:
        return any(each == self.who for each in N)


class Bossed(Machine):
    boss: Param[N] = LEADER

    @transition()
    def go(self) -> int:
        return len(N)


@pytest.mark.parametrize("told", [["a", "b"], ["a", "b", "leader"], ["leader", "b", "a"]])
def test_an_element_that_the_declaration_names_is_in_the_universe(told: list[str]) -> None:
    Led.lawful.enforce("all")
    try:
        led = Led(universe={N: told})
    finally:
        Led.lawful.enforce("off")
    marks = {A: False, B: False, LEADER: False}
    assert (led.who, led.marks, led.mark()) == (LEADER, marks, 3)
    led.take(A)
    led.take(LEADER)
    assert led.marks == dict.fromkeys(marks, True)
    with pytest.raises(ValueError, match=STRANGE):
        led.take(X)
    saved = led.lawful.snapshot()
    assert saved["universe"] == {"N": told if "leader" in told else [*told, "leader"]}
    again = [Led.lawful.restore(saved), pickle.loads(pickle.dumps(led)), copy.copy(led)]
    again.append(Led.lawful.restore(saved, universe={N: ["b", "a"]}))
    assert again == [led] * 4
    assert [each.mark() for each in again] == [3] * 4
    assert Led(universe=TOLD, boss=LEADER).boss == LEADER
    assert Led.lawful.state(universe=TOLD, who=LEADER).there()


def test_a_default_that_is_used_names_its_element() -> None:
    assert Bossed(universe=TOLD).go() == 3
    assert Bossed(universe=TOLD, boss=A).go() == 2
    saved = Bossed(universe=TOLD).lawful.snapshot()
    assert saved["universe"] == {"N": ["a", "b", "leader"]}
    assert Bossed.lawful.restore(saved).go() == 3
    with pytest.raises(ValueError, match="boss: " + STRANGE):
        Bossed(universe=TOLD, boss=X)


class Staff(Machine):
    """Its part has the default, so the leader is one of N."""

    head: Bossed = Bossed()

    @transition()
    def go(self) -> int:
        return len(N)


class OwnStaff(Machine):
    """Nobody uses the default of its part."""

    head: Bossed = Bossed(boss=A)

    @transition()
    def go(self) -> int:
        return len(N)


def test_a_default_of_a_part_names_its_element() -> None:
    assert Staff(universe=TOLD).go() == 3
    assert OwnStaff(universe={N: ["b"]}).go() == 2


def test_a_snapshot_without_a_named_element_is_of_another_universe() -> None:
    saved = Led(universe=TOLD).lawful.snapshot()
    saved["universe"]["N"].remove("leader")
    del saved["variables"]["marks"]["leader"]
    with pytest.raises(ValueError, match=r"another universe: N is \['a', 'b'\], not .*'leader'\]"):
        Led.lawful.restore(saved)


class Rowed(Machine):
    """Names a seat, whose place in the order only a universe tells."""

    at: Seat = Seat("first")

    @transition()
    def on(self) -> None:
        self.at = successor(self.at)


def test_a_named_element_of_an_ordered_sort_needs_its_place() -> None:
    with pytest.raises(
        ValueError, match=r"universe: Seat lacks Seat\('first'\), which Rowed names and which must"
    ):
        Rowed(universe={Seat: ["a", "b"]})
    made = Rowed(universe={Seat: ["a", "first", "b"]})
    made.on()
    assert made.at == Seat("b")


def test_a_universe_may_be_read_only_once() -> None:
    led = Led(universe={N: (each for each in "ab")})
    assert led.mark() == 3


def test_a_universe_of_another_form_is_refused_in_words() -> None:
    with pytest.raises(TypeError, match=r"universe: N is an iterable of its elements, not None"):
        Led(universe={N: None})
    wrong: Any = {"N": ["a"]}
    with pytest.raises(TypeError, match=r"universe: 'N' is no sort"):
        Led(universe=wrong)


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
    more = {N: ["a", "b", "x"]}
    with Store(tmp_path / "halls.db") as store:
        store.restore(Hall, "h").take(A)
        died(store, "h")
    with Store(tmp_path / "halls.db") as store:
        with pytest.raises(StoreError, match=r"another universe, N is .*, and events of the other"):
            store.restore(Hall, "h", policy="same", universe=more, renamed={})
        grown = store.restore(Hall, "h", universe=more, renamed={})
        grown.take(X)
        assert grown.one == X


def test_an_event_of_a_store_is_checked(tmp_path: Path) -> None:
    file = tmp_path / "halls.db"
    with Store(file) as store:
        store.add(hall(), "h").take(A)
        died(store, "h")
    with sqlite3.connect(file) as db:
        db.execute("UPDATE event SET args = ?", (json.dumps({"n": "x"}),))
        db.execute("UPDATE event SET changed = ?", (json.dumps({"variables": {"one": "x"}}),))
        seal(db)
    db.close()
    with Store(file) as store:
        with pytest.raises(StoreError, match="no element"):
            store.restore(Hall, "h", policy="same")
        with pytest.raises(ValueError, match="x"):
            store.restore(Hall, "h")


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


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"held": "7"}, "held is a Payload . None, not '7', a str"),
        ({"text": b"7"}, "text is a Text . None, not b'7', a bytes"),
        ({"either": 7}, "either is a Either . None, not 7, a int"),
    ],
)
def test_an_opaque_value_of_another_type_is_not_let_in(values: dict[str, Any], told: str) -> None:
    with pytest.raises(TypeError, match=told):
        Carried.lawful.state(**values)
    assert Carried.lawful.state(held=7, text="7", either=b"7", anything=("7",)).text == "7"


def test_an_argument_of_another_type_than_its_opaque_is_not_let_in() -> None:
    made: Any = Carried()
    with pytest.raises(TypeError, match="put: held is a Payload, which holds int, not '7', a str"):
        made.put("7")
    assert made.held is None
    made.put(7)
    assert made.held == 7
