"""A lease that is renewed and expires."""

from datetime import timedelta

from lawful import Machine, Nat, Scope, Sort, Timer, invariant, require, transition

LEASE = timedelta(seconds=30)


class Worker(Sort): ...


class Lease(Machine):
    owner: Worker | None = None
    term: Nat = 0
    expiry: Timer = Timer()

    @transition
    def acquire(self, worker: Worker) -> Nat:
        require(self.owner is None, f"owned by {self.owner}")
        self._grant(worker)
        return self.term

    @transition
    def renew(self, worker: Worker, term: Nat) -> None:
        require(self._valid(worker, term=term), "not the owner")
        self.expiry.start(LEASE.total_seconds())

    @transition
    def release(self, worker: Worker, term: Nat) -> None:
        require(self._valid(worker, term=term), "not the owner")
        self.owner = None
        self.expiry.stop()

    @transition(timer="expiry")
    def expire(self) -> None:
        self.owner = None

    def _grant(self, worker: Worker) -> None:
        self.owner = worker
        self.term += 1
        self.expiry.start(LEASE.total_seconds())

    def _valid(self, worker: Worker, term: Nat) -> bool:
        return self.owner == worker and term == self.term

    @invariant
    def owned_is_timed(self) -> bool:
        return (self.owner is not None) == self.expiry.armed

    scope = Scope(Worker=2, Nat=range(0, 4))
