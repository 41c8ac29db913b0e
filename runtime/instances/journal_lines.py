"""Journal rows as lines of text: the same as `journal_rows`, without making the data.

The data of a row cost more than its text. So the line of an event that ran is put together from
texts: of its way, which are made once for a machine, and of its values. Any other row, and one in
which something is hidden, is made as data first. A line has no last brace yet and no checksum: who
writes the file adds both (`row_checksums`).
"""

from __future__ import annotations

import time as clocks
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from ..json_text import (
    Column,
    Texter,
    column,
    object_text,
    text_of,
    text_of_name,
    text_of_time,
    texter,
)
from ..kernel.event_record import Stepped
from ..kernel.plan import Plan
from ..kernel.state import State
from .access import behaviour_of
from .journal_rows import VERSION, Hidden, RowWriter, Written, former


@dataclass(frozen=True, slots=True)
class _Line:
    """The parts of all lines of one transition, called by one way."""

    head: str
    args: tuple[Column, ...]
    output: Texter


class _Lines(dict[tuple[str, str | None], _Line]):
    """The parts of lines of one machine, by ways and transitions."""

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self.plan = plan

    def __missing__(self, key: tuple[str, str | None]) -> _Line:
        plan, (name, transition) = self.plan, key
        step = plan.steps[name]
        event = plan.steps[step.event]
        args = tuple(column(param, kind, former(kind)) for param, kind in step.params)
        head = {"machine": plan.name, "fingerprint": behaviour_of(plan), "event": event.name}
        text = text_of({**head, "transition": transition})
        output = texter(event.output, former(event.output))
        made = self[key] = _Line(f',{text[1:-1]},"args":', args, output)
        return made


_KNOWN: WeakKeyDictionary[type[Any], _Lines] = WeakKeyDictionary()


class LineWriter(RowWriter):
    """Makes the lines of one instance and passes each to `put(writer, line)`, which stores
    `writer.next` as `RowWriter` says."""

    def __init__(
        self,
        entry: State,
        instance: str,
        put: Callable[[LineWriter, str], None],
        hidden: Hidden | None = None,
        refused: bool = True,
    ) -> None:
        super().__init__(entry, instance, self._row, hidden, refused)
        self.put = put
        self.lines = _KNOWN.setdefault(type(entry), _Lines(self.plan))
        self.head = f'{{"v":{VERSION},"instance":{text_of(instance)},"seq":'
        self.as_text = hidden is None and self.clock is None

    def _row(self, _: RowWriter, row: dict[str, Any]) -> None:
        self.put(self, text_of(row)[:-1])

    def stepped(self, done: Stepped) -> None:
        if not self.as_text or done.outcome != "done":
            super().stepped(done)
            return
        line, at = self.lines[done.way.name, done.transition], self.at
        changed = self.forms.teller.text(done)
        self.next = Written(at.seq + 1, at.tick, done)
        self.put(
            self,
            f'{self.head}{at.seq},"time":{text_of_time(done.time)}'
            f'{line.head}{object_text(line.args, done.given)},"outcome":"done"'
            f',"before":{text_of_name(done.before)},"after":{text_of_name(done.after)}'
            f',"changed":{changed},"output":{line.output(done.output)}'
            f',"why":null,"wall":{text_of_time(clocks.time())}',
        )
