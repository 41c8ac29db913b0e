"""One state at a time, by the generated steps as plain Python and by the reference engine."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from lawful import Machine, Scope
from lawful.checks.explore.codegen.text import STATUS
from lawful.checks.explore.compiled.edges import Labels
from lawful.checks.explore.compiled.plain import interpreted
from lawful.checks.explore.expansion.properties import LIVE, column_of
from lawful.checks.explore.expansion.successors import Stepping, stepping
from lawful.checks.explore.layout.packing import pack, unpack
from lawful.checks.explore.search import may_rest
from lawful.checks.explore.space import Space
from lawful.checks.reference import Done, Fault
from lawful.checks.reference.missing_values import NoValue
from lawful.spec import types as t
from lawful.spec.analysis.callee import bind
from lawful.spec.flat import Flat
from lawful.spec.lower import lower
from lawful.spec.resolve import Resolved, resolve

ROOM = 1 << 12


@dataclass(frozen=True)
class Compared:
    """How many states were compared, how many were left to the reference, and what differed."""

    states: int
    escaped: int
    differences: tuple[str, ...]


def scope_of(resolved: Resolved) -> Scope:
    """The machine's scope, or a small one."""
    machine = resolved.machine
    sizes = {str(k): 2 for k in machine.types if isinstance(k, t.Sort | t.Opaque)}
    small = Scope({**sizes}, Nat=range(0, 5), int=range(-2, 8))
    return resolved.scopes.get("scope", small)


def flat_of(cls: type[Machine]) -> tuple[Flat, Resolved]:
    """The machine within its scope."""
    resolved = resolve(cls)
    return lower(resolved.machine, scope_of(resolved)), resolved


def compared(cls: type[Machine], limit: int) -> Compared:
    """Compare all steps and invariants in up to so many reachable states."""
    flat, resolved = flat_of(cls)
    space = Space(flat, resolved.world)
    both = Both(space, stepping(space))
    starts = [space.placed(outcome) for _, _, outcome in space.initial()]
    known = {o.state: None for o, away in starts if isinstance(o, Done) and away is None}
    waiting = list(known)
    differences: list[str] = []
    for number, state in enumerate(waiting):
        if number == limit:
            break
        differences += both.differences(state)
        for after in both.successors:
            if after not in known:
                known[after] = None
                waiting.append(after)
    return Compared(min(limit, len(waiting)), both.escaped, tuple(differences[:3]))


@dataclass
class Said:
    """What an engine says of one state."""

    steps: Counter[Any]
    admitted: int
    faults: set[str]
    cuts: dict[str, int]
    failing: set[str]
    deadlock: bool
    true: list[int]
    live: list[int]


