"""Reachability as constrained Horn clauses: Spacer finds invariants that are not declared.

A relation holds of every reachable state. A property is proved if no such relation needs a state in
which it is false (A. Komuravelli, A. Gurfinkel, S. Chaki, "SMT-based model checking for recursive
programs", 2014). Spacer handles integers and data types, and arrays badly: what it does not decide
stays open.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from lawful.spec import types as t
from lawful.spec.lower import Sized

from ..smt.algebra.term import Term
from ..smt.encode.sorts import NotEncodable, Options
from ..smt.encode.symbolic import State
from ..smt.obligations import attempt
from ..smt.solver.budget import Effort
from ..smt.solver.processes import map_in_order
from ..smt.solver.solve import Answer, Horn, ask, reach
from ..smt.system import TransitionSystem
from ..verdict import Verdict
from .bounded import Bounded
from .result import ENDED, START_UNKNOWN, UNSEEN, PropertyProof
from .scope_text import covers, types
from .unrolling import STOPS, Run

METHOD = "spacer"
DEPTH = 12  # The longest run, in events, that is sought for a state that Spacer reaches.


class HornProver:
    """The reachable states of one machine, and what is never true in them."""

    def __init__(self, lowered: Sized, effort: Effort, workers: int = 1) -> None:
        self.lowered, self.effort, self.workers = lowered, effort, workers
        self.machine = lowered.machine
        self.system = TransitionSystem(self.machine, Options(lowered.sizes))
        self.covers, self.within = covers(lowered)

    @property
    def plain(self) -> bool:
        """Whether the state has no collections, which Spacer handles badly."""
        kinds = types(self.machine)
        return not any(isinstance(k, t.Set | t.Map | t.Bag | t.Seq) for k in kinds)

    def within_reach(self, names: Iterable[str]) -> list[str]:
        """Those of these properties that can be asked; refinements cannot."""
        refining = {j.name for j in self.system.of_kind("refines")}
        return [name for name in names if name not in refining]

    def prove(self, names: Iterable[str]) -> list[PropertyProof]:
        """The verdicts of those of these properties that can be encoded."""
        names = self.within_reach(names)
        found = attempt(self._prove, names)
        if isinstance(found, NotEncodable):
            return [self._open(name, f"not encodable: {found}") for name in names]
        return found

    def _prove(self, names: Collection[str]) -> list[PropertyProof]:
        begin = Run(self.system, started=True)
        step = Run(self.system, started=False)
        if self.machine.transitions:
            step.extend()
        state = self._values(self.system.state)
        first = (*begin.facts, begin.links[0].goes), None, self._values(begin.states[1])
        rest = [((*step.facts, k.goes), state, self._values(step.states[1])) for k in step.links]
        horn = Horn(state, (first, *rest))
        runs = begin, step
        (why,) = map_in_order(
            lambda h: self._unfit(h, runs), lambda _, how: f"{ENDED} ({how})", [horn], self.workers
        )
        if why:
            return [self._open(name, why) for name in names]
        return map_in_order(
            lambda name: self._of(name, horn, runs),
            lambda name, how: self._open(name, f"{ENDED} ({how})"),
            list(names),
            self.workers,
        )

    def _unfit(self, horn: Horn, runs: tuple[Run, Run]) -> str:
        """Why Spacer can prove nothing about this machine; empty where it may."""
        begin = runs[0]
        start = *begin.facts, begin.links[0].goes
        if ask(self.system.logic, start, self.effort.begin()).model is None:
            return START_UNKNOWN
        seen = self._asked(horn, self._stopped(runs, "excess")).status == "unsat"
        return "" if seen else UNSEEN

    def _values(self, state: State) -> tuple[Term, ...]:
        """The state as a tuple of terms; raises NotEncodable."""
        row: list[Term] = []
        for name in self.system.state:
            value = {**self.system.parameters, **state}[name]
            if not isinstance(value, Term):
                raise NotEncodable(f"the variable {name}")
            row.append(value)
        return tuple(row)

    def _stopped(self, runs: tuple[Run, Run], name: str) -> tuple[list[Term], Term]:
        """The condition that a start, or a step from a reachable state, is stopped in this way."""
        begin, step = runs
        starts = self.system.logic.all((*begin.facts, begin.links[0].faults[name]))
        steps = [self.system.logic.all((*step.facts, k.faults[name])) for k in step.links]
        return [starts], self.system.logic.any(steps)

    def _asked(self, horn: Horn, bad: tuple[list[Term], Term]) -> Answer:
        return reach(self.system.logic, horn, bad, self.effort.begin())

    def _of(self, name: str, horn: Horn, runs: tuple[Run, Run]) -> PropertyProof:
        asked = attempt(self._bad, name, runs)
        if isinstance(asked, NotEncodable):
            return self._open(name, f"not encodable: {asked}")
        answer = self._asked(horn, asked)
        if answer.status == "unsat":
            verdict = Verdict.PROVED_WITHIN if self.within else Verdict.PROVED
            return PropertyProof(name, verdict, METHOD, self.covers)
        if answer.status == "unknown":
            return self._open(name, f"Spacer does not decide it: {answer.why}")
        (found,) = Bounded(self.lowered, self.effort, [name]).search(DEPTH)
        if found.trace is not None:
            return found
        why = found.note or f"Spacer reaches a violation, but in no run of {DEPTH} events"
        return self._open(name, why)

    def _bad(self, name: str, runs: tuple[Run, Run]) -> tuple[list[Term], Term]:
        logic, step = self.system.logic, runs[1]
        if name == "ambiguous":
            starts, stopped = self._stopped(runs, name)
            alone = Run(self.system, started=False)
            return starts, logic.any((stopped, logic.all((*alone.facts, alone.contested()))))
        if name in STOPS:
            return self._stopped(runs, name)
        j = self.system.properties[name]
        if j.row.kind == "invariant":
            return [], self.system.broken(j, self.system.state)[0]
        steps = [
            logic.all((*step.facts, k.goes, self.system.broken(j, *step.states)[0]))
            for k in step.links
        ]
        return [], logic.any(steps)

    def _open(self, name: str, why: str) -> PropertyProof:
        return PropertyProof(name, Verdict.UNKNOWN, METHOD, self.covers, why)
