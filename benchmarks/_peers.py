"""One job with three states, one guard and one counter, by hand and in each peer library.

A contestant provides the four events of a round as callables: start, work (while fewer were done
than are allowed), finish, again. As a script, this module measures the contestant named on the
command line in a process of its own, and prints nanoseconds for each event. It imports only that
peer, so that the peers need not be installed beside lawful.
"""

from __future__ import annotations

import importlib
import sys
import threading
import time
from collections.abc import Callable
from enum import Enum
from typing import Any, Protocol

Calls = tuple[Callable[[], Any], ...]
MOST = 10**12
RUNS = 5  # The best of so many is taken.


def nanoseconds(calls: Calls, seconds: float = 0.3) -> float:
    """Processor time for one event, including the loop that calls it."""
    start, work, finish, again = calls
    rounds, best = 50, float("inf")
    for run in range(-3, RUNS):  # The first runs find out how many rounds are enough.
        began = time.process_time()
        for _ in range(rounds):
            start()
            work()
            finish()
            again()
        taken = time.process_time() - began
        if run < 0:
            rounds = max(50, int(rounds * seconds / RUNS / max(taken, 1e-5)))
        else:
            best = min(best, taken / rounds / 4)
    return best * 1e9


class Phase(Enum):
    """The states of the classes by hand."""

    IDLE = 1
    BUSY = 2
    OVER = 3


IDLE, BUSY, OVER = Phase.IDLE, Phase.BUSY, Phase.OVER


class Methods:
    """A hand-written class with a method for each event."""

    __slots__ = ("done", "most", "state")

    def __init__(self, most: int = MOST) -> None:
        self.state = IDLE
        self.done = 0
        self.most = most

    def start(self) -> None:
        """The job begins."""
        if self.state is not IDLE:
            raise ValueError("start")
        self.state = BUSY

    def work(self) -> None:
        """One unit of work is done."""
        if self.state is not BUSY:
            raise ValueError("work")
        if not self.done < self.most:
            raise ValueError(f"all is done ({self.done} < {self.most} is false)")
        self.done += 1

    def finish(self) -> None:
        """The job ends."""
        if self.state is not BUSY:
            raise ValueError("finish")
        self.state = OVER

    def again(self) -> None:
        """Another job begins."""
        if self.state is not OVER:
            raise ValueError("again")
        self.state = IDLE


class Cases:
    """A hand-written class with one method that takes the event's name."""

    def __init__(self) -> None:
        self.state = IDLE
        self.done = 0

    def handle(self, event: str) -> None:
        """The effect of an event in each state."""
        if self.state is IDLE and event == "start":
            self.state = BUSY
        elif self.state is BUSY and event == "work" and self.done < MOST:
            self.done += 1
        elif self.state is BUSY and event == "finish":
            self.state = OVER
        elif self.state is OVER and event == "again":
            self.state = IDLE
        else:
            raise ValueError(event)


def calls_of(job: Any) -> Calls:
    """The events of an instance that has a method for each."""
    return job.start, job.work, job.finish, job.again


def _told(send: Callable[[str], Any], *names: str) -> Calls:
    def call(name: str) -> Callable[[], Any]:
        return lambda: send(name)

    return tuple(map(call, names))


def _library(name: str) -> Any:
    """A peer library; type checkers cannot see it, because it is not in their environment."""
    return importlib.import_module(name)


def by_methods() -> Calls:
    """By hand, with a method for each event."""
    return calls_of(Methods())


def by_cases() -> Calls:
    """By hand, with if and elif."""
    return _told(Cases().handle, "start", "work", "finish", "again")


def automat() -> Calls:
    """It has no guards."""
    library: Any = _library("automat")

    class Job(Protocol):
        def start(self) -> None: ...
        def work(self) -> None: ...
        def finish(self) -> None: ...
        def again(self) -> None: ...

    class Core:
        done = 0

    builder = library.TypeMachineBuilder(Job, Core)
    idle, busy, over = map(builder.state, ("idle", "busy", "over"))

    @busy.upon(Job.work).loop()
    def work(job: Job, core: Core) -> None:
        core.done += 1

    def nothing(job: Job, core: Core) -> None: ...

    idle.upon(Job.start).to(busy)(nothing)
    busy.upon(Job.finish).to(over)(nothing)
    over.upon(Job.again).to(idle)(nothing)
    return calls_of(builder.build()(Core()))


