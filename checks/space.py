"""The state space of a `Flat`: initial states, and every admitted event of a state."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lawful.spec import bounds, ir
from lawful.spec import types as t
from lawful.spec.flat import Flat, Plan, Rule
from lawful.spec.ir import Json
from lawful.spec.sorting import in_order
from lawful.spec.values import World, chosen, decode, encode

from .boxes import State
from .meaning import SELF, NoValue, fields_of
from .reference import Done, Fault, Outcome, Reference, Refusal

Args = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Edge:
    """One admitted event: a step, or a fault; `cut` where the step leaves the scope."""

    rule: int
    args: Args
    outcome: Done | Fault
    cut: bool


@dataclass(frozen=True)
class Judged:
    """A property to judge: the machine's own, or one of a part, called `part.property`."""

    name: str
    row: ir.Property
    rule: Rule
    path: tuple[int, ...]

    @property
    def kind(self) -> ir.PropertyKind:
        return self.row.kind

    def of(self, state: State) -> State:
        """The state of the machine whose property it is."""
        for at in self.path:
            state = state[at]
        return state


class Space:
    """Enumerates a machine within its scope with the reference engine."""

    def __init__(self, flat: Flat, world: World) -> None:
        self.flat = flat
        self.machine = flat.machine
        self.world = world
        self.reference = Reference(flat.machine, world)
        self.values = bounds.Values(world, dict(flat.sizes))
        self.reference.domains = self.values.of
        self.fields = {(m, v): kind for m, v, kind in flat.fields}
        self.rules = [(rule, self.machine.transition(rule.name)) for rule in flat.rules]
        rules = {rule.name: rule for rule in flat.properties}
        self.judged = tuple(self._judged(rules, self.machine, "", ()))
        self.invariants = self.of_kind("invariant")
        self.step_properties = self.of_kind("step_property")
        self.reachables = self.of_kind("reachable")

    def _judged(
        self, rules: Mapping[str, Rule], machine: ir.Machine, prefix: str, path: tuple[int, ...]
    ) -> Iterator[Judged]:
        """The machine's properties, and the safety properties of its parts."""
        for p in machine.properties:
            if not path or p.kind in ("invariant", "step_property"):
                yield Judged(prefix + p.name, p, rules[f"{machine.name}.{p.name}"], path)
        for at, v in enumerate(machine.variables):
            if isinstance(v.type, t.Part):
                part = self.machine.part(v.type.machine)
                yield from self._judged(rules, part, f"{prefix}{v.name}.", (*path, at))

    def of_kind(self, *kinds: ir.PropertyKind) -> list[Judged]:
        """The properties of some kinds, in the order of the declaration, parts' last."""
        return [j for j in self.judged if j.kind in kinds]

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
            made = dict(combination)
            state = self.reference.initial(made)
            if all(self.holds(p, state) for p in self.machine.of_kind("assume")):
                yield made

    def initial(self) -> Iterator[tuple[str | None, Args, Outcome]]:
        """Every start: the name and arguments of the `@initial`, or None, and its outcome."""
        for made in self.parameters():
            state = self.reference.initial(made)
            if not self.machine.initials:
                out_of = self.reference.breach(self.machine.name, state)
                start = Fault("bounds", out_of, "initial") if out_of else Done(state, None, "")
                yield None, (), start
            for rule, function in zip(self.flat.initials, self.machine.initials, strict=True):
                for args in self.arguments(rule, state):
                    named = _named(function, args)
                    outcome = self.reference.start(state, function, named)
                    if not isinstance(outcome, Refusal):
                        yield function.name, args, outcome

    # Steps.

    def arguments(self, rule: Rule, state: State) -> Iterator[Args]:
        """Every argument tuple of a rule in a state, in a fixed order."""
        if not rule.plans:
            yield ()
            return
        yield from self._arguments(rule.plans, 0, {SELF: state})

    def _arguments(self, plans: tuple[Plan, ...], at: int, env: dict[str, Any]) -> Iterator[Args]:
        if at == len(plans):
            yield ()
            return
        plan = plans[at]
        for value in self._candidates(plan, env):
            for rest in self._arguments(plans, at + 1, {**env, plan.name: value}):
                yield (value, *rest)

    def _candidates(self, plan: Plan, env: dict[str, Any]) -> Iterator[Any]:
        if plan.over is None:
            yield from self.values.of(plan.type)
            return
        seen: set[Any] = set()
        for value in in_order(self.reference.eval(plan.over, env)):
            if value not in seen and _belongs(value, plan.type):
                seen.add(value)
                yield value

    def edges(self, state: State) -> Iterator[Edge]:
        """Every admitted event of a state, in the order of the declaration."""
        step = self.reference.step
        for index, (rule, row) in enumerate(self.rules):
            if not self._source_fits(row, state):
                continue
            names = [plan.name for plan in rule.plans]
            for args in self.arguments(rule, state):
                outcome = step(state, row.name, dict(zip(names, args, strict=True)))
                if isinstance(outcome, Refusal):
                    continue
                cut = isinstance(outcome, Done) and self.outside(outcome.state, state) is not None
                yield Edge(index, args, outcome, cut)

    def _source_fits(self, row: ir.Transition, state: State) -> bool:
        """Whether the source admits the state; read early only where no parameter decides it."""
        control = row.control
        if row.source is None or not isinstance(control, ir.Field):
            return True
        if not isinstance(control.of, ir.Self):
            return True
        at = self.reference.layout[self.machine.name][control.name]
        return state[at].name in row.source

    def outside(self, state: State, before: State | None = None) -> str | None:
        """The name of a variable outside the scope, or of a false constraint; or None.

        What `before`, a state within the scope, holds as the very same object is not judged again.
        """
        found = self._outside(self.machine, state, before)
        if found is None:
            false = (c for c in self.machine.of_kind("constraint") if not self.holds(c, state))
            found = next((c.name for c in false), None)
        return found

    def _outside(self, machine: ir.Machine, state: State, before: State | None) -> str | None:
        for i, v in enumerate(machine.variables):
            value, old = state[i], None if before is None else before[i]
            if value is old:
                continue
            if isinstance(v.type, t.Part):
                inner = self._outside(self.machine.part(v.type.machine), value, old)
                if inner is not None:
                    return f"{v.name}.{inner}"
            elif bounds.breach(value, self.fields[machine.name, v.name]) is not None:
                return v.name
        return None

    # Properties.

    def holds(self, p: ir.Property, state: State, *args: Any) -> bool:
        """The value of a property of the machine whose state it is; NoValue if it has none."""
        named = dict(zip((n for n, _ in p.function.params), args, strict=False))
        return bool(self.reference.call_named(p.function, state, named))

    def is_true(self, j: Judged, state: State, args: Args) -> bool:
        """Whether the property is true in a state for these values; undefined is not true."""
        try:
            return self.holds(j.row, j.of(state), *args)
        except NoValue:
            return False

    def failing(
        self, j: Judged, state: State, after: State | None = None
    ) -> tuple[Args, str | None] | None:
        """The arguments for which the property is false, or undefined and why; None if it holds."""
        own = j.of(state)
        more = () if after is None else (j.of(after),)
        for args in self.arguments(j.rule, own):
            try:
                if not self.holds(j.row, own, *more, *args):
                    return args, None
            except NoValue as error:
                return args, str(error)
        return None

    # JSON forms.

    def shown(self, state: State) -> dict[str, Json]:
        """The variables and tried parameters of a state by name, parts as objects."""
        return self._shown(self.machine, state, [name for name, _ in self.flat.parameters])

    def _shown(self, machine: ir.Machine, state: State, tried: list[str]) -> dict[str, Json]:
        out: dict[str, Json] = {}
        kinds = {v.name: v.type for v in machine.variables}
        kinds.update({p.name: p.type for p in machine.parameters})
        names = {v.name for v in machine.variables}
        for name, value in zip(fields_of(machine), state, strict=True):
            kind = kinds[name]
            if isinstance(kind, t.Part):
                out[name] = self._shown(self.machine.part(kind.machine), value, [])
            elif name in names or name in tried:
                out[name] = encode(value, kind)
        return out

    def shown_args(self, function: ir.Function, args: Args) -> dict[str, Json]:
        """Arguments by name in JSON form."""
        rows = zip(function.params[-len(args) :] if args else (), args, strict=True)
        return {name: encode(value, kind) for (name, kind), value in rows}


def changed(before: Mapping[str, Json], after: Mapping[str, Json]) -> dict[str, Json]:
    """What a step changed, by path: `state`, `sender.window`."""
    out: dict[str, Json] = {}
    for name, value in after.items():
        old = before.get(name)
        if old == value and type(old) is type(value):
            continue
        part = isinstance(value, dict) and isinstance(old, dict) and value.keys() == old.keys()
        if part and isinstance(value, dict) and isinstance(old, dict) and not _tagged(value):
            out.update({f"{name}.{k}": v for k, v in changed(old, value).items()})
        else:
            out[name] = value
    return out


def _named(function: ir.Function, args: Args) -> dict[str, Any]:
    return dict(zip((name for name, _ in function.params), args, strict=True))


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
        case _:
            return bounds.breach(value, kind) is None


def _tagged(value: Mapping[str, Json]) -> bool:
    """Whether an object is a record, set or map in JSON form and not a part."""
    return any(key.startswith("$") for key in value)
