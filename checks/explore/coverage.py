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
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.callee import One, Several, Start, callee
from lawful.spec.analysis.headers import Firing, Source, entry
from lawful.spec.analysis.walk import everything
from lawful.spec.errors import Place
from lawful.spec.flat import Plan
from lawful.spec.ir import Json
from lawful.spec.lower.argument_plans import without_ranges
from lawful.spec.quick_dataclass import dataclass
from lawful.spec.text.expressions import expr
from lawful.spec.text.reasons import conjuncts
from lawful.spec.text.statements import path

from ..reference import Reference
from ..reference.expressions import SELF, Code, Env, Guard
from ..reference.states import State
from .limits import Budget, Limits, OutOfBudget
from .place_values import Collector, PlaceValues
from .place_values import to_json as values_json
from .space import Args, Space

Clause = tuple[ir.Node, Place, str]
Said = Counter[tuple[str, int, bool]]  # By transition, identity of the guard, whether it was true.
ABSENT = object()  # No value, not even None.


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
class Coverage:
    """Over how many states it was counted, the guards in the order of the source, the values.

    `engine` counted the guards; `not_generated` is the construct for which code that counts them
    cannot be generated, where that was the reference engine because of it.
    """

    states: int
    guards: tuple[Guarding, ...]
    values: Mapping[str, PlaceValues]
    engine: str = "reference"
    not_generated: str = ""


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
    return Coverage(looked, tuple(guards(space, counting.said)), collector.found())


class Counting(Reference):
    """The reference engine, which records the outcome of each guard; see `Clauses` for their
    keys."""

    def __init__(self, space: Space) -> None:
        super().__init__(space.machine, space.world)
        self.space = space
        self.domains = space.values.of
        self.ask = space.ask
        self.said: Said = Counter()
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
            for args in self._tried(without_ranges(rule.plans), {SELF: state}):
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


def guards(space: Space, said: Said) -> Iterator[Guarding]:
    """The guards of the machine, with what was counted of them."""
    for name, clauses in clauses_of(space).items():
        for node, place, clause in clauses:
            true, false = (said[name, id(node), each] for each in (True, False))
            yield Guarding(name, place, clause, true, false)


def clauses_of(space: Space) -> dict[str, list[Clause]]:
    """The guards of each transition, in the order of the source."""
    rows = [row for _, row in space.rules if not space.machine.is_of_ignores(row)]
    return {row.name: [*Clauses(space.reference).of(row)] for row in rows}


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


def to_json(found: Coverage) -> Json:
    """The entry `coverage` of a machine in the JSON of `lawful check`."""
    rows: list[Json] = [
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
    values: dict[str, Json] = {at: values_json(each) for at, each in found.values.items()}
    out: dict[str, Json] = {"states": found.states, "engine": found.engine}
    if found.not_generated:
        out["not_generated"] = found.not_generated
    return {**out, "guards": rows, "values": values}
