"""The service of the windows in a simulated world: real code, simulated time and threads.

    run = simulate(seed=7)
    run.problems        # what the judge of the clients' histories found; empty if all is well
    run.digest          # of all events of the machines, in order

Clients read, write, get and send; a thread makes faults; another shuts the node down at the end,
when all is answered, or in the middle of a window. Slow threads overrun their slices or are woken
late, the clock jumps, also between two looks at it; in every sixth world it stands still at times.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

from lawful.machines.read_only_windows.service import Config, Kind, Options, WindowedExecutor
from lawful.machines.read_only_windows.service.jobs import Answer, Overloaded
from lawful.machines.read_only_windows.service.load_clients import Seen, judge
from lawful.machines.read_only_windows.service.scripts import Script, Step
from lawful.machines.read_only_windows.service.settings import Recorder
from lawful.machines.read_only_windows.service.table import GuardedTable
from lawful.machines.services.threads import Event
from lawful.runtime.instance import Machine
from lawful.runtime.kernel.event_record import Stepped
from lawful.runtime.simulation.turns import World
from tests.machines.simulated_runs import Clock, Run, Watch, left_behind

BOUND = 20.0  # Seconds within which all ends, after the faults have ceased.
TRANSITIONS = (
    *(
        "queue_it",
        "run_single_threaded",
        "turn_away",
        "write",
        "nothing_held",
        "read",
        "begin",
        "prolong",
    ),
    *("begin_early", "drain", "stop_starting", "run_out", "end", "stop_at_once"),
    *("stop_threads", "stop", "Window.take", "Window.finish", "Window.put_back", "leave"),
    *("Transaction.take", "Transaction.finish", "exceed", "Transaction.put_back", "abandon"),
)
FAULTS = (
    *("overrun", "woken late", "clock forward", "clock back", "clock stands still"),
    *("fails", "too long", "overload", "raises"),
)
# Each has just happened to the window when it is shut down in the middle.
MOMENTS = ("begin", "stop_starting", "run_out", "leave", "end")


class NodeWatch(Watch):
    """A node tries what it may do: what was refused is no event. `last`: what the window did."""

    def __init__(self, recorder: Recorder | None) -> None:
        super().__init__()
        self.last = ""
        self.heard: set[str] = set()  # Instances that would be kept by a journal.
        self.read: list[int] = []  # Transactions that were read to their end, by when they came.
        self._recorder = recorder

    def attach(self, entry: Machine, instance: str, *, refused: bool = True) -> Callable[[], None]:
        ends: list[Callable[[], None]] = [super().attach(entry, instance)]
        ends.append(lambda: self.heard.discard(instance))
        if self._recorder is not None:
            ends.append(self._recorder.attach(entry, instance, refused=refused))
        self.heard.add(instance)

        def detach() -> None:
            for end in ends:
                end()

        return detach

    def named(self, instance: str, done: Stepped[Machine]) -> str:
        name = super().named(instance, done)
        kind = "Window" if instance == "window" else "Transaction"
        return f"{kind}.{name}" if name in ("take", "finish", "put_back") else name

    def hear(self, instance: str, done: Stepped[Machine]) -> None:
        if done.outcome != "refused":
            super().hear(instance, done)
            if instance == "window":
                self.last = str(done.transition or done.event)
            elif done.event == "finish" and instance.startswith(Kind.READ.value):
                self.read.append(int(instance.rsplit(maxsplit=1)[-1]))


class Scene:
    """What the threads of one run share: in the place of clock and threads of the service, too."""

    executor: WindowedExecutor

    def __init__(self, world: World, threads: int) -> None:
        self.world = world
        self.threads = threads  # Of the executor.
        self.stops = False  # Its clock, at times.
        self.faulty = True
        self.clock = Clock(world)
        self.talking = 4
        self.faults: Counter[str] = Counter()
        self.seen: list[Seen] = []
        self.ended: Counter[int] = Counter()
        self.asked = 0
        self.active = 0
        self.early = False
        self.shutting = False
        self.shut = False
        self.late: list[str] = []
        self.watch: NodeWatch
        self.lock = world.lock

    def start(self, run: Callable[[], object], name: str) -> None:
        self.world.start(run, name)

    def event(self) -> Event:
        return Drowsy(self)

    def now(self) -> float:
        if self.faulty and self.chance(0.002):
            self.faults["clock forward"] += 1
            self.clock.offset += self.world.random.uniform(0.0, 0.3)
        return self.clock.now()

    def sleep(self, seconds: float) -> None:
        if self.faulty and self.chance(0.03):
            self.faults["overrun"] += 1
            seconds += self.world.random.uniform(0.0, 0.3)
        self.world.sleep(seconds)

    def look_at_sleepers(self) -> None:
        """No thread of the executor waits in two places: what it has left would be kept for as long
        as nobody is woken."""
        sleepers = len(vars(self.executor)["_sleepers"])
        if sleepers > self.threads:
            self.late.append(f"{self.threads} threads sleep in {sleepers} places")

    def chance(self, probability: float) -> bool:
        return self.world.random.random() < probability


class Drowsy:
    """A flag after whose setting a thread may go on late."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._flag = scene.world.event()

    def set(self) -> None:
        self._flag.set()

    def wait(self, timeout: float | None = None) -> bool:
        found = self._flag.wait(timeout)
        if self._scene.faulty and self._scene.chance(0.02):
            self._scene.faults["woken late"] += 1
            self._scene.world.sleep(self._scene.world.random.uniform(0.0, 0.03))
        return found


