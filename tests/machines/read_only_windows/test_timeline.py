"""What the executor does, and when, to the millisecond: in a world in which nothing goes wrong but
what a test makes happen, the windows have exactly the times of their configuration."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from lawful.machines.read_only_windows.service import Config, Kind, Options, WindowedExecutor
from lawful.machines.read_only_windows.service.jobs import Answer
from lawful.machines.read_only_windows.service.scripts import Script, Step
from lawful.machines.read_only_windows.service.table import GuardedTable
from lawful.machines.services.threads import Event
from lawful.runtime.instance import Machine
from lawful.runtime.kernel.event_record import Stepped
from lawful.runtime.simulation.turns import World

# All times differ, so that none can stand for another. Milliseconds.
ONE = Config(
    read_only_transaction_num_threads=1,
    read_write_window_time=70,
    read_only_window_time=50,
    read_only_window_margin=6,
    max_read_only_transaction_time=33,
    latency=4,
    max_write_time=41,
    slice_time=20,
)


class Told:
    """In the place of a journal, and of the service's clock and threads: what happens when."""

    executor: WindowedExecutor

    def __init__(self, world: World) -> None:
        self.world = world
        self.lock = world.lock
        self.sleep = world.sleep
        self._told: dict[float, list[str]] = {}
        self._window: Machine | None = None
        self.jumps: dict[str, float] = {}  # By a transition: the seconds that the clock goes on.
        self.late: dict[str, float] = {}  # By a thread: how late it is whenever it is woken.
        self.begins = 0.0  # So late each thread begins.
        self._offset = 0.0

    def now(self) -> float:
        return self.world.time + self._offset

    def event(self) -> Event:
        return Woken(self)

    def start(self, run: Callable[[], object], name: str) -> None:
        def live() -> None:
            if self.begins:
                self.world.sleep(self.begins)
            run()

        self.world.start(live, name)

    def attach(self, entry: Machine, instance: str, *, refused: bool = True) -> Callable[[], None]:
        if instance == "window":
            self._window = entry
            return entry.lawful.observe(lambda done: self._hear("", done))
        name = instance.replace("read_only_transaction", "trx") + "."
        return entry.lawful.observe(lambda done: self._hear(name, done))

    def _hear(self, name: str, done: Stepped[Machine]) -> None:
        if done.outcome == "done":
            what = str(done.transition or done.event)
            output = "" if done.output is None else f" {getattr(done.output, 'name', done.output)}"
            self._tell(f"{name}{what}{output}")
            self._offset += self.jumps.pop(what, 0.0)

    def _tell(self, what: str) -> None:
        self._told.setdefault(round(self.now() * 1_000, 3), []).append(what)

    @property
    def story(self) -> list[str]:
        """A line for each instant."""
        return [f"{at:g}: {', '.join(what)}" for at, what in self._told.items()]

    @property
    def rest(self) -> dict[str, Any]:
        """The state of the window in the end."""
        assert self._window is not None
        variables: dict[str, Any] = self._window.lawful.snapshot()["variables"]
        return variables

    def ask(self, kind: Kind, script: Script = ()) -> None:
        """Send a request; its answer is a part of the story."""

        def answered(answer: Answer) -> None:
            self._tell(f"[{kind.value.partition('_')[0]} {answer.outcome}]")

        self.executor.submit(kind, script, answered)

    def read(self, *milliseconds: int) -> None:
        """Send transactions that work so long."""
        for each in milliseconds:
            self.ask(Kind.READ, (Step("work", number=each),))

    def write(self) -> None:
        self.ask(Kind.WRITE)

    def get(self) -> None:
        self.ask(Kind.GET)

    def ask_all(self) -> None:
        """A request of each kind."""
        for kind in Kind:
            self.ask(kind)

    def shut_down(self) -> None:
        self.executor.shutdown()
        self._tell("[shut down]")


class Woken:
    """A flag after whose setting some threads go on late."""

    def __init__(self, told: Told) -> None:
        self._told = told
        self._flag = told.world.event()

    def set(self) -> None:
        self._flag.set()

    def wait(self, timeout: float | None = None) -> bool:
        found = self._flag.wait(timeout)
        if late := self._told.late.get(threading.current_thread().name):
            self._told.world.sleep(late)
        return found


Act = tuple[float, Callable[[Told], object]]  # At so many milliseconds.


def told(config: Config, *acts: Act, prepare: Callable[[Told], object] = lambda _: None) -> Told:
    """What happens when clients act, each in a thread of its own."""
    world = World(seed=1, limit=2.0)
    scene = Told(world)
    prepare(scene)

    def live() -> None:
        options = Options(scene, scene, scene)
        scene.executor = WindowedExecutor(config, GuardedTable(scene), options)
        for number, (at, act) in enumerate(acts):
            world.start(partial(_acts, scene, at, act), f"act {number}")

    world.start(live, "live")
    world.run()
    return scene


