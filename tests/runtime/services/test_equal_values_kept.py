"""Values that are equal and have different texts: a restored instance has the very ones that the
running one had, from rows as from snapshots."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful import Machine, Record, transition
from lawful.runtime.instances.container_changes import Teller
from lawful.runtime.journal import Journal, read
from lawful.runtime.store import Store

BERLIN = ZoneInfo("Europe/Berlin")
FIRST = datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN)
SECOND = FIRST.replace(fold=1)  # An hour later, and equal.


class Price(Record):
    amount: Decimal
    when: datetime | None


class Drawer(Machine):
    coins: Decimal | None = None

    @transition()
    def fill(self, coins: Decimal) -> None:
        self.coins = coins


class Bin(Machine):
    price: Decimal | None = None
    at: datetime | None = None
    label: Price | None = None
    pair: tuple[Decimal, int] | None = None
    queue: list[Decimal] = []
    by_key: dict[int, Decimal] = {}
    keyed: dict[Decimal, int] = {}
    nested: dict[int, dict[int, Decimal]] = {}
    seen: set[Decimal] = set()
    counts: Counter[Decimal] = Counter()

    @transition()
    def mark(self, amount: Decimal, when: datetime) -> None:
        self.price = amount
        self.at = when
        self.label = Price(amount, when)
        self.pair = (amount, 0)

    @transition()
    def push(self, amount: Decimal) -> None:
        self.queue.append(amount)

    @transition()
    def turn(self, amount: Decimal) -> None:
        if self.queue:
            self.queue.pop(0)
            self.queue.append(amount)

    @transition()
    def put(self, n: int, amount: Decimal) -> None:
        self.by_key[n] = amount
        self.nested[n] = {**self.nested.get(n, {}), 0: amount}

    @transition()
    def inside(self, n: int, amount: Decimal) -> None:
        if n in self.nested:
            self.nested[n][1] = amount

    @transition()
    def key(self, amount: Decimal) -> None:
        self.keyed[amount] = 1
        self.seen.add(amount)
        self.counts[amount] += 1

    @transition()
    def rekey(self, old: Decimal, amount: Decimal) -> None:
        if old in self.keyed:
            self.keyed.pop(old)
            self.keyed[amount] = 2
        if old in self.seen:
            self.seen.remove(old)
            self.seen.add(amount)
        if self.counts[old] > 0:
            self.counts[old] -= 1
            self.counts[amount] += 1

    @transition()
    def whole(self, amount: Decimal) -> None:
        self.seen = {each for each in self.seen if each != amount} | {amount}
        self.keyed = {each: n for each, n in self.keyed.items() if each != amount} | {amount: 3}
        self.by_key = {n: amount for n in self.by_key}
        self.queue = [amount for _ in self.queue]


class Shelf(Bin):
    drawer: Drawer = Drawer()
    drawers: dict[int, Drawer] = {}

    @transition()
    def open(self, n: int, amount: Decimal) -> None:
        self.price = amount
        self.drawer.fill(amount)
        if n in self.drawers:
            self.drawers[n].fill(amount)
        else:
            self.drawers[n] = Drawer()


AMOUNTS = st.sampled_from([Decimal(f"{n}{zeros}") for n in range(5) for zeros in ("", ".0", ".00")])
TIMES = st.sampled_from([FIRST, SECOND, datetime(2026, 1, 1), datetime(2026, 1, 1, fold=1)])
EVENTS = st.one_of(
    st.tuples(st.just("mark"), AMOUNTS, TIMES),
    *(st.tuples(st.just(name), AMOUNTS) for name in ("push", "turn", "key", "whole")),
    *(st.tuples(st.just(name), st.integers(0, 2), AMOUNTS) for name in ("put", "inside", "open")),
    st.tuples(st.just("rekey"), AMOUNTS, AMOUNTS),
)


def exactly(shelf: Bin) -> dict[str, Any]:
    """What the variables have, to the digit."""
    found: dict[str, Any] = json.loads(json.dumps(shelf.lawful.snapshot()))["variables"]
    return found


@pytest.mark.parametrize("cls", [Bin, Shelf])
@settings(max_examples=100, deadline=None)
@given(events=st.lists(EVENTS, max_size=20), large=st.booleans())
def test_rows_give_back_the_very_values(
    cls: type[Bin],
    tmp_path_factory: pytest.TempPathFactory,
    events: list[tuple[Any, ...]],
    large: bool,
) -> None:
    path = tmp_path_factory.mktemp("shelf") / "s.db"
    fast = partial(Store, synchronous="NORMAL", snapshot_every=1000)
    with fast(path) as store, fast(path) as other:
        start = cls()
        if large:  # Changes of entries are told, not the whole containers.
            several = [Decimal(n) for n in range(12)]
            start = cls.lawful.state(
                queue=[*several],
                keyed=dict.fromkeys(several, 0),
                seen={*several},
                counts=Counter(several),
                by_key=dict(enumerate(several)),
                nested={n: dict(enumerate(several)) for n in range(3)},
            )
        shelf = store.add(start, "a")
        for number, (name, *args) in enumerate(events):
            if hasattr(cls, name):
                shelf.lawful.take(name, *args)
            if number >= len(events) // 2:
                back = other.restore(cls, "a")  # It finds what a process that died would leave.
                assert exactly(back) == exactly(shelf)


def test_the_two_hours_of_a_night(tmp_path: Path) -> None:
    with Store(tmp_path / "s.db") as store, Journal(tmp_path / "j.jsonl") as journal:
        shelf = store.add(Bin(), "a")
        journal.attach(shelf, "a")
        shelf.mark(Decimal("1.0"), FIRST)
        shelf.mark(Decimal("1.00"), SECOND)
        shelf.mark(Decimal("1.00"), SECOND)
        told = [json.loads(row["changed"])["variables"] for row in store.events("a")]
    assert [[*each] for each in told] == [
        ["price", "at", "label", "pair"],
        ["price", "at", "label", "pair"],
        [],
    ]
    assert told[1]["at"] == "2026-10-25T02:30:00+01:00[Europe/Berlin][fold=1]"
    rows = [*read(tmp_path / "j.jsonl")]
    assert [[*row["changed"]] for row in rows[1:]] == [["price", "at", "label", "pair"], [], []]


def test_an_item_that_is_taken_out_and_put_in_with_another_text(tmp_path: Path) -> None:
    one, same = Decimal("1.0"), Decimal("1.00")
    with Store(tmp_path / "s.db") as store:
        shelf = store.add(Bin(), "a")
        shelf.key(one)
        shelf.rekey(one, same)
        shelf.rekey(same, same)
        told = [json.loads(row["changed"])["variables"] for row in store.events("a")]
    assert told[1] == {
        "keyed": {"$map": [["1.00", 2]]},
        "seen": {"$set": ["1.00"]},
        "counts": {"$map": [["1.00", 1]]},
    }


def test_plain_types_are_compared_as_before() -> None:
    """No text is made of a value whose type has one text for equal values."""

    class Plain(Machine):
        total: int = 0
        pairs: dict[int, tuple[UUID, int]] = {}

        @transition()
        def put(self, who: UUID) -> None:
            self.total += 1
            self.pairs[self.total] = (who, 0)

    def exact(teller: Teller) -> Callable[[str], bool]:
        return teller.is_exact

    with Store(":memory:") as store:
        store.add(Plain(), "a").put(UUID(int=1))
        shelf = store.add(Shelf(), "b")
        shelf.push(Decimal(1))
        rows: Any = Plain.lawful.plan.store_rows
        assert [*map(exact(rows.teller), ("total", "pairs"))] == [False, False]
        rows = Shelf.lawful.plan.store_rows
        names = ("price", "at", "label", "pair", "queue", "by_key", "keyed", "nested", "seen")
        assert all(map(exact(rows.teller), names))
