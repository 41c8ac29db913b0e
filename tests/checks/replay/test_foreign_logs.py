"""Logs that other programs wrote, in their own formats: the verdicts that are known of them."""

from __future__ import annotations

import csv
import dataclasses
import gzip
import json
import pickle
import tomllib
from pathlib import Path
from typing import Any

import pytest

from lawful.checks.replay import (
    Preparation,
    ReplayProgram,
    ReplayResult,
    TraceMapping,
    replay,
)
from lawful.checks.replay.columnar.layout import layout_of
from lawful.checks.replay.mapping import mapping_of, read_mapping
from lawful.checks.replay.preparation.itf_states import steps
from lawful.checks.replay.preparation.otlp import records
from lawful.spec.ir import Json
from tests.checks.replay.foreign_logs import (
    FOLDER,
    PREPARED,
    REQUESTED,
    VERDICTS,
    Connection,
    Request,
    Span,
    csv_of_requests,
    xes_of_requests,
)


def log(
    folder: Path, name: str, text: str, machine: Any, data: dict[str, Any]
) -> tuple[list[Path], ReplayProgram]:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return [path], ReplayProgram((machine.lawful.ir,), mapping=mapping_of(data))


def requests(folder: Path, form: str) -> tuple[list[Path], ReplayProgram]:
    """The requests as CSV or as XES."""
    if form == "csv":
        data = {**REQUESTED, "instance": "$.case", "time": "$.at"}
        how = {**PREPARED, "format": "csv", "delimiter": ";"}
        return log(folder, "r.csv", csv_of_requests(), Request, data | {"preparation": how})
    data = {**REQUESTED, "instance": "$.case:concept:name", "time": "$.time:timestamp"}
    fields = {"activity": "$.concept:name", **PREPARED["fields"]}
    how = {**PREPARED, "format": "xes", "fields": fields}
    return log(folder, "r.xes", xes_of_requests(), Request, data | {"preparation": how})


def connections(_folder: Path) -> tuple[list[Path], ReplayProgram]:
    mapping = read_mapping(FOLDER / "sshd.toml")
    return [FOLDER / "sshd.log"], ReplayProgram((Connection.lawful.ir,), mapping=mapping)


SPANS: dict[str, Any] = {
    "instance": "$.key",
    "event": "$.phase",
    "time": "$.time",
    "unit": "ns",
    "preparation": {
        "format": "otlp",
        "order": "time",
        "ties": ["start", "log"],
        "since": "2018-01-01",
        "fields": {"key": {"$key": ["$.traceId", "$.spanId"]}},
    },
}
SPAN = '["5B8EFFF798038103D269B633813FC60C","EEE19B7EC3C1B174"]'


def spans(_folder: Path) -> tuple[list[Path], ReplayProgram]:
    program = ReplayProgram((Span.lawful.ir,), mapping=mapping_of(SPANS))
    return [FOLDER / "trace.json", FOLDER / "logs.json"], program


def by_instance(result: ReplayResult) -> dict[str, Json]:
    found: Any = result.to_json()
    return dict(found["by_instance"])


@pytest.mark.parametrize("form", ["csv", "xes"])
def test_requests(tmp_path: Path, form: str) -> None:
    result = replay(*requests(tmp_path, form))
    assert by_instance(result) == VERDICTS  # Keys are texts, and stand without quotes.
    assert (result.rejected, result.total.events, result.total.transitions["examine"]) == (0, 10, 2)
    answer: Any = result.to_json()
    (finding, *_) = answer["deviations"]
    assert (finding["instance"], finding["event"]) == ("2", "decide")
    assert finding["state"]["cost"] == 150


def test_connections_to_an_ssh_server(tmp_path: Path) -> None:
    paths, program = connections(tmp_path)
    result = replay(paths, program)
    assert by_instance(result) == dict.fromkeys(("4100", "4103", "4106", "4127", "4135"), "fits")
    assert result.total.events == 10
    assert result.total.transitions == {"fail": 5, "leave": 4, "cut_off": 1}
    data = tomllib.loads((FOLDER / "sshd.toml").read_text(encoding="utf-8"))
    fewer = mapping_of(data | {"parameters": {"most": 5}})
    strict = replay(paths, ReplayProgram((Connection.lawful.ir,), mapping=fewer))
    assert {n: v for n, v in by_instance(strict).items() if v != "fits"} == {"4127": "deviates"}
    answer: Any = strict.to_json()
    clauses = [each["clause"] for each in answer["deviations"]]
    assert clauses == [
        "more tries than the server allows (6 <= 5 is false)",
        "cut off before the last try (1 == 5 is false)",
    ]


