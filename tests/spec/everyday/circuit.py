"""A circuit breaker."""

import enum
import logging

from lawful import Machine, Nat, Param, Scope, State, Timer, invariant, refuse, transition

log = logging.getLogger(__name__)


class S(State):
    CLOSED = enum.auto()
    OPEN = enum.auto()
    HALF_OPEN = enum.auto()


class CircuitBreaker(Machine):
    """Stops calling a service that fails."""

    state: S = S.CLOSED
    failures: Nat = 0
    successes: Nat = 0
    threshold: Param[Nat] = 2
    cooldown: Timer = Timer()
    open_seconds: Param[float] = 30.0
    in_flight: Nat = 0

    @transition(source=[S.CLOSED, S.HALF_OPEN])
    def call(self) -> None:
        if self.state is S.HALF_OPEN and self.in_flight >= 1:
            refuse("one probe at a time")
        if self.in_flight > 3:
            refuse("too many calls")
        self.in_flight += 1

    @transition(source=(S.CLOSED, S.OPEN, S.HALF_OPEN), target=(S.CLOSED, S.OPEN, S.HALF_OPEN))
    def succeeded(self) -> None:
        self._returned()
        if self.state == S.HALF_OPEN:
            self.successes = self.successes + 1
            if self.successes >= 2:
                self._reset()
                self.state = S.CLOSED
        elif self.state == S.CLOSED:
            self.failures = 0

    @transition(target=(S.CLOSED, S.OPEN, S.HALF_OPEN))
    def failed(self) -> bool:
        """Tell of a failed call; True if the circuit opens by it."""
        self._returned()
        opens = False
        if self.state == S.CLOSED:
            self.failures += 1
            opens = self.failures >= self.threshold
        elif self.state == S.HALF_OPEN:
            opens = True
        if opens:
            self._trip()
        return opens

    @transition(source=S.OPEN, target=S.HALF_OPEN, timer="cooldown")
    def probe(self) -> None:
        self.successes = 0

    def _returned(self) -> None:
        if not self.in_flight:
            refuse("no call is under way")
        self.in_flight -= 1

    def _trip(self) -> None:
        self._reset()
        self.state = S.OPEN
        self.cooldown.start(self.open_seconds)

    def _reset(self) -> None:
        self.failures = self.successes = 0

    @invariant
    def below_threshold(self) -> bool:
        return self.failures < self.threshold or self.state != S.CLOSED

    @invariant
    def waits_when_open(self) -> bool:
        return (self.state == S.OPEN) == self.cooldown.armed

    def __str__(self) -> str:
        return f"breaker {self.state.name.lower()} after {self.failures} failures"

    scope = Scope(Nat=range(0, 6))
