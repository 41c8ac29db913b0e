"""Buckets of packed instances judge as the row fold does, and keep what it would have kept."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful import Machine, Nat, require, transition
from lawful.checks.replay import ReplayError, ReplayProgram, TraceMapping
from lawful.checks.replay.columnar.json_lines import LineDecoder
from lawful.checks.replay.columnar.layout import layout_of
from lawful.checks.replay.flaws.absent_values import Told
from lawful.checks.replay.increments.continuation import Continuation
from lawful.checks.replay.increments.fold_snapshots import snapshot
from lawful.checks.replay.problems import FittingInstances, InstanceVerdict
from lawful.checks.replay.rows import Rejected, Row, decoded
from tests.checks.replay.test_columnar import SPOILS
from tests.checks.replay.test_vector_batches import MAPPING, Line, Lot, history

pytest.importorskip("pyarrow")

from lawful.checks.replay.packed import row_log
from lawful.checks.replay.packed.bucket import Bucket
from lawful.checks.replay.packed.plain_machine import plain_machine

SPARSE = ReplayProgram((Lot.lawful.ir,), mapping=MAPPING, remembered=4)
DENSE = replace(SPARSE, mapping=replace(MAPPING, dense=True, output=None), remembered=1000)
PROGRAMS = {
    "outputs, of any numbers": SPARSE,
    "numbers without a gap": DENSE,
    "no row remembered": replace(DENSE, remembered=0),
}
Answer = tuple[list[dict[str, Any]], list[str], dict[str, int]]  # Verdicts, rejected, told.


class Memory:
    """A store of a bucket, as Spark would keep it; `texts_read` are the instances whose text was
    read or written, `read` the chunks that were read."""

    def __init__(self) -> None:
        self.kept: tuple[str, bytes] | None = None
        self.chunks: dict[int, bytes] = {}
        self.texts: dict[str, str] = {}
        self.read: list[int] = []

    def columns(self) -> tuple[str, bytes] | None:
        return self.kept

    def keep_columns(self, text: str, last_rows: bytes) -> None:
        self.kept = text, last_rows

    def chunk(self, number: int) -> bytes:
        self.read.append(number)
        return self.chunks[number]

    def keep_chunk(self, number: int, data: bytes) -> None:
        assert number not in self.chunks
        self.chunks[number] = data

    def drop_chunk(self, number: int) -> None:
        del self.chunks[number]

    def text(self, name: str) -> str:
        return self.texts.get(name, "")

    def keep_text(self, name: str, text: str) -> None:
        self.texts[name] = text

    def packed(self) -> set[str]:
        """The names of the instances that are packed."""
        if self.kept is None:
            return set()
        data = json.loads(self.kept[0])
        return {name for name, flag in zip(data["names"], data["packed"], strict=True) if flag}


def encoded(lines: Iterable[Line]) -> list[bytes]:
    return [json.dumps(line).encode() for line in lines]


def opened(program: ReplayProgram, store: Memory, buckets: int = 4) -> Bucket:
    """The bucket as it was left, as after a restart."""
    layout = layout_of(program)
    assert layout is not None
    machine = plain_machine(program, layout)
    assert machine is not None
    return Bucket(program, machine, store, buckets)


def packed_answer(program: ReplayProgram, store: Memory, lines: Sequence[bytes]) -> Answer:
    """What a bucket says of a micro-batch."""
    layout = layout_of(program)
    assert layout is not None
    told = Told(program)
    table = LineDecoder(layout).batch(lines)
    judged = opened(program, store).judge(table, told)
    verdicts: list[dict[str, Any]] = []
    rejected: list[str] = []
    for each in judged:
        match each:
            case FittingInstances():
                rows = zip(each.names, each.verdicts, each.rows, each.events, strict=True)
                for name, verdict, count, events in rows:
                    counts = {"judged": events} if events else {}
                    made = InstanceVerdict(
                        name, each.machine, verdict, None, count, events, {}, {}, (), counts
                    )
                    verdicts.append(shown(made))
            case InstanceVerdict():
                verdicts.append(shown(each))
            case Rejected():
                rejected.append(each.reason)
    assert len({each["instance"] for each in verdicts}) == len(verdicts)
    return sorted(verdicts, key=lambda each: each["instance"]), sorted(rejected), dict(told.counts)


def shown(verdict: InstanceVerdict) -> dict[str, Any]:
    """All that a stream says of a verdict."""
    hidden = ("transitions", "states", "snapshot")
    return {f.name: getattr(verdict, f.name) for f in fields(verdict) if f.name not in hidden}


def folded_answer(program: ReplayProgram, texts: dict[str, str], lines: Sequence[bytes]) -> Answer:
    """What the row fold says of each instance; `texts` are their states."""
    assert program.mapping is not None
    told = Told(program)
    rows: dict[str, list[Row]] = {}
    rejected: list[str] = []
    for line in lines:
        found = decoded(line, program.mapping.row_of)
        if isinstance(found, Rejected):
            rejected.append(found.reason)
        elif found is not None:
            told.take(found)
            rows.setdefault(found.instance, []).append(found)
    verdicts: list[dict[str, Any]] = []
    for name in sorted(rows):
        going_on = Continuation(program, name, texts.get(name, ""))
        for row in sorted(rows[name], key=lambda each: each.seq):
            going_on.take(row)
        verdict = going_on.end()
        texts[name] = verdict.snapshot
        verdicts.append(shown(verdict))
    return verdicts, sorted(rejected), dict(told.counts)


def texts_in(program: ReplayProgram, store: Memory) -> dict[str, Any]:
    """The state of each instance of a bucket as the row fold has it."""
    bucket = opened(program, store)
    kept = bucket.kept
    out = {name: json.loads(store.text(name)) for name in kept.names if store.text(name)}
    packed = kept.flags["packed"].nonzero()[0].tolist()
    folds = bucket.folds(kept, bucket.log, packed)
    return out | {kept.names[n]: json.loads(snapshot(fold)) for n, fold in folds.items()}


def arrivals(seed: int, spoilt: float, wrong: float, shift: int) -> list[list[Line]]:
    """Micro-batches of the rows of some lots: in about their order, some of them spoilt, given
    again, left out, or much too late."""
    rng = random.Random(seed)
    lines = [line for i in range(8) for line in history(rng, f"lot-{i}", wrong)]
    order = {id(line): line["n"] + rng.randrange(shift + 1) for line in lines}
    lines.sort(key=lambda line: order[id(line)])
    out: list[Line] = []
    for line in lines:
        chance = rng.random()
        if chance < spoilt / 4:
            continue
        out.append(dict(line))
        if chance < spoilt / 2:
            out.insert(rng.randrange(len(out)), dict(line))
        elif chance < spoilt:
            rng.choice(SPOILS[:5])(rng, out[-1])
            if rng.random() < 0.2:
                out[-1]["lot"] = None
        elif chance < 1.5 * spoilt:
            out.append(dict(line) | {"more": 1})
    cuts = sorted(rng.randrange(len(out) + 1) for _ in range(5))
    return [out[a:b] for a, b in zip([0, *cuts], [*cuts, len(out)], strict=True)]


@settings(max_examples=60)
@given(
    which=st.sampled_from([*PROGRAMS]),
    seed=st.integers(0, 10**6),
    trouble=st.tuples(
        st.sampled_from([0.0, 0.05, 0.2]),
        st.sampled_from([0.0, 0.02]),
        st.sampled_from([0, 0, 2]),
    ),
    most=st.sampled_from([2, 3, 100]),
)
def test_a_bucket_is_as_the_row_fold(
    which: str, seed: int, trouble: tuple[float, float, int], most: int
) -> None:
    program, store, texts = PROGRAMS[which], Memory(), dict[str, str]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_log, "MOST_CHUNKS", most)
        for part in arrivals(seed, *trouble):
            lines = encoded(part)
            assert packed_answer(program, store, lines) == folded_answer(program, texts, lines)
            assert len(store.chunks) < most
            if not any(trouble) and program is not SPARSE:
                assert not store.texts
        assert texts_in(program, store) == {k: json.loads(v) for k, v in texts.items()}


def lines_of(name: str, numbers: Iterable[int]) -> list[Line]:
    """Turns of a lot, with these numbers: they always fit."""
    return [{"lot": name, "n": n, "what": "turn", "far": False} for n in numbers]


BAD = {"lot": "bad", "n": 2, "what": "close", "gone": True}  # Nobody has bid.


def test_only_what_is_unusual_leaves_the_columns() -> None:
    """Without this, a bucket that leaves everything to the row fold would pass the other test."""
    store, texts = Memory(), dict[str, str]()

    def take(*lines: Line) -> dict[str, str]:
        given = encoded(lines)
        answer = packed_answer(DENSE, store, given)
        assert answer == folded_answer(DENSE, texts, given)
        return {each["instance"]: each["verdict"] for each in answer[0]}

    for begin in (0, 2):
        told = [line for name in "abc" for line in lines_of(name, (begin, begin + 1))]
        assert take(*told) == dict.fromkeys("abc", "open")
    assert (store.packed(), store.texts, store.read) == ({*"abc"}, {}, [])
    # A row after a gap waits, a row that came before comes again, a row deviates.
    found = take(*lines_of("a", [5]), *lines_of("b", [1, 4]), *lines_of("bad", [0, 1]), BAD)
    assert found == {"a": "quarantined", "b": "open", "bad": "deviates"}
    assert (store.packed(), {*store.texts}) == ({"b", "c"}, {"a", "b", "bad"})
    assert store.read == [0, 1]
    # The gap is closed, but the row that waits is the last one: its columns are gone.
    assert take(*lines_of("a", [4])) == {"a": "open"}
    assert store.packed() == {"b", "c"}
    assert take(*lines_of("a", [6])) == {"a": "open"}
    assert store.packed() == {"a", "b", "c"}
    kept = store.texts["a"]
    assert take(*lines_of("a", [7, 8]), *lines_of("b", [5])) == {"a": "open", "b": "open"}
    assert store.texts["a"] is kept
    assert texts_in(DENSE, store) == {k: json.loads(v) for k, v in texts.items()}


def test_rows_that_nobody_remembers_leave_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_log, "MOST_CHUNKS", 4)
    program = replace(DENSE, remembered=6)
    store, texts = Memory(), dict[str, str]()
    for number in (0, 2, 1, *range(3, 40)):  # The first rows leave a text before the log.
        given = encoded(lines_of("a", [number]))
        packed_answer(program, store, given)
        folded_answer(program, texts, given)
        assert texts_in(program, store) == {"a": json.loads(texts["a"])}
    assert store.packed() == {"a"}
    rows = opened(program, store).log.rows_of([0])[0]
    assert [row.seq for row in rows] == [*range(34, 40)]
    assert len(store.chunks) <= 4
    for again, verdict in ((36, "open"), (20, "inconclusive")):
        given = encoded(lines_of("a", [again]))
        ((found,), *_) = packed_answer(program, store, given)
        assert found["verdict"] == verdict


class Window(Machine):
    sent: Nat = 0

    @transition()
    def send(self, many: Nat) -> None:
        self.sent += many


def older() -> type[Machine]:
    class Window(Machine):
        sent: Nat = 0

        @transition()
        def send(self, many: Nat) -> None:
            require(many < 5)
            self.sent += many

    return Window


OF_WINDOW = TraceMapping("$.i", "$.n", "$.e", args={"send": {"many": "$.many"}})


def sent(name: str, number: int, many: int = 1) -> Line:
    return {"i": name, "n": number, "e": "send", "many": many}


def test_each_version_judges_the_instances_that_it_began() -> None:
    before = ReplayProgram((older().lawful.ir,), mapping=OF_WINDOW)
    now = ReplayProgram((Window.lawful.ir,), mapping=OF_WINDOW, older=before.machines)
    store, texts = Memory(), dict[str, str]()
    parts: list[tuple[ReplayProgram, list[Line], list[str]]] = [
        (before, [sent("a", 1), sent("a", 2), sent("b", 1), sent("b", 2)], ["fits"] * 2),
        (now, [sent("a", 3, 9), sent("c", 1, 9)], ["deviates", "fits"]),
        (now, [sent("b", 3, 9), sent("c", 2, 9)], ["deviates", "fits"]),
    ]
    for program, lines, verdicts in parts:
        given = encoded(lines)
        answer = packed_answer(program, store, given)
        assert answer == folded_answer(program, texts, given)
        assert [each["verdict"] for each in answer[0]] == verdicts
    assert store.packed() == {"c"}
    assert texts_in(now, store) == {k: json.loads(v) for k, v in texts.items()}


def test_a_new_version_goes_on_after_a_micro_batch_without_an_instance() -> None:
    """The rows of the older version's instances become texts in whatever micro-batch is next."""
    before = ReplayProgram((older().lawful.ir,), mapping=OF_WINDOW)
    now = ReplayProgram((Window.lawful.ir,), mapping=OF_WINDOW, older=before.machines)
    store, texts = Memory(), dict[str, str]()
    nobody: Line = {"n": 1}
    parts: list[tuple[ReplayProgram, list[Line], list[str]]] = [
        (before, [sent("a", 1), sent("a", 2)], ["fits"]),
        (now, [nobody], []),
        (now, [sent("a", 3, 9)], ["deviates"]),
    ]
    for program, lines, verdicts in parts:
        given = encoded(lines)
        answer = packed_answer(program, store, given)
        assert answer == folded_answer(program, texts, given)
        assert [each["verdict"] for each in answer[0]] == verdicts
        assert len(answer[1]) == lines.count(nobody)
    assert texts_in(now, store) == {k: json.loads(v) for k, v in texts.items()}


