"""Parallel read-only transactions: one transaction.

Source and abstractions as in `declaration.py`, whose window counts the transactions.
"""

from lawful import (
    Ghost,
    Machine,
    Nat,
    Param,
    Scope,
    State,
    Timer,
    implies,
    invariant,
    reachable,
    recoverable,
    step_property,
    terminal,
    transition,
)


class Stage(State):
    """How far a read-only transaction is."""

    QUEUED = "queued"
    RUNNING = "executed by a read-only thread"
    ANSWERED = "answered"
    INVALID = "answered: took too long"
    ABANDONED = "answered: the node shuts down"


FINAL = (Stage.ANSWERED, Stage.INVALID, Stage.ABANDONED)


class Transaction(Machine):
    """One read-only transaction, from its arrival to the single answer to its client."""

    state: Stage = Stage.QUEUED
    limit: Timer = Timer()
    answers: Ghost[Nat] = 0
    retried: Ghost[bool] = False

    max_read_only_transaction_time: Param[Nat] = 150

    @transition(source=Stage.QUEUED, target=Stage.RUNNING)
    def take(self) -> None:
        """A read-only thread processes it [seed:129] (L13)."""
        self.limit.start(self.max_read_only_transaction_time)

    @transition(source=Stage.RUNNING, target=Stage.ANSWERED)
    def finish(self) -> None:
        """Its result, or its exception, goes to `next` [seed:140-147] (L14)."""
        self.limit.stop()
        self.answers += 1

    @transition(source=Stage.RUNNING, target=Stage.INVALID, timer="limit")
    def exceed(self) -> None:
        """It has executed longer than allowed: invalid [seed:157] (L21), and not put back."""
        self.answers += 1

    @transition(source=Stage.RUNNING, target=Stage.QUEUED)
    def put_back(self) -> None:
        """The read window's deadline came first: no answer, but another attempt [seed:148]
        (L15)."""
        self.limit.stop()
        self.retried = True

    @transition(source=(Stage.QUEUED, Stage.RUNNING), target=Stage.ABANDONED)
    def abandon(self) -> None:
        """The node shuts down: the answer is an error (S11)."""
        self.limit.stop()
        self.answers += 1

    @terminal
    def answered(self) -> bool:
        return self.state in FINAL

    @invariant
    def one_answer(self) -> bool:
        """There is exactly one answer, and being put back is none."""
        return self.answers == (1 if self.state in FINAL else 0)

    @invariant
    def execution_is_limited(self) -> bool:
        """Its own timer runs exactly while it executes (L21)."""
        return self.limit.armed == (self.state == Stage.RUNNING)

    @step_property
    def answered_for_good(self, after: "Transaction") -> bool:
        final = self.state in FINAL
        return implies(final, after.state == self.state)

    @recoverable
    def can_be_answered(self) -> bool:
        return self.state in FINAL

    @reachable
    def answered_in_a_later_window(self) -> bool:
        return self.state == Stage.ANSWERED and self.retried

    scope = Scope(Nat=range(0, 2))
