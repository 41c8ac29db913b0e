"""Chains: the verdict on an instance whose segments were judged apart, from every state.

    1. `Lanes` judges each segment: the state at its end, and what it covers, by that at its start.
    2. `Chain.parts` joins them: it knows then in which state each segment begins. Those that do not
       plainly fit in it are the parts that the row fold has to judge.
    3. `folded` folds a part from the state in which it begins, with the rows around it.
    4. `Chain.verdict` joins all: the same verdict, findings and counts as of one fold.

No row of a mapped trace with columns tells a state. So a fold knows nothing but the state, and the
row since which it is not certain; a part that says this has later ones folded again, from there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..fold import Fold
from ..problems import AROUND, Finding, FindingKind, InstanceVerdict
from ..program import ReplayProgram
from ..rows import Rejected, Row
from .finite_states import FiniteStates, states_of
from .kernel import plan_of
from .layout import Layout, layout_of
from .row_ranges import Range
from .steps import Opened


def splittable(program: ReplayProgram) -> FiniteStates | None:
    """The states of the machine whose instances may be split; None where they may not.

    The state has to be finite, rows have to be typed columns without outputs, and a deviation has
    to leave the state as it is, which `force` and `stop` do not. A replay that keeps every problem
    is not split, because the driver joins the parts.
    """
    mapping = program.mapping
    if mapping is None or layout_of(program) is None or mapping.output is not None:
        return None
    if program.every or program.after not in ("resync", "skip"):
        return None
    return states_of(program.steppers[mapping.machine].machine)


@dataclass(frozen=True, slots=True)
class Covered:
    """How often rows that plainly fit took each transition, and reached each control state."""

    transitions: Mapping[str, int]
    states: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Segment:
    """Rows of one instance with successive numbers, judged from every state.

    `ends` has the index of the state at its end, and `covered` what it covers (None where a row
    does not plainly fit), both by the index of the state at its start. `head` and `tail` are its
    first and last rows, one of each number.
    """

    instance: str
    first: int
    last: int
    rows: int
    events: int
    ends: tuple[int, ...]
    covered: tuple[Covered | None, ...]
    head: tuple[Row, ...]
    tail: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A segment that has to be folded, and what the fold knows before it.

    `state` is None for the first segment of an instance. `next` is the number after that of the
    row before, `lost` the row since which the state is not certain. `before` and `later` are rows
    around the segment.
    """

    range: Range
    state: int | None
    next: int
    lost: int | None
    before: tuple[Row, ...]
    later: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Folded:
    """What the fold of a part found; `state` is None where it ends in no one state."""

    range: Range
    state: int | None
    lost: int | None
    first: tuple[int, str] | None
    rows: int
    events: int
    judged: int
    transitions: Counter[str]
    states: Counter[str]
    counts: Counter[str]
    found: tuple[tuple[tuple[int, int], Finding], ...]
    seen: Counter[FindingKind]
    rejected: tuple[Rejected, ...]


def range_of(segment: Segment) -> Range:
    """The numbers of a segment's rows."""
    return Range(segment.instance, segment.first, segment.last)


