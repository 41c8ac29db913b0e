"""The window of read-only transactions: the document's story, and what is established of it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import settings

from lawful import Machine, Refused
from lawful.checks.prove import prove
from lawful.machines.read_only_windows.as_seed import WindowAsSeed
from lawful.machines.read_only_windows.declaration import Place, WindowFixed
from lawful.machines.read_only_windows.in_time import WindowInTime
from lawful.machines.read_only_windows.transaction import Transaction
from lawful.runtime.timers import SimulatedClock
from lawful.spec.resolve import resolve
from lawful.testing import conformance
from tests.machines.established import established, verdicts

QUICK = settings(
    derandomize=True, deadline=None, database=None, max_examples=10, stateful_step_count=30
)


def node(clock: SimulatedClock, threads: int = 2, threshold: int = 0) -> WindowFixed:
    """A node that has started, with the document's defaults but for these."""
    window = WindowFixed(
        clock=clock,
        read_only_transaction_num_threads=threads,
        read_only_transaction_threshold=threshold,
    )
    window.start()
    return window


def now(machine: Machine) -> dict[str, Any]:
    """The whole state; of a timer, the time that is left."""
    variables: dict[str, Any] = machine.lawful.snapshot()["variables"]
    return variables


def whole(*tasks: str, **given: Any) -> dict[str, Any]:
    """The state of a window in which all that is not given is as at the start."""
    start = {"queued": 0, "margin": None, "caught_up": False}
    return {**start, "tasks": {"$map": [[w, task] for w, task in enumerate(tasks)]}, **given}


def passed(window: Machine, clock: SimulatedClock, milliseconds: float) -> list[str]:
    """What timers do when this time has passed."""
    return [fired.transition for fired in window.lawful.fire_due(clock.advance(milliseconds))]


# The story, on the runtime.


def test_the_defaults_are_the_documents() -> None:
    assert WindowFixed().lawful.snapshot()["parameters"] == {
        "read_only_transaction_num_threads": 0,
        "read_write_window_time": 500,
        "read_only_window_time": 200,
        "read_only_transaction_threshold": 0,
        "read_only_window_margin": 5,
        "max_read_only_transaction_time": 150,
        "latency": 10,
    }


def test_the_windows_follow_one_another() -> None:
    clock = SimulatedClock()
    window = node(clock)
    assert now(window) == whole(state="WRITE", window=500.0)
    window.write()
    assert window.arrive() is Place.QUEUE
    assert passed(window, clock, 499) == []
    assert passed(window, clock, 1) == ["begin"]
    loops = ["LOOPING", "LOOPING"]
    begun = {"window": 200.0, "margin": 195.0, "caught_up": True}
    assert now(window) == whole(*loops, state="READ", queued=1, **begun)
    window.take(1)
    window.read()
    busy = whole("LOOPING", "EXECUTING", state="READ", **begun)
    assert now(window) == busy
    with pytest.raises(Refused, match=r"write: state is READ, not WRITE"):
        window.write()
    with pytest.raises(Refused, match=r"take: the queue is empty"):
        window.take(0)
    with pytest.raises(Refused, match=r"drain: a thread is busy"):
        window.drain()
    with pytest.raises(Refused, match=r"leave: there may be more to do"):
        window.leave(0)
    assert now(window) == busy
    window.finish(1)
    window.drain()
    drained = {"window": 200.0, "caught_up": True}
    assert now(window) == whole(*loops, state="DRAINING", **drained)
    window.leave(0)
    with pytest.raises(Refused, match=r"end: a read-only thread is not done"):
        window.end()
    window.leave(1)
    clock.advance(20)
    window.end()
    assert now(window) == whole("DONE", "DONE", state="WRITE", window=500.0)


