"""What `replay.py` measures of the state that increments and streams keep of each instance."""

from __future__ import annotations

import json
import pickle
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks._traces import MAPPING, Book, Order
from lawful.checks.replay import ReplayProgram, TraceMapping, replay_increment
from lawful.spec.ir import Json

KEYS = 1_000
EVENTS = 10  # Of each instance, before the increment that is measured.
BOOK: dict[str, Json] = {"add": {"price": "$.price"}}


def states(folder: Path, hand: Any) -> Iterator[str]:
    """Bytes and time of states: of few instances, of ten times as many, and of states that are ten
    times as large. `hand` is a machine of the library transitions with the same state."""
    yield "state of an instance, between two increments         bytes   of it values   us an event"
    orders = ReplayProgram((Order.lawful.ir,), mapping=MAPPING)
    mapping = TraceMapping("$.id", "$.n", "$.what", events={"ADD": "add"}, args=BOOK)
    books = ReplayProgram((Book.lawful.ir,), mapping=mapping)
    for name, program, keys, size in (
        ("counters", orders, KEYS, EVENTS),
        ("counters, 10 x the instances", orders, 10 * KEYS, EVENTS),
        ("a set of 10", books, KEYS, EVENTS),
        ("a set of 100", books, KEYS, 10 * EVENTS),
    ):
        yield _of(folder, name, program, keys, size)
    model = pickle.dumps(hand)
    yield f"  {'counters, a pickled machine of transitions':46}{len(model):12,}"


def _of(folder: Path, name: str, program: ReplayProgram, keys: int, size: int) -> str:
    """A line: the increment that is measured has one event of each instance."""
    file = folder / "increment.jsonl"
    kept: dict[str, str] = {}
    passed = 0.0
    for numbers in (range(size), range(size, size + 1)):
        with file.open("w") as out:
            for key in range(keys):
                for n in numbers:
                    row = {"id": f"i{key}", "n": n, "what": "ADD" if n else "OPEN", "price": n}
                    if program.mapping is not MAPPING and not n:
                        row["what"] = "ADD"
                    out.write(json.dumps(row) + "\n")
        begun = time.perf_counter()
        kept = dict(replay_increment([file], program, kept).states)
        passed = time.perf_counter() - begun
    held = sum(len(text.encode()) for text in kept.values()) / keys
    values = [json.loads(text)["at"][0]["variables"] for text in kept.values()]
    plain = sum(len(json.dumps(each, separators=(",", ":"))) for each in values) / keys
    return f"  {name:46}{held:12,.0f}{plain:15,.0f}{passed / keys * 1e6:14,.0f}"


if __name__ == "__main__":
    sys.exit("run benchmarks/replay.py")
