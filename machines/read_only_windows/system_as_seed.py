"""Parallel read-only transactions, composed: to the letter, and with a single defect each.

`NodeAsSeed` is the node of `system.py` as the document describes it (`[seed:113]` is its line 113).
A task that is not allowed is posted to the main thread again, which reverses two writes (L-B3). The
last thread posts that the window must end, which the main thread also sees for itself, so that the
message ends the next window while a transaction is executed (L-B1). The threshold alone begins a
window, and a window may be too short for any transaction, so that some write or transaction never
gets its turn (L-B4, L-B5, L-B8). Its scope has one transaction and two threads.

`NodePosted` ends a window only by a message. That prevents L-B1, but if the message has the lowest
priority of the main thread's tasks, a held write is posted again for ever (L-B2). `NodePutBackLast`
is `NodeFixed` except that a transaction is put back at the end of the queue, the only place where
`std::queue` can insert. `NodeSingleThreaded` has no threads.
"""

from lawful import (
    Expect,
    Fairness,
    Nat,
    Param,
    Scope,
    Weak,
    drop,
    needed,
    require,
    transition,
)

from .as_seed import WindowAsSeed
from .declaration import Phase, Window, WindowFixed
from .steps import Trx, Write
from .system import GROUPS, Node, NodeFixed


class NodePutBackLast(NodeFixed):
    """Puts a transaction back at the end: the longer it waits, the longer it will wait (L-B7)."""

    def requeue(self, t: Trx) -> None:
        self.queue.append(t)

    window: Window = WindowFixed(
        read_only_transaction_num_threads=1, read_only_transaction_threshold=2
    )

    scope = Scope(Nat=range(0, 4), Trx=2, Write=1, queue=2, main=1, order=1)
    expects = Expect(
        who_was_put_back_goes_first=("violated", 12),
        each_has_a_turn_of_its_own=("violated", 17),
        put_back_at_most_once=("violated", 22),
        answered_in_the_end=("violated", 24),
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
        self.window.leave(thread)
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
        writes_and_transactions_exclude_each_other=("violated", 11),
        writes_keep_their_order=("violated", 10),
        put_back_at_most_once=("violated", 12),
        every_window_answers=("violated", 6),
        answered_in_the_end=("violated", 7),
        executed_in_the_end=("violated", 9),
        **{
            "window.reads_and_writes_exclude_each_other": ("violated", 8),
            "window.no_thread_leaves_early": ("violated", 4),
            "window.writes_have_their_turn": ("violated", 1),
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
            read_only_windows_end=("violated", 6),
            answered_in_the_end=("violated", 6),
            executed_in_the_end=("violated", 6),
        ),
    )
    expects = Expect(
        runs_in_read_only_windows="holds",
        writes_and_transactions_exclude_each_other="holds",
        writes_keep_their_order="holds",
        **{"window.reads_and_writes_exclude_each_other": "holds"},
    )


class NodeSingleThreaded(Node):
    """No threads: transactions are executed like everything else [seed:152] (L16)."""

    window: Window = WindowFixed()

    @transition()
    def run_on_main(self, t: Trx) -> None:
        """The main thread executes it, in its order."""
        require(t in self.trx, "nothing is sent")
        self.trx[t].take()
        self.trx[t].finish()

    fairness = Fairness(*GROUPS, Weak("end"), Weak("run_on_main", each=("t",)))
    scope = Scope(Nat=range(0, 3), Trx=2, Write=2, queue=1, main=2, order=2)
    expects = Expect(
        ends_before_its_time="violated",
        finishes_in_the_next_window="violated",
        get_while_transactions_run="violated",
        get_overtakes_a_write="violated",
    )
