"""The linter: findings about declarations that are legal but suspicious.

Some findings need only the declaration, the others the reachable states within the scope. Where
the exploration is not complete, only the former are reported.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.control_variable import control_variable
from lawful.spec.errors import Place
from lawful.spec.flat import Flat
from lawful.spec.ir import Json
from lawful.spec.text.expressions import expr
from lawful.spec.values.world import World

from ..explore.limits import Limits
from ..explore.search import may_rest
from ..explore.space import Space
from ..explore.state_graph import state_graph
from ..reference.expressions import SELF
from ..reference.missing_values import NoValue
from ..reference.properties import PropertyOf
from ..reference.states import State
from .late_answers import late_answers

# The rules: a finding's kind is that of its rule.
OF_DECLARATIONS = ("unanswered", "unfenced")
OF_STATES = ("dead", "unreached", "sink", "unchanged", "vacuous")
RULES = (*OF_DECLARATIONS, *OF_STATES)


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding: its kind ("dead", "sink", ...), its place, and a sentence about this machine."""

    kind: str
    place: Place
    what: str

    def __str__(self) -> str:
        return f"{self.place}: {self.kind}: {self.what}"


@dataclass(frozen=True, slots=True)
class Findings:
    """What is odd about a machine, in the order of the source; the engine that explored it, and
    the construct for which no steps can be generated, if that was the reference engine.

    `explored`: whether the search came to its end; otherwise only the declaration was looked at.
    """

    rows: tuple[Finding, ...]
    engine: str
    not_generated: str = ""
    explored: bool = True


def lint(flat: Flat, world: World, limits: Limits) -> Findings:
    """The findings about a machine within its scope.

    Raises `ValueError` where no initial state is within the scope.
    """
    machine = flat.machine
    found = [*_unanswered(machine), *_late_answers(machine)]
    seen = _Reached(Space(flat, world), limits)
    if seen.search.complete:
        for ask in (_dead, _unreached, _sinks, _unchanged, _vacuous):
            found += ask(seen)
    found.sort(key=lambda each: (each.place.file, each.place.line, each.kind, each.what))
    search = seen.search
    return Findings(tuple(found), seen.engine, search.not_generated, search.complete)


# Findings from the declaration.


def _unanswered(machine: ir.Machine) -> Iterator[Finding]:
    """Control states in which an event is neither taken nor ignored, so it is always refused."""
    control = control_variable(machine)
    if control is None or not isinstance(control.type, t.Enum):
        return
    for event in machine.events:
        serving = machine.serving(event.name)
        if all(row.timer is not None for row in serving):
            continue  # It is a timer's: no caller sends it.
        answered = set[str]()
        for row in serving:
            own = isinstance(row.control, ir.Field) and row.control.name == control.name
            answered.update(row.source if own and row.source else control.type.members)
        for ignore in machine.ignores:
            if ignore.event == event.name:
                answered.update(ignore.source or control.type.members)
        silent = [name for name in control.type.members if name not in answered]
        if silent:
            what = f"nothing is said about {event.name} in {', '.join(silent)}"
            yield Finding("unanswered", event.place, what)


def _late_answers(machine: ir.Machine) -> Iterator[Finding]:
    """Transitions that may take an answer to an earlier request for a current one."""
    for row, number, counter in late_answers(machine):
        late = f"a late {row.event} of an earlier {counter} is taken for the present one"
        given = f"though {counter} is counted and given out"
        what = f"{row.name} does not read {number}, {given}: {late}"
        yield Finding("unfenced", row.function.place, what)


# Findings from the reachable states.


class _Reached:
    """The reachable states, with the values and control states that occur in them."""

    def __init__(self, space: Space, limits: Limits) -> None:
        self.space = space
        self.held = control_variable(space.machine)
        graph = state_graph(space, limits)
        self.engine, self.search = graph.engine, graph.found
        self.values: defaultdict[str, set[Any]] = defaultdict(set)
        self.leads: defaultdict[str, set[str]] = defaultdict(set)
        self.rests: set[str] = set()
        states: list[State] = [*graph.found.states] if graph.steps else []
        controls = [self.control(state) for state in states]
        for state, here, steps in zip(states, controls, graph.steps, strict=True):
            self._look(state)
            self.leads[here].update(controls[after] for _, after in steps)
            if here not in self.rests and may_rest(space, state):
                self.rests.add(here)

    def _look(self, state: State) -> None:
        for v, value in zip(self.space.machine.variables, state, strict=False):
            self.values[v.name].add(value)

    def control(self, state: State) -> str:
        """The name of the control state; empty where there is none."""
        machine, held = self.space.machine, self.held
        return "" if held is None else str(state[machine.variables.index(held)].name)


