"""Logs as other programs export and keep them: documents, logfmt, texts of JSON, rotated files."""

from __future__ import annotations

import bz2
import gzip
import importlib
import itertools
import json
import pickle
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, Nat, require, transition
from lawful.checks.replay import (
    ReplayError,
    ReplayProgram,
    in_process,
    replay,
    replay_increment,
)
from lawful.checks.replay.mapping import mapping_of
from lawful.checks.replay.preparation.path_templates import MissingPath, computed
from lawful.checks.replay.preparation.preparation_table import preparation_of, to_json
from lawful.checks.replay.preparation.steps import prepared
from lawful.checks.replay.preparation.times import seconds
from lawful.cli import main
from tests.checks.replay.conftest import NEEDS_SPARK
from tests.checks.replay.foreign_logs import Span


class Lock(Machine):
    """A lock that counts for how long it was held."""

    held: bool = False
    total: Nat = 0

    @transition()
    def acquire(self) -> None:
        require(not self.held, "is held")
        self.held = True

    @transition()
    def release(self, took: Nat) -> None:
        require(self.held, "is not held")
        self.held, self.total = False, self.total + took


LOCK: dict[str, Any] = {"instance": "$.lock", "event": "$.e", "args": {"release": {"took": "$.d"}}}


def answered(paths: list[Path], how: dict[str, Any], data: dict[str, Any] = LOCK) -> Any:
    """The answer of a replay of the files of locks; a program in another process reads alike."""
    program = ReplayProgram((Lock.lawful.ir,), mapping=mapping_of({**data, "preparation": how}))
    again: ReplayProgram = pickle.loads(pickle.dumps(program))
    result = replay(paths, program)
    assert replay(paths, again).tallies == result.tallies
    return result.to_json()


def verdicts(paths: list[Path], how: dict[str, Any], data: dict[str, Any] = LOCK) -> dict[str, str]:
    return dict(answered(paths, how, data)["by_instance"])


