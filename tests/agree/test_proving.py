"""`check` and `prove` beside each other: random machines, the classics, and broken ones."""

from __future__ import annotations

import dataclasses
from collections import Counter

import pytest

from lawful import Machine
from lawful.checks.explore.space import Space
from lawful.checks.prove import How
from lawful.checks.smt.solver.budget import Effort
from lawful.spec.errors import DeclarationError
from lawful.spec.lower import lower
from lawful.spec.resolve import abstract_scopes, resolve
from lawful.spec.words import Scope
from tests.agree import planning
from tests.agree.examine import HEAD, forget, seeded
from tests.agree.proving import sides
from tests.agree.test_resuming import many
from tests.classics import broken
from tests.classics.jugs import Jugs
from tests.classics.majority import Majority
from tests.classics.table import CLASSICS
from tests.spec import texts

STATES = 200
QUICK = How("auto", Effort(1_500_000))


def differences(seeds: range, met: Counter[str], *, explored: bool) -> list[str]:
    """What the two say differently of the machines of these seeds."""
    found: list[str] = []
    for seed in seeds:
        try:
            resolved = resolve(texts.machine(seeded(seed), HEAD))
            space = planning.space(resolved)
        except (DeclarationError, ValueError):
            continue  # A ValueError where a part's default breaks what it assumes.
        finally:
            forget()
        if space is None or space.machine.initials:
            continue
        few = tuple(rule for rule in space.flat.rules if not many(rule))
        space = Space(dataclasses.replace(space.flat, rules=few), space.world)
        try:
            both = sides(space, resolved.machine, QUICK, states=STATES, explored=explored)
        except ValueError as error:
            assert "no initial state is within the scope" in str(error)
            continue
        met["machines"] += 1
        found += [f"seed {seed}: {each}" for each in both.differences(met)]
    return found


@pytest.mark.one_in(2)
@pytest.mark.parametrize("explored", [True, False], ids=["explored", "Z3 alone"])
def test_both_say_the_same_of_random_machines(explored: bool) -> None:
    met = Counter[str]()
    assert not differences(range(1000, 1015), met, explored=explored)
    assert met["machines"] == 7
    assert met["proved"] > 10 and met["seen to fail" if explored else "confirmed"] > 1


LARGE = (pytest.param(seed, marks=pytest.mark.nightly) for seed in (1243, 1374))
ONCE = [1044, *LARGE, 1693, 1774, 2321]


@pytest.mark.one_in(8)
@pytest.mark.parametrize("seed", ONCE)
def test_both_say_the_same_where_they_once_did_not(seed: int) -> None:
    """A part without an encoding, a set of sets, a step whose terms took all memory, a default
    without an encoding, an integer that no model decided, and a constraint without a value.
    """
    met = Counter[str]()
    assert not differences(range(seed, seed + 1), met, explored=False)
    assert met["machines"] == 1


@pytest.mark.nightly
@pytest.mark.parametrize("explored", [True, False], ids=["explored", "Z3 alone"])
@pytest.mark.parametrize("shard", range(3))
def test_both_say_the_same_of_many_random_machines(shard: int, explored: bool) -> None:
    met = Counter[str]()
    first = 1015 + shard * 100
    assert not differences(range(first, first + 100), met, explored=explored)
    assert met["machines"] > 20 and met["proved"] > 20


def of_classic(cls: type[Machine], met: Counter[str]) -> list[str]:
    """What the two say differently of a classic within its own scope."""
    found = resolve(cls)
    flat = lower(found.machine, found.scopes.get("scope", Scope()), abstract_scopes(found))
    return sides(Space(flat, found.world), found.machine, QUICK).differences(met)


BROKEN = [
    each
    for each in vars(broken).values()
    if isinstance(each, type) and issubclass(each, Machine) and each.__module__ == broken.__name__
]


@pytest.mark.parametrize("cls", [Jugs, Majority], ids=lambda cls: cls.__name__)
def test_both_say_the_same_of_a_classic(cls: type[Machine]) -> None:
    met = Counter[str]()
    assert not of_classic(cls, met)
    assert met["seen to fail"] == 1


@pytest.mark.nightly
@pytest.mark.parametrize(
    "cls", [*(row.machine for row in CLASSICS), *BROKEN], ids=lambda cls: cls.__name__
)
def test_both_say_the_same_of_the_classics(cls: type[Machine]) -> None:
    met = Counter[str]()
    assert not of_classic(cls, met)
    assert met["properties"] == met["proved"] + met["open"] + met["seen to fail"]
