"""Foreign traces: how to read events out of JSON lines that no journal of ours wrote.

    instance = "$.conn"            # TOML or JSON; "$.a.b" is what stands at a.b in a line,
    seq = "$.n"                    # anything else is meant as it stands
    event = "$.type"
    output = "$.reply"             # optional; compared where it is given
    dense = false                  # whether seq counts from 0 without a gap (default: it does not)
    skip = ["HEARTBEAT"]           # lines with these events say nothing of the machine
    machine = "SenderEntry"        # needed where several machines are replayed

    [events]                       # their names for events, and ours; others are taken as they are
    ACK = "ack"

    [args.ack.m]                   # for each of our events, its arguments in their JSON form
    "$" = "Ack"
    seqno = "$.number"

    [parameters]                   # of every instance; what is left out has its default
    limit = 5

Every instance begins at its machine's start. A line says that its event happened: the machine
takes it, or ignores it, or deviates.
"""

from __future__ import annotations

import dataclasses
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lawful.spec.codec.as_json import is_list, is_object
from lawful.spec.ir import Json

from .rows import LARGEST, Rejected, Row, encodable, plain
from .sources import ReplayError

HAPPENED = "happened"
SKIPPED = "skipped"


class NothingThere(Exception):
    """A line has nothing at a path that the mapping names."""


@dataclass(frozen=True)
class Foreign:
    """Where in a line what stands."""

    instance: str
    seq: str
    event: str
    output: str | None = None
    dense: bool = False
    skip: tuple[str, ...] = ()
    machine: str = ""
    events: Mapping[str, str] = field(default_factory=dict[str, str])
    args: Mapping[str, Json] = field(default_factory=dict[str, Json])
    parameters: Mapping[str, Json] = field(default_factory=dict[str, Json])

    def row_of(self, data: dict[str, Any], text: str) -> Row | Rejected:
        """The row that a line means."""
        try:
            instance, seq = filled(self.instance, data), filled(self.seq, data)
        except NothingThere as error:
            return Rejected(str(error), plain(text))
        if isinstance(instance, int) and not isinstance(instance, bool):
            instance = str(instance)
        if not isinstance(instance, str) or not encodable(instance):
            return Rejected("no instance", plain(text))
        if type(seq) is not int or not 0 <= seq < LARGEST:
            return Row(instance, -1, flaw="a row without a sequence number")
        try:
            return self._row(instance, seq, data)
        except NothingThere as error:
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
        if self.output is None:
            return row
        return dataclasses.replace(row, output=filled(self.output, data))

    def made(self, row: Row, fingerprint: str) -> Row:
        """The row of the making of an instance, which foreign traces do not have."""
        args = self.parameters
        return Row(row.instance, row.seq, row.machine, fingerprint, args=args, outcome="made")

    def to_json(self) -> Json:
        """The mapping as plain JSON, for other processes."""
        out: dict[str, Json] = dataclasses.asdict(self)
        out["skip"] = list(self.skip)
        return out


def filled(template: Json, data: Mapping[str, Any]) -> Any:
    """The template with every path in it replaced by what stands there in the line."""
    if isinstance(template, str) and template.startswith("$."):
        return _at(template, data)
    if is_object(template):
        return {name: filled(value, data) for name, value in template.items()}
    if is_list(template):
        return [filled(each, data) for each in template]
    return template


def _at(path: str, data: Mapping[str, Any]) -> Any:
    found: Any = data
    for name in path[2:].split("."):
        if not is_object(found) or name not in found:
            raise NothingThere(f"nothing at {path}")
        found = found[name]
    return found


KINDS: dict[str, type] = {
    "instance": str,
    "seq": str,
    "event": str,
    "output": str,
    "dense": bool,
    "skip": list,
    "machine": str,
    "events": dict,
    "args": dict,
    "parameters": dict,
}


def foreign_of(data: Any) -> Foreign:
    """The mapping that an object says; ValueError, saying what is wrong, where it says none."""
    if not is_object(data):
        raise ValueError("a mapping is an object")
    given = {name: value for name, value in data.items() if value is not None}
    for name, value in given.items():
        if name not in KINDS:
            raise ValueError(f"{name} is no part of a mapping; known are {', '.join(KINDS)}")
        if type(value) is not KINDS[name]:
            raise ValueError(f"{name} is of another form")
    for name in ("instance", "seq", "event"):
        if not str(given.get(name, "")).startswith("$."):
            raise ValueError(f'{name} has to be a path such as "$.{name}"')
    known: dict[str, Any] = {**given, "skip": tuple(given.get("skip", ()))}
    return Foreign(**known)


def read_mapping(path: str | Path) -> Foreign:
    """The mapping in a file, TOML or JSON by its ending; ReplayError where it is none."""
    try:
        text = Path(path).read_text(encoding="utf-8")
        return foreign_of(json.loads(text) if str(path).endswith(".json") else tomllib.loads(text))
    except (OSError, ValueError) as error:
        raise ReplayError(f"{path}: {error}") from error
