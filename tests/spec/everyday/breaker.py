"""A circuit breaker with a back-off table."""

from enum import auto

from lawful import Machine, Nat, Scope, State, Timer, invariant, require, transition

BACKOFF = [1.0, 2.0, 4.0, 8.0]
THRESHOLD = 2


class Circuit(State):
    CLOSED = auto()
    OPEN = auto()
    HALF_OPEN = auto()


class Breaker(Machine):
    state: Circuit = Circuit.CLOSED
    failures: Nat = 0
    attempt: Nat = 0
    retry: Timer = Timer()

    @transition(source=Circuit.CLOSED, target=[Circuit.CLOSED, Circuit.OPEN])
    def failure(self) -> None:
        self.failures += 1
        if self.failures >= THRESHOLD:
            self._trip()

    @transition(source=Circuit.HALF_OPEN, target=Circuit.OPEN)
    def probe_failed(self) -> float:
        self.attempt = min(self.attempt + 1, len(BACKOFF) - 1)
        self.retry.start(BACKOFF[self.attempt])
        return BACKOFF[self.attempt]

    @transition(source=Circuit.HALF_OPEN, target=Circuit.CLOSED)
    def probe_succeeded(self) -> None:
        self.failures = self.attempt = 0

    @transition(source=Circuit.OPEN, target=Circuit.HALF_OPEN, timer="retry")
    def wake(self) -> None:
        pass

    @transition
    def success(self) -> None:
        require(self.state is Circuit.CLOSED, "only a closed circuit lets calls through")
        self.failures = 0

    def _trip(self) -> None:
        self.state = Circuit.OPEN
        self.retry.start(BACKOFF[self.attempt])

    @invariant
    def open_is_timed(self) -> bool:
        return self.retry.armed == (self.state is Circuit.OPEN)

    scope = Scope(failures=range(0, 4), attempt=range(0, 4))
