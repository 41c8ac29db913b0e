"""Planned arguments beside all arguments: what a plan leaves out is refused."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lawful import Scope
from lawful.checks.explore.space import Space
from lawful.checks.reference import Refusal
from lawful.spec import ir
from lawful.spec import types as t
from lawful.spec.errors import DeclarationError
from lawful.spec.lower import lower
from lawful.spec.resolve import Resolved
from lawful.spec.values.time import clock_of
from tests.agree.hits import Hits
from tests.agree.kinds import RANGE, SIZES

MOST = 400  # Argument tuples that are gone through in one state.


def space(resolved: Resolved) -> Space | None:
    """The machine within a small scope; None where the generator cannot say one."""
    m = resolved.machine
    bounds: dict[str, object] = {"Nat": range(0, 3), "int": RANGE}
    if clock_of(m) is not None:
        bounds["clock"] = 3
    bounds.update({k.name: SIZES[k.name] for k in m.types if isinstance(k, t.Sort | t.Opaque)})
    for owner in (m, *m.parts):
        for v in owner.variables:
            bounds.update(lengths(v.type, f"{owner.name}.{v.name}"))
    functions = [*m.initials, *(row.function for row in m.transitions)]
    for p in (p for owner in (m, *m.parts) for p in owner.properties):
        for name, kind in p.function.params:
            bounds.update(lengths(kind, f"{p.name}.{name}"))
    for row, f in zip([*[None] * len(m.initials), *m.transitions], functions, strict=True):
        for name, kind in f.params:
            bounds.update(lengths(kind, f"{f.name if row is None else row.name}.{name}"))
    try:
        return Space(lower(m, Scope(bounds)), resolved.world)
    except DeclarationError:
        return None


def lengths(kind: t.Type, name: str) -> dict[str, int]:
    """Bounds for the sequences and serial numbers in a type."""
    found: dict[str, int] = {}
    match kind:
        case t.Serial(bits=bits):
            return {name: bits}
        case t.Seq(item=item, most=most) | t.Bag(item=item, most=most):
            found |= lengths(item, f"{name}.item") | ({name: 1} if most is None else {})
        case t.Record(name=record, fields=fields):
            for field, of in fields:
                found |= lengths(of, f"{record}.{field}")
        case t.Union(options=items) | t.Tuple(items=items):
            for item in items:
                found |= lengths(item, name)
        case t.Set(item=item):
            found |= lengths(item, name)
        case t.Map(key=key, value=value):
            found |= lengths(key, name) | lengths(value, name)
        case _:
            pass
    return found


def size(kind: t.Type) -> int:
    """How many values a type has in the scope, or more than are gone through."""
    match kind:
        case t.Int(low=int() as low, high=int() as high):
            return high - low + 1
        case t.Bool() | t.Opaque() | t.Sort():
            return 2
        case t.Enum(members=members):
            return len(members)
        case t.Nothing():
            return 1
        case t.Record(fields=fields):
            return combinations(of for _, of in fields)
        case t.Tuple(items=items):
            return combinations(items)
        case t.Union(options=options):
            return sum(map(size, options))
        case t.Set(item=item):
            return int(2 ** min(size(item), 12))
        case t.Map(key=key, value=value, total=total):
            return int((size(value) + (not total)) ** min(size(key), 12))
        case t.Seq(item=item, most=int() as most):
            return sum(size(item) ** length for length in range(min(most, 12) + 1))
        case _:
            return MOST + 1


def combinations(kinds: Iterable[t.Type]) -> int:
    """How many rows of values there are, or more than are gone through."""
    made = 1
    for kind in kinds:
        made = min(made * size(kind), MOST + 1)
    return made


def differences(resolved: Resolved, space: Space, states: list[Any], hits: Hits) -> list[str]:
    """Arguments that a plan leaves out although they are not refused, or makes up."""
    found: list[str] = []
    for rule, row in space.rules:
        kinds = [plan.type for plan in rule.plans]
        if all(plan.over is None for plan in rule.plans) or combinations(kinds) > MOST:
            continue
        hits.add("total", "planned rules")
        whole: list[tuple[Any, ...]] = [()]
        for kind in kinds:
            whole = [(*args, value) for args in whole for value in space.values.of(kind)]
        if _opaque(resolved, row):
            continue  # The values of the scope are tokens, those of these states are bytes.
        for state in states:
            planned = list(space.arguments(rule, state))
            hits.add("total", "comparisons", len(whole))
            hits.add("total", "comparisons of plans", len(whole))
            if len(set(planned)) != len(planned) or not set(planned) <= set(whole):
                found.append(f"plan: {row.name} in {state}: {planned} of {whole}")
            found += _left_out(space, row, state, (set(whole), set(planned)))
    return found


def _opaque(resolved: Resolved, row: ir.Transition) -> bool:
    return any(t.contains(kind, t.Opaque) for _, kind in row.function.params)


def _left_out(
    space: Space, row: ir.Transition, state: Any, sets: tuple[set[Any], set[Any]]
) -> list[str]:
    names = [name for name, _ in row.function.params]
    for args in sets[0] - sets[1]:
        outcome = space.reference.step(state, row.name, dict(zip(names, args, strict=True)))
        if not isinstance(outcome, Refusal):
            return [f"plan: {row.name}{args} in {state} is left out: {outcome}"]
    return []