def _dead(seen: _Reached) -> Iterator[Finding]:
    for row in seen.space.machine.transitions:
        of_ignores = seen.space.machine.is_of_ignores(row)
        if not of_ignores and not seen.search.enabled[row.name]:
            yield Finding("dead", row.function.place, f"{row.name} is never possible")


def _unreached(seen: _Reached) -> Iterator[Finding]:
    """Control states that are never entered, in families of parts, too."""
    for v in seen.space.machine.variables:
        kind = v.type.value if isinstance(v.type, t.Map) else v.type
        if not isinstance(kind, t.Enum) or not _is_control(seen.space.machine, v.name):
            continue
        held = seen.values[v.name]
        names = {
            each.name
            for value in held
            for each in (value.values() if isinstance(v.type, t.Map) else [value])
        }
        missing = [name for name in kind.members if name not in names]
        if missing:
            what = f"{v.name} is never {' or '.join(missing)}"
            yield Finding("unreached", v.place, what)


def _is_control(machine: ir.Machine, name: str) -> bool:
    controls = [row.control for row in machine.transitions]
    of_items = [each.of if isinstance(each, ir.Item) else each for each in controls]
    return any(isinstance(each, ir.Field) and each.name == name for each in of_items)


def _sinks(seen: _Reached) -> Iterator[Finding]:
    """Control states that no transition leaves and that are not terminal."""
    for name, after in sorted(seen.leads.items()):
        if seen.held is not None and after == {name} and name not in seen.rests:
            yield Finding("sink", seen.held.place, f"nothing leaves {name}, which is not terminal")


def _unchanged(seen: _Reached) -> Iterator[Finding]:
    for v in seen.space.machine.variables:
        if len(seen.values[v.name]) == 1 and t.part_of(v.type) is None:
            yield Finding("unchanged", v.place, f"{v.name} never changes")


def _vacuous(seen: _Reached) -> Iterator[Finding]:
    """Properties that hold vacuously: their premise is false in all reachable states."""
    for j in seen.space.judged:
        if j.path or j.name in seen.search.failures:
            continue
        if j.kind in ("invariant", "leads_to"):
            for asked in _premises(j.row):
                if not _ever(seen, j, asked):
                    yield Finding("vacuous", j.row.place, f"{j.name}: {expr(asked)} is never true")


def _premises(row: ir.Property) -> Iterator[ir.Expr]:
    """The premises of a property: it is vacuous where one is never true."""
    body = row.function.body
    if len(body) != 1 or not isinstance(body[0], ir.Return) or body[0].value is None:
        return
    value = body[0].value
    if row.kind == "leads_to":
        if isinstance(value, ir.Op) and value.op == "tuple":
            yield value.args[0]
        return
    yield from _triggers(value)


def _triggers(e: ir.Expr) -> Iterator[ir.Expr]:
    match e:
        case ir.And(args=args):
            for arg in args:
                yield from _triggers(arg)
        case ir.Or(args=(ir.Op(op="not", args=(asked,)), *_)):
            yield asked
        case ir.Comp(kind="all", element=element, clauses=clauses):
            for asked in _triggers(element):
                yield ir.Comp(e.place, e.type, "any", asked, None, clauses)
        case _:
            pass


def _ever(seen: _Reached, j: PropertyOf, asked: ir.Expr) -> bool:
    """Whether the premise is true in some state, for some arguments of the property."""
    names = [name for name, _ in j.row.function.params]
    for state in seen.search.states:
        for args in seen.space.arguments(j.rule, state):
            env = {SELF: state, **dict(zip(names, args, strict=True))}
            try:
                if seen.space.reference.eval(asked, env):
                    return True
            except NoValue:
                continue
    return False


def text(machine: str, findings: Findings) -> str:
    """The findings of one machine as text, a line each."""
    lines = [machine, *(f"  {each}" for each in findings.rows)]
    if not findings.rows:
        lines = [f"{machine}: nothing odd"]
    if not findings.explored:
        lines.append("  only the declaration was looked at: a limit ended the exploration")
    if findings.not_generated:
        lines.append(f"  slow: steps cannot be generated for {findings.not_generated}")
    return "\n".join(lines)


def to_json(machine: str, findings: Findings) -> dict[str, Json]:
    """One machine's entry in the JSON of `lawful lint`."""
    rows: list[Json] = [
        {"kind": each.kind, "file": each.place.file, "line": each.place.line, "what": each.what}
        for each in findings.rows
    ]
    out: dict[str, Json] = {"machine": machine, "findings": rows, "complete": findings.explored}
    out["engine"] = findings.engine
    if findings.not_generated:
        out["not_generated"] = findings.not_generated
    return out
