"""The instances of a bucket as columns: what is known of each before its last row, and that row.

    JSON text: {"v": 2, "buckets": int, "mapping", "fingerprint", "events": [name], "chunks": [int],
                "names": [text], "packed": [0 | 1], "based": [0 | 1], "rows", "judged", ...: [int],
                "transitions": {name: [int]}, "states": {name: [int]}, "variables": {name: [JSON]}}
    Arrow stream: the last row of each instance, in the columns of the layout

An instance that is not `packed` has a text of its own, which `increments.fold_snapshots` makes; the
columns have zeros for it. `rows`, `judged` (those with an event), and `duplicates` count all rows;
`transitions` and `states` count what the rows before the last one covered. `first` and `last`
are numbers of rows. The rows after `since` are in the log of the bucket (`row_log`); those before
are forgotten, or where it is `based`, the text that the instance had when it was packed tells them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lawful.spec.ir import Json

from ..columnar.layout import EVENT, SEQ, Layout
from ..columnar.regular import arrow_types
from ..parquet import arrow
from ..sources import ReplayError
from .plain_machine import Forms, PlainMachine

VERSION = 2
FLAGS = ("packed", "based")
NUMBERS = ("rows", "judged", "duplicates", "first", "last", "since")
NOT_READ = "a bucket of states {}; begin with a new checkpoint, and replay the whole log"


@dataclass(frozen=True)
class Ordinary:
    """What the text of an ordinary instance says: its state before the row that is held, what was
    covered before that row, and the counts of `NUMBERS`."""

    forms: Forms
    transitions: list[int]
    states: list[int]
    counts: dict[str, int]


class PackedInstances:
    """The instances of one of so many buckets; each has a number, by which the columns are in
    order."""

    def __init__(self, machine: PlainMachine, buckets: int) -> None:
        self.machine = machine
        self.buckets = buckets
        self.mapping = machine.layout.mapping.to_json()
        self.fingerprint = machine.fingerprint
        self.names: list[str] = []
        self.numbers: dict[str, int] = {}
        self.flags: dict[str, Any] = {name: np.zeros(0, dtype=bool) for name in FLAGS}
        self.counts: dict[str, Any] = {name: np.zeros(0, dtype=np.int64) for name in NUMBERS}
        self.transitions: Any = np.zeros((0, len(machine.transitions)), dtype=np.int64)
        self.states: Any = np.zeros((0, len(machine.members)), dtype=np.int64)
        self.variables: list[list[Json]] = [[] for _ in machine.variables]
        self.last_rows = row_types(machine.layout).empty_table()
        self.chunks: list[int] = []  # The numbers of the chunks of the log.

    def add(self, names: Sequence[str]) -> None:
        """Add new instances, which are not packed yet."""
        for name in names:
            self.numbers[name] = len(self.names)
            self.names.append(name)
        more = len(names)
        for of in (self.flags, self.counts):
            for name, column in of.items():
                of[name] = np.r_[column, np.zeros(more, dtype=column.dtype)]
        self.transitions, self.states = (
            np.vstack((table, np.zeros((more, table.shape[1]), dtype=np.int64)))
            for table in (self.transitions, self.states)
        )
        for forms in self.variables:
            forms.extend([None] * more)
        schema = self.last_rows.schema
        pa = arrow()
        none = pa.table([pa.nulls(more, each.type) for each in schema], schema=schema)
        self.last_rows = pa.concat_tables([self.last_rows, none])

    def forms(self, number: int) -> Forms:
        """The state of an instance before its last row."""
        return tuple(column[number] for column in self.variables)

    def keep_forms(self, number: int, forms: Forms) -> None:
        """Keep the state of an instance."""
        for column, form in zip(self.variables, forms, strict=True):
            column[number] = form

    def keep_last_rows(self, numbers: Any, rows: Any) -> None:
        """Keep the last rows of these instances, of a table with a row for each."""
        at = np.arange(len(self.names))
        at[numbers] = len(self.names) + np.arange(len(numbers))
        both = arrow().concat_tables([self.last_rows, rows.select(self.last_rows.column_names)])
        self.last_rows = both.take(arrow().array(at)).combine_chunks()

    def pack(self, number: int, found: Ordinary, last_row: Any) -> None:
        """Pack an instance, of which its text tells what the rows so far did; of the last row there
        is a table."""
        for flag in self.flags.values():
            flag[number] = True
        for name, count in found.counts.items():
            self.counts[name][number] = count
        self.transitions[number], self.states[number] = found.transitions, found.states
        self.keep_forms(number, found.forms)
        self.keep_last_rows(np.array([number]), last_row)

    def unpack(self, number: int) -> None:
        """The instance has a text of its own from now on."""
        for flag in self.flags.values():
            flag[number] = False
        for column in self.counts.values():
            column[number] = 0
        self.transitions[number] = self.states[number] = 0
        self.keep_forms(number, (None,) * len(self.variables))

    def written(self) -> tuple[str, bytes]:
        """The columns as a text, and the last rows."""
        machine = self.machine
        out: dict[str, Any] = {
            "v": VERSION,
            "buckets": self.buckets,
            "mapping": self.mapping,
            "fingerprint": self.fingerprint,
            "events": machine.layout.names,
            "chunks": self.chunks,
            "names": self.names,
            **{name: flag.astype(int).tolist() for name, flag in self.flags.items()},
            **{name: column.tolist() for name, column in self.counts.items()},
            "transitions": _named(machine.transitions, self.transitions),
            "states": _named(machine.members, self.states),
            "variables": dict(zip(machine.variables, self.variables, strict=True)),
        }
        # In ASCII, because a value may say what UTF-8 does not have.
        return json.dumps(out, separators=(",", ":")), stream_of(self.last_rows)

    def read(self, data: Mapping[str, Any], last_rows: bytes) -> None:
        """Take over what was written. ReplayError where it has another form."""
        machine = self.machine
        try:
            if [*data["events"]] != [*machine.layout.names]:
                raise ReplayError(NOT_READ.format("with other columns of rows"))
            self.add(data["names"])
            for name in FLAGS:
                self.flags[name] = np.array(data[name], dtype=bool)
            for name in NUMBERS:
                self.counts[name] = np.array(data[name], dtype=np.int64)
            self.transitions = _table(data["transitions"], machine.transitions)
            self.states = _table(data["states"], machine.members)
            self.variables = [data["variables"][name] for name in machine.variables]
            self.chunks = data["chunks"]
            rows = table_of(last_rows)
        except (LookupError, TypeError, ValueError) as error:
            what = f"that cannot be read ({error.__class__.__name__}: {error})"
            raise ReplayError(NOT_READ.format(what)) from error
        if rows.schema != self.last_rows.schema:
            raise ReplayError(NOT_READ.format("with other columns of rows"))
        self.last_rows = rows


def data_of(text: str) -> dict[str, Any]:
    """The JSON of the text of a bucket; ReplayError for one of another format."""
    data: dict[str, Any] = json.loads(text)
    if data["v"] != VERSION:
        what = f"of another format, version {data['v']}; this lawful reads {VERSION}"
        raise ReplayError(NOT_READ.format(what))
    return data


def _named(names: Sequence[str], table: Any) -> dict[str, list[int]]:
    return dict(zip(names, table.T.tolist(), strict=True))


def _table(columns: Mapping[str, Any], names: Sequence[str]) -> Any:
    return np.array([columns[name] for name in names], dtype=np.int64).T.copy()


def row_types(layout: Layout) -> Any:
    """The columns of the rows that are kept: number, event, and what the mapping reads."""
    whole = arrow_types(layout)
    return arrow().schema([whole.field(name) for name in (SEQ, EVENT, *layout.paths)])


def stream_of(table: Any) -> bytes:
    """A table as bytes."""
    pa = arrow()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    out: bytes = sink.getvalue().to_pybytes()
    return out


def table_of(data: bytes) -> Any:
    """The table of these bytes; ValueError where they are none."""
    return arrow().ipc.open_stream(arrow().py_buffer(data)).read_all()
