"""Long instances: what their ranges say, joined, is what one fold of all rows says."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import json
import pickle
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful import Machine, Nat, State, ignore, require, terminal, transition
from lawful.checks.replay import ReplayProgram, TraceMapping
from lawful.checks.replay.columnar import kernel
from lawful.checks.replay.columnar.blocks import Packer
from lawful.checks.replay.columnar.chains import Chain, joined, range_of, splittable, with_found
from lawful.checks.replay.columnar.json_lines import LineDecoder
from lawful.checks.replay.columnar.lanes import walked
from lawful.checks.replay.columnar.layout import layout_of
from lawful.checks.replay.columnar.row_ranges import LEAST, MOST, Range, Ranges, cut
from lawful.checks.replay.columnar.samples import Sample
from lawful.checks.replay.fold import fold
from lawful.checks.replay.problems import InstanceVerdict
from lawful.checks.replay.resuming import Policy
from lawful.checks.replay.rows import Row, decoded
from lawful.checks.replay.spark.long_instances import FOLDS, Folds, Segments, long_ranges

POLICIES: tuple[Policy, ...] = ("resync", "skip")
Task = Callable[[Iterable[Any]], Iterable[Any]]


class Door(State):
    OPEN = "open"
    SHUT = "shut"
    LOCKED = "locked"


class Gate(Machine):
    """Three states and a flag; guards read the flag and arguments."""

    state: Door = Door.SHUT
    armed: bool = False

    @transition(source=Door.SHUT, target=Door.OPEN)
    def open(self) -> None: ...

    @transition(source=Door.OPEN, target=Door.SHUT)
    def shut(self) -> None: ...

    @transition(source=Door.SHUT, target=Door.LOCKED)
    def lock(self, code: Nat) -> None:
        require(self.armed, "it is not armed")
        require(code < 3, "no such code")

    @transition(source=Door.LOCKED, target=Door.SHUT)
    def unlock(self, code: Nat) -> None:
        require(code < 3)

    @transition(source=(Door.SHUT, Door.LOCKED))
    def arm(self, on: bool) -> None:
        self.armed = on

    @transition(source=(Door.SHUT, Door.LOCKED))
    def flip(self) -> None:
        """Twice is not once: a row that came twice has to count once."""
        self.armed = not self.armed

    ringing = ignore("ring", source=Door.LOCKED, because="nobody hears it")

    @transition(source=(Door.OPEN, Door.SHUT))
    def ring(self) -> None: ...

    @terminal
    def closed(self) -> bool:
        return self.state != Door.OPEN


ARGS: dict[str, Any] = {
    **{name: {"code": "$.code"} for name in ("lock", "unlock")},
    "arm": {"on": "$.on"},
}


@functools.cache
def program(dense: bool, after: Policy, pass_unknown: bool) -> ReplayProgram:
    mapping = TraceMapping("$.id", "$.n", "$.what", args=ARGS, dense=dense, skip=("note",))
    machines = (Gate.lawful.ir,)
    return ReplayProgram(machines, mapping=mapping, after=after, pass_unknown=pass_unknown)


EVENTS = ("open", "shut", "lock", "unlock", "arm", "flip", "ring", "note")
TARGETS = {"open": "open", "shut": "shut", "lock": "locked", "unlock": "shut"}


def log(seed: int, rows: int, wrong: float, dense: bool = True) -> list[dict[str, Any]]:
    """A log of one instance, whose rows are legal but for a share of them: events out of turn,
    numbers missing, twice, or twice with another event, names and arguments of nothing."""
    chance = random.Random(seed)
    out: list[dict[str, Any]] = []
    state, armed, number = "shut", False, 0
    while len(out) < rows:
        what = chance.choice(EVENTS)
        odd = chance.random() < wrong
        legal = {
            "open": state == "shut",
            "shut": state == "open",
            "lock": state == "shut" and armed,
            "unlock": state == "locked",
            "arm": state != "open",
            "flip": state != "open",
        }.get(what, True)
        if not (legal or odd):
            continue
        row: dict[str, Any] = {"id": "gate", "n": number, "what": what}
        if what in ("lock", "unlock"):
            row["code"] = chance.randrange(3)
        if what == "arm":
            armed = row["on"] = chance.random() < 0.7
        armed ^= what == "flip" and legal
        if legal:
            state = TARGETS.get(what, state)
        number += 1 if dense else chance.randrange(1, 9)
        out.append(row)
        if odd:
            _spoil(chance, out, row)
            number += chance.choice((0, 0, 1))
    return out


def _spoil(chance: random.Random, out: list[dict[str, Any]], row: dict[str, Any]) -> None:
    match chance.randrange(7):
        case 0:
            out.append(dict(row))
        case 1:
            out.append({**row, "what": "ring"})
        case 2:
            row["what"] = "burn"
        case 3:
            row["code"], row["on"] = "x", 7
        case 4:
            row["code"] = 1 << 60
        case 5:
            out.append({"id": "gate", "n": chance.choice((-1, None, "x")), "what": "ring"})
        case _:
            pass


def whole(rows: list[dict[str, Any]], of: ReplayProgram) -> InstanceVerdict:
    """The verdict of one fold over all rows."""
    found = (decoded(json.dumps(row).encode(), of.row_of) for row in rows)
    return fold(of, "gate", [row for row in found if isinstance(row, Row)])


def collected(lines: list[bytes], of: ReplayProgram, ranges: list[Range], task: Task) -> list[Any]:
    """What a task finds in the rows of these ranges, spread over two partitions."""
    layout = layout_of(of)
    assert layout is not None
    where = Ranges(tuple(sorted(ranges)), tuple(range(len(ranges))))
    decoder = LineDecoder(layout)
    blocks: list[tuple[int, int, Any]] = []
    for number in range(2):  # Two tasks read the log.
        packer = Packer(decoder.schema, where, number)
        half = lines[number * len(lines) // 2 : (number + 1) * len(lines) // 2]
        for batch in (*packer.add(decoder.batch(half)), *packer.flushed()):
            buckets, numbers = batch.column(0).to_pylist(), batch.column(1).to_pylist()
            rows = [batch.slice(i, 1) for i in range(batch.num_rows)]
            blocks += zip(buckets, numbers, rows, strict=True)
    out: list[Any] = []
    for partition in range(2):
        mine = sorted((b for b in blocks if b[0] % 2 == partition), key=lambda b: b[:2])
        for batch in task([rows for *_, rows in mine]):
            for found in batch.column(0).to_pylist():
                out += pickle.loads(found)
    return out


def chained(rows: list[dict[str, Any]], of: ReplayProgram, ranges: list[Range]) -> Chain:
    """The chain of the instance, with the folds of its parts."""
    lines = [json.dumps(row).encode() for row in rows]
    where = Ranges(tuple(ranges), tuple(range(len(ranges))))
    (chain,) = joined(collected(lines, of, ranges, Segments(where, of)), of)
    for _ in range(FOLDS):
        parts = chain.parts()
        if parts:
            own = [part.range for part in parts]
            mine = Ranges(tuple(sorted(own)), tuple(range(len(own))))
            with_found(chain, collected(lines, of, own, Folds(mine, of, parts)))
    assert not chain.parts()
    return chain


def numbers(rows: list[dict[str, Any]]) -> list[int]:
    return sorted(row["n"] for row in rows if isinstance(row["n"], int))


@dataclass(frozen=True)
class Case:
    """A log, how it is replayed, and how it is cut."""

    seed: int
    wrong: float
    how: tuple[bool, Policy, bool]
    pieces: int
    batch: int

    def agrees(self, rows: int) -> None:
        """Compare both ways over a log of so many rows."""
        check(log(self.seed, rows, self.wrong, self.how[0]), program(*self.how), *self.cut)

    @property
    def cut(self) -> tuple[int, int]:
        return self.pieces, self.batch


def cases(*how: tuple[bool, Policy, bool]) -> st.SearchStrategy[Case]:
    """Cases replayed in one of these ways."""
    return st.builds(
        Case,
        st.integers(0, 1 << 30),
        st.sampled_from([0.0, 0.02, 0.1, 0.5]),
        st.sampled_from(how),
        st.integers(1, 9),
        st.sampled_from([5, 40, 1 << 17]),
    )


def check(rows: list[dict[str, Any]], of: ReplayProgram, pieces: int, batch: int) -> bool:
    """Compare both ways; whether the chain has a verdict. It has none where no row of its first
    segment was judged: then no later one is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "ROWS", batch)
        chain = chained(rows, of, cut("gate", numbers(rows), pieces))
    verdict = chain.verdict()
    if verdict is None:
        assert chain.found[range_of(chain.segments[0])].state is None
        return False
    assert verdict == whole(rows, of)
    return True


