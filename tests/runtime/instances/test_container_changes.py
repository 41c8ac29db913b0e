"""What rows tell of a container that has changed: what differs, from which the value follows."""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful import Machine, Nat, Param, Record, Sort, Timer, transition
from lawful.checks.replay import ReplayProgram, replay
from lawful.runtime.instances.journal_rows import variables
from lawful.runtime.instances.merging import Merging
from lawful.runtime.instances.touched_entries import touched_by
from lawful.runtime.journal import Journal, read
from lawful.runtime.timers import SimulatedClock
from lawful.spec.codec.as_json import is_object


class Node(Sort):
    pass


class Line(Record):
    item: Nat
    many: Nat


class Store(Machine):
    """A container of each kind, and containers in one."""

    shift: Param[Nat] = 2
    last: Nat = 0
    bag: Counter[Nat] = Counter()
    places: dict[tuple[Nat, Nat], Nat] = {}

    ids: set[Nat] = set()
    counts: dict[Nat, Nat] = {}
    names: dict[Node, Nat] = {}
    queue: list[Nat] = []
    groups: dict[Nat, set[Nat]] = {}
    rows: dict[Nat, list[Nat]] = {}
    leases: dict[Nat, Timer] = {}

    @transition()
    def fill(self, upto: Nat) -> None:
        self.ids = set(range(upto))
        self.counts = {k: k for k in range(upto)}
        self.queue = list(range(upto))

    @transition()
    def put(self, k: Nat, v: Nat) -> None:
        self.ids.add(k)
        self.counts[k] = v
        self.queue.append(v)

    @transition()
    def next(self, v: Nat) -> None:
        """Keys that the state decides."""
        self.last += 1
        self.counts[self.last] = v
        self.ids.add(self.last)
        self.queue.insert(0, v)

    @transition()
    def swap(self, line: Line, other: Nat) -> None:
        """Keys of a record, a tuple, a constant, a parameter; some are not changed."""
        self.ids.discard(line.item)
        self.ids.add(other)
        self.bag[line.item] += 1
        self.bag[other] = 0
        self.counts[self.shift] = line.many
        if line.many > 1:
            self.counts[3] = other
        else:
            other = 4
            self.counts.pop(line.item, 0)
        self.places[(line.item, line.many)] = other

    @transition()
    def move(self, line: Line, other: Nat) -> None:
        self.ids.discard(line.item)
        self.ids.add(other)
        self.bag[line.item] += 1
        self.bag[other] = 0
        self.counts[self.shift] = line.many
        self.counts[3] = other

    @transition()
    def helped(self, k: Nat) -> None:
        """A helper changes them."""
        self.help(k)
        if k > 0:
            self.counts[k] = 0

    def help(self, k: Nat) -> None:
        self.counts[k + 1] = k
        self.ids.add(k + 1)

    @transition()
    def deeper(self, line: Line) -> None:
        """A helper's helper changes them."""
        self.help_twice(line)

    def help_twice(self, of: Line) -> None:
        self.help(of.item)

    @transition()
    def lost(self, k: Nat) -> None:
        """Helpers that use another value than what they were given."""
        self.move_on(3)
        self.local(k)

    def move_on(self, k: Nat) -> None:
        k = k + 2
        self.counts[k] = 1

    def local(self, of: Nat) -> None:
        k = of + 3
        self.ids.add(k)

    @transition()
    def several(self, upto: Nat) -> None:
        for k in range(upto):
            self.queue.append(k)
            self.counts[k] = 0
        self.ids.add(upto)

    @transition()
    def name(self, node: Node, v: Nat) -> None:
        self.names[node] = v

    @transition()
    def drop(self, k: Nat) -> None:
        self.ids.discard(k)
        if k in self.counts:
            del self.counts[k]
        if len(self.queue) > 0:
            self.queue.pop(0)

    @transition()
    def group(self, k: Nat, v: Nat) -> None:
        if k not in self.groups:
            self.groups[k] = set()
            self.rows[k] = []
        self.groups[k].add(v)
        self.rows[k].append(v)

    @transition()
    def lease(self, k: Nat) -> None:
        self.leases[k] = Timer()
        self.leases[k].start(5)

    @transition()
    def end(self, k: Nat) -> None:
        if k in self.leases:
            del self.leases[k]


