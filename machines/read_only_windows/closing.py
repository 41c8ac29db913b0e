"""Parallel read-only transactions: the mutex of the pool's threads, and how they end (S11, L-B10).

Source: `read-only-transactions.md` has one mutex, for the queue [seed:148] (L15); threads that find
the queue empty wait while others are busy (L-B6). The window is the one that a service embeds. Here
its steps are taken by threads, one after the other: a thread looks what the window allows, and
begins to wait if that is nothing, in the same hold of the mutex. The main thread changes the window
in one hold of the mutex, and wakes the threads; it waits for them without it.

`PoolTorn` shuts the node down without the mutex: a thread that has looked, and does not wait yet,
is not woken, and waits for ever (L-B10). `PoolHeld` waits for the threads while it holds the mutex,
which they need.

Abstractions. A thread waits for one condition, that the window changes or a transaction arrives,
and each notification wakes all. The main thread has no other task.
"""

from lawful import (
    Expect,
    Fairness,
    Machine,
    Nat,
    Scope,
    State,
    Strong,
    Weak,
    can,
    implies,
    initial,
    invariant,
    leads_to,
    reachable,
    require,
    transition,
)

from .declaration import Phase, Task, Window, WindowFixed


class Stand(State):
    """How far a thread is."""

    AWAKE = "asks for the mutex"
    LOOKING = "has the mutex, and looks what there is"
    EMPTY = "has the mutex, and has found nothing"
    WAITING = "waits until it is notified"
    EXECUTING = "executes a transaction"
    EXITED = "has exited its task"


HOLDING = (Stand.LOOKING, Stand.EMPTY)


