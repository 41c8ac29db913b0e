"""Retry with exponential back-off and jitter."""

from typing import Final, Literal

from lawful import Machine, Nat, Scope, State, Timer, invariant, transition


class Phase(State):
    IDLE = "idle"
    RUNNING = "running"
    WAITING = "waiting"
    FAILED = "failed"
    DONE = "done"


DELAYS: Final = [0.1, 0.2, 0.4, 0.8]
MAX_ATTEMPTS: Final[int] = 4

Outcome = Literal["ok", "temporary", "permanent"]


class Retry(Machine):
    state: Phase = Phase.IDLE
    attempt: Nat = 0
    backoff: Timer = Timer()
    last_error: str | None = None

    @transition(source=Phase.IDLE, target=Phase.RUNNING)
    def start(self) -> None:
        self.attempt = 1

    @transition(source=Phase.RUNNING, target=(Phase.WAITING, Phase.FAILED, Phase.DONE))
    def finished(self, outcome: Outcome) -> float | None:
        if outcome == "ok":
            self.state = Phase.DONE
            return None
        if outcome == "permanent" or self.attempt >= MAX_ATTEMPTS:
            self.state = Phase.FAILED
            return None
        delay = DELAYS[self.attempt - 1]
        self.backoff.start(delay)
        self.state = Phase.WAITING
        return delay

    @transition(source=Phase.WAITING, target=Phase.RUNNING, timer="backoff")
    def retry(self) -> Nat:
        self.attempt += 1
        return self.attempt

    @transition(source=(Phase.RUNNING, Phase.WAITING), target=Phase.FAILED)
    def abort(self) -> None:
        if self.backoff.armed:
            self.backoff.stop()

    @invariant
    def bounded_attempts(self) -> bool:
        return self.attempt <= MAX_ATTEMPTS

    @invariant
    def timer_only_when_waiting(self) -> bool:
        return self.backoff.armed == (self.state is Phase.WAITING)

    deadlock_ok = True
    scope = Scope(Nat=range(6))
