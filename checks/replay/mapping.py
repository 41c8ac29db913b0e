"""Mappings: how to read events from JSON lines of other programs (foreign traces).

A mapping is a TOML or JSON file. "$.a.b" is the value at a.b in a line, all else is a constant:

    instance = "$.conn"
    seq = "$.n"
    event = "$.type"
    output = "$.reply"             # optional; compared where it is given
    time = "$.at"                  # optional; a machine with a clock needs it
    unit = "ms"                    # of time: s (the default), ms, us, ns, or iso for ISO 8601 texts
    dense = false                  # whether seq counts from 0 without a gap (default: it does not)
    skip = ["HEARTBEAT"]           # lines with these events are not replayed
    machine = "SenderEntry"        # needed where several machines are replayed

    [events]                       # names of events in the trace = in the machine, if they differ
    ACK = "ack"

    [args.ack.m]                   # for each event of the machine, its arguments in JSON form
    "$" = "Ack"
    seqno = "$.number"

    [parameters]                   # of every instance; the others have their defaults
    limit = 5

Every instance begins in the initial state of its machine, and its clock at its first line. A line
says that an event happened: the machine takes it, ignores it, or the instance deviates. In place of
an event with a choice a line may name the transition.

An instance may be a text or a whole number. A text that reads as a whole number stands in quotes in
results, so `7` and `"7"` are two instances.
"""

from __future__ import annotations

import dataclasses
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from lawful.spec.codec.as_json import is_list, is_object
from lawful.spec.ir import Json

from .rows import LARGEST, Rejected, Row, encodable, plain
from .sources import ReplayError

HAPPENED = "happened"
SKIPPED = "skipped"
UNITS = {unit: Fraction(1, 10**n) for unit, n in (("s", 0), ("ms", 3), ("us", 6), ("ns", 9))}
ISO = "iso"
# Texts that another instance might be shown as; Arrow knows the same pattern.
QUOTED_TEXT = r'(?s)\A(?:-?[0-9]+|".*)\z'
QUOTED = re.compile(r'-?[0-9]+|".*', re.DOTALL)


class MissingPath(Exception):
    """A line has no value at a path that the mapping names."""


@dataclass(frozen=True)
class TraceMapping:
    """Where a line of a foreign trace has the fields of a row; see the top of this module."""

    instance: str
    seq: str
    event: str
    output: str | None = None
    time: str | None = None
    unit: str = "s"
    dense: bool = False
    skip: tuple[str, ...] = ()
    machine: str = ""
    events: Mapping[str, str] = field(default_factory=dict[str, str])
    args: Mapping[str, Json] = field(default_factory=dict[str, Json])
    parameters: Mapping[str, Json] = field(default_factory=dict[str, Json])

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path that the mapping reads, each once."""
        fields: list[Json] = [self.instance, self.seq, self.event, self.output, self.time]
        found = _paths([*fields, dict(self.args)])
        return tuple(dict.fromkeys(found))

    def row_of(self, data: dict[str, Any], text: str) -> Row | Rejected:
        """The row of the JSON object in a line; `text` is what a rejection shows."""
        try:
            instance, seq = filled(self.instance, data), filled(self.seq, data)
        except MissingPath as error:
            return Rejected(str(error), plain(text))
        instance = shown(instance)
        if not isinstance(instance, str) or not encodable(instance):
            return Rejected("no instance", plain(text))
        if type(seq) is not int or not 0 <= seq < LARGEST:
            return Row(instance, -1, flaw="a row without a sequence number")
        try:
            return self._row(instance, seq, data)
        except MissingPath as error:
            return Row(instance, seq, flaw=str(error))

    def _row(self, instance: str, seq: int, data: dict[str, Any]) -> Row:
        theirs = filled(self.event, data)
        if not isinstance(theirs, str):
            return Row(instance, seq, flaw="no event")
        if theirs in self.skip:
            return Row(instance, seq, self.machine, event=None, outcome=SKIPPED)
        event = self.events.get(theirs, theirs)
        args = filled(self.args.get(event, {}), data)
        row = Row(instance, seq, self.machine, event=event, args=args, outcome=HAPPENED)
        if self.time is not None:
            when = self._seconds(filled(self.time, data))
            row = dataclasses.replace(row, time=when, flaw="" if when is not None else NO_TIME)
        if self.output is None:
            return row
        return dataclasses.replace(row, output=filled(self.output, data))

    def _seconds(self, value: Any) -> Fraction | None:
        """The value at `time` in seconds, exactly; None where it is no time."""
        if self.unit == ISO:
            return _since_1970(value) if isinstance(value, str) else None
        if type(value) not in (int, float):
            return None
        try:
            return Fraction(repr(value)) * UNITS[self.unit]
        except ValueError:
            return None  # NaN and infinity

    def made(self, row: Row, fingerprint: str) -> Row:
        """A row `made` of an instance, which foreign traces do not have."""
        made = Row(row.instance, row.seq, row.machine, fingerprint, outcome="made")
        return dataclasses.replace(made, args=self.parameters)

    def to_json(self) -> Json:
        """The mapping as JSON; `mapping_of` reads it."""
        out: dict[str, Json] = dataclasses.asdict(self)
        out["skip"] = list(self.skip)
        return out


NO_TIME = "time has another form than its unit says"


def _since_1970(text: str) -> Fraction | None:
    """The seconds of an ISO 8601 text, which is UTC where it names no zone."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return None
    zoned = when if when.tzinfo is not None else when.replace(tzinfo=UTC)
    passed = zoned - datetime.fromtimestamp(0, UTC)
    return Fraction(passed.days * 86_400 + passed.seconds) + Fraction(passed.microseconds, 10**6)


