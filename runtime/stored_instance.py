"""An instance with its position in a store, and the rows that tell its events and its state.

    event    := (name, seq, time, wall, behaviour, transition, args, after, changed, sum)
    changed  := {"variables": {name: JSON | change}, "started": {place: seconds}}
    snapshot := (name, seq, time, wall, data, started, version, chain, sum)

`changed` tells what the event changed, as `instances.container_changes` does, with values in the
form of a snapshot as of time 0, and for how many seconds it has started timers. So the state after
an event follows from the snapshot and the rows, whatever the machine has become.
"""

from __future__ import annotations

import ast
import functools
import json
import time as clocks
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol

from lawful.spec import types as t
from lawful.spec.values.opaques import has_several_texts
from lawful.spec.values.world import Encoder, encoder

from .compile.python_ast import assign, name
from .databases.database import StoreError
from .databases.tables import COLUMNS, checksum, digest, sum_of_snapshot
from .instances.access import behaviour_of, fingerprint_of, first_deadline
from .instances.armed_timers import armed_timers
from .instances.container_changes import Teller
from .instances.observers import Observed
from .instances.row_code import Function, Piece, RowCode, joined
from .instances.snapshots import keep, plain, snapshot, written
from .json_text import text_of
from .kernel.event_record import Stepped
from .kernel.plan import Plan
from .store_rows import Armed, Position, unwritten
from .store_transactions import Transactions

if TYPE_CHECKING:
    from .instance import Machine

SMALL = 4096  # Bytes of a snapshot that is written after any `snapshot_every` rows.


class Writer(Protocol):
    """The store that an instance is in. `stale`: the names of those in memory that another process
    was found to have written, or to have removed."""

    transactions: Transactions
    outbox: frozenset[str]
    stale: set[str]

    def write(self, logged: StoredInstance, done: Stepped) -> None:
        """Write the row of an event, or raise."""
        ...


class StoredInstance:
    """An instance with its position in a store, which is the log of its events; see
    `observers.Log`. `size`: the bytes of its last snapshot. `watch`: what its events go through,
    once its store follows it."""

    __slots__ = ("at", "entry", "kept", "name", "next", "size", "store", "watch")

    watch: Observed

    def __init__(self, store: Writer, entry: Machine, name: str, at: Position) -> None:
        self.store = store
        self.entry = entry
        self.name = name
        self.at: Position = at
        self.next: Position = at
        self.kept: Iterable[object] = ()
        self.size = 0

    @property
    def held(self) -> bool:
        """Whether it is in a transaction that is not over."""
        block = self.store.transactions.block
        return block is not None and self.name in block.touched

    def begin(self) -> None:
        """Save what it has, if this is its first event in a `together`. RuntimeError if it is in
        the transaction of another thread."""
        block = self.store.transactions.block
        if block is not None:
            block.touch(self, self.at)

    def write(self, done: Stepped) -> None:
        """Write the row of an event."""
        self.store.write(self, done)

    def started(self, now: float) -> tuple[Armed, ...]:
        """The armed timers after an event at `now`: it has started each timer whose deadline is
        another than before."""
        before = {armed[0]: armed for armed in self.at.timers}
        timers: list[Armed] = []
        for timer in armed_timers(self.entry):
            due, known = timer.deadline, before.get(timer.place)
            timers.append(known if known and known[1] == due else (timer.place, due, due - now))
        return tuple(timers)

    def due(self, wall: float, now: float) -> float | None:
        """When its next timer is due, in seconds since 1970, of which there are `wall` at `now`."""
        deadline = first_deadline(self.entry)
        return None if deadline is None else wall + (deadline - now)

    def gone_elsewhere(self, how: str = ", or was removed") -> StoreError:
        """The error where another process has written, or removed, the instance."""
        self.store.stale.add(self.name)
        return StoreError(f"{self.name} went on elsewhere{how}")

    def put_due(self) -> None:
        """Store when it is due, unless it went on elsewhere."""
        at, transactions = self.at, self.store.transactions
        row = at.due, at.due, self.name, at.seq, at.sum
        transactions.database.execute(transactions.sql.settle, row)

    def event(self, done: Stepped, transition: str, last: str) -> tuple[tuple[Any, ...], Position]:
        """The row of an event without its checksum, and the position after it; `last` is the
        checksum of the event before. StoreError for a value that cannot be written."""
        plan, at, of = self.entry.__plan__, self.at, done.record
        seq, wall, time = at.seq + 1, clocks.time(), float(of[8])
        timers, due = at.timers, at.due
        new: dict[str, float] = {}
        if plan.timed and (plan.families or any(_of_timers(plan.fields[n]) for n in done.inside)):
            timers = self.started(of[8])
            before = set(at.timers)
            new = {armed[0]: armed[2] for armed in timers if armed not in before}
            due = self.due(wall, time)
        try:
            rest = f',"started":{text_of(new)}' if new else ""
            if of[1].grows:
                rest += f',"universe":{text_of(self.entry.__environment__.universe.texts())}'
            rows = plan.store_rows or _rows_of(plan)
            row, whole = rows[of[1].name, transition, of[9]](
                done, self.name, seq, time, wall, rest, last
            )
        except ValueError as error:
            raise unwritten(f"{self.name}: {transition}", error) from error
        total = int.from_bytes(digest(whole))
        size = at.bytes + len(row[6]) + len(row[8])
        return row, Position(seq, time, wall, timers, total, at.rows + 1, size, due)

    def output(self, done: Stepped, at: Position) -> tuple[Any, ...] | None:
        """The row of an event's output, which waits from now on; None if there is no output, or
        where nobody delivers the outputs of this machine."""
        plan = self.entry.__plan__
        if done.output is None or plan.name not in self.store.outbox:
            return None
        try:
            text = text_of(written(done.output, plan.ways[done.event].output, plan))
        except ValueError as error:
            raise unwritten(f"{self.name}: the output of {done.event}", error) from error
        row = self.name, at.seq, plan.name, done.event, text, 0, at.wall, None
        return (*row, checksum("", *row))  # `sealed` takes two microseconds more.

    def wants_snapshot(self, at: Position, every: int) -> bool:
        """Whether a snapshot follows the row: after `every` rows, and where the state is large,
        once the rows since the last one are as large as that. So snapshots cost no more than
        rows, and the rows to be read with one are no more than it is."""
        return at.rows >= every and (self.size <= SMALL or at.bytes >= self.size)

    def snapshot(self, at: Position) -> tuple[Any, ...]:
        """The row of a snapshot at a position. StoreError for a value that cannot be written."""
        plan = self.entry.__plan__
        of = fingerprint_of(plan)
        data = snapshot(self.entry, of.shape, 0.0)
        started = {place: seconds for place, _, seconds in at.timers}
        try:
            texts = json.dumps(data), json.dumps(started)
        except ValueError as error:
            raise unwritten(self.name, error) from error
        row = (self.name, at.seq, at.last, at.wall, *texts, of.whole)
        self.size = len(texts[0])
        return (*row, at.sum, sum_of_snapshot(plan.name, row, at.sum))


