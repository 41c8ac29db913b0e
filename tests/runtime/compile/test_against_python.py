"""The compiled step against Python itself: the same events, the same outcomes and states."""

from __future__ import annotations

from collections import Counter
from enum import Enum
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from lawful import (
    Machine,
    Nat,
    PropertyViolated,
    Record,
    Refused,
    State,
    Undefined,
    implies,
    needed,
    refuse,
    require,
    transition,
)
from lawful.spec.syntax.declare import slot
from tests.runtime.compile.plain import Plain


class Mode(State):
    IDLE = "idle"
    BUSY = "busy"


class Color(Enum):
    RED = 1
    BLUE = 2


class Job(Record):
    key: Nat
    size: int = 1
    color: Color = Color.RED


class Note(Record):
    text: Color


LIMIT = 7
PAIR = (3, Color.BLUE)


def clamp(x: int, high: int) -> int:
    """A function of the module, with locals and several ends."""
    low = -high
    if x < low:
        return low
    return min(x, high)


class Mill(Machine):
    """A bit of everything that bodies can say."""

    state: Mode = Mode.IDLE
    n: Nat = 3
    z: int = 0
    flag: bool = False
    color: Color = Color.RED
    job: Job | None = None
    word: Job | Note = Note(Color.BLUE)
    done: set[int] = {1, 2}
    queue: list[int] = [5, 6]
    table: dict[int, int] = {1: 2}
    groups: dict[int, set[int]] = {}
    rows: dict[int, dict[int, list[int]]] = {0: {}}
    bag: Counter[int] = Counter([1, 1])
    jobs: frozenset[Job] = frozenset()
    pair: tuple[int, Color] = PAIR

    @transition(source=Mode.IDLE, target=Mode.BUSY)
    def begin(self, x: int) -> int:
        require(x != 2, "not two")
        self.n, self.z = self.n + x, self.n - x
        return self.n // (x + 1)

    @transition(source=Mode.BUSY, target=Mode.IDLE)
    def end(self) -> tuple[int, int]:
        self.z = clamp(self.z, LIMIT)
        return divmod(self.z, self.n)

    @transition()
    def sets(self, x: int, y: int) -> int:
        self.done.add(x)
        if y in self.done:
            self.done.remove(y)
        else:
            self.done.discard(x + 1)
        self.done |= {q * 2 for q in self.done if q < 4}
        require(len(self.done) <= 6, f"too many with {x}")
        self.done -= {x - 1}
        return len(self.done & {1, 2, 3}) + max(self.done)

    @transition()
    def lists(self, x: int, y: int) -> int:
        self.queue.append(x)
        self.queue.insert(0, y)
        self.queue[x] = y
        first = self.queue.pop(0)
        self.queue = self.queue[y:] + [q for q in self.queue if q > first]
        require(len(self.queue) < 8)
        assert self.queue != [1]
        return sum(self.queue) + self.queue.index(y) + self.queue.count(x)

    @transition()
    def maps(self, x: int, y: int) -> int:
        self.table[x] = self.table[y] + 1
        if x > 2:
            del self.table[y]
        for key in self.table:
            self.table[key] += x
        old = self.table.get(y, 10)
        self.table.update({y: old})
        self.z = min(v for v in self.table.values())
        require(all(k <= 5 for k in self.table), "keys are small")
        return sorted(self.table.items())[0][1]

    @transition()
    def nested(self, x: int, y: int) -> int:
        if x not in self.groups:
            self.groups[x] = set()
        self.groups[x].add(y)
        self.rows[0][y] = [x]
        self.rows[x][y].append(self.n)
        self.rows[y] = {k: [q + 1 for q in v] for k, v in self.rows[0].items()}
        total = 0
        for key, group in self.groups.items():
            total += key * len(group)
        require(total < 30, "large")
        return total

    @transition()
    def bags(self, x: int, y: int) -> int:
        self.bag[x] += y
        self.bag[y] -= 1
        return self.bag.total() + self.bag[9]

    @transition()
    def records(self, x: int, color: Color) -> Color | None:
        self.jobs |= {Job(x + 1, x)}
        old = self.job
        self.job = Job(x - 1, color=color)
        if old is None:
            return None
        require(old.color != color or x > 1, "the same color")
        self.job = old.replace(size=old.size + 1)
        self.jobs = frozenset(j for j in self.jobs if implies(j.key > 2, j.color == color))
        return old.color

    @transition()
    def matches(self, x: int) -> int:
        match self.word:
            case Job(key=key, size=size) if size > 2:
                self.word = Note(Color.RED)
                return key
            case Job(key=3):
                refuse("three")
            case Job() as job:
                self.word = job.replace(size=job.size + x)
            case Note(text=Color.BLUE):
                self.word = Job(x)
            case Note():
                self.flag = not self.flag
        match self.color:
            case Color.RED:
                self.color = Color.BLUE
            case _:
                self.pair = (x, self.color)
        return needed(self.job, "no job").key

    def step_down(self, by: int) -> bool:
        """A helper that changes the state."""
        self.n -= by
        if self.n < 2:
            return False
        self.queue.append(by)
        return True

    def spread(self, factor: int) -> int:
        """A helper that only reads."""
        largest = 0
        for i, q in enumerate(self.queue):
            if q == factor:
                break
            if i == 3:
                continue
            largest = max(largest, q * factor)
        return largest

    @transition()
    def helpers(self, x: int) -> int:
        kept = self.step_down(x)
        more = self.spread(x) if kept else self.spread(1)
        both = tuple(zip(self.queue, reversed(self.queue)))  # noqa: B905  # not in the language
        self.flag = any(a < b < more for a, b in both)
        left, right = self.pair
        self.z += left if right == Color.BLUE and kept else -left
        return sum(1 for q in self.queue if 0 <= q <= more) - abs(self.z) % 3