def _acts(scene: Told, at: float, act: Callable[[Told], object]) -> None:
    scene.world.sleep(at / 1_000)
    act(scene)


def reads(*milliseconds: int) -> Callable[[Told], object]:
    return lambda scene: scene.read(*milliseconds)


# Windows.

EMPTY = "drain, leave, end, nothing_held"  # Nothing waits any more.
ALONE = f"take, trx 1.take, finish, trx 1.finish, [read answered], {EMPTY}"


def test_windows_last_as_configured() -> None:
    """Nobody asks; then one does, and the window ends as its queue is empty."""
    scene = told(ONE, (165, reads(0)), (285, Told.shut_down))
    assert scene.story == [
        "0: nothing_held",
        "70: prolong",
        "140: prolong",
        "165: queue_it QUEUE",
        f"210: begin 1, {ALONE}",
        "280: prolong",
        "285: stop_at_once 0, [shut down]",
    ]


def test_what_does_not_fit_into_a_window_is_put_back() -> None:
    """The second transaction begins 25 ms after the window, and the window's end cuts it."""
    scene = told(ONE, (10, reads(25, 30)), (250, Told.shut_down))
    assert scene.story == [
        "0: nothing_held",
        "10: queue_it QUEUE, queue_it QUEUE",
        "70: begin 1, take, trx 1.take",
        "95: finish, trx 1.finish, [read answered], take, trx 2.take",
        "114: stop_starting",
        "120: run_out",
        "125: put_back, trx 2.put_back, leave, end, nothing_held",
        "195: begin 1, take, trx 2.take",
        f"225: finish, trx 2.finish, [read answered], {EMPTY}",
        "250: stop_at_once 0, [shut down]",
    ]


def test_enough_transactions_begin_a_window_early() -> None:
    config = replace(ONE, read_only_transaction_threshold=2)
    scene = told(config, (10, reads(25)), (25, reads(30)), (100, Told.shut_down))
    assert scene.story == [
        "0: nothing_held",
        "10: queue_it QUEUE",
        "25: queue_it QUEUE, begin_early 1, take, trx 1.take",
        "50: finish, trx 1.finish, [read answered], take, trx 2.take",
        "69: stop_starting",
        "75: run_out",
        "80: put_back, trx 2.put_back, leave, end, nothing_held",
        "100: stop_at_once 1, trx 2.abandon, [read abandoned], [shut down]",
    ]


def test_one_transaction_is_enough_where_it_is_the_threshold() -> None:
    config = replace(ONE, read_only_transaction_threshold=1)
    scene = told(config, (10, reads(0)), (20, Told.shut_down))
    assert scene.story == [
        "0: nothing_held",
        f"10: queue_it QUEUE, begin_early 1, {ALONE}",
        "20: stop_at_once 0, [shut down]",
    ]


def test_a_transaction_has_its_own_time() -> None:
    """A write that came meanwhile is held."""
    config = replace(ONE, slice_time=1)
    scene = told(config, (10, reads(60)), (80, Told.write), (170, Told.shut_down))
    assert scene.story == [
        "0: nothing_held",
        "10: queue_it QUEUE",
        "70: begin 1, take, trx 1.take",
        "103: trx 1.exceed, finish, [read invalid], drain, leave, end,"
        " write, write 2.take, write 2.finish, [write answered]",
        "170: stop_at_once 0, [shut down]",
    ]


def test_writes_have_their_turn_though_the_clock_jumps() -> None:
    """It jumps as a window ends, further than the next one lasts: that begins again."""

    def jumps(scene: Told) -> None:
        scene.jumps = {"end": 0.100}

    acts = (10, reads(25, 30)), (100, Told.write), (240, Told.shut_down)
    assert told(ONE, *acts, prepare=jumps).story == [
        "0: nothing_held",
        "10: queue_it QUEUE, queue_it QUEUE",
        "70: begin 1, take, trx 1.take",
        "95: finish, trx 1.finish, [read answered], take, trx 2.take",
        "114: stop_starting",
        "120: run_out",
        "125: put_back, trx 2.put_back, leave, end",
        "225: prolong, write, write 3.take, write 3.finish, [write answered]",
        "295: begin 1, take, trx 2.take",
        f"325: finish, trx 2.finish, [read answered], {EMPTY}",
        "340: stop_at_once 0, [shut down]",
    ]


def test_a_window_runs_out_though_a_thread_is_woken_late() -> None:
    def late(scene: Told) -> None:
        scene.late = {"reader 1": 0.060}

    config = replace(ONE, read_only_transaction_num_threads=2)
    scene = told(config, (10, reads(20)), (200, Told.shut_down), prepare=late)
    assert scene.story == [
        "0: nothing_held",
        "10: queue_it QUEUE",
        "70: begin 2, take, trx 1.take",
        "90: finish, trx 1.finish, [read answered], drain, leave",
        "120: run_out",
        "130: leave, end, nothing_held",
        "200: stop_at_once 0, [shut down]",
    ]


