"""Packed instances as row folds, and the texts of row folds (`increments.fold_snapshots`) packed.

The fold of a packed instance is the one that the same rows would have left.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from lawful.runtime.elements import NO_ELEMENTS

from ..increments.continued_fold import ContinuedFold
from ..increments.fold_snapshots import restored
from ..increments.judged_rows import JudgedRows
from ..program import ReplayProgram
from ..rows import Row
from .packed_instances import Ordinary, PackedInstances
from .plain_machine import PlainMachine

# What the text of an instance says that can be packed. It may also count duplicates.
ORDINARY: Mapping[str, Any] = {
    **dict.fromkeys(("lost", "origin", "time")),
    **{name: [] for name in ("needs", "twice", "waiting", "problems", "seen", "open")},
    **{name: {} for name in ("universe", "latencies")},
    "stopped": False,
}


def fold_of(
    program: ReplayProgram, kept: PackedInstances, number: int, rows: list[Row], base: str
) -> ContinuedFold:
    """The row fold of a packed instance. `rows` are those of it in the log, `base` is the text that
    it had when it was packed, empty where it is not based on one."""
    name = kept.names[number]
    counts = {each: int(column[number]) for each, column in kept.counts.items()}
    fold = restored(program, name, base)[0] if base else ContinuedFold(program, name)
    if not rows:
        return fold
    if counts["rows"] == 1:
        fold.take(rows[0])
        return fold
    if not base:
        fold.known = JudgedRows(program.remembered, counts["since"])
    for row in rows:
        fold.known.add(row)
    *judged, held = rows if fold.held is None else (fold.held, *rows)
    for row in judged:
        fold.near.take(row)
    fold.held = held
    fold.next = counts["last"] + 1
    fold.rows, fold.events = counts["rows"], counts["judged"]
    fold.judged = counts["judged"] - (held.event is not None)
    _place(fold, kept, number)
    return fold


def _place(fold: ContinuedFold, kept: PackedInstances, number: int) -> None:
    """Put the fold into the state before the last row, with what was covered."""
    machine, first = kept.machine, int(kept.counts["first"][number])
    stepper = machine.steps.stepper
    made = Row(fold.instance, first, machine.name)
    stepper.universe = NO_ELEMENTS
    start, _ = stepper.follow(None, machine.layout.mapping.made(made, stepper.fingerprint))
    shown = dict(zip(machine.variables, kept.forms(number), strict=True))
    fold.stepper, fold.machine, fold.first = stepper, machine.name, (first, machine.name)
    fold.state = stepper.reader.state(shown, start)
    fold.transitions = _counter(machine.transitions, kept.transitions[number])
    fold.states = _counter(machine.members, kept.states[number])
    fold.states[machine.members[machine.begins_in]] += 1
    duplicates = int(kept.counts["duplicates"][number])
    fold.counts = Counter(duplicates=duplicates) if duplicates else Counter()


def _counter(names: list[str], counts: Any) -> Counter[str]:
    return Counter({n: c for n, c in zip(names, counts.tolist(), strict=True) if c})


def ordinary(machine: PlainMachine, text: str) -> Ordinary | None:
    """What the text of an instance says; None where it is not ordinary: it has a problem, rows
    wait, another version judged it."""
    data = json.loads(text)
    same = all(data[name] == value for name, value in ORDINARY.items())
    if not same or data["held"] is None or not data["counts"].keys() <= {"duplicates"}:
        return None
    if data["fingerprint"] not in (None, machine.fingerprint) or len(data["at"]) > 1:
        return None
    if data["machine"] not in ("", machine.name):
        return None
    states: Counter[str] = Counter(data["states"])
    forms = machine.initial
    if data["at"]:
        shown = data["at"][0]["variables"]
        forms = tuple(shown[name] for name in machine.variables)
        states[machine.members[machine.begins_in]] -= 1
    counts = {
        "rows": data["rows"],
        "judged": data["events"],
        "duplicates": data["counts"].get("duplicates", 0),
        "first": data["first"][0],
        "last": data["next"] - 1,
        "since": data["next"] - 1,
    }
    transitions = [data["transitions"].get(name, 0) for name in machine.transitions]
    return Ordinary(forms, transitions, [states[name] for name in machine.members], counts)
