"""Parallel read-only transactions: the pool's threads, and the shutdown of the node (S11, L-B10).

Source: `read-only-transactions.md` has one mutex, for the queue [seed:148] (L15); threads that find
the queue empty wait while others are busy (L-B6). The document does not say how they end. Here a
thread looks whether there is anything to do, or whether the node shuts down, and begins to wait in
the same hold of the mutex. The shutdown is announced in one hold of the mutex, and then waits for
the threads without it.

`PoolTorn` announces the shutdown without the mutex: a thread that has looked, and does not wait
yet, is not woken, and waits for ever (L-B10). `PoolHeld` waits for the threads while it holds the
mutex, which they need.

Abstractions. A thread waits for one condition, that a transaction arrives or the node shuts down,
and each notification wakes all. The effect of windows is left out: a pool is open, or it closes.
Transactions are counted; those queued when the pool closes are answered with an error.
"""

from lawful import (
    Expect,
    Fairness,
    Machine,
    Nat,
    Param,
    Scope,
    Sort,
    State,
    Weak,
    implies,
    invariant,
    leads_to,
    reachable,
    require,
    terminal,
    total,
    transition,
)


class Thread(Sort):
    """A thread of the pool."""


class Stand(State):
    """How far a thread is."""

    AWAKE = "asks for the mutex"
    LOOKING = "has the mutex, and looks what there is"
    EMPTY = "has the mutex, and has found nothing"
    WAITING = "waits until it is notified"
    EXECUTING = "executes a transaction"
    EXITED = "has come to its end"


class Service(State):
    """The service that the pool as a whole gives."""

    OPEN = "executes transactions"
    CLOSING = "is to end"
    CLOSED = "all threads have come to their end"