@dataclass
class Chain:
    """The segments of one instance in order, and what the folds of parts found, by range."""

    program: ReplayProgram
    segments: Sequence[Segment]
    found: dict[Range, Folded] = field(default_factory=dict[Range, Folded])

    def __post_init__(self) -> None:
        self.segments = sorted(self.segments, key=lambda each: each.first)
        layout, states = layout_of(self.program), splittable(self.program)
        assert layout is not None and states is not None
        self.layout: Layout = layout
        self.states: FiniteStates = states
        self.steps = plan_of(self.program, layout).steps
        start = self.steps.opened("", 0).state
        self.start = states.index(self.steps.shown(start))

    def _begun(self) -> Iterable[tuple[int, Segment, int, Covered | None]]:
        """The segments, each with the index of its first state, and what it covers from there;
        None where it has to be folded."""
        state, next_ = self.start, self.layout.mapping.first
        for at, each in enumerate(self.segments):
            gap = self.layout.mapping.dense and each.first != next_
            yield at, each, state, None if gap else each.covered[state]
            state, next_ = each.ends[state], each.last + 1

    def parts(self) -> list[Part]:
        """The parts that have to be folded, but for those that were, with what is known now."""
        out: list[Part] = []
        lost: int | None = None
        for at, each, state, covered in self._begun():
            if covered is not None:
                continue
            known = self.found.get(range_of(each))
            if known is None or (lost is not None and _tells_lost(known) and known.lost != lost):
                out.append(self._part(at, state, lost))
            if known is not None and lost is None:
                lost = known.lost
        return out

    def _part(self, at: int, state: int, lost: int | None) -> Part:
        earlier = [row for each in self.segments[max(at - AROUND - 1, 0) : at] for row in each.tail]
        later = [row for each in self.segments[at + 1 : at + 1 + AROUND] for row in each.head]
        return Part(
            range_of(self.segments[at]),
            state if at else None,
            self.segments[at - 1].last + 1 if at else self.layout.mapping.first,
            lost,
            tuple(earlier[-AROUND - 1 :]),
            tuple(later[:AROUND]),
        )

    def verdict(self) -> InstanceVerdict | None:
        """The verdict; None where a fold ended in another state than its segment says."""
        name = self.segments[0].instance
        whole = Fold(self.program, name)
        machine = self.steps.stepper.machine.name
        whole.first = (self.segments[0].first, machine)
        state = self.start
        for at, each, before, covered in self._begun():
            state = each.ends[before]
            if covered is None:
                folded = self.found[range_of(each)]
                if folded.state != state:
                    return None
                _add(whole, folded)
                continue
            if not at:
                whole.states[self.states.controls[before]] += 1
            whole.transitions.update(covered.transitions)
            whole.states.update(covered.states)
            whole.rows += each.rows
            whole.events += each.events
            whole.judged += each.events
        last = Opened(name, None, self.segments[0].first, self.segments[-1].last + 1)
        last.shown = self.states.shown(state)
        ended = self.steps.resumed(self.program, last)
        whole.stepper, whole.machine, whole.state = ended.stepper, ended.machine, ended.state
        whole.next = ended.next
        return whole.end()

    @property
    def rejected(self) -> list[Rejected]:
        """The rows of folded parts that are none of the instance."""
        return [row for each in self.found.values() for row in each.rejected]


def _tells_lost(folded: Folded) -> bool:
    """Whether what was found depends on the row since which the state is not certain."""
    return bool(folded.counts["deviations"] or folded.counts["uncertain"])


def _add(whole: Fold, folded: Folded) -> None:
    """Add what the fold of a part found."""
    if folded.first is not None:
        whole.first = min(whole.first or folded.first, folded.first)
    whole.lost = folded.lost if whole.lost is None else whole.lost
    whole.rows += folded.rows
    whole.events += folded.events
    whole.judged += folded.judged
    whole.transitions.update(folded.transitions)
    whole.states.update(folded.states)
    whole.counts.update(folded.counts)
    for place, finding in folded.found:
        if finding.key not in whole.problems.seen:
            whole.problems.found.append((place, finding))
    whole.problems.seen.update(folded.seen)


class PartFold:
    """Folds the rows of a part, which may come in several batches."""

    def __init__(self, program: ReplayProgram, part: Part, states: FiniteStates) -> None:
        self.part = part
        self.states = states
        self.rejected: list[Rejected] = []
        name = part.range.instance
        self.fold = Fold(program, name)
        if part.state is not None:
            layout = layout_of(program)
            assert layout is not None
            opened = Opened(name, None, part.range.low, part.next)
            opened.shown, opened.recent = states.shown(part.state), part.before
            self.fold = plan_of(program, layout).steps.resumed(program, opened)
        self.fold.lost = part.lost

    def take(self, row: Row | Rejected) -> None:
        """Take the next row."""
        if isinstance(row, Row):
            self.fold.take(row)
        else:
            self.rejected.append(row)

    def end(self) -> Folded:
        """What was found, after the last row."""
        fold = self.fold
        fold.judge_last()
        for row in self.part.later:
            fold.near.take(row)
        state: int | None = None
        if fold.state is not None and not fold.others and fold.stepper is not None:
            state = self.states.index(fold.stepper.shown(fold.state))
        return Folded(
            self.part.range,
            state,
            fold.lost,
            fold.first,
            fold.rows,
            fold.events,
            fold.judged,
            fold.transitions,
            fold.states,
            fold.counts,
            tuple(fold.problems.found),
            fold.problems.seen,
            tuple(self.rejected),
        )


def joined(segments: Iterable[Segment], program: ReplayProgram) -> list[Chain]:
    """A chain for each instance."""
    by_name: dict[str, list[Segment]] = {}
    for each in segments:
        by_name.setdefault(each.instance, []).append(each)
    return [Chain(program, mine) for _, mine in sorted(by_name.items())]


def with_found(chain: Chain, found: Iterable[Folded]) -> None:
    """Add what folds found to the chain of their instance."""
    name = chain.segments[0].instance
    chain.found.update({each.range: each for each in found if each.range.instance == name})
