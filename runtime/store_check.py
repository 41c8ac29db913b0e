"""What a store has, compared with its checksums: `damages(store)` reads every row once.

`restore`, `events`, `deliver` and `once` look at the rows that they read. A row that nobody finds
any more, because its key or its machine is another one now, only this finds.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from .databases.database import StoreBusy, StoreError
from .databases.tables import Output, checksum
from .recovery import found

if TYPE_CHECKING:
    from .store import Store


def damages(store: Store) -> Iterator[str]:
    """A text for each instance, output and answer in the store that is not as it was written; none
    where all are; and for what the database itself finds wrong with the tables, such as a row that
    is not in an index. Events before the last snapshot may be pruned. Everything is read at once.
    Errors: StoreBusy; those of the driver where the database cannot be read."""
    with store.transactions.database.with_damaged_texts():
        told = [*_damages(store)]  # At once: the caller may run events between two of them.
    return iter(told)


def _damages(store: Store) -> Iterator[str]:
    transactions, sql = store.transactions, store.transactions.sql
    names: set[object] = {*store.names()}  # One that was damaged may be no text.
    for name in sorted(names, key=str):
        head = transactions.row(sql.whole, (name,))
        if head is None or not isinstance(name, str):
            yield f"{name}: the name of an instance is not as it was written"
            continue
        try:
            store.events(name)
            transactions.run(partial(found, transactions, name, head[0]))
        except StoreBusy:  # It says nothing of the rows.
            raise
        except StoreError as error:
            yield str(error)
        if head[3] != head[4]:
            what = f"{name}: when it is due is not as it was written: {head[3]} and {head[4]}"
            yield f"{what}. Its next event, or `restore`, writes it anew"
    for (name,) in transactions.rows(sql.strays):
        yield f"{name}: events or a snapshot of no instance"
    for query in transactions.database.checks:
        for (told,) in transactions.rows(query):
            if told != "ok":
                yield f"the database: {told}"
    for row in transactions.rows(sql.outputs):
        output = Output(*row)
        if output != output.sealed() or output.name not in names:
            yield f"{output.name}: output {output.seq} is not as it was written: its checksum"
    for row in transactions.rows(sql.answers):
        if row[-1] != checksum("", *row[:-1]) or row[0] not in names:
            what = f"{row[0]}: the answer to the key {row[1]!r}"
            yield f"{what} is not as it was written: its checksum"
