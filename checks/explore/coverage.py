"""What a search exercised: how often each guard was true and how often it refused, and the values
of variables.

Both are computed from the states that were found, with the reference engine, so that they do not
depend on the engine that found them. Guards are counted over the arguments that a search tries;
arguments that a plan leaves out at once (see `spec.lower.argument_plans`) count as one.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.callee import One, Several, Start, callee
from lawful.spec.analysis.headers import Firing, Source, entry
from lawful.spec.analysis.walk import everything
from lawful.spec.errors import Place
from lawful.spec.flat import Plan
from lawful.spec.ir import Json
from lawful.spec.text.expressions import expr
from lawful.spec.text.reasons import conjuncts, text
from lawful.spec.text.statements import path
from lawful.spec.values.world import encode, rank

from ..reference import Reference
from ..reference.expressions import SELF, Code, Env, Guard
from ..reference.states import State
from .limits import Budget, Limits, OutOfBudget
from .space import Args, Space

ABSENT = object()  # No value, not even None.
MOST = 100  # Values that are listed of each place; all are counted.
SHOWN = 12  # Of those that people read.


@dataclass(frozen=True, slots=True)
class Guarding:
    """A guard clause of a transition: how often it was true, and how often it was the one that
    refused; the two together are how often it was reached with a value."""

    transition: str
    place: Place
    clause: str
    true: int
    refused: int

    @property
    def odd(self) -> str:
        """What is odd about the guard, if anything."""
        if not self.true and not self.refused:
            return "never reached"
        if not self.true:
            return "never true"
        return "" if self.refused else "never refuses"


@dataclass(frozen=True, slots=True)
class PlaceValues:
    """The values of a place: how many, the first ones in JSON form and in order, and for integers
    alone the least and the greatest."""

    count: int
    values: tuple[Json, ...]
    least: int | None = None
    most: int | None = None

    def __str__(self) -> str:
        if self.least is not None and self.most is not None and self.count > 1:
            if self.count == self.most - self.least + 1:
                return f"{self.least}..{self.most}"
            if self.count > SHOWN:
                return f"{self.count:,} values in {self.least}..{self.most}"
        if not self.count:
            return "nothing"
        named = ", ".join(text(value) for value in self.values[:SHOWN])
        more = f", ... ({self.count:,} values)" if self.count > SHOWN else ""
        return named + more


@dataclass(frozen=True, slots=True)
class Coverage:
    """Over how many states it was counted, the guards in the order of the source, the values."""

    states: int
    guards: tuple[Guarding, ...]
    values: Mapping[str, PlaceValues]


def coverage(space: Space, states: Sequence[State], limits: Limits) -> Coverage:
    """What these states exercised; when the seconds are over, or it is asked to stop, the rest of
    them are left."""
    began = time.perf_counter()
    space.budget = Budget(limits, began)
    counting = Counting(space)
    collector = Collector(space.machine)
    looked = 0
    for state in states:
        looked += 1
        collector.look(state)
        try:
            counting.tries(state)
        except OutOfBudget:
            break
        if limits.within().met(0, time.perf_counter() - began, False):
            break
    return Coverage(looked, tuple(_guards(counting)), collector.found())


class Counting(Reference):
    """The reference engine, which records the outcome of each guard; see `Clauses` for their
    keys."""

    def __init__(self, space: Space) -> None:
        super().__init__(space.machine, space.world)
        self.space = space
        self.domains = space.values.of
        self.ask = space.ask
        self.said: Counter[tuple[str, int, bool]] = Counter()
        self.rule = ""
        self.asking = 0  # How many `can` this is inside of: those refuse nothing.

    def tries(self, state: State) -> None:
        """Every transition that is tried in a state, with every argument."""
        for rule, row in self.space.rules:
            if self.machine.is_of_ignores(row):
                continue
            self.rule = row.name
            if not self.space.source_fits(row, state):
                self._note(row, False)
                continue
            names = [plan.name for plan in rule.plans]
            for args in self._tried(rule.plans, {SELF: state}):
                self.step(state, row.name, dict(zip(names, args, strict=True)))

    def _tried(self, plans: tuple[Plan, ...], env: Env) -> Iterator[Args]:
        if not plans:
            yield ()
            return
        plan, rest = plans[0], plans[1:]
        present = self.space.present(plan, env)
        if present is None:
            yield from self._every(plans)
            return
        if plan.over is not None or present == ():
            present = dict.fromkeys(present)
            left = next((v for v in self.space.values.each(plan.type) if v not in present), ABSENT)
            if left is not ABSENT:
                firsts = [next(iter(self.space.values.each(each.type)), ABSENT) for each in rest]
                if ABSENT not in firsts:
                    yield (left, *firsts)
        for value in present:
            self.space.ask()
            for more in self._tried(rest, {**env, plan.name: value}):
                yield (value, *more)

    def _every(self, plans: tuple[Plan, ...]) -> Iterator[Args]:
        """All arguments, whatever the plans say."""
        for args in itertools.product(*map(self._all_of, plans)):
            self.space.ask()
            yield args

    def _all_of(self, plan: Plan) -> Iterator[Any]:
        for value in self.space.all_of(plan):
            self.space.ask()
            yield value

    def _note(self, node: ir.Node, true: bool) -> None:
        if not self.asking:
            self.said[self.rule, id(node), true] += 1

    # Guards, as the reference engine has them.

    def header(self, row: ir.Transition, env: Env) -> None:
        """The same, noted as one clause."""
        try:
            super().header(row, env)
        except Guard:
            self._note(row, False)
            raise
        self._note(row, True)

    def block(self, body: tuple[ir.Stmt, ...], env: Env) -> None:
        """The same, statement by statement."""
        for stmt in body:
            match stmt:
                case ir.Require(test=test):
                    self._require(stmt, conjuncts(test), env)
                case ir.Refuse() | ir.Tick():
                    self._passes(stmt, env)
                case _:
                    super().block((stmt,), env)

    def _require(self, stmt: ir.Require, tests: Sequence[ir.Expr], env: Env) -> None:
        for test in tests:
            true = bool(self.eval(test, env))
            self._note(test, true)
            if not true:
                raise Guard(stmt.test, stmt.why, env)

    def _passes(self, stmt: ir.Stmt, env: Env) -> None:
        try:
            super().block((stmt,), env)
        except Guard:
            self._note(stmt, False)
            raise
        self._note(stmt, True)

    def code(self, e: ir.Expr) -> Code:
        """The same; a `needed` notes whether there was a value."""
        if not isinstance(e, ir.Needed) or id(e) in self._codes:
            return super().code(e)
        of = super().code(e)

        def code(env: Env) -> Any:
            try:
                value = of(env)
            except Guard as guard:
                if guard.why is e.why:
                    self._note(e, False)
                raise
            self._note(e, True)
            return value

        self._codes[id(e)] = e, code
        return code

    def can(self, part: Any, kind: t.Type, name: str, args: list[Any]) -> bool:
        """The same, with nothing noted."""
        self.asking += 1
        try:
            return super().can(part, kind, name, args)
        finally:
            self.asking -= 1


# The clauses.


def _guards(counting: Counting) -> Iterator[Guarding]:
    for _, row in counting.space.rules:
        if counting.machine.is_of_ignores(row):
            continue
        for node, place, clause in Clauses(counting).of(row):
            true, false = (counting.said[row.name, id(node), each] for each in (True, False))
            yield Guarding(row.name, place, clause, true, false)


Clause = tuple[ir.Node, Place, str]


class Clauses:
    """The guards of one transition, those of the parts and helpers that it calls included."""

    def __init__(self, reference: Reference) -> None:
        self.reference = reference
        self.known: set[int] = set()

    def of(self, row: ir.Transition) -> Iterator[Clause]:
        """Its header, then its body's in the order of the source."""
        if id(row) in self.known:
            return
        self.known.add(id(row))
        text = _header(row)
        if text:
            yield row, row.function.place, text
        yield from self._body(row.function)

    def _body(self, function: ir.Function) -> Iterator[Clause]:
        if id(function) in self.known:
            return
        self.known.add(id(function))
        for node in everything(function.body):
            match node:
                case ir.Require(test=test):
                    yield from ((each, each.place, expr(each)) for each in conjuncts(test))
                case ir.Refuse(why=why):
                    yield node, node.place, f"refuse({expr(why)})"
                case ir.Needed(of=of):
                    yield node, node.place, f"needed({expr(of)})"
                case ir.Tick():
                    yield node, function.place, "no urgent timer is due"
                case ir.Call() | ir.Step() | ir.Base():
                    yield from self._called(node)
                case _:
                    pass

    def _called(self, node: ir.Call | ir.Step | ir.Base) -> Iterator[Clause]:
        m = self.reference
        match node:
            case ir.Base(name=name):
                rows = [row for each in m.machines.values() for row in each.bases]
                yield from self.of(next(row for row in rows if row.name == name))
            case ir.Step(part=ir.Expr(type=t.Part(machine=machine)), name=name):
                match callee(m.machines[machine], name):
                    case Start(function=start):
                        yield from self._body(start)
                    case One(transition=row):
                        yield from self.of(row)
                    case Several(serving=serving):
                        for row in serving:
                            yield from self.of(row)
            case ir.Call(of=ir.Expr(type=t.Part(machine=machine)), function=name):
                yield from self._body(m.functions[machine, name])
            case ir.Call(function=name):
                yield from self._body(m.module_functions[name])
            case _:
                raise AssertionError(node)


