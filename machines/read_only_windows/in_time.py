"""Parallel read-only transactions, composed, in time: how long windows last, and what ends when.

Source as in `declaration.py`. The node of `system.py`, with the window and the transactions that a
service embeds, under a clock. The unit of all times is the tick. What is due at the same tick
happens in any order, so that equality is not enough.

What is assumed of the threads: each asks for its first transaction at most `latency` after a
read-only window begins; a thread that executes a transaction looks up after each slice of its work,
at the latest after `slice_time`, and then leaves if the window is over or the node shuts down; the
main thread sees at once that the last task is done. The document mentions no such times.

`NodeTight` has a window as long as a transaction may be, which the document allows [seed:154]
(L-B5); `NodeNarrow` a margin that reaches to the window's start (L-B8).

Abstractions. Time ends with the scope, after about two read-only windows; so liveness is shown by
`NodeFixed`, and here how late something may be.
"""

from lawful import (
    Clock,
    Expect,
    Ghost,
    Nat,
    Param,
    Scope,
    Timer,
    assume,
    can,
    drop,
    implies,
    initial,
    invariant,
    reachable,
    require,
    step_property,
    transition,
)

from .declaration import READ_ONLY, Phase, WindowFixed
from .steps import Trx
from .system import Node
from .transaction import Transaction


class WindowInTime(WindowFixed):
    """The window that a service embeds; no time passes while one of its timers is due."""

    clock: Clock = Clock()
    margin: Timer = Timer(urgent=True)
    window: Timer = Timer(urgent=True)
    began: Ghost[Nat] = 0

    @initial
    def start(self) -> None:
        super().start()
        self.began = self.clock.now

    @transition()
    def begin(self) -> Nat:
        self.began = self.clock.now
        return super().begin()

    @transition()
    def begin_early(self) -> Nat:
        self.began = self.clock.now
        return super().begin_early()

    @transition()
    def prolong(self) -> None:
        super().prolong()
        self.began = self.clock.now

    @transition()
    def end(self) -> None:
        super().end()
        self.began = self.clock.now

    def passed(self) -> int:
        """The time since the present window began."""
        return self.clock.now - self.began

    @invariant
    def windows_last_as_configured(self) -> bool:
        """Each ends when its time is over, and the margin begins before (L8, L17, L18, L20)."""
        pool = self.read_only_transaction_num_threads > 0
        left = self.read_only_window_time - self.read_only_window_margin
        return (
            implies(
                pool and self.state == Phase.WRITE, self.passed() <= self.read_write_window_time
            )
            and implies(self.state == Phase.READ, self.passed() <= left)
            and implies(self.state == Phase.DRAINING, self.passed() <= self.read_only_window_time)
        )

    @invariant
    def time_ends_a_read_write_window(self) -> bool:
        """In one way, when it is over (L9, L17, L-B12)."""
        timed = self.state == Phase.WRITE and self.read_only_transaction_num_threads > 0
        over = self.passed() >= self.read_write_window_time
        return implies(timed and over, can(self.begin) != can(self.prolong))

    @step_property
    def begins_by_time_or_threshold(self, after: "WindowInTime") -> bool:
        """The read-write window has had its time, or the threshold is reached (L9, L17, L19)."""
        begins = self.state == Phase.WRITE and after.state == Phase.READ
        many = self.queued >= self.read_only_transaction_threshold > 0
        return implies(begins, many or self.passed() >= self.read_write_window_time)

    @step_property
    def stops_by_margin_or_empty_queue(self, after: "WindowInTime") -> bool:
        """Transactions are started until the margin, unless there is nothing to do (L10, L20)."""
        stops = self.state == Phase.READ and after.state == Phase.DRAINING
        left = self.read_only_window_time - self.read_only_window_margin
        nothing = self.queued == 0 and self.busy == set()
        return implies(stops, nothing or self.passed() >= left)

    @step_property
    def runs_out_in_time(self, after: "WindowInTime") -> bool:
        """No transaction is put back before the window's end (L15, L18)."""
        ends = self.state != Phase.OVER and after.state == Phase.OVER
        return implies(ends, self.passed() >= self.read_only_window_time)

    @step_property
    def begins_again_in_time(self, after: "WindowInTime") -> bool:
        """Only a read-write window begins again, and that after its time (L17, L-B12)."""
        again = self.state == after.state and after.began != self.began
        late = self.passed() >= self.read_write_window_time
        return implies(again, self.state == Phase.WRITE and late)

    scope = Scope(
        Nat=range(0, 3),
        unanswered=range(0, 4),
        clock=range(0, 15),
        began=range(0, 15),
        read_only_transaction_num_threads=(1,),
        read_only_transaction_threshold=(0, 1),
        read_write_window_time=(3,),
        read_only_window_time=(7,),
        read_only_window_margin=(2,),
        max_read_only_transaction_time=(4,),
        latency=(1,),
    )


