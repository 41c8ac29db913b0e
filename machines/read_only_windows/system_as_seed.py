"""Parallel read-only transactions, composed: to the letter, and with a single defect each.

`NodeAsSeed` is the node of `system.py` as the document describes it (`[seed:113]` is its line 113).
A task that is not allowed is posted to the main thread again, which reverses two writes (L-B3). The
last thread posts that the window must end, which the main thread also sees for itself, so that the
message ends the next window while a transaction is executed (L-B1). Its scope has one transaction
and two threads.

`NodePosted` ends a window only by a message. That prevents L-B1, but if the message has the lowest
priority of the main thread's tasks, a held write is posted again for ever (L-B2). `NodePopping`
removes a task of the main thread after it was executed (L-B11). `NodePutBackLast`
is `NodeFixed` except that a transaction is put back at the end of the queue, the only place where
`std::queue` can insert. `NodeEager` is `NodeFixed` except that the threshold alone begins a window:
a transaction that is put back begins the next one at once (L-B4). `NodeShort` is `NodeFixed` except
that a window may end before the transaction's own time does: it is put back in each window, for
ever (L-B5). `NodeSingleThreaded` has no threads.
"""

from lawful import (
    Expect,
    Fairness,
    Nat,
    Param,
    Scope,
    Strong,
    Weak,
    drop,
    implies,
    invariant,
    needed,
    require,
    step_property,
    transition,
)

from .as_seed import WindowAsSeed
from .declaration import Phase, Window, WindowFixed
from .steps import Trx, Write
from .system import GROUPS, Node, NodeFixed
from .transaction import Stage


class NodePutBackLast(NodeFixed):
    """Puts a transaction back at the end: the longer it waits, the longer it will wait (L-B7)."""

    def requeue(self, t: Trx) -> None:
        self.queue.append(t)

    window: Window = WindowFixed(
        read_only_transaction_num_threads=1, read_only_transaction_threshold=2
    )

    scope = Scope(Nat=range(0, 4), Trx=2, Write=1, queue=2, main=1, order=1)
    expects = Expect(
        who_was_put_back_goes_first=("violated", 13),
        each_has_a_turn_of_its_own=("violated", 18),
        put_back_at_most_once=("violated", 24),
        answered_in_the_end=("violated", 26),
    )


class WindowEager(WindowFixed):
    """The threshold alone begins a window [seed:106,155], and counts what was put back."""

    @transition(source=Phase.WRITE, target=Phase.READ)
    def begin_early(self) -> Nat:
        require(self.read_only_transaction_threshold > 0, "no threshold is used")
        require(self.queued >= self.read_only_transaction_threshold, "the threshold is not reached")
        self.post()
        self.window.start(self.read_only_window_time)
        return self.read_only_transaction_num_threads


class NodeEager(NodeFixed):
    """Transactions that are put back begin window after window, and a write waits for ever
    (L-B4)."""

    window: Window = WindowEager(
        read_only_transaction_num_threads=1, read_only_transaction_threshold=1
    )

    @step_property
    def put_back_after_writes(self, after: "Node") -> bool:
        """Transactions that were put back do not begin a window before writes had their turn."""
        begins = self.window.state == Phase.WRITE and after.window.state == Phase.READ
        return implies(begins and all(t in self.again for t in self.queue), self.turned)

    scope = Scope(Nat=range(0, 4), Trx=2, Write=1, queue=2, main=1, order=1)
    expects = Expect(
        put_back_after_writes=("violated", 13),
        writes_make_progress=("violated", 2),
        executed_in_the_end=("violated", 12),
    )


class NodeShort(NodeFixed):
    """A window may be over before the transaction's own time, whenever that started (L-B5)."""

    window: Window = WindowFixed(
        read_only_transaction_num_threads=1, read_only_transaction_threshold=1
    )

    @transition()
    def run_out(self) -> None:
        require(self.settled, "the window has just begun")
        self.window.run_out()

    scope = Scope(Nat=range(0, 4), Trx=1, Write=1, queue=1, main=1, order=1)
    expects = Expect(
        time_is_left_to_the_first=("violated", 7),
        every_window_answers=("violated", 10),
        put_back_at_most_once=("violated", 17),
        answered_in_the_end=("violated", 17),
        served_as_they_come="violated",
    )


