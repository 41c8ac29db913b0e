"""UUIDs, times, exact numbers and paths are stored, sent as JSON, and replayed."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, NewType
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful import Machine, Nat, Opaque, Record, transition
from lawful.checks.prove.migration import Versions
from lawful.checks.replay import ReplayProgram, replay
from lawful.runtime.journal import Journal
from lawful.runtime.outbox import Outbox
from lawful.runtime.store import Store
from lawful.spec.resolve import resolve
from lawful.spec.values import opaque_texts
from lawful.spec.values.opaques import base_of, has_text
from tests.spec.values.schemas import valid

Price = NewType("Price", Decimal)
Either = Annotated[UUID | str | Decimal, Opaque("Either")]
Anything = Annotated[object, Opaque("Anything")]


class Line(Record):
    item: UUID
    price: Price


class Order(Machine):
    """Holds values of each class, in containers too."""

    id: UUID | None = None
    placed: datetime | None = None
    day: date | None = None
    hour: time | None = None
    patience: timedelta | None = None
    total: Decimal | None = None
    share: Fraction | None = None
    file: Path | None = None
    either: Either | None = None
    anything: Anything | None = None
    lines: list[Line] = []
    days: set[date] = set()
    prices: dict[UUID, Price] = {}

    @transition()
    def place(
        self, id: UUID, placed: datetime, day: date, hour: time, patience: timedelta
    ) -> datetime:
        self.id = id
        self.placed = placed
        self.day = day
        self.hour = hour
        self.patience = patience
        self.days.add(day)
        return placed

    @transition()
    def add(self, total: Decimal, share: Fraction, file: Path, line: Line) -> Price:
        self.total = total
        self.share = share
        self.file = file
        self.lines.append(line)
        self.prices[line.item] = line.price
        return line.price

    @transition()
    def hold(self, either: Either, anything: Anything) -> None:
        self.either = either
        self.anything = anything


offsets = st.timedeltas(timedelta(hours=-23), timedelta(hours=23)).map(timezone)
zones = st.none() | st.timezones() | offsets | st.just(UTC)
instants = st.datetimes(timezones=zones, allow_imaginary=True)
hours = st.times(timezones=zones)
decimals = st.decimals(allow_nan=False)
names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
paths = names.map(Path)
of_any_class = st.one_of(st.uuids(), instants, st.dates(), hours, st.timedeltas(), paths)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "place": st.tuples(st.uuids(), instants, st.dates(), hours, st.timedeltas()),
    "add": st.tuples(decimals, st.fractions(), paths, st.builds(Line, st.uuids(), decimals)),
    "hold": st.tuples(st.uuids() | names | decimals, of_any_class),
}
CALLS = st.one_of(*(st.tuples(st.just(name), each) for name, each in VALUES.items()))


def same(one: Order, other: Order) -> bool:
    """Whether both hold the same, to the last zero and zone."""
    return one == other and repr(one) == repr(other)


def test_all_of_it_comes_back_from_a_store(tmp_path: Path) -> None:
    count = 0

    @settings(max_examples=30, deadline=None)
    @given(st.lists(CALLS, min_size=1, max_size=4))
    def run(calls: list[tuple[str, tuple[Any, ...]]]) -> None:
        nonlocal count
        count += 1
        with Store(":memory:") as store:
            order = store.add(Order(), "a")
            for event, values in calls:
                order.lawful.take(event, *values)
            back = store.restore(Order, "a")
            assert back == order
            store.snapshot("a")
            assert same(store.restore(Order, "a"), back)
        assert same(Order.lawful.restore(json.loads(json.dumps(order.lawful.snapshot()))), order)

    run()
    assert count >= 30


@settings(max_examples=60, deadline=None)
@given(CALLS)
def test_events_as_json(call: tuple[str, tuple[Any, ...]]) -> None:
    event, values = call
    first, second = Order(), Order()
    first.lawful.take(event, *values)
    with Store(":memory:") as store:
        stored = store.add(Order(), "a")
        stored.lawful.take(event, *values)
        (row,) = store.events("a")
    schema: Any = Order.lawful.schema()[event]
    assert valid(row["args"], schema["arguments"])
    output = second.lawful.take_json(event, json.loads(json.dumps(row["args"])))
    assert valid(output, schema["output"])
    assert same(first, second)


BERLIN = ZoneInfo("Europe/Berlin")
CET = timezone(timedelta(hours=1))
TEXTS: list[tuple[Any, str]] = [
    (UUID(int=255), "00000000-0000-0000-0000-0000000000ff"),
    (date(987, 1, 2), "0987-01-02"),
    (datetime(2026, 1, 2, 3), "2026-01-02T03:00:00"),
    (datetime(2026, 1, 2, 3, 4, 5, 6, UTC), "2026-01-02T03:04:05.000006+00:00"),
    (datetime(2026, 1, 2, 3, tzinfo=BERLIN), "2026-01-02T03:00:00+01:00[Europe/Berlin]"),
    (
        datetime(2026, 10, 25, 2, 30, fold=1, tzinfo=BERLIN),
        "2026-10-25T02:30:00+01:00[Europe/Berlin][fold=1]",
    ),
    (datetime(2026, 1, 2, 3, fold=1), "2026-01-02T03:00:00[fold=1]"),
    (time(3, 4, tzinfo=CET), "03:04:00+01:00"),
    (time(3, 4, tzinfo=BERLIN), "03:04:00[Europe/Berlin]"),
    (timedelta(), "PT0S"),
    (timedelta(days=2), "P2D"),
    (timedelta(hours=1, seconds=5), "PT1H0M5S"),
    (timedelta(days=1, microseconds=-1), "PT23H59M59.999999S"),
    (timedelta(microseconds=-1), "-PT0.000001S"),
    (Decimal("1.0"), "1.0"),
    (Decimal("1.00"), "1.00"),
    (Decimal("-0"), "-0"),
    (Decimal("1e30"), "1E+30"),
    (Decimal("-inf"), "-Infinity"),
    (Fraction(6, 4), "3/2"),
    (Fraction(-3), "-3"),
]


@pytest.mark.parametrize(("value", "text"), TEXTS)
def test_the_texts(value: Any, text: str) -> None:
    cls = base_of(value)
    assert cls is not None
    assert opaque_texts.written(value, cls) == text
    assert repr(opaque_texts.read(text, cls)) == repr(value)
    assert valid(text, opaque_texts.schema(cls))


# What a client may send besides: the class, the text, and what is read.
OTHER: list[tuple[type[Any], str, Any]] = [
    (UUID, "A0000000-0000-0000-0000-0000000000FF", UUID("a0000000-0000-0000-0000-0000000000ff")),
    (datetime, "2026-01-02T03:04:05.5Z", datetime(2026, 1, 2, 3, 4, 5, 500000, UTC)),
    (timedelta, "PT90S", timedelta(seconds=90)),
    (timedelta, "PT36H", timedelta(hours=36)),
    (Fraction, "2/4", Fraction(1, 2)),
    # Rules that the zone had when this was written, and has no more: the instant counts.
    (datetime, "2026-01-02T03:00:00+02:00[Europe/Berlin]", datetime(2026, 1, 2, 2, tzinfo=BERLIN)),
]


@pytest.mark.parametrize(("cls", "text", "value"), OTHER)
def test_other_texts_that_are_read(cls: type[Any], text: str, value: Any) -> None:
    assert opaque_texts.read(text, cls) == value
    assert valid(text, opaque_texts.schema(cls))


WRONG: list[tuple[type[Any], str]] = [
    (UUID, "{00000000-0000-0000-0000-0000000000ff}"),
    (UUID, "000000000000000000000000000000ff"),
    (date, "2026-1-2"),
    (date, "20260102"),
    (date, "2026-W01-1"),
    (datetime, "2026-01-02"),
    (datetime, "2026-01-02 03:04:05"),
    (datetime, "2026-01-02T03:04:05.1234567"),
    (datetime, "2026-01-02T03:04"),
    (timedelta, "P"),
    (timedelta, "PT"),
    (timedelta, "P1Y"),
    (timedelta, "1 day"),
    (Decimal, "NaN"),
    (Decimal, " 1"),
    (Decimal, "1_0"),
    (Decimal, "٣"),
    (Fraction, "1/0"),
    (Fraction, "0.5"),
]


@pytest.mark.parametrize(("cls", "text"), WRONG)
def test_what_is_no_text_of_the_class(cls: type[Any], text: str) -> None:
    with pytest.raises(ValueError, match=f"expected the text of a {cls.__name__}, found "):
        opaque_texts.read(text, cls)
    assert not valid(text, opaque_texts.schema(cls))


BEYOND: list[tuple[type[Any], str]] = [
    (date, "2026-02-30"),
    (datetime, "2026-01-02T03:00:00+25:00"),
    (datetime, "2026-01-02T03:00:00[No/Zone]"),
    (timedelta, "P999999999DT24H"),
    (Decimal, "1E+99999999999999999999"),
]


@pytest.mark.parametrize(("cls", "text"), BEYOND)
def test_a_text_beyond_what_the_class_has_is_a_value_error(cls: type[Any], text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        opaque_texts.read(text, cls)


class Clock(datetime):
    """As libraries for tests have one."""


class Cents(Decimal):
    """Holds more than its value."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cents) and super().__eq__(other)

    __hash__ = Decimal.__hash__


