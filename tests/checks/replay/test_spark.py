"""Replay on Spark: the same result as in this process, whatever the journal is like."""

from __future__ import annotations

import gzip
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from lawful.checks.replay import Engine, ReplayError, ReplayProgram, replay
from lawful.checks.replay.parquet import arrow, to_parquet
from lawful.checks.replay.sources import sources
from lawful.checks.replay.spark import block_tasks, inputs, tallying
from lawful.checks.replay.spark import session as spark_session
from lawful.checks.replay.spark.partitions import TallyPartition
from lawful.machines.unicast import declaration
from lawful.runtime.journal import Journal
from lawful.runtime.timers import SimulatedClock
from tests.checks.replay import test_columnar, test_mapping
from tests.checks.replay.conftest import NEEDS_SPARK
from tests.checks.replay.journals import (
    PROGRAM,
    Row,
    Worker,
    interleaved,
    rows,
    tampered,
    worker,
    written,
)
from tests.checks.replay.test_runtime_journals import Shelf
from tests.checks.replay.test_validation import BOTH, LINES, MARK, unread
from tests.frozen import USE, compiled, freeze, imported, package, run
from tests.runtime.instances.test_container_changes import Store

pytestmark = NEEDS_SPARK
ENGINES: tuple[Engine, ...] = ("local", "spark")


def same(paths: list[Path], program: ReplayProgram = PROGRAM) -> Any:
    """The answer of both engines, which is to be one."""
    here, there = replay(paths, program), replay(paths, program, "spark")
    assert here.tallies == there.tallies
    answers: list[Row] = [here.to_json(), there.to_json()]
    for answer, engine in zip(answers, ("local", "spark"), strict=True):
        assert answer.pop("engine") == engine
        answer.pop("seconds")
        needless = "of lines need no Spark" in str(answer.pop("remark"))
        assert needless == (engine == "spark")
    assert json.dumps(answers[0]) == json.dumps(answers[1])
    return answers[0]


def anywhere(answer: Any) -> Any:
    """The answer without the places of rows that have no number, which differ from file to file."""
    for each in answer["rejected"]["reasons"]:
        del each["places"]
    for about in (answer, *answer["machines"]):
        for each in about["not_judged"]:
            each.update(file=None, number=None)
    return answer


def everything_spoilt() -> list[Row]:
    """The journals of all ways to spoil one, under instances of their own, interleaved.

    Of the first case all instances are there, of the others the one that is spoilt.
    """
    journals: list[list[Row]] = []
    for case in tampered():
        journal = rows()
        case.spoil(journal)
        shown = [row for row in journal if not journals or row["instance"] not in "bcd"]
        journals.append([row | {"instance": f"{case.name}/{row['instance']}"} for row in shown])
    return interleaved(*journals)


def spoilt_file(tmp_path: Path) -> Path:
    path = written(tmp_path / "j.jsonl", everything_spoilt())
    lines = [line.encode() for line, _ in LINES]
    junk = [b"", b" ", bytes(range(256)), b'{"instance": "\xff"}', b"\r", b'{"a": 1}\r']
    path.write_bytes(b"\n".join([*lines, *junk, path.read_bytes()]) + b'{"v": 1, "ins')
    return path


@pytest.mark.nightly
def test_spoilt_journals(session: Any, tmp_path: Path) -> None:
    found = same([spoilt_file(tmp_path)])
    for case in tampered():
        assert found["by_instance"][f"{case.name}/a"] == case.verdict, case.name
    assert found["rejected"]["rows"] == len(LINES) + 5


@pytest.mark.nightly
def test_parquet(session: Any, tmp_path: Path) -> None:
    lines = spoilt_file(tmp_path)
    assert to_parquet([lines], tmp_path / "table") == len(everything_spoilt()) + len(LINES) + 5
    found = anywhere(same([tmp_path / "table"]))
    assert found == anywhere(same([lines]))
    (part,) = (tmp_path / "table").iterdir()
    assert anywhere(same([part])) == found


