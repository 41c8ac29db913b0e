"""The outbox of a store: outputs wait in the database until they are delivered.

    store = Store("tills.db", outbox=[Till])
    outbox = Outbox(store, Till, send)
    outbox.deliver()                       # `send(outgoing)` for each output that waits

An output is written in the transaction of its event. `deliver` hands it on, and deletes it once the
handler has returned: so it is delivered at least once. The outputs of one instance are delivered in
the order of its events, one after another. If the handler raises, it is tried again after a while;
after `tries` it is a dead letter, and the next output of its instance goes on.

    output := (name, seq, machine, event, data, tries, due, error, sum)

`due` is when it is tried next, in seconds since 1970, and null for a dead letter. Who delivers an
output first puts `due` off by `lease` seconds: until then no other process delivers it, or a later
one of its instance. A process that dies leaves it to the others after that time.
"""

from __future__ import annotations

import logging
import time as clocks
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .databases.database import StoreError
from .databases.tables import Output
from .instances.snapshots import taken
from .kernel.plan import Plan
from .kernel.signal_handlers import let_out
from .store import Store
from .store_rows import check_class, json_of

if TYPE_CHECKING:
    from .instance import Machine

LOGGER = logging.getLogger("lawful")


@dataclass(frozen=True)
class Outgoing:
    """An output that waits: of the event with the number `seq` of the instance `name`. `data` is
    its JSON form. `tries`: how often the handler was called with it, this time included; `error` is
    what it raised last. `name` and `seq` together are a key by which a receiver knows a
    repetition. `row` is what the database has."""

    name: str
    seq: int
    event: str
    data: Any
    tries: int
    error: str | None
    plan: Plan
    row: Output

    @property
    def output(self) -> Any:
        """The output as the event returned it. ValueError where the present declaration has no such
        output any more."""
        way = self.plan.ways.get(self.event)
        if way is None:
            what = f"{self.plan.name} has no event {self.event} any more"
            raise ValueError(f"{what}: `data` has the output as JSON")
        return taken(self.data, way.output, self.plan)


def doubled(tries: int) -> float:
    """Seconds until the next try: 1, 2, 4 and so on, at most an hour."""
    return float(min(3600, 2 ** min(tries - 1, 12)))


def _log(letter: Outgoing, error: Exception) -> None:
    where = f"{letter.name}: output {letter.seq} of {letter.event}"
    LOGGER.warning("%s was not delivered (%s times): %r", where, letter.tries, error)


