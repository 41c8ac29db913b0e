"""Journal rows as lines of text: the same as `journal_rows`, without making the data.

The data of a row cost more than its text. So the line of an event that ran is put together from
texts: of its way, which are made once for a machine, and of its values. Any other row, and one in
which something is hidden, is made as data first. A line has no last brace yet and no checksum: who
writes the file adds both (`row_checksums`).
"""

from __future__ import annotations

import ast
import time as clocks
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from ..compile.python_ast import name
from ..json_text import text_of
from ..kernel.event_record import Stepped
from ..kernel.state import State
from .access import behaviour_of
from .journal_rows import VERSION, Hidden, RowWriter, Written
from .row_code import Function, RowCode, joined


class _Lines(RowCode):
    """The functions that make the lines of a machine's events."""

    PARAMS = ("head", "seq", "wall")

    def body(self, function: Function) -> list[ast.stmt]:
        """Return the line."""
        fixed = {
            "machine": self.plan.name,
            "fingerprint": behaviour_of(self.plan),
            "event": function.event.name,
            "transition": function.transition,
        }
        line = joined(
            *(name("head"), name("seq"), ',"time":', *function.time()),
            *(f',{text_of(fixed)[1:-1]},"args":', *function.args()),
            *(',"outcome":"done","before":', *function.control("before")),
            *(',"after":', *function.control("after")),
            *(',"changed":', name("changed"), ',"output":', *function.output()),
            *(',"why":null,"wall":', name("wall")),
        )
        return [ast.Return(line)]


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
        self.lines = _KNOWN.setdefault(type(entry), _Lines(self.plan, self.forms.teller))
        self.head = f'{{"v":{VERSION},"instance":{text_of(instance)},"seq":'
        self.as_text = hidden is None and self.clock is None

    def _row(self, _: RowWriter, row: dict[str, Any]) -> None:
        self.put(self, text_of(row)[:-1])

    def stepped(self, done: Stepped) -> None:
        of, at = done.record, self.at
        if not self.as_text or of[7] is not None or of[3] is None:  # Refused, or ignored.
            super().stepped(done)
            return
        line = self.lines[of[1].name, of[3], of[9]]
        text = line(done, self.head, at.seq, repr(clocks.time()))
        self.next = Written(at.seq + 1, at.tick, done)
        self.put(self, text)
