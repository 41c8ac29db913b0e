"""Parallel read-only transactions: one transaction and its callers, who judge what becomes of it.

Source as in `declaration.py`. A service sees the stage of a `Transaction`, and answers its client
by that. The machine here has the threads that call it, under a clock, and takes notes: whether a
thread executes it, since when, and what its client is told. After each event it compares the stage
with the notes, so that a wrong answer is noticed.
"""

from lawful import Clock, Machine, Nat, Scope, can, invariant, reachable, terminal, transition

from .in_time import TransactionInTime
from .transaction import Stage


class TransactionCalled(Machine):
    """`runs`: a thread executes it, `since` that time; `told`: what its client is answered."""

    clock: Clock = Clock()
    trx: TransactionInTime = TransactionInTime(max_read_only_transaction_time=2)
    runs: bool = False
    since: Nat = 0
    told: Stage | None = None

    @transition()
    def take(self) -> None:
        self.trx.take()
        self.runs = True
        self.since = self.clock.now

    @transition()
    def finish(self) -> None:
        """Its result is the answer [seed:140-147] (L14)."""
        self.trx.finish()
        self.runs = False
        self.told = Stage.ANSWERED

    @transition()
    def exceed(self) -> None:
        """It is invalid, after just the time that it may take [seed:157] (L21)."""
        self.trx.exceed()
        assert self.clock.now - self.since == self.trx.max_read_only_transaction_time
        self.runs = False
        self.told = Stage.INVALID

    @transition()
    def put_back(self) -> None:
        """It is not answered, and another attempt has all the time again [seed:148] (L15)."""
        self.trx.put_back()
        self.runs = False

    @transition()
    def abandon(self) -> None:
        """The node shuts down (S11)."""
        self.trx.abandon()
        self.runs = False
        self.told = Stage.ABANDONED

    @terminal
    def answered(self) -> bool:
        return self.told is not None

    @invariant
    def its_stage_is_what_became_of_it(self) -> bool:
        """What a client is told, until then whether a thread executes it (L13, L14, L15, L21)."""
        if self.told is not None:
            return self.trx.state == self.told
        return self.trx.state == (Stage.RUNNING if self.runs else Stage.QUEUED)

    @invariant
    def is_taken_and_ends_once(self) -> bool:
        """A thread takes what waits, and ends what it executes; the node abandons either. What is
        answered stays so (L14, L15, S11)."""
        waits = self.told is None
        return (
            can(self.trx.take) == (waits and not self.runs)
            and can(self.trx.finish) == (waits and self.runs)
            and can(self.trx.put_back) == (waits and self.runs)
            and can(self.trx.abandon) == waits
        )

    @invariant
    def executes_no_longer_than_allowed(self) -> bool:
        """(L21)"""
        limit = self.trx.max_read_only_transaction_time
        return not self.runs or self.clock.now - self.since <= limit

    @reachable
    def another_attempt_exceeds(self) -> bool:
        return self.told == Stage.INVALID and self.since > 1

    scope = Scope(Nat=range(0, 6), answers=range(0, 4), clock=range(0, 6))
