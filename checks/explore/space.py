"""The state space of a `Flat`: initial states, and every admitted event of a state."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.callee import bind
from lawful.spec.analysis.headers import own_source
from lawful.spec.analysis.partiality import always_defined
from lawful.spec.flat import Flat, Plan, Rule
from lawful.spec.ir import Json
from lawful.spec.quick_dataclass import dataclass
from lawful.spec.values import bounds
from lawful.spec.values.positions import Positions
from lawful.spec.values.world import World, chosen, decode, encode
from lawful.spec.verdicts import PropertyKind

from ..reference import Done, Fault, Reference, Refusal
from ..reference.expressions import SELF, Guard
from ..reference.missing_values import NoValue
from ..reference.properties import PropertyOf, judged
from ..reference.states import State
from .limits import Budget
from .omissions.arguments import LeftOut, left_out
from .state_json import changes, shown

Args = tuple[Any, ...]
Event = tuple[int, Args]  # A transition by its place among the rules, and its arguments.


@dataclass(frozen=True, slots=True)
class Edge:
    """One admitted event: a step, or a fault; `cut` names the variable or constraint by which the
    step leaves the scope."""

    rule: int
    args: Args
    outcome: Done | Fault
    cut: str | None


@dataclass(frozen=True, slots=True)
class Failing:
    """A property fails of the machine `own`, at the path `where` if that is in a family."""

    own: State
    args: Args
    where: str
    undefined: str | None


class Space:
    """Enumerates a machine within its scope with the reference engine.

    `tried` counts the starts and events that were tried so far, the refused ones as well: a measure
    of work that is the same on every machine. `begun` is how many starts a search began with.
    `budget` is that of a search, `preparation` that of what comes before it: generating its steps.
    """

    def __init__(self, flat: Flat, world: World, values: bounds.Values | None = None) -> None:
        """`values` are those that arguments have; by default all within the scope."""
        self.flat = flat
        self.tried = self.begun = 0
        self.machine = flat.machine
        self.world = world
        self.reference = Reference(flat.machine, world)
        self.budget, self.preparation = Budget(), Budget()
        self.values = values or bounds.Values(world, sizes_of(flat), elements_of(flat, world))
        self.positions = Positions(self.values)
        self.reference.domains = self.values.of
        self.reference.ask = self.ask
        self.fields = {(m, v): kind for m, v, kind in flat.fields}
        self.rules = [(rule, self.machine.transition(rule.name)) for rule in flat.rules]
        rules = {rule.name: rule for rule in flat.properties}
        self.judged = tuple(judged(self.machine, rules))
        self.invariants = self.of_kind("invariant")
        self.step_properties = self.of_kind("step_property")
        self.reachables = self.of_kind("reachable")
        self.constraints = self.of_kind("constraint")
        # Where one of these has no value, that is a failure; false is none.
        sought = self.of_kind("reachable", "recoverable")
        self.partial = [j for j in sought if not always_defined(j.row.function)]

    def ask(self) -> None:
        """Whether to go on; raises `OutOfBudget` where the budget of a search does not allow it."""
        self.budget.ask()

    def of_kind(self, *kinds: PropertyKind) -> list[PropertyOf]:
        """The properties of some kinds, in the order of the declaration, parts' last."""
        return [j for j in self.judged if j.kind in kinds]

    # What the scope leaves out.

    @functools.cached_property
    def left_out(self) -> tuple[LeftOut, ...]:
        """The arguments that the scope leaves out, though they might be a step."""
        return tuple(left_out(self.flat))

    def lacks_steps(self) -> bool:
        """Whether it leaves out what might be a start or a step, or bits of serial numbers."""
        return any(row.of != "property" for row in self.left_out)

    def lacks_values(self, j: PropertyOf) -> bool:
        """Whether it leaves out values of a property's parameters, or bits of serial numbers."""
        return any(row.of == "serial" or row.rule == j.rule.name for row in self.left_out)

    def lacks_steps_from(self, state: State) -> bool:
        """Whether an argument that the scope leaves out might be a step from this state."""
        names = {row.rule for row in self.left_out if row.of == "transition"}
        rules = [(rule, row) for rule, row in self.rules if rule.name in names]
        return any(
            self.source_fits(row, state) and not self._refused(rule.plans[0].guards, state)
            for rule, row in rules
        )

    def _refused(self, guards: Iterable[ir.Expr], state: State) -> bool:
        """Whether one of these is false, whatever the arguments are."""
        try:
            return not all(self.reference.eval(guard, {SELF: state}) for guard in guards)
        except NoValue:
            return False
        except Guard:
            return True

    # Initial states.

    def parameters(self) -> Iterator[dict[str, Any]]:
        """Every combination of parameter values that the `@assume`s allow."""
        rows = dict(self.flat.parameters)
        given: list[list[tuple[str, Any]]] = []
        for p in self.machine.parameters:
            tried = rows.get(p.name, ())
            if tried:
                given.append([(p.name, decode(value, p.type, self.world)) for value in tried])
        for combination in itertools.product(*given):
            self.ask()
            made = dict(combination)
            alone = self.reference.parameters(made)
            if self.assumed(alone):
                yield made

    def assumed(self, alone: State) -> bool:
        """Whether the `@assume`s allow the parameters of a state."""
        return all(self._assumed(p, alone) for p in self.machine.of_kind("assume"))

    def _assumed(self, p: ir.Property, state: State) -> bool:
        try:
            return self.holds(p, state)
        except NoValue as error:
            what = f"the assumption {p.name} has no value within the scope: {error}"
            raise ValueError(f"{self.machine.name}: {what}") from error

    def initial(self) -> Iterator[tuple[str | None, Args, Done | Fault]]:
        """Every start: the name and arguments of the `@initial`, or None, and its outcome."""
        for made in self.parameters():
            yield from self.starts(made)

    def starts(self, made: Mapping[str, Any]) -> Iterator[tuple[str | None, Args, Done | Fault]]:
        """Every start with these parameters."""
        try:
            state = self.reference.initial(made)
        except NoValue as error:
            yield None, (), Fault("undefined", str(error), "initial")
            return
        if not self.machine.initials:
            out_of = self.reference.breach(self.machine.name, state)
            yield None, (), Fault("bounds", out_of, "") if out_of else Done(state, None, "")
        for rule, function in zip(self.flat.initials, self.machine.initials, strict=True):
            for args in self.arguments(rule, state):
                named = bind(function.params, args)
                self.tried += 1
                outcome = self.reference.start(state, function, named)
                if not isinstance(outcome, Refusal):
                    yield function.name, args, outcome

    # Steps.

    def arguments(self, rule: Rule, state: State, *, planned: bool = True) -> Iterator[Args]:
        """The argument tuples of a rule in a state, in a fixed order: all, or where `planned` is
        true those that its plans do not leave out, which would be refused."""
        if not rule.plans:
            yield ()
            return
        yield from self._arguments(rule.plans, 0, {SELF: state}, planned)

    def _arguments(
        self, plans: tuple[Plan, ...], at: int, env: dict[str, Any], planned: bool = True
    ) -> Iterator[Args]:
        if at == len(plans):
            yield ()
            return
        plan = plans[at]
        present = self.present(plan, env) if planned else None
        for value in self.all_of(plan) if present is None else present:
            self.ask()
            more = {**env, plan.name: value}
            for rest in self._arguments(plans, at + 1, more, planned and present is not None):
                yield (value, *rest)

    def present(self, plan: Plan, env: dict[str, Any]) -> Iterable[Any] | None:
        """The values that are not refused anyway; None where something is undefined."""
        try:
            if not all(self.reference.eval(guard, env) for guard in plan.guards):
                return ()
            if plan.over is None:
                return self.all_of(plan)
            # In a list, one value may stand more than once; of a map or a bag, keys are meant.
            members = dict.fromkeys(self.reference.eval(plan.over, env))
        except NoValue:
            return None
        except Guard:
            return ()
        values = [value for value in members if _belongs(value, plan.type)]
        return sorted(values, key=lambda value: self.positions.of(plan.type, value))

    def all_of(self, plan: Plan) -> Iterable[Any]:
        """Every value of a parameter within the scope, made on demand.

        ValueError if there are too many to enumerate.
        """
        try:
            return self.values.all_of(plan.type)
        except ValueError as error:
            raise ValueError(f"the parameter {plan.name}: {error}") from error

    def edges(self, state: State, only: int | None = None) -> Iterator[Edge]:
        """Every admitted event of a state, in the order of the declaration; with `only`, those of
        the rule of this number."""
        for index, args, outcome in self.outcomes(state, only):
            yield Edge(index, args, *self.placed(outcome, state))

    def outcomes(
        self, state: State, only: int | None = None
    ) -> Iterator[tuple[int, Args, Done | Fault]]:
        """The same, whether or not the scope cuts it."""
        for index, (rule, row) in enumerate(self.rules):
            if only not in (None, index) or not self.source_fits(row, state):
                continue
            for args in self.arguments(rule, state):
                self.tried += 1
                outcome = self.step(state, (index, args))
                if not isinstance(outcome, Refusal):
                    yield index, args, outcome

    def step(self, state: State, event: Event) -> Done | Fault | Refusal:
        """The outcome of one transition with these arguments, whether or not the scope cuts it."""
        row = self.rules[event[0]][1]
        return self.reference.step(state, row.name, bind(row.function.params, event[1]))

    def source_fits(self, row: ir.Transition, state: State) -> bool:
        """Whether the source admits the state; read early only where no parameter decides it."""
        source = own_source(row)
        if source is None:
            return True
        name, states = source
        return state[self.reference.layout[self.machine.name][name]].name in states

    def placed(
        self, outcome: Done | Fault, before: State | None = None
    ) -> tuple[Done | Fault, str | None]:
        """An outcome, and the variable or constraint by which it is outside the scope, if it is.

        What `before`, a state within the scope, holds as the very same object is not judged again.
        A constraint without a value is a fault: nobody said whether the state is to be explored.
        """
        if isinstance(outcome, Fault):
            return outcome, None
        found = self._outside(self.machine, outcome.state, before)
        if found is not None:
            return outcome, found
        for j in self.constraints:
            failing = self.failing(j, outcome.state)
            if failing is not None and failing.undefined is not None:
                what = f"the constraint {j.name}: {failing.undefined}"
                return Fault("undefined", what, outcome.transition), None
            if failing is not None:
                return outcome, j.name
        return outcome, None

    def breached(self, state: State) -> str | None:
        """The variable by which a state is outside the scope's bounds; None if it is within."""
        return self._outside(self.machine, state, None)

    def _outside(self, machine: ir.Machine, state: State, before: State | None) -> str | None:
        for i, v in enumerate(machine.variables):
            value, old = state[i], None if before is None else before[i]
            if value is old:
                continue
            part = t.part_of(v.type)
            if part is not None:
                inner = self._outside_part((machine.name, v), part, value, old)
                if inner is not None:
                    return f"{v.name}{inner}"
            elif bounds.breach(value, self.fields[machine.name, v.name]) is not None:
                return v.name
        return None

    def _outside_part(
        self, at: tuple[str, ir.Variable], part: t.Part, value: Any, before: Any
    ) -> str | None:
        """What is outside in a part, `.queue`, or in a family: one name for all its members."""
        row, (owner, v) = self.machine.part(part.machine), at
        if not isinstance(v.type, t.Map):
            inner = self._outside(row, value, before)
            return None if inner is None else f".{inner}"
        scoped = self.fields[owner, v.name]
        assert isinstance(scoped, t.Map)
        old: Mapping[Any, State] = before or {}
        for key, member in value.items():
            if bounds.breach(key, scoped.key) is not None:
                return ""
            inner = self._outside(row, member, old.get(key))
            if inner is not None:
                return f".{inner}"
        return None

    # Properties.

    def holds(self, p: ir.Property, state: State, *args: Any) -> bool:
        """The value of a property of the machine whose state it is; NoValue if it has none."""
        named = dict(zip((n for n, _ in p.function.params), args, strict=False))
        return bool(self.reference.call_named(p.function, state, named))

    def is_true(self, p: ir.Property, state: State, args: Args) -> bool:
        """Whether the property is true in a state for these values; undefined is not true."""
        try:
            return self.holds(p, state, *args)
        except NoValue:
            return False

    def undefined(self, j: PropertyOf, state: State) -> Failing | None:
        """The first values of its parameters with which the property has no value in a state, with
        the reason; None if it always has one."""
        for args in self.arguments(j.rule, state):
            try:
                self.holds(j.row, state, *args)
            except NoValue as error:
                return Failing(state, args, "", str(error))
        return None

    def failing(self, j: PropertyOf, state: State, after: State | None = None) -> Failing | None:
        """The parameters and the reason for which the property is false or undefined; None if it
        holds.

        A step property is judged of the parts that exist before and after the step.
        """
        later = None if after is None else dict(j.members(after))
        for keys, own in j.members(state):
            more: Args = () if later is None else (later.get(keys),)
            if None in more:
                continue
            for args in self.arguments(j.rule, own):
                try:
                    if not self.holds(j.row, own, *more, *args):
                        return Failing(own, (*more, *args), j.where(keys), None)
                except NoValue as error:
                    return Failing(own, (*more, *args), j.where(keys), str(error))
        return None

    # JSON forms.

    def shown(self, state: State) -> dict[str, Json]:
        """The variables and tried parameters of a state by name, parts as objects."""
        return shown(self.machine, state, self.machine, [name for name, _ in self.flat.parameters])

    def changed(self, before: State, after: State) -> dict[str, Json]:
        """The paths that a step changed: `state`, `sender.window`, `peers[a].sent`."""
        return dict(changes(self.machine, self.machine, (before, after), ""))

    def shown_args(self, function: ir.Function, args: Args) -> dict[str, Json]:
        """Arguments by name in JSON form."""
        rows = zip(function.params[-len(args) :] if args else (), args, strict=True)
        return {name: encode(value, kind) for (name, kind), value in rows}


def sizes_of(flat: Flat) -> dict[str, int]:
    """How many elements each sort and opaque has, those of the machines that it refines, too."""
    return {name: size for each in (*flat.abstracts, flat) for name, size in each.sizes}


def elements_of(flat: Flat, world: World) -> dict[str, tuple[Any, ...]]:
    """The elements of each sort, those of the machines that it refines, too."""
    return world.elements(row for each in (*flat.abstracts, flat) for row in each.elements)


def _belongs(value: Any, kind: t.Type) -> bool:
    """Whether a member of a collection is a value of the parameter's type within the scope."""
    match kind:
        case t.Union():
            try:
                return bounds.breach(value, chosen(value, kind)) is None
            except TypeError:
                return False
        case t.Record(name=name):
            return value.__class__.__name__ == name and bounds.breach(value, kind) is None
        case t.Nothing():
            return value is None
        case _:
            return value is not None and bounds.breach(value, kind) is None
