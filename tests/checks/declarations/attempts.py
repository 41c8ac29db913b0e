"""A machine with a clock and parameters: how often one read-only transaction is put back.

A transaction is taken at any moment of the read-only window in which
its turn comes. If that window's end stops it, it is first in the next window, and a thread takes it
at most `latency` after that began. `AttemptsFixed` has windows that are
long enough for that, `AttemptsAsSeed` has not.

Abstractions. Other transactions only delay this one; the read-write windows in between have no
length. The unit of all times is the tick of the clock. What is due at the same tick happens in any
order, so that equality is not enough. The first window may also end before the transaction's turn
has come.
"""

from lawful import (
    Clock,
    Expect,
    Ghost,
    Machine,
    Nat,
    Param,
    Scope,
    State,
    Timer,
    assume,
    implies,
    invariant,
    reachable,
    recoverable,
    require,
    terminal,
    transition,
)


class Turn(State):
    """The state of a read-only transaction and of its window."""

    QUEUED = "read-write window"
    NEXT = "read-only window, not yet taken"
    RUNNING = "read-only window, executed"
    ANSWERED = "answered"
    INVALID = "answered: took too long"


class Attempts(Machine, abstract=True):
    """One read-only transaction in the windows of a node."""

    state: Turn = Turn.QUEUED
    clock: Clock = Clock()
    opened: Nat = 0
    window: Timer = Timer(urgent=True)
    limit: Timer = Timer(urgent=True)
    start: Timer = Timer(urgent=True)
    put_back: Nat = 0
    taken: Ghost[Nat] = 0

    read_only_window_time: Param[Nat] = 200
    read_only_window_margin: Param[Nat] = 5
    max_read_only_transaction_time: Param[Nat] = 150
    latency: Param[Nat] = 10

    @transition(source=Turn.QUEUED, target=Turn.NEXT)
    def begin(self) -> None:
        """A read-only window begins; a transaction that was put back is first in it."""
        self.opened = self.clock.now
        self.window.start(self.read_only_window_time)
        if self.put_back > 0:
            self.start.start(self.latency)

    @transition(source=Turn.NEXT, target=Turn.RUNNING)
    def take(self) -> None:
        """Not if less than the margin remains."""
        passed = self.clock.now - self.opened
        left = self.read_only_window_time - passed
        require(left >= self.read_only_window_margin, "less than the margin remains")
        self.start.stop()
        self.limit.start(self.max_read_only_transaction_time)
        self.taken = self.clock.now

    @transition(source=Turn.NEXT, target=Turn.QUEUED, timer="window")
    def wait_for_another(self) -> None:
        """Its turn does not come in this window."""
        self.start.stop()

    @transition(source=Turn.RUNNING, target=Turn.ANSWERED)
    def finish(self) -> None:
        """It takes any amount of time."""
        self.window.stop()
        self.limit.stop()

    @transition(source=Turn.RUNNING, target=Turn.INVALID, timer="limit")
    def exceed(self) -> None:
        """It has taken longer than allowed."""
        self.window.stop()

    @transition(source=Turn.RUNNING, target=Turn.QUEUED, timer="window")
    def cut(self) -> None:
        """The window's deadline comes first: put it back."""
        self.limit.stop()
        self.put_back += 1

    @terminal
    def answered(self) -> bool:
        return self.state in (Turn.ANSWERED, Turn.INVALID)

    @invariant
    def put_back_at_most_once(self) -> bool:
        """In the next window it has all the time that it may take."""
        return self.put_back <= 1

    @invariant
    def who_was_put_back_goes_first(self) -> bool:
        """A thread takes it at most `latency` after the window began."""
        waits = implies(self.state == Turn.NEXT, self.start.armed)
        soon = implies(self.state == Turn.RUNNING, self.taken <= self.opened + self.latency)
        return implies(self.put_back > 0, waits and soon)

    @recoverable
    def can_be_answered(self) -> bool:
        return self.state in (Turn.ANSWERED, Turn.INVALID)

    @reachable
    def answered_in_the_next_window(self) -> bool:
        return self.state == Turn.ANSWERED and self.put_back == 1

    @reachable
    def too_long_in_the_next_window(self) -> bool:
        return self.state == Turn.INVALID and self.put_back == 1


class AttemptsFixed(Attempts):
    """The window is longer than a transaction that is started late may take."""

    @assume
    def window_holds_what_starts_late(self) -> bool:
        """Longer than `max-read-only-transaction-time` and the latency together."""
        longest = self.max_read_only_transaction_time + self.latency
        return self.read_only_window_time > longest

    @assume
    def margin_leaves_time(self) -> bool:
        """Otherwise a late transaction is never started."""
        return self.read_only_window_margin + self.latency <= self.read_only_window_time

    scope = Scope(
        Nat=range(0, 12),
        clock=range(0, 12),
        read_only_window_time=(3, 4),
        read_only_window_margin=(1,),
        max_read_only_transaction_time=(2, 3),
        latency=(0, 1),
    )


class AttemptsAsSeed(Attempts):
    """A window as long as a transaction may be is long enough."""

    @assume
    def window_holds_a_transaction(self) -> bool:
        """Equal or greater; that threads are not there at once is not thought of."""
        return self.read_only_window_time >= self.max_read_only_transaction_time

    scope = Scope(
        Nat=range(0, 12),
        clock=range(0, 12),
        read_only_window_time=(2, 3),
        read_only_window_margin=(1,),
        max_read_only_transaction_time=(2, 3),
        latency=(1,),
    )
    expects = Expect(put_back_at_most_once=("violated", 10))
