"""Events of instances as `logging` records and as events of OpenTelemetry spans.

    to_logging(entry, "a")
    to_spans(entry, "a", opentelemetry.trace.get_current_span)

Both have the data of the journal's rows (see `journal`); they need no journal. This module does not
import OpenTelemetry: the caller passes in the current span.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from .instances.journal_rows import Hidden, RowWriter

if TYPE_CHECKING:
    from .instance import Machine

LOGGER = logging.getLogger("lawful")


class Span(Protocol):
    """The method of an OpenTelemetry span that is called here."""

    def add_event(self, name: str, attributes: Mapping[str, Any] | None = None) -> None:
        """Add an event with attributes."""
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
    entry: Machine, instance: str, current: Callable[[], Span], hidden: Hidden | None = None
) -> Callable[[], None]:
    """Add each event from now on to the span that is `current()` then, as `Machine.event`.

    The attributes are the journal's columns as `lawful.column`, those that are no text, number or
    truth value as JSON. Returns and raises as `to_logging`.
    """

    def write(writer: RowWriter, row: dict[str, Any]) -> None:
        writer.at = writer.next
        event = row["event"] or row["outcome"]
        current().add_event(f"{row['machine']}.{event}", _attributes(row))

    return _follow(entry, RowWriter(entry, instance, write, hidden))


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