def transitions() -> Calls:
    """Its core machine, without queue or lock."""
    library: Any = _library("transitions")

    class Job:
        done = 0

        def more(self) -> bool:
            return self.done < MOST

        def count(self) -> None:
            self.done += 1

    rows: list[Any] = [
        {"trigger": "start", "source": "idle", "dest": "busy"},
        {
            "trigger": "work",
            "source": "busy",
            "dest": "busy",
            "conditions": "more",
            "after": "count",
        },
        {"trigger": "finish", "source": "busy", "dest": "over"},
        {"trigger": "again", "source": "over", "dest": "idle"},
    ]
    job = Job()
    states = ["idle", "busy", "over"]
    options = {"initial": "idle", "auto_transitions": False}
    library.Machine(job, states=states, transitions=rows, **options)
    return calls_of(job)


def python_statemachine() -> Calls:
    """A class of states and events."""
    library: Any = _library("statemachine")
    base: Any = library.StateMachine

    class Job(base):
        idle: Any = library.State(initial=True)
        busy: Any = library.State()
        over: Any = library.State()
        start: Any = idle.to(busy)
        work: Any = busy.to(busy, cond="more", on="count")
        finish: Any = busy.to(over)
        again: Any = over.to(idle)
        done = 0

        def more(self) -> bool:
            return self.done < MOST

        def count(self) -> None:
            self.done += 1

    return calls_of(Job())


def xstate_statemachine() -> Calls:
    """Its synchronous interpreter."""
    library: Any = _library("xstate_statemachine")

    def more(context: Any, event: Any) -> bool:
        return context["done"] < MOST

    def count(interpreter: Any, context: Any, event: Any, action: Any) -> None:
        context["done"] += 1

    work = {"target": "busy", "guard": "more", "actions": "count"}
    states: Any = {
        "idle": {"on": {"START": "busy"}},
        "busy": {"on": {"WORK": work, "FINISH": "over"}},
        "over": {"on": {"AGAIN": "idle"}},
    }
    config = {"id": "job", "initial": "idle", "context": {"done": 0}, "states": states}
    logic = library.MachineLogic(actions={"count": count}, guards={"more": more})
    interpreter = library.SyncInterpreter(library.create_machine(config, logic=logic))
    interpreter.start()
    return _told(interpreter.send, "START", "WORK", "FINISH", "AGAIN")


SISMIC = """
statechart:
  name: job
  preamble: done = 0
  root state:
    name: job
    initial: idle
    states:
      - name: idle
        transitions: [{event: start, target: busy}]
      - name: busy
        transitions:
          - {event: work, guard: done < 10**12, action: done = done + 1}
          - {event: finish, target: over}
      - name: over
        transitions: [{event: again, target: idle}]
"""


def sismic() -> Calls:
    """A statechart, whose code sismic evaluates as text."""
    chart: Any = _library("sismic.io").import_from_yaml(SISMIC)
    interpreter: Any = _library("sismic.interpreter").Interpreter(chart)
    interpreter.execute()

    def send(event: str) -> None:
        interpreter.queue(event)
        interpreter.execute()

    return _told(send, "start", "work", "finish", "again")


# One interleaving of two threads.


class _Late:
    """A lock that calls a function just before it is released for the first time."""

    def __init__(self, lock: Any, before: Callable[[], None]) -> None:
        self.lock = lock
        self.before: Callable[[], None] | None = before

    def acquire(self, **how: Any) -> bool:
        """Like `Lock.acquire`."""
        return bool(self.lock.acquire(**how))

    def release(self) -> None:
        """Like `Lock.release`, after the function is called."""
        before, self.before = self.before, None
        if before is not None:
            before()
        self.lock.release()


def stranded() -> int:
    """How many accepted events python-statemachine has not run when all callers have returned.

    A thread has run its event, has found the queue empty, and is about to release the lock. At this
    moment another thread sends an event. The benchmark only chooses when a lock is released.
    """
    library: Any = _library("statemachine")
    base: Any = library.StateMachine

    class Job(base):
        idle: Any = library.State(initial=True)
        work: Any = idle.to.itself(on="count")
        done = 0

        def count(self) -> None:
            self.done += 1

    def another() -> None:
        sender = threading.Thread(target=job.send, args=("work",))
        sender.start()
        sender.join()

    job: Any = Job()
    job._engine._processing = _Late(job._engine._processing, another)
    job.send("work")
    return 2 - int(job.done)


HAND = (by_methods, by_cases)
PEERS = (automat, transitions, xstate_statemachine, sismic, python_statemachine)

if __name__ == "__main__":
    if sys.argv[1] == stranded.__name__:
        print(stranded())
    else:
        (chosen,) = (each for each in (*HAND, *PEERS) if each.__name__ == sys.argv[1])
        print(nanoseconds(chosen()))