class Own(tzinfo):
    def utcoffset(self, _: datetime | None) -> timedelta:
        return timedelta(hours=1)

    def dst(self, _: datetime | None) -> None: ...

    def tzname(self, _: datetime | None) -> None: ...


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"placed": datetime(2026, 1, 2, tzinfo=Own())}, "a zone of the class Own has no name"),
        ({"total": Cents(3)}, "is more than a Decimal"),
        ({"day": datetime(2026, 1, 2)}, "the opaque date is a date"),
        ({"anything": (1, 2)}, r"no encoding for the opaque value \(1, 2\): bytes, str, int, UUID"),
    ],
)
def test_what_cannot_be_stored(values: dict[str, Any], told: str) -> None:
    order = Order.lawful.state(**values)
    with pytest.raises(TypeError, match=told):
        order.lawful.snapshot()
    with Store(":memory:") as store:
        with pytest.raises(TypeError, match=told):
            store.add(order, "a")
        assert store.names() == []


def test_a_subclass_comes_back_as_the_class() -> None:
    order = Order.lawful.state(placed=Clock(2026, 1, 2))
    back = Order.lawful.restore(order.lawful.snapshot())
    assert back == order
    assert type(back.placed) is datetime


def test_a_signalling_nan_is_no_value() -> None:
    order = Order()
    for nan in ("NaN", "sNaN"):
        with pytest.raises(ValueError, match=r"total: Decimal.*NaN.* is not equal to itself"):
            order.add(Decimal(nan), Fraction(1), Path("a"), Line(UUID(int=1), Price(Decimal(1))))