class TransactionInTime(Transaction):
    """The transaction that a service embeds; its own time ends when it is due."""

    clock: Clock = Clock()
    limit: Timer = Timer(urgent=True)


class NodeInTime(Node):
    """A node whose windows have enough time: everything holds."""

    clock: Clock = Clock()
    window: WindowInTime = (  # pyright: ignore[reportIncompatibleVariableOverride]  # is read-only
        WindowInTime(
            read_only_transaction_num_threads=2,
            read_only_transaction_threshold=2,
            read_write_window_time=1,
            read_only_window_time=3,
            read_only_window_margin=1,
            max_read_only_transaction_time=1,
            latency=1,
        )
    )
    trx: dict[Trx, TransactionInTime] = {}  # type: ignore[assignment]  # holds no other
    late: Timer = Timer(urgent=True)
    asked: set[Nat] = set()
    slice: Timer = Timer(urgent=True)
    done: Timer = Timer(urgent=True)
    told: Ghost[Nat] = 0
    ready: Ghost[Nat] = 0

    slice_time: Param[Nat] = 1

    def admit(self, t: Trx) -> None:
        limit = self.window.max_read_only_transaction_time
        self.trx[t] = TransactionInTime(max_read_only_transaction_time=limit)

    def begun(self, tasks: Nat) -> None:
        super().begun(tasks)
        self.late.start(self.window.latency)
        self.ready = 0

    @transition()
    def take(self, thread: Nat) -> None:
        super().take(thread)
        if self.late.armed:
            self.asked.add(thread)

    @transition(timer="late")
    def settle(self) -> None:
        """Each thread has asked once, or has found nothing to take."""
        nothing = self.queue == [] or self.window.state != Phase.READ
        require(nothing or all(w in self.asked for w in self.posted), "a thread asks first")
        self.asked.clear()

    @transition()
    def run_out(self) -> None:
        super().run_out()
        self.look_up()

    def look_up(self) -> None:
        self.slice.start(self.slice_time)

    @transition(timer="slice")
    def sliced(self) -> None:
        """Each thread has seen that the window is over, or that the node shuts down."""
        require(self.posted == set(), "a thread looks up first")

    @transition()
    def leave(self, thread: Nat) -> None:
        super().leave(thread)
        if self.posted == set():
            self.done.start(0)

    @transition(timer="done")
    def end(self) -> None:
        super().end()
        self.rested()

    @transition(timer="done")
    def stop(self) -> None:
        super().stop()
        self.rested()
        self.told = 0

    def rested(self) -> None:
        self.slice.stop()
        self.late.stop()
        self.asked.clear()

    @transition()
    def shut_down(self) -> None:
        super().shut_down()
        self.ready = 0
        self.told = self.clock.now if self.window.state == Phase.STOPPING else 0
        if self.posted != set():
            self.look_up()

    # Who waits for a read-only window, while writes have had their turn.

    def is_ready(self) -> bool:
        return self.window.state == Phase.WRITE and self.queue != [] and self.turned

    @transition()
    def arrive(self, t: Trx) -> None:
        self.ready = self.ready if self.is_ready() else self.clock.now
        super().arrive(t)
        self.ready = self.ready if self.is_ready() else 0

    @transition()
    def execute(self) -> None:
        self.ready = self.ready if self.is_ready() else self.clock.now
        super().execute()
        self.ready = self.ready if self.is_ready() else 0

    @transition()
    def rest(self) -> None:
        self.ready = self.ready if self.is_ready() else self.clock.now
        super().rest()
        self.ready = self.ready if self.is_ready() else 0

    # How long.

    @invariant
    def who_is_ready_waits_for_one_window(self) -> bool:
        """A queued transaction waits for at most a read-write window, once the writes have had
        their turn (L9, L17, L-B12)."""
        waits = self.clock.now - self.ready
        return implies(self.is_ready(), waits <= self.window.read_write_window_time)

    @invariant
    def read_only_windows_end_in_time(self) -> bool:
        """After the time of the window and the longest slice (L10, L18)."""
        longest = self.window.read_only_window_time + self.slice_time
        return implies(self.window.state in READ_ONLY, self.window.passed() <= longest)

    @invariant
    def shutdown_ends_in_time(self) -> bool:
        """After the longest slice (S11)."""
        closing = self.window.state == Phase.STOPPING
        return implies(closing, self.clock.now - self.told <= self.slice_time)

    @step_property
    def started_with_the_margin(self, after: "NodeInTime") -> bool:
        """Transactions start while the margin, at least, remains (L20)."""
        started = any(w not in self.runs for w in after.runs)
        left = self.window.read_only_window_time - self.window.passed()
        return implies(started, left >= self.window.read_only_window_margin)

    @step_property
    def execution_is_limited(self, after: "NodeInTime") -> bool:
        """A transaction that is put back was stopped by the window, not by its own time (L15,
        L21)."""
        back = any(t in after.queue and t not in self.queue for t in self.runs.values())
        return implies(back, self.window.passed() >= self.window.read_only_window_time)

    @reachable
    def ends_as_late_as_allowed(self) -> bool:
        longest = self.window.read_only_window_time + self.slice_time
        return self.window.state == Phase.OVER and self.window.passed() == longest

    not_here = drop("answered_in_the_end")
    nor_this = drop("executed_in_the_end")
    nor_windows = drop("read_only_windows_end")
    nor_waiting = drop("who_waits_gets_a_window")
    nor_the_end = drop("shutdown_ends")
    scope = Scope(Nat=range(0, 8), Trx=2, Write=1, queue=2, main=1, order=1, clock=range(0, 8))
    large = Scope(Nat=range(0, 14), clock=range(0, 14))


