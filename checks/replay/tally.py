"""Counts of a replay: verdicts, coverage, and the first findings of each kind.

Merging is associative and commutative: each Spark task tallies its own instances, and only the
tallies, a few kilobytes each, are sent to the driver.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .fold import Finding, InstanceVerdict
from .rows import Rejected

PER_KIND = 3  # Findings that are kept of each kind: those of the first instances by name.
KINDS = 200  # Kinds with findings that are kept, the first by name; all kinds are counted.
NAMED = 1000  # Instances whose verdict is kept, the first by name.

FindingKind = tuple[str, ...]
InstanceFinding = tuple[str, Finding]


@dataclass
class Findings:
    """The number of findings of each kind, and the first few of each."""

    totals: Counter[FindingKind] = field(default_factory=Counter[FindingKind])
    rows: dict[FindingKind, list[InstanceFinding]] = field(
        default_factory=dict[FindingKind, list[InstanceFinding]]
    )

    def add(self, kind: FindingKind, rows: Iterable[InstanceFinding], total: int = 1) -> None:
        """Count findings of a kind, and keep those of the first instances."""
        self.totals[kind] += total
        kept = [*self.rows.get(kind, ()), *rows]
        self.rows[kind] = sorted(kept, key=lambda row: (row[0], row[1].index))[:PER_KIND]
        if len(self.rows) > KINDS:
            del self.rows[max(self.rows)]

    def merge(self, other: Findings) -> None:
        """Add the counts of another."""
        for kind, total in other.totals.items():
            self.add(kind, other.rows.get(kind, ()), total)


@dataclass
class Tally:
    """The counts of the instances of one machine; `named` has verdicts by instance."""

    instances: int = 0
    rows: int = 0
    events: int = 0
    verdicts: Counter[str] = field(default_factory=Counter[str])
    transitions: Counter[str] = field(default_factory=Counter[str])
    states: Counter[str] = field(default_factory=Counter[str])
    found: Findings = field(default_factory=Findings)
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
        """Add the counts of another."""
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
        """Drop the verdicts of all but the first `NAMED` instances."""
        self.named = {name: self.named[name] for name in sorted(self.named)[:NAMED]}


@dataclass
class Tallies:
    """A tally for each machine, by name, and the rejected rows by reason."""

    machines: dict[str, Tally] = field(default_factory=dict[str, Tally])
    rejected: Findings = field(default_factory=Findings)

    def add(self, judged: InstanceVerdict) -> None:
        """Count one instance under its machine, or under "" where no row names its machine."""
        self.machines.setdefault(judged.machine, Tally()).add(judged)

    def reject(self, rejected: Rejected) -> None:
        """Count a row that belongs to no instance."""
        finding = Finding("rejected", -1, rejected.reason)
        self.rejected.add((rejected.reason,), [(rejected.text, finding)])

    def merge(self, other: Tallies) -> None:
        """Add the counts of another."""
        for name, tally in other.machines.items():
            self.machines.setdefault(name, Tally()).merge(tally)
        self.rejected.merge(other.rejected)
