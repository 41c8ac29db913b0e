"""Items and keys that are equal and have several texts, `1.0` and `1.00`, in rows of a store."""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Annotated, Any

import pytest

from lawful import Machine, Nat, Opaque, Record, transition
from lawful.runtime.store import KeyReused, Store

Moment = Annotated[datetime | str, Opaque("Moment")]
MANY = [Decimal(n) for n in range(12)]


class Line(Record):
    item: Nat
    price: Decimal


class Shelf(Machine):
    """Its containers have too many entries for rows that tell them whole."""

    tags: set[Decimal] = set()
    lines: set[Line] = set()
    counts: Counter[Decimal] = Counter()
    names: dict[Moment, Nat] = {}
    sums: dict[Decimal, dict[Decimal, Nat]] = {}
    families: dict[tuple[Decimal, bool], set[Decimal]] = {}

    @transition()
    def put(self, x: Decimal, at: Moment, n: Nat) -> None:
        self.tags.add(x)
        self.lines.add(Line(1, x))
        self.counts[x] += 1
        self.names[at] = n
        self.sums.setdefault(x, {})[x] = n
        self.families.setdefault((x, True), set()).add(x)

    @transition()
    def count(self, x: Decimal) -> None:
        self.counts[x] += 1

    @transition()
    def name(self, at: Moment, n: Nat) -> None:
        self.names[at] = n

    @transition()
    def sum_up(self, x: Decimal, y: Decimal, n: Nat) -> None:
        self.sums.setdefault(x, {})[y] = n

    @transition()
    def gather(self, x: Decimal, y: Decimal) -> None:
        self.families.setdefault((x, True), set()).add(y)

    @transition()
    def drop(self, x: Decimal, at: Moment) -> None:
        self.tags.discard(x)
        self.lines.discard(Line(1, x))
        self.counts[x] = 0
        self.names.pop(at, 0)
        self.families.setdefault((x, True), set()).discard(x)


def instant(number: Decimal, zone: timezone) -> datetime:
    return (datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=int(number))).astimezone(zone)


CET = timezone(timedelta(hours=1))
CALLS: list[tuple[str, tuple[Any, ...]]] = [
    ("count", (Decimal("3.0"),)),
    ("name", (instant(MANY[3], CET), 7)),
    ("sum_up", (Decimal("3.00"), Decimal("3.0"), 7)),
    ("gather", (Decimal("3.00"), Decimal(20))),
    ("drop", (Decimal("3.0"), instant(MANY[3], CET))),
]


def full() -> Shelf:
    shelf = Shelf()
    for x in MANY:
        shelf.put(x, instant(x, UTC), 0)
        for y in MANY:
            shelf.sum_up(x, y, 0)
            shelf.gather(x, y)
    return shelf


@pytest.mark.parametrize(("event", "values"), CALLS)
def test_an_equal_key_finds_the_one_that_is_there(event: str, values: tuple[Any, ...]) -> None:
    with Store(":memory:") as store:
        shelf = store.add(full(), "a")
        shelf.lawful.take(event, *values)
        assert '"$changed"' in str(store.transactions.rows(store.transactions.sql.events, ("a", 0)))
        assert store.restore(Shelf, "a") == shelf


def test_many_events_with_equal_keys() -> None:
    chance = random.Random(7)
    with Store(":memory:") as store:
        shelf = store.add(full(), "a")
        for _ in range(200):
            x = Decimal(f"{chance.randrange(12)}{chance.choice(['', '.0', '.00'])}")
            at = instant(x, chance.choice([UTC, CET]))
            calls: list[tuple[str, tuple[Any, ...]]] = [
                ("put", (x, at, chance.randrange(9))),
                ("count", (x,)),
                ("name", (at, chance.randrange(9))),
                ("sum_up", (x, x, chance.randrange(9))),
                ("gather", (x, x + 0)),
                ("drop", (x, at)),
            ]
            event, values = chance.choice(calls)
            shelf.lawful.take(event, *values)
            if chance.random() < 0.1:
                assert store.restore(Shelf, "a") == shelf


def older() -> Any:
    class Rack(Machine):
        labels: set[Decimal] = set()

        @transition()
        def put(self, x: Decimal) -> None:
            self.labels.add(x)

        @transition()
        def drop(self, x: Decimal) -> None:
            self.labels.discard(x)

    return Rack


def newer() -> Any:
    class Rack(Machine):
        tags: set[Decimal] = set()

        @transition()
        def put(self, x: Decimal) -> None:
            self.tags.add(x)

    return Rack


def test_of_a_variable_that_had_another_name() -> None:
    with Store(":memory:") as store:
        rack = store.add(older()(), "a")
        for x in MANY:
            rack.put(x)
        rack.drop(Decimal("3.0"))
        back = store.restore(newer(), "a", renamed={"tags": "labels"})
        assert back.tags == set(MANY) - {Decimal(3)}


def test_a_repeated_call_with_equal_arguments() -> None:
    with Store(":memory:") as store:
        shelf = store.add(Shelf(), "a")
        at = instant(MANY[3], UTC)
        store.once("k", shelf.put, Decimal("3.0"), at, 1)
        store.once("k", shelf.put, Decimal("3.00"), at.astimezone(CET), 1)
        assert shelf.counts[Decimal(3)] == 1
        others: list[tuple[Decimal, datetime, int]] = [
            *((Decimal(4), at, 1), (Decimal(3), instant(MANY[4], UTC), 1)),
            (Decimal("3.00"), at, 2),
        ]
        for other in others:
            with pytest.raises(KeyReused, match="is of another call"):
                store.once("k", shelf.put, *other)
        with pytest.raises(KeyReused, match="is of another call"):
            store.once("k", shelf.drop, Decimal("3.0"), at)