small = st.integers(-1, 4)
events = st.one_of(
    st.tuples(st.sampled_from(["begin", "matches", "helpers"]), small),
    st.tuples(st.sampled_from(["sets", "lists", "maps", "nested", "bags"]), small, small),
    st.tuples(st.just("records"), small, st.sampled_from(Color)),
    st.tuples(st.just("end")),
)


def outcome(mill: Mill, name: str, args: tuple[Any, ...]) -> tuple[str, Any]:
    try:
        return "done", mill.lawful.take(name, *args)
    except Refused as refused:
        return "refused", refused.reasons[0].why
    except Undefined:
        return "undefined", None
    except PropertyViolated as violated:
        return violated.name, None


def values(mill: Mill) -> dict[str, Any]:
    return {name: getattr(mill, slot(name)) for name in mill.__plan__.variables}


@settings(max_examples=150, deadline=None)
@given(st.lists(events, max_size=12))
def test_a_run_is_what_python_makes_of_it(run: list[tuple[Any, ...]]) -> None:
    mill, plain = Mill(), Plain(Mill)
    for name, *args in run:
        before = values(mill)
        allowed = mill.lawful.may(name, *args)
        assert values(mill) == before
        expected = plain.call(name, *args)
        assert outcome(mill, name, tuple(args)) == expected
        assert allowed == (expected[0] != "refused")
        assert {k: type(v) for k, v in values(mill).items()} == {
            k: type(v) for k, v in plain.values.items()
        }
        assert values(mill) == plain.values
        assert mill.lawful.explain("begin", 1) == () or mill.state is Mode.BUSY


@settings(max_examples=100, deadline=None)
@given(st.lists(events, max_size=8))
def test_observed_or_not_it_does_the_same(run: list[tuple[Any, ...]]) -> None:
    mill, watched = Mill(), Mill()
    seen: list[str] = []
    watched.lawful.observe(lambda done: seen.append(done.outcome))
    for name, *args in run:
        assert outcome(watched, name, tuple(args)) == outcome(mill, name, tuple(args))
    assert watched == mill
    assert len(seen) <= len(run)