def test_what_reads_is_answered_at_once_in_any_window() -> None:
    acts = ((at, Told.get) for at in (90, 115, 122))
    scene = told(ONE, (10, reads(25, 30)), *acts, (160, Told.shut_down))
    assert scene.story == [
        "0: nothing_held",
        "10: queue_it QUEUE, queue_it QUEUE",
        "70: begin 1, take, trx 1.take",
        "90: read, get 3.take, get 3.finish, [get answered]",
        "95: finish, trx 1.finish, [read answered], take, trx 2.take",
        "114: stop_starting",
        "115: read, get 4.take, get 4.finish, [get answered]",
        "120: run_out",
        "122: read, get 5.take, get 5.finish, [get answered]",
        "125: put_back, trx 2.put_back, leave, end, nothing_held",
        "160: stop_at_once 1, trx 2.abandon, [read abandoned], [shut down]",
    ]


def test_a_transaction_is_over_where_its_time_ends_with_the_window() -> None:
    """It is not put back: it has had its time."""
    scene = told(ONE, (10, reads(17, 60)), (160, Told.shut_down))
    assert scene.story == [
        "0: nothing_held",
        "10: queue_it QUEUE, queue_it QUEUE",
        "70: begin 1, take, trx 1.take",
        "87: finish, trx 1.finish, [read answered], take, trx 2.take",
        "114: stop_starting",
        "120: run_out",
        "127: trx 2.exceed, finish, [read invalid], leave, end, nothing_held",
        "160: stop_at_once 0, [shut down]",
    ]


# The end.


def turned_away(first: int) -> str:
    """A request of each kind; the first of them has this number."""
    return (
        f"get {first}.abandon, [get abandoned],"
        f" turn_away NOWHERE, trx {first + 1}.abandon, [read abandoned],"
        f" write {first + 2}.abandon, [write abandoned]"
    )


SHUT = {"queued": 0, "margin": None, "window": None, "caught_up": True, "state": "STOPPED"}
FIRST = "70: begin 1, take, trx 1.take"
SECOND = "71: finish, trx 1.finish, [read answered], take, trx 2.take"
THIRD = "96: finish, trx 2.finish, [read answered], take, trx 3.take"
ENDS = {
    "in a read-write window": (
        30,
        [
            "30: stop_at_once 3, trx 1.abandon, trx 2.abandon, trx 3.abandon,"
            " [read abandoned], [read abandoned], [read abandoned], [shut down]",
            "31: " + turned_away(4),
        ],
    ),
    "while transactions start": (
        80,
        [
            *(FIRST, SECOND),
            "80: stop_threads 1, trx 3.abandon, [read abandoned]",
            "81: " + turned_away(4),
            "91: finish, trx 2.abandon, [read abandoned], leave, stop, [shut down]",
        ],
    ),
    "while none starts": (
        117,
        [
            *(FIRST, SECOND, THIRD),
            *("114: stop_starting", "117: stop_threads 0"),
            "118: " + turned_away(4),
            "126: finish, trx 3.abandon, [read abandoned], leave, stop, [shut down]",
        ],
    ),
    "after the time of the window": (
        123,
        [
            *(FIRST, SECOND, THIRD),
            *("114: stop_starting", "120: run_out", "123: stop_threads 0"),
            "124: " + turned_away(4),
            "126: finish, trx 3.abandon, [read abandoned], leave, stop, [shut down]",
        ],
    ),
}


def test_a_shutdown_answers_all() -> None:
    """Also what comes later, before the last thread has looked up and afterwards."""
    for when, (at, story) in ENDS.items():
        acts = (10, reads(1, 25, 30)), (at, Told.shut_down), (at + 1, Told.ask_all)
        scene = told(ONE, *acts, (200, Told.ask_all))
        assert scene.story == [
            "0: nothing_held",
            "10: queue_it QUEUE, queue_it QUEUE, queue_it QUEUE",
            *story,
            "200: " + turned_away(7),
        ], when
        assert {**scene.rest, "tasks": None} == {**SHUT, "tasks": None}, when


def test_a_shutdown_waits_for_every_thread() -> None:
    """One has nothing to do."""
    config = replace(ONE, read_only_transaction_num_threads=2)
    scene = told(config, (10, reads(25)), (80, Told.shut_down))
    assert scene.story == [
        "0: nothing_held",
        "10: queue_it QUEUE",
        "70: begin 2, take, trx 1.take",
        "80: stop_threads 0, leave",
        "90: finish, trx 1.abandon, [read abandoned], leave, stop, [shut down]",
    ]


def test_a_node_that_is_shut_down_at_once_does_nothing() -> None:
    def begins(scene: Told) -> None:
        scene.begins = 0.005

    scene = told(ONE, (0, Told.shut_down), prepare=begins)
    assert scene.story == ["0: stop_at_once 0", "5: [shut down]"]
