"""Mappings: how to read events from JSON lines of other programs (foreign traces).

A mapping is a TOML or JSON file. "$.a.b" is the value at a.b in a line, "$['a.b']" that of a
key with a dot (`preparation.record_paths`), all else is a constant:

    instance = "$.conn"
    seq = "$.n"
    event = "$.type"
    output = "$.reply"             # optional; null says None, or nothing if it is never None
    time = "$.at"                  # optional; a machine with a clock needs it
    unit = "ms"                    # of time: s (the default), ms, us, ns, iso for ISO 8601 texts,
                                   # iso-ns for those with nanoseconds, or a form of strptime
    zone = "Europe/Berlin"         # of texts that say none (default: UTC)
    twice = "first"                # where clocks went back: first, second, or refuse (default)
    dense = false                  # whether seq counts without a gap (default: it does not)
    first = 1                      # dense: the first number of an instance (default 0)
    skip = ["HEARTBEAT"]           # lines with these events are not replayed
    elsewhere = ["REFUND"]         # events of other machines: their lines are left out
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

An instance may be a text or a whole number. A text that reads as a whole number without a zero
before it stands in quotes in results, so `7` and `"7"` are two instances.

Traces of other forms are prepared first, by the table `[preparation]`, which the module
`preparation.preparation_table` describes. More keys:

    combine = true                 # rows of one instance and number are parts of one event
    hidden = ["timeout"]           # events that no row tells; they may happen at any time
    attach = true                  # instances may begin in any reachable state
    partial = true                 # rows may lack arguments: they may have any value
    [observed]                     # variables of the machine after the event; a row need not have
    state = "$.status"             # each of them
    [deadlines]                    # seconds that an instance may stay in a control state
    CLOSING = 60.0

Rows that are calls and returns of processes have a table `[history]`, which the module
`histories.history_table` describes.
"""

from __future__ import annotations

import dataclasses
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from lawful.spec.codec.as_json import is_object
from lawful.spec.errors import nearest
from lawful.spec.ir import Json

from .flaws.row_texts import cast_hint, kind_of, no_name, no_number, no_time
from .histories.history_table import CALL, NO_PHASE, RETURN, HistoryTable, history_of
from .preparation import preparation_table
from .preparation.instance_names import shown
from .preparation.otlp import SAMPLED
from .preparation.path_templates import (
    Filled,
    MissingPath,
    filled,
    filling,
    paths_in,
    put,
    value_at,
    wrong_template,
)
from .preparation.preparation_table import Preparation
from .preparation.record_paths import is_path
from .preparation.row_numbers import by_place, by_time
from .preparation.steps import Preparer
from .preparation.times import ISO, ISO_NS, UNITS, is_unit, seconds
from .preparation.zones import LocalTimes, Twice, UnclearTime
from .rows import LARGEST, Rejected, Row, encodable, plain
from .sources import ReplayError
from .stays.deadline_table import wrong_deadlines

HAPPENED = "happened"
SKIPPED = "skipped"
NUMBER = "$.lawful number"  # Where a prepared record has the number that its order gives it.


