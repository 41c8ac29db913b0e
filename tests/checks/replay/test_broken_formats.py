"""Files that are not of their format, and integers that Python does not read."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from lawful.checks.replay import ReplayError, replay
from lawful.checks.replay.preparation.otlp import records
from tests.checks.replay.foreign_logs import Span
from tests.checks.replay.test_foreign_logs import log

LONG = "9" * 4301
INT = '{"$int": "0x..."}'
BEYOND = "an integer of more than 4,300 digits, which Python does not read: write it as "
BROKEN = [
    ("csv", 'case;activity\n1;"open\n', "unexpected end of data"),
    ("csv", "case;case\n1;2\n", "the first line has no names of columns"),
    ("csv", "a.b;a_b\n1;2\n", "a_b: two values have this name"),
    ("xes", "<html/>", "no XES: it begins with <html>"),
    ("xes", "<log><trace>", "no XES: no element found"),
    ("otlp", '{"a": 1}', "no OTLP/JSON: a document has resourceSpans"),
    ("otlp", '{"resourceSpans": 1}', "no OTLP/JSON: resourceSpans is no list"),
    ("otlp", "{}\n{", "no OTLP/JSON"),
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
