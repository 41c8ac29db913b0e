"""What the simulations of all services have in common: what a run did, how it is played, and a
clock that jumps."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import traceback
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Mapping, Sized
from dataclasses import dataclass, fields, is_dataclass
from typing import Protocol, cast

from lawful.runtime.instance import Machine
from lawful.runtime.kernel.event_record import Stepped
from lawful.runtime.simulation.event_loop import SimulatedLoop
from lawful.runtime.simulation.turns import World


@dataclass
class Run:
    """What one run did. `digest`: of all events of the machines, in order. `events`: of the
    machines; `active`: those while faults were made; `pieces`: delivered by the network."""

    seed: int
    problems: list[str]
    digest: str
    transitions: Counter[str]
    faults: Counter[str]
    counts: Counter[str]
    seconds: float
    events: int
    active: int
    pieces: int


class Clock:
    """The clock of a service: it is off by `offset` seconds, which change where it jumps. Where it
    `stands` still, that is its time."""

    def __init__(self, world: World) -> None:
        self.offset = 0.0
        self.stands: float | None = None
        self._world = world

    def now(self) -> float:
        if self.stands is not None:
            return self.stands
        return 1_000.0 + self._world.time + self.offset


class Recorder(Protocol):
    """Hears of each event of a machine: a `Journal`."""

    def attach(self, entry: Machine, instance: str) -> object: ...


class Watch:
    """In the place of a journal: counts and digests all events of all machines. A `journal` that is
    there has them, too."""

    def __init__(self) -> None:
        self.transitions: Counter[str] = Counter()
        self.events = 0
        self.journal: Recorder | None = None
        self._digest = hashlib.blake2b(digest_size=12)

    def attach(self, entry: Machine, instance: str) -> Callable[[], None]:
        """Hear of the events of this machine, until what this gives is called."""
        ends: list[object] = [entry.lawful.observe(lambda done: self.hear(instance, done))]
        if self.journal is not None:
            ends.append(self.journal.attach(entry, self.kept_as(instance)))

        def detach() -> None:
            for end in ends:
                if callable(end):
                    end()

        return detach

    def kept_as(self, instance: str) -> str:
        """The name of the instance in the journal."""
        return instance

    def named(self, instance: str, done: Stepped[Machine]) -> str:
        """What has happened; empty for what is not counted."""
        return str(done.transition or done.event) if done.outcome == "done" else ""

    def hear(self, instance: str, done: Stepped[Machine]) -> None:
        """An event."""
        self.events += 1
        if name := self.named(instance, done):
            self.transitions[name] += 1
        what = f"{done.transition or done.event} {done.outcome} {self.said(done)}"
        self._digest.update(f"{instance} {done.time!r} {what}".encode())

    def said(self, done: Stepped[Machine]) -> str:
        """What the digest has of arguments and output."""
        return f"{_text(done.args)} {_text(done.output)}"

    @property
    def digest(self) -> str:
        return self._digest.hexdigest()


def _text(value: object) -> str:
    """A value as text, the same in every process: sets have an order."""
    if isinstance(value, frozenset):
        return str(sorted(map(_text, cast("frozenset[object]", value))))
    if isinstance(value, Mapping):
        return _text(tuple(cast("Mapping[str, object]", value).items()))
    if isinstance(value, tuple | list):
        return str([_text(each) for each in cast("tuple[object, ...]", value)])
    if is_dataclass(value):
        return f"{type(value).__name__}{[_text(getattr(value, f.name)) for f in fields(value)]}"
    return repr(value)


def note_errors(loop: SimulatedLoop, errors: list[str]) -> None:
    """From now on, what nobody handles in the loop is in the list."""

    def hear(_: object, context: dict[str, object]) -> None:
        error = context.get("exception")
        lines = traceback.format_exception(error) if isinstance(error, BaseException) else []
        errors.append(f"{context.get('message')}: {''.join(lines[-3:])}")

    loop.set_exception_handler(hear)


MOST_COUNTS = 64  # Names of what a service counts.


def left_behind(what: str, owner: object, most: Mapping[str, int] | None = None) -> list[str]:
    """Of the collections that an object of a service keeps, those that are not empty at the end of
    a world, or have more than so many: they would grow with use. `most`: by name of the
    attribute. Counters may have as many names as anybody counts."""
    found: list[str] = []
    for name, kept in vars(owner).items():
        if isinstance(kept, dict | list | set | deque):
            has = len(cast("Sized", kept))
            may = (most or {}).get(name, MOST_COUNTS if isinstance(kept, Counter) else 0)
            found += [f"{what} has {has} left in {name}"] * (has > may)
    return found


def tasks_left() -> list[str]:
    """The tasks that have not ended, besides the one that asks."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    return [f"a task is left: {task.get_coro()}" for task in left]


def timers_left(loop: SimulatedLoop, *kinds: type[object]) -> list[str]:
    """The timers that objects of these classes still have, though all of them have ended."""
    timers: list[asyncio.TimerHandle] = vars(loop)["_scheduled"]
    calls = [getattr(timer, "_callback", None) for timer in timers]  # None: it was cancelled.
    left = [call for call in calls if isinstance(getattr(call, "__self__", None), kinds)]
    return [f"a timer is left: {getattr(call, '__qualname__', call)}" for call in left]


def play(world: World, loop: SimulatedLoop, work: Coroutine[object, object, None]) -> None:
    """Do this in the world's event loop, until all threads have ended. Errors: what it raises."""
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    world.start(lambda: loop.run_until_complete(work), "event loop")
    try:
        world.run()
    finally:
        loop.close()