def test_documents_over_several_lines(tmp_path: Path) -> None:
    """Lists in lists, of which the inner one is computed, as in CloudTrail; a second document in
    the file, packed, with a byte order mark."""
    events: list[Any] = [
        {"name": "acquire", "ask": {"items": [{"id": "a"}, {"id": "b"}]}},
        {"name": "release", "got": {"items": [{"id": "a"}]}, "d": 1},
        {"name": "acquire", "ask": {"items": [{"id": "b"}]}},
        {"name": "Describe", "ask": {"items": []}},
    ]
    path = tmp_path / "export.json.gz"
    texts = [json.dumps({"Records": part}, indent=1) for part in (events[:2], events[2:])]
    path.write_bytes(gzip.compress(b"\xef\xbb\xbf" + "\r\n".join(texts).encode()))
    items: dict[str, Any] = {"$if": {"$.Records.name": "release"}}
    items |= {"then": "$.Records.got.items", "else": "$.Records.ask.items"}
    data: dict[str, Any] = {"instance": "$.item.id", "event": "$.Records.name"}
    data["skip"] = ["Describe"]
    data |= {"args": {"release": {"took": "$.Records.d"}}}
    how: dict[str, Any] = {"format": "json", "order": "file", "fields": {"item": items}}
    how["spread"] = ["$.Records", "$.item"]
    assert verdicts([path], how, data) == {"a": "fits", "b": "deviates"}
    assert to_json(preparation_of(how)) == to_json(preparation_of(to_json(preparation_of(how))))
    path = tmp_path / "list.json"
    path.write_text('[{"lock": "a", "e": "acquire"}, 7]')
    answer = answered([path], {"format": "json", "order": "file"})
    assert answer["rejected"]["reasons"][0]["places"] == [{"file": str(path), "number": 2}]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 1}\n{"a":', "Expecting value: line 2 column 6"),
        ('{"b": 1}\n{"a": 1,\n"a": 2}', "a key twice, in the document that begins in line 2"),
        ("[" * 9999, "too many brackets"),
    ],
)
def test_what_is_no_document(text: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.json"
    path.write_text(text)
    with pytest.raises(ReplayError, match=why):
        answered([path], {"format": "json", "order": "file"})


def test_a_text_of_json_in_a_record(tmp_path: Path) -> None:
    """Docker's log with nanoseconds, and a value in the text that is cast."""
    rows = [("acquire", 2), ("release", 3), ("acquire", 4), ("release", 5)]
    lines = [
        json.dumps(
            {
                "log": json.dumps({"e": event, "lock": "a", "d": "1.50"}) + "\n",
                "time": f"2026-03-12T09:00:00.00000000{n}Z",
            }
        )
        for event, n in reversed(rows)
    ]
    lines.append(json.dumps({"log": "panic: no JSON", "time": "2026-03-12T09:00:00Z"}))
    path = tmp_path / "docker.log"
    path.write_text("\n".join(lines))
    data: dict[str, Any] = {"instance": "$.z.lock", "event": "$.z.e", "time": "$.time"}
    data["unit"] = "iso-ns"
    data |= {"args": {"release": {"took": "$.d"}}}
    how: dict[str, Any] = {"order": "time", "casts": {"$.z.d": "fixed(2)"}}
    how["fields"] = {"z": {"$json": "$.log"}, "d": "$.z.d"}  # `d` reads `z`, which is before it.
    answer = answered([path], how, data)
    assert answer["by_instance"] == {"a": "fits"} and answer["rejected"]["rows"] == 1
    answer = answered([path], how, data | {"unit": "iso"})
    assert answer["not_judged"][0]["clause"] == (
        'a time finer than a microsecond; unit = "iso-ns" reads nanoseconds'
    )


def test_logfmt(tmp_path: Path) -> None:
    lines = [
        'at=info lock=a e=acquire msg="it \\"begins\\" d=9" db.host=x retried',
        "2026-03-12T09:00:00Z app: d=3 e=release lock=a empty= ",
        "no pair",
        "",
        'lock=a lock=b e=release msg="open',
        "lock=a lock=b e=release",
    ]
    path = tmp_path / "app.log"
    path.write_text("\r\n".join(lines))
    how: dict[str, Any] = {"format": "logfmt", "order": "file", "casts": {"$.d": "int"}}
    how["when"] = {"$.e": ["acquire", "release"]}
    answer = answered([path], how)
    assert answer["by_instance"] == {"a": "fits"}
    reasons = {each["reason"]: each["total"] for each in answer["rejected"]["reasons"]}
    assert reasons == {"no pairs of logfmt": 2, "a key twice": 1}
    how["when"] = {"$.retried": True, "$.msg": 'it "begins" d=9', "$.db_host": "x"}
    assert answered([path], how | {"pass_unmatched": True})["events"] == 1


def test_files_are_in_their_order(tmp_path: Path) -> None:
    """Oldest first, however they are given: logrotate gives the newest the smallest number."""
    parts = {"r.log": "end", "r.log-20260312": "log", "r.log-20260311.bz2": "start"}
    for name, event in parts.items():
        text = f"\n\n{event}\n".encode()
        (tmp_path / name).write_bytes(bz2.compress(text) if name.endswith(".bz2") else text)
    folder = tmp_path / "numbered"
    folder.mkdir()
    for name, event in [("r.log.10", "start"), ("r.log.9", "log"), ("r.log", "end")]:
        (folder / name).write_text(f"{event}\n")
    how = {"format": "text", "line": "(?P<e>.*)", "order": "file", "fields": {"k": "one"}}
    mapping = mapping_of({"instance": "$.k", "event": "$.e", "preparation": how})
    program = ReplayProgram((Span.lawful.ir,), mapping=mapping)
    for paths in ([tmp_path / name for name in parts], [folder], sorted(folder.iterdir())):
        answer: Any = replay(paths, program).to_json()
        assert answer["by_instance"] == {"one": "fits"}


def test_what_is_no_utf_8_says_so(tmp_path: Path) -> None:
    path = tmp_path / "excel.csv"
    path.write_bytes("lock;e\na;acquire".encode("utf-16"))
    with pytest.raises(ReplayError, match="is UTF-16 by its first bytes; write it as UTF-8"):
        answered([path], {"format": "csv", "delimiter": ";", "order": "file"})
    path.write_bytes("\ufefflock;e\r\na;acquire\r\n".encode())
    how = {"format": "csv", "delimiter": ";", "order": "file"}
    assert verdicts([path], how) == {"a": "fits"}


def test_functions_in_functions() -> None:
    record = {"m": "took 12,50 of x", "a": 1.1, "b": 2.2, "n": 2**62}
    whole: Any
    cents: Any
    whole, cents = ({"$find": each, "in": "$.m"} for each in ("([0-9]+),", ",([0-9]+)"))
    assert computed({"$join": [whole, cents]}, record) == "1250"
    assert computed({"$key": [{"$lower": "$.m"}, ["$.a"]]}, record) == '["took 12,50 of x",[1.1]]'
    assert computed(["$.a", {"$json": "[1]"}], record) == [1.1, [1]]
    assert computed({"$sum": ["$.n", "$.n", 1]}, record) == 2**63 + 1
    assert computed({"$sum": ["$.a", "$.b"]}, record) == 3.3
    assert computed({"$find": "(off)|([0-9]+)", "in": "$.m"}, record) == "12"
    texts = ("x", '{"a":1,"a":1}')
    wrongs: list[Any] = [{"$sum": ["$.m"]}, {"$sum": [True]}, *({"$json": each} for each in texts)]
    for wrong in wrongs:
        with pytest.raises(MissingPath):
            computed(wrong, record)


def test_a_list_in_a_computed_field_is_spread() -> None:
    how = preparation_of(
        {"spread": "$.z.items", "fields": {"z": {"$json": "$.t"}, "i": "$.z.items"}}
    )
    made = [each["i"] for _, each in prepared(how, {"t": '{"items": [1, 2]}'})]
    assert made == [1, 2]


@pytest.mark.parametrize(
    ("text", "unit", "micros"),
    [
        ("1970-01-01T00:00:00.123456789Z", "iso", "123456.789"),
        ("1970-01-01 01:00:00,5+0100", "iso", "500000"),
        ("1970-01-01T00:00:01.1234567-00:00", "iso-ns", "1123456.7"),
        ("01 Jan 1970 00:00:01 UTC", "%d %b %Y %H:%M:%S %Z", "1000000"),
        ("01 Jan 1970 00:00:01 CET", "%d %b %Y %H:%M:%S %Z", None),
    ],
)
def test_times_are_exact(
    text: str, unit: str, micros: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "CET-1CEST")
    time.tzset()
    try:
        found = seconds(text, unit)
    finally:
        monkeypatch.undo()
        time.tzset()
    assert (None if found is None else f"{float(found * 10**6):.10g}") == micros


TWO = """from lawful import Machine, Nat, transition

class Bell(Machine):
    rung: bool = False

    @transition()
    def ring(self) -> None:
        self.rung = True

class Tally(Machine):
    count: Nat = 0

    @transition()
    def add(self) -> None:
        self.count += 1
"""


def test_the_machine_that_the_mapping_names_is_replayed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another one of the file needs no scope; this one would need one to be explored."""
    (tmp_path / "two.py").write_text(TWO)
    (tmp_path / "log.ndjson").write_text('{"i": "a", "n": 0, "e": "add"}\n')
    args = [str(tmp_path / name) for name in ("log.ndjson", "two.py")]
    told = 'instance = "$.i"\nseq = "$.n"\nevent = "$.e"\nmachine = '
    mapping, both = tmp_path / "m.toml", "Bell, Tally; write Tally"
    for command in ("replay", "learn-scope"):
        mapping.write_text(f'{told}"Tally"')
        assert main([command, *args, "--mapping", str(mapping)]) == 0
        said = capsys.readouterr()
        assert said.out.startswith("Tally") and not said.err
        for name, why in (
            ("Tolly", f"{mapping}: the mapping is of Tolly; {args[1]} has {both}"),
            ("$.m", f"{mapping}: machine has to be the name of a machine, not $.m"),
        ):
            mapping.write_text(f'{told}"{name}"')
            assert main([command, *args, "--mapping", str(mapping)]) == 5
            assert capsys.readouterr().err.strip() == why


@pytest.mark.parametrize("form", ["parquet", "orc"])
def test_a_small_table_of_many_rows_goes_by_columns(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has a few bits for each row, and would take long row by row."""
    pa: Any = pytest.importorskip("pyarrow")
    went: list[str] = []

    def by(way: str) -> Callable[..., None]:
        return lambda *_: went.append(way)

    monkeypatch.setattr("lawful.checks.replay.columnar.local.tally_columns", by("columns"))
    monkeypatch.setattr(in_process, "tally_rows", by("rows"))
    mapping = mapping_of({"instance": "$.i", "seq": "$.n", "event": "$.e"})
    program = ReplayProgram((Lock.lawful.ir,), mapping=mapping)
    for rows in (in_process.FEW_ROWS, in_process.FEW_ROWS - 1):
        path = tmp_path / f"{rows}.{form}"
        importlib.import_module(f"pyarrow.{form}").write_table(pa.table({"i": [1] * rows}), path)
        files = program.sources([path])
        assert files.size < in_process.FEW
        in_process.tally_here(files, program)
    assert went == ["columns", "rows"]


@pytest.mark.nightly
@NEEDS_SPARK[0]
@NEEDS_SPARK[1]
def test_spark_reads_the_same(session: Any, tmp_path: Path) -> None:
    """With a byte order mark, in parts of a file, packed, and with fields that read others."""
    session.conf.set("spark.sql.files.maxPartitionBytes", "20000")
    try:
        events = [("acquire", "release")[n // 50 % 2] for n in range(1000)]
        rows = [json.dumps({"lock": f"k{n % 50}", "n": n, "e": e}) for n, e in enumerate(events)]
        rows[700] = "no JSON"
        text = b"\xef\xbb\xbf" + "\n".join(rows).encode()
        (tmp_path / "a.ndjson").write_bytes(text)
        (tmp_path / "b.ndjson.bz2").write_bytes(bz2.compress(text))
        fields = {"z": {"$join": ["$.lock"]}, "key": "$.z"}
        plain: dict[str, Any] = {"instance": "$.lock", "seq": "$.n", "event": "$.e"}
        plain["args"] = {"release": {"took": 1}}
        for how in (plain, {**plain, "instance": "$.key", "preparation": {"fields": fields}}):
            program = ReplayProgram((Lock.lawful.ir,), mapping=mapping_of(how))
            for path in (tmp_path / "a.ndjson", tmp_path / "b.ndjson.bz2"):
                here, there = (replay([path], program, engine=e) for e in ("local", "spark"))
                assert here.tallies == there.tallies
                assert (here.verdicts["deviates"], here.rejected) == (1, 1)
    finally:
        session.conf.unset("spark.sql.files.maxPartitionBytes")


def test_rows_around_a_deviation_name_their_files(tmp_path: Path) -> None:
    """The rows before may be in other files; increments say the same."""
    days = [["acquire"], ["release"], ["release", "acquire"]]
    paths = [tmp_path / f"{day}.jsonl" for day in "abc"]
    for path, events in zip(paths, days, strict=True):
        rows = [{"lock": "x", "e": event, "d": 1} for event in events]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    a, b, c = map(str, paths)
    how = {"order": "file"}
    (finding,) = answered(paths, how)["deviations"]
    around = finding["around"]
    assert (finding["file"], finding["number"]) == (c, 1)
    assert [(row["file"], row["number"]) for row in around["before"]] == [(a, 1), (b, 1)]
    assert [(row["file"], row["number"]) for row in around["after"]] == [(c, 2)]
    mapping = mapping_of({**LOCK, "preparation": how})
    program = ReplayProgram((Lock.lawful.ir,), mapping=mapping)
    found = replay_increment(paths[:1], program, {})
    for path in paths[1:]:
        found = replay_increment([path], program, found.states, files=found.files)
    ((_, kept),) = itertools.chain(*found.tallies.machines["Lock"].found.rows.values())
    assert kept.details["around"] == around
    (alone,) = answered([paths[2]], how)["deviations"]
    assert "file" not in alone and "file" not in alone["around"]["after"][0]
