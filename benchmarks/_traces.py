"""The machines whose traces `replay.py` replays, and these traces, of any size."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lawful import Machine, Nat, Param, State, require, terminal, transition
from lawful.checks.replay import TraceMapping
from lawful.checks.replay.parquet import arrow

NAMES = ("OPEN", "ADD", "PAY", "CLOSE")


class Phase(State):
    NEW = "new"
    OPEN = "open"
    DONE = "done"


class Order(Machine):
    """States and counters: what is paid of an order is never more than its price."""

    state: Phase = Phase.NEW
    items: Nat = 0
    price: Nat = 0
    paid: Nat = 0
    limit: Param[Nat] = 1_000_000_000

    @transition(source=Phase.NEW, target=Phase.OPEN)
    def open(self) -> None: ...

    @transition(source=Phase.OPEN)
    def add(self, price: Nat) -> None:
        require(self.items < self.limit)
        self.items += 1
        self.price += price

    @transition(source=Phase.OPEN)
    def pay(self, amount: Nat) -> None:
        require(self.paid + amount <= self.price)
        self.paid += amount

    @transition(source=Phase.OPEN, target=Phase.DONE)
    def close(self) -> None:
        require(self.paid == self.price)

    @terminal
    def closed(self) -> bool:
        return self.state == Phase.DONE


class Due(State):
    NEW = "new"
    OPEN = "open"
    DUE = "due"
    DONE = "done"


class Basket(Machine):
    """The same orders without counters: few states."""

    state: Due = Due.NEW

    @transition(source=Due.NEW, target=Due.OPEN)
    def open(self) -> None: ...

    @transition(source=Due.OPEN, target=Due.DUE)
    def add(self, price: Nat) -> None:
        require(price > 0)

    @transition(source=Due.DUE, target=Due.OPEN)
    def pay(self, amount: Nat) -> None:
        require(amount > 0)

    @transition(source=Due.OPEN, target=Due.DONE)
    def close(self) -> None: ...

    @terminal
    def closed(self) -> bool:
        return self.state == Due.DONE


class Book(Machine):
    """Its set grows with each event."""

    seen: set[Nat] = set()

    @transition()
    def add(self, price: Nat) -> None:
        self.seen.add(price)


MAPPING = TraceMapping(
    instance="$.id",
    seq="$.n",
    event="$.what",
    events={"OPEN": "open", "ADD": "add", "PAY": "pay", "CLOSE": "close"},
    args={"add": {"price": "$.price"}, "pay": {"amount": "$.amount"}},
)


BATCH = 1 << 18  # Rows that are made at once.


def write(instances: int, events: int, folder: Path) -> None:
    """Write a trace as Parquet and as JSON lines: in the order of its time, the instances by
    turns."""
    import numpy as np

    folder.mkdir(exist_ok=True)
    with _table(folder) as writer, (folder / "trace.jsonl").open("w") as file:
        for start in range(0, instances * events, BATCH):
            row = np.arange(start, min(start + BATCH, instances * events))
            batch = _batch(row % instances, row // instances, events)
            writer.write_table(batch)
            file.writelines(_lines(batch))


def lines_of(instances: int, at: int, events: int) -> Iterator[str]:
    """Event number `at` of each of so many instances, of which each has so many events."""
    import numpy as np

    return _lines(_batch(np.arange(instances), np.full(instances, at), events))


def write_skewed(many: int, instances: int, events: int, folder: Path) -> None:
    """Write a trace as Parquet, of an instance with so many events, and others."""
    import numpy as np

    folder.mkdir(exist_ok=True)
    with _table(folder) as writer:
        for start in range(0, many, BATCH):
            row = np.arange(start, min(start + BATCH, many))
            writer.write_table(_batch(np.full(len(row), instances), row, many))
        for start in range(0, instances * events, BATCH):
            row = np.arange(start, min(start + BATCH, instances * events))
            writer.write_table(_batch(row % instances, row // instances, events))


def _table(folder: Path) -> Any:
    return arrow().parquet.ParquetWriter(folder / "trace.parquet", _schema())


def _schema() -> Any:
    pa = arrow()
    types = [("id", pa.string()), ("n", pa.int64()), ("what", pa.string())]
    return pa.schema([*types, ("price", pa.int64()), ("amount", pa.int64())])


def _batch(which: Any, at: Any, events: int) -> Any:
    """Events number `at` of these instances: opened, items added and paid by turns, closed."""
    import numpy as np

    pa = arrow()
    kind = np.where(at == events - 1, 3, np.where(at == 0, 0, 2 - at % 2))
    number = (which * 7_919 + (at + 1) // 2 * 104_729) % 99 + 1  # An item is paid at once.
    columns = [
        pa.array([f"order-{each:07d}" for each in which.tolist()]),
        pa.array(at),
        pa.array(np.array(NAMES)[kind].tolist()),
        pa.array(number, mask=kind != 1),
        pa.array(number, mask=kind != 2),
    ]
    return pa.Table.from_arrays(columns, schema=_schema())


def _lines(batch: Any) -> Iterator[str]:
    columns = (column.to_pylist() for column in batch.columns)
    return (_line(*each) for each in zip(*columns, strict=True))


def _line(name: str, at: int, what: str, price: int | None, amount: int | None) -> str:
    """The line that `json.dumps` makes of the values that are there."""
    more = "" if price is None else f', "price": {price}'
    more += "" if amount is None else f', "amount": {amount}'
    return f'{{"id": "{name}", "n": {at}, "what": "{what}"{more}}}\n'
