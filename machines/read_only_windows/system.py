"""Parallel read-only transactions, composed: a node with its window, its threads and its clients.

Source: `read-only-transactions.md`, as in `declaration.py`. A client that sends a read-only
transaction waits for its answer, and may then send another one. A client that sends a write does
the same; a write stands for any task that the main thread may execute only in a read-write window:
an RPC other than `get_`, a signed block, a packed transaction (L4). Clients keep sending for ever.
`requests.py` declares the path of each kind of request through the node's threads.

Abstractions. Each step is atomic, as under the queue's mutex, or as one task of the main thread.
The steps are in `steps.py`, the properties here. The window and the transactions are those that a
service embeds, and the node does what their outputs say. `NodeFixed` has no clock, so that every
behaviour can be followed for ever. Instead it says what there is time for, as the assumptions of
`WindowFixed` make it: a transaction that is started before each thread had its first turn in a
window reaches the end of its own time before the window ends; that first turn also comes before the
margin. `in_time.py` shows the same with durations. In `NodeAsSeed` any timer may run out at any
moment. The node may be shut down at any moment. No block ends a window: the document does not
mention it.

The properties state the purpose of the windows: no write is executed during a transaction (L7,
L22), each transaction is answered once (L14, L15), writes keep their order (L11), and every client
gets its turn.
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

from .declaration import OPEN, READ_ONLY, Phase, Task, Window, WindowFixed
from .steps import Steps, Trx, Write
from .transaction import Stage

GROUPS = (
    Weak("execute"),
    Weak("rest"),
    Weak("begin"),
    Weak("drain"),
    Weak("stop_starting"),
    Weak("run_out"),
    Weak("take", each=("thread",)),
    Weak("finish", "exceed", "put_back", "abandon", each=("thread",)),
    Weak("leave", each=("thread",)),
    Weak("stop"),
)


class Node(Steps, abstract=True):
    """A node with the properties that windows are for."""

    # Safety.

    @invariant
    def nothing_is_lost(self) -> bool:
        """An unanswered transaction is in the queue once, or executed by one thread (L14, L15)."""
        if self.window.read_only_transaction_num_threads == 0:
            return True
        return all(
            self.queue.count(t) == (1 if trx.state == Stage.QUEUED else 0)
            and any(r == t for r in self.runs.values()) == (trx.state == Stage.RUNNING)
            for t, trx in self.trx.items()
        )

    @invariant
    def nothing_is_executed_twice(self) -> bool:
        """Queued and executed transactions were sent, and no two threads execute the same one."""
        return (
            all(t in self.trx for t in self.queue)
            and all(t in self.trx for t in self.runs.values())
            and all(v == w or self.runs[v] != self.runs[w] for v in self.runs for w in self.runs)
        )

    @invariant
    def runs_in_read_only_windows(self) -> bool:
        """With threads, transactions are executed in read-only windows only (L7, L13)."""
        return implies(self.window.state in (Phase.WRITE, Phase.STOPPED), self.runs == {})

    @invariant
    def threads_execute_what_they_took(self) -> bool:
        return all(
            (task == Task.EXECUTING) == (w in self.runs) for w, task in self.window.tasks.items()
        ) and all(w in self.window.tasks for w in self.runs)

    @invariant
    def threads_have_what_was_posted(self) -> bool:
        """A thread has a task from the window's start until it exits the task (L13)."""
        return all(
            (task != Task.DONE) == (w in self.posted) for w, task in self.window.tasks.items()
        ) and all(w in self.window.tasks for w in self.posted)

    @invariant
    def queue_is_counted(self) -> bool:
        return self.window.queued == len(self.queue)

    @invariant
    def writes_catch_up(self) -> bool:
        """The window knows of a turn of the main thread only if there was one (L11)."""
        waits = self.window.state == Phase.WRITE and self.window.caught_up
        return implies(waits, self.turned)

    @invariant
    def shutdown_leaves_nothing(self) -> bool:
        """Writes have their answer as the shutdown begins, and everybody when it ends (S11)."""
        pool = self.window.read_only_transaction_num_threads > 0
        stopped = self.window.state == Phase.STOPPED
        answered = all(self.is_answered(t) for t in self.trx) or not pool
        return implies(stopped, answered and self.posted == set()) and implies(
            self.window.state not in OPEN, self.order == [] and self.main == []
        )

    @invariant
    def only_shutdown_turns_away(self) -> bool:
        """A transaction is answered unexecuted only by a node that shuts down; until then it is
        queued, in whatever window it comes (L7, L12, L13, S11)."""
        return implies(
            self.window.state in OPEN,
            all(trx.state != Stage.ABANDONED for trx in self.trx.values()),
        )

    @step_property
    def writes_and_transactions_exclude_each_other(self, after: "Node") -> bool:
        """No write is executed while a transaction is (L7, L22, L23)."""
        executed = len(after.order) < len(self.order) and after.window.state in OPEN
        return implies(executed, self.runs == {})

    @step_property
    def writes_keep_their_order(self, after: "Node") -> bool:
        """They are executed in the order in which they were sent (L11, L-B3)."""
        executed = len(after.order) < len(self.order) and after.window.state in OPEN
        return implies(executed, after.order == self.order[1:])

    @step_property
    def writes_make_progress(self, after: "Node") -> bool:
        """Between two read-only windows the main thread executes at least one write, if any is held
        (L11, L-B4)."""
        begins = self.window.state == Phase.WRITE and after.window.state == Phase.READ
        return implies(begins, self.turned)

    @step_property
    def answered_for_good(self, after: "Node") -> bool:
        """An answer is the last word, until it is sent (L14, L15)."""
        return all(
            implies(self.is_answered(t) and t in after.trx, after.is_answered(t)) for t in self.trx
        )

    @step_property
    def put_back_at_most_once(self, after: "Node") -> bool:
        """A transaction that was put back is answered in the next window (L15, L-B5, L-B7)."""
        return all(
            implies(t in self.again, t not in after.queue or t in self.queue) for t in self.trx
        )

    @step_property
    def every_window_answers(self, after: "Node") -> bool:
        """No read-only window passes without an answer (L-B8)."""
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
        reads = self.window.state in (Phase.READ, Phase.DRAINING, Phase.OVER)
        return reads, self.window.state in (Phase.WRITE, Phase.STOPPED)

    @leads_to
    def who_waits_gets_a_window(self) -> tuple[bool, bool]:
        """(L9)"""
        waits = self.window.state == Phase.WRITE and self.queue != []
        return waits, self.window.state in (Phase.READ, Phase.STOPPED)

    @leads_to
    def shutdown_ends(self) -> tuple[bool, bool]:
        """(S11)"""
        return self.window.state == Phase.STOPPING, self.window.state == Phase.STOPPED

    # Reachability.

    @reachable
    def shut_down_while_transactions_run(self) -> bool:
        return self.window.state == Phase.STOPPING and self.runs != {}

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
        """By design: it reads the state from before the write that its own client sent first
        (L-B9)."""
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
    """Has enough time in each window, and puts transactions back at the front: everything holds."""

    window: Window = WindowFixed(
        read_only_transaction_num_threads=2, read_only_transaction_threshold=2
    )
    settled: bool = True
    asked: set[Nat] = set()
    early: set[Nat] = set()
    turns: Ghost[dict[Trx, Nat]] = {}

    def begun(self, tasks: Nat) -> None:
        super().begun(tasks)
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
        """For each transaction that is put back, some thread has its first turn in the next window:
        this thread, or another that has not had it yet when this one takes another transaction."""
        require(thread in self.runs, "executes nothing")
        self.turns[self.runs[thread]] = thread
        super().put_back(thread)

    def leave_answered(self, thread: Nat) -> None:
        super().leave_answered(thread)
        self.early.discard(thread)

    @invariant
    def main_keeps_the_order(self) -> bool:
        """Posted tasks that are not executed stay in the same order (L11)."""
        return len(self.main) == len(self.order) and all(
            self.main[i] == self.order[i] for i in range(len(self.order))
        )

    @invariant
    def someone_is_first(self) -> bool:
        """A window begins with a transaction; its thread still executes it, or has answered it."""
        if self.window.state not in READ_ONLY:
            return self.settled
        if not self.settled and self.asked == set():
            return self.window.state == Phase.READ and self.queue != []
        return self.early != set() or self.answered

    @invariant
    def time_is_left_to_the_first(self) -> bool:
        """Threads that started early still execute; the latency is over before any other timer."""
        late = self.window.state not in (Phase.READ, Phase.DRAINING)
        return (
            all(w in self.runs for w in self.early)
            and implies(late, self.settled and self.early == set())
            and implies(self.settled, self.asked == set())
        )

    @invariant
    def who_was_put_back_goes_first(self) -> bool:
        """It is before all others in the queue, or was taken early (L15, L-B7)."""
        stopping = self.window.state == Phase.STOPPING
        return (
            all(t in self.queue and t in self.again for t in self.turns)
            and all(t in self.turns or t in self.runs.values() for t in self.again)
            and all(
                implies(self.queue[i] in self.turns, self.queue[i - 1] in self.turns)
                for i in range(1, len(self.queue))
            )
            and all(w in self.early or stopping for w, t in self.runs.items() if t in self.again)
        )

    @invariant
    def each_has_a_turn_of_its_own(self) -> bool:
        """A window's end stops at most as many transactions as there are threads, and all of these
        start in the next window during the latency (L-B5)."""
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
        """The latency is over: each thread has asked once, or the queue was empty."""
        require(not self.settled, "it is over")
        threads = range(self.window.read_only_transaction_num_threads)
        require(self.queue == [] or all(w in self.asked for w in threads), "a thread is slow")
        self.settled = True
        self.asked.clear()

    @transition()
    def stop_starting(self) -> None:
        """The time until the margin is longer than the latency, too (L-B8)."""
        require(self.settled, "the window has just begun")
        super().stop_starting()

    @transition()
    def run_out(self) -> None:
        """The window is longer than the latency and a transaction together (L18, L-B5)."""
        require(self.settled, "the window has just begun")
        require(self.early == set(), "has time until its own limit")
        super().run_out()

    @transition()
    def end(self) -> None:
        super().end()
        self.settled = True
        self.asked.clear()

    @transition()
    def shut_down(self) -> None:
        super().shut_down()
        self.settled = True
        self.asked.clear()
        self.early.clear()
        self.turns.clear()

    @reachable
    def all_threads_are_busy(self) -> bool:
        """And there are more transactions than threads (L24)."""
        return all(w in self.runs for w in self.window.tasks) and self.queue != []

    @reachable
    def many_do_not_wait_for_the_windows_end(self) -> bool:
        return can(self.begin_early)

    @reachable
    def served_as_they_come(self) -> bool:
        """In one window some are answered, some are executed, and others wait (L13, L24)."""
        return self.answered and self.runs != {} and self.queue != []

    fairness = Fairness(*GROUPS, Weak("end"), Strong("settle"))

    large = Scope(Trx=3, queue=3)
