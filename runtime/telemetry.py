"""Events of instances as `logging` records, as events of OpenTelemetry spans, and as metrics.

    to_logging(entry, "a")
    to_spans(entry, "a", opentelemetry.trace.get_current_span)
    Metrics(opentelemetry.metrics.get_meter("service")).follow(entry)

The first two have the data of the journal's rows (see `journal`); they need no journal. This module
does not import OpenTelemetry: the caller passes in the current span and the meter.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from .instances.journal_rows import Hidden, RowWriter
from .kernel.event_record import Stepped

if TYPE_CHECKING:
    from .instance import Machine

LOGGER = logging.getLogger("lawful")


class Span(Protocol):
    """The methods of an OpenTelemetry span that are called here."""

    def add_event(self, name: str, attributes: Mapping[str, Any] | None = None) -> None:
        """Add an event with attributes."""
        ...

    def set_status(self, status: Any, description: str | None = None) -> None:
        """Say how what the span describes ended."""
        ...


class Counter(Protocol):
    """The method of an OpenTelemetry counter that is called here."""

    def add(self, amount: int, attributes: Any = None) -> None:
        """Count."""
        ...


class Histogram(Protocol):
    """The method of an OpenTelemetry histogram that is called here."""

    def record(self, amount: float, attributes: Any = None) -> None:
        """Record a value."""
        ...


class Meter(Protocol):
    """The methods of an OpenTelemetry meter that are called here."""

    def create_counter(self, name: str, unit: str = "", description: str = "") -> Counter:
        """A counter."""
        ...

    def create_histogram(self, name: str, unit: str = "", description: str = "") -> Histogram:
        """A histogram."""
        ...


def to_logging(
    entry: Machine, instance: str, logger: logging.Logger = LOGGER, hidden: Hidden | None = None
) -> Callable[[], None]:
    """Log each event from now on: refusals as warnings, others as information, ignored ones for
    debugging. A record's attribute `lawful` is the journal's row.

    Returns the function that ends it. Errors: ValueError for a hidden name that does not exist;
    RuntimeError for a part, and before an `@initial` was called.
    """
    levels = {"refused": logging.WARNING, "ignored": logging.DEBUG}

    def write(writer: RowWriter, row: dict[str, Any]) -> None:
        writer.at = writer.next
        level = levels.get(row["outcome"], logging.INFO)
        if logger.isEnabledFor(level):
            logger.log(level, "%s", _said(row), extra={"lawful": row})

    return _follow(entry, RowWriter(entry, instance, write, hidden))


def to_spans(
    entry: Machine,
    instance: str,
    current: Callable[[], Span],
    hidden: Hidden | None = None,
    *,
    refused: object = None,
) -> Callable[[], None]:
    """Add each event from now on to the span that is `current()` then, as `Machine.event`.

    The attributes are the journal's columns as `lawful.column`, those that are no text, number or
    truth value as JSON. `refused`: the status that a span gets where an event is refused, with the
    reason, such as `StatusCode.ERROR`. Returns and raises as `to_logging`.
    """

    def write(writer: RowWriter, row: dict[str, Any]) -> None:
        writer.at = writer.next
        event, span = row["event"] or row["outcome"], current()
        span.add_event(f"{row['machine']}.{event}", _attributes(row))
        if refused is not None and row["outcome"] == "refused":
            span.set_status(refused, f"{event}: {row['why']}")

    return _follow(entry, RowWriter(entry, instance, write, hidden))


class Metrics:
    """Two instruments of a meter, for all instances that it follows.

    `lawful.events` counts events by `machine`, `event` and `outcome` (done, refused, ignored).
    `lawful.state.duration` records, by `machine`, `event` and `state`, how many seconds an instance
    was in its control state when an event left that state. Names of instances, arguments and
    reasons are no attributes: there may be too many.
    """

    def __init__(self, meter: Meter) -> None:
        self._events = meter.create_counter(
            "lawful.events", unit="{event}", description="events by machine, event and outcome"
        )
        self._durations = meter.create_histogram(
            "lawful.state.duration", unit="s", description="time in a control state that was left"
        )

    def follow(self, entry: Machine) -> Callable[[], None]:
        """Count each event from now on. Returns the function that ends it.

        The time in a state begins now, and where a state is entered. RuntimeError for a part, and
        before an `@initial` was called.
        """
        entered = entry.__environment__.now()

        def count(done: Stepped) -> None:
            nonlocal entered
            machine = type(done.instance).__name__
            named = {"machine": machine, "event": done.event}
            self._events.add(1, {**named, "outcome": done.outcome})
            if done.before != done.after:
                self._durations.record(done.time - entered, {**named, "state": done.before})
                entered = done.time

        return entry.lawful.observe(count)


def _follow(entry: Machine, writer: RowWriter) -> Callable[[], None]:
    ends = [entry.lawful.observe(each) for each in (writer.waiting.append, writer.drain)]
    writer.attached(entry)

    def end() -> None:
        for each in ends:
            each()

    return end


def _said(row: Mapping[str, Any]) -> str:
    """A row in one line."""
    args = ", ".join(f"{name}={json.dumps(value)}" for name, value in row["args"].items())
    at = f", {row['after']}" if isinstance(row["after"], str) else ""  # It may be hidden.
    why = "" if row["why"] is None else f": {row['why']}"
    event = row["event"] or row["machine"]
    return f"{row['instance']}: {event}({args}) {row['outcome']}{at}{why}"


def _attributes(row: Mapping[str, Any]) -> dict[str, str | int | float | bool]:
    return {
        f"lawful.{name}": value if isinstance(value, str | int | float) else json.dumps(value)
        for name, value in row.items()
        if value is not None
    }
