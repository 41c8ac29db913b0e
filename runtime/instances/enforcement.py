"""Invariants and step properties that are evaluated on running instances.

A property is evaluated for all values of its parameters, on a machine and on all of its parts, by
its compiled function. A property that reads ghosts cannot be: ghosts are erased at run time.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Collection, Iterator, Mapping
from itertools import product
from typing import Any

from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.analysis.composition import machines_in
from lawful.spec.outcomes import PropertyViolated, Undefined
from lawful.spec.syntax.declare import slot
from lawful.spec.values.text import text_of_error

from ..kernel.dispatch import NO_VALUE
from ..kernel.guards import Broken
from ..kernel.operators import values
from ..kernel.plan import Asserted, AssertedProperty, Plan
from ..kernel.signal_handlers import let_out
from ..kernel.state import State

ERASED = "it reads what is erased at run time"
PROVED = "it is proved"


NOTHING = Asserted()


def judge(asserted: Asserted, machine: State, event: str, before: State | None = None) -> None:
    """Raise `PropertyViolated` for the first property that is false, `Undefined` where one has no
    value; `before` is the instance as it was before the event."""
    for row in asserted.rows:
        name = machine.__plan__.name
        try:
            wrong = _wrong(row, machine, before)
        except (*NO_VALUE, Broken) as error:
            let_out(error)
            what = f"{row.name}: {type(error).__name__}: {text_of_error(error)}"
            raise Undefined(name, event, what) from error
        if wrong is not None:
            raise PropertyViolated(name, event, row.name, wrong)


def judgeable(plan: Plan, without: Collection[str] = ()) -> Asserted:
    """The properties that can be evaluated at run time; `without` names proved ones."""
    rows: list[AssertedProperty] = []
    left: list[tuple[AssertedProperty, str]] = []
    for row in _rows(plan.machine):
        why = PROVED if row.name in without else _why_not(row, plan)
        if why:
            left.append((row, why))
        else:
            rows.append(row)
    return Asserted(tuple(rows), tuple(left))


def _rows(whole: ir.Machine) -> Iterator[AssertedProperty]:
    for inner in machines_in(whole):
        if any(hop.variable.ghost for hop in inner.path):
            continue
        path = tuple(hop.name for hop in inner.path)
        for p in inner.machine.properties:
            if p.kind in ("invariant", "step_property"):
                yield AssertedProperty(inner.prefix + p.name, path, p)


def _why_not(row: AssertedProperty, plan: Plan) -> str:
    """Why a property cannot be evaluated; empty where it can."""
    for name in row.path:
        part = t.part_of(plan.fields[name])
        assert part is not None
        cls: Any = plan.resolved.parts[part.machine]
        plan = cls.lawful.plan
    if not plan.only_reads(row.of.name):
        return ERASED
    return without_a_list(row.of)


def without_a_list(p: ir.Property) -> str:
    """Which parameter of a property has values that cannot be enumerated; empty where none has."""
    for name, kind in p.function.params[p.kind == "step_property" :]:
        if not all(map(_has_a_list, t.inside(kind))):
            return f"the values of its parameter {name} cannot be enumerated"
    return ""


def _has_a_list(kind: t.Type) -> bool:
    match kind:
        case t.Int(low=low, high=high):
            return low is not None and high is not None
        case t.Bool() | t.Enum() | t.Sort() | t.Nothing() | t.Set():
            return True
        case t.Record() | t.Tuple() | t.Union():
            return True  # `t.inside` yields their components, too.
        case _:
            return False


def _wrong(row: AssertedProperty, machine: State, before: State | None) -> str | None:
    """How the property is false; None where it is true."""
    old = {} if before is None else dict(_at(before, row.path))
    of_steps = row.of.kind == "step_property"
    params = row.of.function.params[of_steps:]
    for place, each in _at(machine, row.path):
        now = old.get(place) if of_steps else each
        if now is None:
            continue  # This step has made the part.
        ask = now.__plan__.functions[row.of.name]
        given = (each,) if of_steps else ()
        for args in product(*(values(now, kind) for _, kind in params)):
            if not ask(now, *given, *args):
                named = [f"{n} = {v!r}" for (n, _), v in zip(params, args, strict=True)]
                where = [f"at {place!r}"] if place else []
                return " ".join(["false", *where, *(["with", ", ".join(named)] if named else [])])
    return None


def _at(machine: State, path: tuple[str, ...]) -> Iterator[tuple[tuple[Any, ...], State]]:
    """The parts at the end of a path, each with the keys on the way."""
    if not path:
        yield (), machine
        return
    held = getattr(machine, slot(path[0]), None)
    family = machine.__plan__.families[path[0]]
    parts = {} if held is None else held if family else {None: held}
    for key, part in parts.items():
        for keys, inner in _at(part, path[1:]):
            yield ((key, *keys) if family else keys), inner


def kept(machine: State, asserted: Asserted) -> State | None:
    """A copy of the instance before an event, where a step property needs it."""
    return copy.deepcopy(machine) if asserted.steps else None


# Locks: which properties are proved.


def proved(lock: str | os.PathLike[str], plan: Plan, fingerprint: str) -> frozenset[str]:
    """The properties that a file of `lawful lock` says are proved for all values, without a scope.

    ValueError where the file lacks this machine, or has another version of it.
    """
    import json  # No instance needs it to begin with.

    try:
        with open(lock, encoding="utf-8") as file:
            data: Any = json.load(file)
        rows: Mapping[str, Any] = data["machines"]
        mine = [row for name, row in rows.items() if name.rpartition(":")[2] == plan.name]
        found = {row["fingerprint"]: row["prove"]["properties"] for row in mine}
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"{lock} is no file of lawful lock: {error}") from error
    if not found:
        raise ValueError(f"{lock} says nothing of {plan.name}")
    if fingerprint not in found:
        raise ValueError(
            f"{lock} is of another {plan.name}: {', '.join(found)}, not {fingerprint}: lawful lock"
        )
    verdicts: Mapping[str, Any] = found[fingerprint]
    return frozenset(name for name, row in verdicts.items() if row["verdict"] == "proved")
