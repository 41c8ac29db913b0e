"""Refusals show opaque values as they are, in the runtime as in the reference engine."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any
from uuid import UUID

import pytest

from lawful import Machine, Opaque, Record, require, transition
from lawful.spec.values.opaque_texts import digest
from tests.runtime.helpers import refused

Name = Annotated[str, Opaque("Name")]
Blob = Annotated[bytes, Opaque("Blob")]
ONE, TWO = UUID(int=1), UUID(int=2)


@dataclass(frozen=True)
class Custom:
    number: int


Own = Annotated[Custom, Opaque("Own")]


class Owner(Record):
    who: UUID
    share: Decimal


class Desk(Machine):
    who: UUID | None = None
    names: frozenset[Name] = frozenset()
    prices: dict[Name, Decimal] = {}
    owner: Owner | None = None
    due: datetime | None = None
    blob: Blob | None = None
    custom: Own | None = None

    @transition()
    def own(self, who: UUID) -> None:
        require(self.who is None or who == self.who, f"{who} is not {self.who}")
        self.who = who

    @transition()
    def name(self, name: Name) -> None:
        require(name not in self.names)
        self.names = self.names | {name}

    @transition()
    def price(self, name: Name, price: Decimal) -> None:
        self.prices[name] = price

    @transition()
    def priced(self, name: Name, price: Decimal) -> None:
        require(self.prices[name] == price)

    @transition()
    def owned(self, owner: Owner) -> None:
        require(owner == self.owner)

    @transition()
    def at(self, due: datetime) -> None:
        require(due == self.due)

    @transition()
    def fill(self, blob: Blob) -> None:
        require(blob == self.blob)

    @transition()
    def same(self, custom: Own) -> None:
        require(custom == self.custom)


def desk() -> Desk:
    made = Desk()
    made.own(ONE)
    made.name("a")
    made.price("a", Decimal("1.00"))
    return made


CASES: list[tuple[str, tuple[Any, ...], str]] = [
    (
        "own",
        (TWO,),
        f"own: {TWO} is not {ONE} (who is None or who == who is false: who = {ONE}, who = {TWO})",
    ),
    ("name", ("a",), "name: name not in names is false: name = 'a', names = {'a'}"),
    ("priced", ("a", Decimal(2)), "priced: 1.00 == 2 is false"),
    (
        "owned",
        (Owner(ONE, Decimal("0.50")),),
        f"owned: owner == owner is false: owner = Owner(who={ONE}, share=0.50), owner = None",
    ),
    (
        "at",
        (datetime(2026, 1, 2, 3, tzinfo=UTC),),
        "at: due == due is false: due = 2026-01-02T03:00:00+00:00, due = None",
    ),
    ("fill", (b"x",), "fill: blob == blob is false: blob = b'x', blob = None"),
]


@pytest.mark.parametrize(("event", "args", "said"), CASES)
def test_opaque_values_are_shown_by_their_texts(
    event: str, args: tuple[Any, ...], said: str
) -> None:
    assert str(refused(lambda: desk().lawful.take(event, *args))) == said


def test_what_has_no_text_is_shown_by_a_hash() -> None:
    said = str(refused(lambda: desk().same(Custom(3))))
    assert said.startswith("same: custom == custom is false: custom = Own(")
    assert "number" not in said


def test_the_values_of_a_refusal_are_json_as_before() -> None:
    values = refused(lambda: desk().name("a")).values
    form = {"$opaque": "Name", "id": digest("a")}
    assert values == {"name": form, "names": {"$set": [form]}}