@dataclass(frozen=True)
class TraceMapping:
    """Where a line of a foreign trace has the fields of a row; see the top of this module.

    With an order in the `preparation`, `seq` is "".
    """

    instance: str
    seq: str
    event: str
    output: str | None = None
    time: str | None = None
    unit: str = "s"
    zone: str = ""
    twice: Twice = "refuse"
    dense: bool = False
    first: int = 0
    skip: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    machine: str = ""
    events: Mapping[str, str] = field(default_factory=dict[str, str])
    args: Mapping[str, Json] = field(default_factory=dict[str, Json])
    parameters: Mapping[str, Json] = field(default_factory=dict[str, Json])
    observed: Mapping[str, Json] = field(default_factory=dict[str, Json])
    combine: bool = False
    hidden: tuple[str, ...] = ()
    attach: bool = False
    partial: bool = False
    deadlines: Mapping[str, float] = field(default_factory=dict[str, float])
    history: HistoryTable | None = None
    preparation: Preparation | None = None

    def __post_init__(self) -> None:
        if self.first < 0 or (self.first and not self.dense):
            raise ValueError("first has to be a number from 0 on, and is for dense = true")
        if self.preparation is not None and self.preparation.order and not self.seq:
            object.__setattr__(self, "seq", NUMBER)

    @property
    def columnar(self) -> bool:
        """Whether typed columns may hold all that the mapping reads of a record."""
        return not (self.history or self.combine or self.observed or self.unseen)

    @property
    def unseen(self) -> bool:
        """Whether rows may leave something out: steps, arguments, or the beginning."""
        return bool(self.hidden or self.attach or self.partial)

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path that the mapping reads, each once."""
        fields: list[Json] = [self.instance, self.seq, self.event, self.output, self.time]
        found = paths_in([*fields, dict(self.args), dict(self.observed)])
        return tuple(dict.fromkeys(found))

    def prepared(self, data: dict[str, Any], place: int) -> list[dict[str, Any]]:
        """The records that are made of a record of a file: itself where nothing is prepared.
        `place` is that of the record in the files: `preparation.row_numbers.position`."""
        how = self.preparation
        if how is None:
            return [data]
        records = self._preparer.records(data)
        return [self._numbered(how, place, inner, one) for inner, one in records]

    @cached_property
    def _preparer(self) -> Preparer:
        return Preparer(self.preparation or Preparation())

    @cached_property
    def _fills(self) -> Mapping[str, Filled]:
        """What fills in the fields of a row, by their names here."""
        names = ("instance", "seq", "event", "output", "time")
        return {name: filling(getattr(self, name)) for name in names}

    @cached_property
    def _arguments(self) -> Mapping[str, Filled]:
        """What fills in the arguments of each event, by its name in the machine."""
        return {name: filling(template) for name, template in self.args.items()}

    def _numbered(self, how: Preparation, place: int, inner: int, data: dict[str, Any]) -> Any:
        """The record with the number that its order gives it, or the reason why it has none."""
        if how.order == "file":
            put(NUMBER, data, by_place(how, place, inner))
        elif how.order == "time":
            when = self._time_of(_optional(self.time, data))
            event = str(_optional(self.event, data))
            if isinstance(when, str):
                put(NUMBER, data, when)
            else:
                put(NUMBER, data, by_time(how, when, self.unit, event, inner))
        return data

    def row_of(self, data: dict[str, Any], text: object) -> Row | Rejected | None:
        """The row of the JSON object in a line; a rejection shows `text`. None where the
        event is skipped and the line lacks an instance or a number."""
        if self.elsewhere and self.is_elsewhere(_optional(self.event, data)):
            return None
        found = self._row_of(data, text)
        unusable = isinstance(found, Rejected) or found.seq < 0
        return None if unusable and _optional(self.event, data) in self.not_judged else found

    def event_of(self, data: Mapping[str, Any]) -> str | None:
        """The name of the event in a record, as the trace has it; None where it has none."""
        event = _optional(self.event, data)
        return event if isinstance(event, str) else None

    def is_elsewhere(self, event: object) -> bool:
        """Whether rows of this event, by its name in the trace, are left out: other machines have
        it. Where numbers count without a gap, such a row stays, for its number."""
        return event in self.elsewhere and not self.dense

    @cached_property
    def not_judged(self) -> tuple[str, ...]:
        """The names of the events that are not replayed."""
        return (*self.skip, *self.elsewhere)

    def _row_of(self, data: dict[str, Any], text: object) -> Row | Rejected:
        try:
            instance, seq = self._fills["instance"](data), self._fills["seq"](data)
        except MissingPath as error:
            return Rejected(error.told(data), plain(str(text)))
        instance, key = shown(instance), instance
        if not isinstance(instance, str) or not encodable(instance):
            return Rejected(no_name(self.instance, key), plain(str(text)))
        if self.seq == NUMBER and isinstance(seq, str):
            return self._flawed(instance, -1, seq, data)
        if type(seq) is not int or not 0 <= seq < LARGEST:
            why = no_number(self.seq, seq, cast_hint(self.casts, self.seq))
            return self._flawed(instance, -1, why, data)
        if self.dense and seq < self.first:
            why = f"a sequence number before {self.first}, the first one"
            return self._flawed(instance, -1, why, data)
        try:
            return self._row(instance, seq, data)
        except MissingPath as error:
            return self._flawed(instance, seq, error.told(data), data)

    @property
    def casts(self) -> Mapping[str, str]:
        """What texts become, by their paths."""
        return {} if self.preparation is None else self.preparation.casts

    def _flawed(self, instance: str, seq: int, flaw: str, data: Mapping[str, Any]) -> Row:
        theirs = self.event_of(data) or ""
        named = self.events.get(theirs, theirs)
        return Row(instance, seq, self.machine, flaw=flaw, named=named)

    def _row(self, instance: str, seq: int, data: dict[str, Any]) -> Row:
        theirs = self._fills["event"](data)
        if not isinstance(theirs, str):
            return Row(
                instance, seq, self.machine, flaw=f"no event: {self.event} is {kind_of(theirs)}"
            )
        if theirs in self.not_judged:
            return Row(instance, seq, self.machine, event=None, outcome=SKIPPED)
        event = self.events.get(theirs, theirs)
        if self.history is not None:
            row = Row(instance, seq, self.machine, event=event)
            return self._of_history(self.history, row, data)
        if self.combine or self.partial:
            args = _present(self.args.get(event, {}), data)
        else:
            args = self._arguments[event](data) if event in self.args else dict[str, Json]()
        told: dict[str, Any] = {"event": event, "args": args, "outcome": HAPPENED}
        if self.preparation is not None and SAMPLED in data:
            told["sampled"] = str(data[SAMPLED])
        if self.observed:
            told["observed"] = _present(self.observed, data)
        if self.time is not None:
            when = self._time_of(self._fills["time"](data))
            told["flaw" if isinstance(when, str) else "time"] = when
        if self.output is not None:
            output = self._output_of(data)
            if output is not None or not self.combine:
                told["output"] = output
        return Row(instance, seq, self.machine, **told)

    def _output_of(self, data: Mapping[str, Any]) -> Any:
        """The output; None also where the record has no such field, because a table always has."""
        try:
            return self._fills["output"](data)
        except MissingPath:
            return None

    def _time_of(self, value: Any) -> Fraction | str:
        """The time in seconds since 1970; a text says why there is none."""
        try:
            when = seconds(value, self.unit, self._local)
        except UnclearTime as error:
            return str(error)
        return no_time(str(self.time), value, self.unit) if when is None else when

    @cached_property
    def _local(self) -> LocalTimes:
        return LocalTimes(self.zone, self.twice)

    def _of_history(self, history: HistoryTable, row: Row, data: dict[str, Any]) -> Row:
        """The row of a call, which has the arguments, or of a return, which has the output."""
        process = filled(history.process, data)
        phase = history.phase_of(filled(history.phase, data))
        if not phase:
            return dataclasses.replace(row, flaw=NO_PHASE.format(history.phase))
        row = dataclasses.replace(row, outcome=HAPPENED, process=json.dumps(process), phase=phase)
        if phase == CALL:
            return dataclasses.replace(row, args=filled(self.args.get(str(row.event), {}), data))
        if phase == RETURN and self.output is not None:
            return dataclasses.replace(row, output=self._output_of(data))
        return row

    def made(self, row: Row, fingerprint: str) -> Row:
        """A row `made` of an instance, which foreign traces do not have."""
        made = Row(row.instance, row.seq, row.machine, fingerprint, outcome="made")
        return dataclasses.replace(made, args=self.parameters)

    def to_json(self) -> Json:
        """The mapping as JSON; `mapping_of` reads it."""
        out: dict[str, Json] = dataclasses.asdict(self)
        out["skip"], out["hidden"] = list(self.skip), list(self.hidden)
        out["elsewhere"] = list(self.elsewhere)
        for name in ("first", "deadlines", "zone", "twice", "elsewhere"):
            if not out[name] or out[name] == "refuse":
                del out[name]  # Versions that do not know it can read the rest.
        if self.preparation is not None:
            out["preparation"] = preparation_table.to_json(self.preparation)
        return out


def _optional(path: str | None, data: Mapping[str, Any]) -> Any:
    """The value at a path; None where there is none."""
    try:
        return None if path is None else value_at(path, data)
    except MissingPath:
        return None


def _present(template: Any, data: Mapping[str, Any]) -> dict[str, Json]:
    """Those values of an object of templates whose paths have values."""
    out: dict[str, Json] = {}
    for name, each in template.items() if is_object(template) else ():
        try:
            out[name] = filled(each, data)
        except MissingPath:
            continue
    return out


KINDS: dict[str, type] = {
    "instance": str,
    "seq": str,
    "event": str,
    "output": str,
    "time": str,
    "unit": str,
    "zone": str,
    "twice": str,
    "dense": bool,
    "first": int,
    "skip": list,
    "elsewhere": list,
    "machine": str,
    "events": dict,
    "args": dict,
    "parameters": dict,
    "observed": dict,
    "combine": bool,
    "hidden": list,
    "attach": bool,
    "partial": bool,
    "deadlines": dict,
    "history": dict,
    "preparation": dict,
}


def mapping_of(data: Any) -> TraceMapping:
    """The mapping in a JSON object. Raises ValueError, which says what is wrong."""
    if not is_object(data):
        raise ValueError("a mapping has to be an object")
    given = {name: value for name, value in data.items() if value is not None}
    for name, value in given.items():
        if name not in KINDS:
            keys = nearest(name, KINDS, f"the keys are {', '.join(KINDS)}")
            raise ValueError(f"{name} is no key of a mapping; {keys}")
        if type(value) is not KINDS[name]:
            kind = preparation_table.KIND_NAMES[KINDS[name]]
            raise ValueError(f"{name} has to be {kind}, not {value!r}")
    how = preparation_table.preparation_of(given["preparation"]) if "preparation" in given else None
    given["preparation"] = how
    if "history" in given:
        given["history"] = history_of(given["history"])
    if how is not None and how.order:
        if given.setdefault("seq", NUMBER) not in ("", NUMBER):
            raise ValueError(f"seq and order = {how.order} both say which row is next; give one")
        if given.get("dense"):
            raise ValueError(f"dense is for numbers in rows, and order = {how.order} makes others")
        if how.order == "time" and "time" not in given:
            raise ValueError('order = "time" needs `time`')
    for name in ("instance", "seq", "event"):
        if not is_path(given.get(name)):
            raise ValueError(f'{name} has to be a path such as "$.{name}"')
    if why := _wrong_zone(given):
        raise ValueError(why)
    if not is_unit(str(given.get("unit", ISO))):
        units = ", ".join((*UNITS, ISO, ISO_NS))
        raise ValueError(f"unit has to be one of {units}, or a form of times, not {given['unit']}")
    if is_path(given.get("machine")):
        raise ValueError(f"machine has to be the name of a machine, not {given['machine']}")
    if why := wrong_deadlines(given.get("deadlines", {})):
        raise ValueError(why)
    for name in ("instance", "seq", "event", "output", "time", "args", "observed"):
        if why := wrong_template(given.get(name), functions=False):
            raise ValueError(f"{name}: {why}")
    known: dict[str, Any] = {
        **given,
        **{name: tuple(given.get(name, ())) for name in ("skip", "elsewhere", "hidden")},
    }
    return TraceMapping(**known)


def _wrong_zone(given: Mapping[str, Any]) -> str:
    """What is wrong in how local times are read; empty where nothing is."""
    if ("zone" in given or "twice" in given) and given.get("unit", "s") in UNITS:
        return (
            "zone and twice are for times that are texts, so unit has to be iso or a form of times"
        )
    return LocalTimes(given.get("zone", ""), given.get("twice", "refuse")).wrong()


def read_mapping(path: str | Path) -> TraceMapping:
    """The mapping in a file, JSON or TOML by its ending. Raises ReplayError."""
    try:
        return mapping_of(mapping_data(path))
    except (OSError, ValueError) as error:
        raise ReplayError(f"{path}: {error}") from error


def mapping_data(path: str | Path) -> Any:
    """What a file of mappings says. Raises OSError, and ValueError where it has another form."""
    text = Path(path).read_text(encoding="utf-8")
    return json.loads(text) if str(path).endswith(".json") else tomllib.loads(text)
