"""What an event is told as, in records of `logging` and events of spans."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

import pytest

from lawful import Machine, Nat, Refused, State, ignore, require, transition
from lawful.runtime.journal import Hidden
from lawful.runtime.telemetry import to_logging, to_spans


class Door(State):
    OPEN = "open"
    SHUT = "shut"


class Gate(Machine):
    state: Door = Door.OPEN

    @transition(source=Door.OPEN, target=Door.SHUT)
    def shut(self, code: Nat) -> None:
        require(code > 3, "too simple")

    again = ignore("shut", source=Door.SHUT, because="it is shut")


class Span:
    """As OpenTelemetry's, as far as is needed."""

    def __init__(self) -> None:
        self.events: list[tuple[str, Mapping[str, Any]]] = []

    def add_event(self, name: str, attributes: Mapping[str, Any] | None = None) -> None:
        self.events.append((name, attributes or {}))


def all_of(gate: Gate) -> None:
    with pytest.raises(Refused):
        gate.shut(1)
    gate.shut(7)
    gate.shut(8)


def test_events_are_logged_at_their_levels(caplog: pytest.LogCaptureFixture) -> None:
    gate = Gate()
    with caplog.at_level(logging.DEBUG, logger="lawful"):
        end = to_logging(gate, "g")
        all_of(gate)
        end()
        gate.shut(9)
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("INFO", "g: Gate() made, OPEN"),
        ("WARNING", "g: shut(code=1) refused, OPEN: too simple (1 > 3 is false)"),
        ("INFO", "g: shut(code=7) done, SHUT"),
        ("DEBUG", "g: shut(code=8) ignored, SHUT"),
    ]
    assert vars(caplog.records[2])["lawful"]["changed"] == {"state": "SHUT"}


def test_what_is_hidden_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    gate = Gate()
    with caplog.at_level(logging.INFO, logger="lawful"):
        to_logging(gate, "g", hidden=Hidden(excluded=frozenset({"code"})))
        all_of(gate)
    assert [record.getMessage() for record in caplog.records][1:] == [
        'g: shut(code={"$hidden": "excluded"}) refused, OPEN: refused by shut',
        'g: shut(code={"$hidden": "excluded"}) done, SHUT',
    ]


def test_the_control_state_can_be_hidden(caplog: pytest.LogCaptureFixture) -> None:
    gate = Gate()
    with caplog.at_level(logging.INFO, logger="lawful"):
        to_logging(gate, "g", hidden=Hidden(excluded=frozenset({"state"})))
        all_of(gate)
    assert [record.getMessage() for record in caplog.records] == [
        "g: Gate() made",
        "g: shut(code=1) refused: refused by shut",
        "g: shut(code=7) done",
    ]
    rows = [vars(record)["lawful"] for record in caplog.records]
    assert not any(word in json.dumps(rows) for word in ("OPEN", "SHUT"))
    told = {"$hidden": "excluded"}
    assert [(row["before"], row["after"]) for row in rows] == [
        (None, told),
        (told, told),
        (told, told),
    ]


def test_events_are_added_to_the_span_that_is_current() -> None:
    gate, spans = Gate(), [Span(), Span()]
    current = [spans[0]]
    to_spans(gate, "g", lambda: current[0])
    current[0] = spans[1]
    all_of(gate)
    assert [name for name, _ in spans[0].events] == ["Gate.made"]
    assert [name for name, _ in spans[1].events] == ["Gate.shut"] * 3
    attributes = dict(spans[1].events[1][1])
    for name in ("time", "wall", "fingerprint"):
        del attributes[f"lawful.{name}"]
    assert attributes == {
        "lawful.v": 1,
        "lawful.instance": "g",
        "lawful.seq": 2,
        "lawful.machine": "Gate",
        "lawful.event": "shut",
        "lawful.transition": "shut",
        "lawful.args": '{"code": 7}',
        "lawful.outcome": "done",
        "lawful.before": "OPEN",
        "lawful.after": "SHUT",
        "lawful.changed": '{"state": "SHUT"}',
    }


def test_the_spans_of_opentelemetry_itself() -> None:
    sdk: Any = pytest.importorskip("opentelemetry.sdk.trace")
    trace: Any = pytest.importorskip("opentelemetry.trace")
    gate, tracer = Gate(), sdk.TracerProvider().get_tracer("gates")
    to_spans(gate, "g", trace.get_current_span)  # Of no span nothing is told.
    with tracer.start_as_current_span("opening") as span:
        all_of(gate)
    names = [(event.name, event.attributes["lawful.outcome"]) for event in span.events]
    assert names == [("Gate.shut", outcome) for outcome in ("refused", "done", "ignored")]
    told = [event.attributes.get("lawful.why") for event in span.events]
    assert told == ["too simple (1 > 3 is false)", None, None]
