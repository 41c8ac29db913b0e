"""Events of a stored instance change containers in place; what the log does not have is undone."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from lawful import Machine, Nat, ignore, require, transition
from lawful.runtime import store as stores
from lawful.runtime import store_transactions, stored_instance
from lawful.runtime.instances import observers
from lawful.runtime.kernel.event_record import Stepped
from lawful.runtime.kernel.state import UNKNOWN
from lawful.runtime.store import Store
from lawful.runtime.timers import SimulatedClock
from tests.runtime.compile import test_in_place
from tests.runtime.compile.test_in_place import counted, inside
from tests.runtime.kernel.test_before_images import Shelves, acts, everything, filled, run
from tests.runtime.services import test_interrupts
from tests.runtime.services.interrupting import at_every_place
from tests.runtime.services.test_interrupts import Counted

EVENTS = [("put", (1, 1)), ("serve", (1,)), ("shelve", (1, 3)), ("note", (3, 0)), ("line", (1, 3))]


@counted
def test_a_stored_event_changes_where_it_stands() -> None:
    with Store(":memory:") as store:
        machine = store.add(filled(), "a")
        places = inside(machine)
        for event, args in EVENTS:
            machine.lawful.take(event, *args)
        assert inside(machine) == places
        assert machine.__watch__.log.kept == ()  # It would hold the last row.
        row = store.events("a")[3]
        assert everything(store.restore(Shelves, "a")) == everything(machine)
    tables = {"set": [[3, {"$map": [[0, 3], [3, 0]]}]], "removed": []}
    counts = {"$map": [[0, 3], [1, 3], [2, 3], [3, 7]]}
    changed = {"tables": {"$changed": tables}, "counts": counts}
    assert json.loads(row["changed"]) == {"variables": changed}


class Failing:
    """A log that fails, and has the event, or has not, or cannot tell."""

    held = False

    def __init__(
        self, error: BaseException, kept: Callable[[], Iterable[object]] | None = None
    ) -> None:
        """Without `kept` it fails before it asks for that."""
        self.error = error
        self.answer = kept
        self.kept: Iterable[object] = [1]  # That of an event before: nobody may read it.
        self.at: Any = "before"
        self.next: Any = "before"
        self.calls = list[str]()

    def begin(self) -> None:
        self.calls.append("begin")

    def write(self, done: Stepped) -> None:
        self.calls.append("write")
        if self.answer is not None:
            self.next, self.kept = "after", self.answer()
        raise self.error


def unanswered() -> Iterator[object]:
    raise OSError("the database is away")
    yield


ERRORS = [OSError("full"), KeyError("a fault of Python"), KeyboardInterrupt()]


def failed(event: str, args: tuple[int, ...], log: Failing) -> tuple[Any, list[Stepped]]:
    """A machine after an event that its log raised in, and what an observer heard."""
    machine, heard = filled(), list[Stepped]()
    machine.lawful.observe(heard.append)
    machine.__watch__.log = log
    with pytest.raises(type(log.error)) as raised:
        machine.lawful.take(event, *args)
    assert raised.value is log.error
    assert log.calls == ["begin", "write"]
    return machine, heard


@pytest.mark.parametrize(("event", "args"), EVENTS)
@pytest.mark.parametrize("error", ERRORS, ids=lambda each: type(each).__name__)
def test_what_the_log_does_not_have_is_undone(
    event: str, args: tuple[int, ...], error: BaseException
) -> None:
    log = Failing(error, tuple if event != "shelve" else None)
    machine, heard = failed(event, args, log)
    assert (everything(machine), heard, log.at) == (everything(filled()), [], "before")
    machine.__watch__.log = None
    machine.lawful.take(event, *args)
    assert [done.event for done in heard] == [event]


@pytest.mark.parametrize("error", ERRORS, ids=lambda each: type(each).__name__)
def test_what_the_log_has_has_happened(error: BaseException) -> None:
    log = Failing(error, lambda: ["the row"])
    machine, heard = failed("shelve", (1, 3), log)
    done = filled()
    done.shelve(1, 3)
    assert (everything(machine), log.at) == (everything(done), "after")
    assert [each.event for each in heard] == ["shelve"]


def test_where_the_log_cannot_tell_the_instance_takes_no_further_event() -> None:
    machine, heard = failed("shelve", (1, 3), Failing(KeyboardInterrupt(), unanswered))
    assert (machine.__watch__, heard) == (UNKNOWN, [])
    with pytest.raises(RuntimeError, match="does not say whether it has the last event"):
        machine.shelve(1, 3)


@settings(max_examples=40, deadline=None)
@given(acts)
def test_a_stored_instance_does_what_another_does(
    acts: list[tuple[str, int, int, bool]],
) -> None:
    """Where the flag of an event is set, the store is rolled back with it."""
    with Store(":memory:", snapshot_every=5) as store:
        machine, twin = store.add(filled(), "a"), filled()
        for event, key, by, back in acts:
            if back:

                def act(_: Any, event: str = event, key: int = key, by: int = by) -> None:
                    run(machine, event, key, by)
                    run(machine, "put", by, 1)
                    raise EOFError

                with pytest.raises(EOFError):
                    store.together(act)
            else:
                run(machine, event, key, by)
                run(twin, event, key, by)
            assert everything(machine) == everything(twin)
        assert everything(store.restore(Shelves, "a")) == everything(twin)


class Lamp(Machine):
    lit: bool = False

    @transition()
    def look(self) -> bool:
        return self.lit

    @transition()
    def light(self) -> None:
        require(not self.lit, "it is lit")
        self.lit = True

    lighter = ignore("light", because="it is lit")


def test_events_that_change_nothing_and_ignored_ones_are_stored_and_told() -> None:
    with Store(":memory:") as store:
        lamp, heard = store.add(Lamp(), "a"), list[tuple[str, str]]()
        lamp.lawful.observe(lambda done: heard.append((done.event, done.outcome)))
        assert lamp.look() is False
        lamp.light()
        lamp.light()
        assert [row["transition"] for row in store.events("a")] == ["look", "light"]
    assert heard == [("look", "done"), ("light", "done"), ("light", "ignored")]
    log = Failing(OSError("full"))
    lamp.__watch__.log = log  # type: ignore[union-attr]  # it is an `Observed`
    with pytest.raises(OSError, match="full"):
        lamp.look()
    assert log.calls == ["begin", "write"]


@pytest.mark.parametrize("stored", [False, True])
def test_an_event_and_its_record_have_one_time(stored: bool) -> None:
    class Going:
        """A clock that goes on whenever it is read."""

        at = 0.0

        def now(self) -> float:
            self.at += 1
            return self.at

    machine, heard = Counted(clock=Going()), list[Stepped]()
    machine.lawful.observe(heard.append)
    with Store(":memory:") as store:
        if stored:
            store.add(machine, "a")
        machine.add(1)
        assert machine.lawful.next_deadline() is None
        assert machine.lapse.deadline == heard[0].time + 5


FILES = (
    *(str(each.__file__) for each in (stores, store_transactions, stored_instance, observers)),
    *(str(each.__file__) for each in (test_in_place, test_interrupts)),
)


def test_an_interrupted_stored_event_is_kept_and_done_or_neither() -> None:
    def play(attempt: Callable[..., bool]) -> None:
        with Store(":memory:") as store:
            machine, heard = store.add(filled(), "a"), list[Stepped]()
            machine.lawful.observe(heard.append)
            before = everything(machine)
            attempt(lambda: machine.note(3, 1))
            happened = everything(machine) != before
            assert everything(store.restore(Shelves, "a")) == everything(machine)
            assert len(heard) <= happened

    assert at_every_place(FILES, play) > 30


def test_so_is_one_of_a_machine_with_timers() -> None:
    def play(attempt: Callable[..., bool]) -> None:
        with Store(":memory:") as store:
            machine = store.add(Counted(clock=SimulatedClock()), "a")
            attempt(lambda: machine.add(1))
            assert not machine.__environment__.paused
            back = store.restore(Counted, "a", clock=SimulatedClock())
            assert back.lawful.snapshot() == machine.lawful.snapshot()
            assert machine.count == sum(machine.added)

    assert at_every_place(FILES, play) > 30


class Waiting(Machine):
    queue: list[Nat] = [*range(5, 40)]

    @transition
    def serve(self, upto: Nat) -> None:
        for _ in range(2):
            if self.queue and self.queue[0] <= upto:
                self.queue.pop(0)


def test_a_long_queue_is_restored_whether_or_not_an_event_took_its_first(tmp_path: Path) -> None:
    """The rows are read: another store opens a copy of the file, as after a kill."""
    path, copy = tmp_path / "queue.db", tmp_path / "copy"
    with Store(path) as store:
        waiting = store.add(Waiting(), "a")
        for upto in (1, 5, 2, 7):
            waiting.serve(upto)
        copy.mkdir()
        for each in tmp_path.glob("queue.db*"):
            shutil.copy(each, copy / each.name)
        with Store(copy / path.name) as other:
            assert list(other.restore(Waiting, "a").queue) == list(range(8, 40))
        assert list(waiting.queue) == list(range(8, 40))
