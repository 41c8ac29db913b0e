"""A machine as terms: an arbitrary state that its invariants allow, and every step from there.

A question is a set of facts and of goals: the goals are true wherever the facts are, or there is a
counterexample. The same machine can be asked about exactly, within a small window of integers
(where models are found easily), or with values put in (where a model is confirmed).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lawful.checks.smt.algebra.term import Term, conjuncts
from lawful.checks.smt.encode.bounds import inside, limit
from lawful.checks.smt.encode.conversion import now as present
from lawful.checks.smt.encode.execution import Execution
from lawful.checks.smt.encode.parts import members, unlisted
from lawful.checks.smt.encode.places import bind_args, read
from lawful.checks.smt.encode.sorts import NotEncodable, Options, fields_of
from lawful.checks.smt.encode.symbolic import (
    STOPS,
    PathStep,
    StatePath,
    StopKind,
    SymbolicStep,
    TypedValue,
    Unencodable,
    Value,
)
from lawful.checks.smt.encode.time import same_time
from lawful.checks.smt.encode.values import Encoding
from lawful.checks.smt.solver.models import Witness, literal
from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.ir import Json

from .obligations import Case, Fixed, Question, State, attempt
from .refinement import Refinement
from .timer_clauses import TimerClause

BUILT_IN: tuple[StopKind, ...] = ("bounds", "asserts", "undefined", "ambiguous")
START = "the start"  # No transition can have this name.


@dataclass(frozen=True)
class SafetyProperty:
    """A property to judge: the machine's own, or one of the part at `path`: `part.property`.

    A map on the path stands for all of its members.
    """

    name: str
    row: ir.Property
    machine: ir.Machine
    path: StatePath


class TransitionSystem:
    """One machine in one encoding; of its timers something may be known already, `shown`."""

    def __init__(
        self,
        machine: ir.Machine,
        options: Options,
        fixed: Fixed | None = None,
        shown: Sequence[TimerClause] = (),
    ) -> None:
        self.machine = machine
        self.encoding = Encoding(machine, options)
        self.logic = self.encoding.logic
        self.fixed = fixed
        self.dropped: set[str] = set()  # Invariants that are not assumed.
        self.lost: list[str] = []  # What is true of parameters, but could not be encoded.
        self.judged = {j.name: j for j in _safety_properties(machine, machine, "", ())}
        # Several transitions serve these events, and no caller chooses among them.
        self.contested = {
            e.name: e for e in machine.events if not e.choice and len(machine.serving(e.name)) > 1
        }
        self.scoped = self.encoding.lengths.variables(machine)
        self._cases: dict[tuple[str, bool], Case | NotEncodable] = {}
        self._goals: dict[tuple[str, str, bool], list[Term] | NotEncodable] = {}
        self._given: list[Term] = []
        self.parameters = {
            p.name: self._value(p.name, p.type, None if fixed is None else fixed.parameters)
            for p in machine.parameters
        }
        self._bound(self.parameters, {p.name: p.type for p in machine.parameters})
        assumed = {p.name: attempt(self._assumed, p) for p in machine.of_kind("assume")}
        self.lost += [f"@assume {n}" for n, a in assumed.items() if isinstance(a, NotEncodable)]
        self.about_parameters = (*self._given, *known(assumed.values()))
        self._given = []
        self.state = {
            v.name: self._value(v.name, v.type, None if fixed is None else fixed.state)
            for v in machine.variables
        } | self.parameters
        self._bound(self.state, {v.name: v.type for v in machine.variables})
        self._bound(self.state, self.scoped)
        self._given += self._one_time()
        self._given += known(attempt(each.said, self.run(self.state)) for each in shown)
        # Every part was made with parameters that it assumes.
        found = [attempt(self.always, j, self.state) for j in self.of_kind("assume") if j.path]
        self._given += known(found)
        self.hypotheses = {
            j.name: attempt(self.always, j, self.state) for j in self.of_kind("invariant")
        }

    def of_kind(self, kind: ir.PropertyKind) -> list[SafetyProperty]:
        """The properties of one kind, in the order of the declaration, parts' last."""
        return [j for j in self.judged.values() if j.row.kind == kind]

    # Facts.

    def facts(self) -> tuple[Term, ...]:
        """What is true of an arbitrary state: assumptions, bounds, invariants."""
        return (*self.about_any(), *self.assumed.values())

    def about_any(self) -> tuple[Term, ...]:
        """What is true of a state, whatever the invariants say: assumptions, bounds."""
        return (*self.about_starts(), *self._given)

    def about_starts(self) -> tuple[Term, ...]:
        """What is true of the parameters of an instance."""
        return (*self.encoding.facts, *self.about_parameters)

    @property
    def assumed(self) -> dict[str, Term]:
        """The invariants that are assumed, by name."""
        return {
            name: h
            for name, h in self.hypotheses.items()
            if name not in self.dropped and not isinstance(h, NotEncodable)
        }

    def _value(self, name: str, kind: t.Type, fixed: Mapping[str, Json] | None) -> Value:
        try:
            if fixed is None or name not in fixed:
                return self.encoding.fresh(name, kind)
            return literal(self.encoding, fixed[name], kind)
        except NotEncodable as error:
            return Unencodable(f"{name}: {error.construct}")

    def _bound(self, values: Mapping[str, Value], types: Mapping[str, t.Type]) -> None:
        for name, kind in types.items():
            value = values[name]
            if isinstance(value, Term):
                found = attempt(self.encoding.bounds, value, kind)
                self._given += known([found])
                limit(self.logic, value, kind)
                if isinstance(found, NotEncodable):
                    self.lost.append(f"the bounds of {name}")

    def _one_time(self) -> list[Term]:
        """That the clocks of parts tell the time of the whole."""
        now = present(self.run(self.state))
        rows = [(self.state[v.name], v.type) for v in self.machine.variables]
        return [
            same_time(self.encoding, value, kind, now)
            for value, kind in rows
            if isinstance(value, Term)
        ]

    # Properties.

    def run(self, state: Mapping[str, Value]) -> Execution:
        """An execution that begins in this state."""
        return Execution(self.encoding, state, self.machine)

    def _assumed(self, p: ir.Property) -> Term:
        """An assumption's value, false where it has none."""
        value, defined = self.run(self.parameters).judge(p.function, {})
        return self.logic.all((defined, value))

    def always(
        self,
        j: SafetyProperty,
        state: Mapping[str, Value],
        after: Mapping[str, Value] | None = None,
    ) -> Term:
        """The property for all values of its parameters and all members of the families on its
        path, of a step those that are there before and after; where it is undefined, false.
        """
        logic = self.logic
        return logic.all(
            logic.forall(names, where, logic.all((defined, value)))
            for names, where, defined, value in self._of_members(j, state, after)
        )

    def broken(
        self,
        j: SafetyProperty,
        state: Mapping[str, Value],
        after: Mapping[str, Value] | None = None,
    ) -> tuple[Term, Term]:
        """Where the property does not hold for some values of its parameters and some member, and
        where it has no value for them. Both name them by the same constants, so that a model
        decides them."""
        logic, rows = self.logic, list(self._of_members(j, state, after))
        fails = [logic.all((w, logic.negate(logic.all((d, v))))) for _, w, d, v in rows]
        return logic.any(fails), logic.any(logic.all((w, logic.negate(d))) for _, w, d, _ in rows)

    def _of_members(
        self, j: SafetyProperty, state: Mapping[str, Value], after: Mapping[str, Value] | None
    ) -> Iterator[tuple[list[Term], Term, Term, Term]]:
        """For each member the constants for any values of the parameters, where these are allowed
        and the member is there, where the property has a value, and where that is true."""
        for place, there in self._members(j, *((state,) if after is None else (state, after))):
            names, where = unlisted(place), list(there)
            args: dict[str, Value] = {}
            for i, (name, kind) in enumerate(j.row.function.params):
                if after is not None and i == 0:
                    args[name] = read(self.run(after), place)
                    continue
                term = self.logic.fresh(name, self.encoding.shape(kind))
                names.append(term)
                where.append(self.encoding.bounds(term, kind))
                args[name] = term
            value, defined = self.run(state).judge(j.row.function, args, place, j.machine)
            yield names, self.logic.all(where), defined, value

    def _members(
        self, j: SafetyProperty, *states: Mapping[str, Value]
    ) -> list[tuple[StatePath, list[Term]]]:
        """Where a part that the property is of may be, and where it is there in all the states."""
        return members(self.encoding, j.path, [self.run(each) for each in states])

    # Cases.

    @property
    def starts(self) -> list[str]:
        """The ways to start: from the defaults, or by each `@initial`."""
        return [f.name for f in self.machine.initials] or [START]

    def _start(self, function: ir.Function | None) -> Case:
        run = self.run(self.parameters)
        run.state = run.defaults(self.parameters)
        args, given = self._arguments(function.params if function else ())
        step = run.begin(function, args) if function else run.began()
        return self._case(
            (START if function is None else function.name, START, t.NOTHING),
            None,
            (args, function.params if function else (), given),
            step,
        )

    def case(self, name: str, property: str = "") -> Case | NotEncodable:
        """The start or transition of that name; about ambiguity, the contested event."""
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
        """An event that several transitions serve, for the same arguments; it has no outcome.

        The state `before` is an arbitrary one, where none is given. Raises NotEncodable.
        """
        before = before or self.state
        logic = self.logic
        args, given = self._arguments(event.params)
        typed = {name: TypedValue(args[name], kind) for name, kind in event.params}
        steps: list[SymbolicStep] = []
        for row in self.machine.serving(event.name):
            run = self.run(before)
            steps.append(run.step(row, bind_args(run, row.function.params, [*typed.values()], row)))
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
            args=typed,
            given=(*given, laws),
            step=step,
            bounded=logic.true,
            within=logic.negate(stopped["beyond"]),
            output=event.output,
        )

    def step(self, row: ir.Transition, before: State | None = None) -> Case:
        """One transition, from an arbitrary state where none is given; raises NotEncodable."""
        before = before or self.state
        args, given = self._arguments(row.function.params)
        step = self.run(before).step(row, args)
        return self._case(
            (row.name, row.event, row.function.output),
            before,
            (args, row.function.params, given),
            step,
        )

    def _arguments(
        self, params: Sequence[tuple[str, t.Type]]
    ) -> tuple[dict[str, Value], tuple[Term, ...]]:
        fixed = None if self.fixed is None else self.fixed.args
        args = {name: self._value(name, kind, fixed) for name, kind in params}
        for name, kind in params:
            limit(self.logic, args[name], kind)
        given = [
            self.encoding.bounds(value, kind)
            for (_, kind), value in zip(params, args.values(), strict=True)
            if isinstance(value, Term)
        ]
        return args, tuple(given)

    def _case(
        self,
        names: tuple[str, str, t.Type],
        before: Mapping[str, Value] | None,
        call: tuple[Mapping[str, Value], Sequence[tuple[str, t.Type]], tuple[Term, ...]],
        step: SymbolicStep,
    ) -> Case:
        args, params, given = call
        given = (*given, step.laws)
        kinds = {v.name: v.type for v in self.machine.variables}
        kept = [
            inside(self.encoding, value, kinds[name])
            for name, value in step.after.items()
            if name in kinds and not isinstance(value, Unencodable)
        ]
        for when, value in step.outputs:
            kept.append(self.logic.implies(when, inside(self.encoding, value, names[2])))
        typed = {name: TypedValue(args[name], kind) for name, kind in params}
        bounded, within = self.logic.all(kept), self._within(step)
        return Case(names[0], names[1], before, typed, given, step, bounded, within, names[2])

    def _within(self, step: SymbolicStep) -> Term:
        """That the step and the state after it keep the lengths of the scope."""
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
        """What is true where the case happens: it is not refused, and nothing else is judged."""
        if case.before is None:
            return (*self.about_starts(), *case.given)
        return (*self.facts(), *case.given)

    def happens(self, case: Case) -> tuple[Term, ...]:
        """What is true where the step is taken and has a state after it."""
        return (*self.possible(case), case.step.done, case.bounded)

    def question(self, case: Case, name: str, *, near: bool = False) -> Question:
        """Whether the case keeps a property, within the scope; `near` as in `nearer`. Raises
        NotEncodable."""
        key = case.name, name, near
        if key not in self._goals:
            with self.logic.counting(f"{case.name}.{name}{'.near' * near}"):
                self._goals[key] = attempt(self._goal, case, name, near)
        goal, step = self._goals[key], case.step
        if isinstance(goal, NotEncodable):
            raise goal
        facts = self.possible(case) if name in BUILT_IN else self.happens(case)
        if name == "bounds":
            facts = (
                *facts,
                self.logic.any((step.stopped["bounds"], step.done, step.stopped["excess"])),
            )
        # No list may get longer than is seen.
        goals = (*conjuncts(self.logic.negate(case.step.stopped["excess"])), *goal)
        return Question((*facts, case.within), goals)

    def nearer(self, case: Case, name: str) -> Question | None:
        """A question that is easier to decide and whose answer `unsat` is one to the question, too:
        of a refinement, that the arguments are those of the step. Raises NotEncodable."""
        j = self.judged.get(name)
        if j is None or j.row.kind != "refines" or case.before is None:
            return None
        return self.question(case, name, near=True)

    def _goal(self, case: Case, name: str, near: bool) -> list[Term]:
        """What is to be true, part by part."""
        step, logic = case.step, self.logic
        if name == "bounds":
            self._all_judged(case)
            kept = logic.all(logic.implies(step.done, part) for part in conjuncts(case.bounded))
            return list(conjuncts(logic.all((logic.negate(step.stopped["bounds"]), kept))))
        if name in BUILT_IN:
            return list(conjuncts(logic.negate(step.stopped[name])))
        j = self.judged[name]
        if j.row.kind == "refines":
            goal = Refinement(self.encoding, self.machine, j.row).goal(case, near=near)
            return list(conjuncts(goal))
        if j.row.kind == "step_property":
            assert case.before is not None
            return list(conjuncts(self.always(j, case.before, step.after)))
        parts = list(conjuncts(self.always(j, step.after)))
        if case.before is None:
            return parts
        # What the step does not touch is assumed already, word for word.
        assumed = logic.all(known([self.hypotheses[name]]))
        had = set(conjuncts(assumed))
        return [part for part in parts if part not in had]

    def _all_judged(self, case: Case) -> None:
        """Raise NotEncodable where the bounds of a changed variable were not judged."""
        before = case.before or self.parameters
        for name, value in case.step.after.items():
            if isinstance(value, Unencodable) and before.get(name) is not value:
                raise NotEncodable(value.why)

    def undefined(self, case: Case, name: str) -> Term:
        """Where the property itself has no value after the case. Raises NotEncodable."""
        j = self.judged.get(name)
        if j is None or j.row.kind not in ("invariant", "step_property"):
            return self.logic.false
        before, after = case.before or {}, case.step.after
        of_step = j.row.kind == "step_property"
        return (self.broken(j, before, after) if of_step else self.broken(j, after))[1]

    # Witnesses.

    def told(self, case: Case, witness: Witness) -> tuple[Fixed, dict[str, Json], Json]:
        """The values of a model: before the step, after it, and its output."""
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


def _safety_properties(
    whole: ir.Machine, machine: ir.Machine, prefix: str, path: StatePath
) -> Iterator[SafetyProperty]:
    """The safety properties of a machine and of its parts, and what these assume."""
    for p in machine.properties:
        if p.kind in ("invariant", "step_property", "assume", "refines"):
            yield SafetyProperty(prefix + p.name, p, machine, path)
    for v in machine.variables:
        part = t.part_of(v.type)
        if part is not None:
            at: StatePath = (*path, PathStep(t.Part(machine.name), v.name))
            if isinstance(v.type, t.Map):
                at = (*at, PathStep(v.type))  # Its key is named where the property is judged.
            yield from _safety_properties(whole, whole.part(part.machine), f"{prefix}{v.name}.", at)


def known(found: Iterable[Term | NotEncodable]) -> list[Term]:
    """What could be encoded."""
    return [each for each in found if not isinstance(each, NotEncodable)]
