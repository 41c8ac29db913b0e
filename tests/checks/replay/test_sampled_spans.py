"""Sampled spans: rows of them may be missing, so no verdict on them is clean."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lawful.checks.replay import ReplayProgram, ReplayResult, replay
from lawful.checks.replay.mapping import mapping_of
from lawful.checks.replay.preparation.otlp import SAMPLED, records
from lawful.checks.replay.preparation.sampling import sampled
from lawful.checks.report import replays
from tests.checks.replay.foreign_logs import Span

MAPPING: dict[str, Any] = {
    "instance": "$.traceId",
    "event": "$.phase",
    "time": "$.time",
    "unit": "ns",
    "preparation": {"format": "otlp", "order": "time"},
}


def document(traces: dict[str, dict[str, Any]]) -> dict[str, Any]:
    spans = [
        {"traceId": name, "spanId": f"{name}1", "startTimeUnixNano": "1", "endTimeUnixNano": "2"}
        | more
        for name, more in traces.items()
    ]
    return {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}


def replayed(folder: Path, traces: dict[str, dict[str, Any]], **more: Any) -> ReplayResult:
    path = folder / "spans.json"
    path.write_text(json.dumps(document(traces)), encoding="utf-8")
    how = MAPPING | {"preparation": MAPPING["preparation"] | more}
    return replay([path], ReplayProgram((Span.lawful.ir,), mapping=mapping_of(how)))


def attribute(name: str, **value: Any) -> dict[str, Any]:
    return {"attributes": [{"key": name, "value": value}]}


def test_a_sampled_trace_has_no_clean_verdict(tmp_path: Path) -> None:
    lost = {"startTimeUnixNano": "3", "endTimeUnixNano": "2"}  # It ends before it starts.
    traces = {
        "a": {},
        "b": {"traceState": "ot=th:c"},
        "c": lost,
        "d": {"traceState": "x=1,ot=rv:1;th:8"} | lost,
    }
    result = replayed(tmp_path, traces)
    answer: Any = result.to_json()
    verdicts = {"a": "fits", "b": "inconclusive", "c": "deviates", "d": "inconclusive"}
    assert answer["by_instance"] == verdicts
    assert answer["counts"]["sampled"] == 4 and answer["counts"]["deviations"] == 1
    why = "spans are a sample of {}, so rows may be missing"
    told = [f["clause"] for f in answer["not_judged"] if "sample" in f["clause"]]
    assert told == [why.format("25.000%"), why.format("50.000%")]
    assert "rows of sampled traces: 4" in replays.text(result)
    fitting = replayed(tmp_path, {"b": {"traceState": "ot=th:c"}})
    assert fitting.exit_code == 3 and fitting.verdicts["fits"] == 0


def test_who_samples_whole_traces_may_say_so(tmp_path: Path) -> None:
    result = replayed(tmp_path, {"b": {"traceState": "ot=th:c"}}, trust_samples=True)
    assert result.verdicts["fits"] == 1 and result.exit_code == 0
    assert result.total.counts["sampled"] == 2


SIGNS: list[tuple[dict[str, Any], str]] = [
    ({"traceState": "ot=th:0"}, ""),
    ({"traceState": "ot=th:fd70a4"}, "spans are a sample of 1.000%"),
    ({"traceState": "a=b, ot=p:3;r:62"}, "spans are a sample of 12.500%"),
    ({"traceState": "ot=p:0"}, ""),
    ({"traceState": "ot=th:zz"}, ""),
    ({"traceState": "th:8"}, ""),
    ({"droppedEventsCount": 3}, "3 events of a span were dropped"),
    ({"droppedEventsCount": 0}, ""),
    (attribute("SampleRate", intValue="20"), "spans are a sample of 5.000%"),
    (attribute("SampleRate", intValue="1"), ""),
    (attribute("sampling.threshold", stringValue="8"), "spans are a sample of 50.000%"),
    (attribute("sampler.type", stringValue="const"), ""),
    (attribute("sampler.type", stringValue="probabilistic"), "spans are a sample (probabilistic)"),
    ({"flags": 257}, ""),
]


@pytest.mark.parametrize(("span", "why"), SIGNS)
def test_signs(span: dict[str, Any], why: str) -> None:
    found = [*records(json.dumps(document({"t": span, "u": {}})).encode())]
    signs = {(each["traceId"], each["phase"]): each.get(SAMPLED, "") for each in found}
    assert signs == {
        ("t", "start"): why,
        ("t", "end"): why,
        ("u", "start"): "",
        ("u", "end"): "",
    }


def test_a_sampler_that_keeps_all_is_none() -> None:
    told = {"sampler.type": "probabilistic", "sampler.param": 1}
    assert sampled({}, told) == ""
    assert sampled({}, told | {"sampler.param": 0.5}) == "spans are a sample (probabilistic)"


def test_logs_of_a_sampled_trace_are_marked(tmp_path: Path) -> None:
    log = {"traceId": "t", "timeUnixNano": "1"}
    logs = {"resourceLogs": [{"scopeLogs": [{"logRecords": [log, log | {"traceId": "u"}]}]}]}
    both = document({"t": {"traceState": "ot=th:8"}}) | logs
    marked = [SAMPLED in each for each in records(json.dumps(both).encode())]
    assert marked == [True, True, True, False]
