"""Parallel read-only transactions, composed: a node with its window, its threads and its clients.

Source: `read-only-transactions.md`, as in `declaration.py`. Whoever sends a read-only transaction
waits for its answer, and may then send another; so does whoever sends a write, which stands for
what the main thread may execute in a read-write window only: an RPC that is no `get_`, a signed
block, a packed transaction (L4). Both keep on coming for ever. `requests.py` has the way of each
kind of request through the node's threads.

Abstractions, confessed. Each step is atomic, as under the queue's mutex, or as one task of the main
thread: these steps are in `steps.py`, and here is what holds of them. What the document calls time
is here what there is time for. A read-write window is long enough for one task of the main thread,
so that it ends by its time only after a write, if any is held. `NodeFixed` has the window that
`timing.py` asks for: whoever is started before each thread had its first turn in a window reaches
the end of its own time before the window does; that first turn comes before the margin, too. In
`NodeAsSeed` any timer may run out at any moment. Nobody shuts the node down, and no block ends a
window: the document knows of neither.

The properties are what the windows are for: no write meets a transaction (L7, L22), each
transaction is answered once (L14, L15), writes keep their order (L11), everybody's turn comes.
"""

from lawful import (
    Fairness,
    Ghost,
    Nat,
    Scope,
    Strong,
    Weak,
    can,
    implies,
    invariant,
    leads_to,
    reachable,
    require,
    step_property,
    transition,
)

from .declaration import Phase, Task, Window, WindowFixed
from .steps import Steps, Trx, Write
from .transaction import Stage

GROUPS = (
    Weak("execute"),
    Weak("rest"),
    Weak("begin"),
    Weak("drain"),
    Weak("run_out"),
    Weak("take", each=("thread",)),
    Weak("finish", "exceed", "put_back", each=("thread",)),
    Weak("leave", each=("thread",)),
)


class Node(Steps, abstract=True):
    """What the windows are for."""

    # Safety.

    @invariant
    def nothing_is_lost(self) -> bool:
        """Whoever is not answered is in the queue, once, or executed, by one thread (L14, L15)."""
        if self.window.read_only_transaction_num_threads == 0:
            return True
        return all(
            self.queue.count(t) == (1 if trx.state == Stage.QUEUED else 0)
            and any(r == t for r in self.runs.values()) == (trx.state == Stage.RUNNING)
            for t, trx in self.trx.items()
        )

    @invariant
    def nothing_is_executed_twice(self) -> bool:
        """Whatever is queued or executed was sent, and no two threads execute the same."""
        return (
            all(t in self.trx for t in self.queue)
            and all(t in self.trx for t in self.runs.values())
            and all(v == w or self.runs[v] != self.runs[w] for v in self.runs for w in self.runs)
        )

    @invariant
    def runs_in_read_only_windows(self) -> bool:
        """With threads, transactions are executed in read-only windows only (L7, L13)."""
        return implies(self.window.state == Phase.WRITE, self.runs == {})

    @invariant
    def threads_execute_what_they_took(self) -> bool:
        return all(
            (task == Task.EXECUTING) == (w in self.runs) for w, task in self.window.tasks.items()
        ) and all(w in self.window.tasks for w in self.runs)

    @invariant
    def queue_is_counted(self) -> bool:
        return self.window.queued == len(self.queue)

    @step_property
    def writes_and_transactions_exclude_each_other(self, after: "Node") -> bool:
        """No write is executed while a transaction is (L7, L22, L23)."""
        return implies(len(after.order) < len(self.order), self.runs == {})

    @step_property
    def writes_keep_their_order(self, after: "Node") -> bool:
        """They are executed in the order in which they were sent (L11, L-B3)."""
        return implies(len(after.order) < len(self.order), after.order == self.order[1:])

    @step_property
    def put_back_at_most_once(self, after: "Node") -> bool:
        """Whoever was put back is answered in the next window (L15, L-B5, L-B7)."""
        return all(
            implies(t in self.again, t not in after.queue or t in self.queue) for t in self.trx
        )

    @step_property
    def every_window_answers(self, after: "Node") -> bool:
        """No read-only window passes without an answer: something goes on (L-B8)."""
        ends = self.window.state != Phase.WRITE and after.window.state == Phase.WRITE
        return implies(ends, self.answered)

    # Liveness.

    @leads_to
    def answered_in_the_end(self, t: Trx) -> tuple[bool, bool]:
        """(L1, L13)"""
        return t in self.trx, t in self.trx and self.is_answered(t)

    @leads_to
    def executed_in_the_end(self, w: Write) -> tuple[bool, bool]:
        """(L11)"""
        return w in self.order, w not in self.order

    @leads_to
    def read_only_windows_end(self) -> tuple[bool, bool]:
        """(L10)"""
        return self.window.state != Phase.WRITE, self.window.state == Phase.WRITE

    @leads_to
    def who_waits_gets_a_window(self) -> tuple[bool, bool]:
        """(L9)"""
        waits = self.window.state == Phase.WRITE and self.queue != []
        return waits, self.window.state == Phase.READ

    # Reachability.

    @reachable
    def ends_before_its_time(self) -> bool:
        done = all(task == Task.DONE for task in self.window.tasks.values())
        return self.window.state == Phase.DRAINING and done and self.window.window.armed

    @reachable
    def finishes_in_the_next_window(self) -> bool:
        return any(t in self.again and can(self.finish, w) for w, t in self.runs.items())

    @reachable
    def get_while_transactions_run(self) -> bool:
        return self.runs != {} and can(self.get)

    @reachable
    def get_overtakes_a_write(self) -> bool:
        """By design: it reads what was before the write that its own client sent first (L-B9)."""
        return self.order != [] and not can(self.execute) and can(self.get)

    fairness = Fairness(*GROUPS, Weak("end"))
    scope = Scope(
        Nat=range(0, 4),
        Trx=2,
        Write=2,
        queue=2,
        main=2,
        order=2,
    )


