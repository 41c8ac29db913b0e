"""Parallel read-only transactions, composed: the steps of a node.

`system.py` lists the abstractions and declares the properties.
"""

from lawful import (
    Ghost,
    Machine,
    Nat,
    Sort,
    initial,
    needed,
    require,
    transition,
)

from .declaration import OPEN, Phase, Place, Window
from .transaction import FINAL, Transaction


class Trx(Sort):
    """A client that sends a read-only transaction, and another one when that is answered."""


class Write(Sort):
    """A client that sends a write, and another one when that is executed."""


class Steps(Machine, abstract=True):
    """The window, the transactions, their queue, and the tasks of the main thread."""

    window: Window
    trx: dict[Trx, Transaction] = {}
    queue: list[Trx] = []
    posted: set[Nat] = set()
    runs: dict[Nat, Trx] = {}
    main: list[Write | None] = []
    again: set[Trx] = set()
    order: Ghost[list[Write]] = []
    turned: Ghost[bool] = False
    answered: Ghost[bool] = False

    @initial
    def start(self) -> None:
        self.window.start()

    # What arrives.

    @transition()
    def arrive(self, t: Trx) -> None:
        """A read-only transaction is sent [seed:117-123] (L7, L12, L14)."""
        require(t not in self.trx, "waits for an answer")
        self.admit(t)
        place = self.window.arrive()
        if place == Place.QUEUE:
            self.queue.append(t)
        if place == Place.NOWHERE:
            self.trx[t].abandon()

    def admit(self, t: Trx) -> None:
        limit = self.window.max_read_only_transaction_time
        self.trx[t] = Transaction(max_read_only_transaction_time=limit)

    @transition()
    def respond(self, t: Trx) -> None:
        """An http thread sends the response [seed:21-29] (L3)."""
        require(t in self.trx, "nothing is sent")
        require(self.is_answered(t), "is not answered yet")
        del self.trx[t]

    def is_answered(self, t: Trx) -> bool:
        return self.trx[t].state in FINAL

    @transition()
    def post(self, w: Write) -> None:
        """A request that may modify the state is posted to the main thread [seed:15-29] (L3,
        L6)."""
        require(self.window.state in OPEN, "the node shuts down")
        require(w not in self.main, "is not executed yet")
        self.add(w)
        self.order.append(w)

    def add(self, w: Write) -> None:
        self.main.append(w)

    # The main thread.

    @transition()
    def execute(self) -> None:
        """The first posted task, in a read-write window only (L7, L11)."""
        require(len(self.main) > 0, "nothing is posted")
        w = needed(self.main[0], "is no write")
        self.window.write()
        self.main.pop(0)
        self.order.remove(w)
        self.turned = True

    @transition()
    def rest(self) -> None:
        """There is nothing to execute."""
        require(self.main == [], "something is posted")
        self.window.nothing_held()
        self.turned = True

    @transition()
    def get(self) -> None:
        """A `get_` request, or a net one that does not modify, is served immediately, before any
        held request that was sent earlier (L7, L-B9)."""
        self.window.read()

    # The windows.

    @transition()
    def begin(self) -> None:
        """(L9, L17)"""
        self.begun(self.window.begin())

    def begun(self, tasks: Nat) -> None:
        """A task is posted to each of so many threads [seed:128] (L13)."""
        self.posted = set(range(tasks))
        self.answered = False
        self.turned = False

    @transition()
    def prolong(self) -> None:
        self.window.prolong()

    @transition()
    def begin_early(self) -> None:
        self.begun(self.window.begin_early())

    @transition()
    def drain(self) -> None:
        self.window.drain()

    @transition()
    def stop_starting(self) -> None:
        self.window.stop_starting()

    @transition()
    def run_out(self) -> None:
        self.window.run_out()

    @transition()
    def end(self) -> None:
        self.window.end()

    # The end of the node (S11).

    @transition()
    def shut_down(self) -> None:
        """What waits is answered with an error: queued transactions, and tasks of the main
        thread."""
        count = self.window.shut_down()
        assert count == len(self.queue)
        for t in self.queue:
            self.trx[t].abandon()
            self.again.discard(t)
        self.queue.clear()
        self.main.clear()
        self.order.clear()

    @transition()
    def stop(self) -> None:
        self.window.stop()

    # The read-only threads.

    @transition()
    def take(self, thread: Nat) -> None:
        """The first transaction in the queue [seed:129-132,140-147] (L13, L14)."""
        require(thread in self.posted, "has no task")
        require(len(self.queue) > 0, "the queue is empty")
        t = self.queue.pop(0)
        self.window.take(thread)
        self.trx[t].take()
        self.runs[thread] = t

    @transition()
    def finish(self, thread: Nat) -> None:
        self.window.finish(thread)
        self.trx[self.runs[thread]].finish()
        self.leave_answered(thread)

    @transition()
    def exceed(self, thread: Nat) -> None:
        """Its own time is over: it is answered, and not put back (L21)."""
        self.window.finish(thread)
        self.trx[self.runs[thread]].exceed()
        self.leave_answered(thread)

    @transition()
    def abandon(self, thread: Nat) -> None:
        """The node shuts down, which the thread sees between two slices of its work (S11)."""
        require(self.window.state == Phase.STOPPING, "the node goes on")
        self.window.finish(thread)
        self.trx[self.runs[thread]].abandon()
        self.leave_answered(thread)

    def leave_answered(self, thread: Nat) -> None:
        self.again.discard(self.runs[thread])
        del self.runs[thread]
        self.answered = True

    @transition()
    def put_back(self, thread: Nat) -> None:
        """The window's deadline came first [seed:148] (L15)."""
        require(thread in self.runs, "executes nothing")
        t = self.runs[thread]
        self.window.put_back(thread)
        self.trx[t].put_back()
        self.requeue(t)
        self.again.add(t)
        del self.runs[thread]

    def requeue(self, t: Trx) -> None:
        """At the front: it is first in the next window. The document does not say (L-B7)."""
        self.queue.insert(0, t)

    @transition()
    def leave(self, thread: Nat) -> None:
        require(thread in self.posted, "has no task")
        self.window.leave(thread)
        self.posted.remove(thread)
