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

from .declaration import Place, Window
from .transaction import Stage, Transaction


class Trx(Sort):
    """A client that sends a read-only transaction, and another one when that is answered."""


class Write(Sort):
    """A client that sends a write, and another one when that is executed."""


class Steps(Machine, abstract=True):
    """The window, the transactions, their queue, and the tasks of the main thread."""

    window: Window
    trx: dict[Trx, Transaction] = {}
    queue: list[Trx] = []
    runs: dict[Nat, Trx] = {}
    main: list[Write | None] = []
    again: set[Trx] = set()
    order: Ghost[list[Write]] = []
    answered: Ghost[bool] = False

    @initial
    def start(self) -> None:
        self.window.start()

    # What arrives.

    @transition()
    def arrive(self, t: Trx) -> None:
        """A read-only transaction is sent [seed:117-123] (L7, L12, L14)."""
        require(t not in self.trx, "waits for an answer")
        self.trx[t] = Transaction()
        if self.window.arrive() == Place.QUEUE:
            self.queue.append(t)

    @transition()
    def respond(self, t: Trx) -> None:
        """An http thread sends the response [seed:21-29] (L3)."""
        require(t in self.trx, "nothing is sent")
        require(self.is_answered(t), "is not answered yet")
        del self.trx[t]

    def is_answered(self, t: Trx) -> bool:
        return self.trx[t].state in (Stage.ANSWERED, Stage.INVALID)

    @transition()
    def post(self, w: Write) -> None:
        """A request that may modify the state is posted to the main thread [seed:15-29] (L3,
        L6)."""
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

    @transition()
    def rest(self) -> None:
        """There is nothing to execute."""
        require(self.main == [], "something is posted")
        self.window.nothing_held()

    @transition()
    def get(self) -> None:
        """A `get_` request, or a net one that does not modify, is served immediately, before any
        held request that was sent earlier (L7, L-B9)."""
        self.window.read()

    # The windows.

    def begun(self) -> None:
        self.answered = False

    @transition()
    def begin(self) -> None:
        """The read-write window was long enough for one task (L9, L17)."""
        require(self.window.caught_up, "there was time for a write")
        self.window.begin()
        self.begun()

    @transition()
    def prolong(self) -> None:
        self.window.prolong()

    @transition()
    def begin_early(self) -> None:
        self.window.begin_early()
        self.begun()

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

    # The read-only threads.

    @transition()
    def take(self, thread: Nat) -> None:
        """The first transaction in the queue [seed:129-132,140-147] (L13, L14)."""
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
        self.window.leave(thread)
