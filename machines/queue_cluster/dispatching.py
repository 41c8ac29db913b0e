"""How a queue's consumers are stopped: the threads of one node, its locks and its flag.

Source: `new-cluster-plan.org`, cited as in `declaration.py`: `Queue::dispatch`, `stopConsumers` and
`QueueOwnership::drop`, each of which is one step in `declaration.py`. Consumer threads dispatch;
the timer's thread takes the queue away from them. A dispatch may end a consumer, and so need the
lock of the ownership. `DispatchingFixed` is what `declaration.py` assumes. `DispatchingTorn` looks
at the flag and counts itself busy in two steps, as in the sketch, whose "locking" is "omitted"
(Q-B11). `DispatchingAsSeed` also keeps the lock while it waits for busy consumers (Q-B12).

Abstractions. There is one queue, which comes back whenever it was released. A thread holds the lock
for one step only, except the timer's thread where it keeps it.
"""

from lawful import (
    Expect,
    Fairness,
    Machine,
    Nat,
    Scope,
    Sort,
    State,
    Strong,
    Weak,
    invariant,
    leads_to,
    reachable,
    require,
    total,
    transition,
)


class Thread(Sort):
    """A connection's thread, which dispatches messages to consumers."""


class Queue(State):
    """The state of the queue's consumers at this node."""

    OWNED = "they run"
    STOPPING = "the timer's thread waits for those that are busy"
    RELEASED = "the release is said"


class Doing(State):
    IDLE = "is outside of dispatch"
    CHECKED = "has seen that consumers run"
    BUSY = "takes a message"
    CANCELS = "waits for the lock, to end a consumer"


class Dispatching(Machine, abstract=True):
    """The threads, the flag and the number of busy consumers."""

    state: Queue = Queue.OWNED
    doing: dict[Thread, Doing] = total(Doing.IDLE)
    consumers_stopped: bool = False
    busy: Nat = 0

    @transition(source=Doing.BUSY, target=Doing.CANCELS, of="doing[t]")
    def cancel(self, t: Thread) -> None:
        """What the message makes its client do [seed:314-317] (Q42)."""

    @transition(source=Doing.CANCELS, target=Doing.BUSY, of="doing[t]")
    def cancelled(self, t: Thread) -> None:
        """`drop()` gets the lock, and finds that the queue is given away already."""

    @transition(source=Doing.BUSY, target=Doing.IDLE, of="doing[t]")
    def end(self, t: Thread) -> None:
        """[seed:235] (Q31)."""
        self.busy -= 1

    @transition(source=Queue.OWNED, target=Queue.STOPPING)
    def drop(self) -> None:
        """The slice is over: `stopConsumers()` sets the flag [seed:222-223,263-266] (Q31, Q36)."""
        self.consumers_stopped = True

    @transition(source=Queue.STOPPING, target=Queue.RELEASED)
    def stopped(self) -> None:
        """No consumer is busy any more: `mcast release` [seed:224,267] (Q31, Q36)."""
        require(self.busy == 0, "consumers are busy")

    @transition(source=Queue.RELEASED, target=Queue.OWNED)
    def take(self) -> None:
        """[seed:227-230,270-274] (Q31, Q36)."""
        self.consumers_stopped = False

    @invariant
    def nothing_is_taken_after_the_release(self) -> bool:
        """Otherwise two nodes would deliver from one queue (Q30, Q32, Q-B11)."""
        busy = any(self.doing[t] in (Doing.BUSY, Doing.CANCELS) for t in Thread)
        return not busy or self.state != Queue.RELEASED

    @invariant
    def busy_is_counted(self) -> bool:
        return self.busy == sum(1 for t in Thread if self.doing[t] in (Doing.BUSY, Doing.CANCELS))

    @leads_to
    def the_queue_is_released(self) -> tuple[bool, bool]:
        """After its slice is over: no thread waits for ever (Q31, Q-B12)."""
        return self.state == Queue.STOPPING, self.state == Queue.RELEASED

    @reachable
    def a_consumer_ends_while_it_is_stopped(self) -> bool:
        return self.state == Queue.STOPPING and any(self.doing[t] == Doing.CANCELS for t in Thread)

    fairness = Fairness(Weak("cancelled", each=("t",)), Strong("end", each=("t",)), Weak("stopped"))

    scope = Scope(Thread=2, Nat=range(0, 3))
    large = Scope(Thread=5, Nat=range(0, 6))


class DispatchingFixed(Dispatching):
    """One step looks at the flag and counts, under one lock; waiting holds no lock."""

    @transition(source=Doing.IDLE, target=Doing.BUSY, of="doing[t]")
    def begin(self, t: Thread) -> None:
        """[seed:232-234] (Q31)."""
        require(not self.consumers_stopped, "consumers are stopped")
        self.busy += 1

    @invariant
    def the_flag_says_whether_they_run(self) -> bool:
        return self.consumers_stopped == (self.state != Queue.OWNED)

    @invariant
    def nobody_is_between(self) -> bool:
        return all(self.doing[t] != Doing.CHECKED for t in Thread)


class DispatchingTorn(Dispatching):
    """A thread looks at the flag, and then counts the consumer [seed:232-234] (Q-B11)."""

    @transition(source=Doing.IDLE, target=Doing.CHECKED, of="doing[t]")
    def check(self, t: Thread) -> None:
        require(not self.consumers_stopped, "consumers are stopped")

    @transition(source=Doing.CHECKED, target=Doing.BUSY, of="doing[t]")
    def begin(self, t: Thread) -> None:
        self.busy += 1

    expects = Expect(nothing_is_taken_after_the_release=("violated", 4))


class DispatchingAsSeed(DispatchingTorn):
    """`drop()` holds the lock while it waits [seed:222-225,263] (Q-B12)."""

    locked: bool = False

    @transition(source=Doing.CANCELS, target=Doing.BUSY, of="doing[t]")
    def cancelled(self, t: Thread) -> None:
        require(not self.locked, "the timer's thread has the lock")

    @transition(source=Queue.OWNED, target=Queue.STOPPING)
    def drop(self) -> None:
        super().drop()
        self.locked = True

    @transition(source=Queue.STOPPING, target=Queue.RELEASED)
    def stopped(self) -> None:
        super().stopped()
        self.locked = False

    expects = Expect(deadlock=("violated", 4), the_queue_is_released=("violated", 4))
