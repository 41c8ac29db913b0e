"""Replay of typed columns: the same verdicts, findings and counts as row by row."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from lawful import (
    Machine,
    Nat,
    Param,
    Record,
    Sort,
    State,
    event,
    ignore,
    require,
    terminal,
    transition,
)
from lawful.checks.replay import ReplayError, ReplayProgram, TraceMapping, in_process
from lawful.checks.replay.columnar import kernel, local, table_files
from lawful.checks.replay.columnar.layout import Layout, layout_of
from lawful.checks.replay.columnar.local import tally_columns
from lawful.checks.replay.fold import Fold
from lawful.checks.replay.in_process import tally_rows
from lawful.checks.replay.mapping import mapping_of
from lawful.checks.replay.parquet import arrow
from lawful.checks.replay.rows import Rejected, decoded
from lawful.checks.replay.sources import sources
from lawful.checks.replay.tally import Tallies
from lawful.checks.replay.validation import replay as replayed

pytest.importorskip("pyarrow")
pa = arrow()


class Phase(State):
    NEW = "new"
    OPEN = "open"
    DONE = "done"


class Way(State):
    CASH = "cash"
    CARD = "card"


class Name(Sort): ...


class Item(Record):
    price: Nat
    name: Name


class Order(Machine):
    """What a trace of an order may have: records, enums, optional values, several transitions of an
    event, an ignored event."""

    state: Phase = Phase.NEW
    price: Nat = 0
    paid: Nat = 0
    names: set[Name] = set()
    counts: dict[Name, Nat] = {}
    way: Way | None = None
    limit: Param[Nat] = 1000

    @transition(source=Phase.NEW, target=Phase.OPEN)
    def open(self) -> Nat:
        return self.limit

    @transition(source=Phase.OPEN)
    def add(self, item: Item, gift: bool) -> Nat:
        require(self.price + item.price <= self.limit, "too much")
        self.names.add(item.name)
        self.counts[item.name] = self.counts.get(item.name, 0) + 1
        self.price += 0 if gift else item.price
        return self.price

    @event
    def pay(self, amount: Nat, way: Way | None) -> Nat | None: ...

    @transition(source=Phase.OPEN, event="pay")
    def pay_some(self, amount: Nat, way: Way | None) -> Nat | None:
        require(self.paid + amount < self.price)
        self.paid += amount
        self.way = way
        return self.paid

    @transition(source=Phase.OPEN, target=Phase.DONE, event="pay")
    def pay_rest(self, amount: Nat, way: Way | None) -> Nat | None:
        require(self.paid + amount == self.price)
        self.paid += amount
        return self.paid

    late = ignore("pay", source=Phase.DONE, because="all is paid")

    @transition(source=Phase.OPEN)
    def take_back(self, name: Name) -> Nat:
        self.names.remove(name)
        return self.price

    @terminal
    def closed(self) -> bool:
        return self.state == Phase.DONE


MAPPING = TraceMapping(
    instance="$.who.id",
    seq="$.n",
    event="$.what",
    skip=("PING",),
    events={"OPEN": "open", "ADD": "add", "PAY": "pay", "BACK": "take_back"},
    args={
        "add": {"item": {"$": "Item", "price": "$.price", "name": "$.name"}, "gift": "$.gift"},
        "pay": {"amount": "$.price", "way": "$.way"},
        "take_back": {"name": "$.name"},
    },
    parameters={"limit": 500},
)
PROGRAM = ReplayProgram((Order.lawful.ir,), mapping=MAPPING)
Line = dict[str, Any]


def the_layout(program: ReplayProgram = PROGRAM) -> Layout:
    found = layout_of(program)
    assert found is not None
    return found


def order(rng: random.Random, name: str) -> list[Line]:
    """The events of one order, most of which the machine takes."""
    told: list[Line] = [{"what": "OPEN"}]
    price = paid = 0
    for _ in range(rng.randrange(12)):
        match rng.randrange(6):
            case 0 | 1 | 2:
                cost, gift = rng.randrange(40), rng.random() < 0.2
                item = {"price": cost, "name": rng.choice(["pen", "ink", "é\n"]), "gift": gift}
                told.append({"what": "ADD", **item})
                price += 0 if gift else cost
            case 3 | 4 if price - paid > 1:
                amount = rng.randrange(price - paid - 1)
                paid += amount
                told.append({"what": "PAY", "price": amount, "way": rng.choice(["CASH", "CARD"])})
            case 5:
                told.append({"what": "PING", "price": "none"})
            case _:
                pass
    if rng.random() < 0.6:
        told.append({"what": "PAY", "price": price - paid, "way": "CARD"})
        told += [{"what": "PAY", "price": 1, "way": "CARD"}] * rng.randrange(2)
    at = rng.randrange(3)
    for line in told:
        line.update({"who": {"id": name}, "n": at})
        at += rng.choice([1, 1, 2])
    return told


Spoil = Callable[[random.Random, Line], Any]
NOBODY: list[Any] = [None, {}, {"id": None}, {"id": 7}, {"id": []}]
SPOILS: list[Spoil] = [
    lambda rng, line: line.update(n=line["n"] + rng.choice([-1, 1, -9])),
    lambda rng, line: line.update(n=rng.choice([None, "1", 1.0, 2**63, 2**70, True, -4])),
    lambda rng, line: line.update(what=rng.choice(["WHAT", None, 7, "open", "BACK", ""])),
    lambda rng, line: line.update(price=rng.choice([-1, 10**6, 1.0, "3", None, True, 2**64, []])),
    lambda rng, line: line.update(way=rng.choice(["card", None, 1, "", {"a": 1}])),
    lambda rng, line: line.update(name=rng.choice([None, 1, "", "\ud800", "pen"])),
    lambda rng, line: line.update(gift=rng.choice([None, 0, 1, "true"])),
    lambda rng, line: line.update(who=rng.choice(NOBODY)),
    lambda rng, line: line.update(other=rng.choice([[1, "a"], {"x": None}, 10**400, "\udfff"])),
    lambda rng, line: line.pop(rng.choice(sorted(line))),
]


def trace(seed: int, spoilt: float = 0.03) -> list[Line]:
    """Orders by turns, some rows of them spoilt, some given twice."""
    rng = random.Random(seed)
    orders = [order(rng, f"order-{i}") for i in range(30)]
    out: list[Line] = []
    while any(orders):
        out.append(rng.choice([each for each in orders if each]).pop(0))
    for line in out:
        if rng.random() < spoilt:
            rng.choice(SPOILS)(rng, line)
    out += [dict(line) for line in out if rng.random() < spoilt / 10]
    return out


def text(lines: list[Line]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def both(path: Path, program: ReplayProgram = PROGRAM) -> tuple[Tallies, Tallies]:
    files = sources([path])
    return tally_rows(files, program), tally_columns(files, program, the_layout(program))


@pytest.mark.one_in(6)
@pytest.mark.parametrize("seed", range(12))
def test_lines_have_the_same_verdicts_as_row_by_row(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "ROWS", [7, 50, 1000][seed % 3])  # Instances span batches.
    monkeypatch.setattr(local, "BLOCK", 500)  # Only some blocks have a spoilt row.
    path = tmp_path / "trace.jsonl"
    path.write_bytes(text(trace(seed, 0 if seed == 0 else 0.03)))
    rows, columns = both(path)
    assert columns == rows
    verdicts = rows.machines["Order"].verdicts
    assert verdicts["fits"] and verdicts["open"]
    assert seed == 0 or verdicts["quarantined"] or verdicts["deviates"]


@pytest.mark.parametrize("seed", range(4))
def test_tables_have_the_same_verdicts_as_row_by_row(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "ROWS", 40)
    rng = random.Random(seed)
    told = trace(seed, 0)
    for line in told:
        if rng.random() < 0.03:
            line.update(rng.choice([{"n": None}, {"price": -1}, {"way": "x"}, {"who": None}]))
    path = tmp_path / "trace.parquet"
    pa.parquet.write_table(pa.Table.from_pylist([plain(line) for line in told]), path)
    rows, columns = both(path)
    assert columns == rows
    assert rows.machines["Order"].verdicts["fits"]


def plain(line: Line) -> Line:
    """A line for a column of whole numbers."""
    rest = {name: line.get(name) for name in ("name", "gift", "way")}
    return {**line, **rest, "price": line["price"] if isinstance(line.get("price"), int) else None}


@pytest.mark.parametrize("seed", range(4))
def test_outputs_are_compared(seed: int, tmp_path: Path) -> None:
    """Each row tells what the machine returned, or something else."""
    rng = random.Random(seed)
    mapping = replace(MAPPING, output="$.gave")
    program = ReplayProgram((Order.lawful.ir,), mapping=mapping)
    told = trace(seed, 0)
    machines: dict[str, Order] = {}
    for line in sorted(told, key=lambda each: each["n"]):
        machine = machines.setdefault(line["who"]["id"], Order(limit=500))
        line["gave"] = gave(machine, line)
        if rng.random() < 0.02:
            line["gave"] = rng.choice([None, 1000, True, "1", 1.0])
    path = tmp_path / "trace.jsonl"
    path.write_bytes(text(told))
    rows, columns = both(path, program)
    assert columns == rows
    verdicts = rows.machines["Order"].verdicts
    assert verdicts["fits"] and verdicts["deviates"]


def gave(machine: Order, line: Line) -> Any:
    """What the machine returns."""
    match line["what"]:
        case "OPEN":
            return machine.open()
        case "ADD":
            return machine.add(Item(line["price"], Name(line["name"])), line["gift"])
        case "PAY":
            return machine.pay(line["price"], Way[line["way"]])
        case _:
            return None


def test_numbers_without_gaps(tmp_path: Path) -> None:
    dense = ReplayProgram((Order.lawful.ir,), mapping=replace(MAPPING, dense=True))
    path = tmp_path / "trace.jsonl"
    told = trace(1, 0)
    path.write_bytes(text(told))
    rows, columns = both(path, dense)
    assert columns == rows
    assert rows.machines["Order"].verdicts["quarantined"] > 10
    assert rows.machines["Order"].verdicts.total() == 30


def test_a_number_twice_in_two_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "ROWS", 1)
    path = tmp_path / "trace.jsonl"
    told = trace(3, 0)
    path.write_bytes(text([*told, told[5]]))
    rows, columns = both(path)
    assert columns == rows
    assert rows.machines["Order"].counts["duplicates"] == 1


def test_only_what_does_not_fit_is_left_to_the_row_fold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without this, a kernel that leaves everything to the row fold would pass the other tests."""
    folded: list[str] = []

    def noting(program: ReplayProgram, instance: str) -> Any:
        folded.append(instance)
        return real(program, instance)

    real = Fold
    monkeypatch.setattr(kernel, "Fold", noting)
    told = trace(0, 0)
    path = tmp_path / "trace.jsonl"
    path.write_bytes(text(told))
    _, columns = both(path)
    assert folded == []
    assert columns.machines["Order"].verdicts.total() == 30
    told[-1]["price"] = -5
    told[-1]["what"] = "PAY"
    path.write_bytes(text(told))
    both(path)
    assert folded == [told[-1]["who"]["id"]]