def _header(row: ir.Transition) -> str:
    """A header's guards in words; nothing where it has none."""
    said: list[str] = []
    for asked in entry(row):
        match asked:
            case Source(control, tuple() as states):
                said.append(f"{path(control)} is {' or '.join(states)}")
            case Source(ir.Item(of=of) as control) if not _total(of.type):
                said.append(f"there is {path(control)}")
            case Firing(timer):
                said.append(f"timer {path(timer)} is armed")
            case _:
                pass
    return ", ".join(said)


def _total(kind: t.Type) -> bool:
    return isinstance(kind, t.Map) and kind.total


# The values.


class Collector:
    """Collects the values, place by place: `window`, `sender.window`. The values in a container
    have one name, `rm[]`; its size and, for a partial map, its keys are collected too."""

    def __init__(self, machine: ir.Machine) -> None:
        self.machine = machine
        self._kinds: dict[str, t.Type] = {}
        self._values: dict[str, set[Any]] = {}
        self._seen: dict[str, set[Any]] = {}

    def look(self, state: State) -> None:
        """Take one more state."""
        self._look_at(self.machine, state, "")

    def found(self) -> Mapping[str, PlaceValues]:
        """The collected values, in the order of the declaration."""
        return {
            place: _values(self._values.get(place, ()), self._kinds.get(place, t.INT))
            for place in _places(self.machine, self.machine, "")
        }

    def _look_at(self, machine: ir.Machine, state: State, prefix: str) -> None:
        for v, value in zip(machine.variables, state, strict=False):
            seen = self._seen.setdefault(prefix + v.name, set())
            if value not in seen:
                seen.add(value)
                self._at(prefix + v.name, v.type, value)

    def _at(self, place: str, kind: t.Type, value: Any) -> None:
        match kind:
            case t.Part(machine=name):
                self._look_at(self.machine.part(name), value, f"{place}.")
            case t.Map(key=key, value=of):
                if not kind.total:
                    self._size(place, len(value))
                    self._each(f"keys({place})", key, value)
                for inside in value.values():
                    self._at(f"{place}[]", of, inside)
            case t.Bag(item=item):
                self._size(place, value.total())
                self._each(f"{place}[]", item, (each for each, n in value.items() if n))
            case t.Set(item=item) | t.Seq(item=item):
                self._size(place, len(value))
                self._each(f"{place}[]", item, value)
            case _:
                self._each(place, kind, (value,))

    def _size(self, place: str, size: int) -> None:
        self._each(f"len({place})", t.INT, (size,))

    def _each(self, place: str, kind: t.Type, values: Iterable[Any]) -> None:
        self._kinds[place] = kind
        self._values.setdefault(place, set()).update(values)


