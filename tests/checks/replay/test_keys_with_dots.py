"""Paths to keys with dots, quotes and brackets: every place of a mapping, every way to replay."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful import Machine, Nat, require, transition
from lawful.checks.replay import (
    ReplayError,
    ReplayProgram,
    TraceMapping,
    joint_program,
    replay,
)
from lawful.checks.replay.columnar.layout import layout_of
from lawful.checks.replay.columnar.local import tally_columns
from lawful.checks.replay.inference.mapping_inference import inferred
from lawful.checks.replay.joint import joint_tallies
from lawful.checks.replay.mapping import mapping_of
from lawful.checks.replay.preparation.record_paths import is_path, names_in, path_of
from lawful.checks.replay.preparation.steps import prepared
from lawful.checks.replay.rows import Rejected, Row
from lawful.checks.replay.sources import Sources, sources
from tests.checks.replay import answers


class Sender(Machine):
    sent: Nat = 0
    acked: Nat = 0

    @transition()
    def send(self) -> Nat:
        self.sent += 1
        return self.sent

    @transition()
    def ack(self, upto: Nat) -> None:
        require(upto <= self.sent, "acknowledges what was never sent")
        self.acked = max(self.acked, upto)


# An instance, its number, the event, the argument and the output.
TOLD = [
    ("a", 1, "send", None, 1),
    ("a", 2, "send", None, 2),
    ("a", 3, "ack", 2, None),
    ("b", 1, "send", None, 1),
    ("b", 2, "ack", 7, None),
    ("b", 3, "send", None, 2),
    ("c", 1, "send", None, 9),
]
VERDICTS = {"a": "fits", "b": "deviates", "c": "deviates"}
PLAIN = (("conn",), ("n",), ("type",), ("number",), ("reply",))
DOTTED = (("conn.id",), ("log", "n.o"), ("log.type",), ("log", 'it\'s ["x"]', "a.b"), ("r.e",))
Paths = Sequence[tuple[str, ...]]


def program(paths: Paths, **more: Any) -> ReplayProgram:
    instance, seq, event, number, reply = map(path_of, paths)
    data = {"instance": instance, "seq": seq, "event": event, "output": reply}
    mapping = mapping_of(data | {"args": {"ack": {"upto": number}}} | more)
    return ReplayProgram((Sender.lawful.ir,), mapping=mapping)


def record(paths: Paths, values: Sequence[Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for (*outer, last), value in zip(paths, values, strict=True):
        inside = out
        for name in outer:
            inside = inside.setdefault(name, {})
        inside[last] = value
    return out


def lines(paths: Paths) -> list[list[str]]:
    return [[json.dumps(record(paths, row)) for row in part] for part in (TOLD[:4], TOLD[4:])]


NAMES = st.text(st.sampled_from("ab.[]'\"\\$` \n") | st.characters(codec="utf-8"), max_size=6)


@given(st.lists(NAMES, min_size=1, max_size=4))
def test_every_key_has_a_path(names: list[str]) -> None:
    path = path_of(names)
    assert is_path(path)
    assert names_in(path) == (*names,)


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("$.a", ("a",)),
        ("$.a..b", ("a", "", "b")),
        ("$.Price [EUR].x", ("Price [EUR]", "x")),
        ("$.a[0].b'c", ("a[0]", "b'c")),
        ("$['a.b']", ("a.b",)),
        ('$["a.b"].c["d.e"]', ("a.b", "c", "d.e")),
        (r"$['it\'s']['\\']", ("it's", "\\")),
        ("$['a]b']", ("a]b",)),
        ("$['']", ("",)),
    ],
)
def test_paths(path: str, names: tuple[str, ...]) -> None:
    assert names_in(path) == names


def test_paths_are_written_plainly_where_they_can_be() -> None:
    names = ["a", "b c", "d[0]", "log.level", "it's", "it's.x"]
    assert path_of(names) == r"$.a.b c.d[0]['log.level'].it's['it\'s.x']"


WAYS = {
    "row by row": answers.row_by_row,
    "columns": answers.by_columns,
    "store": answers.by_store,
    "increments": answers.by_increments,
}


def alike(paths: Paths) -> None:
    """Each way answers of a log with these keys as of one with plain keys."""
    for way, run in WAYS.items():
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
            wanted = run(program(PLAIN), lines(PLAIN), Path(one))
            assert wanted.verdicts == VERDICTS
            assert run(program(paths), lines(paths), Path(other)) == wanted, way


def test_every_way_reads_keys_with_dots() -> None:
    alike(DOTTED)


@settings(max_examples=15)
@given(st.lists(NAMES, min_size=5, max_size=5, unique=True), st.lists(NAMES, max_size=2))
def test_every_way_reads_any_keys(last: list[str], outer: list[str]) -> None:
    alike([*((name,) for name in last[:2]), *((*last[2:3], *outer, name) for name in last[2:])])


def test_the_same_path_in_two_forms_has_no_columns() -> None:
    """As two paths of which one is inside the other: the replay row by row reads it."""
    twice = {"output": "$['number']"}
    assert layout_of(program(PLAIN)) is not None
    assert layout_of(program(PLAIN, **twice)) is None


@pytest.mark.parametrize("ending", ["parquet", "orc"])
@pytest.mark.parametrize("prepare", [False, True])
def test_tables_whose_columns_have_dots(tmp_path: Path, ending: str, prepare: bool) -> None:
    path = table(tmp_path, ending)
    more = {"preparation": {"defaults": {"$['x.y']": 0}}} if prepare else {}
    found = replay([path], program(COLUMNS, **more))
    assert found.total.verdicts == {"fits": 1, "deviates": 2}
    if not prepare:
        layout = layout_of(program(COLUMNS))
        assert layout is not None
        tallies = tally_columns(sources([path]), answers.whole(program(COLUMNS)), layout)
        assert answers.of_tallies(tallies).verdicts == VERDICTS


def test_a_block_of_lines_may_lack_a_key_with_a_dot(tmp_path: Path) -> None:
    rows = [{**record(DOTTED, row), "log": {"n.o": row[1]}, "r.e": row[-1]} for row in TOLD]
    sends = [[json.dumps(row) for row in rows if row["log.type"] == "send"]]
    wanted = answers.row_by_row(program(DOTTED), sends, tmp_path)
    assert wanted.verdicts == {"a": "fits", "b": "fits", "c": "deviates"}
    assert answers.by_columns(program(DOTTED), sends, tmp_path) == wanted


COLUMNS = (("conn.id",), ("log.n",), (".type",), ("log", "in.side"), ("log", "a", ".b"))


def table(folder: Path, ending: str) -> Path:
    """A column `log.n` beside a record `log`, which has a field of this name."""
    pa = pytest.importorskip("pyarrow")
    rows = [record(COLUMNS, row) for row in TOLD]
    for row in rows:
        row["log"]["n"] = -1
    path = folder / f"t.{ending}"
    module = pytest.importorskip(f"pyarrow.{ending}")
    module.write_table(pa.Table.from_pylist(rows), str(path))
    return path


class Sent(Machine):
    sent: Nat = 0

    @transition()
    def send(self) -> Nat:
        self.sent += 1
        return self.sent


JOINT = {f"Sender.{name}": verdict for name, verdict in VERDICTS.items()} | {
    "Sent.a": "fits",
    "Sent.b": "fits",
    "Sent.c": "deviates",
}


def mappings(paths: Paths = COLUMNS) -> tuple[TraceMapping, ...]:
    instance, seq, event, number, output = map(path_of, paths)
    keys = {"instance": instance, "seq": seq, "event": event, "output": output}
    sender = keys | {"machine": "Sender", "args": {"ack": {"upto": number}}}
    return mapping_of(sender), mapping_of(keys | {"machine": "Sent"})


@pytest.mark.parametrize("few", [False, True])
def test_several_machines_over_a_table_whose_columns_have_dots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: bool
) -> None:
    def told(files: Sources, *, foreign: bool) -> bool:
        return bool(files.tables) and foreign and few

    monkeypatch.setattr(joint_tallies, "is_few", told)  # Else they go by columns.
    joint = joint_program((Sender.lawful.ir, Sent.lawful.ir), mappings())
    found = joint_tallies.tally_joint(sources([table(tmp_path, "parquet")], foreign=True), joint)
    assert {name: of.verdicts for name, of in found.machines.items()} == {
        "Sender": {"fits": 1, "deviates": 2},
        "Sent": {"fits": 2, "deviates": 1},
    }


def test_every_step_of_a_preparation() -> None:
    how: dict[str, Any] = {
        "patterns": [{"of": "$['log.text']", "pattern": "^(?P<what>[a-z]+)", "event": "e"}],
        "spread": "$['log.items']",
        "defaults": {"$.log['n.o']": "5"},
        "casts": {"$.log['n.o']": "int"},
        "values": {"$['log.level']": {"I": "INFO"}},
        "fields": {
            "key.of": {"$join": ["$['log.items']", "/", "$.what"]},
            "if": {"$if": {"$['log.level']": "INFO"}, "then": "$.log['n.o']", "else": 0},
        },
        "when": {"$['log.level']": "INFO"},
        "rows": [{"when": {"$['key.of']": "x/begin"}, "fields": {"row": "$['key.of']"}}],
        "hash": ["$['log.user']"],
        "drop": ["$['log.text']", "$.log['far.off']"],
        "salt": "s3cret",
    }
    mapping = mapping_of({"instance": "$.i", "seq": "$.n", "event": "$.e", "preparation": how})
    told = {
        "log.text": "begin it",
        "log.items": ["x", "y"],
        "log.level": "I",
        "log.user": "ada",
        "log": {"far.off": 1, "level": "W"},
    }
    assert mapping.preparation is not None
    ((number, made),) = prepared(mapping.preparation, told)
    user = made.pop("log.user")
    assert user.startswith("h") and len(user) == 33
    assert (number, made) == (
        0,
        {
            "log.items": "x",
            "log.level": "INFO",
            "log": {"level": "W", "n.o": 5},
            "what": "begin",
            "event": "e",
            "key.of": "x/begin",
            "if": 5,
            "row": "x/begin",
        },
    )


def test_observed_variables_time_and_a_history(tmp_path: Path) -> None:
    rows = [{**record(DOTTED, row), "state.sent": 1} for row in TOLD]
    path = tmp_path / "r.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = replay([path], program(DOTTED, output=None, observed={"sent": "$['state.sent']"}))
    assert found.total.verdicts == {"deviates": 2, "fits": 1}
    timed = {"time": "$.log['n.o']", "seq": None, "preparation": {"order": "time"}}
    found = replay([path], program(DOTTED, **timed))
    assert found.total.verdicts == {"deviates": 2, "fits": 1}
    calls = [
        {"who.is": "p", "the.phase": phase, **record(DOTTED, ("a", n, "send", None, 1))}
        for n, phase in enumerate(["call", "return"])
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in calls), encoding="utf-8")
    history = {"process": "$['who.is']", "phase": "$['the.phase']"}
    found = replay([path], program(DOTTED, history=history))
    assert found.total.verdicts == {"fits": 1}


WRONG = "at ['a.b there has to be a dot and a name, or a key such as ['log.level']"


@pytest.mark.parametrize(
    ("more", "place"),
    [
        ({"instance": "$['a.b"}, "instance: $['a.b is no path: "),
        ({"output": "$['a.b"}, "output: $['a.b is no path: "),
        ({"time": "$['a.b"}, "time: $['a.b is no path: "),
        ({"args": {"ack": {"upto": "$['a.b"}}}, "args: $['a.b is no path: "),
        ({"observed": {"sent": "$['a.b"}}, "observed: $['a.b is no path: "),
        ({"preparation": {"hash": ["$['a.b"]}}, "preparation: $['a.b is no path: "),
        ({"preparation": {"when": {"$['a.b": 1}}}, "preparation: when: $['a.b is no path: "),
        (
            {"preparation": {"fields": {"x": {"$lower": "$['a.b"}}}},
            "preparation: fields.x: $['a.b is no path: ",
        ),
        (
            {"preparation": {"fields": {"x": {"$if": {}, "then": "$['a.b"}}}},
            "preparation: fields.x: $['a.b is no path: ",
        ),
        (
            {"preparation": {"fields": {"x": {"$find": "a", "in": "$['a.b"}}}},
            "preparation: fields.x: $['a.b is no path: ",
        ),
        (
            {"history": {"process": "$['a.b", "phase": "$.p"}},
            "history.process: $['a.b is no path: ",
        ),
    ],
)
def test_a_path_that_does_not_end_is_refused(more: Mapping[str, Any], place: str) -> None:
    with pytest.raises(ValueError, match="is no path") as told:
        mapping_of({"instance": "$.i", "seq": "$.n", "event": "$.e", **more})
    assert str(told.value) == place + WRONG


def test_a_proposal_has_keys_with_dots(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    rows = [
        {"conn.id": f"c{n % 3}", "log": {"n.o": 3 * n + of}, "event.action": what, "x.upto": 1}
        for n in range(6)
        for of, what in enumerate(("SEND", "ACK"))
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = inferred([path], Sender.lawful.ir)
    assert found.mapping == {
        "event": "$['event.action']",
        "events": {"ACK": "ack", "SEND": "send"},
        "instance": "$['conn.id']",
        "seq": "$.log['n.o']",
        "args": {"ack": {"upto": "$['x.upto']"}},
    }
    mapping = mapping_of(found.mapping)
    result = replay([path], ReplayProgram((Sender.lawful.ir,), mapping=mapping))
    assert result.total.verdicts == {"fits": 3}


@pytest.mark.parametrize(
    ("path", "record", "told"),
    [
        ("$.log.no", {"log.no": 1}, "no value at $.log.no; it has $['log.no']"),
        ("$['log.no']", {"log": {"no": 1}}, "no value at $['log.no']; it has $.log.no"),
        ("$['log.no']", {"log_no": 1}, "no value at $['log.no']; it has $.log_no"),
        (
            "$.a.log.no",
            {"a": {"x": 1, "log.no": 1}},
            "no value at $.a.log.no; it has $.a['log.no']",
        ),
        ("$.log.no", {"log.now": 1, "log": {"n": 1}}, "no value at $.log.no"),
        ("$.log.no", {"log": 1}, "no value at $.log.no"),
    ],
)
def test_a_missing_value_names_the_path_that_differs_in_dots(
    path: str, record: dict[str, Any], told: str
) -> None:
    mapping = mapping_of({"instance": "$.i", "seq": path, "event": "$.e"})
    assert mapping.row_of({"i": "a", "e": "send"} | record, "") == Rejected(told, "")
    mapping = mapping_of({"instance": "$.i", "seq": "$.n", "event": path})
    row = mapping.row_of({"i": "a", "n": 1} | record, "")
    assert isinstance(row, Row)
    assert row.flaw == told


def test_a_table_without_a_column_names_the_one_with_a_dot(tmp_path: Path) -> None:
    path = table(tmp_path, "parquet")
    wrong = program((("conn", "id"), *COLUMNS[1:]))
    with pytest.raises(ReplayError) as told:
        replay([path], wrong)
    has = "conn.id, log.n, .type, log"
    assert str(told.value) == (f"the mapping reads $.conn.id; {path} has {has}: write $['conn.id']")