def test_a_transaction_goes_on_in_the_next_window() -> None:
    clock = SimulatedClock()
    window, trx = node(clock, threads=1), Transaction(clock=clock)
    window.arrive()
    window.nothing_held()
    passed(window, clock, 500)
    clock.advance(190)
    window.take(0)
    trx.take()
    assert now(trx) == {"state": "RUNNING", "limit": 150.0}
    assert passed(window, clock, 5) == ["stop_starting"]
    with pytest.raises(Refused, match=r"put_back: the window's time is not over"):
        window.put_back(0)
    assert passed(window, clock, 5) == ["run_out"]
    over = {"window": None, "caught_up": True}
    assert now(window) == whole("EXECUTING", state="OVER", **over)
    window.put_back(0)
    trx.put_back()
    assert now(trx) == {"state": "QUEUED", "limit": None}
    assert now(window) == whole("LOOPING", state="OVER", queued=1, **over)
    with pytest.raises(Refused, match=r"take: no time is left for another one"):
        window.take(0)
    window.leave(0)
    window.end()
    assert now(window) == whole("DONE", state="WRITE", queued=1, window=500.0)
    window.write()
    assert passed(window, clock, 500) == ["begin"]
    window.take(0)
    trx.take()
    assert passed(trx, clock, 150) == ["exceed"]
    window.finish(0)
    assert now(trx) == {"state": "INVALID", "limit": None}
    with pytest.raises(Refused, match=r"put_back: state is INVALID, not RUNNING"):
        trx.put_back()


def test_many_transactions_do_not_wait_for_the_windows_end() -> None:
    clock = SimulatedClock()
    window = node(clock, threshold=2)
    window.arrive()
    with pytest.raises(Refused, match=r"begin_early: the threshold is not reached \(1 >= 2"):
        window.begin_early()
    window.arrive()
    with pytest.raises(Refused, match=r"begin_early: writes wait since the last read-only"):
        window.begin_early()
    window.nothing_held()
    assert window.begin_early() == 2
    begun = {"window": 200.0, "margin": 195.0, "caught_up": True}
    assert now(window) == whole("LOOPING", "LOOPING", state="READ", queued=2, **begun)


def test_an_empty_queue_prolongs_the_read_write_window() -> None:
    clock = SimulatedClock()
    window = node(clock)
    assert passed(window, clock, 500) == ["prolong"]
    assert now(window) == whole(state="WRITE", window=500.0)


def test_writes_have_their_turn_before_a_read_only_window() -> None:
    """Even if the read-write window has had its time, which then begins again."""
    clock = SimulatedClock()
    window = node(clock, threads=1, threshold=1)
    window.arrive()
    assert passed(window, clock, 500) == ["prolong"]
    assert now(window) == whole(state="WRITE", queued=1, window=500.0)
    window.write()
    assert passed(window, clock, 500) == ["begin"]
    assert passed(window, clock, 200) == ["stop_starting", "run_out"]
    window.leave(0)
    window.end()
    with pytest.raises(Refused, match=r"begin_early: writes wait since the last read-only"):
        window.begin_early()


def test_a_shutdown_answers_what_is_queued_and_waits_for_the_threads() -> None:
    clock = SimulatedClock()
    window, trx = node(clock, threads=2), Transaction(clock=clock)
    for _ in range(3):
        window.arrive()
    window.nothing_held()
    passed(window, clock, 500)
    window.take(1)
    trx.take()
    assert window.shut_down() == 2
    assert now(window) == whole(
        "LOOPING", "EXECUTING", state="STOPPING", window=None, caught_up=True
    )
    assert window.arrive() is Place.NOWHERE
    with pytest.raises(Refused, match=r"write: state is STOPPING, not WRITE"):
        window.write()
    with pytest.raises(Refused, match=r"take: no time is left for another one"):
        window.take(0)
    with pytest.raises(Refused, match=r"put_back: the window's time is not over"):
        window.put_back(1)
    window.leave(0)
    with pytest.raises(Refused, match=r"stop: a read-only thread is not done"):
        window.stop()
    trx.abandon()
    assert now(trx) == {"state": "ABANDONED", "limit": None}
    window.finish(1)
    window.leave(1)
    window.stop()
    assert passed(window, clock, 10_000) == []
    assert window.arrive() is Place.NOWHERE
    with pytest.raises(Refused, match=r"stop_at_once: state is STOPPED, not WRITE"):
        window.shut_down()


