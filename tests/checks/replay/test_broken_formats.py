"""Files that are not of their format, and integers that Python does not read."""

from __future__ import annotations

import copy
import gzip
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lawful.checks.replay import ReplayError, replay
from lawful.checks.replay.preparation.formats import records_of_file
from lawful.checks.replay.preparation.otlp import records
from lawful.checks.replay.preparation.preparation_table import preparation_of
from lawful.checks.replay.rows import journal_row
from lawful.checks.replay.sources import rows_of_lines, sources
from lawful.spec.codec.as_json import is_list, is_object
from tests.checks.replay.foreign_logs import Span
from tests.checks.replay.test_foreign_logs import log

LONG = "9" * 4301
INT = '{"$int": "0x..."}'
BEYOND = "an integer of more than 4,300 digits, which Python does not read: write it as "
BROKEN = [
    ("csv", 'case;activity\n1;"open\n', "unexpected end of data"),
    ("csv", "a;b\n1;\r2\n", "line 2: new-line character seen in unquoted field"),
    ("csv", "case;case\n1;2\n", "the first line has no names of columns"),
    ("csv", "a.b;a_b\n1;2\n", "a_b: two values have this name"),
    ("xes", "<html/>", "no XES: it begins with <html>"),
    ("xes", "<log><trace>", "no XES: no element found"),
    ("otlp", '{"a": 1}', "no OTLP/JSON: a document has resourceSpans"),
    ("otlp", '{"resourceSpans": 1}', "no OTLP/JSON: resourceSpans is no list"),
    ("otlp", "{}\n{", "no OTLP/JSON"),
    ("otlp", '{"resourceSpans": [5]}', "a whole number in resourceSpans, not an object"),
    ("otlp", "[" * 9999, "no JSON: too many brackets in one another"),
    ("itf", "[" * 9999, "no JSON: too many brackets in one another"),
    ("itf", '{"states": [{}, {"#meta": 5}]}', "no ITF: `#meta` of a state is no object"),
    ("itf", "[]", "no ITF: it has no list of states"),
    ("json", f'{{"a": 1}}\n[{LONG}]', f"{BEYOND}{INT}; in the document that begins in line 2"),
    ("otlp", f'{{\n"a": {LONG}}}', BEYOND),
    ("otlp", f'{{}}\n{{"a": {LONG}}}', f"no OTLP/JSON: line 2: {BEYOND}"),
    ("itf", f'{{"states": [{LONG}]}}', BEYOND),
    ("itf", f'{{"states": [{{}}, {{"x": {{"#bigint": "{LONG}"}}}}]}}', BEYOND),
]


@pytest.mark.parametrize(("form", "text", "why"), BROKEN)
def test_a_file_that_is_not_of_its_format(tmp_path: Path, form: str, text: str, why: str) -> None:
    how = {"format": form, "order": "file", "delimiter": ";"}
    data = {"instance": "$.k", "event": "$.e", "preparation": how}
    with pytest.raises(ReplayError, match=f"x.log: .*{re.escape(why)}"):
        replay(*log(tmp_path, "x.log", text, Span, data))


def test_an_integer_of_too_many_digits_in_a_line(tmp_path: Path) -> None:
    lines = f'{{"k": "a", "e": {LONG}}}\n{{"k": "b", "e": "start"}}'
    data = {"instance": "$.k", "event": "$.e", "preparation": {"order": "file"}}
    found: Any = replay(*log(tmp_path, "x.log", lines, Span, data)).to_json()
    (rejected,) = found["rejected"]["reasons"]
    assert (rejected["reason"], rejected["places"][0]["number"]) == (BEYOND + INT, 1)


def test_what_looks_like_a_number_of_a_span() -> None:
    told = [
        {"key": str(n), "value": {"intValue": v}} for n, v in enumerate(("--5", "\u00b2", "-5"))
    ]
    span = {"name": "s", "attributes": told}
    document = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
    first = next(records(json.dumps(document).encode()))
    assert first["attributes"] == {"0": "--5", "1": "\u00b2", "2": -5}


VALUE = {"arrayValue": {"values": [{"intValue": "5"}, {"kvlistValue": {"values": [{"key": "z"}]}}]}}
ATTRIBUTES = [{"key": "a", "value": VALUE}]
SPAN = {
    "traceId": "aa",
    "name": "n",
    "startTimeUnixNano": "5",
    "attributes": ATTRIBUTES,
    "events": [{"name": "e", "attributes": ATTRIBUTES}],
    "status": {"code": 1},
    "traceState": "ot=th:8",
}
RECORD = {"timeUnixNano": "1", "body": {"stringValue": "b"}, "attributes": ATTRIBUTES}
DOCUMENTS: dict[str, Any] = {
    "otlp": {
        "resourceSpans": [
            {
                "resource": {"attributes": ATTRIBUTES},
                "scopeSpans": [{"scope": {"name": "s"}, "spans": [SPAN]}],
            }
        ],
        "resourceLogs": [{"scopeLogs": [{"logRecords": [RECORD]}]}],
    },
    "itf": {"states": [{"x": 1}, {"#meta": {"action": "a"}, "x": {"#map": [[1, {"#set": []}]]}}]},
}
STRANGE: list[Any] = [None, {}, [], 0, True, "x", [None], [{}], {"a": 1, "b": 2}, {"intValue": {}}]


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all values inside."""
    inside = data.items() if is_object(data) else enumerate(data) if is_list(data) else ()
    for name, each in inside:
        yield (*path, name)
        yield from places(each, (*path, name))


def put_at(data: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy of the data with this value at a path."""
    made = copy.deepcopy(data)
    inside = made
    for name in path[:-1]:
        inside = inside[name]
    inside[path[-1]] = value
    return made