def test_a_span_and_its_log_record(tmp_path: Path) -> None:
    result = replay(*spans(tmp_path))
    assert by_instance(result) == {SPAN: "fits"}
    assert result.total.transitions == {"start": 1, "log": 1, "end": 1}


def test_values_of_opentelemetry(tmp_path: Path) -> None:
    data = json.loads((FOLDER / "logs.json").read_text(encoding="utf-8"))
    record = data["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0]
    record["attributes"].append({"key": "big", "value": {"intValue": "9007199254740993"}})
    (found,) = records(json.dumps(data).encode())
    assert found["attributes"] == {
        "string_attribute": "some string",
        "boolean_attribute": True,
        "int_attribute": 10,
        "double_attribute": 637.704,
        "array_attribute": ["many", "values"],
        "map_attribute": {"some_map_key": "some value"},
        "big": 9007199254740993,
    }
    assert (found["phase"], found["body"], found["resource"]) == (
        "log",
        "Example log record",
        {"service_name": "my.service"},
    )


# What a mapping can say.

EVENTS: dict[str, Any] = {"instance": "$.k", "event": "$.e", "seq": "$.n"}


def told(folder: Path, rows: Any, data: dict[str, Any]) -> Any:
    """The answer of a replay of these lines as spans."""
    text = "".join(json.dumps(row) + "\n" for row in rows)
    return replay(*log(folder, "rows.jsonl", text, Span, EVENTS | data)).to_json()


def test_a_key_of_several_columns_and_of_none(tmp_path: Path) -> None:
    keys = [("x", "y,z"), ("x,y", "z")]
    rows: list[Any] = [{"a": a, "b": b, "e": "start", "n": 1} for a, b in keys]
    both = {"instance": "$.key", "preparation": {"fields": {"key": {"$key": ["$.a", "$.b"]}}}}
    assert told(tmp_path, rows, both)["by_instance"] == {
        '["x","y,z"]': "open",
        '["x,y","z"]': "open",
    }
    # A row of which a value is null or missing has no key, as in CSV.
    rows += [{"a": "x", "b": None, "e": "start", "n": 1}, {"a": "x", "e": "start", "n": 1}]
    answer = told(tmp_path, rows, both)
    assert (len(answer["by_instance"]), answer["rejected"]["rows"]) == (2, 2)
    rows = rows[:2]
    rows[1] |= {"e": "end", "n": 2}
    one = {"instance": "$.key", "preparation": {"fields": {"key": "all"}}}
    assert told(tmp_path, rows, one)["by_instance"] == {"all": "fits"}


def test_rows_at_one_time_are_refused_or_ranked(tmp_path: Path) -> None:
    rows = [
        {"k": "a", "e": "end", "t": 5.25},
        {"k": "a", "e": "start", "t": 5.25},
        {"k": "b", "e": "start", "t": 1.1234567},
        {"k": "c", "e": "start", "t": -1},
        {"k": "d", "e": "start", "t": "now"},
    ]
    timed = {"time": "$.t", "seq": None, "preparation": {"order": "time"}}
    found = told(tmp_path, rows, timed)
    assert {each["instance"]: each["clause"] for each in found["not_judged"]} == {
        "a": "two rows at one time, and `ties` does not say which is first",
        "b": "a time finer than a microsecond",
        "c": "a time before 1970-01-01; give an earlier `since`",
        "d": "time has another form than its unit says: $.t is a text of another form, "
        'and unit is "s"',
    }
    ranked = timed | {"preparation": {"order": "time", "ties": ["start", "end"]}}
    assert told(tmp_path, rows[:2], ranked)["by_instance"] == {"a": "fits"}
    wrong = timed | {"preparation": {"order": "time", "ties": ["end"]}}
    assert told(tmp_path, rows[:2], wrong)["by_instance"] == {"a": "deviates"}


def test_several_rows_of_a_record_and_one_for_several_instances(tmp_path: Path) -> None:
    rows = [{"ks": ["a", "b"], "from": 3, "to": 9}, {"ks": ["c"], "from": 4}, {"ks": "d"}]
    data = {
        "instance": "$.ks",
        "preparation": {
            "spread": "$.ks",
            "rows": [
                {"fields": {"e": "start", "n": "$.from"}},
                {"fields": {"e": "end", "n": "$.to"}, "when": {"$.to": {"$matches": "."}}},
                {"fields": {"e": "end", "n": "$.to"}, "when": {"$.to": [9, 10]}},
            ],
        },
    }
    found = told(tmp_path, rows, data)
    assert found["by_instance"] == {"a": "fits", "b": "fits", "c": "open"}
    assert found["rejected"]["reasons"][0]["places"] == [
        {"file": str(tmp_path / "rows.jsonl"), "number": 3}
    ]


def test_blocks_that_a_text_names(tmp_path: Path) -> None:
    text = "start of blk_1 and blk_-2\nend of blk_1\nno block\n\nend of blk_-2\n"
    how = {
        "format": "text",
        "line": "(?P<e>[a-z]+) (?P<text>.*)",
        "order": "file",
        "fields": {"block": {"$find_all": "blk_-?[0-9]+", "in": "$.text"}},
        "spread": "$.block",
        "when": {"$.e": ["start", "end"]},
    }
    data = {"instance": "$.block", "event": "$.e", "preparation": how}
    found: Any = replay(*log(tmp_path, "l.txt", text, Span, data)).to_json()
    assert found["by_instance"] == {"blk_-2": "fits", "blk_1": "fits"}


def test_an_event_of_several_rows(tmp_path: Path) -> None:
    mapping = {
        "instance": "$.k",
        "event": "$.e",
        "seq": "$.n",
        "combine": True,
        "args": {
            "register": {"cost": "$.cost"},
            "examine": {"cost": "$.cost", "thorough": "$.thorough"},
        },
        "observed": {"state": "$.state", "cost": "$.sum"},
    }
    rows: list[dict[str, Any]] = [
        {"k": "a", "e": "examine", "n": 2, "thorough": False},
        {"k": "a", "e": "register", "n": 1, "cost": 5},
        {"k": "a", "e": "examine", "n": 2, "cost": 7, "sum": 12},
        {"k": "b", "e": "register", "n": 1, "cost": 5},
        {"k": "b", "e": "register", "n": 1, "cost": 6},
        {"k": "c", "e": "register", "n": 1},
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    result = replay(*log(tmp_path, "rows.jsonl", text, Request, mapping))
    found: Any = result.to_json()
    assert found["by_instance"] == {"a": "open", "b": "quarantined", "c": "quarantined"}
    assert {each["instance"]: each["clause"] for each in found["not_judged"]} == {
        "b": "a sequence number twice",
        "c": "arguments of register other than cost",
    }
    assert (found["events"], found["counts"]["judged"]) == (5, 2)


def test_the_state_after_an_event_is_compared(tmp_path: Path) -> None:
    data = EVENTS | {
        "args": {"register": {"cost": "$.cost"}, "check": {"cost": "$.cost"}},
        "observed": {"state": "$.status", "cost": "$.sum"},
        "preparation": {"values": {"$.status": {"1": "CHECKING", "*": "CLOSED"}}},
    }
    rows: list[dict[str, Any]] = [
        {"k": "a", "e": "register", "n": 1, "cost": 5, "status": 1, "sum": 5},
        {"k": "a", "e": "check", "n": 2, "cost": 5, "sum": 11},
        {"k": "a", "e": "check", "n": 3, "cost": 1, "sum": 12},
        {"k": "b", "e": "register", "n": 1, "cost": 5, "status": 2},
        {"k": "b", "e": "check", "n": 2, "cost": 5, "status": 2},
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    found: Any = replay(*log(tmp_path, "rows.jsonl", text, Request, data)).to_json()
    # After the first deviation replay goes on from what the row says: 11 and 1 are 12.
    assert [(e["instance"], e["index"], e["kind"], e["clause"]) for e in found["deviations"]] == [
        ("a", 2, "observed", "observed.cost is 11 in the row, 10 in the machine"),
        ("a", 3, "refused", "checked twice (checked is true)"),
        ("b", 1, "observed", 'observed.state is "CLOSED" in the row, "CHECKING" in the machine'),
        ("b", 2, "refused", "state is CLOSED, not CHECKING"),
    ]


def test_what_is_skipped_needs_nothing_else(tmp_path: Path) -> None:
    rows = [{"e": "beat"}, {"k": "a", "e": "start", "n": 1}, {"e": "beat", "k": "a"}, {"e": "x"}]
    found = told(tmp_path, rows, {"skip": ["beat"]})
    assert found["by_instance"] == {"a": "open"}
    assert [(e["reason"], e["total"]) for e in found["rejected"]["reasons"]] == [
        ("no value at $.k", 1)
    ]


def test_steps_of_itf(tmp_path: Path) -> None:
    states: list[dict[str, Any]] = [
        {"#meta": {"index": 0}, "n": {"#bigint": "0"}, "s": {"#set": [{"#tup": [1]}]}},
        {"#meta": {"index": 1, "action": "start"}, "n": {"#bigint": "1"}, "s": {"#set": []}},
    ]
    text = json.dumps({"vars": ["n", "s"], "states": states})
    how = {"format": "itf", "order": "file", "fields": {"k": "run"}}
    data = {"instance": "$.k", "event": "$.action", "preparation": how}
    found: Any = replay(*log(tmp_path, "t.itf.json", text, Span, data)).to_json()
    assert found["by_instance"] == {"run": "open"}
    (step,) = steps(text.encode())
    assert step["before"] == {"n": 0, "s": {"$set": [{"$tuple": [1]}]}}
    assert step["after"] == {"n": 1, "s": {"$set": []}}


def test_events_of_xes_without_a_trace(tmp_path: Path) -> None:
    """An event after a trace is none of this trace."""
    event = '<event><string key="concept:name" value="start"/></event>'
    case = '<trace><string key="concept:name" value="1"/>'
    text = f"<log>{event}{case}{event}</trace>{event}</log>"
    how = {"format": "xes", "order": "file"}
    data = {"instance": "$.case:concept:name", "event": "$.concept:name", "preparation": how}
    found = replay(*log(tmp_path, "t.xes", text, Span, data))
    assert (found.total.events, found.rejected) == (1, 2)


CAST: dict[str, Any] = {"casts": {"$.a": "int"}}
ONE: dict[str, Any] = {"$.a": {"$matches": "^1"}}
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"format": "yaml"}, "format has to be one of lines, text, logfmt, json, .*itf, not yaml"),
    ({"format": "text"}, "format text needs `line`"),
    ({"format": "text", "line": "("}, "is no regular expression"),
    ({"format": "text", "line": "a"}, "line has no named group"),
    ({"order": "size"}, "order has to be file or time, not size"),
    ({"order": "time"}, "seq and order = time both say which row is next"),
    ({"order": "file"}, "seq and order = file both say which row is next"),
    ({"ties": ["a"]}, 'ties are for order = "time"'),
    ({"colour": 1}, "preparation.colour is no key of a preparation; write columns"),
    ({"casts": {"$.a": "date"}}, r"casts of \$.a has to be one of int, float, bool, text"),
    ({"casts": {"a": "int"}}, '"a" has to be a path'),
    (CAST | {"when": ONE}, r"\$matches finds nothing at \$.a, which is cast to int before"),
    (CAST | {"rows": [{"fields": {"b": {"$if": ONE}}}]}, r"\$matches finds nothing at \$.a"),
    ({"when": {"a": 1}}, 'a condition has paths such as "\\$.a", not "a"'),
    ({"when": {"$.a": {"$matches": "["}}}, "is no regular expression"),
    ({"fields": {"x": {"$find": "a"}}}, "fields.x: .find needs `in`"),
    ({"fields": {"x": {"$join": [], "$key": []}}}, "fields.x: .join and .key in one object"),
    ({"since": "soon"}, "since has to be a day"),
    ({"delimiter": "::"}, "delimiter has to be one character"),
    ({"patterns": [{"of": "$.a"}]}, "preparation: .*missing 2 required"),
    ({"patterns": [{"at": "$.a"}]}, "a table of a preparation has the keys of, pattern, event"),
    ({"rows": [{"when": "x"}]}, "preparation: when has another form"),
    ({"columns": [1]}, "preparation.columns has to be a list of texts"),
    ({"pass_unmatched": 1}, "preparation.pass_unmatched has to be true or false, not 1"),
]


