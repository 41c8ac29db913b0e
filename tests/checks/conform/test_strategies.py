"""The laws of `strategy`: of the type, near what occurs, and anywhere else; and of shortening."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from enum import Enum
from typing import Any

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from lawful import Machine, Nat, Record, Sort, transition
from lawful.checks.conform.observation import plain, spelled
from lawful.checks.conform.oracle import Action, Call, Start, entry_points
from lawful.checks.conform.shrinking import Shrinker, SimplerActions, SimplerValues, lowered
from lawful.checks.explore.value_pool import Near, key_of
from lawful.spec import types as t
from lawful.spec.resolve import resolve
from lawful.spec.values.bounds import Values, breach
from lawful.spec.values.world import FrozenBag, FrozenMap, Token, World, decode, encode
from lawful.testing import strategy
from tests.root import ROOT


class Shade(Enum):
    DARK = 1
    LIGHT = 2


class Shop(Sort):
    """Where things are sold."""


class Thing(Record):
    number: Nat
    price: int


WORLD = World({"Shade": Shade}, {"Thing": Thing}, {"Shop": Shop})
SHADE, SHOP = t.Enum("Shade", ("DARK", "LIGHT")), t.Sort("Shop")
PAYLOAD = t.Opaque("Payload")
THING = t.Record("Thing", (("number", t.NAT), ("price", t.INT)))
SMALL = t.Int(2, 4)
TYPES: tuple[t.Type, ...] = (
    t.BOOL,
    t.NOTHING,
    t.INT,
    t.NAT,
    SMALL,
    t.Int(5_000, None),
    t.Int(None, -7),
    SHADE,
    SHOP,
    PAYLOAD,
    THING,
    t.union((THING, t.NOTHING)),
    t.Union((t.NAT, t.NOTHING)),
    t.FLOAT,
    t.Tuple((t.NAT, SHADE)),
    t.Seq(THING, False),
    t.Seq(t.NAT, True, 2),
    t.Set(t.NAT, False),
    t.Set(t.Tuple((SHOP, t.INT)), True),
    t.Map(t.NAT, PAYLOAD, True),
    t.Bag(SHADE),
    t.Bag(t.NAT, 2),
    t.Map(SHADE, t.INT, True, total=True),
    t.Map(t.Tuple((SHADE, SMALL)), SHOP, False, total=True),
)
NEAR = Near()
NEAR.add(THING, Thing(777, -333), "it")
NEAR.add(t.NAT, 888, "number")
QUICK = settings(derandomize=True, deadline=None, database=None, max_examples=40)


def drawn(kind: t.Type, near: Near | None = None, count: int = 250) -> list[Any]:
    """The values that the strategy gives, one after the other."""
    seen: list[Any] = []

    @settings(QUICK, max_examples=count)
    @given(strategy(kind, WORLD, near))
    def draw(value: Any) -> None:
        seen.append(value)

    draw()
    return seen


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_what_is_drawn_is_of_the_type_and_a_value(kind: t.Type) -> None:
    @QUICK
    @given(strategy(kind, WORLD, NEAR))
    def holds(value: Any) -> None:
        assert breach(value, kind) is None
        assert plain(value, kind, WORLD) == value
        hash(value)
        if kind != t.FLOAT:
            assert decode(encode(value, kind), kind, WORLD) == value or "Payload" in str(kind)

    holds()


@pytest.mark.parametrize("kind", [t.BOOL, SMALL, SHADE, SHOP, t.Tuple((SHADE, SMALL))], ids=str)
def test_all_values_of_a_small_type_are_drawn(kind: t.Type) -> None:
    shops = {"Shop": (Shop("Shop1"), Shop("Shop2"), Shop("Shop3"))}
    assert set(drawn(kind)) == set(Values(WORLD, {}, shops).of(kind))


def test_integers_are_drawn_near_those_that_occur_and_elsewhere() -> None:
    seen = set(drawn(t.INT, NEAR))
    assert seen >= {777, 776, 778, -333, 888}
    assert any(abs(value) > 100 and abs(abs(value) - 777) > 200 for value in seen)
    assert min(drawn(t.INT)) < -50 and max(drawn(t.INT)) > 50


def test_the_same_name_counts_more() -> None:
    seen = drawn(THING, NEAR)
    near = [thing for thing in seen if thing.number in (777, 888)]
    assert len(near) > len(seen) / 3
    assert sum(thing.price == -333 for thing in seen) > len(seen) / 5


def test_whole_values_that_occur_are_drawn() -> None:
    near = Near()
    near.add_whole(THING, Thing(777, -333))  # Its numbers alone do not occur.
    assert Thing(777, -333) in drawn(THING, near)
    near.add(PAYLOAD, b"something")
    assert {b"something", Token("Payload", 0), Token("Payload", 2)} <= set(drawn(PAYLOAD, near))


def test_what_is_given_takes_the_place_of_what_is_new() -> None:
    own = {"Payload": st.just(b"own"), "Nat": st.integers(40, 42)}
    seen: set[Any] = set()

    @QUICK
    @given(strategy(t.Tuple((PAYLOAD, t.NAT)), WORLD, NEAR, own))
    def draw(value: Any) -> None:
        seen.add(value)

    draw()
    assert {payload for payload, _ in seen} == {b"own"}
    assert {number for _, number in seen} == {40, 41, 42, 777, 888}


def test_the_simplest_values_are_small() -> None:
    assert find(strategy(t.NAT, WORLD, NEAR), lambda n: True, settings=QUICK) == 0
    assert find(strategy(THING, WORLD), lambda thing: True, settings=QUICK) == Thing(0, 0)
    assert find(strategy(t.Set(t.NAT, False), WORLD), lambda n: True, settings=QUICK) == frozenset()


def test_types_that_differ_in_bounds_share_their_values() -> None:
    assert key_of(t.Seq(t.NAT, True, 3)) == key_of(t.Seq(t.INT, False))
    assert key_of(t.Set(t.NAT, True)) != key_of(t.Seq(t.NAT, True))
    assert NEAR.like(t.Int(0, 800)) == (777,) and NEAR.named(t.NAT, "price") == ()


EXAMPLES = """
from hypothesis import given, settings
from tests.checks.conform.test_strategies import NEAR, THING, WORLD, drawn, t
near = NEAR
near.add(t.Set(t.NAT, False), frozenset({5, 1, 9}))
near.add(t.Set(t.Enum("Shade", ("DARK", "LIGHT")), False), frozenset(WORLD.enums["Shade"]))
print(drawn(THING, near, 40), [sorted(s) for s in drawn(t.Set(t.NAT, False), near, 40)])
"""


@pytest.mark.nightly
def test_nothing_depends_on_the_hash_seed() -> None:
    root = ROOT
    said = {
        subprocess.run(
            [sys.executable, "-c", EXAMPLES],
            cwd=root,
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1 and said != {""}


# Shortening.


class Line(Machine):
    """Numbers come, and go."""

    here: set[Nat] = set()

    @transition()
    def come(self, number: Nat, thing: Thing) -> None:
        self.here.add(number)

    @transition()
    def go(self) -> None: ...


COME, GO = entry_points(resolve(Line).machine)
SIMPLER = SimplerValues(Values(WORLD, {}, {"Shop": (Shop("a"), Shop("b"))}).of)


def come(number: int) -> Call:
    return Call(COME, (number, Thing(number, 0)))


def always(tried: Sequence[Action]) -> bool:
    return True


def never(tried: Sequence[Action]) -> bool:
    return False


def shortened(acts: Sequence[Action], fails: Any) -> list[str]:
    found = Shrinker(fails, SimplerActions(SIMPLER, acts, ())).run(acts)
    return [str(act) for act in found]


def test_what_is_not_needed_is_left_out_and_the_rest_is_made_simpler() -> None:
    acts: list[Action] = [come(n) if n % 3 else Call(GO, ()) for n in range(1, 40)]

    def fails(tried: Sequence[Action]) -> bool:
        numbers: list[int] = [act.args[0] for act in tried if isinstance(act, Call) and act.args]
        return sum(number >= 5 for number in numbers) >= 2

    assert shortened(acts, fails) == [f"come(5, {Thing(0, 0)})"] * 2


def test_numbers_are_lowered_together() -> None:
    acts: list[Action] = [come(1), come(2), come(3), come(3)]

    def fails(tried: Sequence[Action]) -> bool:
        numbers: list[int] = [act.args[0] for act in tried if isinstance(act, Call)]
        return len(numbers) > 1 and numbers == [*range(1, len(numbers)), len(numbers) - 1]

    assert shortened(acts, fails) == [f"come(1, {Thing(0, 0)})"] * 2
    assert lowered((3, Thing(3, 2)), t.Tuple((t.NAT, THING)), 3) == (2, Thing(2, 2))
    assert lowered(frozenset({0}), t.Set(t.NAT, False), 0) == frozenset({0})


def test_it_ends_although_everything_fails_or_nothing_does() -> None:
    acts: list[Action] = [come(n) for n in range(30)]
    assert shortened(acts, always) == []
    assert len(shortened(acts, never)) == 30


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_simpler_values_are_of_the_type_and_end(kind: t.Type) -> None:
    @settings(QUICK, max_examples=10)
    @given(strategy(kind, WORLD, NEAR))
    def holds(value: Any) -> None:
        steps = 0
        while (simpler := next(SIMPLER.of(value, kind), value)) != value:
            assert breach(simpler, kind) is None
            value, steps = simpler, steps + 1
            assert steps < 200

    holds()


def test_a_start_is_made_simpler_too() -> None:
    function = resolve(Line).machine.transitions[0].function
    made = SimplerActions(SIMPLER, [], ()).of(Start(function, (2, Thing(0, 0))))
    assert next(str(act) for act in made) == f"come(0, {Thing(0, 0)})"


def test_values_are_spelled_as_python_has_them() -> None:
    value = (Shade.DARK, Thing(1, 2), frozenset({3, 1}), FrozenMap({1: None}), (b"x",))
    assert spelled(value) == "(Shade.DARK, Thing(number=1, price=2), {1, 3}, {1: None}, (b'x',))"
    assert spelled(FrozenBag({"a": 2})) == "{'a': 2}" and spelled(frozenset()) == "set()"