# Programs.


def test_programs_without_columns() -> None:
    machine = Order.lawful.ir
    assert layout_of(ReplayProgram((machine,))) is None
    twice = replace(MAPPING, seq="$.what")
    assert layout_of(ReplayProgram((machine,), mapping=twice)) is None
    inside = replace(MAPPING, instance="$.who", output="$.who.id")
    assert layout_of(ReplayProgram((machine,), mapping=inside)) is None


def test_an_event_whose_arguments_no_column_holds_is_left_to_the_row_fold(tmp_path: Path) -> None:
    args: dict[str, Any] = {**MAPPING.args, "take_back": {"name": ["$.name"]}}
    program = ReplayProgram((Order.lawful.ir,), mapping=replace(MAPPING, args=args))
    assert {each.name for each in the_layout(program).events.values()} == {"open", "add", "pay"}
    path = tmp_path / "trace.jsonl"
    path.write_bytes(
        text([*trace(2, 0), {"who": {"id": "x"}, "n": 0, "what": "BACK", "name": "a"}])
    )
    rows, columns = both(path, program)
    assert columns == rows


def test_a_table_that_lacks_a_mapped_column(tmp_path: Path) -> None:
    path = tmp_path / "trace.parquet"
    pa.parquet.write_table(pa.table({"n": [1], "who": [{"id": "a"}]}), path)
    with pytest.raises(ReplayError, match=r"reads \$\.what; .*trace\.parquet has n, who"):
        replayed([path], PROGRAM)