def test_a_shutdown_in_a_read_write_window_is_at_once() -> None:
    clock = SimulatedClock()
    window = node(clock)
    window.arrive()
    assert window.shut_down() == 1
    assert now(window) == whole(state="STOPPED", window=None)
    assert passed(window, clock, 10_000) == []


def test_without_threads_there_are_no_windows() -> None:
    clock = SimulatedClock()
    window = node(clock, threads=0)
    assert window.arrive() is Place.MAIN_THREAD
    assert passed(window, clock, 10_000) == []
    assert now(window) == whole(state="WRITE", window=None)


@pytest.mark.parametrize(
    ("given", "assumption"),
    [
        ({"read_only_window_time": 149}, "window_holds_what_starts_late"),
        (
            {"read_only_window_time": 150, "max_read_only_transaction_time": 150},
            "window_holds_what_starts_late",
        ),
        ({"read_only_window_time": 160}, "window_holds_what_starts_late"),
        ({"latency": 50}, "window_holds_what_starts_late"),
        ({"read_only_window_margin": 200}, "margin_leaves_time"),
        ({"read_only_window_margin": 199}, "margin_leaves_time"),
        ({"read_only_window_margin": 190}, "margin_leaves_time"),
        ({"read_write_window_time": 0}, "writes_have_time"),
    ],
    ids=str,
)
def test_times_that_do_not_fit_are_refused(given: dict[str, Any], assumption: str) -> None:
    with pytest.raises(ValueError, match=f"the assumption {assumption} is false"):
        WindowFixed(**given)


def test_times_that_just_fit_are_accepted() -> None:
    WindowFixed(read_only_window_time=161)
    WindowFixed(read_only_window_margin=189)
    WindowFixed(read_write_window_time=1)


# What is established.


@pytest.mark.parametrize(
    ("cls", "expected"),
    [
        (WindowFixed, (528, 2_624, 12)),
        (WindowInTime, (4_008, 18_334, 32)),
        (Transaction, (10, 13, 5)),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_everything_holds(cls: type[Machine], expected: tuple[int, int, int]) -> None:
    assert established(cls) == (expected, {})


def test_the_document_as_written() -> None:
    found, violated = established(WindowAsSeed)
    assert found == (5_508, 29_515, 28)
    told_late = ["queue_it", "begin", "stop_starting", "leave", "end", "begin", "end_as_told"]
    assert violated["tasks_are_done"] == told_late
    assert violated["no_thread_leaves_early"] == ["queue_it", "begin", "take", "leave"]
    assert violated["reads_and_writes_exclude_each_other"] == [
        *told_late[:-1],
        "take",
        "end_as_told",
    ]
    assert set(violated) == {
        "tasks_are_done",
        "no_thread_leaves_early",
        "reads_and_writes_exclude_each_other",
        "busy_is_who_executes",
        "nothing_is_dropped",
        "shutdown_answers",
    }


@pytest.mark.parametrize("cls", [pytest.param(WindowFixed, marks=pytest.mark.nightly), Transaction])
def test_it_is_proved_for_any_number_of_threads_and_transactions(cls: type[Machine]) -> None:
    assert verdicts(prove(resolve(cls).machine, sizes={})) == {"proved"}


TestWindow = conformance(
    WindowFixed,
    lambda clock: WindowFixed(clock=clock, read_only_transaction_num_threads=2),
    settings=QUICK,
)
TestTransaction = conformance(Transaction, lambda clock: Transaction(clock=clock), settings=QUICK)
