"""Runs as terms: a start or an arbitrary state, and one step after the other.

Every step is all transitions and arguments at once; the state after it is merged over them. A fault
ends a run: only steps that nothing stopped, within the lengths of the scope, go on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lawful.spec.ir import Json
from lawful.spec.verdicts import FAULTS

from ..smt.algebra.term import Term
from ..smt.encode.control_flow import join_states
from ..smt.encode.sorts import NotEncodable
from ..smt.encode.symbolic import State, Value
from ..smt.obligations import Case
from ..smt.solver.models import Witness
from ..smt.solver.solve import Model
from ..smt.system import TransitionSystem
from ..verdict import Trace, TraceStep

STOPS = (*FAULTS, "excess")


@dataclass(frozen=True)
class Link:
    """One step of a run: `choice` is the number of its case, `goes` the condition to go on.

    `faults` has the condition of each kind of fault, `excess` that a value outgrows its encoding.
    """

    choice: Term
    cases: tuple[Case, ...]
    goes: Term
    faults: Mapping[str, Term]


class Run:
    """A run, which `extend` makes longer: `states[i]` is the state before `links[i]`.

    With `started` the first link is the start, and `states[0]` are the parameters.
    """

    def __init__(self, system: TransitionSystem, *, started: bool) -> None:
        self.system = system
        self.logic = system.logic
        self.facts = system.parameter_facts() if started else system.state_facts()
        self.states: list[State] = [system.parameters if started else system.state]
        self.links: list[Link] = []
        if started:
            self._add([_encoded(system.case(name)) for name in system.starts])

    def extend(self, only: str | None = None) -> None:
        """Add a step: of one transition, or of any; raises NotEncodable."""
        rows = [row for row in self.system.machine.transitions if only in (None, row.name)]
        self._add([self.system.step(row, self.states[-1]) for row in rows])

    def _add(self, cases: Sequence[Case]) -> None:
        logic, system = self.logic, self.system
        choice = logic.fresh("choice", logic.int)
        taken = [logic.equal(choice, logic.number(i)) for i in range(len(cases))]
        goes: list[Term] = []
        faults: dict[str, list[Term]] = {name: [] for name in STOPS}
        after: State = cases[-1].step.after
        for test, case in reversed(list(zip(taken, cases, strict=True))):
            here, step = (test, *case.given, case.within), case.step
            seen = (*here, logic.negate(step.stopped["excess"]))
            goes.append(logic.all((*seen, step.done, case.bounded)))
            out_of = logic.all((step.done, logic.negate(case.bounded)))
            faults["bounds"].append(logic.all((*seen, logic.any((step.stopped["bounds"], out_of)))))
            faults["asserts"].append(logic.all((*seen, step.stopped["asserts"])))
            faults["undefined"].append(logic.all((*seen, step.stopped["undefined"])))
            faults["ambiguous"].append(logic.all((*seen, step.stopped["ambiguous"])))
            faults["excess"].append(logic.all((*here, step.stopped["excess"])))
            if case is not cases[-1]:
                run = system.run(self.states[-1])
                after = join_states(run, test, step.after, after, system.machine)
        ways = [(test, case.step.after) for test, case in zip(taken, cases, strict=True)]
        named, equal = self._named(after, ways)
        self.states.append(named)
        stops = {name: logic.any(where) for name, where in faults.items()}
        done = logic.all((logic.any(goes), *equal))
        self.links.append(Link(choice, tuple(cases), done, stops))

    def _named(self, merged: State, ways: Sequence[tuple[Term, State]]) -> tuple[State, list[Term]]:
        """The state after a step with new constants for what it changes, and their equations.

        Terms that grow from step to step are much harder for Z3. Containers are merged as they are.
        """
        logic, system = self.logic, self.system
        named, equal = dict(merged), list[Term]()
        for name, old in self.states[-1].items():
            value = merged[name]
            if len(ways) < 2 or value is old or not isinstance(value, Term):
                continue
            if not logic.is_container(value):
                new = named[name] = system.encoding.give(logic.like(name, value))
                self._limit(new, [after[name] for _, after in ways])
                for test, after in ways:
                    each = after[name]
                    assert isinstance(each, Term)
                    equal.append(logic.implies(test, logic.equal(new, each)))
        return named, equal

    def _limit(self, new: Term, values: Sequence[Value]) -> None:
        """Note the range of a number after this step, for divisions in later steps."""
        spans = [self.logic.limited(each) for each in values if isinstance(each, Term)]
        known = [span for span in spans if span is not None]
        if len(known) == len(values):
            self.logic.limit(new, min(low for low, _ in known), max(high for _, high in known))

    def contested(self, only: str | None = None) -> Term:
        """The condition that two transitions of one event (or of this one) are enabled next."""
        logic, found = self.logic, list[Term]()
        for event in self.system.contested.values():
            if only not in (None, event.name):
                continue
            case = self.system.choice(event, self.states[-1])
            found.append(logic.all((*case.given, case.within, case.step.stopped["ambiguous"])))
        return logic.any(found)

    def case(self, model: Model, number: int) -> Case:
        """The case that a link of the run is in a model."""
        link = self.links[number]
        return link.cases[min(max(0, model.integer(link.choice)), len(link.cases) - 1)]

    def trace(self, model: Model) -> Trace | None:
        """The run of a model, from its start; None where a value in it is infinite."""
        witness = Witness(self.system.encoding, model)
        states: list[Mapping[str, Json]] = []
        steps: list[TraceStep] = []
        for number, link in enumerate(self.links):
            case = self.case(model, number)
            fixed, after, output = self.system.values_of(case, witness)
            # The conditions of the run are true, even where the model does not decide them.
            goes = link.goes in self.facts or model.truth(link.goes)
            state = {**after, **fixed.parameters}
            if number:
                old = states[-1]
                changed = {k: v for k, v in state.items() if goes and old[k] != v}
                steps.append(TraceStep(case.event, case.name, fixed.args, changed, output))
            if not goes:
                break
            states.append(state)
        return None if witness.infinite else Trace(tuple(states), tuple(steps))


def _encoded(case: Case | NotEncodable) -> Case:
    if isinstance(case, NotEncodable):
        raise case
    return case
