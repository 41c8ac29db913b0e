"""What `restore` says of a snapshot of another version: what differs, and what takes it over."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, Nat, transition
from lawful.runtime.migration import Migration
from lawful.runtime.outbox import Outbox
from lawful.runtime.store import Store


def _older() -> type[Machine]:
    class Drawer(Machine):
        coins: Nat = 0

    class Desk(Machine):
        paid: Nat = 0
        drawers: dict[int, Drawer] = {}

        @transition()
        def open(self, number: int) -> None:
            self.paid += 5
            self.drawers[number] = Drawer()

    return Desk


def _newer() -> type[Machine]:
    class Drawer(Machine):
        cents: Nat = 0

    class Desk(Machine):
        paid: bool = False
        total: Nat = 0
        drawers: dict[int, Drawer] = {}

    return Desk


def _whole(old: dict[str, Any]) -> dict[str, Any]:
    drawers = [
        [key, {**part, "variables": {"cents": 100 * part["variables"]["coins"]}}]
        for key, part in old["drawers"]
    ]
    return {"paid": old["paid"] > 0, "total": old["paid"], "drawers": drawers}


def test_messages_say_what_takes_another_version_over(tmp_path: Path) -> None:
    with Store(tmp_path / "s.db") as store:
        desk: Any = store.add(_older()(), "a")
        desk.open(2)
    anew = "renamed=Migration({}, function) gives the variable anew, a part as a whole"
    part = "drawers[2]: a snapshot of Drawer has ['cents'], not ['coins']"
    said: list[tuple[Any, str]] = [
        (None, "(total in Desk alone); renamed={} takes over what has the same name"),
        ({}, f"paid: expected a bool, found 5; {anew}"),
        (Migration({}, lambda old: {"paid": True}), f"{part}; {anew}"),
    ]
    with Store(tmp_path / "s.db") as store:
        for renamed, text in said:
            with pytest.raises(ValueError, match=re.escape(text)):
                store.restore(_newer(), "a", renamed=renamed)
        back: Any = store.restore(_newer(), "a", renamed=Migration({}, _whole))
        assert (back.paid, back.total, back.drawers[2].cents) == (True, 5, 0)


def _priced() -> type[Machine]:
    class Desk(Machine):
        prices: set[Decimal] = set()
        by_price: dict[Decimal, Nat] = {}

        @transition()
        def put(self, price: Decimal) -> None:
            self.prices.add(price)
            self.by_price[price] = 1

        @transition()
        def drop(self, price: Decimal) -> Decimal:
            self.prices.remove(price)
            self.by_price.pop(price)
            return price

    return Desk


def _unpriced() -> type[Machine]:
    class Desk(Machine):
        several: Nat = 0

    return Desk


def test_rows_of_a_dropped_variable_name_equal_values_by_other_texts(tmp_path: Path) -> None:
    """The newer version does not know that these are decimals, and a function gets them."""
    old, new = _priced(), _unpriced()
    got: list[Any] = []

    def split(data: dict[str, Any]) -> dict[str, Any]:
        got.append(data)
        return {"several": len(data["prices"]["$set"])}

    with Store(tmp_path / "s.db", outbox=[old]) as store:
        desk: Any = store.add(old(), "a")
        for n in range(12):
            desk.put(Decimal(f"{n}.0"))
        desk.drop(Decimal("4.00"))
        desk.put(Decimal("5.00"))
        desk.drop(Decimal(6))
        with Store(tmp_path / "s.db", outbox=[new]) as other:
            back: Any = other.restore(new, "a", renamed=Migration({}, split))
            outbox = Outbox(other, new, lambda letter: got.append(letter.output), failed=_raise)
            with pytest.raises(ValueError, match="Desk has no event drop any more: `data` has"):
                outbox.deliver()
    kept = [f"{n}.0" for n in range(12) if n not in (4, 6)]
    assert (back.several, sorted(got[0]["prices"]["$set"], key=float)) == (10, kept)
    assert sorted(got[0]["by_price"]["$map"], key=lambda row: float(row[0])) == [
        [k, 1] for k in kept
    ]
    assert len(got) == 1


def _raise(_: object, error: Exception) -> None:
    raise error