class Planned(Exception):
    """What a client's function raises on purpose."""


GET = Step("get", "n")


def script_of(scene: Scene, kind: Kind) -> Script:
    """What a client sends: it shows a write that meets it, and may fail or take too long."""
    work = scene.world.random.randint(0, 30)
    if scene.faulty and scene.chance(0.05):
        scene.faults["too long"] += 1
        work = 4_000
    end: Script = ()
    if scene.faulty and scene.chance(0.05):
        scene.faults["fails"] += 1
        end = (Step("fail", value="on purpose"),)
    if kind is Kind.GET:
        return (GET,)
    if kind is Kind.READ:
        return (GET, Step("work", number=work), GET, *end)
    return (Step("add", "n", number=1), Step("work", number=work), *end)


def ask(scene: Scene, kind: Kind) -> None:
    """Send one request; note when it began and ended, and what came."""
    number, began = scene.asked, scene.world.time
    scene.asked += 1
    scene.ended[number] = 0
    raises = scene.faulty and scene.chance(0.03)

    def answered(answer: Answer) -> None:
        scene.ended[number] += 1
        values = tuple(each if isinstance(each, int) else 0 for each in answer.values)
        ok = answer.outcome == "answered"
        seen = Seen(kind is Kind.WRITE, began, scene.world.time, 200 if ok else 503, values)
        scene.seen.append(seen)
        if answer.outcome == "abandoned" and not scene.shutting:
            scene.late.append(f"request {number} was abandoned before the shutdown")
        if answer.outcome != "abandoned" and scene.shut:
            scene.late.append(f"request {number} was {answer.outcome} after the shutdown")
        if raises:
            scene.faults["raises"] += 1
            raise Planned

    try:
        scene.executor.submit(kind, script_of(scene, kind), answered)
    except Overloaded:
        scene.faults["overload"] += 1
        scene.ended[number] = 1


def clients(scene: Scene, count: int) -> None:
    """One thread of clients; sometimes it sends many requests at once."""
    draw = scene.world.random
    kinds = (Kind.READ, Kind.READ, Kind.READ, Kind.WRITE, Kind.GET)
    for _ in range(count):
        for _ in range(draw.choice((1, 1, 1, 8))):
            ask(scene, draw.choice(kinds))
        scene.world.sleep(draw.choice((0.0, draw.uniform(0.0, 0.3))))
    scene.talking -= 1


