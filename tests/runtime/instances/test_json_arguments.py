"""`take_json` takes what `schema()` describes, and nothing else."""

from __future__ import annotations

import enum
import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any
from uuid import UUID

import pytest

from lawful import Machine, Nat, Opaque, Record, transition
from tests.spec.values.schemas import valid


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Line(Record):
    item: UUID
    count: Nat


class Board(Machine):
    @transition()
    def nat(self, x: Nat) -> None: ...

    @transition()
    def whole(self, x: int) -> int:
        return x

    @transition()
    def some(self, x: frozenset[Nat]) -> None: ...

    @transition()
    def row(self, x: tuple[Nat, ...]) -> None: ...

    @transition()
    def pair(self, x: tuple[Nat, Colour]) -> None: ...

    @transition()
    def colours(self, x: Mapping[Colour, Nat]) -> None: ...

    @transition()
    def line(self, x: Line | None) -> None: ...

    @transition()
    def price(self, x: Decimal | None) -> None: ...

    @transition()
    def blob(self, x: Annotated[bytes, Opaque("Blob")]) -> None: ...

    @transition()
    def either(self, x: Annotated[int | UUID, Opaque("Either")]) -> None: ...


ITEM = "00000000-0000-0000-0000-000000000001"
SAID: list[tuple[str, Any, bool]] = [
    ("nat", 1, True),
    ("nat", 1.0, True),
    ("nat", 1e3, True),
    ("nat", -0.0, True),
    ("nat", 1.5, False),
    ("nat", -1.0, False),
    ("nat", True, False),
    ("nat", "1", False),
    ("nat", {"$int": "5"}, True),
    ("nat", {"$int": "-5"}, False),
    ("nat", {"$int": "-0"}, False),
    ("nat", {"$int": "٣"}, False),
    ("nat", {"$int": " 5"}, False),
    ("nat", {"$int": "1_0"}, False),
    ("nat", {"$int": "05"}, False),
    ("nat", {"$int": 5}, False),
    ("nat", {"$int": "5", "x": 1}, False),
    ("whole", {"$int": "-5"}, True),
    ("whole", -5.0, True),
    ("some", {"$set": [1, 2]}, True),
    ("some", {"$set": [1, 1]}, False),
    ("some", {"$set": [1, 1.0]}, False),
    ("some", {"$set": [2.0]}, True),
    ("some", {"$set": [1], "x": 1}, False),
    ("some", [1], False),
    ("row", {"$tuple": [1, 1.0]}, True),
    ("row", {"$tuple": [1], "$set": [1]}, False),
    ("pair", {"$tuple": [1.0, "RED"]}, True),
    ("pair", {"$tuple": [1.0, "RED", 1]}, False),
    ("pair", {"$tuple": [1.0]}, False),
    ("colours", {"RED": 1.0, "BLUE": 2}, True),
    ("colours", {"RED": 1}, False),
    ("colours", {"RED": 1, "BLUE": 2, "GREEN": 3}, False),
    ("colours", {"$map": [["RED", 1.0], ["BLUE", 2]]}, True),
    ("colours", {"$map": [["RED", 1.0], ["BLUE", 2]], "x": 1}, False),
    ("colours", {"$map": [["RED", 1.0, 2]]}, False),
    ("line", None, True),
    ("line", {"$": "Line", "item": ITEM, "count": 2.0}, True),
    ("line", {"$": "Line", "item": ITEM, "count": 2, "x": 1}, False),
    ("line", {"$": "Line", "item": ITEM}, False),
    ("line", {"$": "Line", "item": {"$opaque": "UUID", "id": f"UUID:{ITEM}"}, "count": 2}, False),
    ("price", "1.50", True),
    ("price", 1.5, False),
    ("price", {"$opaque": "Decimal", "id": "Decimal:1.50"}, False),
    ("price", None, True),
    ("blob", {"$opaque": "Blob", "id": "bytes:aGk="}, True),
    ("blob", {"$opaque": "Blob", "id": "bytes:"}, True),
    ("blob", {"$opaque": "Blob", "id": "bytes:aGk"}, False),
    ("blob", {"$opaque": "Blob", "id": "bytes:a Gk="}, False),
    ("blob", {"$opaque": "Blob", "id": "str:a"}, False),
    ("blob", {"$opaque": "Blob", "id": "bytes:aGk=", "x": 1}, False),
    ("blob", {"$opaque": "Other", "id": "bytes:aGk="}, False),
    ("blob", "aGk=", False),
    ("either", {"$opaque": "Either", "id": "int:-5"}, True),
    ("either", {"$opaque": "Either", "id": "int:٣"}, False),
    ("either", {"$opaque": "Either", "id": "int: 5"}, False),
    ("either", {"$opaque": "Either", "id": f"UUID:{ITEM}"}, True),
    ("either", {"$opaque": "Either", "id": "UUID:1"}, False),
    ("either", {"$opaque": "Either", "id": "bytes:aGk="}, False),
    ("either", ITEM, False),
]


@pytest.mark.parametrize(("event", "data", "fits"), SAID)
def test_what_the_schema_describes_is_taken_and_nothing_else(
    event: str, data: Any, fits: bool
) -> None:
    schema: Any = Board.lawful.schema()[event]["arguments"]
    assert valid({"x": data}, schema) == fits
    board = Board()
    if fits:
        board.lawful.take_json(event, {"x": data})
    else:
        with pytest.raises(ValueError, match=f"{event}: "):
            board.lawful.take_json(event, {"x": data})


def test_a_whole_number_is_an_integer() -> None:
    found = Board().lawful.take_json("whole", {"x": -5.0})
    assert found == -5 and type(found) is int


BEYOND: list[tuple[str, Any, str]] = [
    ("colours", {"$map": [["RED", 1], ["RED", 2], ["BLUE", 2]]}, 'found the key "RED" twice'),
    ("nat", 1e17, "expected a Nat, found 1e.17"),
]


@pytest.mark.parametrize(("event", "data", "told"), BEYOND)
def test_what_no_schema_can_tell(event: str, data: Any, told: str) -> None:
    assert valid({"x": data}, Board.lawful.schema()[event]["arguments"])
    with pytest.raises(ValueError, match=told):
        Board().lawful.take_json(event, {"x": data})


@pytest.mark.parametrize("event", Board.lawful.schema())
def test_data_of_any_depth_or_kind_are_a_value_error(event: str) -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    wrong = (deep, {"$set": [deep]}, {"$map": [[deep, 1]]}, {"$tuple": deep}, object(), b"x")
    for data in wrong:
        with pytest.raises(ValueError, match=f"{event}: x: expected a .*, found "):
            Board().lawful.take_json(event, {"x": data})
    with pytest.raises(ValueError, match="not data that are nested too deeply"):
        Board().lawful.take_json(event, deep)
    assert json.loads(json.dumps(Board().lawful.take_json("whole", {"x": 3}))) == 3
