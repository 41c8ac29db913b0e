"""Answers to calls with a key: a repeated call gets the first one's answer, and does nothing.

    answer := (name, key, call, outcome, data, wall, sum)
    outcome := "done" | "ignored" | "refused"

An answer is written in the transaction of its event; that of a refused or ignored event alone.
`call` is the event with its arguments as JSON, `data` the output, or what a refusal says. A key is
one of an instance, and is forgotten `expiry` seconds after its call, by the wall clock. A fault of
the machine, an error of the store, and an interrupt leave no answer: nothing has happened.
"""

from __future__ import annotations

import threading
import time as clocks
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NoReturn, TypeVar

from lawful.spec.outcomes import Reason, Refused

from .databases.database import StoreError
from .databases.tables import checksum
from .instances.access import InstanceAccess
from .instances.json_events import arguments
from .instances.observers import Observed
from .instances.snapshots import taken, written
from .json_text import text_of
from .kernel.event_record import Stepped
from .kernel.plan import Plan, Way
from .store_rows import json_of, unwritten
from .store_transactions import Transactions
from .stored_instance import StoredInstance

T = TypeVar("T")
BY_NAME = ("take", "take_json")  # What of `lawful` calls an event.
_NO_PLAN = SimpleNamespace(ways=())


class KeyReused(StoreError):
    """A key that another event, or the same one with other arguments, was called with."""


class _Answered(Exception):
    """Somebody else has answered the key meanwhile; the event is undone."""


@dataclass
class _Call:
    """A call that runs; `kept`: its answer is in the store."""

    logged: StoredInstance
    way: Way
    key: str
    text: str
    as_json: bool
    kept: bool = False


class Answers:
    """The answers of one store, on whose transactions they are written."""

    def __init__(self, transactions: Transactions, expiry: float) -> None:
        if not expiry > 0:
            raise ValueError(f"keys are kept for some time, not for {expiry} seconds")
        self.transactions = transactions
        self.expiry = expiry
        self.calls: dict[int, _Call] = {}  # Those that are not over, by threads.

    def once(
        self,
        logged: StoredInstance,
        key: str,
        step: Callable[..., T],
        args: tuple[Any, ...],
        named: Mapping[str, Any],
    ) -> T:
        """See `Store.once`."""
        me = threading.get_ident()
        if me in self.calls:
            raise RuntimeError("a call with a key is not over in this thread")
        call = _call(logged, key, step, args, named)
        found = self._found(call)
        if found is not None:
            answer: T = self._answer(call, *found)
            return answer
        self.calls[me] = call
        try:
            return step(*args, **named)
        except _Answered:
            found = self._found(call)
            if found is None:  # It has expired meanwhile.
                raise StoreError(f"{logged.name}: the key {key!r} was in use") from None
            answer = self._answer(call, *found)
            return answer
        except Refused as refusal:
            if not call.kept and refusal.event == call.way.event:
                said = _refusal(refusal)
                self.transactions.run(lambda: self._put(call, "refused", said))
            raise
        finally:
            del self.calls[me]

    def write(self, logged: StoredInstance, done: Stepped) -> Callable[[], None] | None:
        """What the transaction of this event writes besides its rows, if it was called with a
        key."""
        call = self.calls.get(threading.get_ident())
        if call is None or call.kept or call.logged is not logged or done.event != call.way.event:
            return None
        return lambda: self._put(call, done.outcome, _output(done.output, call))

    def done(self) -> None:
        """The transaction of the call's event is committed."""
        call = self.calls.get(threading.get_ident())
        if call is not None:
            call.kept = True

    def forget(self) -> None:
        """Delete the answers that have expired."""
        sql = self.transactions.sql.forget
        self.transactions.database.execute(sql, (clocks.time() - self.expiry,))

    def _put(self, call: _Call, outcome: str, data: Any) -> None:
        now, name = clocks.time(), call.logged.name
        row = name, call.key, call.text, outcome, text_of(data), now
        values = (*row, checksum("", *row), now - self.expiry)
        statement = self.transactions.sql.put_answer
        if self.transactions.database.execute(statement, values).rowcount != 1:
            raise _Answered

    def _found(self, call: _Call) -> tuple[str, Any] | None:
        """The outcome and the data of the answer to a call, if there is one."""
        values = call.logged.name, call.key, clocks.time() - self.expiry
        row = self.transactions.row(self.transactions.sql.answer, values)
        if row is None:
            return None
        where = f"{call.logged.name}: the answer to the key {call.key!r}"
        if row[-1] != checksum("", *row[:-1]):
            raise StoreError(f"{where} is not as it was written: its checksum")
        if row[2] != call.text and not _is_equal(json_of(where, row[2]), call):
            raise KeyReused(f"{where} is of another call: {row[2]}, not {call.text}")
        return row[3], json_of(where, row[4])

    def _answer(self, call: _Call, outcome: str, data: Any) -> Any:
        """Return or raise what the first call did."""
        if outcome == "refused":
            _refuse(data)
        if data is None or call.as_json:
            return data
        return taken(data, call.way.output, call.logged.entry.__plan__)


