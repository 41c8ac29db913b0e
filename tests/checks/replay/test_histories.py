"""Linearizability: published histories with known verdicts, and a search by brute force."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful import Clock, Machine, Nat, require, terminal, transition
from lawful.checks.replay import (
    ReplayError,
    ReplayProgram,
    ReplayResult,
    replay,
    replay_frame,
    replay_increment,
)
from lawful.checks.replay.histories import history_fold
from lawful.checks.replay.mapping import mapping_of
from lawful.checks.report import replays
from tests.checks.replay.conftest import MISSING
from tests.checks.replay.foreign_logs import FOLDER


class Cell(Machine):
    """A register with compare-and-set, empty at first."""

    value: int | None = None

    @transition()
    def read(self) -> int | None:
        return self.value

    @transition()
    def write(self, to: int) -> None:
        self.value = to

    @transition()
    def cas(self, old: int, new: int) -> bool:
        if self.value == old:
            self.value = new
            return True
        return False


MAPPING: dict[str, Any] = {
    "instance": "$.key",
    "seq": "$.n",
    "event": "$.f",
    "output": "$.out",
    "args": {"write": {"to": "$.to"}, "cas": {"old": "$.old", "new": "$.new"}},
    "history": {"process": "$.p", "phase": "$.type"},
}
Record = dict[str, Any]


def program(machine: type[Machine] = Cell, **more: Any) -> ReplayProgram:
    known = {event.name for event in machine.lawful.ir.events}
    args = {name: its for name, its in MAPPING["args"].items() if name in known}
    mapping = mapping_of({**MAPPING, "args": args, **more})
    return ReplayProgram((machine.lawful.ir,), mapping=mapping)


def records(*rows: tuple[Any, ...], key: str = "k") -> list[Record]:
    """Rows from a process, a phase, a name, and what it is called with or gives."""
    out: list[Record] = []
    for n, (process, phase, name, *rest) in enumerate(rows):
        row: Record = {"key": key, "n": n, "p": process, "type": phase, "f": name}
        if phase == "call":
            names = {"write": ["to"], "cas": ["old", "new"]}.get(name, [])
            row |= dict(zip(names, rest, strict=True))
        elif phase == "return":
            row["out"] = rest[0] if rest else None
        out.append(row)
    return out


def judged(folder: Path, told: list[Record], how: ReplayProgram | None = None) -> ReplayResult:
    path = folder / "h.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in told), encoding="utf-8")
    return replay([path], how or program())


# Published histories.

LINE = re.compile(
    r"INFO  jepsen\.util - (\d+)\t:(\w+)\t:(\w+)\t(?:\[(\d) (\d)\]|(\d)|nil|:timed-out)"
)


def etcd(name: str) -> list[Record]:
    rows: list[tuple[Any, ...]] = []
    for line in (FOLDER / name).read_text(encoding="utf-8").splitlines():
        match = LINE.fullmatch(line)
        assert match is not None
        process, what, f, old, new, number = match.groups()
        value = None if number is None else int(number)
        if what == "invoke":
            pair = [int(old or 0), int(new or 0)]
            given: dict[str, list[Any]] = {"read": [], "write": [value], "cas": pair}
            rows.append((process, "call", f, *given[f]))
        elif what == "info":
            rows.append((process, "unknown", f))
        else:
            gives = {"read": value, "write": None, "cas": what == "ok"}[f]
            rows.append((process, "return", f, gives))
    return records(*rows)


PUBLISHED: dict[str, tuple[list[Record], str]] = {
    # porcupine, test_data/jepsen, with the verdicts of porcupine_test.go.
    "etcd_000": (etcd("etcd_000.log"), "deviates"),
    "etcd_002": (etcd("etcd_002.log"), "fits"),
    # MIT 6.824, quiz 2 of 2017, section VII, as porcupine_test.go has it.
    "quiz, linearizable": (
        records(
            (0, "call", "write", 100),
            (1, "call", "read"),
            (2, "call", "read"),
            (2, "return", "read", None),
            (1, "return", "read", 100),
            (0, "return", "write"),
        ),
        "fits",
    ),
    "quiz, not linearizable": (
        records(
            (0, "call", "write", 200),
            (1, "call", "read"),
            (1, "return", "read", 200),
            (2, "call", "read"),
            (2, "return", "read", None),
            (0, "return", "write"),
        ),
        "deviates",
    ),
    # Knossos, the failure of data/cas-register/bad/rethink-fail-minimal.edn.
    "a value that nobody wrote": (
        records(
            (0, "call", "write", 0),
            (0, "return", "write"),
            (1, "call", "read"),
            (2, "call", "write", 4),
            (1, "return", "read", 3),
            (2, "return", "write"),
            (3, "call", "read"),
            (3, "return", "read", 4),
        ),
        "deviates",
    ),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_histories(name: str, tmp_path: Path) -> None:
    told, verdict = PUBLISHED[name]
    result = judged(tmp_path, told)
    assert result.to_json()["by_instance"] == {"k": verdict}
    assert (result.verdicts["deviates"], result.exit_code) == (
        (1, 2) if verdict != "fits" else (0, 0)
    )


def test_the_finding_names_the_call_that_has_no_place(tmp_path: Path) -> None:
    told, _ = PUBLISHED["a value that nobody wrote"]
    result = judged(tmp_path, told)
    answer: Any = result.to_json()
    (found,) = answer["deviations"]
    assert (found["index"], found["kind"], found["event"]) == (4, "linearizability", "read")
    clause = "no order of the calls explains all outputs; the longest has 2 of 4"
    assert (found["clause"], found["row"]["output"]) == (clause, 3)
    assert answer["counts"]["judged"] == 4 and answer["counts"]["deviations"] == 1
    assert clause in replays.text(result)


def test_calls_of_unknown_outcome(tmp_path: Path) -> None:
    lost = [(0, "call", "write", 7), (0, "unknown", "write"), (1, "call", "read")]
    for value, verdict in ((7, "fits"), (None, "fits"), (3, "deviates")):
        result = judged(tmp_path, records(*lost, (1, "return", "read", value)))
        assert result.verdicts[verdict] == 1
    failed = [(0, "call", "write", 7), (0, "failed", "write"), (1, "call", "read")]
    for value, verdict in ((7, "deviates"), (None, "fits")):
        result = judged(tmp_path, records(*failed, (1, "return", "read", value)))
        assert result.verdicts[verdict] == 1
    pending = records((0, "call", "write", 7), (1, "call", "read"), (1, "return", "read", 7))
    assert judged(tmp_path, pending).verdicts["fits"] == 1


QUARANTINED: list[tuple[list[Record], str]] = [
    (records((0, "return", "read", 1)), "the end of a call that has no beginning"),
    (
        records((0, "call", "read"), (0, "call", "read")),
        "a call of a process that has not returned from another",
    ),
    (
        records((0, "begin", "read")),
        "neither a call nor a return: $.type is not one of call, return, failed, unknown",
    ),
    (records((0, "call", "look")), "an unknown event"),
]


@pytest.mark.parametrize(("told", "clause"), QUARANTINED)
def test_what_is_no_history(told: list[Record], clause: str, tmp_path: Path) -> None:
    answer: Any = judged(tmp_path, told).to_json()
    assert [each["clause"] for each in answer["not_judged"]] == [clause]
    assert answer["verdicts"]["quarantined"] == 1


def test_the_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_fold, "BUDGET", 20)
    answer: Any = judged(tmp_path, PUBLISHED["etcd_000"][0]).to_json()
    (found,) = answer["not_judged"]
    assert found["clause"] == "no order was found among 20 sets of calls"
    assert answer["by_instance"] == {"k": "inconclusive"}


class Lock(Machine):
    """A lock that one process holds."""

    held: bool = False

    @transition()
    def take(self) -> None:
        require(not self.held, "held")
        self.held = True

    @transition()
    def free(self) -> None:
        require(self.held, "free")
        self.held = False

    @terminal
    def is_free(self) -> bool:
        return not self.held


def test_a_lock(tmp_path: Path) -> None:
    twice = records((0, "call", "take"), (0, "return", "take"), (1, "call", "take"))
    assert judged(tmp_path, twice, program(Lock)).verdicts["open"] == 1
    both = [*twice, {**twice[1], "n": 3, "p": 1}]
    assert judged(tmp_path, both, program(Lock)).verdicts["deviates"] == 1
    freed = records(
        (0, "call", "take"),
        (0, "return", "take"),
        (1, "call", "take"),
        (0, "call", "free"),
        (1, "return", "take"),
        (0, "return", "free"),
        (1, "call", "free"),
        (1, "return", "free"),
    )
    result = judged(tmp_path, freed, program(Lock))
    assert result.verdicts["fits"] == 1
    assert result.tallies.machines["Lock"].transitions == {"take": 2, "free": 2}


def test_what_has_no_histories(tmp_path: Path) -> None:
    class Slow(Machine):
        clock: Clock = Clock(tick=1.0)
        n: Nat = 0

        @transition()
        def go(self) -> None:
            self.n += 1

    with pytest.raises(ValueError, match="are not for a machine with a clock"):
        program(Slow)
    path = tmp_path / "h.jsonl"
    path.write_text(json.dumps(records((0, "call", "read"))[0]) + "\n", encoding="utf-8")
    with pytest.raises(ReplayError, match="are not for increments"):
        replay_increment([path], program(), {})
    for wrong, why in (
        ({"process": "p", "phase": "$.t"}, "history.process has to be a path"),
        ({"process": "$.p"}, "history.phase has to be a path"),
        ({"process": "$.p", "phase": "$.t", "phases": {"a": "b"}}, "history.phases has values"),
        ({"who": "$.p"}, "history has the keys process, phase and phases"),
    ):
        with pytest.raises(ValueError, match=why):
            program(history=wrong)


# Generated histories, and a search that knows nothing of lawful.


@dataclass(frozen=True)
class Done:
    name: str
    args: tuple[int, ...]
    output: Any
    began: int
    ended: int | None


def apply(value: int | None, op: Done) -> tuple[int | None, Any]:
    if op.name == "write":
        return op.args[0], None
    if op.name == "cas":
        return (op.args[1], True) if value == op.args[0] else (value, False)
    return value, value


def by_force(ops: list[Done]) -> bool:
    """Whether some order of all that ended, and of some of the rest, explains all outputs."""
    ended = [op for op in ops if op.ended is not None]
    pending = [op for op in ops if op.ended is None]
    for count in range(len(pending) + 1):
        for some in itertools.combinations(pending, count):
            if any(map(explains, itertools.permutations([*ended, *some]))):
                return True
    return False


def explains(order: tuple[Done, ...]) -> bool:
    for i, op in enumerate(order):
        if any(later.ended is not None and later.ended < op.began for later in order[i + 1 :]):
            return False
    value: int | None = None
    for op in order:
        value, output = apply(value, op)
        if op.ended is not None and output != op.output:
            return False
    return True


@st.composite
def histories(draw: st.DrawFn) -> list[Record]:
    """Calls of three processes with outputs that may be true."""
    rows: list[tuple[Any, ...]] = []
    running: dict[int, str] = {}
    begun = 0
    for _ in range(draw(st.integers(1, 12))):
        process = draw(st.integers(0, 2))
        if process in running:
            name = running.pop(process)
            phase = draw(st.sampled_from(["return"] * 7 + ["unknown", "failed"]))
            output = {
                "read": st.sampled_from([None, 1, 2]),
                "write": st.none(),
                "cas": st.booleans(),
            }[name]
            rows.append((process, phase, name, *([draw(output)] * (phase == "return"))))
        elif begun < 6:
            begun += 1
            name = draw(st.sampled_from(["read", "write", "cas"]))
            count = {"read": 0, "write": 1, "cas": 2}[name]
            running[process] = name
            rows.append((process, "call", name, *draw(st.tuples(*[st.integers(1, 2)] * count))))
    return records(*rows)


def done(told: list[Record]) -> Iterator[Done]:
    calls: dict[int, Record] = {}
    for row in told:
        call = calls.pop(row["p"], None)
        if call is None:
            calls[row["p"]] = row
        elif row["type"] != "failed":
            ended = row["n"] if row["type"] == "return" else None
            yield operation(call, row.get("out"), ended)
    yield from (operation(call, None, None) for call in calls.values())


def operation(call: Record, output: Any, ended: int | None) -> Done:
    args = tuple(call[name] for name in ("to", "old", "new") if name in call)
    return Done(call["f"], args, output, call["n"], ended)


@settings(max_examples=80, deadline=None)
@given(told=histories())
def test_agreement_with_brute_force(
    told: list[Record], tmp_path_factory: pytest.TempPathFactory
) -> None:
    if not told:
        return
    result = judged(tmp_path_factory.mktemp("history"), told)
    ops = [*done(told)]
    if by_force(ops):
        assert result.verdicts["deviates"] == 0
        assert result.verdicts["fits"] == any(op.ended is not None for op in ops)
    else:
        assert result.verdicts["deviates"] == 1


@pytest.mark.nightly
@pytest.mark.skipif(bool(MISSING), reason=MISSING)
@pytest.mark.xdist_group("spark")
def test_keys_in_parallel_on_spark(session: Any) -> None:
    told = [row | {"key": name} for name, (rows, _) in PUBLISHED.items() for row in rows]
    lines = session.createDataFrame([(json.dumps(row),) for row in told], "value string")
    found = replay_frame(lines, program()).verdicts.collect()
    verdicts = {name: verdict for name, (_, verdict) in PUBLISHED.items()}
    assert {row.instance: row.verdict for row in found} == verdicts