class Pool(Machine, abstract=True):
    """Threads that share one queue, one mutex and one condition."""

    state: Service = Service.OPEN
    threads: dict[Thread, Stand] = total(Stand.AWAKE)
    queued: Nat = 0

    most: Param[Nat] = 2

    def free(self) -> bool:
        """Whether no thread holds the mutex."""
        return all(s not in (Stand.LOOKING, Stand.EMPTY) for s in self.threads.values())

    def notify(self) -> None:
        for w in Thread:
            if self.threads[w] == Stand.WAITING:
                self.threads[w] = Stand.AWAKE

    @transition(source=Service.OPEN)
    def arrive(self) -> None:
        """A transaction is queued [seed:117-123] (L12, L15)."""
        require(self.free(), "a thread has the mutex")
        require(self.queued < self.most, "enough is queued")
        self.queued += 1
        self.notify()

    @transition(source=Stand.AWAKE, target=Stand.LOOKING, of="threads[w]")
    def look(self, w: Thread) -> None:
        require(self.free(), "a thread has the mutex")

    @transition(source=Stand.LOOKING, target=Stand.EXECUTING, of="threads[w]")
    def take(self, w: Thread) -> None:
        """The next transaction [seed:129-132] (L13)."""
        require(self.state == Service.OPEN, "the pool is to end")
        require(self.queued > 0, "the queue is empty")
        self.queued -= 1

    @transition(source=Stand.EXECUTING, target=Stand.AWAKE, of="threads[w]")
    def finish(self, w: Thread) -> None: ...

    @transition(source=Stand.LOOKING, target=Stand.EMPTY, of="threads[w]")
    def find_nothing(self, w: Thread) -> None:
        """It exits only when the pool closes, so that it is available for new transactions
        (L-B6)."""
        require(self.state == Service.OPEN, "the pool is to end")
        require(self.queued == 0, "something is queued")

    @transition(source=Stand.EMPTY, target=Stand.WAITING, of="threads[w]")
    def wait(self, w: Thread) -> None:
        """The thread releases the mutex and begins to wait in one step."""

    @transition(source=Stand.LOOKING, target=Stand.EXITED, of="threads[w]")
    def leave(self, w: Thread) -> None:
        require(self.state != Service.OPEN, "the pool goes on")

    @transition(source=Service.OPEN, target=Service.CLOSING)
    def close(self) -> None:
        """The node shuts down: queued transactions are answered with an error, and all threads
        woken."""
        require(self.free(), "a thread has the mutex")
        self.queued = 0
        self.notify()

    @transition(source=Service.CLOSING, target=Service.CLOSED)
    def join(self) -> None:
        require(all(s == Stand.EXITED for s in self.threads.values()), "a thread is there")

    @terminal
    def closed(self) -> bool:
        return self.state == Service.CLOSED

    @invariant
    def one_has_the_mutex(self) -> bool:
        """No two threads look at the same time (L15)."""
        return all(
            v == w
            or self.threads[v] not in (Stand.LOOKING, Stand.EMPTY)
            or self.threads[w] not in (Stand.LOOKING, Stand.EMPTY)
            for v in Thread
            for w in Thread
        )

    @invariant
    def nobody_is_there_after_the_end(self) -> bool:
        """No transaction is executed after the pool is closed, when its queue may be gone
        (L-B10)."""
        over = all(s == Stand.EXITED for s in self.threads.values())
        return implies(self.state == Service.CLOSED, over)

    @invariant
    def what_is_queued_keeps_somebody_awake(self) -> bool:
        """Not all threads wait while a transaction is queued (L-B6, L-B10)."""
        return self.queued == 0 or any(s != Stand.WAITING for s in self.threads.values())

    @invariant
    def the_end_wakes_everybody(self) -> bool:
        """No thread waits for a notification that has already passed (S11, L-B10)."""
        return implies(
            self.state != Service.OPEN, all(s != Stand.WAITING for s in self.threads.values())
        )

    @invariant
    def nothing_is_left_behind(self) -> bool:
        """Transactions queued when the pool closes are answered with an error."""
        return implies(self.state != Service.OPEN, self.queued == 0)

    @leads_to
    def the_pool_ends(self) -> tuple[bool, bool]:
        """If the threads keep running, the pool ends (S11)."""
        return self.state == Service.CLOSING, self.state == Service.CLOSED

    @reachable
    def ends_while_a_transaction_is_executed(self) -> bool:
        return self.state == Service.CLOSING and Stand.EXECUTING in self.threads.values()

    @reachable
    def ends_while_all_wait(self) -> bool:
        return self.state == Service.OPEN and all(s == Stand.WAITING for s in self.threads.values())

    fairness = Fairness(
        Weak("look"),
        Weak("take", "find_nothing", "leave"),
        Weak("wait"),
        Weak("finish"),
        Weak("join"),
    )
    scope = Scope(Thread=2, Nat=range(0, 3))
    large = Scope(Thread=4)


class PoolFixed(Pool):
    """The repaired pool: it ends."""

    @invariant
    def who_has_found_nothing_is_right(self) -> bool:
        """Until it waits nothing arrives, and the pool is not told to end (L15)."""
        there_is_nothing = self.state == Service.OPEN and self.queued == 0
        return there_is_nothing or all(s != Stand.EMPTY for s in self.threads.values())


class PoolTorn(Pool):
    """The shutdown is announced without the mutex: a thread that has looked and found nothing waits
    for a notification that has already passed (L-B10)."""

    @transition(source=Service.OPEN, target=Service.CLOSING)
    def close(self) -> None:
        self.queued = 0
        self.notify()

    expects = Expect(
        deadlock=("violated", 6),
        the_end_wakes_everybody=("violated", 4),
        the_pool_ends=("violated", 6),
    )


class PoolHeld(Pool):
    """The shutting-down thread keeps the mutex until the other threads have ended (S11)."""

    def free(self) -> bool:
        return self.state != Service.CLOSING and super().free()

    expects = Expect(deadlock=("violated", 1), the_pool_ends=("violated", 1))
