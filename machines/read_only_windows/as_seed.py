"""Parallel read-only transactions to the letter: what the design document says where
the other modules deviate (`[seed:107]` is its line 107), and the checker shows what follows.

L-B1: two things end a read-only window [seed:107], the main thread that sees all tasks done and the
last of these, which tells it so; told too late, it ends the next window. L-B4: the threshold alone
begins a read-only window, also while writes wait since the last one. L-B6: a thread that finds the
queue empty exits, although the window goes on. L-B5: a window need be no longer than a transaction
may be, which then is stopped in each. That the margin be smaller than the window (L-B8) is not
asked for; if not, every read-only window passes without a transaction.
"""

from lawful import Expect, Nat, Scope, assume, require, transition

from .declaration import Phase, Task, Window
from .timing import Attempts


class WindowAsSeed(Window):
    """Ends when it is told so, whichever window that is about."""

    told: Nat = 0

    @transition(source=Phase.WRITE, target=Phase.READ)
    def begin_early(self) -> Nat:
        """The number of outstanding transactions reaches the threshold [seed:106,155], which is
        all that is asked for (L-B4)."""
        require(self.read_only_transaction_threshold > 0, "no threshold is used")
        require(self.queued >= self.read_only_transaction_threshold, "the threshold is not reached")
        self.post()
        return self.read_only_transaction_num_threads

    @transition(source=Task.LOOPING, target=Task.DONE, of="tasks[thread]")
    def leave(self, thread: Nat) -> None:
        """Is the queue empty or time to switch? Exit [seed:130-131], whoever still executes
        (L-B6); the last one posts to the main thread that the window is to end."""
        require(self.queued == 0 or self.state != Phase.READ, "there is more to do")
        if all(t == Task.DONE for w, t in self.tasks.items() if w != thread):
            self.told += 1

    @transition(source=(Phase.READ, Phase.DRAINING, Phase.OVER), target=Phase.WRITE)
    def end_as_told(self) -> None:
        """The read-only queue has become empty: switch to the read-write window [seed:107]. Which
        window's queue that was, nobody knows (L-B1)."""
        require(self.told > 0, "nobody said so")
        self.told -= 1
        self.switch_back()

    @transition(source=Phase.WRITE)
    def told_in_vain(self) -> None:
        """The window has been ended."""
        require(self.told > 0, "nobody said so")
        self.told -= 1

    scope = Scope(
        Nat=range(0, 3),
        unanswered=range(0, 3),
        read_only_transaction_num_threads=(0, 1, 2),
        read_only_transaction_threshold=(0, 1, 2),
    )
    expects = Expect(
        reads_and_writes_exclude_each_other=("violated", 7),
        no_thread_leaves_early=("violated", 4),
        writes_have_their_turn=("violated", 1),
        busy_is_who_executes=("violated", 10),
        nothing_is_dropped=("violated", 11),
    )


class AttemptsAsSeed(Attempts):
    """A window as long as a transaction may be is long enough [seed:154] (L-B5)."""

    @assume
    def window_holds_a_transaction(self) -> bool:
        """Equal or greater (L18); that threads are not there at once is not thought of."""
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