@pytest.mark.nightly
def test_lines_and_tables_together(session: Any, tmp_path: Path) -> None:
    whole = written(tmp_path / "whole.jsonl", rows())
    folder = tmp_path / "a b [1] %20 {x}*"
    folder.mkdir()
    packed = "".join(f"{json.dumps(row)}\n" for row in rows()[20:]).encode()
    (folder / "1.jsonl.gz").write_bytes(gzip.compress(packed))
    to_parquet([written(tmp_path / "0.jsonl", rows()[:20])], folder)
    assert same([folder], BOTH) == same([whole], BOTH)


@pytest.mark.nightly
def test_trouble(session: Any, tmp_path: Path) -> None:
    """Duplicates in two files, gaps, deviations; every problem; places in parts of a file."""
    journal = interleaved(*(worker(f"w{i}") for i in range(6)))
    for row in journal:
        if row["instance"] == "w1" and row["event"] == "take":
            row["output"] = 99
    journal = [row for row in journal if (row["instance"], row["seq"]) != ("w2", 5)]
    lines: list[Any] = [*map(json.dumps, journal)]
    for at in (90, 60, 30, 1):
        lines.insert(at, "[]")
    first = written(tmp_path / "a b.jsonl", lines)
    second = written(tmp_path / "j.jsonl", [*journal[40:], journal[3] | {"output": 7}])
    key = "spark.sql.files.maxPartitionBytes"
    before = session.conf.get(key)
    session.conf.set(key, "7000")
    try:
        found = same([first, second], ReplayProgram(PROGRAM.machines, every=True))
    finally:
        session.conf.set(key, before)
    numbers = [each["number"] for each in found["rejected"]["reasons"][0]["places"]]
    assert numbers == [2, 32, 63, 94]
    told = {name: found["counts"][name] for name in ("duplicates", "gaps", "regressions")}
    assert told == {"duplicates": len(journal) - 40, "gaps": 1, "regressions": 1}
    assert found["counts"]["deviations"] == len(found["deviations"]) == 8


@pytest.mark.nightly
def test_instances_span_batches(session: Any, tmp_path: Path) -> None:
    path = written(tmp_path / "j.jsonl", interleaved(*(worker(f"w{i}") for i in range(40))))
    key = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = session.conf.get(key)
    session.conf.set(key, "7")
    try:
        assert same([path])["verdicts"]["fits"] == 40
    finally:
        session.conf.set(key, before)


@pytest.mark.nightly
def test_many_partitions_are_merged_apart(
    session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tallying, "MERGED_HERE", 2)
    adaptive = "spark.sql.adaptive.enabled"
    session.conf.set(adaptive, "false")  # Spark would bring partitions as small as these together.
    session.conf.set(block_tasks.PARTITIONS, "4")
    try:
        same([written(tmp_path / "j.jsonl", everything_spoilt())])
    finally:
        session.conf.set(adaptive, "true")
        session.conf.set(block_tasks.PARTITIONS, "32")


@pytest.mark.nightly
def test_typed_columns(session: Any, tmp_path: Path) -> None:
    """Lines and tables, some rows of them spoilt; in this process they go row by row."""
    path = tmp_path / "trace.jsonl"
    path.write_bytes(test_columnar.text(test_columnar.trace(7)))
    here, there = (replay([path], test_columnar.PROGRAM, engine) for engine in ENGINES)
    assert here.tallies == there.tallies
    assert all(here.verdicts[name] for name in ("fits", "open", "deviates"))
    told = [test_columnar.plain(line) for line in test_columnar.trace(8, 0)]
    told[-1]["price"] = told[-2]["n"] = told[-4]["who"] = None
    assert told[-3]["what"] == "PING"  # It is skipped, whatever else it has.
    told[-3]["who"] = None
    table = tmp_path / "trace.parquet"
    arrow().parquet.write_table(arrow().Table.from_pylist(told), table)
    here, there = (replay([table], test_columnar.PROGRAM, engine) for engine in ENGINES)
    assert here.tallies == there.tallies
    assert (here.verdicts["fits"] > 0, here.rejected) == (True, 1)


def test_a_foreign_trace(session: Any, tmp_path: Path) -> None:
    told: list[Any] = [*test_mapping.lines(), *LINES, {"who": {"name": 7}, "at": 1, "what": "x"}]
    path = written(tmp_path / "j.jsonl", [t[0] if isinstance(t, tuple) else t for t in told])
    found = same([path], test_mapping.program(tmp_path))
    assert found["by_instance"] == {"7": "quarantined", "a": "fits", "b": "open"}


