"""The reference engine against Python: the same machine, state and arguments, both outcomes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lawful import Machine, Scope
from lawful.checks.explore.space import Space
from lawful.checks.reference import Done, Outcome, Refusal
from lawful.checks.reference.missing_values import NoValue
from lawful.spec.lower import lower
from lawful.spec.resolve import resolve
from tests.checks.reference.twin import Twin

DEFAULT = Scope(Nat=range(0, 4), int=range(-2, 4), Serial=3)
# Kinds of properties that are true or false of one state.
OF_A_STATE = ("invariant", "reachable", "recoverable", "terminal", "eventually")


@dataclass(frozen=True)
class Compared:
    """How much was compared, and the first things that differed."""

    states: int
    comparisons: int
    differences: tuple[str, ...]


def agreement(cls: type[Machine], limit: int = 300) -> Compared:
    """Compare every event and property in up to `limit` reachable states."""
    resolved = resolve(cls)
    flat = lower(resolved.machine, resolved.scopes.get("scope", DEFAULT))
    space = Space(flat, resolved.world)
    twin = Twin(cls, dict(flat.sizes), flat.machine)
    seen: set[Any] = set()
    waiting = [o.state for _, _, o in space.initial() if isinstance(o, Done)]
    count, differences = 0, list[str]()
    while waiting and len(seen) < limit:
        state = waiting.pop()
        if state in seen:
            continue
        seen.add(state)
        for what, mine, theirs in (*_properties(space, twin, state), *_steps(space, twin, state)):
            count += 1
            if exact(mine) != exact(theirs):
                differences.append(f"{what} in {state}: {mine}, but Python: {theirs}")
        waiting += _next(space, state)
    return Compared(len(seen), count, tuple(differences[:3]))


def exact(value: Any) -> Any:
    """The value with the classes of all that is inside, so that 1 and True differ."""
    kind: type[Any] = value.__class__
    if issubclass(kind, dict):
        return "map", sorted(((exact(k), exact(v)) for k, v in value.items()), key=repr)
    if kind is frozenset:
        return "set", sorted((exact(each) for each in value), key=repr)
    if issubclass(kind, tuple):
        return tuple(exact(each) for each in value)
    return kind.__name__, value


def _properties(space: Space, twin: Twin, state: Any) -> Iterator[tuple[str, Any, Any]]:
    for judged in space.judged:
        if judged.path or judged.kind not in OF_A_STATE:
            continue
        for args in space.arguments(judged.rule, state):
            try:
                mine: bool | str = space.holds(judged.row, state, *args)
            except NoValue:
                mine = "undefined"
            yield f"{judged.name}{args}", mine, twin.holds(judged.name, state, *args)


def _steps(space: Space, twin: Twin, state: Any) -> Iterator[tuple[str, Any, Any]]:
    for rule, row in space.rules:
        names = [plan.name for plan in rule.plans]
        for args in space.arguments(rule, state):
            outcome = space.reference.step(state, row.name, dict(zip(names, args, strict=True)))
            yield f"{row.name}{args}", _shown(outcome), twin.step(state, row.name, args)


def _shown(outcome: Outcome) -> tuple[str, Any, Any]:
    if isinstance(outcome, Done):
        # As plain tuples: how an engine tells a part from a tuple is its own affair.
        return "done", tuple(outcome.state), outcome.output
    return ("refused" if isinstance(outcome, Refusal) else outcome.name), None, None


def _next(space: Space, state: Any) -> list[Any]:
    edges = [edge for edge in space.edges(state) if edge.cut is None]
    return [edge.outcome.state for edge in edges if isinstance(edge.outcome, Done)]