def test_outputs_wait_as_texts() -> None:
    got: list[Any] = []
    when = datetime(2026, 1, 2, 3, tzinfo=BERLIN)
    with Store(":memory:", outbox=[Order]) as store:
        store.add(Order(), "a").place(UUID(int=1), when, date(2026, 1, 2), time(3), timedelta(1))
        outbox = Outbox(store, Order, lambda letter: got.append((letter.data, letter.output)))
        assert outbox.deliver() == 1
    assert got == [("2026-01-02T03:00:00+01:00[Europe/Berlin]", when)]


class Meter(Machine):
    """What it does depends on which values are equal."""

    last: Anything | None = None
    again: Nat = 0
    seen: frozenset[Anything] = frozenset()

    @transition()
    def read(self, value: Anything) -> None:
        if self.last == value:
            self.again += 1
        self.last = value
        self.seen = self.seen | {value}


ALIKE: list[Any] = [
    *(datetime(2026, 1, 2, 3, tzinfo=BERLIN), datetime(2026, 1, 2, 3, tzinfo=CET)),
    *(datetime(2026, 1, 2, 2, tzinfo=UTC), datetime(2026, 1, 2, 2)),
    *(datetime(2026, 1, 2, 2, fold=1), Clock(2026, 1, 2, 2)),
    *(datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN), datetime(2026, 10, 25, 1, 30, tzinfo=CET)),
    *(datetime(2026, 10, 25, 2, 30, fold=1, tzinfo=BERLIN), datetime.max.replace(tzinfo=BERLIN)),
    *(time(3, tzinfo=CET), time(2, tzinfo=UTC), time(3), time(3, fold=1)),
    *(time(3, tzinfo=BERLIN), timedelta(0), timedelta(hours=24), timedelta(1)),
    *(UUID(int=3), UUID(int=4), Path("a"), Path("./a")),
    *((Path("a"), 1), frozenset({Path("a"), Path("b")}), frozenset({Path("b"), Path("a")})),
]
NUMBERS = [Decimal(n) for n in ("1.0", "1.00", "1", "10", "1E1", "0", "-0.0", "0E5", "-1", "inf")]
FLOATS = [0.0, -0.0, 1.0]
COMPLEX = [0j, -0j, 1j, -1j]


