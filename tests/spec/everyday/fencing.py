"""A lease on a lock, with fencing tokens."""

from dataclasses import replace

from lawful import (
    Clock,
    Machine,
    Nat,
    Param,
    Record,
    Scope,
    Sort,
    invariant,
    refuse,
    require,
    step_property,
    transition,
)


class Worker(Sort):
    """Somebody who may hold the lease."""


class Lease(Record):
    holder: Worker
    token: Nat
    until: Nat


class LeaseManager(Machine):
    clock: Clock = Clock(tick=1.0)
    lease: Lease | None = None
    next_token: Nat = 1
    ttl: Param[Nat] = 2

    def _expired(self) -> bool:
        return self.lease is None or self.clock.now >= self.lease.until

    def _is_holder(self, who: Worker, token: Nat) -> bool:
        return self.lease is not None and self.lease.holder == who and self.lease.token == token

    @transition
    def acquire(self, who: Worker) -> Lease:
        require(self._expired(), "held by somebody")
        self.lease = Lease(holder=who, token=self.next_token, until=self.clock.now + self.ttl)
        self.next_token += 1
        return self.lease

    @transition
    def renew(self, who: Worker, token: Nat) -> Lease:
        if not self._is_holder(who, token):
            refuse("not the holder")
        require(not self._expired(), "too late")
        assert self.lease is not None
        self.lease = replace(self.lease, until=self.clock.now + self.ttl)
        return self.lease

    @transition
    def release(self, who: Worker, token: Nat) -> None:
        require(self._is_holder(who, token), "not the holder")
        self.lease = None

    @invariant
    def token_was_given(self) -> bool:
        return self.lease is None or self.lease.token < self.next_token

    @step_property
    def tokens_grow(self, after: "LeaseManager") -> bool:
        if self.lease is None or after.lease is None:
            return True
        return after.lease.token >= self.lease.token

    scope = Scope(Worker=2, Nat=range(5), clock=4)