@pytest.mark.nightly
def test_a_universe_travels(session: Any, tmp_path: Path) -> None:
    program = ReplayProgram((Shelf.lawful.ir,))
    head = {"v": 1, "machine": "Shelf", "fingerprint": program.steppers["Shelf"].fingerprint}
    none: Row = dict.fromkeys(("transition", "before", "after", "output", "why")) | {"time": 0}
    marks = {"marks": {"a": True, "b": True}}
    made: Row = {"event": None, "args": {}, "outcome": "made", "changed": marks, "seq": 0}
    flip: Row = {"event": "flip", "args": {}, "outcome": "done", "seq": 1, "transition": "flip"}
    flip["changed"] = {"marks": {"a": False, "b": False}}
    journal: list[Row] = [
        head | none | {"instance": name} | row
        for name in ("x", "y")
        for row in (made | ({"universe": {"Node": ["a", "b"]}} if name == "x" else {}), flip)
    ]
    lines = written(tmp_path / "j.jsonl", journal)
    to_parquet([lines], tmp_path / "table")
    found = same([lines], program)
    assert found["by_instance"] == {"x": "fits", "y": "inconclusive"}
    assert same([tmp_path / "table"], program) == found


@pytest.mark.nightly
def test_changes_of_containers_and_whole_ones(session: Any, tmp_path: Path) -> None:
    with Journal(tmp_path / "j.jsonl") as journal:
        store = Store(clock=SimulatedClock())
        journal.attach(store, "a")
        store.fill(20)
        store.put(200, 7)
        store.drop(3)
    lines = [json.loads(line) for line in (tmp_path / "j.jsonl").read_text().splitlines()]
    assert {row["v"] for row in lines} == {3}
    lied = {**lines[2]["changed"], "ids": {"$changed": {"added": [201], "removed": []}}}
    others = [row | {"instance": "b"} for row in (*lines[:2], lines[2] | {"changed": lied})]
    program = ReplayProgram((Store.lawful.ir,))
    both = written(tmp_path / "both.jsonl", lines + others)
    to_parquet([both], tmp_path / "table")
    for path in (both, tmp_path / "table"):
        found = same([path], program)
        assert found["by_instance"] == {"a": "fits", "b": "deviates"}


@pytest.mark.nightly
def test_machines_that_share_a_journal(session: Any, tmp_path: Path) -> None:
    machines = (declaration.SenderEntryFixed.lawful.ir, declaration.ReceiverEntryFixed.lawful.ir)
    program = ReplayProgram((Worker.lawful.ir, *machines))
    found = same([written(tmp_path / "j.jsonl", rows())], program)
    assert found["machines"][1]["instances"] == 0
    assert found["coverage"]["transitions"]["Worker.take"] == 13


@pytest.mark.nightly
def test_no_journal_is_no_pass(session: Any, tmp_path: Path) -> None:
    junk = tmp_path / "junk.jsonl"
    junk.write_bytes(bytes(range(256)) * 9)
    torn = tmp_path / "torn.jsonl.gz"
    torn.write_bytes(gzip.compress(junk.read_bytes() * 1000)[:-9])
    fake = tmp_path / "fake.parquet"
    fake.write_bytes(b"PAR1" + bytes(100))
    other = written(tmp_path / "other.jsonl", worker("a"))
    table = tmp_path / "table"
    to_parquet([other], table)
    (part,) = table.iterdir()
    narrow = _without_column(part, tmp_path / "narrow.parquet")
    for path, why in [
        (tmp_path / "missing", "there is no such file"),
        (junk, "no row of the journal is readable: not JSON, not UTF-8"),
        (torn, "torn.jsonl.gz"),
        (fake, "fake.parquet"),
        (narrow, "it has no column seq"),
    ]:
        engines: tuple[Engine, ...] = ("local", "spark")
        for engine in engines:
            with pytest.raises(ReplayError) as caught:
                replay([path], PROGRAM, engine)
            assert why in str(caught.value)
            assert "\n" not in str(caught.value)
    with pytest.raises(ReplayError, match="Spark: "):
        replay(["gone://x/y.jsonl"], PROGRAM, "spark")
    with pytest.raises(ReplayError, match="only the Spark engine reads remote files"):
        replay(["gone://x/y.jsonl"], PROGRAM)