class Both:
    """The two engines on one machine."""

    def __init__(self, space: Space, stepping: Stepping) -> None:
        self.space = space
        self.stepping = stepping
        self.expand = interpreted(stepping.program.source)
        self.cells = [0] * stepping.program.cells
        self.cells[stepping.following] = 1
        self.labels = Labels(stepping)
        self.out = [0] * (ROOM * (stepping.words + 1))
        self.escaped = 0
        self.comparisons = 0
        self.successors: list[Any] = []

    def differences(self, state: Any) -> list[str]:
        """What the two say differently of a state."""
        s = self.stepping
        cells = s.codec.encode(s.whole, state)
        words = list(pack(s.slots, cells))
        assert unpack(s.slots, words) == cells
        assert s.codec.decode(s.whole, cells) == state
        info = [0] * s.notes.size
        count = self.expand(self.cells, words, 0, self.out, info, ROOM)
        theirs = self._reference(state)
        if info[s.notes["escaped"]]:
            self.escaped += 1
            return []
        self.comparisons += 3 + theirs.admitted + len(s.judged) + len(theirs.true)
        self.comparisons += len(theirs.live)
        mine = self._generated(info, count)
        left = [m == LIVE != t for m, t in zip(mine.live, theirs.live, strict=True)]
        if any(left):  # Some liveness properties, which the reference engine judges here.
            self.escaped += 1
            theirs.live = [LIVE if x else t for x, t in zip(left, theirs.live, strict=True)]
        return [f"{state}: {mine}, but {theirs}"] if mine != theirs else []

    def _generated(self, info: list[int], count: int) -> Said:
        s, notes = self.stepping, self.stepping.notes
        steps: Counter[Any] = Counter()
        for e in range(count):
            label = self.out[ROOM * s.words + e]
            if label < 0:
                steps[self.labels.event(-1 - label), None] += 1
                continue
            cells = unpack(s.slots, self.out[e * s.words : (e + 1) * s.words])
            event = self.labels.event(label) if s.labelled else label
            steps[event, s.codec.decode(s.whole, cells)] += 1
        cuts = {n: info[notes["cut_by"] + i] for i, n in enumerate(notes.cuts)}
        failing = [j.name for i, j in enumerate(s.judged) if info[notes["property"] + i]]
        wide = sum(count for _, count in s.seen)
        at = notes["witness"], notes["mark"]
        return Said(
            steps,
            info[notes["admitted"]],
            {name for i, name in enumerate(STATUS) if info[notes["fault"] + i]},
            {n: c for n, c in cuts.items() if c},
            set(failing),
            bool(info[notes["deadlock"]]),
            info[at[0] : at[0] + wide] + info[at[1] : at[1] + sum(c for _, c in s.marks)],
            info[notes["live"] :],
        )

    def _reference(self, state: Any) -> Said:
        space = self.space
        live = self._live_in(state)
        said = Said(Counter(), 0, set(), Counter(), set(), False, self._true_in(state), live)
        events: Counter[Any] = Counter()
        self.successors.clear()
        for edge in space.edges(state):
            said.admitted += 1
            row = space.rules[edge.rule][1]
            events[row.event, edge.args] += 1
            if isinstance(edge.outcome, Fault):
                said.faults.add(edge.outcome.name)
            elif edge.cut is not None:
                said.cuts[edge.cut] = said.cuts.get(edge.cut, 0) + 1
                if self.stepping.labelled:
                    said.steps[(edge.rule, edge.args), None] += 1
            else:
                after = edge.outcome.state
                labelled = self.stepping.labelled
                said.steps[(edge.rule, edge.args) if labelled else edge.rule, after] += 1
                self.successors.append(after)
                failing = (j for j in space.step_properties if space.failing(j, state, after))
                said.failing.update(j.name for j in failing)
        machine = space.machine
        if any(n > 1 and not machine.event(event).choice for (event, _), n in events.items()):
            said.faults.add("ambiguous")
        said.failing.update(j.name for j in space.invariants if space.failing(j, state))
        said.failing.update(j.name for j in space.partial if space.undefined(j, state))
        said.deadlock = not said.admitted and not may_rest(space, state)
        return said

    def _true_in(self, state: Any) -> list[int]:
        """Of each property that is to be reached: for which arguments it is true."""
        found: list[int] = []
        for j, count in (*self.stepping.seen, *self.stepping.marks):
            row = [0] * count
            for args in self.space.arguments(j.rule, state):
                at = column_of(self.stepping.codec, j, args)
                row[at] = int(self.space.is_true(j.row, state, args))
            found += row
        return found

    def _live_in(self, state: Any) -> list[int]:
        """Of each liveness property what it is for which arguments, as it is noted."""
        found: list[int] = []
        for j, count in self.stepping.lives:
            row = [LIVE] * count
            ((_, own),) = j.members(state)
            for args in self.space.arguments(j.rule, own, planned=False):
                named = bind(j.row.function.params, args)
                try:
                    value = self.space.reference.call_named(j.row.function, own, named)
                except NoValue:
                    continue
                p, q = value if j.kind == "leads_to" else (value, value)
                row[column_of(self.stepping.codec, j, args)] = p + 2 * q
            found += row
        return found
