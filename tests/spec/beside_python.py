"""A machine beside a Python class of the same text: what both do with random values."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import strategies as st

from lawful import Undefined
from tests.spec import texts

Both = tuple[Any, dict[str, Any]]

HEAD = """
from datetime import timedelta
from enum import Enum, IntEnum, StrEnum
from operator import attrgetter, itemgetter


class Level(IntEnum):
    LOW = 1
    HIGH = 3

    @staticmethod
    def least(n: int, *, most: int = 2) -> int:
        return min(n, most)

    @classmethod
    def at_least(cls, n: int, *, strict: bool = False) -> "Level":
        return cls.HIGH if n > 1 or (strict and n == 1) else cls.LOW


class Job(Record):
    level: Level
    n: int

    @classmethod
    def of(cls, n: int, most: int = 2) -> "Job":
        return cls(Level.at_least(n), min(n, most))


class Word(StrEnum):
    SECOND = "b"
    FIRST = "a"
    THIRD = "c"


class Side(Enum):
    LEFT = 0
    RIGHT = 1


class Who(Sort):
    pass


LOW_ODD = {1, 3}
LISTED = [0, 2, 1, 2]
STEPS = (0, 2, 1, 2)
WINDOW = range(1, 4)
DOWN = range(5, -2, -2)
WINDOWS = (WINDOW, DOWN)
RATE = 2.5
WAITS = (timedelta(seconds=1.5), timedelta(minutes=1))
BY_LEVEL = {Level.LOW: timedelta(hours=1), Level.HIGH: timedelta(0)}
BY_NAME = {"LOW": 1, "HIGH": 5, "NONE": 7}
HIGH_ALONE = {"HIGH": 5}


def late(job: Job) -> int:
    return -job.n

"""
FIELDS = """
    q: list[Job] = []
    xs: list[int] = []
    ys: list[int] = []
    m: dict[int, int] = {}
    s: set[int] = set()
    bag: Counter[int] = Counter()
    rows: dict[int, set[int]] = {}
    kept: int | None = None
    last: Job | None = None
    lasts: list[Job | None] = []

    def _noted(self):
        if len(self.xs) > 3:
            return
        for x in self.ys:
            if x > 1:
                return None
        self.xs.append(1)

    @property
    def top(self) -> Job | None:
        return self.q[0] if len(self.q) > 1 else None

    @staticmethod
    def _clamped(x: int, low: int = 0, high: int = 2) -> int:
        return max(low, min(high, x))
"""
INTS = st.lists(st.integers(-1, 3), max_size=4)
STATES = st.fixed_dictionaries(
    {
        "q": st.lists(st.tuples(st.sampled_from((1, 3)), st.integers(-1, 1)), max_size=4),
        "xs": INTS,
        "ys": INTS,
        "m": st.dictionaries(st.integers(-1, 3), st.integers(-1, 3), max_size=3),
        "s": st.sets(st.integers(-1, 3), max_size=4),
        "bag": INTS,
        "rows": st.dictionaries(st.integers(1, 2), st.sets(st.integers(0, 3)), max_size=2),
        "kept": st.none() | st.integers(0, 3),
        "last": st.none() | st.tuples(st.sampled_from((1, 3)), st.integers(-1, 1)),
    }
)


def text_of(bodies: list[tuple[str, str]]) -> str:
    """A machine with a transition for each body."""
    text = f"{HEAD}class M(Machine):{FIELDS}"
    for i, (output, body) in enumerate(bodies):
        lines = "\n".join(f"        {line}" for line in body.split("\n"))
        text += f"\n    @transition\n    def go{i}(self) -> {output}:\n{lines}\n"
    return text


STUBS = "\nclass Machine: ...\ndef transition(f): return f\n"


def both_of(bodies: list[tuple[str, str]]) -> Both:
    """The module of the machine, and the names of the same text where `Machine` is nothing."""
    text = text_of(bodies)
    module, plain = texts.module(text), dict[str, Any]()
    exec(texts.HEAD + STUBS + text, plain)
    plain.update({name: getattr(module, name) for name in ("Level", "Job", "Word", "Side")})
    return module, plain


def compare(both: Both, bodies: list[tuple[str, str]], drawn: dict[str, Any]) -> None:
    """Each body does the same with an instance and with an object, in the state that was drawn."""
    module, plain = both

    def values() -> dict[str, Any]:
        jobs = [module.Job(module.Level(level), n) for level, n in drawn["q"]]
        rows = {k: set(v) for k, v in drawn["rows"].items()}
        new = {name: type(v)(v) if v is not None else v for name, v in drawn.items()}
        last = drawn["last"] and module.Job(module.Level(drawn["last"][0]), drawn["last"][1])
        return {**new, "q": jobs, "rows": rows, "bag": Counter(drawn["bag"]), "last": last}

    for i, (_, body) in enumerate(bodies):
        machine = module.M.lawful.state(**values())
        own = plain["M"]()
        own.__dict__.update(values())
        try:
            expected = getattr(own, f"go{i}")()
        except (LookupError, ValueError, ZeroDivisionError, StopIteration):
            with pytest.raises(Undefined):
                machine.lawful.take(f"go{i}")
            continue
        assert machine.lawful.take(f"go{i}") == expected, body
        assert {n: getattr(machine, n) for n in drawn} == {n: getattr(own, n) for n in drawn}, body