@pytest.mark.parametrize("form", DOCUMENTS)
def test_any_value_anywhere_in_a_document(form: str, tmp_path: Path) -> None:
    """Its records, or an error of the file; in the JSON of Protobuf null is a missing value."""
    path, how, document = tmp_path / "x.json", preparation_of({"format": form}), DOCUMENTS[form]
    counts = {"read": 0, "refused": 0}
    for at in places(document):
        for value in STRANGE:
            path.write_text(json.dumps(put_at(document, at, value)), encoding="utf-8")
            try:
                counts["read"] += bool([*records_of_file(str(path), how)])
            except ReplayError as error:
                counts["refused"] += 1
                assert str(error).startswith(f"{path}: no {form.upper()}")
                assert form == "itf" or value is not None or isinstance(at[-1], int)
    assert min(counts.values()) > 10


XES = """<log xmlns="http://www.xes-standard.org/"><global scope="trace"><int key="g" value="0"/>
</global><trace><string key="id" value="1"/>{0}<event><string key="e" value="a"/>{0}</event></trace>
</log>"""


def of_xes(attribute: str, path: Path) -> list[Any]:
    path.write_text(XES.format(attribute), encoding="utf-8")
    ((_, record),) = records_of_file(str(path), preparation_of({"format": "xes"}))
    assert is_object(record)
    assert record.pop("e") == "a" and record.pop("case:id") == "1"
    return [record.get("x"), record.get("case:x")]


def test_attributes_of_xes(tmp_path: Path) -> None:
    """A list has no value; what is none of its type stays a text."""
    values: dict[tuple[str, str], Any] = {
        ("int", "-5"): -5,
        ("int", " 5 "): 5,
        ("int", ""): "",
        ("int", "1.0"): "1.0",
        ("int", "1_0"): "1_0",
        ("int", LONG): LONG,
        ("float", "1e3"): 1000.0,
        ("float", "-INF"): float("-inf"),
        ("float", "1,5"): "1,5",
        ("boolean", "1"): True,
        ("boolean", "False"): False,
        ("boolean", "no"): "no",
        ("id", "7"): "7",
    }
    for (kind, text), value in values.items():
        told = of_xes(f'<{kind} key="x" value="{text}"/>', tmp_path / "x.xes")
        assert told == [value, value] and {type(each) for each in told} == {type(value)}
    listed = '<list key="x"><values><int key="y" value="1"/></values></list>'
    assert of_xes(listed, tmp_path / "x.xes") == [None, None]


ROLE = '<string key="org.role" value="clerk"/>'
COST = '<container key="{}"><int key="cents" value="{}"/></container>'


def all_of_xes(attribute: str, path: Path) -> Any:
    """The attributes of the event, without those of its trace; these have the same inside them."""
    path.write_text(XES.format(attribute), encoding="utf-8")
    ((_, record),) = records_of_file(str(path), preparation_of({"format": "xes"}))
    assert is_object(record)
    own = {name: value for name, value in record.items() if not name.startswith("case:")}
    of_trace = {name[5:]: value for name, value in record.items() if name.startswith("case:")}
    assert own.pop("e") == "a" and of_trace.pop("id") == "1" and own == of_trace
    return own


def test_attributes_inside_attributes_of_xes(tmp_path: Path) -> None:
    path = tmp_path / "x.xes"
    told = all_of_xes(f'<string key="x" value="Ann">{ROLE}</string>', path)
    assert told == {"x": "Ann", "x/org_role": "clerk"}
    costs = COST.format("labour", 5) + COST.format("parts", 7)
    listed = f'<list key="x"><values>{costs}</values></list>'
    assert all_of_xes(listed, path) == {"x/labour/cents": 5, "x/parts/cents": 7}
    again = COST.format("labour", 5) + COST.format("labour", 6)
    listed = f'<list key="x"><values>{again}</values></list>'
    assert all_of_xes(listed, path) == {"x/labour/cents": [5, 6]}
    assert all_of_xes('<list key="x"><other><int key="y" value="3"/></other></list>', path) == {}


def test_an_attribute_goes_before_one_inside_another_of_its_name(tmp_path: Path) -> None:
    inner = '<string key="x" value="2"><int key="y" value="3"/></string>'
    path = tmp_path / "x.xes"
    path.write_text(f'<log><event><int key="x/y" value="1"/>{inner}</event></log>')
    ((_, record),) = records_of_file(str(path), preparation_of({"format": "xes"}))
    assert record == {"x/y": 1, "x": "2"}


def test_attributes_of_xes_in_one_another_without_end(tmp_path: Path) -> None:
    deep = '<string key="x" value="1">' * 3000 + "</string>" * 3000
    told = all_of_xes(deep, tmp_path / "x.xes")
    assert len(told) == 3000 and told["/".join("x" * 3000)] == "1"


def test_a_packed_file_that_was_spoilt(tmp_path: Path) -> None:
    """Wherever it was: the error names the file."""
    whole = gzip.compress(b"".join(b'{"a": %d}\n' % n for n in range(3000)))
    path, chance = tmp_path / "x.jsonl.gz", random.Random(1)
    for _ in range(60):
        spoilt = bytearray(whole)
        for at in chance.choices(range(10, len(whole)), k=3):
            spoilt[at] ^= chance.randrange(1, 256)
        path.write_bytes(bytes(spoilt))
        for read in (
            lambda: sources([path]),
            lambda: [*rows_of_lines(str(path), journal_row)],
            lambda: [*records_of_file(str(path), preparation_of({"format": "csv"}))],
        ):
            with pytest.raises(ReplayError, match=r"x\.jsonl\.gz: "):
                read()