class WindowTight(WindowInTime):
    """A window as long as a transaction may be is long enough [seed:154] (L-B5)."""

    @assume
    def window_holds_what_starts_late(self) -> bool:
        """Equal or greater (L18); that threads are not there at once is not thought of."""
        return self.read_only_window_time >= self.max_read_only_transaction_time


class NodeTight(NodeInTime):
    """One thread, one transaction that needs all the time it may take: it is stopped in each
    window."""

    window: WindowInTime = WindowTight(
        read_only_transaction_num_threads=1,
        read_write_window_time=1,
        read_only_window_time=2,
        read_only_window_margin=0,
        max_read_only_transaction_time=2,
        latency=1,
    )

    times: Ghost[Nat] = 0

    @transition()
    def put_back(self, thread: Nat) -> None:
        super().put_back(thread)
        self.times += 1

    @reachable
    def put_back_a_third_time(self) -> bool:
        """And so on: nothing differs from one window to the next (`NodeShort` has it for ever)."""
        return self.times == 3

    scope = Scope(Nat=range(0, 10), Trx=1, Write=1, queue=1, main=1, order=1, clock=range(0, 10))
    expects = Expect(
        put_back_at_most_once=("violated", 23),
        every_window_answers=("violated", 13),
    )


class WindowNarrow(WindowInTime):
    """The document does not say how long the margin may be [seed:156] (L-B8)."""

    @assume
    def margin_leaves_time(self) -> bool:
        return self.read_only_window_margin >= 0


class NodeNarrow(NodeInTime):
    """The margin is as long as the window: no transaction starts, unless at the very first
    tick."""

    window: WindowInTime = WindowNarrow(
        read_only_transaction_num_threads=1,
        read_write_window_time=1,
        read_only_window_time=3,
        read_only_window_margin=3,
        max_read_only_transaction_time=1,
        latency=1,
    )
    never_started = drop("finishes_in_the_next_window")
    scope = Scope(Nat=range(0, 6), Trx=1, Write=1, queue=1, main=1, order=1, clock=range(0, 6))
    expects = Expect(every_window_answers=("violated", 7))
