"""How an instance comes back from its snapshot and the events after it.

    policy := "take"     the state that the rows tell; no event runs
            | "replay"   the events run again, on this code
            | "same"     both, on the code that wrote them; they must agree

`take` reads only the form of rows, not the types of the machine that wrote them. So newer code
takes the state over as `lawful.restore` takes a snapshot over: of the same shape, or `renamed`.
"""

from __future__ import annotations

import re
import time as clocks
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from lawful.spec.outcomes import MachineFault

from .databases.database import StoreError
from .databases.tables import COLUMNS, sum_of_event, sum_of_snapshot
from .elements import other_elements
from .instance import Machine
from .instances.access import behaviour_of, fingerprint_of
from .instances.armed_timers import armed_timers
from .instances.enforcement import judge, judgeable
from .instances.make import plan_of
from .instances.merging import Merging
from .instances.snapshots import elements_in, fill, keep, taken
from .kernel.dispatch import control_name
from .store_rows import Armed, Position, json_of, packed, seconds_of, started_in
from .store_transactions import Transactions
from .stored_instance import StoredInstance, Writer

M = TypeVar("M", bound=Machine)
Policy = Literal["take", "replay", "same"]
Timers = Literal["remaining", "deadline", "restart"]


class _Instant:
    """The clock of events that `restore` runs again."""

    def __init__(self) -> None:
        self.at = 0.0

    def now(self) -> float:
        return self.at


@dataclass(frozen=True)
class Found:
    """What a store has of an instance: the columns of its last snapshot up to `chain`, the events
    after it, and when it is due, twice, as the columns say."""

    name: str
    snapshot: tuple[Any, ...]
    rows: list[dict[str, Any]]
    due: tuple[Any, Any]

    @property
    def version(self) -> str | None:
        """The fingerprint of the code that made the snapshot; None where nobody has told."""
        return self.snapshot[5]  # type: ignore[no-any-return]  # a column of text

    @property
    def position(self) -> Position:
        """The position at the last event, but for the timers."""
        seq, last, wall, _, _, _, chain = self.snapshot
        rows = len(self.rows)
        if self.rows:
            row = self.rows[-1]
            seq, last, wall, chain = row["seq"], row["time"], row["wall"], row["sum"]
        last, wall = seconds_of(self.name, last, wall)
        return Position(seq, last, wall, (), packed(chain), rows)


def events_of(
    transactions: Transactions, name: str, after: int, chained: str | None
) -> list[dict[str, Any]]:
    """The events of an instance after one with this checksum; None where nobody knows it any more.
    StoreError where one is not as it was written."""
    out: list[dict[str, Any]] = []
    for row in transactions.rows(transactions.sql.events, (name, after)):
        seq = row[1]
        pruned = not out and (chained is None or seq != after + 1)
        if not pruned and row[-1] != sum_of_event(chained or "", row[:-1]):
            raise StoreError(f"{name}: event {seq} is not as it was written: its checksum")
        chained = row[-1]
        of = dict(zip(COLUMNS, row, strict=True))
        out.append({**of, "args": json_of(name, of["args"])})
    return out


def found(transactions: Transactions, name: str, machine: str) -> Found:
    """The snapshot of an instance, and the events after it. StoreError where they are not as they
    were written."""
    transactions.database.hold(name)
    head = transactions.row(transactions.sql.whole, (name,))
    last = transactions.row(transactions.sql.last, (name,))
    if head is None or last is None:
        raise StoreError(f"the store has no instance {name}")
    if head[0] != machine:
        raise StoreError(f"{name} is of the machine {head[0]}, not of {machine}")
    *row, chained, whole = last
    if whole != sum_of_snapshot(machine, row, chained):
        raise StoreError(f"{name}: the snapshot is not as it was written: its checksum")
    rows = events_of(transactions, name, row[1], chained)
    end = (rows[-1]["seq"], rows[-1]["sum"]) if rows else (row[1], chained)
    if end != tuple(head[1:3]) or any(each["seq"] != row[1] + n for n, each in enumerate(rows, 1)):
        raise StoreError(f"{name}: events are missing before {head[1]}, the last one")
    return Found(name, (*row[1:], chained), rows, tuple(head[3:]))


