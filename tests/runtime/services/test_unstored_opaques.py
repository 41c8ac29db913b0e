"""Opaque types of which nothing can be stored: an instance is refused, with what to write."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, NamedTuple

import pytest

from lawful import Machine, Nat, Opaque, Param, transition
from lawful.runtime.store import Store


class Shade(Enum):
    DARK = 1


class Point(NamedTuple):
    x: int


@dataclass(frozen=True)
class Place:
    x: int


class Other:
    """Of the service."""


Flag = Annotated[bool, Opaque("Flag")]
Rate = Annotated[float, Opaque("Rate")]
Wave = Annotated[complex, Opaque("Wave")]
Pair = Annotated[tuple[int, int], Opaque("Pair")]
Named = Annotated[Point, Opaque("Named")]
Where = Annotated[Place, Opaque("Where")]
Hue = Annotated[Shade, Opaque("Hue")]
Thing = Annotated[Other, Opaque("Thing")]


class Flags(Machine):
    held: Flag | None = None


class Rates(Machine):
    n: Nat = 0

    @transition()
    def read(self, rate: Rate) -> None:
        self.n += 1


class Waves(Machine):
    waves: dict[Nat, tuple[Wave, ...]] = {}


class Pairs(Machine):
    pair: Param[Pair]


class Names(Machine):
    last: Named | None = None

    @transition()
    def put(self, named: Named) -> None:
        self.last = named


class Wheres(Machine):
    names: Names = Names()


class Places(Machine):
    last: frozenset[Where] = frozenset()


class Hues(Machine):
    n: Nat = 0

    @transition()
    def paint(self, hue: Hue) -> Hue:
        self.n += 1
        return hue


class Things(Machine):
    last: Thing | None = None


TELLS: list[tuple[Any, dict[str, Any], str]] = [
    (Flags, {}, "Flags.held: no value of the opaque Flag has an encoding; write bool, without"),
    (Rates, {}, r"Rates.read\(rate\): no value of the opaque Rate has .*; write Decimal, or count"),
    (
        Waves,
        {},
        "Waves.waves: no value of the opaque Wave has an encoding; write Decimal, or count",
    ),
    (
        Pairs,
        {"pair": (1, 2)},
        r"Pairs.pair: no value of the opaque Pair .*; write tuple\[...\], fro",
    ),
    (Names, {}, "Names.last: no value of the opaque Named has an encoding; make Point a Record"),
    (Wheres, {}, "Names.last: no value of the opaque Named has an encoding; make Point a Record"),
    (Places, {}, "Places.last: no value of the opaque Where has an encoding; make Place a Record"),
    (Hues, {}, r"Hues.paint\(hue\): no value of the opaque Hue has an encoding; write Shade, with"),
    (
        Things,
        {},
        "Things.last: no value of the opaque Thing has an encoding; keep its bytes or its",
    ),
]


@pytest.mark.parametrize(("cls", "given", "told"), TELLS)
def test_a_machine_with_an_opaque_of_which_nothing_can_be_stored_is_refused_at_once(
    cls: Any, given: dict[str, Any], told: str
) -> None:
    with Store(":memory:") as store:
        with pytest.raises(TypeError, match=f"^{told}"):
            store.add(cls(**given), "a")
        assert store.names() == []


class Sensor(Machine):
    n: Nat = 0

    @transition()
    def read(self) -> Rate | None:
        self.n += 1
        return None


def test_an_output_that_nobody_keeps_may_be_of_any_class() -> None:
    with Store(":memory:") as store:
        store.add(Sensor(), "a").read()
    with (
        Store(":memory:", outbox=[Sensor]) as store,
        pytest.raises(TypeError, match=r"^the output of Sensor.read: no value of the opaque R"),
    ):
        store.add(Sensor(), "a")


Anything = Annotated[object, Opaque("Anything")]


class Bag(Machine):
    last: Anything | None = None

    @transition()
    def put(self, value: Anything) -> None:
        self.last = value


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (Place(1), r".*; make Place a Record, without Opaque$"),
        (Shade.DARK, ".*; write Shade, without Opaque$"),
        ((1, 2), r".*; write tuple\[...\], frozenset\[...\] or a Record, without Opaque$"),
    ],
)
def test_such_a_value_of_an_opaque_that_has_others_is_refused_with_what_to_write(
    value: Any, told: str
) -> None:
    with Store(":memory:") as store:
        bag = store.add(Bag(), "a")
        with pytest.raises(TypeError, match=f"no encoding for the opaque value {told}"):
            bag.put(value)
        assert (bag.last, store.events("a")) == (None, [])