def test_a_row_of_a_table_is_the_line_that_spark_writes() -> None:
    told = pa.table({"a": [1, None], "b": [float("nan"), 1.0], "c": [{"d": [True]}, None]})
    assert table_files.lines_of(told) == [
        b'{"a":1,"b":"NaN","c":{"d":[true]}}',
        b'{"a":null,"b":1.0,"c":null}',
    ]
    when = datetime(2026, 3, 1, 10, 0, 0, 1, timezone(timedelta(hours=1)))
    kinds = pa.schema(
        [
            ("zoned", pa.timestamp("us", "Europe/Berlin")),
            ("bare", pa.timestamp("ms")),
            ("pandas", pa.timestamp("ns", "UTC")),
            ("day", pa.date32()),
            ("cents", pa.decimal128(12, 2)),
            ("whole", pa.decimal128(12, 0)),
            ("short", pa.float32()),
            ("raw", pa.binary()),
            ("keys", pa.map_(pa.string(), pa.int64())),
        ]
    )
    row: dict[str, Any] = {
        "zoned": when,
        "bare": datetime(2026, 3, 1, 9),
        "pandas": when,
        "day": when.date(),
        "cents": Decimal("12.50"),
        "whole": Decimal(7),
        "short": 0.1,
        "raw": b"\xff",
        "keys": {"x": 1},
    }
    told = pa.Table.from_pylist([row, {}], schema=kinds)
    assert [json.loads(line) for line in table_files.lines_of(told)] == [
        {
            "zoned": "2026-03-01T09:00:00.000001Z",
            "bare": "2026-03-01T09:00:00.000000",
            "pandas": "2026-03-01T09:00:00.000001Z",
            "day": "2026-03-01",
            "cents": 12.5,
            "whole": 7,
            "short": 0.1,
            "raw": "/w==",
            "keys": {"x": 1},
        },
        dict.fromkeys(row),
    ]


