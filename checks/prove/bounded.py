"""Bounded model checking: all runs of at most so many events at once, the shortest first.

A violation that is found is real, whatever the integers in it. Where none is found the verdict is
`bounded` (A. Biere, A. Cimatti, E. Clarke, Y. Zhu, "Symbolic model checking without BDDs", 1999).
Where all runs end before the bound, these are all runs, and the verdict is a proof.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from lawful.spec.lower import Sized
from lawful.spec.verdicts import FAULTS

from ..smt.algebra.term import Term
from ..smt.encode.sorts import NotEncodable, Options
from ..smt.obligations import attempt
from ..smt.solver.budget import ENDLESS, USUAL, Budget, Effort
from ..smt.solver.processes import map_with_shares
from ..smt.solver.solve import Answer, Model, ask
from ..smt.system import TransitionSystem
from ..verdict import Trace, Verdict, after
from .result import ENDED, NO_START, NO_STEP, UNSEEN, PropertyProof
from .scope_text import covers
from .unrolling import Run

METHOD = "bounded"
NO_TERMS: Mapping[str, Term] = {}
NOT_SHOWN_REAL = "a longer run violates it, but perhaps only"
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs to examine: those of at most `depth` events.

    `effort` is for each question, `budget` for all of them; `workers` is the number of processes.
    """

    depth: int
    effort: Effort
    budget: Budget = field(default_factory=ENDLESS.begin)
    workers: int = 1


def searched(
    lowered: Sized,
    names: Collection[str] | None,
    runs: Runs,
    tell: Tell | None = None,
) -> list[PropertyProof]:
    """The verdicts of a search for these properties, or for all of them.

    Where Z3 ends the process of the search, each property is searched alone. With several processes
    there is one line of progress.
    """
    bounded = Bounded(lowered, runs.effort, names)
    alone = runs.workers < 2
    if tell is not None and not alone:
        tell(f"runs of at most {runs.depth} events")

    def search(some: Bounded, budget: Budget) -> list[PropertyProof] | None:
        return some.search(runs.depth, tell if alone else None, budget)

    (found,) = map_with_shares(search, lambda _, _how: None, [bounded], runs.workers, runs.budget)
    if found is not None:
        return found
    each = [Bounded(lowered, runs.effort, [name]) for name in bounded.names]
    rows = map_with_shares(search, lambda b, how: b.ended_by(how), each, runs.workers, runs.budget)
    return [row for some in rows for row in some or ()]


