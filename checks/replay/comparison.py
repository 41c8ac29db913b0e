"""The comparison of one row with what the machine does in its place."""

from __future__ import annotations

from collections.abc import Mapping

from lawful.runtime.instances.container_changes import is_change
from lawful.spec import ir
from lawful.spec.ir import Json
from lawful.spec.values.world import encode

from ..reference import Done
from ..reference.states import State
from .deviations import Deviation, Malformed
from .difference import pair, same, sentence
from .mapping import HAPPENED
from .row_state import Read, StateForm, may_be_none
from .rows import Absent, Row
from .told_containers import changed, key_of_parts, parts_changed

KINDS = (
    "output",
    "changed",
    "observed",
    "after",
    "before",
)  # What of a row is compared; first kind first.


class Comparison:
    """Compares rows with the steps of one machine.

    `rows` are its transitions by name; `read(name, data, type)` turns the JSON form of a value into
    the value, or raises.
    """

    def __init__(self, form: StateForm, rows: Mapping[str, ir.Transition], read: Read) -> None:
        self.form = form
        self.rows = rows
        told = {event.name for event in form.machine.events if not may_be_none(event.output)}
        self.never_none = {row.name for row in rows.values() if row.event in told}
        self.read = read

    def check(self, row: Row, before: State | None, done: Done) -> None:
        """Raise Deviation with every difference between the row and the machine."""
        found: dict[str, Json] = {}
        if before is not None:
            self._control(found, "before", row.before, before)
        self._output(found, row, done)
        if not isinstance(row.changed, Absent):
            self._changed(found, row.changed, before, done.state)
        self._control(found, "after", row.after, done.state)
        self._observed(found, row.observed, done.state)
        if found:
            kind = next(k for k in KINDS if any(name.split(".")[0] == k for name in found))
            raise Deviation(kind, sentence(found), done.state, differs=found)

    def _output(self, found: dict[str, Json], row: Row, done: Done) -> None:
        """A foreign row without an output says that it was None, if it may be None; otherwise it
        says nothing."""
        told, mine = row.output, done.output
        if isinstance(told, Absent):
            return
        if told is None and row.outcome == HAPPENED and done.transition in self.never_none:
            return
        if mine is not None:
            mine = encode(mine, self.rows[done.transition].function.output)
        if not same(told, mine):
            found["output"] = pair(told, mine)

    def _control(
        self, found: dict[str, Json], name: str, recorded: Json | Absent, state: State
    ) -> None:
        if isinstance(recorded, Absent):
            return
        if recorded is None and not self.form.always_told:
            return  # An older journal, whose rows told of a variable `state` alone.
        whole = isinstance(recorded, dict)
        mine: Json = self.form.shown(state) if whole else self.form.control(state) or None
        if not same(recorded, mine):
            found[name] = pair(recorded, mine)

    def _observed(self, found: dict[str, Json], told: Mapping[str, Json], after: State) -> None:
        """Compare what a foreign row says of variables after the event."""
        for name, recorded in self.form.told(told).items():
            mine = self.form.at(after, name)
            if isinstance(mine, Absent):
                raise Malformed(f"`observed` has {name}, which is no variable")
            if not same(recorded, mine):
                found[f"observed.{name}"] = pair(recorded, mine)

    def _changed(
        self, found: dict[str, Json], rows: Mapping[str, Json], before: State | None, after: State
    ) -> None:
        mine: dict[str, Json] = {}
        rows = dict(rows)
        for i, v in self.form.kept:
            if before is not None and is_change(data := rows.get(v.name)):
                if (key := key_of_parts(v.type)) is not None:
                    rows[v.name] = parts_changed(
                        v.name, self.form.json(before[i], v.type), data, key
                    )
                    continue
                value = changed(v.name, before[i], data, v.type, self.read)
                if value == after[i]:
                    del rows[v.name]
                    continue
                rows[v.name] = self.form.json(value, v.type)
            if before is None or (after[i] is not before[i] and after[i] != before[i]):
                mine.update(self.form.changes(v, None if before is None else before[i], after[i]))
        for name in sorted(mine.keys() | rows.keys()):
            # A variable that was assigned the value it had may stand in the row or not.
            value = mine[name] if name in mine else self.form.at(after, name)
            if isinstance(value, Absent):
                found[f"changed.{name}"] = pair(rows[name], "(no such variable)")
                continue
            within = any(name.startswith(f"{whole}.") for whole in rows)
            if not same(rows[name], value) if name in rows else not within:
                found[f"changed.{name}"] = pair(rows.get(name, "(not recorded)"), value)
