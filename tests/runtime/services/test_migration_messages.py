"""What `restore` says of a snapshot of another version: what differs, and what takes it over."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from lawful import Machine, Nat, transition
from lawful.runtime.migration import Migration
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
