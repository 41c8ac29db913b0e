"""An exported module beside the reference engine, on random states: successors and faults."""

from __future__ import annotations

import dataclasses
from typing import Any

from lawful.checks.explore.space import Space
from lawful.checks.reference import Fault
from lawful.checks.reference.states import State
from lawful.checks.tla.module import CannotWrite, export
from lawful.checks.tla.names import spelled, word
from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.values.world import chosen
from tests.agree.planning import combinations
from tests.checks.tla.checking import Exploring
from tests.checks.tla.meaning import Function, Model, sequence

MOST = 60  # Argument tuples of a rule: with more it is left out.


def told(space: Space) -> tuple[Space, Exploring] | None:
    """The machine without the transitions that have too many arguments, and its module; None where
    too little is left. Raises CannotWrite."""
    few = tuple(r for r in space.flat.rules if combinations(p.type for p in r.plans) <= MOST)
    if not few:
        return None
    names = {rule.name for rule in few}
    rows = tuple(row for row in space.flat.machine.transitions if row.name in names)
    machine = dataclasses.replace(space.flat.machine, transitions=rows, fairness=(), initials=())
    flat = dataclasses.replace(space.flat, rules=few, machine=machine, initials=())
    made = export(flat, {})
    return Space(flat, space.world), Exploring(made.module, made.config)


Told = tuple[set[Function], set[str]]


def ours(space: Space, state: State) -> Told:
    """The states that steps lead to, as values of TLA+, and the faults."""
    states: set[Function] = set()
    faults: set[str] = set()
    events: set[tuple[str, Any]] = set()
    for edge in space.edges(state):
        event = space.rules[edge.rule][1].event
        if (event, edge.args) in events and not space.machine.event(event).choice:
            faults.add("ambiguous")
        events.add((event, edge.args))
        if isinstance(edge.outcome, Fault):
            faults.add(edge.outcome.name)
        elif edge.cut is None:
            states.add(as_tla(space.machine, edge.outcome.state, space.machine))
    return states, faults


def as_tla(m: ir.Machine, state: Any, whole: ir.Machine) -> Function:
    """The state of a machine as a record."""
    kinds = [*((v.name, v.type) for v in m.variables), *((p.name, p.type) for p in m.parameters)]
    rows = zip(kinds, state, strict=True)
    return Function({word(name): _value(each, kind, whole) for (name, kind), each in rows})


def _value(value: Any, kind: t.Type, whole: ir.Machine) -> Any:
    match kind:
        case _ if value is None:
            return Model("None")
        case t.Enum():
            return spelled(value.name)
        case t.Sort():
            return Model(word(str(value)))
        case t.Opaque(name=name):
            return Model(f"{word(name)}_{value.id}")
        case t.Float():
            return repr(float(value))
        case t.Record(name=name, fields=fields):
            rows = {word(f): _value(getattr(value, f), of, whole) for f, of in fields}
            return Function({"is": spelled(name), **rows})
        case t.Union():
            return _value(value, chosen(value, kind), whole)
        case t.Part(machine=name):
            return as_tla(whole.part(name), value, whole)
        case _:
            return _container(value, kind, whole)


def _container(value: Any, kind: t.Type, whole: ir.Machine) -> Any:
    match kind:
        case t.Tuple(items=items):
            return sequence([_value(v, of, whole) for v, of in zip(value, items, strict=True)])
        case t.Seq(item=item):
            return sequence([_value(v, item, whole) for v in value])
        case t.Set(item=item):
            return frozenset(_value(v, item, whole) for v in value)
        case t.Bag(item=item):
            return Function({_value(k, item, whole): n for k, n in value.items() if n})
        case t.Map(key=key, value=of):
            rows = value.items()
            return Function({_value(k, key, whole): _value(v, of, whole) for k, v in rows})
        case _:
            return value


__all__ = ["CannotWrite", "Told", "as_tla", "ours", "told"]
