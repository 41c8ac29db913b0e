"""Parallel read-only transactions: the windows of a node.

Source: the design document `read-only-transactions.md` (Leap). `[seed:105]` is its line 105, `L9`
the number of a demand, `L-B1` of a defect that its text allows. A node's main thread toggles
between read-write and read-only windows. In a read-only window a pool of threads takes the
read-only transactions that were queued meanwhile. This file declares the repaired design;
`as_seed.py` restores the document's text where it goes wrong.

Abstractions. The window counts the transactions in `read_only_trx_queue`; the queue knows which
they are and in what order: the document does not say where one is put back (L15). Each step is
atomic, as under the queue's mutex. A transaction is a machine of its own (`transaction.py`); a
service that embeds both takes their steps together. Whether the main thread may do something is one
question here, `write` or `read`; the node decides who posts what to whom (L3 to L6, L22). A refused
write is held: it is never dropped, and requested again (L11). A transaction that ends in an
exception is answered like any other. The document does not say how a node shuts down (S11): here
`shut_down` ends any window. Times are milliseconds, as on the clock that an instance gets. Here a
timer runs out at any moment after it is started, so that properties hold however late the threads
are; `in_time.py` counts ticks.
"""

from enum import Enum

from lawful import (
    Ghost,
    Machine,
    Nat,
    Param,
    Scope,
    State,
    Timer,
    assume,
    can,
    event,
    implies,
    initial,
    invariant,
    reachable,
    recoverable,
    require,
    step_property,
    terminal,
    transition,
)


class Phase(State):
    """The window that a node is in (L7), and the progress of a read-only window."""

    WRITE = "read-write window"
    READ = "read-only window"
    DRAINING = "read-only window, nothing new is started"
    OVER = "read-only window, its time is over"
    STOPPING = "read-only window of a node that shuts down"
    STOPPED = "the node has shut down"


OPEN = (Phase.WRITE, Phase.READ, Phase.DRAINING, Phase.OVER)
READ_ONLY = (Phase.READ, Phase.DRAINING, Phase.OVER)


class Task(State):
    """What a read-only thread does with the task that was posted to it [seed:125-137] (L13)."""

    LOOPING = "asks for the next transaction"
    EXECUTING = "executes one"
    DONE = "has exited"


class Place(Enum):
    """Where an arriving read-only transaction is executed."""

    QUEUE = "in the next read-only window"
    MAIN_THREAD = "at once, single threaded"
    NOWHERE = "not at all: it is answered with an error"