def test_what_is_of_another_version_mapping_or_format_is_refused() -> None:
    before = ReplayProgram((older().lawful.ir,), mapping=OF_WINDOW)
    now = ReplayProgram((Window.lawful.ir,), mapping=OF_WINDOW)
    store = Memory()
    packed_answer(before, store, encoded([sent("a", 1)]))
    kept = store.kept
    assert kept is not None
    with pytest.raises(ReplayError, match=r"instance a: a state of Window \w+, which is not given"):
        opened(now, store)
    other = replace(before, mapping=replace(OF_WINDOW, dense=True))
    changed = r"rows that another mapping read \(dense was false, and is true\); begin with a new"
    with pytest.raises(ReplayError, match=changed):
        opened(other, store)
    counted = "is of a stream with buckets = 4, not 5; give 4, or begin with a new checkpoint"
    with pytest.raises(ReplayError, match=counted):
        opened(before, store, 5)
    text, rows = kept
    for wrong, why in (
        (text.replace('"v":2', '"v":1'), "of another format, version 1; this lawful reads 2"),
        (text.replace('"events":["send"]', '"events":["sent"]'), "with other columns of rows"),
        (text.replace('"rows"', '"row"'), r"that cannot be read \(KeyError: 'rows'\)"),
    ):
        assert wrong != text
        store.kept = wrong, rows
        with pytest.raises(ReplayError, match=why):
            opened(before, store)
    store.kept = text, rows[:-40]
    with pytest.raises(ReplayError, match="that cannot be read"):
        opened(before, store)