class Pool(Machine, abstract=True):
    """Threads that share one window, one mutex and one condition."""

    window: Window = WindowFixed(
        read_only_transaction_num_threads=2, read_only_transaction_threshold=1
    )
    threads: dict[Nat, Stand] = {}

    @initial
    def start(self) -> None:
        self.window.start()

    def free(self) -> bool:
        """Whether no thread holds the mutex."""
        return all(s not in HOLDING for s in self.threads.values())

    def notify(self) -> None:
        self.threads = {
            w: Stand.AWAKE if s == Stand.WAITING else s for w, s in self.threads.items()
        }

    # The threads.

    @transition(source=Stand.AWAKE, target=Stand.LOOKING, of="threads[w]")
    def look(self, w: Nat) -> None:
        require(self.free(), "a thread has the mutex")

    @transition(source=Stand.LOOKING, target=Stand.EXECUTING, of="threads[w]")
    def take(self, w: Nat) -> None:
        """The next transaction [seed:129-132] (L13)."""
        self.window.take(w)

    @transition(source=Stand.LOOKING, target=Stand.EXITED, of="threads[w]")
    def leave(self, w: Nat) -> None:
        """The window ends, or the node shuts down."""
        self.window.leave(w)

    @transition(source=Stand.LOOKING, target=Stand.EMPTY, of="threads[w]")
    def find_nothing(self, w: Nat) -> None:
        """It exits only when the window ends, so that it is available for new transactions
        (L-B6)."""
        require(not can(self.window.take, w), "there is a transaction")
        require(not can(self.window.leave, w), "the window ends")

    @transition(source=Stand.EMPTY, target=Stand.WAITING, of="threads[w]")
    def wait(self, w: Nat) -> None:
        """The thread releases the mutex and begins to wait in one step."""

    @transition(source=Stand.EXECUTING, target=Stand.AWAKE, of="threads[w]")
    def finish(self, w: Nat) -> None:
        require(self.free(), "a thread has the mutex")
        self.window.finish(w)

    @transition(source=Stand.EXECUTING, target=Stand.AWAKE, of="threads[w]")
    def put_back(self, w: Nat) -> None:
        require(self.free(), "a thread has the mutex")
        self.window.put_back(w)

    # The main thread, and those that receive transactions.

    @transition()
    def arrive(self) -> None:
        """A transaction is queued [seed:117-123] (L12, L15)."""
        require(self.free(), "a thread has the mutex")
        require(self.window.queued < 2, "enough is queued")
        self.window.arrive()
        self.notify()

    @transition()
    def begin(self) -> None:
        """A task is posted to each thread [seed:128] (L13)."""
        require(self.free(), "a thread has the mutex")
        self.window.nothing_held()
        tasks = self.window.begin_early()
        self.threads = {w: Stand.AWAKE for w in range(tasks)}

    @transition()
    def drain(self) -> None:
        require(self.free(), "a thread has the mutex")
        self.window.drain()
        self.notify()

    @transition()
    def stop_starting(self) -> None:
        require(self.free(), "a thread has the mutex")
        self.window.stop_starting()
        self.notify()

    @transition()
    def run_out(self) -> None:
        require(self.free(), "a thread has the mutex")
        self.window.run_out()
        self.notify()

    @transition()
    def end(self) -> None:
        self.window.end()

    @transition()
    def shut_down(self) -> None:
        """Queued transactions are answered with an error, and all threads woken."""
        require(self.free(), "a thread has the mutex")
        self.window.shut_down()
        self.notify()

    @transition()
    def stop(self) -> None:
        self.window.stop()

    @invariant
    def one_has_the_mutex(self) -> bool:
        """No two threads look at the same time (L15)."""
        return all(
            v == w or self.threads[v] not in HOLDING or self.threads[w] not in HOLDING
            for v in self.threads
            for w in self.threads
        )

    @invariant
    def nobody_is_there_after_the_end(self) -> bool:
        """No thread is at work in a read-write window, nor after the end, when the queue may be
        gone (L7, L-B10)."""
        over = all(s == Stand.EXITED for s in self.threads.values())
        return implies(self.window.state in (Phase.WRITE, Phase.STOPPED), over)

    @invariant
    def what_is_queued_keeps_somebody_awake(self) -> bool:
        """Not all threads wait while a transaction may be started (L-B6, L-B10)."""
        waits = self.window.state == Phase.READ and self.window.queued > 0
        return implies(waits, any(s != Stand.WAITING for s in self.threads.values()))

    @invariant
    def the_end_wakes_everybody(self) -> bool:
        """No thread waits for a notification that has already passed (S11, L-B10)."""
        nobody = all(s != Stand.WAITING for s in self.threads.values())
        return implies(self.window.state != Phase.READ, nobody)

    @invariant
    def stands_as_the_window_says(self) -> bool:
        """A thread executes, or has exited, exactly when its task does or has (L13)."""
        return all(w in self.threads for w in self.window.tasks) and all(
            w in self.window.tasks
            and (self.window.tasks[w] == Task.EXECUTING) == (s == Stand.EXECUTING)
            and (self.window.tasks[w] == Task.DONE) == (s == Stand.EXITED)
            for w, s in self.threads.items()
        )

    @leads_to
    def shutdown_ends(self) -> tuple[bool, bool]:
        """If the threads keep running, the pool ends (S11)."""
        return self.window.state == Phase.STOPPING, self.window.state == Phase.STOPPED

    @leads_to
    def windows_end(self) -> tuple[bool, bool]:
        """And so does every read-only window (L10)."""
        reads = self.window.state == Phase.READ
        return reads, self.window.state in (Phase.WRITE, Phase.STOPPED)

    @reachable
    def shut_down_while_a_transaction_is_executed(self) -> bool:
        return self.window.state == Phase.STOPPING and Stand.EXECUTING in self.threads.values()

    @reachable
    def one_waits_while_another_executes(self) -> bool:
        waits = any(s == Stand.WAITING for s in self.threads.values())
        return waits and any(s == Stand.EXECUTING for s in self.threads.values())

    fairness = Fairness(
        Weak("look"),
        Weak("take", "find_nothing", "leave"),
        Weak("wait"),
        Weak("finish", "put_back"),
        Strong("stop_starting"),
        Strong("run_out"),
        Weak("end", "stop"),
    )
    scope = Scope(Nat=range(0, 5))


class PoolFixed(Pool):
    """The repaired pool: it ends."""

    @invariant
    def who_has_found_nothing_is_right(self) -> bool:
        """Until it waits nothing arrives, and the window does not end (L15)."""
        there_is_nothing = self.window.state == Phase.READ and self.window.queued == 0
        return there_is_nothing or all(s != Stand.EMPTY for s in self.threads.values())


class PoolTorn(Pool):
    """The shutdown is announced without the mutex: a thread that has looked and found nothing waits
    for a notification that has already passed (L-B10)."""

    @transition()
    def shut_down(self) -> None:
        self.window.shut_down()
        self.notify()

    expects = Expect(
        the_end_wakes_everybody=("violated", 8),
        shutdown_ends=("violated", 11),
        windows_end=("violated", 11),
    )


class PoolHeld(Pool):
    """The thread that shuts the node down keeps the mutex until the others have ended (S11)."""

    def free(self) -> bool:
        return self.window.state != Phase.STOPPING and super().free()

    expects = Expect(
        deadlock=("violated", 3),
        shutdown_ends=("violated", 3),
        windows_end=("violated", 3),
    )
