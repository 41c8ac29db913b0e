"""Declared invariants and step properties, judged of running instances.

A property is judged for all values of its parameters, of a whole and of all of its parts, by the
functions that are compiled for it. What reads ghosts is erased at run time like these.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Collection, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from lawful.runtime.kernel.dispatch import NO_VALUE
from lawful.runtime.kernel.guards import Broken
from lawful.runtime.kernel.operators import values
from lawful.runtime.kernel.plan import Asserted, AssertedProperty, Plan
from lawful.runtime.kernel.state import State
from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.outcomes import PropertyViolated, Undefined
from lawful.spec.syntax.declare import slot

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
            what = f"{row.name}: {type(error).__name__}: {error}"
            raise Undefined(name, event, what) from error
        if wrong is not None:
            raise PropertyViolated(name, event, row.name, wrong)


def judgeable(plan: Plan, without: Collection[str] = ()) -> Asserted:
    """All that can be judged of a machine at run time, but for these."""
    rows: list[AssertedProperty] = []
    left: list[tuple[AssertedProperty, str]] = []
    for row in _rows(plan.machine, plan.machine, ()):
        why = PROVED if row.name in without else _why_not(row, plan)
        if why:
            left.append((row, why))
        else:
            rows.append(row)
    return Asserted(tuple(rows), tuple(left))


def _rows(
    whole: ir.Machine, machine: ir.Machine, path: tuple[str, ...]
) -> Iterator[AssertedProperty]:
    for p in machine.properties:
        if p.kind in ("invariant", "step_property"):
            yield AssertedProperty(".".join((*path, p.name)), path, p)
    for v in machine.variables:
        part = t.part_of(v.type)
        if part is not None and not v.ghost:
            yield from _rows(whole, whole.part(part.machine), (*path, v.name))


def _why_not(row: AssertedProperty, plan: Plan) -> str:
    """Why a property cannot be judged; nothing where it can."""
    for name in row.path:
        part = t.part_of(plan.fields[name])
        assert part is not None
        cls: Any = plan.resolved.parts[part.machine]
        plan = cls.lawful.plan
    if not plan.only_reads(row.of.name):
        return ERASED
    return without_a_list(row.of)


def without_a_list(p: ir.Property) -> str:
    """Which parameter has values that nobody can go through, so that the property cannot be judged
    of one state; nothing where there is none."""
    for name, kind in p.function.params[p.kind == "step_property" :]:
        if not all(map(_has_a_list, t.inside(kind))):
            return f"nobody can go through all values of its parameter {name}"
    return ""


def _has_a_list(kind: t.Type) -> bool:
    match kind:
        case t.Int(low=low, high=high):
            return low is not None and high is not None
        case t.Bool() | t.Enum() | t.Sort() | t.Nothing() | t.Set():
            return True
        case t.Record() | t.Tuple() | t.Union():
            return True  # What is in it is looked at, too.
        case _:
            return False


def _wrong(row: AssertedProperty, machine: State, before: State | None) -> str | None:
    """How the property is false, in words; None where it is true."""
    old = {} if before is None else dict(_at(before, row.path))
    of_steps = row.of.kind == "step_property"
    params = row.of.function.params[of_steps:]
    for place, each in _at(machine, row.path):
        now = old.get(place) if of_steps else each
        if now is None:
            continue  # A part that this step has made.
        ask = now.__plan__.functions[row.of.name]
        given = (each,) if of_steps else ()
        for args in product(*(values(now, kind) for _, kind in params)):
            if not ask(now, *given, *args):
                named = [f"{n} = {v!r}" for (n, _), v in zip(params, args, strict=True)]
                where = [f"at {place!r}"] if place else []
                return " ".join(["false", *where, *(["with", ", ".join(named)] if named else [])])
    return None


def _at(machine: State, path: tuple[str, ...]) -> Iterator[tuple[tuple[Any, ...], State]]:
    """The parts to which a path leads, and the keys on it."""
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
    """The instance before an event, where a property is of what the event changes."""
    return copy.deepcopy(machine) if asserted.steps else None


# What is proved.


def proved(lock: str | Path, plan: Plan, fingerprint: str) -> frozenset[str]:
    """The properties that a file of `lawful lock` says are proved without any bound of a scope.

    ValueError where it says nothing of this machine, or of another version of it.
    """
    try:
        data: Any = json.loads(Path(lock).read_text(encoding="utf-8"))
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
