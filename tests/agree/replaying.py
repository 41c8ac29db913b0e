"""The journal and its replay beside the reference: rows fit, and rows with one lie do not."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

from lawful import Ambiguous, PropertyViolated, Refused, Undefined
from lawful.checks.conform.instances import InstanceDriver
from lawful.checks.replay.deviations import Deviation, Inconclusive, Malformed
from lawful.checks.replay.difference import same
from lawful.checks.replay.row_step import Stepper
from lawful.checks.replay.rows import Rejected, journal_row
from lawful.runtime.elements import Elements
from lawful.runtime.instances import change_forms
from lawful.runtime.instances.merging import Merging
from lawful.runtime.journal import Journal, read
from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.codec.as_json import is_list, is_object
from lawful.spec.values.world import encode
from tests.agree.hits import Hits
from tests.agree.kinds import Some

Written = tuple[str, str, tuple[Any, ...]]  # Its instance, the event, the arguments.
FAULTS = (Undefined, PropertyViolated, Ambiguous)


class Replaying:
    """Writes a journal of single events, each of an instance of its own, and follows the rows."""

    def __init__(
        self, running: InstanceDriver, loaded: ir.Machine, rng: Random, hits: Hits
    ) -> None:
        self.running = running
        self.rng = rng
        self.hits = hits
        self.machine = running.resolved.machine
        # The kernel knows the machine from JSON alone, and makes its own classes.
        self.stepper = Stepper(loaded, anywhere=True)
        sorts = {k.name for k in loaded.types if isinstance(k, t.Sort)}
        self.stepper.universe = Elements(
            {
                name: tuple(self.stepper.world.sorts[name](e) for e in elements)
                for name, elements in self._elements()
                if name in sorts
            }
        )
        self.known = {sort.__name__: tuple(row) for sort, row in running.universe.items()}
        self.count = 0
        whole = (self.machine, *self.machine.parts)
        self.ghosts = any(v.ghost for m in whole for v in m.variables)

    def open(self, path: Path) -> None:
        """Begin a journal whose rows tell changes of small containers, too."""
        self.least, change_forms.LEAST = change_forms.LEAST, 0
        self.path = path
        self.journal = Journal(path, buffer=10_000)

    def _elements(self) -> list[tuple[str, list[str]]]:
        return [(sort.__name__, list(names)) for sort, names in self.running.universe.items()]

    def take(self, state: Any, event: str, args: tuple[Any, ...]) -> None:
        """One event of a new instance in that state."""
        entry = self.running.instance(state)
        detach = self.journal.attach(entry, f"i{self.count}")
        self.count += 1
        try:
            entry.lawful.take(event, *args)
        except (Refused, *FAULTS):
            pass
        detach()

    def differences(self) -> list[str]:
        """Rows that do not fit, and lies that do."""
        self.journal.close()
        change_forms.LEAST = self.least
        rows: dict[str, list[dict[str, Any]]] = {}
        for row in read(self.path):
            rows.setdefault(row["instance"], []).append(row)
        self.path.unlink()
        found: list[str] = []
        for pair in rows.values():
            if len(pair) == 2:  # A fault is no event: it leaves no row.
                found += self._judged(pair[0], pair[1])
        return found

    def _judged(self, made: dict[str, Any], row: dict[str, Any]) -> list[str]:
        self.hits.add("total", "comparisons by replay", 2)
        self.hits.add("total", "comparisons", 2)
        state = self._follow(None, made)
        if isinstance(state, str):
            if "is false of the parameters" in state or "has no value here" in state:
                return []  # Any parameters were drawn, and an `@assume` is not true of them.
            return [f"replay: {made} does not fit: {state}"]
        after = self._follow(state, row)
        erased = self.ghosts and isinstance(after, str)
        if erased and after.startswith(("Deviation: bounds: ", "Deviation: undefined: ")):
            self.hits.add("kept aside", "a ghost is erased")
            return []
        if isinstance(after, str):
            return [f"replay: {row} from {made['changed']} does not fit: {after}"]
        lie = self._lie(made, row)
        if lie is not None and not isinstance(self._follow(state, lie), str):
            return [f"replay: the lie {lie} for {row} from {made['changed']} fits"]
        return []

    def _follow(self, state: Any, data: dict[str, Any]) -> Any:
        """The state after, or why the row does not fit."""
        row = journal_row(json.loads(json.dumps(data)), "")
        if isinstance(row, Rejected):
            return f"rejected: {row.reason}"
        if row.flaw:
            return f"flaw: {row.flaw}"
        try:
            return self.stepper.follow(state, row)[0]
        except (Deviation, Malformed, Inconclusive) as error:
            return f"{type(error).__name__}: {error}"

    def _lie(self, made: dict[str, Any], row: dict[str, Any]) -> dict[str, Any] | None:
        """The same row with one thing changed."""
        rows: list[dict[str, Any]] = []
        values = Merging(made["changed"])  # Of a container a row may tell what differs, or all.
        values.take(row["changed"])
        after = values.result()
        event = self.machine.event(row["event"])
        if row["outcome"] == "done" and not same(row["output"], self._other(event.output)):
            rows.append({**row, "output": self._other(event.output)})
        for v in self.machine.variables:
            if v.ghost or any(t.contains(v.type, k) for k in (t.Part, t.Timer, t.Clock)):
                continue
            told = self._other(v.type)
            if v.name in row["changed"] and not same(_in_order(told), _in_order(after[v.name])):
                rows.append({**row, "changed": {**row["changed"], v.name: told}})
        if row["after"] is not None:
            other = next(m for m in ("IDLE", "BUSY", "OVER") if m != row["after"])
            rows.append({**row, "after": other})
        found = self.rng.choice(rows) if rows else None
        if found is None:
            return None
        return found if any(not same(found[k], row[k]) for k in row) else None

    def _other(self, kind: t.Type) -> Any:
        """The JSON form of some value."""
        if isinstance(kind, t.Float):
            return 7.5
        return encode(Some(self.rng, self.running.resolved.world, self.known).of(kind), kind)


def _in_order(data: Any) -> Any:
    """A JSON form in which equal values are equal, whatever entries were changed last."""
    if is_list(data):
        return [_in_order(each) for each in data]
    if not is_object(data):
        return data
    if "$set" in data:
        return sorted(map(json.dumps, data["$set"]))
    rows: Any = data.get("$map", data.items())
    return {json.dumps(k): _in_order(v) for k, v in rows}


def ways(machine: ir.Machine) -> list[str]:
    """The names by which events are called."""
    several = {e.name for e in machine.events if e.choice and len(machine.serving(e.name)) > 1}
    names = [e.name for e in machine.events if e.name not in several]
    return names + [row.name for row in machine.transitions if row.name not in names]