def trouble(scene: Scene, seconds: float) -> None:
    """Let the clock jump, or stand still; after so many seconds no fault is made any more."""
    draw = scene.world.random
    while scene.world.time < seconds:
        scene.world.sleep(draw.uniform(0.05, 0.5))
        if scene.stops and scene.chance(0.5):
            scene.faults["clock stands still"] += 1
            scene.clock.stands = scene.clock.now()
            scene.world.sleep(draw.uniform(0.0, 0.5))
            scene.look_at_sleepers()
            scene.clock.stands = None
            continue
        forward = scene.chance(0.5)
        scene.faults["clock forward" if forward else "clock back"] += 1
        scene.clock.offset += draw.uniform(0.0, 0.5) * (1 if forward else -1)
    scene.faulty = False
    scene.active = scene.watch.events


def finish(scene: Scene) -> None:
    """Wait until all is answered, or shut down in the middle, and see that this ends in time."""
    world = scene.world
    if scene.early:
        world.sleep(world.random.uniform(0.2, 1.5))
        moment = world.random.choice(MOMENTS)
        world.pause(lambda: scene.watch.last == moment, world.time + 0.5)
    else:
        while scene.faulty or scene.talking:
            world.sleep(0.1)
        until = world.time + BOUND
        while world.time < until and not all(scene.ended.values()):
            world.sleep(0.1)
        if not all(scene.ended.values()):
            scene.late.append(f"not all had ended {BOUND} s after the faults")
    began, slowest = world.time, 0.5 if scene.faulty else 0.1
    scene.shutting = True
    scene.executor.shutdown()
    scene.shut = True
    if world.time - began > slowest:
        scene.late.append(f"the shutdown took {world.time - began:.3f} s")


def simulate(
    seed: int,
    *,
    kind: type[WindowedExecutor] = WindowedExecutor,
    journal: Recorder | None = None,
    count: int = 15,
) -> Run:
    """One run: four threads of so many requests each, faults for three seconds."""
    world, draw = World(seed, limit=120.0), random.Random(seed)
    early = draw.random() < 0.3
    config = Config(
        read_only_transaction_num_threads=draw.choice((0, 1, 2, 3)),
        read_write_window_time=draw.choice((50, 200)),
        read_only_transaction_threshold=draw.choice((0, 1, 4)),
        most_waiting=draw.choice((10, 1_000)),
    )
    scene = Scene(world, config.read_only_transaction_num_threads + 1)
    scene.early, scene.stops = early, seed % 6 == 5
    scene.watch = NodeWatch(journal)
    table = GuardedTable(scene)
    failed: list[BaseException] = []

    def live() -> None:
        options = Options(scene, scene.watch, scene, failed.append)
        scene.executor = kind(config, table, options)
        for number in range(scene.talking):
            world.start(lambda: clients(scene, count), f"clients {number}")
        world.start(lambda: trouble(scene, 3.0), "faults")
        world.start(lambda: finish(scene), "end")

    world.start(live, "begin")
    found: list[str] = []
    try:
        world.run()
    except Exception as error:
        found.append(f"{type(error).__name__}: {error}")
    found += scene.late
    found += [f"the state is broken: {table.broken}"] if table.broken else []
    found += [f"{error!r}" for error in failed if not isinstance(error, Planned)]
    # After the shutdown nobody waits, and nothing of a transaction is kept.
    found += left_behind("the executor", scene.executor) + left_behind(
        "the table", table, {"_data": 1}
    )
    heard = scene.watch.heard - {"window"}
    found += [f"{len(heard)} transactions are left to the journal"] * bool(heard)
    executing = scene.executor.stats().executing
    found += [f"{executing} transactions are said to be executed"] * bool(executing)
    if scene.threads == 2 and scene.watch.read != sorted(scene.watch.read):
        found.append("one reader has not read in the order of requests")  # It puts back in front.
    wrong = [number for number, ends in scene.ended.items() if ends != 1]
    found += [f"requests {wrong[:5]} had not one answer"] if wrong else []
    found += judge(scene.seen)
    return Run(
        seed=seed,
        problems=found,
        digest=scene.watch.digest,
        transitions=scene.watch.transitions,
        faults=scene.faults,
        counts=Counter(scene.executor.stats().counts),
        seconds=world.time,
        events=scene.watch.events,
        active=scene.active,
        pieces=0,  # There is no network.
    )