@pytest.mark.parametrize(("how", "why"), WRONG)
def test_what_is_no_preparation(how: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        mapping_of(EVENTS | {"preparation": how})
    with pytest.raises(ValueError, match='order = "time" needs `time`'):
        mapping_of(EVENTS | {"seq": None, "preparation": {"order": "time"}})
    with pytest.raises(ValueError, match=r"args: .join is for `fields`"):
        mapping_of(EVENTS | {"args": {"x": {"y": {"$join": []}}}})


def test_a_mapping_is_the_same_after_its_way_to_a_worker(tmp_path: Path) -> None:
    for _, program in (connections(tmp_path), spans(tmp_path), requests(tmp_path, "csv")):
        assert pickle.loads(pickle.dumps(program)).mapping == program.mapping


def test_rows_of_csv_that_are_no_records(tmp_path: Path) -> None:
    path = tmp_path / "r.csv.gz"
    path.write_bytes(gzip.compress(b"k,e,n\na,start,1\nb,start\nc,\xff,1\n\nd,,1\na,end,2\n"))
    how = {"format": "csv", "casts": {"$.n": "int"}}
    program = ReplayProgram((Span.lawful.ir,), mapping=mapping_of(EVENTS | {"preparation": how}))
    found: Any = replay([path], program).to_json()
    assert found["by_instance"] == {"a": "fits", "d": "quarantined"}
    assert found["not_judged"][0]["clause"] == "no value at $.e"  # An empty cell is none.
    assert {e["reason"]: e["places"][0]["number"] for e in found["rejected"]["reasons"]} == {
        "2 cells in place of 3": 3,
        "not UTF-8": 4,
    }


def test_a_cell_of_csv_may_be_long(tmp_path: Path) -> None:
    long = "x" * 200_000
    path = tmp_path / "r.csv"
    path.write_text(
        f'k,e,n\na,start,1\na,log,"{long}"\n{long},start,1\na,end,3\n', encoding="utf-8"
    )
    how = {"format": "csv", "order": "file"}
    data = {"instance": "$.k", "event": "$.e", "preparation": how}
    found = replay([path], ReplayProgram((Span.lawful.ir,), mapping=mapping_of(data)))
    assert by_instance(found) == {"a": "fits", long: "open"}
    assert csv.field_size_limit() == 131_072


def test_a_mapping_as_a_python_object(tmp_path: Path) -> None:
    how = Preparation(fields={"key": {"$key": ["$.traceId", "$.spanId"]}}, order="time")
    how = dataclasses.replace(how, format="otlp", ties=("start", "log"), since="2018-01-01")
    mapping = TraceMapping("$.key", "", "$.phase", time="$.time", unit="ns", preparation=how)
    assert mapping == mapping_of(SPANS)
    paths, _ = spans(tmp_path)
    result = replay(paths, ReplayProgram((Span.lawful.ir,), mapping=mapping))
    assert by_instance(result) == {SPAN: "fits"}


@pytest.mark.parametrize("order", ["time", "file"])
def test_rows_of_one_record_have_their_order(tmp_path: Path, order: str) -> None:
    forms = [{"fields": {"e": "start"}}, {"fields": {"e": "end"}}]
    data = {"instance": "$.k", "event": "$.e", "time": "$.t"}
    how = {"order": order, "rows": forms}
    for name, rows, verdict in [
        ("one", [{"k": "a", "t": 1}], "fits"),
        ("two", [{"k": "a", "t": 1}, {"k": "a", "t": 2}], "deviates"),
    ]:
        text = "".join(json.dumps(row) + "\n" for row in rows)
        result = replay(*log(tmp_path, name, text, Span, data | {"preparation": how}))
        assert by_instance(result) == {"a": verdict}


def test_only_what_columns_hold_goes_by_columns() -> None:
    plain: dict[str, Any] = {**EVENTS, "args": {"start": {}}}
    base = ReplayProgram((Span.lawful.ir,), mapping=mapping_of(plain))
    assert layout_of(base) is not None
    assert layout_of(dataclasses.replace(base, resumable=True)) is None
    others: list[dict[str, Any]] = [
        {"observed": {"state": "$.s"}},
        {"combine": True},
        {"preparation": {}},
    ]
    for more in others:
        program = ReplayProgram((Span.lawful.ir,), mapping=mapping_of(plain | more))
        assert layout_of(program) is None
