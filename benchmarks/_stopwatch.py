"""How much of a service's time its machines take."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

from lawful import Machine


class Stopwatch:
    """Seconds inside of machines' events, by this clock."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.spent = 0.0
        self.events = 0
        self._inside = False

    def timed(self, event: Callable[..., Any]) -> Callable[..., Any]:
        """The event, whose time is added."""

        def run(*args: Any) -> Any:
            if self._inside:
                return event(*args)
            self._inside = True
            began = self._clock()
            try:
                return event(*args)
            finally:
                self.spent += self._clock() - began
                self.events += 1
                self._inside = False

        return run


@contextmanager
def measured_events(
    machines: Iterable[type[Machine]], clock: Callable[[], float] = time.perf_counter
) -> Generator[Stopwatch, None, None]:
    """Meanwhile a stopwatch runs in the events of these machines. The measuring itself counts as
    their time; what timers fire does not."""
    watch = Stopwatch(clock)
    with ExitStack() as stack:
        for machine in machines:
            for event in machine.lawful.ir.events:
                timed = watch.timed(getattr(machine, event.name))
                stack.enter_context(mock.patch.object(machine, event.name, timed))
        yield watch