class NodeAsSeed(Node):
    """To the letter: held writes are posted again, and the last thread posts the window's end,
    too."""

    window: WindowAsSeed = (  # pyright: ignore[reportIncompatibleVariableOverride]  # is read-only
        WindowAsSeed(read_only_transaction_num_threads=2, read_only_transaction_threshold=1)
    )

    @transition()
    def leave(self, thread: Nat) -> None:
        """The last one tells the main thread [seed:130-136] (L-B1)."""
        told = self.window.told
        super().leave(thread)
        if self.window.told > told:
            self.main.append(None)

    @transition()
    def post_again(self) -> None:
        """In a read-only window it is posted to the main thread once more [seed:113] (L-B3)."""
        require(self.window.state != Phase.WRITE, "could be executed")
        require(len(self.main) > 0, "nothing is posted")
        w = needed(self.main[0], "is no write")
        self.main.pop(0)
        self.add(w)

    @transition()
    def end_as_told(self) -> None:
        """It ends the present window, whichever that is (L-B1)."""
        self.pop_end()
        self.window.end_as_told()

    @transition()
    def told_in_vain(self) -> None:
        self.pop_end()
        self.window.told_in_vain()

    def pop_end(self) -> None:
        require(len(self.main) > 0, "nothing is posted")
        require(self.main[0] is None, "is a write")
        self.main.pop(0)

    def requeue(self, t: Trx) -> None:
        """Back into a `std::queue` [seed:143-148]: at the end."""
        self.queue.append(t)

    fairness = Fairness(*GROUPS, Weak("end"), Weak("post_again", "end_as_told", "told_in_vain"))
    scope = Scope(
        {"WindowAsSeed.told": range(0, 2)},
        Nat=range(0, 4),
        Trx=1,
        Write=2,
        queue=1,
        main=3,
        order=2,
    )
    expects = Expect(
        runs_in_read_only_windows=("violated", 9),
        shutdown_leaves_nothing=("violated", 9),
        writes_and_transactions_exclude_each_other=("violated", 11),
        writes_keep_their_order=("violated", 10),
        writes_make_progress=("violated", 2),
        put_back_at_most_once=("violated", 14),
        every_window_answers=("violated", 6),
        answered_in_the_end=("violated", 7),
        executed_in_the_end=("violated", 9),
        **{
            "window.reads_and_writes_exclude_each_other": ("violated", 9),
            "window.shutdown_answers": ("violated", 10),
            "window.tasks_are_done": ("violated", 8),
            "window.no_thread_leaves_early": ("violated", 4),
        },
    )


class NodePosted(NodeAsSeed):
    """Only a task of the main thread ends the window, perhaps the one with lowest priority
    (L-B2)."""

    only_as_told = drop("end")

    end_is_last: Param[bool] = False
    fairness = Fairness(*GROUPS, Weak("post_again", "end_as_told", "told_in_vain"))

    def add(self, w: Write) -> None:
        if self.end_is_last:
            self.main.insert(sum(1 for task in self.main if task is not None), w)
        else:
            super().add(w)

    scope = Scope(
        {"WindowAsSeed.told": range(0, 2)},
        Nat=range(0, 4),
        Trx=1,
        Write=1,
        queue=1,
        main=2,
        order=1,
        end_is_last=(False,),
    )
    least = Scope(
        end_is_last=(True,),
        expects=Expect(
            read_only_windows_end=("violated", 7),
            answered_in_the_end=("violated", 7),
            executed_in_the_end=("violated", 7),
        ),
    )
    expects = Expect(
        runs_in_read_only_windows="holds",
        shutdown_leaves_nothing="holds",
        writes_and_transactions_exclude_each_other="holds",
        writes_keep_their_order="holds",
        **{
            "window.reads_and_writes_exclude_each_other": "holds",
            "window.shutdown_answers": "holds",
            "window.tasks_are_done": "holds",
        },
    )


class NodePopping(NodeFixed):
    """The end of a window is a task of the main thread, which skips held writes until then. It
    removes a task from its queue after it has executed it: the first one of those that it may
    execute, which is another one if the task has changed the window (L-B11)."""

    @transition()
    def leave(self, thread: Nat) -> None:
        super().leave(thread)
        if self.posted == set():
            self.main.append(None)

    @transition()
    def end(self) -> None:
        require(None in self.main, "nothing is posted")
        super().end()
        self.main.pop(0)

    @transition()
    def ended_before(self) -> None:
        """The task is left over: it finds the window ended."""
        require(len(self.main) > 0, "nothing is posted")
        require(self.main[0] is None, "is a write")
        require(self.window.state == Phase.WRITE, "the window goes on")
        self.main.pop(0)

    @invariant
    def main_keeps_the_order(self) -> bool:
        return [w for w in self.main if w is not None] == self.order

    @invariant
    def shutdown_leaves_nothing(self) -> bool:
        return implies(self.window.state == Phase.STOPPED, self.order == [])

    window: Window = WindowFixed(
        read_only_transaction_num_threads=1, read_only_transaction_threshold=1
    )

    one_transaction = drop("served_as_they_come")
    fairness = Fairness(*GROUPS, Weak("end"), Weak("ended_before"), Strong("settle"))
    scope = Scope(Nat=range(0, 4), Trx=1, Write=1, queue=1, main=2, order=1)
    expects = Expect(
        main_keeps_the_order=("violated", 9),
        executed_in_the_end=("violated", 11),
    )


class NodeSingleThreaded(Node):
    """No threads: transactions are executed like everything else [seed:152] (L16)."""

    window: Window = WindowFixed()

    @transition()
    def run_on_main(self, t: Trx) -> None:
        """The main thread executes it, in its order."""
        require(t in self.trx, "nothing is sent")
        require(self.window.state == Phase.WRITE, "the node has shut down")
        self.trx[t].take()
        self.trx[t].finish()

    @transition()
    def shut_down(self) -> None:
        """Transactions that wait for the main thread are answered with an error, too (S11)."""
        super().shut_down()
        for trx in self.trx.values():
            if trx.state == Stage.QUEUED:
                trx.abandon()

    @invariant
    def shutdown_answers_all(self) -> bool:
        stopped = self.window.state == Phase.STOPPED
        return implies(stopped, all(self.is_answered(t) for t in self.trx))

    fairness = Fairness(*GROUPS, Weak("end"), Weak("run_on_main", each=("t",)))
    scope = Scope(Nat=range(0, 3), Trx=2, Write=2, queue=1, main=2, order=2)
    expects = Expect(
        ends_before_its_time="violated",
        finishes_in_the_next_window="violated",
        get_while_transactions_run="violated",
        get_overtakes_a_write="violated",
        shut_down_while_transactions_run="violated",
    )