class Bounded:
    """The verdict of each property after runs of at most `depth` events, within the budget."""

    def __init__(
        self,
        lowered: Sized,
        effort: Effort = USUAL,
        only: Collection[str] | None = None,
    ) -> None:
        self.machine = lowered.machine
        self.system = TransitionSystem(self.machine, Options(lowered.sizes))
        self.effort = effort  # For each question.
        self.budget = ENDLESS.begin()
        self.covers, self.within = covers(lowered)
        self.over_steps = [j.name for j in self.system.of_kind("step_property")]
        invariants = [j.name for j in self.system.of_kind("invariant")]
        every = [*FAULTS, *invariants, *self.over_steps]
        self.names = [name for name in every if only is None or name in only]
        self.decided: dict[str, PropertyProof] = {}
        self.doubt = self._doubt()
        self.depth = -1  # Runs of so many events are done.
        self.ended = False  # No run is longer.

    def _doubt(self) -> str:
        """Why a run that was found may not be one of the machine; empty where it is one."""
        if self.system.lost:
            return f"{NOT_SHOWN_REAL} with parameters that may not be allowed"
        return ""

    def search(
        self, depth: int, tell: Tell | None = None, budget: Budget | None = None
    ) -> list[PropertyProof]:
        """The verdict of each property after runs of at most `depth` events, or as many as can be
        looked at within the budget."""
        self.budget = budget or ENDLESS.begin()
        stopped = attempt(self._search, depth, tell)
        why = f"not encodable: {stopped}" if isinstance(stopped, NotEncodable) else stopped
        return [self.decided.get(name) or self._open(name, why) for name in self.names]

    def ended_by(self, how: str) -> list[PropertyProof]:
        """The verdicts where Z3 ended the process."""
        note = f"{ENDED} ({how})"
        return [
            PropertyProof(name, Verdict.UNKNOWN, METHOD, self.covers, note) for name in self.names
        ]

    def _search(self, depth: int, tell: Tell | None) -> str:
        """The search; returns why it ended early, or an empty text."""
        run = Run(self.system, started=True)
        while self.depth < depth and not self.ended and len(self.decided) < len(self.names):
            if self.budget.over:
                return self.budget.why("") if self.budget.late else ""
            if tell is not None:
                tell(f"runs of {self.depth + 1} events")
            if self.depth >= 0:
                self._look(run, {"ambiguous": run.contested()})
                self.ended = not self.machine.transitions
                if self.ended:
                    break
                run.extend()
            why = self._faults(run) or self._states(run)
            if why:
                return why
            self.depth += not self.ended
        return ""

    def _faults(self, run: Run) -> str:
        """Ask for each kind of fault whether it can end the last step of a run."""
        faults = dict(run.links[-1].faults)
        excess = faults.pop("excess")
        skipped = next((c.step.skipped for c in run.links[-1].cases if c.step.skipped), "")
        if skipped and "undefined" in self.names:
            self._decide("undefined", Verdict.UNKNOWN, f"not encodable: {skipped}")
        self._look(run, faults)
        if self._ask(run, excess).status != "unsat":
            return UNSEEN
        return ""

    def _states(self, run: Run) -> str:
        """Ask for each property whether it can fail in the last state of a run."""
        run.facts = (*run.facts, run.links[-1].goes)
        answer = self._ask(run, self.system.logic.true)
        if answer.status == "unsat":
            self.ended = self.depth >= 0
            return "" if self.ended else NO_START
        if answer.status == "unknown":
            return f"Z3 does not decide whether a run can be so long: {answer.why}"
        bad: dict[str, Term] = {}
        undefined: dict[str, Term] = {}
        for kind in ("invariant", "step_property"):
            steps = kind == "step_property"
            if steps and len(run.links) < 2:
                continue
            states = run.states[-2:] if steps else run.states[-1:]
            for j in self.system.of_kind(kind):
                broken = attempt(self.system.broken, j, *states)
                if isinstance(broken, NotEncodable):
                    self._decide(j.name, Verdict.UNKNOWN, f"not encodable: {broken}")
                else:
                    bad[j.name], undefined[j.name] = broken
        self._look(run, bad, undefined)
        return ""

    def _look(
        self, run: Run, bad: Mapping[str, Term], undefined: Mapping[str, Term] = NO_TERMS
    ) -> None:
        """Decide which of these conditions can be true; all at once, as long as none can.

        `undefined` has the conditions under which a property fails because it has no value.
        """
        wanted = {name for name in self.names if name not in self.decided}
        left = {name: term for name, term in bad.items() if name in wanted}
        while left:
            any_of = self.system.logic.any(left.values())
            answer = self._ask(run, any_of)
            if answer.status == "unsat":
                return
            model = answer.model
            met = [n for n, term in left.items() if model is not None and model.truth(term)]
            if not met and len(left) > 1:
                for name, term in left.items():
                    self._look(run, {name: term}, undefined)
                return
            # What was asked alone is true in the model, though quantifiers may keep it from saying
            # so.
            for name in met or list(left):
                del left[name]
                if model is None:
                    self.decided[name] = self._open(name, f"longer runs undecided: {answer.why}")
                else:
                    no_value = name == "undefined" or (
                        name in undefined and model.truth(undefined[name])
                    )
                    self._violated(name, run, (model, no_value))

    def _ask(self, run: Run, term: Term) -> Answer:
        return ask(self.system.logic, (*run.facts, term), self.budget.part(self.effort))

    def _violated(self, name: str, run: Run, found: tuple[Model, bool]) -> None:
        """Note that a model violates a property, or that it is undefined there."""
        model, undefined = found
        trace = run.trace(model)
        if self.doubt:
            self.decided[name] = self._open(name, self.doubt)
            return
        if trace is None:
            self._decide(name, Verdict.UNKNOWN, "the counterexample is infinite")
            return
        verdict = Verdict.UNDEFINED if undefined else Verdict.VIOLATED
        self._decide(name, verdict, after(trace), trace)

    def _decide(self, name: str, verdict: Verdict, note: str, trace: Trace | None = None) -> None:
        self.decided[name] = PropertyProof(name, verdict, METHOD, self.covers, note, trace)

    def _open(self, name: str, why: str) -> PropertyProof:
        """The verdict of a property for which no violation was found."""
        steps = name in self.over_steps
        if self.depth < steps:
            note = why or (NO_STEP if steps else "")
            return PropertyProof(name, Verdict.UNKNOWN, METHOD, self.covers, note)
        if self.ended:
            verdict = Verdict.PROVED_WITHIN if self.within else Verdict.PROVED
            note = f"no run has more than {self.depth} events"
            return PropertyProof(name, verdict, METHOD, self.covers, note)
        about = f"{self.covers}; runs of at most {self.depth} events"
        return PropertyProof(name, Verdict.BOUNDED, METHOD, about, why, events=self.depth)