class Window(Machine, abstract=True):
    """The windows of one node: its main thread, its read-only threads, the length of its queue."""

    state: Phase = Phase.WRITE
    queued: Nat = 0
    tasks: dict[Nat, Task] = {}
    margin: Timer = Timer()
    window: Timer = Timer()
    caught_up: bool = False
    busy: Ghost[set[Nat]] = set()
    unanswered: Ghost[Nat] = 0

    read_only_transaction_num_threads: Param[Nat] = 0
    read_write_window_time: Param[Nat] = 500
    read_only_window_time: Param[Nat] = 200
    read_only_transaction_threshold: Param[Nat] = 0
    read_only_window_margin: Param[Nat] = 5
    max_read_only_transaction_time: Param[Nat] = 150
    latency: Param[Nat] = 10

    @initial
    def start(self) -> None:
        """With no thread in the pool there are no windows [seed:152] (L16)."""
        if self.read_only_transaction_num_threads > 0:
            self.window.start(self.read_write_window_time)

    # What arrives.

    @event
    def arrive(self) -> Place:
        """A read-only transaction is sent to the node."""
        raise NotImplementedError

    @transition(event="arrive", source=OPEN)
    def queue_it(self) -> Place:
        """Queue the transaction [seed:117-123] (L7, L12); in a read-only window, too (L13)."""
        require(self.read_only_transaction_num_threads > 0, "there is no read-only thread")
        self.queued += 1
        self.unanswered += 1
        return Place.QUEUE

    @transition(event="arrive", source=Phase.WRITE)
    def run_single_threaded(self) -> Place:
        """Multi-threaded execution is not used [seed:152] (L16)."""
        require(self.read_only_transaction_num_threads == 0, "there are read-only threads")
        return Place.MAIN_THREAD

    @transition(event="arrive", source=(Phase.STOPPING, Phase.STOPPED))
    def turn_away(self) -> Place:
        """The node shuts down (S11)."""
        return Place.NOWHERE

    @transition(source=Phase.WRITE)
    def write(self) -> None:
        """The main thread executes an RPC write or a net sync request, first those that it held in
        the read-only window [seed:102,109-113] (L4, L7, L11)."""
        self.caught_up = True

    @transition(source=Phase.WRITE)
    def nothing_held(self) -> None:
        """The main thread has no held request to execute."""
        self.caught_up = True

    @transition(source=OPEN)
    def read(self) -> None:
        """A `get_` request or a net non-sync request is served immediately [seed:102] (L4, L7)."""

    # To the read-only window. Each begins after the writes have had their turn.

    @transition(source=Phase.WRITE, target=Phase.READ, timer="window")
    def begin(self) -> Nat:
        """At the end of the read-write window, if the queue is not empty [seed:106] (L9, L17). The
        caller posts a task to so many threads."""
        require(self.queued > 0, "the queue is empty")
        require(self.caught_up, "writes wait since the last read-only window")
        self.post()
        self.window.start(self.read_only_window_time)
        return self.read_only_transaction_num_threads

    @transition(source=Phase.WRITE, timer="window")
    def prolong(self) -> None:
        """Otherwise it begins again. The document is silent here: the next transaction to arrive
        waits for at most a whole window (L-B12)."""
        require(self.queued == 0 or not self.caught_up, "a read-only window can begin")
        self.window.start(self.read_write_window_time)

    @transition(source=Phase.WRITE, target=Phase.READ)
    def begin_early(self) -> Nat:
        """The number of outstanding transactions reaches the threshold [seed:106,155] (L9, L19),
        but not before the writes have had their turn (L-B4)."""
        require(self.read_only_transaction_threshold > 0, "no threshold is used")
        require(self.queued >= self.read_only_transaction_threshold, "the threshold is not reached")
        require(self.caught_up, "writes wait since the last read-only window")
        self.post()
        self.window.start(self.read_only_window_time)
        return self.read_only_transaction_num_threads

    def post(self) -> None:
        """A task is posted to each of the read-only threads [seed:128] (L13)."""
        self.tasks = {w: Task.LOOPING for w in range(self.read_only_transaction_num_threads)}
        self.margin.start(self.read_only_window_time - self.read_only_window_margin)

    # In the read-only window.

    @transition(source=Task.LOOPING, target=Task.EXECUTING, of="tasks[thread]")
    def take(self, thread: Nat) -> None:
        """A thread takes the next transaction of the queue [seed:129-132] (L13)."""
        require(self.state == Phase.READ, "no time is left for another one")
        require(self.queued > 0, "the queue is empty")
        self.queued -= 1
        self.busy.add(thread)

    @transition(source=Task.EXECUTING, target=Task.LOOPING, of="tasks[thread]")
    def finish(self, thread: Nat) -> None:
        """The thread has executed it, or the transaction's own time is over, or the node shuts
        down: in each case it is answered (L21)."""
        self.busy.discard(thread)
        self.unanswered -= 1

    @transition(source=Task.EXECUTING, target=Task.LOOPING, of="tasks[thread]")
    def put_back(self, thread: Nat) -> None:
        """It failed because of the read window's deadline, not its own: back into the queue, for
        the next window [seed:148] (L15)."""
        require(self.state == Phase.OVER, "the window's time is not over")
        self.queued += 1
        self.busy.discard(thread)

    @transition(source=Task.LOOPING, target=Task.DONE, of="tasks[thread]")
    def leave(self, thread: Nat) -> None:
        """The window ends: the thread exits its task [seed:130-131] (L13)."""
        require(self.state != Phase.READ, "there may be more to do")

    @transition(source=Phase.READ, target=Phase.DRAINING)
    def drain(self) -> None:
        """The queue becomes empty [seed:107] (L10). A thread that finds it empty waits while
        another is busy: it takes transactions that arrive meanwhile (L-B6)."""
        require(self.queued == 0, "the queue is not empty")
        require(all(t != Task.EXECUTING for t in self.tasks.values()), "a thread is busy")
        self.margin.stop()

    @transition(source=Phase.READ, target=Phase.DRAINING, timer="margin")
    def stop_starting(self) -> None:
        """Less than the margin remains: start no new transaction [seed:156] (L20)."""

    @transition(source=Phase.DRAINING, target=Phase.OVER, timer="window")
    def run_out(self) -> None:
        """The end of the read-only window [seed:107,154] (L10, L18); the margin came before."""

    # To the read-write window.

    @transition(source=(Phase.DRAINING, Phase.OVER), target=Phase.WRITE)
    def end(self) -> None:
        """All read-only thread tasks are done: exit the window [seed:134-136] (L10, L13)."""
        require(all(t == Task.DONE for t in self.tasks.values()), "a read-only thread is not done")
        self.caught_up = False
        self.window.start(self.read_write_window_time)

    # The end of the node (S11).

    @event
    def shut_down(self) -> Nat:
        """The caller answers so many queued transactions with an error, and refuses all others."""
        raise NotImplementedError

    @transition(event="shut_down", source=Phase.WRITE, target=Phase.STOPPED)
    def stop_at_once(self) -> Nat:
        """No read-only thread has a task."""
        self.window.stop()
        return self.close()

    @transition(event="shut_down", source=READ_ONLY, target=Phase.STOPPING)
    def stop_threads(self) -> Nat:
        """No thread starts another transaction; one that executes ends it with an error."""
        self.window.stop()
        return self.close()

    def close(self) -> Nat:
        closed = self.queued
        self.unanswered -= closed
        self.queued = 0
        self.margin.stop()
        return closed

    @transition(source=Phase.STOPPING, target=Phase.STOPPED)
    def stop(self) -> None:
        """All read-only thread tasks are done."""
        require(all(t == Task.DONE for t in self.tasks.values()), "a read-only thread is not done")

    @terminal
    def single_threaded(self) -> bool:
        return self.read_only_transaction_num_threads == 0

    @terminal
    def stopped(self) -> bool:
        return self.state == Phase.STOPPED

    @invariant
    def reads_and_writes_exclude_each_other(self) -> bool:
        """In a read-write window no transaction is executed by a thread, nor after the end (L7,
        L13, L22)."""
        return implies(self.state in (Phase.WRITE, Phase.STOPPED), self.busy == set())

    @invariant
    def nothing_is_dropped(self) -> bool:
        """An unanswered transaction is queued, or executed by one thread; being put back is no
        answer (L14, L15)."""
        return self.unanswered == self.queued + len(self.busy)

    @invariant
    def shutdown_answers(self) -> bool:
        """What is queued is answered as the shutdown begins, and all when it ends (S11)."""
        closing = self.state in (Phase.STOPPING, Phase.STOPPED)
        return implies(closing, self.queued == 0) and implies(
            self.state == Phase.STOPPED, self.unanswered == 0
        )

    @invariant
    def everybody_is_let_in(self) -> bool:
        """A read-only transaction may be sent at any time (L7, L12)."""
        return can(self.arrive)

    @invariant
    def reads_are_served(self) -> bool:
        """As they come, in every window, until the node shuts down (L7)."""
        return can(self.read) == (self.state in OPEN)

    @invariant
    def may_be_shut_down(self) -> bool:
        """At any moment (S11)."""
        return implies(self.state in OPEN, can(self.shut_down))

    @invariant
    def time_ends_a_read_write_window(self) -> bool:
        """In one way: a read-only window begins, or the read-write window begins again (L9, L17,
        L-B12)."""
        timed = self.state == Phase.WRITE and self.read_only_transaction_num_threads > 0
        return implies(timed, can(self.begin) != can(self.prolong))

    @invariant
    def without_a_pool_nothing_changes(self) -> bool:
        """Without threads there is no read-only window and no queue (L16)."""
        quiet = self.state in (Phase.WRITE, Phase.STOPPED) and self.queued == 0
        return self.read_only_transaction_num_threads > 0 or quiet

    @invariant
    def no_thread_leaves_early(self) -> bool:
        """While transactions may start, every thread is available (L-B6)."""
        done = any(t == Task.DONE for t in self.tasks.values())
        return not (self.state == Phase.READ and done)

    @invariant
    def tasks_are_done(self) -> bool:
        """Outside a read-only window every thread has exited its task (L13)."""
        done = all(t == Task.DONE for t in self.tasks.values())
        return implies(self.state in (Phase.WRITE, Phase.STOPPED), done)

    @invariant
    def every_thread_has_a_task(self) -> bool:
        """In a read-only window each thread of the pool has a task, and no other thread (L13)."""
        threads = range(self.read_only_transaction_num_threads)
        return all(w in threads for w in self.tasks) and implies(
            self.state in READ_ONLY, all(w in self.tasks for w in threads)
        )

    @invariant
    def busy_is_who_executes(self) -> bool:
        """A thread is busy from the start of a transaction to its end (L13)."""
        return all(w in self.busy for w, t in self.tasks.items() if t == Task.EXECUTING) and all(
            w in self.tasks and self.tasks[w] == Task.EXECUTING for w in self.busy
        )

    @invariant
    def what_is_executed_may_be_answered(self) -> bool:
        """At any moment, also when the window's time is over (L14, L15, L21, S11)."""
        return all(can(self.finish, w) == (t == Task.EXECUTING) for w, t in self.tasks.items())

    @invariant
    def window_ends(self) -> bool:
        """Every window has a timer (L8, L17, L18), unless there is no pool (L16)."""
        pool = self.read_only_transaction_num_threads > 0
        timed = self.state in (Phase.WRITE, Phase.READ, Phase.DRAINING)
        return self.window.armed == (pool and timed)

    @invariant
    def margin_is_kept(self) -> bool:
        """Transactions are started only while more than the margin remains (L20)."""
        return self.margin.armed == (self.state == Phase.READ)

    @step_property
    def begins_for_a_transaction(self, after: "Window") -> bool:
        """A read-only window begins only if a transaction waits for it (L9)."""
        begins = self.state == Phase.WRITE and after.state == Phase.READ
        return implies(begins, after.queued > 0)

    @step_property
    def started_in_time(self, after: "Window") -> bool:
        """Transactions start in the read-only window, before the margin (L20)."""
        return implies(not after.busy <= self.busy, self.margin.armed)

    @step_property
    def put_back_by_the_windows_deadline(self, after: "Window") -> bool:
        """A transaction is left unanswered only by a thread that the window's end stops (L15)."""
        stopped = len(after.busy) < len(self.busy) and after.unanswered == self.unanswered
        return implies(stopped, not self.window.armed and self.state == Phase.OVER)

    @recoverable
    def writes_go_on(self) -> bool:
        """Every read-only window can end (L10)."""
        return self.state in (Phase.WRITE, Phase.STOPPED)

    @recoverable
    def queue_is_served(self) -> bool:
        """A queued transaction can be executed (L9)."""
        return self.queued == 0 and self.state in (Phase.WRITE, Phase.STOPPED)

    @recoverable
    def shutdown_ends(self) -> bool:
        """From every state the node can be shut down (S11)."""
        return self.state == Phase.STOPPED

    @reachable
    def early_by_threshold(self) -> bool:
        """A threshold of one is reached by one transaction (L19)."""
        return can(self.begin_early) and self.queued == 1

    @reachable
    def all_threads_are_busy(self) -> bool:
        """And there are more transactions than threads (L24)."""
        busy = all(t == Task.EXECUTING for t in self.tasks.values())
        return self.state == Phase.READ and busy and self.queued > 0

    @reachable
    def a_transaction_outlasts_the_window(self) -> bool:
        return self.state == Phase.OVER and self.busy != set()

    @reachable
    def ends_before_its_time(self) -> bool:
        """The queue was empty, and all threads are done (L10)."""
        done = all(t == Task.DONE for t in self.tasks.values())
        return self.state == Phase.DRAINING and done and self.window.armed

    @reachable
    def shut_down_while_a_transaction_is_executed(self) -> bool:
        return self.state == Phase.STOPPING and self.busy != set()

    scope = Scope(
        Nat=range(0, 4),
        unanswered=range(0, 6),
        read_only_transaction_num_threads=(0, 1, 2),
        read_only_transaction_threshold=(0, 1, 2),
    )


class WindowFixed(Window):
    """Ends only its own window, once; gives writes their turn; keeps its threads available; has
    times in which every transaction is answered."""

    @assume
    def window_holds_what_starts_late(self) -> bool:
        """A window is longer than a transaction that starts late (L18 and L-B5): it may take
        `max-read-only-transaction-time`, and starts `latency` after the window."""
        longest = self.max_read_only_transaction_time + self.latency
        return self.read_only_window_time > longest

    @assume
    def margin_leaves_time(self) -> bool:
        """Before the margin each thread can start a transaction (L-B8)."""
        return self.read_only_window_margin + self.latency < self.read_only_window_time

    @assume
    def writes_have_time(self) -> bool:
        """Otherwise read-write windows follow one another without end (L17)."""
        return self.read_write_window_time > 0
