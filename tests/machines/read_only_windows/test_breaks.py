"""The repaired machines broken on purpose: each demand, and the mistakes that are easy to make."""

from __future__ import annotations

import importlib
import sys

import pytest

from lawful import Machine, Nat, transition
from lawful.machines.read_only_windows.declaration import OPEN, Place, Task, WindowFixed
from lawful.machines.read_only_windows.demands import BREAKS, DEMANDS
from lawful.machines.read_only_windows.in_time import NodeInTime, WindowInTime
from lawful.machines.read_only_windows.requests import Kind, way_of
from lawful.machines.read_only_windows.system import NodeFixed
from tests.machines.breaking import failing, fails, replaced, rewritten

# The flow charts of the document, read once more [seed:15-99].
WAYS = {
    Kind.GET: "http main http",
    Kind.OTHER: "http main producer main http",
    Kind.HANDSHAKE: "net main",
    Kind.GO_AWAY: "net",
    Kind.TIME: "net",
    Kind.NOTICE: "net",
    Kind.REQUEST: "net main net",
    Kind.SYNC_REQUEST: "net main net",
    Kind.SIGNED_BLOCK: "net main",
    Kind.PACKED_TRANSACTION: "net producer main",
}
MOST = 50_000  # States.
UNBROKEN = {"L1", "L3", "L5", "L6", "L23", "L24"}  # The comment on BREAKS says why.


@pytest.mark.one_in(2)
@pytest.mark.parametrize("demand", BREAKS)
def test_who_breaks_a_demand_is_noticed(demand: str) -> None:
    change = BREAKS[demand]
    module, _, name = change.machine.partition(".")
    package = "lawful.machines.read_only_windows"
    cls: type[Machine] = getattr(importlib.import_module(f"{package}.{module}"), name)
    assert change.fails in fails(cls, change.owner, change.row, change.change)


def test_every_demand_is_broken_or_it_is_said_why_not() -> None:
    assert set(BREAKS) | UNBROKEN == set(DEMANDS)
    assert not set(BREAKS) & UNBROKEN


def test_the_ways_of_requests_are_those_of_the_document() -> None:
    """L3, L5, L6."""
    assert {kind: " ".join(thread.value for thread in way_of(kind)) for kind in Kind} == WAYS


# What `requests.py` says of kinds of requests, changed: which property notices it.
KINDS = {
    "a transaction of another node is executed in a read-only window": (
        "(Kind.OTHER, Kind.SIGNED_BLOCK, Kind.PACKED_TRANSACTION)",
        "(Kind.OTHER, Kind.SIGNED_BLOCK)",
        "modifies_in_read_write_windows",
    ),
    "a request for a block is held in a read-only window": (
        "(Kind.OTHER, Kind.SIGNED_BLOCK, Kind.PACKED_TRANSACTION)",
        "(Kind.OTHER, Kind.SIGNED_BLOCK, Kind.PACKED_TRANSACTION, Kind.REQUEST)",
        "reads_are_never_held",
    ),
}


def of_other_requests(old: str, new: str) -> type[Machine]:
    return replaced("read_only_windows", ("requests",), ("requests", old, new), "Request")


@pytest.mark.parametrize("what", KINDS)
def test_a_kind_that_is_taken_for_another_is_noticed(what: str) -> None:
    old, new, property = KINDS[what]
    assert property in failing(of_other_requests(old, new))


def test_a_way_that_is_changed_is_noticed() -> None:
    cls = of_other_requests("Thread.NET, Thread.PRODUCER, Thread.MAIN", "Thread.NET, Thread.MAIN")
    other = vars(sys.modules[cls.__module__])
    ways = {
        kind.name: " ".join(each.value for each in other["way_of"](kind)) for kind in other["Kind"]
    }
    assert [kind.name for kind in Kind if ways[kind.name] != WAYS[kind]] == ["PACKED_TRANSACTION"]


class MarginAgain(WindowInTime):
    """The margin's timer is started again by each transaction that is taken."""

    @transition(source=Task.LOOPING, target=Task.EXECUTING, of="tasks[thread]")
    def take(self, thread: Nat) -> None:
        super().take(thread)
        self.margin.start(self.read_only_window_time - self.read_only_window_margin)


class WindowAgain(WindowInTime):
    """The window's timer is started again by each transaction that arrives."""

    @transition(event="arrive", source=OPEN)
    def queue_it(self) -> Place:
        self.window.start(self.read_write_window_time)
        return super().queue_it()


class NotPosted(NodeInTime):
    """The last thread that leaves does not post that the window ends."""

    @transition()
    def leave(self, thread: Nat) -> None:
        super().leave(thread)
        self.done.stop()


