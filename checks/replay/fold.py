"""The fold over the rows of one instance: replays them in order and ends with a verdict.

The first row that deviates, or that cannot be replayed, decides the verdict; later rows are only
counted. `ReplayProgram` holds the IR of the machines, so another process can replay without the
source of the declarations.
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from lawful.runtime.elements import NO_ELEMENTS
from lawful.spec import ir
from lawful.spec.codec import as_json
from lawful.spec.ir import Json

from .deviations import Deviation, Inconclusive, Malformed
from .mapping import TraceMapping, mapping_of
from .row_step import Stepper
from .rows import WHOLE, Row, RowOf, journal_row

VERDICTS = ("fits", "open", "deviates", "inconclusive", "quarantined")
# Of two problems with one sequence number a duplicate is reported first: it does not depend on
# which copy of the row was read first.
DUPLICATE = -1
ELSEWHERE = -1  # The index of a problem of the whole instance.


@dataclass(frozen=True)
class ReplayProgram:
    """What a replay needs: the machines as IR. It can be pickled, in a few kilobytes.

    `anywhere`: instances may begin in any state; the state in their first row is trusted, even if
    the row says that the instance was just made.
    `mapping`: how to read traces that are not in the journal format.
    Raises ValueError where two machines have one name.
    """

    machines: tuple[ir.Machine, ...]
    anywhere: bool = False
    mapping: TraceMapping | None = None

    def __post_init__(self) -> None:
        names = [machine.name for machine in self.machines]
        if not names or len(set(names)) < len(names):
            raise ValueError(f"a replay takes one or more machines of different names, not {names}")
        if self.mapping is not None and not self.mapping.machine:
            if len(names) > 1:
                raise ValueError(f"the mapping does not say of which machine it is: {names}")
            mapping = dataclasses.replace(self.mapping, machine=names[0])
            object.__setattr__(self, "mapping", mapping)

    @cached_property
    def steppers(self) -> Mapping[str, Stepper]:
        """A stepper for each machine, by name; made when it is first needed in a process."""
        return {machine.name: Stepper(machine, self.anywhere) for machine in self.machines}

    @cached_property
    def text(self) -> str:
        """The program as JSON text; `program_of` reads it."""
        machines = [as_json.to_json(m, places=False) for m in self.machines]
        mapping = None if self.mapping is None else self.mapping.to_json()
        rest: dict[str, Json] = {"anywhere": self.anywhere, "mapping": mapping}
        return as_json.canonical({"machines": machines, **rest})

    @property
    def row_of(self) -> RowOf:
        """The function that makes a row of the JSON object in a line."""
        return journal_row if self.mapping is None else self.mapping.row_of

    @property
    def dense(self) -> bool:
        """Whether the rows of an instance are numbered from 0 without a gap."""
        return self.mapping is None or self.mapping.dense

    def __reduce__(self) -> tuple[Callable[[str], ReplayProgram], tuple[str]]:
        return program_of, (self.text,)


_known: dict[str, ReplayProgram] = {}


def program_of(text: str) -> ReplayProgram:
    """The program of a text; cached, because a worker process runs many tasks."""
    if text not in _known:
        data = json.loads(text)
        machines = tuple(as_json.from_json(each) for each in data["machines"])
        mapping = None if data["mapping"] is None else mapping_of(data["mapping"])
        _known[text] = ReplayProgram(machines, data["anywhere"], mapping)
    return _known[text]


@dataclass(frozen=True, slots=True)
class Finding:
    """The first problem of an instance.

    `kind` is its category, `clause` a sentence. `index` is the `seq` of the row, -1 for a problem
    of the whole instance. `control`, `state` and `legal` are the control state, the state and the
    possible events before the row.
    """

    kind: str
    index: int
    clause: str
    event: str | None = None
    control: str = ""
    state: Mapping[str, Json] = field(default_factory=dict[str, Json])
    legal: tuple[str, ...] = ()
    details: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True)
class InstanceVerdict:
    """The verdict on one instance, and what its rows covered up to the first problem.

    An instance of a machine that is not in the program has the verdict `other`.
    """

    instance: str
    machine: str
    verdict: str
    finding: Finding | None
    rows: int
    events: int
    transitions: Mapping[str, int]
    states: Mapping[str, int]


class Fold:
    """Replays the rows of one instance, in the order of their sequence numbers."""

    def __init__(self, program: ReplayProgram, instance: str) -> None:
        self.program = program
        self.instance = instance
        self.machine = ""
        self.first: tuple[int, str] | None = None
        self.stepper: Stepper | None = None
        self.state: Any = None
        self.universe = NO_ELEMENTS
        self.time: float | None = None
        self.next = 0
        self.rows = 0
        self.events = 0
        self.transitions: Counter[str] = Counter()
        self.states: Counter[str] = Counter()
        self.found: tuple[tuple[int, int], str, Finding] | None = None

    def take(self, row: Row) -> None:
        """Take the next row: count it and, unless a problem was found before, replay it."""
        self.count(row)
        if row.seq < 0:
            self.quarantine(ELSEWHERE, row.flaw)
        elif row.seq < self.next:
            self.quarantine(row.seq, "a sequence number twice", DUPLICATE)
        elif row.seq > self.next and self.program.dense and not self._begins(row):
            self.missing()
        else:
            self.next = row.seq + 1
            if self.found is None:
                self._judge_safely(row)

    def _begins(self, row: Row) -> bool:
        """Whether earlier files are missing, so that this row may be the first with any `seq`."""
        return self.next == 0 and row.outcome in WHOLE and row.outcome != "made"

    def count(self, row: Row) -> None:
        """Count a row, whether or not it is replayed."""
        self.rows += 1
        self.events += row.event is not None
        if row.machine:
            self.first = min(self.first or (row.seq, row.machine), (row.seq, row.machine))

    def missing(self) -> None:
        """Quarantine the instance: a later row was read, the next one was not."""
        self.quarantine(self.next, "a sequence number is missing")

    def quarantine(self, index: int, reason: str, rank: int = 0) -> None:
        """Quarantine the instance: its rows cannot be replayed from `index` on."""
        self._find("quarantined", Finding("quarantined", index, reason), rank)

    def _find(self, verdict: str, finding: Finding, rank: int = 0) -> None:
        place = finding.index, rank
        if self.found is None or place < self.found[0]:
            self.found = place, verdict, finding

    def end(self) -> InstanceVerdict:
        """The verdict, after the last row."""
        machine = self.first[1] if self.first is not None else ""
        verdict, finding = self._ended()
        if machine and machine not in self.program.steppers:
            verdict, finding = "other", None
        judged = verdict != "quarantined"
        return InstanceVerdict(
            self.instance,
            machine,
            verdict,
            finding,
            self.rows,
            self.events,
            dict(self.transitions) if judged else {},
            dict(self.states) if judged else {},
        )

    def _ended(self) -> tuple[str, Finding | None]:
        if self.found is not None:
            return self.found[1], self.found[2]
        if self.stepper is None or self.state is None:
            return "other", None
        self.stepper.universe = self.universe
        try:
            return ("fits" if self.stepper.ended(self.state) else "open"), None
        except Inconclusive as error:
            return "inconclusive", self._finding(self.next, "inconclusive", str(error), None)

    # One row.

    def _judge_safely(self, row: Row) -> None:
        try:
            self._judge(row)
        except Exception as error:
            # A defect of lawful in one instance must not end the replay of all others.
            what = f"a fault of lawful: {error.__class__.__name__}: {error}"
            self._find("inconclusive", Finding("inconclusive", row.seq, what, row.event))

    def _judge(self, row: Row) -> None:
        if row.flaw:
            self.quarantine(row.seq, row.flaw)
            return
        # An instance that was attached again may have another clock.
        before = None if row.outcome == "attached" else self.time
        if row.time is not None and before is not None and row.time < before:
            self.quarantine(row.seq, "time goes back")
            return
        self.time = row.time
        if self.machine == "":
            self.machine = row.machine
            self.stepper = self.program.steppers.get(row.machine)
        if self.machine != row.machine:
            self.quarantine(row.seq, "rows of two machines")
        elif self.stepper is not None:
            self._replay(self.stepper, row)

    def _replay(self, stepper: Stepper, row: Row) -> None:
        try:
            if self.state is None or row.outcome == "attached":
                self._begin(stepper, row)
            stepper.universe = self.universe
            after, taken = stepper.follow(self.state, row)
        except Malformed as error:
            self.quarantine(row.seq, str(error))
        except Inconclusive as error:
            found = self._finding(row.seq, "inconclusive", str(error), row)
            self._find("inconclusive", found)
        except Deviation as error:
            found = self._finding(row.seq, error.kind, error.clause, row, error.details)
            self._find("deviates", found)
        else:
            self.state, self.universe = after, stepper.universe
            if taken is not None:
                self.transitions[taken] += 1
            self.states[stepper.control(after)] += 1

    def _begin(self, stepper: Stepper, row: Row) -> None:
        """Prepare for the first row; of a foreign trace the mapping supplies a row `made`."""
        self.universe = stepper.universe_of(row)
        mapping = self.program.mapping
        if mapping is not None:
            stepper.universe = self.universe
            self.state, _ = stepper.follow(None, mapping.made(row, stepper.fingerprint))
            self.states[stepper.control(self.state)] += 1

    def _finding(
        self,
        index: int,
        kind: str,
        clause: str,
        row: Row | None,
        details: Mapping[str, Json] | None = None,
    ) -> Finding:
        stepper = self.stepper
        more: dict[str, Json] = dict(details or {})
        if row is not None:
            more["row"] = row_claims(row)
        if stepper is None or self.state is None:
            return Finding(kind, index, clause, row.event if row else None, details=more)
        event = row.event if row else None
        return Finding(
            kind,
            index,
            clause,
            event,
            stepper.control(self.state),
            stepper.shown(self.state),
            stepper.legal(self.state),
            more,
        )


def row_claims(row: Row) -> dict[str, Json]:
    """What a row records of its event, without the fields that it leaves out."""
    out: dict[str, Json] = {"args": dict(row.args), "outcome": row.outcome}
    for name in ("transition", "before", "after", "changed", "output"):
        value = getattr(row, name)
        if isinstance(value, None | bool | int | float | str | list | dict):
            out[name] = value
    return out


def fold(program: ReplayProgram, instance: str, rows: Iterable[Row]) -> InstanceVerdict:
    """The verdict on one instance, whose rows are given in order."""
    made = Fold(program, instance)
    for row in rows:
        made.take(row)
    return made.end()