def act(store: Store, rows: list[tuple[str, tuple[Any, ...]]]) -> None:
    for name, args in rows:
        getattr(store, name)(*args)


def changed(path: Path) -> list[dict[str, Any]]:
    return [row["changed"] for row in read(path)][1:]


def test_rows_tell_what_was_added_removed_and_set(tmp_path: Path) -> None:
    with Journal(tmp_path / "j.jsonl") as journal:
        store = Store(clock=SimulatedClock())
        journal.attach(store, "a")
        store.fill(100)
        store.put(200, 7)
        store.put(3, 8)
        store.drop(3)
        store.group(1, 1)
        store.group(1, 2)
        for i in range(10):
            store.lease(i)
        store.lease(3)
    rows = changed(tmp_path / "j.jsonl")
    assert rows[1:6] == [
        {
            "ids": {"$changed": {"added": [200], "removed": []}},
            "counts": {"$changed": {"set": [[200, 7]], "removed": []}},
            "queue": {"$changed": {"at": 100, "removed": 0, "added": [7]}},
        },
        {
            "counts": {"$changed": {"set": [[3, 8]], "removed": []}},
            "queue": {"$changed": {"at": 101, "removed": 0, "added": [8]}},
        },
        {
            "ids": {"$changed": {"added": [], "removed": [3]}},
            "counts": {"$changed": {"set": [], "removed": [3]}},
            "queue": {"$changed": {"at": 0, "removed": 1, "added": []}},
        },
        {
            "groups": {"$changed": {"set": [[1, {"$set": [1]}]], "removed": []}},
            "rows": {"$changed": {"set": [[1, [1]]], "removed": []}},
        },
        {
            "groups": {"$changed": {"set": [[1, {"$set": [1, 2]}]], "removed": []}},
            "rows": {"$changed": {"set": [[1, [1, 2]]], "removed": []}},
        },
    ]
    assert rows[-2:] == [{"leases": {"$changed": {"set": [[9, True]], "removed": []}}}, {}]
    assert {row["v"] for row in read(tmp_path / "j.jsonl")} == {3}


acts = st.lists(
    st.one_of(
        st.tuples(st.just("fill"), st.tuples(st.sampled_from((0, 5, 30)))),
        st.tuples(st.just("put"), st.tuples(st.integers(0, 40), st.integers(0, 3))),
        st.tuples(
            st.just("name"), st.tuples(st.sampled_from("abcdefghijkl").map(Node), st.just(1))
        ),
        st.tuples(st.just("drop"), st.tuples(st.integers(0, 40))),
        st.tuples(st.just("next"), st.tuples(st.integers(0, 3))),
        st.tuples(st.sampled_from(("helped", "lost")), st.tuples(st.integers(0, 40))),
        st.tuples(st.just("deeper"), st.tuples(st.builds(Line, st.integers(0, 40), st.just(0)))),
        st.tuples(st.just("several"), st.tuples(st.integers(0, 20))),
        st.tuples(
            st.sampled_from(("swap", "move")),
            st.tuples(st.builds(Line, st.integers(0, 40), st.integers(0, 2)), st.integers(0, 40)),
        ),
        st.tuples(st.just("group"), st.tuples(st.integers(0, 2), st.integers(0, 20))),
        st.tuples(st.just("lease"), st.tuples(st.integers(0, 12))),
        st.tuples(st.just("end"), st.tuples(st.integers(0, 12))),
    ),
    max_size=30,
)