@given(cases((True, "resync", False), (False, "skip", True)))
@settings(max_examples=12)
def test_ranges_joined_are_one_fold(case: Case) -> None:
    case.agrees(60)


@pytest.mark.nightly
@given(cases(*itertools.product((True, False), POLICIES, (True, False))))
@settings(max_examples=400)
def test_many_ranges_joined_are_one_fold(case: Case) -> None:
    case.agrees(150)


@pytest.mark.parametrize("dense", [True, False], ids=["dense", "in order"])
def test_problems_in_several_ranges(dense: bool) -> None:
    """Deviations in several parts, rows twice and numbers missing: of some parts the first fold
    does not know since when states are not certain, and they are folded again."""
    rows = log(7, 400, 0.0, dense)
    for at in (60, 110, 300, 350):
        opened = next(i for i in range(at, 400) if rows[i]["what"] == "open")
        rows[opened + 1] = {"id": "gate", "n": rows[opened + 1]["n"], "what": "open"}
    rows[200] = {**rows[200], "what": "burn"}
    rows.insert(250, rows[250])
    del rows[150:153]
    of = program(dense, "resync", False)
    found = whole(rows, of)
    names = ("deviations", "uncertain", "duplicates", "unknown_events", "gaps")
    assert [found.counts.get(name, 0) > 0 for name in names] == [True, True, True, True, dense]
    assert check(rows, of, 8, 1 << 17)