def _without_column(path: Path, target: Path) -> Path:
    pq = arrow().parquet
    pq.write_table(pq.read_table(path).drop_columns(["seq"]), target)
    return target


@pytest.mark.nightly
def test_no_file_is_passed_over(session: Any, tmp_path: Path) -> None:
    for path, why in unread(tmp_path):
        with pytest.raises(ReplayError, match=why):
            replay([path], PROGRAM, "spark")
    hidden = written(tmp_path / "_hidden.jsonl", worker("a"))
    link = tmp_path / "shown.jsonl"
    link.symlink_to(hidden)
    assert same([link])["by_instance"] == {"a": "fits"}
    loud = tmp_path / "loud.jsonl.GZ"
    loud.write_bytes(gzip.compress(hidden.read_bytes()))
    assert same([loud])["by_instance"] == {"a": "fits"}


@pytest.mark.nightly
def test_less_than_there_is_gives_no_verdict(
    session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, part = (written(tmp_path / f"{n}.jsonl", worker(n)) for n in ("a", "b"))
    to_parquet([part], tmp_path / "table")
    (table,) = (tmp_path / "table").iterdir()
    unended = tmp_path / "c.jsonl"
    unended.write_bytes(b"\n".join([b"", b" ", whole.read_bytes().rstrip(b"\n")]))
    assert replay([unended, table], PROGRAM, "spark").exit_code == 0
    read, only = inputs.of_files, sources([whole])

    def less(made: Any, _: Any, what: ReplayProgram, how: Any) -> Any:
        return read(made, only, what, how)

    monkeypatch.setattr(inputs, "of_files", less)
    for left in (part, table):
        with pytest.raises(ReplayError, match=r"Spark read \d+ of \d+ (bytes|rows) of the"):
            replay([whole, left], PROGRAM, "spark")


JUNK: tuple[bytes, ...] = (
    b'{"instance":"i%d","seq":NaN}',
    b'{"instance":"i%d","seq":Infinity}',
    b'{"instance":"i%d","seq":1e0}',
    b'{"instance":"i%d","seq":1.0}',
    b'{"instance":"i%d","seq":-0}',
    b'{"instance":"i%d","seq":"0"}',
    b'{"instance":"i%d","seq":true}',
    b'{"instance":"i%d","seq":null}',
    b'{"instance":"i%d","seq":[0]}',
    b'{"instance":"i%d","seq":9223372036854775807}',
    b'{"instance":"i%d","seq":9223372036854775808}',
    b'{"instance":"i%d","seq":01}',
    b'{"instance":"i%d","instance":"a","seq":0}',
    b'{"instance":"a","instance":"i%d","seq":0}',
    b'{"instance":"i%d","seq":0,"seq":1}',
    b'{"instance":"i%d","seq":1,"x":{"y":0,"y":0}}',
    b'{"instance":"\\u0069%d","seq":0}',
    b'{"\\u0069nstance":"i%d","seq":0}',
    b'{"instance":"i%d\\u0000","seq":0}',
    b'{"instance":"i%d\\ud83d\\ude00","seq":0}',
    b'{"instance":"i%d\\ud83d","seq":0}',
    b'{"instance":"i%d\xff","seq":0}',
    b'{"instance":"i%d\x01","seq":0}',
    b"{'instance':'i%d','seq':0}",
    b'{instance:"i%d","seq":0}',
    b'{"instance":"i%d","seq":0,}',
    b'{"instance":"i%d","seq":0} trailing',
    b'{"instance":"i%d","seq":0}{"instance":"a","seq":0}',
    b'/* i%d */ {"instance":"a","seq":0}',
    b'[{"instance":"i%d","seq":0}]',
    b'{"a":{"instance":"i%d","seq":0}}',
    b'{"instance.":"i%d","seq":0}',
    b'{"instance":["i%d"],"seq":0}',
    b'{"instance":{"a":"i%d"},"seq":0}',
    b'{"instance":%d,"seq":0}',
    b'{"instance":"","seq":%d}',
    b'  {"instance":"i%d","seq":0}\t\r',
    b'\x0c{"instance":"i%d","seq":0}',
    b'\xc2\xa0{"instance":"i%d","seq":0}',
    MARK + b'{"instance":"i%d","seq":0}',
    b'{"instance":"i%d","seq":0}\x00',
    b"\xe2\x80\xa8i%d",
)


@pytest.mark.nightly
@pytest.mark.parametrize("whole", [False, True], ids=["alone", "as the second row"])
def test_junk_is_attributed_alike(whole: bool, session: Any, tmp_path: Path) -> None:
    lines = [json.dumps(row).encode() for row in worker("a")]
    for number, junk in enumerate(JUNK):
        if whole:
            made = worker("a")[0] | {"instance": f"i{number}"}
            lines.append(json.dumps(made).encode())
        lines.append(junk % number)
    path = tmp_path / "j.jsonl"
    path.write_bytes(b"\n".join(lines))
    found = same([path])
    assert found["by_instance"]["a"] == "fits"
    assert found["by_instance"]["i0"] == found["by_instance"]["i1"] == "quarantined"
    assert replay([path], PROGRAM).exit_code == 3
    to_parquet([path], tmp_path / "table")
    assert anywhere(same([tmp_path / "table"])) == anywhere(found)


@pytest.mark.nightly
def test_a_table_says_the_same_row_to_both(session: Any, tmp_path: Path) -> None:
    to_parquet([written(tmp_path / "j.jsonl", rows())], tmp_path / "table")
    (part,) = (tmp_path / "table").iterdir()
    pa = arrow()
    table = pa.parquet.read_table(part)
    told = table.to_pylist()
    told[0]["corrupt"] = json.dumps(worker("b")[3]).encode()
    told[4]["corrupt"] = b'{"instance": "new", "seq": NaN}'
    told[9]["args"] = '{"job": 1, "job": 1}'
    told[12]["time"] = "NaN"
    told[20]["instance"] = None
    pa.parquet.write_table(pa.Table.from_pylist(told, schema=table.schema), part)
    found = same([part])
    assert found["by_instance"]["new"] == "quarantined" and found["rejected"]["rows"] == 1


def test_each_junk_line_alone_keeps_a_result_from_being_conclusive(tmp_path: Path) -> None:
    for number, junk in enumerate(JUNK):
        path = written(tmp_path / "j.jsonl", worker("a"))
        path.write_bytes(path.read_bytes() + junk % number)
        assert replay([path], PROGRAM).exit_code == 3, junk


def test_a_task_carries_no_source() -> None:
    sent = pickle.dumps(TallyPartition(PROGRAM))
    assert b"journals.py" not in sent and len(sent) < 12_000


def test_java_is_asked_for_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ReplayError, match="needs Java 17 or newer: install it"):
        spark_session.check_java()
    old = tmp_path / "bin" / "java"
    old.parent.mkdir()
    old.write_text("#!/bin/sh\necho 'openjdk version \"1.8.0_402\"' >&2\n", encoding="utf-8")
    old.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(ReplayError, match=r"found 1\.8\.0_402"):
        spark_session.check_java()
    warning = "OpenJDK 64-Bit Server VM warning: Options -Xverify:none were deprecated in JDK 13"
    for version, why in (("11.0.2", r"found 11\.0\.2"), ("ea", "found no version")):
        text = f"#!/bin/sh\necho '{warning}\nopenjdk version \"{version}\"' >&2\n"
        old.write_text(text, encoding="utf-8")
        with pytest.raises(ReplayError, match=why):
            spark_session.check_java()
    old.write_text(
        f"#!/bin/sh\necho '{warning}\nopenjdk version \"17-ea\"' >&2\n", encoding="utf-8"
    )
    spark_session.check_java()


@pytest.mark.nightly
def test_a_machine_without_source_replays_on_both_engines(session: Any, tmp_path: Path) -> None:
    home = package(tmp_path / "src")
    freeze(home)
    away = compiled(home, tmp_path / "app")
    assert run(away, "-c", USE).returncode == 0
    with imported(away) as module:
        program = ReplayProgram((module.Sender.lawful.ir,))
        answer = same([away / "journal.jsonl"], program)
    assert answer["verdicts"]["fits"] == answer["instances"] == 1
