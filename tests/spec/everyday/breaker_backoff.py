"""A circuit breaker that waits longer after each trip."""

from datetime import timedelta

from lawful import (
    Machine,
    Nat,
    Param,
    Scope,
    State,
    Timer,
    invariant,
    reachable,
    transition,
)

BACKOFF = [timedelta(seconds=1), timedelta(seconds=5), timedelta(seconds=30)]
MAX_PROBES = 2


class Breaker(State):
    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class CircuitBreaker(Machine):
    state: Breaker = Breaker.CLOSED
    failures: Nat = 0
    trips: Nat = 0
    probes: Nat = 0
    recent: list[bool] = []
    cooldown: Timer = Timer()
    threshold: Param[Nat] = 2

    @property
    def failing(self) -> bool:
        return self.failures >= self.threshold

    def _trip(self) -> None:
        self.trips += 1
        self.failures = 0
        self.probes = 0
        step = min(self.trips, len(BACKOFF)) - 1
        self.cooldown.start(BACKOFF[step].total_seconds())

    def _remember(self, ok: bool) -> None:
        self.recent.append(ok)
        self.recent = self.recent[-3:]

    @transition(source=Breaker.CLOSED)
    def success(self) -> None:
        self.failures = 0
        self._remember(True)

    @transition(source=Breaker.CLOSED)
    def failure(self) -> None:
        self.failures += 1
        self._remember(False)
        if self.failing:
            self._trip()
            self.state = Breaker.OPEN

    @transition(source=Breaker.OPEN, target=Breaker.HALF_OPEN, timer="cooldown")
    def cooled(self) -> None:
        self.probes = 0

    @transition(source=Breaker.HALF_OPEN)
    def probe(self, ok: bool) -> str:
        self._remember(ok)
        if not ok:
            self._trip()
            self.state = Breaker.OPEN
            return f"tripped {self.trips} times"
        self.probes += 1
        if self.probes == MAX_PROBES:
            self.state = Breaker.CLOSED
            self.trips = 0
            return "closed again"
        return f"{MAX_PROBES - self.probes} probes to go"

    @transition()
    def history(self) -> list[bool]:
        return list(self.recent)

    @transition()
    def describe(self) -> str:
        return self.state.value.replace("_", " ").upper()

    @invariant
    def open_means_cooling(self) -> bool:
        return (self.state is Breaker.OPEN) == self.cooldown.armed

    @invariant
    def short_memory(self) -> bool:
        return len(self.recent) <= 3

    @reachable
    def recovers(self) -> bool:
        return self.state == Breaker.CLOSED and any(self.recent) and not all(self.recent)

    deadlock_ok = True
    scope = Scope(Nat=range(0, 4), recent=4, threshold=(1, 2))