def test_only_segments_with_problems_are_folded() -> None:
    rows = log(3, 400, 0.0)
    of = program(True, "resync", False)
    ranges = cut("gate", numbers(rows), 8)
    assert not chained(rows, of, ranges).found
    rows[200] = {**rows[200], "what": "burn"}
    assert [each.low for each in chained(rows, of, ranges).found] == [200]


def test_a_fold_that_ends_elsewhere_leaves_no_verdict() -> None:
    """Then one task judges the instance."""
    rows = log(3, 400, 0.0)
    rows[200] = {**rows[200], "what": "burn"}
    chain = chained(rows, program(True, "resync", False), cut("gate", numbers(rows), 8))
    assert chain.verdict() is not None
    ((where, found),) = chain.found.items()
    for state in ((found.state or 0) + 1, None):
        chain.found[where] = dataclasses.replace(found, state=state)
        assert chain.verdict() is None


@given(st.integers(1, 90), st.integers(1, 5), st.randoms(use_true_random=False))
@settings(max_examples=30)
def test_walks_from_every_state(rows: int, count: int, chance: random.Random) -> None:
    after = np.array([[chance.randrange(count) for _ in range(count)] for _ in range(rows)])
    before, ends = walked(after)
    for start in range(count):
        state, seen = start, list[int]()
        for row in after.tolist():
            seen.append(state)
            state = row[state]
        assert before[:, start].tolist() == seen
        assert ends[start] == state


def test_what_is_split() -> None:
    of = program(True, "resync", False)
    states = splittable(of)
    assert states is not None and len(states.all) == 6
    assert splittable(dataclasses.replace(of, every=True)) is None
    assert splittable(dataclasses.replace(of, after="stop")) is None
    assert splittable(dataclasses.replace(of, after="force")) is None


def test_long_instances_and_their_ranges() -> None:
    """An instance is long with more than half of a partition's rows, and enough of them."""
    many = [*range(0, 60_000, 10)]
    sample = Sample(10_000, {"long": (6_000, many), "short": (300, [1]), "some": (400, [1, 2])})
    ranges = long_ranges(sample, 16)
    assert {each.instance for each in ranges} == {"long"}
    assert len(ranges) == 16 * 5
    assert (ranges[0].low, ranges[-1].high) == (LEAST, MOST)
    assert all(a.high + 1 == b.low for a, b in itertools.pairwise(ranges))
    assert long_ranges(sample, 1) == []
    # With half of a partition's rows an instance is not long; with one more it is.
    sizes = {"half": (5_000, many), "more": (5_001, many)}
    few = long_ranges(Sample(160_000, sizes), 16)
    assert {each.instance for each in few} == {"more"}
    # Beside so many other rows, as many ranges as partitions are enough.
    assert len(few) == 16
    assert cut("same", [5, 5, 5, 5], 3) == [Range("same", LEAST, MOST)]
