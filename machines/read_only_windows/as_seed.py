"""Parallel read-only transactions to the letter: the design document's text where the other modules
deviate (`[seed:107]` is its line 107). The checker shows the consequences.

L-B1: two things end a read-only window [seed:107], the main thread that sees that all tasks are
done, and a message that the last task posts; a late message ends the next window. L-B4: the
threshold alone begins a read-only window, even while writes held in the last one wait. L-B6: a
thread that finds the queue empty exits, although the window continues. A window may be no longer
than a transaction may be, and the margin as long as the window (L-B5, L-B8): `in_time.py` shows
each of the two alone.
"""

from lawful import Expect, Nat, Scope, assume, require, transition

from .declaration import READ_ONLY, Phase, Task, Window


class WindowAsSeed(Window):
    """Ends when it is told to, whichever window the message was about."""

    told: Nat = 0

    @assume
    def window_holds_a_transaction(self) -> bool:
        """A window is at least as long as the longest transaction [seed:154] (L18); nothing else is
        said of the times."""
        return self.read_only_window_time >= self.max_read_only_transaction_time

    @transition(source=Phase.WRITE, target=Phase.READ, timer="window")
    def begin(self) -> Nat:
        """At the end of the read-write window [seed:106], whatever the main thread did in it."""
        require(self.queued > 0, "the queue is empty")
        self.post()
        self.window.start(self.read_only_window_time)
        return self.read_only_transaction_num_threads

    @transition(source=Phase.WRITE, timer="window")
    def prolong(self) -> None:
        require(self.queued == 0, "read-only transactions are queued")
        self.window.start(self.read_write_window_time)

    @transition(source=Phase.WRITE, target=Phase.READ)
    def begin_early(self) -> Nat:
        """The number of outstanding transactions reaches the threshold [seed:106,155]; no other
        condition is required (L-B4)."""
        require(self.read_only_transaction_threshold > 0, "no threshold is used")
        require(self.queued >= self.read_only_transaction_threshold, "the threshold is not reached")
        self.post()
        self.window.start(self.read_only_window_time)
        return self.read_only_transaction_num_threads

    @transition(source=Task.LOOPING, target=Task.DONE, of="tasks[thread]")
    def leave(self, thread: Nat) -> None:
        """Is the queue empty or the time over? Exit [seed:130-131], even if others still execute
        (L-B6); the last thread posts to the main thread that the window must end."""
        require(self.queued == 0 or self.state != Phase.READ, "there is more to do")
        last = all(t == Task.DONE for w, t in self.tasks.items() if w != thread)
        if last and self.state != Phase.STOPPING:
            self.told += 1

    @transition(source=READ_ONLY, target=Phase.WRITE)
    def end_as_told(self) -> None:
        """The read-only queue has become empty: switch to the read-write window [seed:107]. The
        message does not say which window's queue that was (L-B1)."""
        require(self.told > 0, "nobody said so")
        self.told -= 1
        self.margin.stop()
        self.caught_up = False
        self.window.start(self.read_write_window_time)

    @transition(source=Phase.WRITE)
    def told_in_vain(self) -> None:
        """The window has already ended."""
        require(self.told > 0, "nobody said so")
        self.told -= 1

    scope = Scope(
        Nat=range(0, 3),
        unanswered=range(0, 3),
        read_only_transaction_num_threads=(0, 1, 2),
        read_only_transaction_threshold=(0, 1, 2),
    )
    expects = Expect(
        reads_and_writes_exclude_each_other=("violated", 8),
        tasks_are_done=("violated", 7),
        shutdown_answers=("violated", 9),
        no_thread_leaves_early=("violated", 4),
        busy_is_who_executes=("violated", 10),
        nothing_is_dropped=("violated", 11),
    )
