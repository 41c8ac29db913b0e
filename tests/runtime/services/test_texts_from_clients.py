"""UUIDs, times and exact numbers from clients: what is refused, and that nothing is lost."""

from __future__ import annotations

from datetime import datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from lawful import Machine, transition


class Door(Machine):
    """Takes containers of them, and times."""

    prices: frozenset[Decimal] = frozenset()
    at: datetime | None = None
    hour: time | None = None
    rents: dict[UUID, Decimal] = {}

    @transition()
    def price(self, prices: frozenset[Decimal]) -> None:
        self.prices = prices

    @transition()
    def meet(self, at: datetime) -> None:
        self.at = at

    @transition()
    def open(self, hour: time) -> None:
        self.hour = hour


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("price", {"prices": {"$set": ["1.0", "1.00"]}}, r"price: prices: .*Decimal\('1.00?'\) twice"),
    ("meet", {"at": "9999-12-31T23:59:59-23:00[Europe/Berlin]"}, "meet: at: no datetime of the"),
    ("meet", {"at": "0001-01-01T00:00:00+23:00[Europe/Berlin]"}, "meet: at: no datetime of the"),
    (
        "open",
        {"hour": "02:00:00+01:00[Europe/Berlin]"},
        "open: hour: expected a time with the offset of its zone, found 02:",
    ),
    (
        "open",
        {"hour": "02:00:00+01:00[UTC]"},
        "open: hour: expected a time with the offset of its zone, found 02:",
    ),
]


@pytest.mark.parametrize(("event", "data", "told"), REFUSED)
def test_what_a_client_may_not_send(event: str, data: dict[str, Any], told: str) -> None:
    door = Door()
    with pytest.raises(ValueError, match=told):
        door.lawful.take_json(event, data)
    assert door == Door()


def test_a_map_keeps_the_values_of_all_its_keys() -> None:
    data = Door().lawful.snapshot()
    one, other = "a0000000-0000-0000-0000-0000000000ff", "A0000000-0000-0000-0000-0000000000FF"
    data["variables"]["rents"] = {"$map": [[one, "1"], [other, "2"]]}
    with pytest.raises(ValueError, match=r"UUID\('a0000000-.*-0000000000ff'\) twice"):
        Door.lawful.restore(data)