class NodeFixed(Node):
    """Has its time in each window, and who was put back goes first: everything holds."""

    window: Window = WindowFixed(
        read_only_transaction_num_threads=2, read_only_transaction_threshold=2
    )
    settled: bool = True
    asked: set[Nat] = set()
    early: set[Nat] = set()
    turns: Ghost[dict[Trx, Nat]] = {}

    def begun(self) -> None:
        super().begun()
        self.settled = False

    @transition()
    def take(self, thread: Nat) -> None:
        super().take(thread)
        if not self.settled:
            self.asked.add(thread)
            self.early.add(thread)
        if self.runs[thread] in self.turns:
            spared = self.turns.pop(self.runs[thread])
            for t in self.turns:
                if self.turns[t] == thread:
                    self.turns[t] = spared

    @transition()
    def put_back(self, thread: Nat) -> None:
        """In the next window a thread has its first turn for each that was put back: this one, or
        another that has not had it yet when this one takes somebody else."""
        require(thread in self.runs, "executes nothing")
        self.turns[self.runs[thread]] = thread
        super().put_back(thread)

    def leave_answered(self, thread: Nat) -> None:
        super().leave_answered(thread)
        self.early.discard(thread)

    @invariant
    def main_keeps_the_order(self) -> bool:
        """What was posted is what is not executed, in the same order (L11)."""
        return len(self.main) == len(self.order) and all(
            self.main[i] == self.order[i] for i in range(len(self.order))
        )

    @invariant
    def someone_is_first(self) -> bool:
        """A window begins with a transaction; who took it executes it still, or has answered."""
        if self.window.state == Phase.WRITE:
            return self.settled
        if not self.settled and self.asked == set():
            return self.window.state == Phase.READ and self.queue != []
        return self.early != set() or self.answered

    @invariant
    def time_is_left_to_the_first(self) -> bool:
        """Who is early executes; the latency is over before anything else is."""
        return (
            all(w in self.runs for w in self.early)
            and implies(self.window.state == Phase.OVER, self.settled and self.early == set())
            and implies(self.settled, self.asked == set())
        )

    @invariant
    def who_was_put_back_goes_first(self) -> bool:
        """Is before all others in the queue, or was taken early (L15, L-B7)."""
        return (
            all(t in self.queue and t in self.again for t in self.turns)
            and all(t in self.turns or t in self.runs.values() for t in self.again)
            and all(
                implies(self.queue[i] in self.turns, self.queue[i - 1] in self.turns)
                for i in range(1, len(self.queue))
            )
            and all(w in self.early for w, t in self.runs.items() if t in self.again)
        )

    @invariant
    def each_has_a_turn_of_its_own(self) -> bool:
        """As many are stopped by a window's end as there are threads, and all of these begin in
        the next one while the latency lasts (L-B5)."""
        threads = range(self.window.read_only_transaction_num_threads)
        late = self.settled and self.window.state in (Phase.READ, Phase.DRAINING)
        over = self.window.state == Phase.OVER
        return implies(late, self.turns == {}) and all(
            w in threads
            and w not in self.asked
            and not (over and w in self.runs)
            and all(t == u or w != v for u, v in self.turns.items())
            for t, w in self.turns.items()
        )

    @transition()
    def settle(self) -> None:
        """The latency is over: each thread has asked once, or there was nothing to ask for."""
        require(not self.settled, "it is over")
        threads = range(self.window.read_only_transaction_num_threads)
        require(self.queue == [] or all(w in self.asked for w in threads), "a thread is slow")
        self.settled = True
        self.asked.clear()

    @transition()
    def stop_starting(self) -> None:
        """The margin, too, is longer than the latency (L-B8)."""
        require(self.settled, "the window has just begun")
        super().stop_starting()

    @transition()
    def run_out(self) -> None:
        """Longer than the latency and the time of a transaction (L18, L-B5)."""
        require(self.settled, "the window has just begun")
        require(self.early == set(), "has time until its own limit")
        super().run_out()

    @transition()
    def end(self) -> None:
        super().end()
        self.settled = True
        self.asked.clear()

    @reachable
    def all_threads_are_busy(self) -> bool:
        """More transactions than threads (L24)."""
        return all(w in self.runs for w in self.window.tasks) and self.queue != []

    @reachable
    def many_do_not_wait_for_the_windows_end(self) -> bool:
        return can(self.begin_early)

    @reachable
    def served_as_they_come(self) -> bool:
        """In one window some are answered, some are executed, and more wait (L13, L24)."""
        return self.answered and self.runs != {} and self.queue != []

    fairness = Fairness(*GROUPS, Weak("end"), Strong("settle"))

    large = Scope(Trx=3, queue=3)