def _of_timers(kind: t.Type) -> bool:
    return isinstance(kind.value if isinstance(kind, t.Map) else kind, t.Timer)


class _Rows(RowCode):
    """The functions that make the rows of a machine's events, each with what its checksum is of
    (see `databases.tables`).

    def tell_send(done, name, seq, time, wall, rest, sum):
        ...
        args = '{}'
        changed = f'{{"variables":{changed}{rest}}}'
        after = None
        row = name, seq, time, wall, 'b2c4...', 'send', args, after, changed
        return row, f"('{sum}', {name!r}, {seq}, {time!r}, {wall!r}, ...)"
    """

    PARAMS = ("name", "seq", "time", "wall", "rest", "sum")

    def body(self, function: Function) -> list[ast.stmt]:
        """Make the texts of the row, and return both."""
        given = [name(each) for each in COLUMNS[:4]]
        fixed = [ast.Constant(behaviour_of(self.plan)), ast.Constant(function.transition)]
        made = [name(each) for each in COLUMNS[6:9]]
        shown: list[list[Piece]] = [
            [", ", ast.FormattedValue(each, ord("r"))] for each in (*given, *made)
        ]
        shown.insert(4, [f", {ast.unparse(each)}" for each in fixed])
        whole = joined("('", name("sum"), "'", *(piece for row in shown for piece in row), ")")
        changed = joined('{"variables":', name("changed"), name("rest"), "}")
        return [
            assign(name("args"), joined(*function.args())),
            assign(name("after"), function.control_name("after")),
            assign(name("changed"), changed),
            assign(name("row"), ast.Tuple([*given, *fixed, *made], ast.Load())),
            ast.Return(ast.Tuple([name("row"), whole], ast.Load())),
        ]


def _rows_of(plan: Plan) -> _Rows:
    known = plan.resolved.world.encodable

    def exact(kind: t.Type) -> bool:
        held = (each.name for each in t.inside(kind) if isinstance(each, t.Opaque))
        return any(has_several_texts(known.get(name)) for name in held)

    teller = Teller(plan, functools.partial(form_of, plan), exact)
    made = plan.store_rows = _Rows(plan, teller)
    return made


def form_of(plan: Plan, kind: t.Type) -> Encoder:
    """What makes the JSON form of variables of this type, in a snapshot as of time 0."""
    match kind:
        case t.Part():
            return lambda value: written(keep(value, 0.0), kind, plan)
        case t.Map(value=t.Part()):
            return lambda value: written({k: keep(v, 0.0) for k, v in value.items()}, kind, plan)
        case _ if t.contains(kind, t.Opaque):
            return lambda value: written(value, kind, plan)
        case _:
            return encoder(plain(kind))
