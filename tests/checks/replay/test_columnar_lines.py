"""JSON lines as typed columns: whatever a line is like, it is the row that Python reads."""

from __future__ import annotations

from typing import Any

import pytest

from lawful.checks.replay.columnar.json_lines import LineDecoder
from lawful.checks.replay.columnar.layout import RAW, Layout
from lawful.checks.replay.rows import Rejected, decoded
from tests.checks.replay.test_columnar import the_layout

GOOD = '{"who": {"id": "a"}, "n": 1, "what": "PAY", "price": 3, "way": "CASH"}'
LINES = [
    GOOD,
    GOOD.replace("3", "3.0"),
    GOOD.replace("3", "3e0"),
    GOOD.replace("3", "-0"),
    GOOD.replace("3", "03"),
    GOOD.replace("3", str(2**63 - 1)),
    GOOD.replace("3", str(2**63)),
    GOOD.replace("3", "NaN"),
    GOOD.replace("3", "true"),
    GOOD.replace('"price": 3', '"price": 3, "price": 3'),
    GOOD.replace('"n": 1', '"n": 1, "x": 1, "x": 2'),
    GOOD.replace('"n": 1', '"n": 1, "x": {"y": 1, "y": 2}'),
    GOOD.replace('"n": 1', '"n": 1, "x": 1e999'),
    GOOD.replace('"n": 1', '"n": 1, "x": [1, {"a": "b"}]'),
    GOOD.replace('"n": 1', '"n": 1, "\\u006e": 2'),
    GOOD.replace('"a"', '"\\ud800"'),
    GOOD.replace('"a"', '"\\ud83d\\ude00"'),
    GOOD.replace('"a"', '"\\u00e9\\u0000"'),
    GOOD.replace('"a"', '"\x01"'),
    GOOD.replace('"a"', "7"),
    *(GOOD.replace('"a"', name) for name in ('"7"', '"-7"', '"07"', '"7 "', r'"\"7\""', '"x7"')),
    GOOD.replace('"a"', "7.0"),
    GOOD.replace('"a"', "null"),
    GOOD.replace('{"id": "a"}', '"a"'),
    GOOD.replace('{"id": "a"}', '{"id": "a", "id": "b"}'),
    GOOD + GOOD,
    GOOD + " " + GOOD,
    GOOD + "\n" + GOOD,  # Of a data frame: no file has such a line.
    GOOD + "\n",
    f"[{GOOD}]",
    f" {GOOD} \r",
    GOOD[:-1],
    GOOD + ",",
    GOOD.replace("PAY", "PING"),
    GOOD.replace("PAY", "pay"),
    GOOD.replace("PAY", "NONE"),
    GOOD.replace('"CASH"', "null"),
    GOOD.replace(', "way": "CASH"', ""),
    GOOD.replace('"n": 1', '"n": -1'),
    GOOD.replace('"n": 1', '"n": "1"'),
    GOOD.replace('"n": 1', f'"n": 1, "x": {"[" * 2000}{"]" * 2000}'),
    GOOD.replace('"n": 1', f'"n": 1, "x": {"9" * 5000}'),
    "{}",
    "null",
    "",
    "   ",
    "\\",
]


def told_by(layout: Layout, table: Any) -> list[Any]:
    """The rows that a table of columns stands for."""
    out: list[Any] = []
    for row in table.to_pylist():
        if row[RAW] is not None:
            out.append(decoded(row[RAW], layout.mapping.row_of))
        else:
            data = layout.data(row["instance"], row["seq"], row["event"], row)
            out.append(layout.mapping.row_of(data, ""))
    return out


@pytest.mark.parametrize("line", [*LINES, *(bytes([n]) for n in (0x80, 0xFF))])
def test_a_line_is_the_row_that_python_reads(line: str | bytes) -> None:
    """Alone, and among others, of which each block has to stay right."""
    layout = the_layout()
    raw = line.encode() if isinstance(line, str) else GOOD.encode().replace(b"a", line)
    for block in ([raw], [GOOD.encode(), raw, GOOD.encode()]):
        wanted = [decoded(each, layout.mapping.row_of) for each in block if each.strip(b" \r\n")]
        assert told_by(layout, LineDecoder(layout).batch(block)) == wanted


def test_objects_are_no_rows_where_lines_of_a_data_frame_cut_them() -> None:
    """There are as many objects as lines, and "}", the end of a line and "{" between them once; but
    the first line has one and a half."""
    layout = the_layout()
    one, half = GOOD.encode(), b"\n" + GOOD.encode()[:-1]
    block = [one + half, b"}"]
    wanted = [decoded(each, layout.mapping.row_of) for each in block]
    assert [type(each) for each in wanted] == [Rejected, Rejected]
    assert told_by(layout, LineDecoder(layout).batch(block)) == wanted


def test_arrow_parses_the_blocks_that_it_can(monkeypatch: pytest.MonkeyPatch) -> None:
    decoder = LineDecoder(the_layout())
    monkeypatch.setattr(LineDecoder, "_one_by_one", None)
    table = decoder.batch([GOOD.encode(), GOOD.replace("3", "null").encode()])
    assert [row["price"] for row in table.rename_columns(_bare(table)).to_pylist()] == [3, None]
    raw = table.column(RAW).to_pylist()
    assert raw == [None, GOOD.replace("3", "null").encode()]
    numbered = decoder.batch([GOOD.replace('"a"', "7").encode()])
    assert numbered.column("instance").to_pylist() == ["7"]


def _bare(table: Any) -> list[str]:
    return [name.removeprefix("$.") for name in table.schema.names]