@pytest.mark.parametrize("values", [ALIKE, NUMBERS, FLOATS, COMPLEX])
def test_likeness_is_equality(values: list[Any]) -> None:
    for one in values:
        for other in values:
            alike = opaque_texts.likeness(one) == opaque_texts.likeness(other)
            assert alike == (one == other), (one, other)


class Scale(Machine):
    """The same of numbers, which have one type."""

    last: Decimal | None = None
    again: Nat = 0

    @transition()
    def read(self, value: Decimal) -> None:
        if self.last == value:
            self.again += 1
        self.last = value


def test_a_journal_of_them_is_replayed(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal.jsonl") as journal:
        meter, scale = Meter(), Scale()
        journal.attach(meter, "m")
        for value in ALIKE:
            meter.read(value)
    with Journal(tmp_path / "scale.jsonl") as journal:
        journal.attach(scale, "s")
        for value in NUMBERS:
            scale.read(value)
    assert (meter.again, scale.again) == (10, 5)
    for file, cls in (("journal.jsonl", Meter), ("scale.jsonl", Scale)):
        assert replay([tmp_path / file], ReplayProgram((cls.lawful.ir,))).verdicts["fits"] == 1


What = Annotated[UUID, Opaque("What")]
Wider = Annotated[UUID | str, Opaque("What")]
Other = Annotated[Decimal, Opaque("What")]


def narrow() -> Any:
    class Held(Machine):
        what: What | None = None

        @transition()
        def put(self, what: What) -> None:
            self.what = what

    return Held


def wide() -> Any:
    class Held(Machine):
        what: Wider | None = None

        @transition()
        def put(self, what: Wider) -> None:
            self.what = what

    return Held


def another() -> Any:
    class Held(Machine):
        what: Other | None = None

        @transition()
        def put(self, what: Other) -> None:
            self.what = what

    return Held


@pytest.mark.parametrize(
    ("older", "newer", "told"),
    [
        (narrow(), another(), "expected the text of a Decimal, found '00000000-"),
        (narrow(), wide(), 'expected a What . None, found "00000000-'),
        (wide(), narrow(), "What is the text of a UUID, not 'UUID:00000000-"),
    ],
)
def test_a_version_that_writes_them_otherwise_does_not_take_them_over(
    older: Any, newer: Any, told: str, tmp_path: Path
) -> None:
    """The store keeps what it had, and a comparison of the versions says so before."""
    with Store(tmp_path / "held.db") as store:
        store.add(older(), "a").put(UUID(int=1))
    with Store(tmp_path / "held.db") as store:
        with pytest.raises(ValueError, match=told):
            store.restore(newer, "a")
        assert store.restore(older, "a").what == UUID(int=1)
    versions = Versions.of(resolve(older), resolve(newer), {})
    assert versions.refused == {"What": True}


def test_a_path_of_python_3_13(monkeypatch: pytest.MonkeyPatch) -> None:
    """There its module is another one than that from which it is imported."""
    monkeypatch.setattr(Path, "__module__", "pathlib._local")
    assert has_text(Path)
