"""What a replay found, in all: counts, and the first findings of each kind.

Tallies merge, in any order and grouping, into the same tally: each part of the rows is tallied
where it is folded, and only these few kilobytes travel.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .fold import Finding, InstanceVerdict
from .rows import Rejected

PER_KIND = 3  # Findings shown of each kind: those of the first instances by name.
KINDS = 200  # Kinds shown, the first by name; all are counted.
NAMED = 1000  # Instances whose verdict is listed, the first by name.

Kind = tuple[str, ...]
Row = tuple[str, Finding]


@dataclass
class Shown:
    """How often each kind was found, and the first few of it."""

    totals: Counter[Kind] = field(default_factory=Counter[Kind])
    rows: dict[Kind, list[Row]] = field(default_factory=dict[Kind, list[Row]])

    def add(self, kind: Kind, rows: Iterable[Row], total: int = 1) -> None:
        """Count, and keep what comes first by instance."""
        self.totals[kind] += total
        kept = [*self.rows.get(kind, ()), *rows]
        self.rows[kind] = sorted(kept, key=lambda row: (row[0], row[1].index))[:PER_KIND]
        if len(self.rows) > KINDS:
            del self.rows[max(self.rows)]

    def merge(self, other: Shown) -> None:
        """Take over what another has."""
        for kind, total in other.totals.items():
            self.add(kind, other.rows.get(kind, ()), total)


@dataclass
class Tally:
    """The counts of one machine's instances, or of rows that belong to none."""

    instances: int = 0
    rows: int = 0
    events: int = 0
    verdicts: Counter[str] = field(default_factory=Counter[str])
    transitions: Counter[str] = field(default_factory=Counter[str])
    states: Counter[str] = field(default_factory=Counter[str])
    found: Shown = field(default_factory=Shown)
    named: dict[str, str] = field(default_factory=dict[str, str])

    def add(self, judged: InstanceVerdict) -> None:
        """Count one instance."""
        self.instances += 1
        self.rows += judged.rows
        self.events += judged.events
        self.verdicts[judged.verdict] += 1
        self.transitions.update(judged.transitions)
        self.states.update(judged.states)
        self._name({judged.instance: judged.verdict})
        finding = judged.finding
        if finding is not None:
            what = finding.clause if judged.verdict == "quarantined" else finding.control
            kind = (judged.verdict, finding.kind, finding.event or "", what)
            self.found.add(kind, [(judged.instance, finding)])

    def merge(self, other: Tally) -> None:
        """Take over what another has."""
        self.instances += other.instances
        self.rows += other.rows
        self.events += other.events
        self.verdicts.update(other.verdicts)
        self.transitions.update(other.transitions)
        self.states.update(other.states)
        self.found.merge(other.found)
        self._name(other.named)

    def _name(self, named: Mapping[str, str]) -> None:
        self.named.update(named)
        if len(self.named) > 2 * NAMED:
            self.trim()

    def trim(self) -> None:
        """Forget the verdicts of all but the first instances."""
        self.named = {name: self.named[name] for name in sorted(self.named)[:NAMED]}


@dataclass
class Tallies:
    """A tally for each machine by name, and what was rejected by reason."""

    machines: dict[str, Tally] = field(default_factory=dict[str, Tally])
    rejected: Shown = field(default_factory=Shown)

    def add(self, judged: InstanceVerdict) -> None:
        """Count one instance under its machine; one whose machine is not known under no name."""
        self.machines.setdefault(judged.machine, Tally()).add(judged)

    def reject(self, rejected: Rejected) -> None:
        """Count a row that belongs to no instance."""
        finding = Finding("rejected", -1, rejected.reason)
        self.rejected.add((rejected.reason,), [(rejected.text, finding)])

    def merge(self, other: Tallies) -> None:
        """Take over what another has."""
        for name, tally in other.machines.items():
            self.machines.setdefault(name, Tally()).merge(tally)
        self.rejected.merge(other.rejected)
