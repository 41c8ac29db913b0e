"""Mappings that are inferred from a sample, and replayed as they are proposed."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful import Machine, targets, transition
from lawful.checks.replay import ReplayError, ReplayProgram, replay
from lawful.checks.replay.inference.mapping_inference import Inferred, inferred
from lawful.checks.replay.mapping import mapping_of
from lawful.cli import main
from tests.checks.replay.foreign_logs import REQUESTS, Request, Span, csv_of_requests
from tests.checks.replay.planted_logs import PAYMENTS, Payment
from tests.checks.replay.test_foreign_logs import SPAN, spans
from tests.root import ROOT

TARGET = "tests.checks.replay.foreign_logs:Request"
PLAIN = csv_of_requests().replace("examine casually", "examine").replace("examine th", "re-th")


def test_a_mapping_of_csv(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "r.csv", tmp_path / "mapping.toml"
    path.write_text(PLAIN, encoding="utf-8")
    assert main(["infer-mapping", str(path), TARGET, "--out", str(out)]) == 0
    text = out.read_text(encoding="utf-8")
    assert capsys.readouterr().out.strip() == text.strip()
    assert tomllib.loads(text) == {
        "event": "$.activity",
        "skip": ["re-thoroughly"],
        "instance": "$.case",
        "time": "$.at",
        "unit": "iso",
        "args": {
            name: {"cost": "$.cost"}
            for name in ("register", "examine", "check", "decide", "reinitiate", "close")
        },
        "preparation": {
            "format": "csv",
            "delimiter": ";",
            "order": "time",
            "casts": {"$.cost": "int"},
        },
    }
    assert text.splitlines()[:3] == [
        "# 0 of 3 instances fit, of 10 records",
        "# no field for the argument thorough of examine",
        "# not events of the machine, so skipped: re-thoroughly",
    ]
    mapping = mapping_of(tomllib.loads(text))
    result = replay([path], ReplayProgram((Request.lawful.ir,), mapping=mapping))
    assert result.total.rows == sum(map(len, REQUESTS.values()))


def test_a_mapping_of_lines_with_numbers(tmp_path: Path) -> None:
    rows = [
        {"meta": {"span": f"s{n % 3}"}, "what": what, "n": 10 * i + n, "noise": i}
        for i, what in enumerate(["START", "Log", "log", "END"])
        for n in range(3)
    ]
    path = tmp_path / "r.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in reversed(rows)), encoding="utf-8")
    found = inferred([path], Span.lawful.ir)
    assert found.mapping == {
        "event": "$.what",
        "events": {"END": "end", "Log": "log", "START": "start"},
        "instance": "$.meta.span",
        "seq": "$.n",
    }
    assert (found.records, found.instances, found.fitting, found.notes) == (12, 3, 3, ())


def test_a_mapping_of_spans(tmp_path: Path) -> None:
    (path, _), _ = spans(tmp_path)
    data = json.loads(path.read_text(encoding="utf-8"))
    many = tmp_path / "many.json"
    others = [json.loads(json.dumps(data).replace("C1B174", f"C1B{n}")) for n in (175, 176)]
    many.write_text("".join(json.dumps(each) + "\n" for each in (data, *others)), encoding="utf-8")
    found = inferred([many], Span.lawful.ir)
    assert found.mapping["instance"] == "$.spanId"
    assert (found.mapping["event"], found.mapping["unit"]) == ("$.phase", "ns")
    assert (found.instances, found.fitting) == (3, 3)
    assert SPAN.count("EEE19B7EC3C1B174") == 1


def test_a_name_of_two_fields_and_a_key_of_two(tmp_path: Path) -> None:
    steps = [("start", "X"), ("log", "X"), ("log", "X"), ("end", "X"), ("other", "X")]
    names = {"start": ("st", "ART"), "log": ("l", "og"), "end": ("e", "nd"), "other": ("o", "x")}
    rows = [
        {"host": f"h{h}", "pid": p, "part": names[step][0], "rest": names[step][1], "seen": [h, p]}
        for step, _ in steps
        for h in range(3)
        for p in range(4)
    ]
    path = tmp_path / "r.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = inferred([path], Span.lawful.ir)
    joined = {"o_x", "st_ART", "l_og", "e_nd"}
    assert found.mapping["event"] == "$.joined event"
    assert {*found.mapping["events"], *found.mapping["skip"]} == joined
    assert found.mapping["instance"] == "$.joined key"
    assert found.mapping["preparation"] == {
        "fields": {
            "joined event": {"$join": ["$.part", "_", "$.rest"]},
            "joined key": {"$key": ["$.host", "$.pid"]},
        },
        "order": "file",
    }
    assert (found.instances, found.fitting) == (12, 12)
    mapping = mapping_of(tomllib.loads(found.toml))
    result = replay([path], ReplayProgram((Span.lawful.ir,), mapping=mapping))
    assert result.verdicts["fits"] == 12


def test_texts_of_numbers_are_cast(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text(PAYMENTS.replace("amount", "cents"), encoding="utf-8")
    found = inferred([path], Payment.lawful.ir)
    assert found.mapping["preparation"]["casts"] == {"$.cents": "fixed(3)"}
    rows = [{"key": "a", "type": "authorize", "cents": "7"}, {"key": "a", "type": "capture"}]
    lines = tmp_path / "p.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = inferred([lines], Payment.lawful.ir)
    assert found.mapping["preparation"]["casts"] == {"$.cents": "int"}
    path.write_text(PAYMENTS, encoding="utf-8")
    assert inferred([path], Payment.lawful.ir).notes[-1] == (
        "other fields: $.amount, $.booked at, $.merchant, $.txn"
    )


WRONG: list[tuple[str, str]] = [
    ('{"a": 1}\n', "no field has names of events such as start, log, end"),
    ('{"a": "start"}\n', "no field could be the instance"),
    ("a line of text\nand one more, with a comma\n", "a text log needs a `line` by hand"),
]


@pytest.mark.parametrize(("text", "why"), WRONG)
def test_what_has_no_mapping(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "r.log"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ReplayError, match=why):
        inferred([path], Span.lawful.ir)
    assert main(["infer-mapping", str(path), f"{TARGET.replace('Request', 'Span')}"]) != 0


# Names and texts of a sample stand in the proposal.

NASTY = st.text(
    st.sampled_from(['"', "\\", "\n", "\r", "]", "#", "\x7f", "\x85", "\ud800", "a", "."])
)
TEXTS = st.one_of(st.text(max_size=6), NASTY.map(lambda text: text[:9]))


@settings(max_examples=60, deadline=None)
@given(
    field=TEXTS,
    instance=TEXTS,
    told=st.lists(
        st.tuples(st.one_of(st.sampled_from(["start", "log"]), TEXTS), TEXTS), max_size=6
    ),
)
def test_a_proposal_says_what_was_meant(
    field: str,
    instance: str,
    told: list[tuple[str, str]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = tmp_path_factory.mktemp("sample") / "r.jsonl"
    records = [
        {field: name, instance + "i": f"{n % 2}{text}", "n": n}
        for n, (name, text) in enumerate([*told, ("start", ""), ("end", ""), ("log", "x")])
    ]
    path.write_text("".join(json.dumps(each) + "\n" for each in records), encoding="utf-8")
    try:
        found = inferred([path], Span.lawful.ir)
    except ReplayError:
        return
    assert tomllib.loads(found.toml) == found.mapping
    mapping_of(tomllib.loads(found.toml))
    notes, _, _ = found.toml.encode().decode().partition("\n\n")
    assert all(each.startswith("# ") and each.isprintable() for each in notes.split("\n"))


def test_a_name_cannot_add_a_key() -> None:
    name = 'x\nseq = "$.mine"\n[args]'
    skipped = {"event": "$.e", "skip": [name, "\x7f\U0001f600"], "events": {name: "log"}}
    found = Inferred(skipped, (f"skipped: {name}", "n" * 500), 1, 1, 1)
    assert found.toml.splitlines() == [
        "# 1 of 1 instances fit, of 1 records",
        '# skipped: x\\u000aseq = "$.mine"\\u000a[args]',
        f"# {'n' * 396} ...",
        "",
        'event = "$.e"',
        'skip = ["x\\u000aseq = \\"$.mine\\"\\u000a[args]", "\\u007f\U0001f600"]',
        "",
        "[events]",
        '"x\\u000aseq = \\"$.mine\\"\\u000a[args]" = "log"',
    ]
    assert tomllib.loads(found.toml) == skipped


def test_a_name_that_utf_8_cannot_hold_is_no_candidate(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    rows = [
        {"\ud800": "log", "e": e, "conn": n % 2} for n, e in enumerate(["log", "log", "start", "?"])
    ]
    path.write_text("".join(json.dumps(each) + "\n" for each in rows), encoding="utf-8")
    found = inferred([path], Span.lawful.ir)
    assert (found.mapping["event"], found.mapping["instance"]) == ("$.e", "$.conn")


PLANTED = ROOT / "tests" / "checks" / "replay" / "planted"


def of_planted(name: str, machine: str, *files: str) -> Inferred:
    """What is proposed for a planted log."""
    cls = targets.machine(f"{PLANTED / name / 'machine.py'}:{machine}")
    return inferred([PLANTED / name / each for each in files], cls.lawful.ir)


def test_xes_that_says_less_than_the_machine_asks() -> None:
    """A trace may have no name; a task is known by its values, and costs are decimal numbers."""
    found = of_planted("bpmn", "Claim", "claims.xes")
    assert found.mapping == {
        "event": "$.lifecycle:transition",
        "skip": ["ATE_ABORT"],
        "events": {"COMPLETE": "complete", "START": "start"},
        "instance": "$.case:concept:name",
        "time": "$.time:timestamp",
        "unit": "iso",
        "args": {
            "start": {"task": "$.concept:name"},
            "complete": {"task": "$.concept:name", "cost": "$.cost"},
        },
        "preparation": {"format": "xes", "order": "time", "casts": {"$.cost": "fixed(3)"}},
    }
    assert found.notes == ("not events of the machine, so skipped: ATE_ABORT",)
    assert (found.instances, found.fitting) == (4, 3)


@pytest.mark.parametrize(
    ("values", "cast"), [((1, 2), ""), ((1, 2.0), "fixed(0)"), ((2.0, 1.25), "fixed(2)")]
)
def test_decimal_numbers_are_cast(tmp_path: Path, values: tuple[float, ...], cast: str) -> None:
    path = tmp_path / "log.jsonl"
    rows = [{"id": i, "e": "authorize", "cents": c} for i, c in enumerate(values)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows * 2), encoding="utf-8")
    found = inferred([path], Payment.lawful.ir)
    casts = found.mapping.get("preparation", {}).get("casts", {})
    assert casts == ({"$.cents": cast} if cast else {})


Colour = Literal["red", "green"]


class Light(Machine):
    colour: Colour = "red"

    @transition()
    def turn(self, to_colour: Colour) -> None:
        self.colour = to_colour


@pytest.mark.parametrize("fields", [("new",), ("old", "new")])
def test_an_argument_is_found_by_values_of_one_field_alone(
    tmp_path: Path, fields: tuple[str, ...]
) -> None:
    path = tmp_path / "log.jsonl"
    rows = [{"id": 1, "e": "turn"} | dict.fromkeys(fields, each) for each in ("red", "green")]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows * 2), encoding="utf-8")
    found = inferred([path], Light.lawful.ir).mapping
    alone = {"turn": {"to_colour": "$.new"}}
    assert found.get("args", {}) == (alone if fields == ("new",) else {})


def test_a_note_says_which_records_have_no_argument(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    rows: list[dict[str, object]] = [{"id": i, "e": "authorize"} for i in (1, 1, 2, 2)]
    rows[0]["cents"] = 5
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    note, *_ = inferred([path], Payment.lawful.ir).notes
    much = "3 records of authorize without $.cents: not judged, unless `defaults` has a value"
    assert note == much


def test_a_sample_is_of_all_files() -> None:
    """The second file alone has messages of the server; no call fits, but most events are legal."""
    found = of_planted("grpc", "Call", "day1.json", "day2.json")
    names = {"Client Message", "Half Close", "Header", "Server Message", "Trailer"}
    assert (found.records, found.mapping["events"].keys()) == (18, names)
    assert found.mapping["instance"] == "$.attributes.rpc_call_id"
    assert found.mapping["seq"] == "$.attributes.rpc_sequence"


def test_the_longest_name_of_an_event_counts() -> None:
    """A message of the log is a list of bytes: it names no event."""
    found = of_planted("units", "Unit", "journal.ndjson")
    assert found.mapping["events"] == {
        f"{event} {unit}.service": event
        for event, units in {
            "fail": ("db", "ssh", "web"),
            "start": ("cron", "db", "ssh", "web"),
            "started": ("db", "ssh"),
            "stop": ("ssh", "y"),
        }.items()
        for unit in units
    }


def test_one_row_may_be_several_events() -> None:
    why = "one row may be several events, at $.started_at and $.finished_at: see `rows`"
    with pytest.raises(ReplayError, match=re.escape(why)):
        of_planted("ci", "Pipeline", "jobs.csv")
