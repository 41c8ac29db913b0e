"""Advice on a scope: which bounds cut steps, how large they must be to cut none, and what one more
element changes.

A cut is counted for every bound that alone would have cut it. All states reachable here are
reachable in a larger scope too. So a larger scope without cuts must admit the target of each step
that is cut here. Widening just these bounds, again and again, ends at the smallest scope without
cuts, if it ends. The advice says nothing about scopes larger than those that were explored.

A bound that leaves out arguments of a possible step cuts, too (`left_out`). It must admit all of
them; if they have no end, no range or length does.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.lower import lower
from lawful.spec.resolve import Resolved, abstract_scopes
from lawful.spec.words import Expected, Scope

from ..reference import Done
from ..reference.states import State
from ..verdict import Verdict
from .check import explore, searched
from .compiled.engine import PackedSearch
from .limits import Budget, Limits, OutOfBudget
from .omissions.extents import covers, met
from .result import Advice, Bound, CheckResult, Narrow, OneMore, Widened
from .search_result import Explored
from .space import Space

SECONDS = 60.0  # For all of it, where no other time is given.
FAR = 10**6  # A bound this far away is none.
MOST = 1000  # Steps by which one bound is widened at once.


def advise(
    found: Resolved, scope: Scope, expects: Mapping[str, Expected], limits: Limits
) -> Advice:
    """Explore the machine within larger scopes. ValueError where no initial state is within one."""
    return _Advisor(found, scope, expects, limits).advice()


class _Ended(Exception):
    """Advice ends before its time; the text is the limit that was met."""


class _Advisor:
    def __init__(
        self, found: Resolved, scope: Scope, expects: Mapping[str, Expected], limits: Limits
    ) -> None:
        self.found = found
        self.scope = scope
        self.expects = expects
        self.seconds = SECONDS if limits.seconds is None else limits.seconds
        self.limits = replace(limits, first=False, resume=None)
        self.ends = time.perf_counter() + self.seconds
        self.bounds = tuple(bounds_of(found.machine, scope))
        self.slow = ""  # Why the reference engine took over, if it did.

    def advice(self) -> Advice:
        """All of it: cuts, the widening, sizes; and why the reference engine explored, if it
        did."""
        return replace(self._told(), not_generated=self.slow)

    def _told(self) -> Advice:
        try:
            return self._advice(self._outside(self.scope))
        except _Ended as end:
            return Advice(self.seconds, why=str(end))
        except OutOfBudget as end:
            return Advice(self.seconds, why=end.reason)

    def _advice(self, out: tuple[list[tuple[State, str]], int]) -> Advice:
        beyond = [state for state, _ in out[0]]
        counts = [(bound, len(self._cut_by(bound, self.scope, beyond))) for bound in self.bounds]
        cuts = sorted((row for row in counts if row[1]), key=lambda row: -row[1])
        constraints = {j.name for j in self._space(self.scope).constraints}
        pruned = Counter(cut for _, cut in out[0] if cut in constraints)
        # What may never end comes last; half of the time is its own.
        last, now = self.ends, time.perf_counter()
        self.ends = now + (last - now) / 2
        sizes = tuple(self._one_more())
        self.ends = last
        left_out = self._space(self.scope).left_out
        return Advice(
            self.seconds,
            cuts=tuple(cuts),
            narrow=tuple(self._narrow(self.scope)),
            serials=tuple(str(row) for row in left_out if row.of == "serial"),
            constraints=dict(pruned),
            widened=self._widened(out),
            sizes=sizes,
        )

    # Spaces.

    @property
    def left(self) -> Limits:
        """The time that is left."""
        return replace(self.limits, seconds=max(0.01, self.ends - time.perf_counter()))

    def _space(self, scope: Scope) -> Space:
        flat = lower(self.found.machine, scope, abstract_scopes(self.found))
        return Space(flat, self.found.world)

    def _go_on(self) -> None:
        """Every so often: _Ended where time or memory is over, or somebody wants it to end."""
        over = replace(self.limits, states=None, seconds=None).met(0, 0.0, False)
        if over or time.perf_counter() > self.ends:
            raise _Ended(over or "seconds")

    def _outside(self, scope: Scope) -> tuple[list[tuple[State, str]], int]:
        """The states beyond the scope that steps and starts lead to, with what cut them, and how
        many there are within it; _Ended with the limit that ended the search."""
        space = self._space(scope)
        _, made = searched(space, self.left, None, "auto", labelled=True)
        self.slow = self.slow or made.not_generated
        if not made.complete:
            raise _Ended(made.stopped)
        if not made.cut_by:
            return [], len(made.states)
        out: list[tuple[State, str]] = []
        space.budget = Budget(self.left)
        for _, _, outcome in space.initial():
            placed, cut = space.placed(outcome)
            if cut is not None and isinstance(placed, Done):
                out.append((placed.state, cut))
        return [*out, *self._cut_steps(made)], len(made.states)

    def _cut_steps(self, made: Explored) -> Iterator[tuple[State, str]]:
        """Where each step that the scope cuts leads, and what cuts it.

        The labels of generated steps say which those are, and not what cuts them.
        """
        space = made.space
        if not isinstance(made, PackedSearch):
            for state in made.states:
                self._go_on()
                for edge in space.edges(state):
                    if edge.cut is not None and isinstance(edge.outcome, Done):
                        yield edge.outcome.state, edge.cut
            return
        for number, rows in enumerate(made.steps()):
            self._go_on()
            for event, target in rows:
                if target < 0:
                    state = made.states[number]
                    outcome, cut = space.placed(_done(space.step(state, event)), state)
                    assert cut is not None
                    yield _done(outcome).state, cut

    def _cut_by(self, bound: Bound, scope: Scope, states: Sequence[State]) -> list[State]:
        """The states that this bound alone would keep out."""
        if not states:
            return []
        far = scope.widened(dict(self._others_away(bound, scope)))
        space = self._space(far)
        kept_out: list[State] = []
        for state in states:
            self._go_on()
            if space.breached(state) is not None:
                kept_out.append(state)
        return kept_out

    def _others_away(self, bound: Bound, scope: Scope) -> Iterator[tuple[str, object]]:
        for other in self.bounds:
            if other.key != bound.key:
                value = scope.bounds[other.key]
                for each in self.bounds:
                    value = each.moved(value, FAR) if each.key == other.key else value
                yield other.key, value
        for other in self.bounds:
            if other.key == bound.key and other.low != bound.low:
                yield other.key, other.moved(scope.bounds[other.key], FAR)

    # Arguments that are left out.

    def _narrow(self, scope: Scope) -> Iterator[Narrow]:
        for bound in self.bounds:
            names = self._left_out_by(bound, scope)
            if names:
                far = scope.widened({bound.key: bound.moved(scope.bounds[bound.key], FAR)})
                endless = set(self._left_out_by(bound, far))
                yield Narrow(bound, names, tuple(name for name in names if name in endless))

    def _left_out_by(self, bound: Bound, scope: Scope) -> tuple[str, ...]:
        """The arguments of which this bound alone would admit more if it were further out."""
        further = scope.widened({bound.key: bound.moved(scope.bounds[bound.key], 1)})
        flat = self._space(further).flat
        kinds = {
            f"{rule.name}.{plan.name}": plan.type
            for rule in (*flat.initials, *flat.rules, *flat.properties)
            for plan in rule.plans
        }
        return tuple(
            str(row)
            for row in self._space(scope).left_out
            if row.of != "serial" and not covers(row.explored, met(kinds[str(row)], row.possible))
        )

    def _admitting(self, bound: Bound, scope: Scope) -> object | None:
        """The smallest value of the key that leaves out arguments only where they have no end."""
        endless = {name for row in self._narrow(scope) for name in row.endless}
        for by in range(1, MOST):
            value = bound.moved(scope.bounds[bound.key], by)
            self._go_on()
            if endless.issuperset(self._left_out_by(bound, scope.widened({bound.key: value}))):
                return value
        return None

    # The smallest scope without cuts.

    def _widened(self, first: tuple[list[tuple[State, str]], int]) -> Widened:
        changes: dict[str, object] = {}
        scope, (states, distinct) = self.scope, first
        try:
            while True:
                beyond = [state for state, _ in states]
                cutting = [b for b in self.bounds if self._cut_by(b, scope, beyond)]
                narrow = [row.bound for row in self._narrow(scope) if row.mendable]
                if not cutting and not narrow:
                    return Widened(changes, distinct)
                for bound in dict.fromkeys((*cutting, *narrow)):
                    if bound in cutting:
                        value = self._far_enough(bound, scope, beyond)
                    else:
                        value = self._admitting(bound, scope)
                    if value is None:
                        why = f"{bound.key} would have to be widened by more than {MOST} at once"
                        return Widened(changes, distinct, why)
                    changes[bound.key] = value
                    scope = scope.widened({bound.key: value})
                states, distinct = self._outside(scope)
        except (_Ended, OutOfBudget) as end:
            return Widened(changes, distinct, str(end))

    def _far_enough(self, bound: Bound, scope: Scope, states: Sequence[State]) -> object | None:
        """The smallest value of the key that admits the states to which these steps lead."""
        by, left = 0, list(states)
        while left and by < MOST:
            by += 1
            value = bound.moved(scope.bounds[bound.key], by)
            left = self._cut_by(bound, scope.widened({bound.key: value}), left)
        return None if left else bound.moved(scope.bounds[bound.key], by)

    # One element more.

    def _one_more(self) -> Iterator[OneMore]:
        before: CheckResult | None = None
        for sort, size in self._space(self.scope).flat.sizes:
            if before is None:
                before = self._explored(self.scope)
            after = self._explored(self.scope.widened({sort: size + 1}))
            yield _compared(sort, size + 1, before, after)

    def _explored(self, scope: Scope) -> CheckResult:
        flat = self._space(scope).flat
        result = explore(flat, self.found.world, self.expects, limits=self.left)
        self.slow = self.slow or result.not_generated
        return result


def _done(outcome: object) -> Done:
    assert isinstance(outcome, Done)
    return outcome


def _compared(sort: str, size: int, before: CheckResult, after: CheckResult) -> OneMore:
    if not (before.complete and after.complete):
        return OneMore(sort, size, after.distinct, why=after.stopped or before.stopped)
    fired = [{n for n, row in r.transitions.items() if row["enabled"]} for r in (before, after)]
    old = {p.name: p.verdict.value for p in before.properties}
    new = {p.name: p.verdict.value for p in after.properties}
    unknown = tuple(name for name in old if Verdict.UNKNOWN.value in (old[name], new[name]))
    judged = [name for name in old if name not in unknown]
    changed = {name: (old[name], new[name]) for name in judged if old[name] != new[name]}
    more, less = sorted(fired[1] - fired[0]), sorted(fired[0] - fired[1])
    return OneMore(sort, size, after.distinct, tuple(more), tuple(less), changed, unknown)


def bounds_of(machine: ir.Machine, scope: Scope) -> Iterator[Bound]:
    """The bounds of a scope that can cut: ranges and lengths, not sizes and values to try."""
    fixed = {k.name for k in machine.types if isinstance(k, t.Sort | t.Opaque)}
    fixed |= {each for p in machine.parameters for each in (p.name, f"{machine.name}.{p.name}")}
    clocks: set[str] = set()
    for owner in (machine, *machine.parts):
        for v in owner.variables:
            if t.contains(v.type, t.Serial):
                fixed |= {v.name, f"{owner.name}.{v.name}"}
            if isinstance(v.type, t.Clock):
                clocks |= {v.name, f"{owner.name}.{v.name}"}
    functions = (*machine.initials, *(row.function for row in machine.transitions))
    for f in functions:
        serials = [name for name, kind in f.params if t.contains(kind, t.Serial)]
        fixed |= {each for name in serials for each in (name, f"{f.name}.{name}")}
    for key, value in scope.bounds.items():
        if key in fixed or key == "Serial":
            continue
        if isinstance(value, range) and key not in clocks:
            yield Bound(key, True)
        if isinstance(value, int | range):
            yield Bound(key, False)