@pytest.mark.parametrize(
    ("cls", "property"),
    [
        (MarginAgain, "windows_last_as_configured"),
        (WindowAgain, "time_ends_a_read_write_window"),
        pytest.param(NotPosted, "shutdown_ends_in_time", marks=pytest.mark.nightly),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_a_wrong_timer_is_noticed(cls: type[Machine], property: str) -> None:
    assert property in failing(cls)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("cls", "owner", "row", "change", "property"),
    [
        pytest.param(
            NodeFixed,
            "NodeFixed",
            "requeue",
            "self.queue.append(t) for self.queue.insert(0, t)",
            "who_was_put_back_goes_first",
            id="put back last",
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            NodeFixed,
            "WindowFixed",
            "begin_early",
            "without require(self.caught_up)",
            "writes_make_progress",
            id="the threshold is reached before the writes had their turn",
        ),
        pytest.param(
            WindowFixed,
            "WindowFixed",
            "leave",
            "without require(self.state != Phase.READ)",
            "no_thread_leaves_early",
            id="a thread leaves early",
        ),
        pytest.param(
            WindowFixed,
            "WindowFixed",
            "end",
            "without require(all(t == Task.DONE for t in self.tasks.values()))",
            "tasks_are_done",
            id="the window ends before all tasks are done (L13)",
        ),
        pytest.param(
            WindowFixed,
            "WindowFixed",
            "begin",
            "without self.post()",
            "every_thread_has_a_task",
            id="no task is posted (L13)",
        ),
        pytest.param(
            NodeFixed,
            "WindowFixed",
            "queue_it",
            "Place.MAIN_THREAD for Place.QUEUE",
            "nothing_is_lost",
            id="the output of queue_it",
        ),
        pytest.param(
            NodeFixed,
            "WindowFixed",
            "turn_away",
            "Place.QUEUE for Place.NOWHERE",
            "queue_is_counted",
            id="the output of turn_away",
        ),
        pytest.param(
            NodeFixed,
            "WindowFixed",
            "begin",
            "self.read_only_transaction_num_threads + 1 for self.read_only_transaction_num_threads",
            "threads_have_what_was_posted",
            id="the output of begin",
        ),
        pytest.param(
            NodeFixed,
            "WindowFixed",
            "begin_early",
            "self.read_only_transaction_num_threads + 1 for self.read_only_transaction_num_threads",
            "threads_have_what_was_posted",
            id="the output of begin_early",
        ),
        pytest.param(
            NodeFixed,
            "WindowFixed",
            "stop_at_once",
            "_1 + 1 for _1",
            "asserts",
            id="the output of stop_at_once",
        ),
        pytest.param(
            NodeFixed,
            "WindowFixed",
            "stop_threads",
            "_1 + 1 for _1",
            "asserts",
            id="the output of stop_threads",
        ),
    ],
)
def test_a_mistake_is_noticed(
    cls: type[Machine], owner: str, row: str, change: str, property: str
) -> None:
    assert property in fails(cls, owner, row, change)


WINDOWS = ("WRITE", "READ", "DRAINING", "OVER")  # A transaction is queued in each of these phases.


@pytest.mark.one_in(4)
@pytest.mark.parametrize("window", WINDOWS)
def test_who_is_turned_away_from_a_window_is_noticed(window: str) -> None:
    """L12 says it of the read-write window, L13 of the read-only window until it has ended."""
    others = ", ".join(f"Phase.{each}" for each in WINDOWS if each != window)
    cls = changed_node(
        ('event="arrive", source=OPEN)', f'event="arrive", source=({others}))'),
        (
            'event="arrive", source=(Phase.STOPPING, Phase.STOPPED))',
            f'event="arrive", source=(Phase.{window}, Phase.STOPPING, Phase.STOPPED))',
        ),
    )
    assert "only_shutdown_turns_away" in failing(cls, most=MOST)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("window", WINDOWS)
def test_who_is_let_in_and_not_queued_is_noticed(window: str) -> None:
    """Nobody counts it, and its caller takes it for the main thread's (L12, L13)."""
    cls = changed_node(
        (
            "        self.queued += 1\n        self.unanswered += 1\n        return Place.QUEUE\n",
            f"        if self.state == Phase.{window}:\n"
            "            return Place.MAIN_THREAD\n"
            "        self.queued += 1\n        self.unanswered += 1\n        return Place.QUEUE\n",
        )
    )
    assert "nothing_is_lost" in failing(cls, most=MOST)


def changed_node(*changes: tuple[str, str]) -> type[Machine]:
    """`NodeFixed`, where texts of the window are others."""
    modules = ("declaration", "transaction", "steps", "system")
    rows = [("declaration", *change) for change in changes]
    return rewritten("read_only_windows", modules, rows, "NodeFixed")
