"""A machine as a transition system in terms: its starts, its steps, and questions about them.

A question asks whether its facts imply its goals; if not, there is a counterexample.
`symbolic_states` has the states and their properties.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.flat import Timed
from lawful.spec.ir import Json
from lawful.spec.verdicts import FAULTS

from .algebra.term import Term, conjuncts
from .encode.bounds import inside, limit
from .encode.places import bind_args
from .encode.sorts import NotEncodable, Options, fields_of
from .encode.symbolic import STOPS, State, StopKind, SymbolicStep, TypedValue, Unencodable, Value
from .obligations import Case, Fixed, Question, attempt
from .refinement import Refinement
from .solver.models import Witness
from .symbolic_states import SymbolicStates, known
from .timer_clauses import TimerClause

START = "the start"  # No transition can have this name.


@dataclass(frozen=True)
class _Arguments:
    """Arbitrary arguments of a start or step, and the condition that they keep their bounds."""

    typed: Mapping[str, TypedValue]
    facts: tuple[Term, ...]

    @property
    def values(self) -> dict[str, Value]:
        return {name: arg.value for name, arg in self.typed.items()}


class TransitionSystem(SymbolicStates):
    """The starts and steps of one machine, and the questions about them."""

    def __init__(
        self,
        machine: Timed,
        options: Options,
        fixed: Fixed | None = None,
        timer_clauses: Sequence[TimerClause] = (),
    ) -> None:
        super().__init__(machine, options, fixed, timer_clauses)
        # Events that several transitions serve and that leave no choice to the caller.
        self.contested = {
            e.name: e for e in machine.events if not e.choice and len(machine.serving(e.name)) > 1
        }
        self._cases: dict[tuple[str, bool], Case | NotEncodable] = {}
        self._goals: dict[tuple[str, str, bool], list[Term] | NotEncodable] = {}

    # Cases.

    @property
    def starts(self) -> list[str]:
        """The names of the starts: each `@initial`, or START where the machine has none."""
        return [f.name for f in self.machine.initials] or [START]

    def _start(self, function: ir.Function | None) -> Case:
        run = self.run(self.parameters)
        run.state = run.defaults(self.parameters)
        args = self._arguments(function.params if function else ())
        step = run.begin(function, args.values) if function else run.began()
        name = START if function is None else function.name
        return self._case(name, START, args, step, t.NOTHING, before=None)

    def case(self, name: str, property: str = "") -> Case | NotEncodable:
        """The start or transition of that name; for `ambiguous`, the contested event."""
        key = name, property == "ambiguous" and name in self.contested
        if key not in self._cases:
            with self.logic.counting(f"{name}.choice" if key[1] else name):
                self._cases[key] = attempt(self._new_case, *key)
        return self._cases[key]

    def _new_case(self, name: str, contested: bool) -> Case:
        if contested:
            return self.choice(self.contested[name])
        if name in self.starts:
            return self._start(next((f for f in self.machine.initials if f.name == name), None))
        return self.step(self.machine.transition(name))

    def choice(self, event: ir.Event, before: State | None = None) -> Case:
        """A contested event: all transitions that serve it, for the same arguments.

        It has no outcome. Without `before` it begins in the arbitrary state. Raises NotEncodable.
        """
        before = before or self.state
        logic = self.logic
        args = self._arguments(event.params)
        steps: list[SymbolicStep] = []
        for row in self.machine.serving(event.name):
            run = self.run(before)
            steps.append(
                run.step(row, bind_args(run, row.function.params, [*args.typed.values()], row))
            )
        enabled = [logic.negate(step.stopped["refused"]) for step in steps]
        several = [logic.all((a, b)) for i, a in enumerate(enabled) for b in enabled[:i]]
        stopped: dict[StopKind, Term] = dict.fromkeys(STOPS, logic.false)
        stopped["refused"] = logic.negate(logic.any(enabled))
        ambiguous = logic.any((*several, *(step.stopped["ambiguous"] for step in steps)))
        stopped["ambiguous"] = ambiguous
        stopped["beyond"] = logic.any(step.stopped["beyond"] for step in steps)
        stopped["excess"] = logic.any(step.stopped["excess"] for step in steps)
        laws = logic.all(step.laws for step in steps)
        step = SymbolicStep(logic.false, stopped, laws, before, ())
        return Case(
            name=event.name,
            event=event.name,
            before=before,
            args=args.typed,
            given=(*args.facts, laws),
            step=step,
            bounded=logic.true,
            within=logic.negate(stopped["beyond"]),
            output=event.output,
        )

    def step(self, row: ir.Transition, before: State | None = None) -> Case:
        """One transition from `before`, or from the arbitrary state. Raises NotEncodable."""
        before = before or self.state
        args = self._arguments(row.function.params)
        step = self.run(before).step(row, args.values)
        return self._case(row.name, row.event, args, step, row.function.output, before=before)

    def _case(
        self,
        name: str,
        event: str,
        args: _Arguments,
        step: SymbolicStep,
        output: t.Type,
        *,
        before: State | None,
    ) -> Case:
        step = self._with_constraints(step, before)
        given, bounded = (*args.facts, step.laws), self._keeps_bounds(step, output)
        within = self._within(step)
        return Case(name, event, before, args.typed, given, step, bounded, within, output)

    def _with_constraints(self, step: SymbolicStep, before: State | None) -> SymbolicStep:
        """The step, undefined also where a constraint has no value in the state after it, if all
        constraints hold in the state before it: exploration goes on from no other.

        The state is reached all the same: the class that a service embeds evaluates no constraint.
        """
        found = attempt(self._constraint_without_value, before, step.after)
        if isinstance(found, NotEncodable):
            return replace(step, skipped=step.skipped or f"a constraint: {found.construct}")
        undefined = (step.stopped["undefined"], self.logic.all((step.done, found)))
        return replace(step, stopped={**step.stopped, "undefined": self.logic.any(undefined)})

    def _constraint_without_value(self, before: State | None, after: State) -> Term:
        """The condition that a constraint is undefined after a state in which all hold; raises
        NotEncodable."""
        explored = [] if before is None else [self.always(j, before) for j in self.constraints]
        undefined = self.logic.any(self.broken(j, after)[1] for j in self.constraints)
        return self.logic.all((*explored, undefined))

    def _arguments(self, params: Sequence[tuple[str, t.Type]]) -> _Arguments:
        fixed = None if self.fixed is None else self.fixed.args
        typed = {name: TypedValue(self._value(name, kind, fixed), kind) for name, kind in params}
        for value, kind in typed.values():
            limit(self.logic, value, kind)
        facts = [self.encoding.bounds(v, k) for v, k in typed.values() if isinstance(v, Term)]
        return _Arguments(typed, tuple(facts))

    def _keeps_bounds(self, step: SymbolicStep, output: t.Type) -> Term:
        """The condition that the state after the step and its output keep their types' bounds."""
        kinds = {v.name: v.type for v in self.machine.variables}
        kept = [
            inside(self.encoding, value, kinds[name])
            for name, value in step.after.items()
            if name in kinds and not isinstance(value, Unencodable)
        ]
        for when, value in step.outputs:
            kept.append(self.logic.implies(when, inside(self.encoding, value, output)))
        return self.logic.all(kept)

    def _within(self, step: SymbolicStep) -> Term:
        """The condition that the step and the state after it keep the lengths of the scope."""
        logic = self.logic
        kept = [
            inside(self.encoding, step.after[name], kind)
            for name, kind in self.scoped.items()
            if not isinstance(step.after[name], Unencodable)
        ]
        return logic.all(
            (logic.negate(step.stopped["beyond"]), logic.implies(step.done, logic.all(kept)))
        )

    # Questions.

    def possible(self, case: Case) -> tuple[Term, ...]:
        """The assumptions about the case before it happens."""
        if case.before is None:
            return (*self.parameter_facts(), *case.given)
        return (*self.facts(), *case.given)

    def happens(self, case: Case) -> tuple[Term, ...]:
        """The assumptions, and that the step completes and the state after it keeps its bounds."""
        return (*self.possible(case), case.step.done, case.bounded)

    def question(self, case: Case, name: str, *, near: bool = False) -> Question:
        """Whether the case keeps a property within the scope; raises NotEncodable.

        `near` asks the stronger question that `nearer` describes.
        """
        key = case.name, name, near
        if key not in self._goals:
            with self.logic.counting(f"{case.name}.{name}{'.near' * near}"):
                self._goals[key] = attempt(self._goal, case, name, near)
        goal, step = self._goals[key], case.step
        if name == "undefined" and step.skipped:
            raise NotEncodable(step.skipped)
        if isinstance(goal, NotEncodable):
            raise goal
        facts = self.possible(case) if name in FAULTS else self.happens(case)
        if name == "bounds":
            ends = step.stopped["bounds"], step.done, step.stopped["excess"]
            facts = (*facts, self.logic.any(ends))
        # The items beyond the end of a list's encoding are unknown.
        goals = (*conjuncts(self.logic.negate(step.stopped["excess"])), *goal)
        return Question((*facts, case.within), goals)

    def nearer(self, case: Case, name: str) -> Question | None:
        """A stronger question that is easier to decide: where it is `unsat`, so is the question.

        Only a refinement has one: that the arguments of the abstract step are those of the step.
        Raises NotEncodable.
        """
        j = self.properties.get(name)
        if j is None or j.row.kind != "refines" or case.before is None:
            return None
        return self.question(case, name, near=True)

    def _goal(self, case: Case, name: str, near: bool) -> list[Term]:
        """The conjuncts to prove."""
        step, logic = case.step, self.logic
        if name == "bounds":
            self._all_judged(case)
            kept = logic.all(logic.implies(step.done, part) for part in conjuncts(case.bounded))
            return list(conjuncts(logic.all((logic.negate(step.stopped["bounds"]), kept))))
        if name in FAULTS:
            return list(conjuncts(logic.negate(step.stopped[name])))
        j = self.properties[name]
        if j.row.kind == "refines":
            goal = Refinement(self.encoding, self.machine, j.row).goal(case, near=near)
            return list(conjuncts(goal))
        if j.row.kind == "step_property":
            assert case.before is not None
            return list(conjuncts(self.always(j, case.before, step.after)))
        parts = list(conjuncts(self.always(j, step.after)))
        if case.before is None:
            return parts
        # A conjunct about what the step does not change is, as a term, one of the assumptions.
        assumed = logic.all(known([self.hypotheses[name]]))
        had = set(conjuncts(assumed))
        return [part for part in parts if part not in had]

    def _all_judged(self, case: Case) -> None:
        """Raise NotEncodable where a changed variable has no encoding: its bounds are not known."""
        before = case.before or self.parameters
        for name, value in case.step.after.items():
            if isinstance(value, Unencodable) and before.get(name) is not value:
                raise NotEncodable(value.why)

    def undefined(self, case: Case, name: str) -> Term:
        """The condition that the property is undefined after the case; raises NotEncodable."""
        j = self.properties.get(name)
        if j is None or j.row.kind not in ("invariant", "step_property"):
            return self.logic.false
        before, after = case.before or {}, case.step.after
        of_step = j.row.kind == "step_property"
        return (self.broken(j, before, after) if of_step else self.broken(j, after))[1]

    # Models.

    def values_of(self, case: Case, witness: Witness) -> tuple[Fixed, dict[str, Json], Json]:
        """The values in a model: those before the step, those after it, and its output."""
        kinds = dict(fields_of(self.machine))
        before = case.before or {}
        names = [v.name for v in self.machine.variables]
        fixed = Fixed(
            {n: witness.value(v, kinds[n]) for n, v in self.parameters.items()},
            {n: witness.value(before[n], kinds[n]) for n in names if n in before},
            {n: witness.value(v, kind) for n, (v, kind) in case.args.items()},
        )
        after = {n: witness.value(case.step.after[n], kinds[n]) for n in names}
        output: Json = None
        for when, value in case.step.outputs:
            if witness.model.truth(when):
                output = witness.value(value, case.output)
        return fixed, after, output
