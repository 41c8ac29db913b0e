"""A counterexample to induction is the one next to the start, of small values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from lawful import Machine, Nat, Param, Record, Sort, State, invariant, require, transition
from lawful.checks.prove import prove
from lawful.checks.prove.result import TO_INDUCTION
from lawful.spec.resolve import resolve
from tests.checks.prove.test_induction import assert_is_a_step


class Light(State):
    RED = "red"
    AMBER = "amber"
    GREEN = "green"


class Car(Sort):
    """A car."""


class Toll(Record):
    car: Car
    paid: Nat


class Bridge(Machine):
    """Much of its state is of no matter to what is asked."""

    light: Light = Light.RED
    before: Light = Light.AMBER
    inside: set[Car] = set()
    tolls: dict[Car, Nat] = {}
    last: Toll | None = None
    counted: Nat = 3
    weight: int = -1
    open: bool = True
    most: Param[int] = 2

    @transition()
    def enter(self, car: Car, paid: Nat) -> None:
        require(len(self.inside) < self.most, "full")
        self.inside.add(car)
        self.tolls[car] = paid
        self.last = Toll(car, paid)
        self.weight += 1

    @transition()
    def change(self) -> None:
        self.light, self.before = Light.GREEN, self.light

    @invariant
    def light_enough(self) -> bool:
        return self.weight != 4

    @invariant
    def never_two(self) -> bool:
        return len(self.inside) < 2

    @invariant
    def never_green_twice(self) -> bool:
        return self.before != Light.GREEN or self.light != Light.GREEN

    @invariant
    def far(self) -> bool:
        return self.weight != 900


START: Mapping[str, Any] = {
    "light": "RED",
    "before": "AMBER",
    "inside": {"$set": []},
    "tolls": {},
    "last": None,
    "counted": 3,
    "weight": -1,
    "open": True,
}


@pytest.fixture(scope="module")
def examples() -> dict[tuple[str, str], Mapping[str, Any]]:
    result = prove(resolve(Bridge).machine, sizes={"Car": 3})
    return {
        (o.obligation, o.property): o.counterexample
        for o in result.obligations
        if o.counterexample is not None and o.note == TO_INDUCTION
    }


def test_only_what_matters_differs_from_the_start(
    examples: dict[tuple[str, str], Mapping[str, Any]],
) -> None:
    assert {key: row["state"] for key, row in examples.items()} == {
        ("enter", "light_enough"): {**START, "weight": 3},
        ("enter", "far"): {**START, "weight": 899},
        ("enter", "never_two"): {**START, "inside": {"$set": ["Car1"]}},
        ("change", "never_green_twice"): {**START, "light": "GREEN"},
    }


def test_parameters_and_arguments_are_small(
    examples: dict[tuple[str, str], Mapping[str, Any]],
) -> None:
    light = examples["enter", "light_enough"]
    assert (light["parameters"], light["args"]) == ({"most": 1}, {"car": "Car1", "paid": 0})
    two = examples["enter", "never_two"]
    assert (two["parameters"], two["args"]) == ({"most": 2}, {"car": "Car2", "paid": 0})


def test_they_are_steps_to_the_reference(
    examples: dict[tuple[str, str], Mapping[str, Any]],
) -> None:
    for row in examples.values():
        assert_is_a_step(Bridge, dict(row))