def shown(key: Any) -> Any:
    """The name of the instance with this key; what is no key comes back as it is."""
    if isinstance(key, int) and not isinstance(key, bool):
        return str(key)
    return f'"{key}"' if isinstance(key, str) and QUOTED.fullmatch(key) else key


def key_of(name: str) -> str | int:
    """The key of the instance with this name."""
    if not QUOTED.fullmatch(name):
        return name
    return name[1:-1] if name.startswith('"') else int(name)


def filled(template: Json, data: Mapping[str, Any]) -> Any:
    """The template with every path in it replaced by the value there in the line."""
    if isinstance(template, str) and template.startswith("$."):
        return _at(template, data)
    if is_object(template):
        return {name: filled(value, data) for name, value in template.items()}
    if is_list(template):
        return [filled(each, data) for each in template]
    return template


def _paths(template: Json) -> Iterator[str]:
    """The paths in a template."""
    if isinstance(template, str) and template.startswith("$."):
        yield template
    elif is_object(template):
        for each in template.values():
            yield from _paths(each)
    elif is_list(template):
        for each in template:
            yield from _paths(each)


def _at(path: str, data: Mapping[str, Any]) -> Any:
    found: Any = data
    for name in path[2:].split("."):
        if not is_object(found) or name not in found:
            raise MissingPath(f"no value at {path}")
        found = found[name]
    return found


KINDS: dict[str, type] = {
    "instance": str,
    "seq": str,
    "event": str,
    "output": str,
    "time": str,
    "unit": str,
    "dense": bool,
    "skip": list,
    "machine": str,
    "events": dict,
    "args": dict,
    "parameters": dict,
}


def mapping_of(data: Any) -> TraceMapping:
    """The mapping in a JSON object. Raises ValueError, which says what is wrong."""
    if not is_object(data):
        raise ValueError("a mapping has to be an object")
    given = {name: value for name, value in data.items() if value is not None}
    for name, value in given.items():
        if name not in KINDS:
            raise ValueError(f"{name} is no key of a mapping; the keys are {', '.join(KINDS)}")
        if type(value) is not KINDS[name]:
            raise ValueError(f"{name} has to be a {KINDS[name].__name__}")
    for name in ("instance", "seq", "event"):
        if not str(given.get(name, "")).startswith("$."):
            raise ValueError(f'{name} has to be a path such as "$.{name}"')
    if given.get("unit", ISO) not in (*UNITS, ISO):
        raise ValueError(f"unit has to be one of {', '.join((*UNITS, ISO))}, not {given['unit']}")
    known: dict[str, Any] = {**given, "skip": tuple(given.get("skip", ()))}
    return TraceMapping(**known)


def read_mapping(path: str | Path) -> TraceMapping:
    """The mapping in a file, JSON or TOML by its ending. Raises ReplayError."""
    try:
        text = Path(path).read_text(encoding="utf-8")
        return mapping_of(json.loads(text) if str(path).endswith(".json") else tomllib.loads(text))
    except (OSError, ValueError) as error:
        raise ReplayError(f"{path}: {error}") from error
