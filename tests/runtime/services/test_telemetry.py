"""What an event is told as, in records of `logging` and events of spans."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

import pytest

from lawful import Machine, Nat, Refused, State, ignore, require, transition
from lawful.runtime.journal import Hidden
from lawful.runtime.telemetry import Metrics, to_logging, to_spans
from lawful.runtime.timers import SimulatedClock


class Door(State):
    OPEN = "open"
    SHUT = "shut"


class Gate(Machine):
    state: Door = Door.OPEN

    @transition(source=Door.OPEN, target=Door.SHUT)
    def shut(self, code: Nat) -> None:
        require(code > 3, "too simple")

    again = ignore("shut", source=Door.SHUT, because="it is shut")


class Swing(Machine):
    state: Door = Door.OPEN

    @transition(source=Door.OPEN, target=Door.SHUT)
    def shut(self) -> None: ...

    @transition(source=Door.SHUT, target=Door.OPEN)
    def open(self) -> None: ...


class Span:
    """As OpenTelemetry's, as far as is needed."""

    def __init__(self) -> None:
        self.events: list[tuple[str, Mapping[str, Any]]] = []
        self.statuses: list[tuple[object, str | None]] = []

    def add_event(self, name: str, attributes: Mapping[str, Any] | None = None) -> None:
        self.events.append((name, attributes or {}))

    def set_status(self, status: object, description: str | None = None) -> None:
        self.statuses.append((status, description))


class Instrument:
    """A counter and a histogram as OpenTelemetry's, as far as is needed."""

    def __init__(self, name: str, unit: str) -> None:
        self.name, self.unit = name, unit
        self.values: list[tuple[float, dict[str, str]]] = []

    def add(self, amount: int, attributes: Any = None) -> None:
        self.values.append((amount, attributes))

    def record(self, amount: float, attributes: Any = None) -> None:
        self.values.append((amount, attributes))


class Meter:
    def __init__(self) -> None:
        self.made: list[Instrument] = []

    def create_counter(self, name: str, unit: str = "", description: str = "") -> Instrument:
        self.made.append(Instrument(name, unit))
        return self.made[-1]

    def create_histogram(self, name: str, unit: str = "", description: str = "") -> Instrument:
        return self.create_counter(name, unit, description)


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
        "lawful.v": 3,
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
    error = trace.StatusCode.ERROR
    to_spans(gate, "g", trace.get_current_span, refused=error)  # Of no span nothing is told.
    with tracer.start_as_current_span("opening") as span:
        all_of(gate)
    names = [(event.name, event.attributes["lawful.outcome"]) for event in span.events]
    assert names == [("Gate.shut", outcome) for outcome in ("refused", "done", "ignored")]
    told = [event.attributes.get("lawful.why") for event in span.events]
    assert told == ["too simple (1 > 3 is false)", None, None]
    assert (span.status.status_code, span.status.description) == (
        error,
        "shut: too simple (1 > 3 is false)",
    )


def test_the_metrics_of_opentelemetry_itself() -> None:
    sdk: Any = pytest.importorskip("opentelemetry.sdk.metrics")
    export: Any = pytest.importorskip("opentelemetry.sdk.metrics.export")
    reader = export.InMemoryMetricReader()
    metrics = Metrics(sdk.MeterProvider(metric_readers=[reader]).get_meter("gates"))
    clock = SimulatedClock()
    for _ in range(2):
        gate = Gate(clock=clock)
        metrics.follow(gate)
        clock.advance(2)
        all_of(gate)
    held = reader.get_metrics_data().resource_metrics[0].scope_metrics[0].metrics
    events, durations = (each.data.data_points for each in held)
    assert {each.attributes["outcome"]: each.value for each in events} == {
        "refused": 2,
        "done": 2,
        "ignored": 2,
    }
    assert [(each.count, each.sum) for each in durations] == [(2, 4.0)]


def test_a_refusal_is_the_status_of_the_span_where_one_is_given() -> None:
    gate, span = Gate(), Span()
    end = to_spans(gate, "g", lambda: span, refused="ERROR")
    all_of(gate)
    assert span.statuses == [("ERROR", "shut: too simple (1 > 3 is false)")]
    end()
    to_spans(quiet := Gate(), "q", lambda: span)
    all_of(quiet)
    to_spans(other := Gate(), "o", lambda: span, Hidden(excluded=frozenset({"code"})), refused=2)
    all_of(other)
    assert span.statuses[1:] == [(2, "shut: refused by shut")]


def test_events_are_counted_and_states_are_timed() -> None:
    clock, meter = SimulatedClock(), Meter()
    metrics = Metrics(meter)
    gate, other = Gate(clock=clock), Gate(clock=clock)
    end = metrics.follow(gate)
    clock.advance(2.5)
    metrics.follow(other)
    all_of(gate)
    clock.advance(1)
    other.shut(5)
    end()
    gate.shut(9)
    events, durations = meter.made
    assert [(each.name, each.unit) for each in meter.made] == [
        ("lawful.events", "{event}"),
        ("lawful.state.duration", "s"),
    ]
    named = {"machine": "Gate", "event": "shut"}
    outcomes = ["refused", "done", "ignored", "done"]
    assert events.values == [(1, {**named, "outcome": outcome}) for outcome in outcomes]
    left = {**named, "state": "OPEN"}
    assert durations.values == [(2.5, left), (1.0, left)]


def test_of_an_instance_with_the_clock_of_all_the_time_is_taken_too() -> None:
    meter = Meter()
    gate = Gate()
    Metrics(meter).follow(gate)
    gate.shut(7)
    ((seconds, _),) = meter.made[1].values
    assert 0 <= seconds < 3600


def test_the_time_in_a_state_begins_where_it_is_entered() -> None:
    clock, meter = SimulatedClock(), Meter()
    swing = Swing(clock=clock)
    Metrics(meter).follow(swing)
    for seconds, event in ((2, swing.shut), (3, swing.open), (5, swing.shut)):
        clock.advance(seconds)
        event()
    named = [(value, each["event"], each["state"]) for value, each in meter.made[1].values]
    assert named == [(2, "shut", "OPEN"), (3, "open", "SHUT"), (5, "shut", "OPEN")]
