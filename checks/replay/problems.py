"""What a replay finds in one instance: its problems, all counted, and its verdict.

Problems are of one kind where verdict, category, event and control state agree. The first of each
kind is kept with its explanation, or every one of them.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lawful.spec.ir import Json

from .mapping import HAPPENED
from .rows import Row

VERDICTS = ("fits", "open", "deviates", "inconclusive", "quarantined", "empty")
PASSED = ("fits", "open", "empty")  # The verdicts that name no problem.
# If two problems have one sequence number, that of the number itself is reported first: it does not
# depend on which copy of the row was read first.
OF_NUMBER = -1
ELSEWHERE = -1  # The index of a row that has no number, so nobody knows where it belongs.
AROUND = 3  # Rows that are shown before the row of a finding, and after it.

FindingKind = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem of an instance.

    `kind` is its category, `clause` a sentence. `index` is the `seq` of the row, -1 for a row that
    has none. `control`, `state` and `legal` are the control state, the state and the
    possible events before the row. `verdict` is what the instance would be with this problem alone,
    `count` how many problems of this kind the instance has.
    """

    kind: str
    index: int
    clause: str
    event: str | None = None
    control: str = ""
    state: Mapping[str, Json] = field(default_factory=dict[str, Json])
    legal: tuple[str, ...] = ()
    details: Mapping[str, Json] = field(default_factory=dict[str, Json])
    verdict: str = "deviates"
    count: int = 1

    @property
    def key(self) -> FindingKind:
        """What problems of one kind have in common."""
        what = self.clause if self.verdict == "quarantined" else self.control
        return self.verdict, self.kind, self.event or "", what


@dataclass(frozen=True, slots=True)
class InstanceVerdict:
    """The verdict on one instance, and what its rows covered.

    An instance of a machine that is not in the program has the verdict `other`. `finding` is the
    problem that decides the verdict; `findings` are those that were kept, by `index`. `counts` has
    what `COUNTS` names, without zeros.
    """

    instance: str
    machine: str
    verdict: str
    finding: Finding | None
    rows: int
    events: int
    transitions: Mapping[str, int]
    states: Mapping[str, int]
    findings: tuple[Finding, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    latencies: Mapping[str, int] = field(default_factory=dict[str, int])  # By `interval`.
    snapshot: str = ""  # The state from which a next increment goes on, if one is kept.


@dataclass(frozen=True, slots=True)
class FittingInstances:
    """Instances of one machine without a problem, which are judged at once: a list has an entry for
    each of them. What they covered is counted of all together.
    """

    machine: str
    names: Sequence[str]
    verdicts: Sequence[str]
    rows: Sequence[int]
    events: Sequence[int]
    transitions: Mapping[str, int]
    states: Mapping[str, int]


# Of an instance, or of all instances of a machine: events that were compared with the machine,
# deviations, those in a state that is not certain, identical rows that came again, places where
# sequence numbers are missing, numbers or times that go back, events that the machine does not
# have, events that more than one transition may have served, rows of an increment that came after
# later ones were judged, rows of sampled traces, and whether a verdict hinges on something unseen.
COUNTS = (
    "judged",
    "deviations",
    "uncertain",
    "duplicates",
    "gaps",
    "regressions",
    "unknown_events",
    "ambiguous",
    "late",
    "sampled",
    "hinges",
)


class Problems:
    """Collects the problems of one instance."""

    def __init__(self, every: bool) -> None:
        self.every = every
        self.found: list[tuple[tuple[int, int], Finding]] = []
        self.seen: Counter[FindingKind] = Counter()

    def known(self, key: FindingKind) -> bool:
        """Count a problem of this kind, if it needs no explanation any more."""
        if self.every or key not in self.seen:
            return False
        self.seen[key] += 1
        return True

    def add(self, finding: Finding, rank: int = 0) -> None:
        """Add a problem with its explanation."""
        self.seen[finding.key] += 1
        self.found.append(((finding.index, rank), finding))

    def kept(self) -> tuple[Finding, ...]:
        """The problems that were kept, in order; each with the count of its kind."""
        rows = sorted(self.found, key=lambda row: row[0])
        return tuple(replace(f, count=1 if self.every else self.seen[f.key]) for _, f in rows)


def misses_a_row(findings: Sequence[Finding]) -> bool:
    """Whether a row of the instance has no number, so that it may be missing anywhere."""
    return any(each.index == ELSEWHERE for each in findings)


def doubted(findings: Sequence[Finding], every: bool) -> tuple[Finding, ...]:
    """The findings where a row may be missing anywhere: what deviates may do so for want of it.

    Unless every problem is kept, there is one finding of each kind, as `Problems` has it.
    """
    out: dict[tuple[Hashable, ...], Finding] = {}
    for number, each in enumerate(findings):
        told = each
        if each.verdict == "deviates":
            told = replace(each, verdict="inconclusive", clause=each.clause + MISSING)
        key = (number,) if every else told.key
        first = out.get(key)
        out[key] = told if first is None else replace(first, count=first.count + told.count)
    return tuple(out.values())


MISSING = " (in a state that is not certain: a row has no place among the others)"


def decisive(findings: tuple[Finding, ...]) -> Finding | None:
    """The problem that decides the verdict: the first deviation, or else the first of all."""
    wrong = (each for each in findings if each.verdict == "deviates")
    return next(wrong, findings[0] if findings else None)


class Neighbours:
    """The rows around each problem: the last few, and the next few when they come. `place` says
    where a row is, by its sequence number."""

    def __init__(self, place: Callable[[int], dict[str, Json]]) -> None:
        self.place = place
        self.last: deque[Row] = deque(maxlen=AROUND + 1)
        self.waiting: list[list[Json]] = []

    def take(self, row: Row) -> None:
        """Take the next row."""
        self.last.append(row)
        if self.waiting:
            for after in self.waiting:
                after.append(brief(row, self.place(row.seq)))
            self.waiting = [after for after in self.waiting if len(after) < AROUND]

    def around(self, row: Row) -> Json:
        """The rows around the one that came last; those after it are filled in later."""
        before: list[Json] = [
            brief(each, self.place(each.seq)) for each in self.last if each is not row
        ]
        after: list[Json] = []
        self.waiting.append(after)
        return {"before": before[-AROUND:], "after": after}


def brief(row: Row, place: Mapping[str, Json]) -> Json:
    """What a row says of its event and its place, without the state."""
    out: dict[str, Json] = {"seq": row.seq, **place, "event": row.event, "args": dict(row.args)}
    if row.outcome != HAPPENED:
        out["outcome"] = row.outcome
    if isinstance(row.transition, str):
        out["transition"] = row.transition
    return out


def row_claims(row: Row) -> dict[str, Json]:
    """What a row records of its event, without the fields that it leaves out."""
    out: dict[str, Json] = {"args": dict(row.args), "outcome": row.outcome}
    for name in ("transition", "before", "after", "changed", "output"):
        value = getattr(row, name)
        if isinstance(value, None | bool | int | float | str | list | dict):
            out[name] = value
    if row.observed:
        out["observed"] = dict(row.observed)
    return out
