"""Counts of a replay: verdicts, coverage, and the first findings of each kind.

Merging is associative and commutative: each Spark task tallies its own instances, and only the
tallies, a few kilobytes each, are sent to the driver.
"""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from lawful.spec.ir import Json

from .problems import Finding, FindingKind, FittingInstances, InstanceVerdict
from .rows import Rejected

PER_KIND = 3  # Findings that are kept of each kind: those of the first instances by name.
KINDS = 200  # Kinds with findings that are kept, the first by name; all kinds are counted.
NAMED = 1000  # Instances whose verdict is kept, the first by name.

InstanceFinding = tuple[str, Finding]
Judged = InstanceVerdict | FittingInstances | Rejected


@dataclass
class Findings:
    """The problems of each kind: how many instances have such problems, how many problems there
    are, and the first few instances; all of them with `every`.
    """

    every: bool = False
    totals: Counter[FindingKind] = field(default_factory=Counter[FindingKind])
    counts: Counter[FindingKind] = field(default_factory=Counter[FindingKind])
    rows: dict[FindingKind, list[InstanceFinding]] = field(
        default_factory=dict[FindingKind, list[InstanceFinding]]
    )

    def add(self, kind: FindingKind, name: str, finding: Finding, new: bool = True) -> None:
        """Count the finding of an instance; `new` says whether it is its first of this kind."""
        self.totals[kind] += new
        self.counts[kind] += finding.count
        self.keep(kind, [(name, finding)])

    def keep(self, kind: FindingKind, rows: Iterable[InstanceFinding]) -> None:
        """Keep these findings, or those of the first instances."""
        kept = self.rows.setdefault(kind, [])
        for row in rows:
            insort(kept, row, key=_place)
        if not self.every:
            del kept[PER_KIND:]
            if len(self.rows) > KINDS:
                del self.rows[max(self.rows)]

    def changed(self, change: Callable[[Finding], Finding]) -> Findings:
        """The same with each kept finding changed."""
        out = Findings(self.every, self.totals, self.counts)
        for kind, rows in self.rows.items():
            out.keep(kind, [(name, change(finding)) for name, finding in rows])
        return out

    def merge(self, other: Findings) -> None:
        """Add the counts of another."""
        self.totals.update(other.totals)
        self.counts.update(other.counts)
        for kind, rows in other.rows.items():
            self.keep(kind, rows)


def _place(row: InstanceFinding) -> tuple[str, int, str]:
    name, finding = row
    return name, finding.index, str(finding.details.get("file", ""))


@dataclass
class Tally:
    """The counts of the instances of one machine; `named` has verdicts by instance.

    `counts` has what `problems.COUNTS` names.
    """

    every: bool = False
    instances: int = 0
    rows: int = 0
    events: int = 0
    verdicts: Counter[str] = field(default_factory=Counter[str])
    transitions: Counter[str] = field(default_factory=Counter[str])
    states: Counter[str] = field(default_factory=Counter[str])
    counts: Counter[str] = field(default_factory=Counter[str])
    latencies: Counter[str] = field(default_factory=Counter[str])
    found: Findings = field(default_factory=Findings)
    named: dict[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        self.found.every = self.every

    def add(self, judged: InstanceVerdict) -> None:
        """Count one instance."""
        self.instances += 1
        self.rows += judged.rows
        self.events += judged.events
        self.verdicts[judged.verdict] += 1
        self.transitions.update(judged.transitions)
        self.states.update(judged.states)
        self.counts.update(judged.counts)
        self.latencies.update(judged.latencies)
        self._name({judged.instance: judged.verdict})
        seen: set[FindingKind] = set()
        for finding in judged.findings:
            self.found.add(finding.key, judged.instance, finding, finding.key not in seen)
            seen.add(finding.key)

    def add_fitting(self, these: FittingInstances) -> None:
        """Count instances that have no problem."""
        self.instances += len(these.names)
        self.rows += sum(these.rows)
        self.events += sum(these.events)
        self.counts["judged"] += sum(these.events)
        self.verdicts.update(these.verdicts)
        self.transitions.update(these.transitions)
        self.states.update(these.states)
        self._name(dict(zip(these.names, these.verdicts, strict=True)))

    def merge(self, other: Tally) -> None:
        """Add the counts of another."""
        self.instances += other.instances
        self.rows += other.rows
        self.events += other.events
        self.verdicts.update(other.verdicts)
        self.transitions.update(other.transitions)
        self.states.update(other.states)
        self.counts.update(other.counts)
        self.latencies.update(other.latencies)
        self.found.merge(other.found)
        self._name(other.named)

    def _name(self, named: Mapping[str, str]) -> None:
        self.named.update(named)
        if len(self.named) > 2 * NAMED:
            self.trim()

    def trim(self) -> None:
        """Drop the verdicts of all but the first `NAMED` instances."""
        if not self.every:
            self.named = {name: self.named[name] for name in sorted(self.named)[:NAMED]}


@dataclass(frozen=True)
class Demands:
    """What the log as a whole has to be like, or the replay fails: some event has to be judged
    unless `allow_empty`, and at most the share `unknown_events` may be none of the machine's.
    """

    allow_empty: bool = False
    unknown_events: float = 0.01

    def failures(self, events: int, counts: Mapping[str, int]) -> tuple[str, ...]:
        """What the log lacks, as sentences; `counts` has what `problems.COUNTS` names."""
        unknown = counts["unknown_events"]
        out: list[str] = []
        if not counts["judged"] and not self.allow_empty:
            out.append(f"no event was judged, of {events:,}")
        if unknown > self.unknown_events * events:
            share, most = f"{unknown / events:.1%}", f"{self.unknown_events:.1%}"
            out.append(
                f"{unknown:,} of {events:,} events ({share}) are unknown; at most {most} may be"
            )
        return tuple(out)


STRICT = Demands()


@dataclass
class Tallies:
    """A tally for each machine, by name, and the rejected rows by reason.

    `every`: keep every problem and the verdict of every instance.
    """

    every: bool = False
    machines: dict[str, Tally] = field(default_factory=dict[str, Tally])
    rejected: Findings = field(default_factory=Findings)

    def __post_init__(self) -> None:
        self.rejected.every = self.every

    def of(self, machine: str) -> Tally:
        """The tally of a machine; "" is for instances of which no row names the machine."""
        return self.machines.setdefault(machine, Tally(self.every))

    def add(self, judged: Judged) -> None:
        """Count what was judged: instances under their machine, or a row of no instance."""
        match judged:
            case InstanceVerdict():
                self.of(judged.machine).add(judged)
            case FittingInstances():
                self.of(judged.machine).add_fitting(judged)
            case Rejected():
                self.reject(judged)

    def reject(self, rejected: Rejected) -> None:
        """Count a row that belongs to no instance."""
        place: dict[str, Json] = {"file": rejected.file} if rejected.file else {}
        finding = Finding("rejected", rejected.number, rejected.reason, details=place)
        self.rejected.add((rejected.reason,), rejected.text, finding)

    def merge(self, other: Tallies) -> None:
        """Add the counts of another."""
        for name, tally in other.machines.items():
            self.of(name).merge(tally)
        self.rejected.merge(other.rejected)