def test_a_time_finer_than_a_microsecond_in_a_table(tmp_path: Path) -> None:
    path = tmp_path / "trace.parquet"
    pa.parquet.write_table(pa.table({"at": pa.array([1], pa.timestamp("ns"))}), path)
    how = {"instance": "$.x", "event": "$.x", "preparation": {"order": "time"}, "time": "$.at"}
    program = ReplayProgram((Order.lawful.ir,), mapping=mapping_of({**how, "unit": "iso"}))
    with pytest.raises(ReplayError, match=r"trace\.parquet: .*would lose data"):
        replayed([path], program)


def test_keys_of_a_map_in_a_table(tmp_path: Path) -> None:
    path = tmp_path / "trace.parquet"
    told = [plain(line) for line in trace(0, 0)]
    kind = pa.map_(pa.string(), pa.string())
    who = pa.array([[*line["who"].items()] for line in told], kind)
    table = pa.Table.from_pylist(told)
    table = table.set_column(table.schema.get_field_index("who"), "who", who)
    pa.parquet.write_table(table, path)
    lines = tmp_path / "trace.jsonl"
    lines.write_bytes(text(told))
    wanted = tally_rows(sources([lines]), PROGRAM)
    assert tally_rows(sources([path]), PROGRAM) == wanted
    assert tally_columns(sources([path]), PROGRAM, the_layout()) == wanted


def test_large_files_go_by_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_bytes(text(trace(5)))
    slow = replayed([path], PROGRAM)
    monkeypatch.setattr(in_process, "FEW", 0)
    monkeypatch.setattr(in_process, "tally_rows", None)
    fast = replayed([path], PROGRAM)
    assert fast.tallies == slow.tallies
    assert isinstance(decoded(b"{}", MAPPING.row_of), Rejected)
