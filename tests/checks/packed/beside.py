"""One state at a time, by the generated steps as plain Python and by the reference engine."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from lawful import Machine, Scope
from lawful.checks.packed import core
from lawful.checks.packed.slots import pack, unpack
from lawful.checks.packed.stepping import Stepping
from lawful.checks.packed.writing import STATUS
from lawful.checks.reference import Done, Fault
from lawful.checks.space import Space
from lawful.spec import types as t
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
    small = Scope({**sizes}, Nat=range(0, 4), int=range(-2, 8))
    return resolved.scopes.get("scope", small)


def flat_of(cls: type[Machine]) -> tuple[Flat, Resolved]:
    """The machine within its scope."""
    resolved = resolve(cls)
    return lower(resolved.machine, scope_of(resolved)), resolved


def compared(cls: type[Machine], limit: int) -> Compared:
    """Compare all steps and invariants in up to so many reachable states."""
    flat, resolved = flat_of(cls)
    space = Space(flat, resolved.world)
    both = Both(space, Stepping(flat, resolved.world, space))
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


class Both:
    """The two engines on one machine."""

    def __init__(self, space: Space, stepping: Stepping) -> None:
        self.space = space
        self.stepping = stepping
        self.expand = core.interpreted(stepping.program.source)
        self.cells = [0] * stepping.program.cells
        self.out = [0] * (ROOM * (stepping.words + 1))
        self.escaped = 0
        self.successors: list[Any] = []

    def differences(self, state: Any) -> list[str]:
        """What the two say differently of a state."""
        s = self.stepping
        cells = s.codec.encode(s.whole, state)
        words = list(pack(s.slots, cells))
        assert unpack(s.slots, words) == cells
        assert s.codec.decode(s.whole, cells) == state
        info = [0] * s.layout.size
        count = self.expand(self.cells, words, 0, self.out, info, ROOM)
        theirs = self._reference(state)
        if info[s.layout["escaped"]]:
            self.escaped += 1
            return []
        mine = self._generated(info, count)
        return [f"{state}: {mine}, but {theirs}"] if mine != theirs else []

    def _generated(self, info: list[int], count: int) -> Any:
        s, layout = self.stepping, self.stepping.layout
        steps: Counter[Any] = Counter()
        for e in range(count):
            cells = unpack(s.slots, self.out[e * s.words : (e + 1) * s.words])
            steps[self.out[ROOM * s.words + e], s.codec.decode(s.whole, cells)] += 1
        faults = {name for i, name in enumerate(STATUS) if info[layout["fault"] + i]}
        cuts = {n: info[layout["cut_by"] + i] for i, n in enumerate(layout.cuts)}
        invariants = {
            j.name: bool(info[layout["property"] + i])
            for i, j in enumerate(s.judged) if j.kind == "invariant"
        }
        admitted = info[layout["admitted"]]
        return steps, admitted, faults, {n: c for n, c in cuts.items() if c}, invariants

    def _reference(self, state: Any) -> Any:
        steps: Counter[Any] = Counter()
        events: Counter[Any] = Counter()
        cuts: Counter[str] = Counter()
        faults: set[str] = set()
        self.successors.clear()
        for edge in self.space.edges(state):
            row = self.space.rules[edge.rule][1]
            events[row.event, edge.args] += 1
            if isinstance(edge.outcome, Fault):
                faults.add(edge.outcome.name)
            elif edge.cut is not None:
                cuts[edge.cut] += 1
            else:
                steps[edge.rule, edge.outcome.state] += 1
                self.successors.append(edge.outcome.state)
        machine = self.space.machine
        if any(n > 1 and not machine.event(event).choice for (event, _), n in events.items()):
            faults.add("ambiguous")
        invariants = {
            j.name: self.space.failing(j, state) is not None for j in self.space.invariants
        }
        return steps, sum(events.values()), faults, dict(cuts), invariants
