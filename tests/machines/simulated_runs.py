"""What the simulations of all services have in common: what a run did, how it is played, and a
clock that jumps."""

from __future__ import annotations

import logging
import traceback
from collections import Counter
from collections.abc import Coroutine
from dataclasses import dataclass

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
    """The clock of a service: it is off by `offset` seconds, which change where it jumps."""

    def __init__(self, world: World) -> None:
        self.offset = 0.0
        self._world = world

    def now(self) -> float:
        return 1_000.0 + self._world.time + self.offset


def note_errors(loop: SimulatedLoop, errors: list[str]) -> None:
    """From now on, what nobody handles in the loop is in the list."""

    def hear(_: object, context: dict[str, object]) -> None:
        error = context.get("exception")
        lines = traceback.format_exception(error) if isinstance(error, BaseException) else []
        errors.append(f"{context.get('message')}: {''.join(lines[-3:])}")

    loop.set_exception_handler(hear)


def play(world: World, loop: SimulatedLoop, work: Coroutine[object, object, None]) -> None:
    """Do this in the world's event loop, until all threads have ended. Errors: what it raises."""
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    world.start(lambda: loop.run_until_complete(work), "event loop")
    try:
        world.run()
    finally:
        loop.close()