def _call(
    logged: StoredInstance,
    key: str,
    step: Callable[..., Any],
    args: tuple[Any, ...],
    named: Mapping[str, Any],
) -> _Call:
    """The call, its arguments as JSON. Errors: those of the event for its arguments."""
    given: Any = key
    if not isinstance(given, str):  # SQLite would keep another one, and give back a text.
        raise TypeError(f"a key is a text, not {key!r}")
    if not key:
        raise ValueError("a key is a text that is not empty")
    try:
        key.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{key!r} cannot be a key: {error}") from error
    plan: Plan = logged.entry.__plan__
    event, as_json = getattr(step, "__name__", ""), False
    if isinstance(step.__self__, InstanceAccess):  # type: ignore[attr-defined]  # a bound method
        as_json = event == "take_json"
        event, args, named = _by_name(plan, event, args, named)
    way = plan.ways[event]
    names = [name for name, _ in way.params]
    values = dict(zip(names, args, strict=False)) | dict(named)
    if len(args) + len(named) != len(names) or set(values) != set(names):
        raise TypeError(f"{way.name} takes {', '.join(names) or 'no arguments'}")
    known = logged.entry.__environment__.universe
    checks = zip(way.params, way.checks, strict=True)
    given = {n: written(check(values[n], known), kind, plan) for (n, kind), check in checks}
    try:
        text = text_of([way.name, given])
    except ValueError as error:
        raise unwritten(f"{logged.name}: {way.name}", error) from error
    return _Call(logged, way, key, text, as_json)


def _by_name(
    plan: Plan, take: str, args: tuple[Any, ...], named: Mapping[str, Any]
) -> tuple[str, tuple[Any, ...], Mapping[str, Any]]:
    """The event that `take` or `take_json` is to call, and its arguments. Errors: theirs."""
    event, *rest = (*args, *named.values()) if take == "take_json" else args
    if event not in plan.ways:
        raise ValueError(f"{plan.name} has no event {event}; it has {', '.join(plan.ways)}")
    if take == "take_json":
        return event, tuple(arguments(plan, plan.ways[event], *rest)), {}
    return event, tuple(rest), named


def _is_equal(data: Any, call: _Call) -> bool:
    """Whether another text has an equal call: opaque values that are equal may have several."""
    plan, params = call.logged.entry.__plan__, call.way.params
    event, given = data
    mine = json_of(call.key, call.text)[1]
    if event != call.way.name or given.keys() != mine.keys():
        return False
    try:
        return all(taken(given[n], k, plan) == taken(mine[n], k, plan) for n, k in params)
    except ValueError:  # Another version of the event wrote it, with other types.
        return False


def _output(output: Any, call: _Call) -> Any:
    return None if output is None else written(output, call.way.output, call.logged.entry.__plan__)


def _refusal(refusal: Refused) -> dict[str, Any]:
    rows = [[row.transition, row.clause, row.why, dict(row.values)] for row in refusal.reasons]
    return {"of": [refusal.machine, refusal.event, refusal.state], "reasons": rows}


def _refuse(data: Any) -> NoReturn:
    machine, event, state = data["of"]
    raise Refused(machine, event, state, [Reason(*row) for row in data["reasons"]])


def logged_of(step: Any) -> Any:
    """The log of the events of the instance of which this is an event, or `take` or `take_json`;
    None if there is none."""
    entry: Any = getattr(step, "__self__", None)
    name = getattr(step, "__name__", "")
    if entry.__class__ is InstanceAccess:
        entry = entry.instance if name in BY_NAME else None
    elif name not in getattr(entry, "__plan__", _NO_PLAN).ways:
        return None
    watch = getattr(entry, "__watch__", None)
    return watch.log if isinstance(watch, Observed) else None