class Outbox:
    """Delivers the outputs of one machine's instances, of a store with `outbox=` for it.

    `handler(outgoing)` delivers one; `wait(tries)` is after how many seconds one that failed is
    tried again; `failed(outgoing, error)` hears of each failure, by default the logger `lawful`.
    """

    def __init__(
        self,
        store: Store,
        cls: type[Machine],
        handler: Callable[[Outgoing], object],
        *,
        tries: int = 16,
        wait: Callable[[int], float] = doubled,
        lease: float = 60.0,
        failed: Callable[[Outgoing, Exception], object] = _log,
    ) -> None:
        if tries < 1:
            raise ValueError(f"a handler is tried once or more, not {tries} times")
        check_class(cls, "an outbox's machine")
        self.plan = cls.lawful.plan
        if self.plan.name not in store.outbox:
            raise ValueError(f"the store keeps no outputs of {self.plan.name}: Store(outbox=...)")
        self.store = store
        self.handler = handler
        self.tries = tries
        self.wait = wait
        self.lease = lease
        self.failed = failed

    def deliver(self, now: float | None = None) -> int:
        """Deliver what is due; returns how many outputs this call has delivered and deleted.

        `now` is in seconds since 1970. An exception of the handler stops no other output; one that
        is no `Exception`, such as KeyboardInterrupt, ends this, and its output is tried again after
        the lease. Where an output is not as it was written, those of other instances are delivered,
        then StoreError is raised; RuntimeError inside a `together`."""
        self.store.transactions.apart("delivered")
        count, missed, damaged = 0, None, list[Output]()
        while (row := self._row(clocks.time() if now is None else now, damaged)) is not None:
            if row == missed:  # Where another process had it, it would have changed.
                what = f"{row.name}: output {row.seq} is found and cannot be taken"
                raise StoreError(f"{what}: the database is damaged")
            done = self._try(row, clocks.time() if now is None else float(now))
            count, missed = count + done, None if done else row
        _check(damaged)
        return count

    def next_due(self) -> float | None:
        """When to call `deliver` next, in seconds since 1970; None while no output waits.
        StoreError where those that wait are not as they were written."""
        damaged: list[Output] = []
        row = self._row(float("inf"), damaged)
        if row is None:
            _check(damaged)
        return None if row is None else row.due

    def dead(self) -> list[Outgoing]:
        """The outputs that were tried too often. StoreError where one is not as it was written."""
        transactions = self.store.transactions
        rows = [Output(*row) for row in transactions.rows(transactions.sql.dead, (self.plan.name,))]
        _check([row for row in rows if row != row.sealed()])
        return [self._letter(row) for row in rows]

    def revive(self, letter: Outgoing, now: float | None = None) -> None:
        """Try a dead letter again. It may come after later outputs of its instance. StoreError if
        there is no such dead letter."""
        due = clocks.time() if now is None else float(now)
        if letter.row.due is not None or self._put_off(letter.row, due, 0, letter.error) is None:
            raise _no_dead(letter)

    def discard(self, letter: Outgoing) -> None:
        """Delete a dead letter. StoreError if it has changed."""
        if not self._acknowledge(letter.row):
            raise _no_dead(letter)

    def _changed(self, statement: str, values: tuple[Any, ...]) -> bool:
        """Whether there was such a row."""
        transactions = self.store.transactions
        execute = transactions.database.execute
        return transactions.run(lambda: execute(statement, values).rowcount == 1)

    def _put_off(
        self, row: Output, due: float | None, tries: int, error: str | None
    ) -> Output | None:
        """The row with these values, if the database had it as it was given."""
        new = row._replace(tries=tries, due=due, error=error).sealed()
        values = new.tries, new.due, new.error, new.sum, row.name, row.seq, row.sum
        return new if self._changed(self.store.transactions.sql.put_off, values) else None

    def _acknowledge(self, row: Output) -> bool:
        values = row.name, row.seq, row.sum
        return self._changed(self.store.transactions.sql.acknowledge, values)

    def _row(self, until: float, damaged: list[Output]) -> Output | None:
        """The next output that is due, behind those that are damaged, to which it adds others."""
        transactions = self.store.transactions
        while True:
            at: Any = (damaged[-1].due, damaged[-1].name) if damaged else (float("-inf"), "")
            values = self.plan.name, float(until), at[0], *at
            found = transactions.row(transactions.sql.next_output, values)
            row = None if found is None else Output(*found)
            if row is None or row == row.sealed():
                return row
            if row in damaged:  # As where an index and its table differ.
                return None
            damaged.append(row)

    def _letter(self, row: Output) -> Outgoing:
        data = json_of(row.name, row.data)
        return Outgoing(row.name, row.seq, row.event, data, row.tries, row.error, self.plan, row)

    def _try(self, row: Output, now: float) -> bool:
        """Call the handler with an output, if no other process does; whether it was delivered."""
        tries = row.tries + 1
        mine = self._put_off(row, now + self.lease, tries, row.error)
        if mine is None:
            return False
        letter = self._letter(mine)
        try:
            self.handler(letter)
        except Exception as error:
            let_out(error)  # As after a crash: it is delivered again when the lease is over.
            later = None if tries >= self.tries else now + self.wait(tries)
            put_off = self._put_off(mine, later, tries, _told(error))
            self.failed(self._letter(put_off or mine), error)
            return False
        return self._acknowledge(mine)


def _check(damaged: list[Output]) -> None:
    """StoreError where an output is not as it was written."""
    for row in damaged:
        raise StoreError(f"{row.name}: output {row.seq} is not as it was written: its checksum")


def _told(error: Exception) -> str:
    """What an exception says, as a text that every database keeps."""
    try:
        told = repr(error)
    except Exception as other:  # Else the output would never be put off.
        told = f"{type(error).__name__}, of which repr raises {type(other).__name__}"
    return told.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")


def _no_dead(letter: Outgoing) -> StoreError:
    return StoreError(f"{letter.name}: output {letter.seq} is no dead letter")