@given(acts=acts)
def test_each_state_follows_from_the_one_before(
    acts: list[tuple[str, tuple[Any, ...]]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("journals") / "j.jsonl"
    store = Store(clock=SimulatedClock())
    states: list[Any] = []
    with Journal(path) as journal:
        journal.attach(store, "a")
        for name, args in acts:
            getattr(store, name)(*args)
            states.append(variables(store))
    rows = list(read(path))
    merging = Merging(rows[0]["changed"])
    for row, state in zip(rows[1:], states, strict=True):
        merging.take(json.loads(json.dumps(row["changed"])))
        assert _sorted(merging.result()) == _sorted(state)
    result = replay([path], ReplayProgram((Store.lawful.ir,)))
    assert result.verdicts["fits"] == 1, result.to_json()


def test_rows_of_a_long_run_stay_as_they_are(tmp_path: Path) -> None:
    """Their texts are compared by their hash: every reader has rows of this form."""
    chance = random.Random(19)
    store = Store(clock=SimulatedClock())
    with Journal(tmp_path / "j.jsonl") as journal:
        journal.attach(store, "a")
        store.fill(60)
        for _ in range(300):
            name = chance.choice(sorted(NUMBERS))
            numbers = [chance.randrange(most) for most in NUMBERS[name]]
            if name in ("swap", "move"):
                given: tuple[Any, ...] = Line(*numbers[:2]), numbers[2]
            else:
                given = tuple(numbers)
            getattr(store, name)(*given)
            store.name(Node("abc"[chance.randrange(3)]), chance.randrange(2))
    changed_and_args = [(row["args"], row["changed"]) for row in read(tmp_path / "j.jsonl")]
    text = json.dumps(changed_and_args)
    assert len(changed_and_args) == 602
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "772da584e1d148b9"


NUMBERS = {
    "put": (70, 3),
    "next": (3,),
    "helped": (70,),
    "several": (12,),
    "drop": (70,),
    "group": (3, 20),
    "lease": (12,),
    "end": (12,),
    "swap": (70, 3, 70),
    "move": (70, 3, 70),
}


def _sorted(data: Any) -> Any:
    """The same for each order of the items of sets and maps, and each form of a map."""
    if not is_object(data):
        return data
    if "$set" in data:
        return sorted(map(str, data["$set"]))
    pairs: Any = data["$map"] if "$map" in data else data.items()
    return sorted((str(k), _sorted(v)) for k, v in pairs)


LIES = [
    ("ids", {"$changed": {"added": [201], "removed": []}}, "deviates"),
    ("ids", {"$changed": {"added": [200], "removed": [5]}}, "deviates"),
    ("counts", {"$changed": {"set": [[200, 8]], "removed": []}}, "deviates"),
    ("counts", {"$changed": {"set": [[200, 7]], "removed": [5]}}, "deviates"),
    ("queue", {"$changed": {"at": 99, "removed": 0, "added": [7]}}, "deviates"),
    ("queue", {"$changed": {"at": 100, "removed": 1, "added": [7]}}, "quarantined"),
    ("queue", {"$changed": {"added": [7], "removed": []}}, "quarantined"),
    ("counts", {"$changed": {"set": [200], "removed": []}}, "quarantined"),
    ("counts", {"$changed": {"set": [[200, True]], "removed": []}}, "quarantined"),
    ("ids", {"$changed": 5}, "quarantined"),
]


@pytest.mark.parametrize(("name", "lie", "verdict"), LIES)
def test_a_lie_in_a_change_is_noticed(
    name: str, lie: dict[str, Any], verdict: str, tmp_path: Path
) -> None:
    with Journal(tmp_path / "j.jsonl") as journal:
        store = Store(clock=SimulatedClock())
        journal.attach(store, "a")
        store.fill(100)
        store.put(200, 7)
    rows = list(read(tmp_path / "j.jsonl"))
    program = ReplayProgram((Store.lawful.ir,))
    assert replay([tmp_path / "j.jsonl"], program).verdicts["fits"] == 1
    rows[-1]["changed"][name] = lie
    (tmp_path / "j.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert replay([tmp_path / "j.jsonl"], program).verdicts[verdict] == 1


def test_what_the_text_says_is_touched() -> None:
    Store()
    plan = Store.lawful.plan
    known = {
        name: {variable: (len(each.keys), each.ends) for variable, each in found.items()}
        for name in plan.ways
        if (found := touched_by(plan, name))
    }
    assert known == {
        "put": {"ids": (1, set()), "counts": (1, set()), "queue": (0, {"last"})},
        "swap": {"counts": (3, set()), "places": (1, set())},  # It assigns `other`.
        "move": {"ids": (2, set()), "bag": (2, set()), "counts": (2, set())},
        "helped": {"counts": (2, set()), "ids": (1, set())},
        "deeper": {"counts": (1, set()), "ids": (1, set())},
        "name": {"names": (1, set())},
        "drop": {"ids": (1, set()), "counts": (1, set()), "queue": (0, {"first"})},
        "several": {"queue": (0, {"last"}), "ids": (1, set())},
        "group": {"groups": (2, set()), "rows": (2, set())},
        "lease": {"leases": (2, set())},
        "end": {"leases": (1, set())},
    }