def _places(whole: ir.Machine, machine: ir.Machine, prefix: str) -> Iterator[str]:
    for v in machine.variables:
        yield from _inside(whole, prefix + v.name, v.type)


def _inside(whole: ir.Machine, place: str, kind: t.Type) -> Iterator[str]:
    match kind:
        case t.Part(machine=name):
            yield from _places(whole, whole.part(name), f"{place}.")
        case t.Map(value=of):
            if not kind.total:
                yield from (f"len({place})", f"keys({place})")
            yield from _inside(whole, f"{place}[]", of)
        case t.Bag() | t.Set() | t.Seq():
            yield from (f"len({place})", f"{place}[]")
        case _:
            yield place


def _values(values: Iterable[Any], kind: t.Type) -> PlaceValues:
    forms = sorted((encode(value, kind) for value in values), key=rank)
    first, count = tuple(forms[:MOST]), len(forms)
    if isinstance(kind, t.Int | t.Clock) and count:
        numbers: list[int] = [*values]
        return PlaceValues(count, first, min(numbers), max(numbers))
    return PlaceValues(count, first)


# As JSON.


def _values_json(found: PlaceValues) -> Json:
    """The entry of a place in the JSON of `lawful check`."""
    out: dict[str, Json] = {"count": found.count, "values": list(found.values)}
    if found.least is not None:
        out |= {"least": found.least, "most": found.most}
    return out


def to_json(found: Coverage) -> Json:
    """The entry `coverage` of a machine in the JSON of `lawful check`."""
    guards: list[Json] = [
        {
            "transition": g.transition,
            "file": g.place.file,
            "line": g.place.line,
            "clause": g.clause,
            "true": g.true,
            "refused": g.refused,
        }
        for g in found.guards
    ]
    values: dict[str, Json] = {at: _values_json(each) for at, each in found.values.items()}
    return {"states": found.states, "guards": guards, "values": values}
