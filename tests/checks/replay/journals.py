"""Journals for the tests of replay: machines, what writes their rows, and ways to spoil these."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lawful import (
    Ghost,
    Machine,
    Nat,
    Param,
    Record,
    State,
    Timer,
    assume,
    event,
    ignore,
    require,
    terminal,
    transition,
)
from lawful.checks.reference import Done
from lawful.checks.replay import ReplayProgram
from lawful.checks.replay.row_step import Stepper
from lawful.spec.values.world import decode

Row = dict[str, Any]


class Phase(State):
    IDLE = "idle"
    BUSY = "busy"
    OVER = "over"


class Job(Record):
    size: Nat
    tags: frozenset[int]


class Worker(Machine):
    """Does jobs one after the other, up to a limit, and then rests for ever."""

    state: Phase = Phase.IDLE
    job: Job | None = None
    done: Nat = 0
    sizes: dict[int, Nat] = {}
    told: Ghost[bool] = False
    patience: Timer = Timer()
    limit: Param[int] = 5

    @transition(source=Phase.IDLE, target=Phase.BUSY)
    def take(self, job: Job) -> Nat:
        require(self.done < self.limit, "the limit is reached")
        require(job.size > 0, "an empty job")
        self.job = job
        self.patience.start(2.0)
        return self.done + 1

    @event
    def finish(self) -> Nat | None: ...

    @transition(source=Phase.BUSY, target=Phase.IDLE, event="finish")
    def finish_job(self) -> Nat | None:
        self.done += 1
        if self.job is not None:
            self.sizes[self.done] = self.job.size
        self.job = None
        self.patience.stop()
        self.told = True
        return self.done

    @transition(source=Phase.IDLE, target=Phase.OVER, event="finish")
    def finish_all(self) -> Nat | None:
        require(self.done == self.limit, "jobs are left")
        return 0

    late = ignore("finish", source=Phase.OVER, because="all is done")

    @transition(source=Phase.BUSY, target=Phase.IDLE, timer="patience")
    def lose_patience(self) -> None:
        self.job = None

    @terminal
    def rests(self) -> bool:
        return self.state == Phase.OVER

    @assume
    def some(self) -> bool:
        return self.limit > 0


class Bell(Machine):
    """Never ends, has no control state, and shares journals with the workers."""

    rung: Nat = 0

    @transition()
    def ring(self) -> Nat:
        self.rung += 1
        return self.rung


PROGRAM = ReplayProgram((Worker.lawful.ir,))
STEPPER = Stepper(Worker.lawful.ir)
BELL = Stepper(Bell.lawful.ir)


@dataclass
class Recorder:
    """Writes the rows that the executor would write of one instance."""

    instance: str
    stepper: Stepper = STEPPER
    parameters: Row = field(default_factory=dict[str, Any])
    rows: list[Row] = field(default_factory=list[Row])

    def __post_init__(self) -> None:
        m = self.stepper.machine
        given = {p.name: p for p in m.parameters}
        self.state = self.stepper.reference.initial(self.parameters)
        names = [*(v.name for v in m.variables), *given]
        values = dict(zip(names, self.state, strict=True))
        args = {name: values[name] for name in given}
        self._write(None, "made", args=args, changed=self.stepper.shown(self.state))

    def take(self, event: str, **args: Any) -> str:
        """Do the event with arguments in JSON form; the outcome."""
        serving = self.stepper.machine.serving(event)
        before, old = self.control(), self.stepper.shown(self.state)
        for row in serving:
            given = [
                decode(args[name], kind, self.stepper.world) for name, kind in row.function.params
            ]
            named = dict(zip((n for n, _ in row.function.params), given, strict=True))
            outcome = self.stepper.reference.step(self.state, row.name, named)
            if isinstance(outcome, Done):
                self.state = outcome.state
                new = self.stepper.shown(self.state)
                changed = {k: v for k, v in new.items() if v != old[k]}
                self._write(
                    event,
                    "done",
                    args=args,
                    transition=row.name,
                    changed=changed,
                    output=outcome.output,
                    before=before,
                )
                return "done"
        named = {name: args[name] for name in args}
        ignored = self.stepper.reference.ignored(self.stepper.machine, self.state, event, named)
        outcome_name = "refused" if ignored is None else "ignored"
        self._write(event, outcome_name, args=args, before=before, why="why")
        return outcome_name

    def control(self) -> str | None:
        return self.stepper.control(self.state) or None

    def _write(self, event: str | None, outcome: str, **said: Any) -> None:
        row: Row = {
            "v": 1,
            "instance": self.instance,
            "seq": len(self.rows),
            "time": len(self.rows) / 2,
            "machine": self.stepper.machine.name,
            "fingerprint": self.stepper.fingerprint,
            "event": event,
            "transition": None,
            "args": {},
            "outcome": outcome,
            "before": None,
            "after": self.control(),
            "changed": {},
            "output": None,
            "why": None,
        }
        self.rows.append(row | said)


def job(size: int, *tags: int) -> Row:
    return {"$": "Job", "size": size, "tags": {"$set": sorted(tags)}}


def worker(instance: str, jobs: int = 5, limit: int = 5) -> list[Row]:
    """A worker that takes its jobs, loses patience once and is refused at times."""
    recorder = Recorder(instance, parameters={"limit": limit})
    assert recorder.take("take", job=job(0)) == "refused"
    for number in range(jobs):
        assert recorder.take("take", job=job(number + 1, number, 7)) == "done"
        if number == 1:
            assert recorder.take("lose_patience") == "done"
            assert recorder.take("take", job=job(9)) == "done"
        assert recorder.take("finish") == "done"
    if jobs == limit:
        assert recorder.take("take", job=job(1)) == "refused"
        assert recorder.take("finish") == "done"
        assert recorder.take("finish") == "ignored"
    return recorder.rows


def bell(instance: str, times: int = 3) -> list[Row]:
    recorder = Recorder(instance, BELL)
    for _ in range(times):
        recorder.take("ring")
    return recorder.rows


def interleaved(*journals: list[Row], seed: int = 0) -> list[Row]:
    """The rows of several instances, each in its order."""
    rng = random.Random(seed)
    left = [list(journal) for journal in journals]
    out: list[Row] = []
    while any(left):
        out.append(rng.choice([journal for journal in left if journal]).pop(0))
    return out


def written(path: Path, rows: list[Row] | list[str]) -> Path:
    """The rows as a file of JSON lines; texts are written as they are."""
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def rows() -> list[Row]:
    """Three workers, one of them still at work, and a bell."""
    return interleaved(worker("a"), worker("b", 3), worker("c", 2, 2), bell("d"))


def of(journal: list[Row], instance: str, index: int) -> Row:
    """One row of one instance, to be changed where it stands."""
    return next(r for r in journal if r["instance"] == instance and r["seq"] == index)


Spoil = Callable[[list[Row]], Any]


@dataclass(frozen=True)
class Tampered:
    """A way to spoil the journal of `rows`, and what becomes of instance `a`."""

    name: str
    spoil: Spoil
    verdict: str
    kind: str
    index: int
    clause: str


def _set(index: int, **changes: Any) -> Spoil:
    return lambda journal: of(journal, "a", index).update(changes)


def _drop(index: int) -> Spoil:
    return lambda journal: journal.remove(of(journal, "a", index))


def _swap(journal: list[Row]) -> None:
    one, other = of(journal, "a", 2), of(journal, "a", 3)
    one["seq"], other["seq"] = 3, 2


def _swap_lines(journal: list[Row]) -> None:
    one, other = (journal.index(of(journal, "a", i)) for i in (2, 3))
    journal[one], journal[other] = journal[other], journal[one]


def _repeat(index: int, **changes: Any) -> Spoil:
    return lambda journal: journal.append(of(journal, "a", index) | changes)


def _without(index: int, key: str) -> Spoil:
    return lambda journal: of(journal, "a", index).pop(key)


def tampered() -> Iterator[Tampered]:
    """Rows of `a`: 0 made, 1 refused, 2 take, 3 finish, 4 take, 5 lose_patience, 6 take, ..."""
    q, d = "quarantined", "deviates"
    yield Tampered("untouched", lambda _: None, "fits", "", 0, "")
    yield Tampered("lines_swapped", _swap_lines, "fits", "", 0, "")
    yield Tampered("arg", _set(2, args={"job": job(0)}), d, "refused", 2, "an empty job")
    yield Tampered("arg_below", _set(2, args={"job": job(-1)}), d, "argument", 2, "below 0")
    yield Tampered(
        "args_name", _set(2, args={"work": job(1)}), q, q, 2, "arguments of take other than job"
    )
    yield Tampered("args_form", _set(2, args={"job": "x"}), q, q, 2, "the value of job is no Job")
    yield Tampered("args_list", _set(2, args=[1]), q, q, 2, "args is a list, not an object")
    yield Tampered("output", _set(2, output=2), d, "output", 2, "output is 2 in the row, 1 in")
    yield Tampered("output_true", _set(2, output=True), d, "output", 2, "output is true in")
    yield Tampered("output_none", _set(2, output=None), d, "output", 2, "output is null in")
    yield Tampered("after", _set(2, after="OVER"), d, "after", 2, 'after is "OVER" in the row')
    yield Tampered("before", _set(3, before="IDLE"), d, "before", 3, 'before is "IDLE" in')
    changed: Row = {"state": "BUSY", "patience": True}
    yield Tampered("changed_less", _set(2, changed=changed), d, "changed", 2, "job is ")
    changed = {"state": "BUSY", "patience": True, "job": job(1, 0, 8)}
    yield Tampered("changed_other", _set(2, changed=changed), d, "changed", 2, "job is ")
    changed = {"state": "BUSY", "patience": True, "job": job(1, 0, 7), "done": 1}
    yield Tampered("changed_more", _set(2, changed=changed), d, "changed", 2, "done is 1 in")
    changed = changed | {"done": 0}
    yield Tampered("changed_same", _set(2, changed=changed), "fits", "", 0, "")
    whole = STEPPER.shown(STEPPER.reference.initial({"limit": 5}))
    initial = _set(0, changed=whole | {"state": "BUSY"})
    yield Tampered("initial", initial, d, "changed", 0, 'state is "BUSY" in')
    yield Tampered("initial_less", _set(0, changed={"done": 0}), d, "changed", 0, "(not recorded)")
    yield Tampered("parameter", _set(0, args={"limit": 4}), d, "refused", 12, "limit is reached")
    yield Tampered("assumption", _set(0, args={"limit": 0}), d, "assume", 0, "some is false")
    yield Tampered("parameters", _set(0, args={"most": 4}), q, q, 0, "parameters of other names")
    yield Tampered("refused", _set(2, outcome="refused"), d, "accepted", 2, "take is possible")
    yield Tampered("ignored", _set(1, outcome="ignored"), d, "refused", 1, "an empty job")
    yield Tampered("done", _set(1, outcome="done"), d, "refused", 1, "an empty job")
    yield Tampered("not_ignored", _set(16, outcome="refused"), d, "ignored", 16, "all is done")
    yield Tampered("ignored_done", _set(16, outcome="done"), d, "ignored", 16, "all is done")
    other = _set(3, transition="finish_all")
    yield Tampered("transition", other, d, "transition", 3, "finish_job is")
    yield Tampered("transition_of", _set(3, transition="take"), d, "transition", 3, "finish_job")
    yield Tampered("no_transition", _set(3, transition="go"), q, q, 3, "unknown transition")
    yield Tampered("event", _set(3, event="take"), q, q, 3, "arguments of take other than job")
    yield Tampered("no_event", _set(3, event="go"), q, q, 3, "an unknown event")
    yield Tampered("null_event", _set(3, event=None), q, q, 3, "no event")
    yield Tampered(
        "unknown_outcome", _set(3, outcome="lost"), q, q, 3, "an outcome that is none of made, "
    )
    yield Tampered("version", _set(3, v=7), q, q, 3, "another format version")
    yield Tampered(
        "fingerprint", _set(3, fingerprint="0" * 16), q, q, 3, "a row of another version"
    )
    yield Tampered("machine", _set(3, machine="Bell"), q, q, 3, "rows of two machines")
    yield Tampered("no_output", _without(3, "output"), q, q, 3, "a row without output")
    yield Tampered("no_seq", _without(3, "seq"), q, q, -1, "without a sequence number")
    yield Tampered("text_seq", _set(3, seq="3"), q, q, -1, "without a sequence number")
    yield Tampered("float_seq", _set(3, seq=3.0), q, q, -1, "without a sequence number")
    yield Tampered("large_seq", _set(3, seq=2**63), q, q, -1, "without a sequence number")
    yield Tampered("dropped", _drop(3), q, q, 3, "a sequence number is missing")
    yield Tampered("first_dropped", _drop(0), q, q, 0, "a sequence number is missing")
    yield Tampered("last_dropped", _drop(16), "fits", "", 0, "")
    yield Tampered("repeated", _repeat(3), "fits", "", 0, "")
    yield Tampered("repeated_other", _repeat(3, output=9), q, q, 3, "a sequence number twice")
    yield Tampered("repeated_flaw", _repeat(3, v=9), q, q, 3, "a sequence number twice")
    made_again = _set(3, event=None, outcome="made", transition=None, before=None)
    yield Tampered("made_again", made_again, q, q, 3, "made twice")
    yield Tampered("seqs_swapped", _swap, d, "refused", 2, "state is IDLE, not BUSY")
    yield Tampered("other_instance", _set(3, instance="b"), q, q, 3, "is missing")
    yield from _tampered_asides()


def some(*values: Any) -> tuple[Any, ...]:
    """The values, of any form."""
    return values


def _tampered_asides() -> Iterator[Tampered]:
    """What no later row depends on, and the forms of numbers."""
    q, d = "quarantined", "deviates"
    unknown = {"zz": None}
    yield Tampered("zz_refused", _set(1, changed=unknown), d, "changed", 1, "no such variable")
    done: Row = {"state": "BUSY", "patience": True, "job": job(1, 0, 7)}
    rows: list[tuple[str, Any]] = [("zz", None), ("told", True), ("job.zz", None), ("limit", 5)]
    for name, value in rows:
        more = _set(2, changed=done | {name: value})
        yield Tampered(f"changed_{name}", more, d, "changed", 2, f"{name} is ")
    whole = STEPPER.shown(STEPPER.reference.initial({"limit": 5}))
    more = _set(0, changed=whole | unknown)
    yield Tampered("changed_zz_made", more, d, "changed", 0, "no such variable")
    made = "a transition or a `before` in a row `made`"
    for value in some("IDLE", "zz", 0, {}, []):
        yield Tampered(f"made_before_{value}", _set(0, before=value), q, q, 0, made)
    yield Tampered("made_transition", _set(0, transition="take"), q, q, 0, made)
    yield Tampered("done_by_none", _set(2, transition=None), q, q, 2, "done by no transition")
    yield Tampered("ignored_by", _set(16, transition="take"), q, q, 16, "ignored by a")
    other = _set(1, transition="finish_all")
    yield Tampered("refused_by", other, q, q, 1, "does not serve the event")
    for value in some(True, 1.0, "1", None):
        version = _set(3, v=value)
        yield Tampered(f"v_{value}", version, q, q, 3, "another format version")
    for value in some(True, "1", None, [], float("nan"), float("inf")):
        yield Tampered(f"time_{value}", _set(3, time=value), q, q, 3, "no finite number")
    yield Tampered("time_back", _set(3, time=0.5), q, q, 3, "time goes back")
    yield Tampered("time_ahead", _set(3, time=10**400), q, q, 4, "time goes back")
    yield Tampered("time_same", _set(3, time=1), "fits", "", 0, "")
    yield Tampered("no_time", _without(3, "time"), q, q, 3, "a row without time")
    for value in some(1, True, {}, []):
        yield Tampered(f"why_{value}", _set(1, why=value), q, q, 1, ", not a text or null")
    yield Tampered("no_why", _without(3, "why"), q, q, 3, "a row without why")
    yield Tampered("output_float", _set(2, output=1.0), d, "output", 2, "output is 1.0 in")
    floating = job(1, 0, 7) | {"size": 1.0}
    more = _set(2, changed=done | {"job": floating})
    yield Tampered("changed_float", more, d, "changed", 2, "job is ")
    sizes: list[tuple[str, Any]] = [("float", 1.0), ("true", True), ("int", {"$int": 1.0})]
    for name, size in sizes:
        args = {"job": job(1, 0, 7) | {"size": size}}
        yield Tampered(f"arg_{name}", _set(2, args=args), q, q, 2, "the value of job is no Job")
    limit = _set(0, args={"limit": 5.0})
    yield Tampered("parameter_float", limit, q, q, 0, "the value of limit is no int")