@dataclass(frozen=True)
class Recovery(Generic[M]):
    """Makes an instance of what was found. Errors: StoreError, and those of `lawful.restore`, which
    has the same `universe` and `renamed`."""

    store: Writer
    cls: type[M]
    found: Found
    universe: Mapping[type[Any], Any] | None
    renamed: Mapping[str, str] | None

    def run(self, policy: Policy) -> StoredInstance:
        """The instance as it was after its last event, on a clock of its own."""
        rows = self.found.rows
        clear = all(row["changed"] is not None for row in rows)
        if policy == "take" and clear:
            return self.taken_over()
        again = self.run_again(policy)
        if policy == "same" and clear and rows:
            told = self.taken_over().entry
            if told != again.entry:
                what = f"{self.found.name}: run again, its events lead to {again.entry!r}"
                raise StoreError(f"{what}, and once they led to {told!r}")
        return again

    def _restored(self, saved: Any, clock: _Instant) -> M:
        return self.cls.lawful.restore(
            saved, universe=self.universe, clock=clock, renamed=self.renamed
        )

    def taken_over(self) -> StoredInstance:
        """The state that the rows tell, as an instance."""
        found = self.found
        saved = json_of(found.name, found.snapshot[3])
        started = dict(started_in(found.name, found.snapshot[4]))
        if found.rows:
            started |= self._bring_up_to_date(saved)
        entry = self._restored(saved, _Instant())
        plan = entry.__plan__
        others = {row["behaviour"] for row in found.rows} - {behaviour_of(plan)}
        if others or found.version not in (None, fingerprint_of(plan).whole):
            _check(found.name, entry)
        former = {was: name for name, was in (self.renamed or {}).items()}
        logged = StoredInstance(self.store, entry, found.name, found.position)
        places = {former.get(root, root) + rest: root + rest for root, rest in map(_split, started)}
        _put_started(logged, {now: started[place] for now, place in places.items()})
        return logged

    def _bring_up_to_date(self, saved: Any) -> dict[str, float]:
        """Put into a snapshot what the rows changed; for how many seconds they started timers."""
        found, plan = self.found, plan_of(self.cls)
        former = self.renamed or {}
        kinds = {former.get(name, name): kind for name, kind in plan.fields.items()}
        started: dict[str, float] = {}
        try:
            merging = Merging(saved["variables"], kinds, lambda data, of: taken(data, of, plan))
            for row in found.rows:
                where = f"{found.name}: event {row['seq']}, {row['transition']}"
                told = json_of(found.name, row["changed"])
                merging.take(told["variables"])
                saved.setdefault("universe", {}).update(told.get("universe", {}))
                seconds_of(where, row["time"], row["wall"], *told.get("started", {}).values())
                started |= told.get("started", {})
            saved["variables"] = merging.result()
            if not saved.get("universe"):
                saved.pop("universe", None)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise StoreError(f"{found.name}: a row tells no change: {error!r}") from error
        return started

    def run_again(self, policy: Policy) -> StoredInstance:
        """The snapshot as an instance, on which the events run again."""
        found = self.found
        seq, last, wall, data, started, _, chained = found.snapshot
        past, saved = _Instant(), json_of(found.name, data)
        entry = self._restored(saved, past)
        known = entry.__environment__.universe.universe()
        other = other_elements(known, elements_in(saved, entry.lawful.plan))
        if other and found.rows:
            what = f"{found.name} with another universe, {other}, and events of the other one"
            raise StoreError(f"{what}: restore it with that one, and snapshot it, first")
        last, wall = seconds_of(found.name, last, wall)
        at = Position(seq, last, wall, (), packed(chained))
        old = StoredInstance(self.store, entry, found.name, at)
        _put_started(old, dict(started_in(found.name, started)))
        for row in found.rows:
            _once_more(old, row, past, policy)
        return old


def _put_started(logged: StoredInstance, started: Mapping[str, float]) -> None:
    """Tell for how many seconds the armed timers were started, where that is known."""
    armed = logged.started(logged.at.last)
    known = tuple((place, due, started.get(place, s)) for place, due, s in armed)
    logged.at = logged.at._replace(timers=known)


def moved(old: StoredInstance, entry: Machine, timers: Timers) -> StoredInstance:
    """The instance `old` moved into `entry`, which is on another clock."""
    now, wall, at = entry.__environment__.now(), clocks.time(), old.at
    passed = max(0.0, wall - at.wall) if timers == "deadline" else 0.0
    fill(entry, keep(old.entry, at.last + passed), now)
    known = {place: seconds for place, _, seconds in at.timers}
    started: list[Armed] = []
    for timer in armed_timers(entry):
        seconds = known[timer.place]
        if timers == "restart":
            timer.put_off(now + seconds)
        started.append((timer.place, timer.deadline, seconds))
    position = Position(at.seq, float(now), wall, tuple(started), at.packed, at.rows)
    logged = StoredInstance(old.store, entry, old.name, position)
    logged.at = position._replace(due=logged.due(wall, now))
    return logged


# Taking the state over.


def _split(place: str) -> tuple[str, str]:
    """The variable at the beginning of a timer's place, and the rest."""
    root = re.split(r"[.\[]", place, maxsplit=1)[0]
    return root, place[len(root) :]


def _check(name: str, entry: Machine) -> None:
    """ValueError where an invariant is false of a state that another version of the code left."""
    try:
        judge(judgeable(entry.__plan__).invariants(), entry, "restore")
    except MachineFault as fault:
        of = type(entry).__name__
        what = f"{name}: another version left what is no state of {of}: {fault}: {entry!r}"
        raise ValueError(what) from fault


# Running the events again.


def _once_more(old: StoredInstance, row: dict[str, Any], past: _Instant, policy: Policy) -> None:
    """Run one event again."""
    access = old.entry.lawful
    plan = access.plan
    where = f"{old.name}: event {row['seq']}, {row['transition']}"
    if row["behaviour"] != behaviour_of(plan) and policy != "replay":
        how = "policy='replay' runs it on this one" if row["changed"] is None else "policy='take'"
        raise StoreError(f"{where}, is of another {plan.name}; snapshot it with that one, or {how}")
    past.at, _ = seconds_of(where, row["time"], row["wall"])
    try:
        step = plan.steps[row["transition"]]
        kinds = step.params
        args = [taken(row["args"][of], kind, plan) for of, kind in kinds]
        if len(args) != len(row["args"]):
            raise LookupError(", ".join(row["args"]))
    except (LookupError, TypeError, ValueError) as error:
        raise StoreError(f"{where}, has other arguments: {error!r}") from error
    try:
        if step.grows:
            new: Any = args[0]
            access.grow(new.__class__, new)
        else:
            access.take(row["transition"], *args)
    except Exception as error:
        raise StoreError(f"{where}: it ran once, and now {error!r}") from error
    after = control_name(old.entry)
    if after != row["after"] or row["seq"] != old.at.seq + 1:
        raise StoreError(f"{where}: it led to {row['after']}, and now to {after}")
    timers = old.started(past.at)
    old.at = Position(
        row["seq"], row["time"], row["wall"], timers, packed(row["sum"]), old.at.rows + 1
    )
