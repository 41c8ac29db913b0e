"""Searches of random machines: stopped after any state they go on to the same, from values of every
type; and every guard that refuses is one of those that are counted.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from lawful.checks.explore.checkpoints import Snapshots
from lawful.checks.explore.coverage import Clauses, Counting, coverage
from lawful.checks.explore.search import Limits, Search, search
from lawful.checks.explore.space import Space
from lawful.spec.errors import DeclarationError
from lawful.spec.flat import Rule
from lawful.spec.resolve import resolve
from tests.agree import planning
from tests.agree.examine import HEAD, forget, seeded
from tests.spec import texts

STATES = 12  # Of each machine the first are reached.
MOST = 60  # Argument tuples of a rule: the transitions with no more are taken.
SEEDS = [*range(15), *(pytest.param(n, marks=pytest.mark.nightly) for n in range(15, 60))]


def many(rule: Rule) -> bool:
    return planning.combinations(p.type for p in rule.plans) > MOST


def space_of(seed: int) -> Space | None:
    """A random machine with the transitions that have few arguments, if it can be explored."""
    try:
        space = planning.space(resolve(texts.machine(seeded(seed), HEAD)))
        if space is None:
            return None
        if any(many(rule) for rule in space.flat.initials):
            return None
        few = tuple(rule for rule in space.flat.rules if not many(rule))
        return Space(dataclasses.replace(space.flat, rules=few), space.world)
    except (DeclarationError, ValueError):
        return None  # A ValueError where a part's default breaks what it assumes.
    finally:
        forget()


def all_of(found: Search) -> dict[str, Any]:
    return {name: value for name, value in found.kept() if name != "seconds"}


def after(questions: int) -> Callable[[], bool]:
    """Says stop when it was asked so often."""
    left = iter(range(questions))
    return lambda: next(left, None) is None


def in_pieces(space: Space, rng: Random, folder: Path) -> Search:
    """The same search, stopped at random again and again."""
    for tries in itertools.count(1):  # Initial states are gone through from the first again.
        into = Snapshots(space, folder, False)
        limits = Limits(states=STATES, stop=after(tries * rng.randint(5, 20)))
        items = into.read()
        if items is not None and len(items["states"]) >= STATES:
            found = Search(space, limits)
            found.go_on(items)
            return found
        found = search(space, limits, snapshots=(into, items))
        if found.stopped != "asked":
            return found
    raise AssertionError("it is stopped for ever")


@pytest.mark.parametrize("seed", SEEDS)
def test_random_machines_go_on(seed: int, tmp_path: Path) -> None:
    space = space_of(seed)
    if space is None:
        pytest.skip("no machine that can be explored")
    try:
        whole = search(space, Limits(states=STATES))
    except ValueError:
        pytest.skip("no initial state within the scope")
    assert all_of(in_pieces(space, Random(seed), tmp_path)) == all_of(whole)


@pytest.mark.parametrize("seed", SEEDS)
def test_guards_that_are_noted_are_those_that_are_listed(seed: int) -> None:
    space = space_of(seed)
    if space is None:
        pytest.skip("no machine that can be explored")
    try:
        states = search(space, Limits(states=STATES)).states
    except ValueError:
        pytest.skip("no initial state within the scope")
    counting = Counting(space)
    for state in states:
        counting.tries(state)
    listed = {
        (row.name, id(node)) for _, row in space.rules for node, _, _ in Clauses(counting).of(row)
    }
    # Headers are noted even where they ask nothing.
    machines = (space.machine, *space.machine.parts)
    rows = {id(row) for m in machines for row in (*m.transitions, *m.bases)}
    noted = {(rule, node) for rule, node, _ in counting.said if node not in rows}
    assert noted <= listed
    assert coverage(space, states, Limits()).states == len(states)
