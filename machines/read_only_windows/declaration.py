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
exception is answered like any other. Times are milliseconds, as on the clock that an instance gets.
A timer runs out at any moment after it is started, so that properties hold however late the threads
are; `timing.py` declares how often a transaction is put back (L-B5).
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


class Task(State):
    """What a read-only thread does with the task that was posted to it [seed:125-137] (L13)."""

    LOOPING = "asks for the next transaction"
    EXECUTING = "executes one"
    DONE = "has exited"


class Place(Enum):
    """Where an arriving read-only transaction is executed."""

    QUEUE = "in the next read-only window"
    MAIN_THREAD = "at once, single threaded"


class Window(Machine, abstract=True):
    """The windows of one node: its main thread, its read-only threads, the length of its queue."""

    state: Phase = Phase.WRITE
    queued: Nat = 0
    tasks: dict[Nat, Task] = {}
    window: Timer = Timer()
    margin: Timer = Timer()
    caught_up: bool = False
    turn: Ghost[bool] = False
    busy: Ghost[set[Nat]] = set()
    unanswered: Ghost[Nat] = 0

    read_only_transaction_num_threads: Param[Nat] = 0
    read_write_window_time: Param[Nat] = 500
    read_only_window_time: Param[Nat] = 200
    read_only_transaction_threshold: Param[Nat] = 0
    read_only_window_margin: Param[Nat] = 5
    max_read_only_transaction_time: Param[Nat] = 150

    @assume
    def window_holds_a_transaction(self) -> bool:
        """A window is at least as long as the longest transaction [seed:154] (L18)."""
        return self.read_only_window_time >= self.max_read_only_transaction_time

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

    @transition(event="arrive")
    def queue_it(self) -> Place:
        """Queue the transaction [seed:117-123] (L7, L12); in a read-only window, too (L13)."""
        require(self.read_only_transaction_num_threads > 0, "there is no read-only thread")
        self.queued += 1
        self.unanswered += 1
        return Place.QUEUE

    @transition(event="arrive")
    def run_single_threaded(self) -> Place:
        """Multi-threaded execution is not used [seed:152] (L16)."""
        require(self.read_only_transaction_num_threads == 0, "there are read-only threads")
        return Place.MAIN_THREAD

    @transition(source=Phase.WRITE)
    def write(self) -> None:
        """The main thread executes an RPC write or a net sync request, first those that it held in
        the read-only window [seed:102,109-113] (L4, L7, L11)."""
        self.caught_up = True
        self.turn = True

    @transition(source=Phase.WRITE)
    def nothing_held(self) -> None:
        """The main thread has no held request to execute."""
        self.caught_up = True
        self.turn = True

    @transition()
    def read(self) -> None:
        """A `get_` request or a net non-sync request is served immediately [seed:102] (L4, L7)."""

    # To the read-only window.

    @transition(source=Phase.WRITE, target=Phase.READ, timer="window")
    def begin(self) -> Nat:
        """At the end of the read-write window, if the queue is not empty [seed:106] (L9, L17)."""
        require(self.queued > 0, "the queue is empty")
        self.post()
        return self.read_only_transaction_num_threads

    @transition(source=Phase.WRITE, timer="window")
    def prolong(self) -> None:
        """Otherwise it begins again. The document is silent here: the next transaction to arrive
        waits for at most a whole window (L-B12)."""
        require(self.queued == 0, "read-only transactions are queued")
        self.window.start(self.read_write_window_time)

    @transition(source=Phase.WRITE, target=Phase.READ)
    def begin_early(self) -> Nat:
        """The number of outstanding transactions reaches the threshold [seed:106,155] (L9, L19),
        but not before the writes have had their turn (L-B4)."""
        require(self.read_only_transaction_threshold > 0, "no threshold is used")
        require(self.queued >= self.read_only_transaction_threshold, "the threshold is not reached")
        require(self.caught_up, "writes wait since the last read-only window")
        self.post()
        return self.read_only_transaction_num_threads

    def post(self) -> None:
        """A task is posted to each of the read-only threads [seed:128] (L13)."""
        self.tasks = {w: Task.LOOPING for w in range(self.read_only_transaction_num_threads)}
        self.window.start(self.read_only_window_time)
        self.margin.start(max(0, self.read_only_window_time - self.read_only_window_margin))

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
        """The thread has executed it, or the transaction's own time is over: either way it is
        answered (L21)."""
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

    @transition(source=(Phase.READ, Phase.DRAINING), target=Phase.OVER, timer="window")
    def run_out(self) -> None:
        """The end of the read-only window [seed:107,154] (L10, L18)."""
        self.margin.stop()

    # To the read-write window.

    @transition(source=(Phase.DRAINING, Phase.OVER), target=Phase.WRITE)
    def end(self) -> None:
        """All read-only thread tasks are done: exit the window [seed:134-136] (L10, L13)."""
        require(all(t == Task.DONE for t in self.tasks.values()), "a read-only thread is not done")
        self.switch_back()

    def switch_back(self) -> None:
        self.margin.stop()
        self.caught_up = False
        self.turn = False
        self.window.start(self.read_write_window_time)

    @terminal
    def single_threaded(self) -> bool:
        return self.read_only_transaction_num_threads == 0

    @invariant
    def reads_and_writes_exclude_each_other(self) -> bool:
        """In a read-write window no read-only thread is at work (L7, L13, L22)."""
        done = all(t == Task.DONE for t in self.tasks.values())
        return implies(self.state == Phase.WRITE, done)

    @invariant
    def every_thread_has_a_task(self) -> bool:
        """In a read-only window each thread of the pool has a task, and no other thread (L13)."""
        threads = range(self.read_only_transaction_num_threads)
        return all(w in threads for w in self.tasks) and implies(
            self.state != Phase.WRITE, all(w in self.tasks for w in threads)
        )

    @invariant
    def window_ends(self) -> bool:
        """Every window has a timer (L8, L17, L18), unless there is no pool (L16)."""
        pool = self.read_only_transaction_num_threads > 0
        return self.window.armed == (pool and self.state != Phase.OVER)

    @invariant
    def margin_is_kept(self) -> bool:
        """Transactions are started only while more than the margin remains (L20)."""
        return self.margin.armed == (self.state == Phase.READ)

    @invariant
    def without_a_pool_nothing_changes(self) -> bool:
        """Without threads there is no read-only window and no queue (L16)."""
        return self.read_only_transaction_num_threads > 0 or (
            self.state == Phase.WRITE and self.queued == 0
        )

    @invariant
    def no_thread_leaves_early(self) -> bool:
        """While transactions may start, every thread is available (L-B6)."""
        done = any(t == Task.DONE for t in self.tasks.values())
        return not (self.state == Phase.READ and done)

    @invariant
    def held_writes_are_remembered(self) -> bool:
        """Until the main thread has executed them, or has none (L11)."""
        return self.caught_up == self.turn

    @invariant
    def everybody_is_let_in(self) -> bool:
        """A read-only transaction may be sent at any time (L7, L12)."""
        return can(self.arrive)

    @invariant
    def time_begins_a_read_only_window(self) -> bool:
        """If a transaction is queued; otherwise the read-write window begins again (L9, L-B12)."""
        waits = self.state == Phase.WRITE and self.read_only_transaction_num_threads > 0
        return can(self.begin) == (waits and self.queued > 0) and can(self.prolong) == (
            waits and self.queued == 0
        )

    @invariant
    def threshold_begins_a_read_only_window(self) -> bool:
        """When it is reached and the main thread has had its turn (L9, L19)."""
        enough = self.queued >= self.read_only_transaction_threshold > 0
        return implies(can(self.begin_early), enough) and implies(
            self.state == Phase.WRITE and enough and self.turn, can(self.begin_early)
        )

    @invariant
    def writes_have_their_turn(self) -> bool:
        """No read-only window begins early while writes held in the last one wait (L11, L-B4)."""
        return implies(can(self.begin_early), self.turn)

    @invariant
    def an_empty_queue_ends_a_read_only_window(self) -> bool:
        """And no thread executes: it could put its transaction back (L10, L-B6)."""
        busy = any(t == Task.EXECUTING for t in self.tasks.values())
        return can(self.drain) == (self.state == Phase.READ and self.queued == 0 and not busy)

    @invariant
    def busy_is_who_executes(self) -> bool:
        """A thread is busy from the start of a transaction to its end (L13)."""
        return all(w in self.busy for w, t in self.tasks.items() if t == Task.EXECUTING) and all(
            w in self.tasks and self.tasks[w] == Task.EXECUTING for w in self.busy
        )

    @invariant
    def nothing_is_dropped(self) -> bool:
        """An unanswered transaction is queued, or executed by one thread; being put back is no
        answer (L14, L15)."""
        return self.unanswered == self.queued + len(self.busy)

    @invariant
    def put_back_by_the_windows_deadline(self) -> bool:
        """Only a transaction that is executed then is put back, and none before (L15)."""
        return all(
            can(self.put_back, w) == (self.state == Phase.OVER)
            for w, t in self.tasks.items()
            if t == Task.EXECUTING
        )

    @step_property
    def started_in_time(self, after: "Window") -> bool:
        """Transactions start in the read-only window, before the margin (L20)."""
        return all(
            implies(task == Task.EXECUTING, self.margin.armed or self.tasks[w] == task)
            for w, task in after.tasks.items()
            if w in self.tasks
        )

    @recoverable
    def writes_go_on(self) -> bool:
        """Every read-only window can end (L10)."""
        return self.state == Phase.WRITE

    @recoverable
    def queue_is_served(self) -> bool:
        """A queued transaction can be executed (L9)."""
        return self.queued == 0 and self.state == Phase.WRITE

    @reachable
    def early_by_threshold(self) -> bool:
        """The queue has exactly as many transactions as the threshold (L19)."""
        few = self.queued == self.read_only_transaction_threshold
        return can(self.begin_early) and few

    @reachable
    def all_threads_are_busy(self) -> bool:
        """And there are more transactions than threads (L24)."""
        busy = all(t == Task.EXECUTING for t in self.tasks.values())
        return self.state == Phase.READ and busy and self.queued > 0

    @reachable
    def a_transaction_outlasts_the_window(self) -> bool:
        late = any(t == Task.EXECUTING for t in self.tasks.values())
        return self.state == Phase.OVER and late

    @reachable
    def ends_before_its_time(self) -> bool:
        """The queue was empty, and all threads are done (L10)."""
        done = all(t == Task.DONE for t in self.tasks.values())
        return self.state == Phase.DRAINING and done and self.window.armed

    scope = Scope(
        Nat=range(0, 4),
        unanswered=range(0, 6),
        read_only_transaction_num_threads=(0, 1, 2),
        read_only_transaction_threshold=(0, 1, 2),
    )


class WindowFixed(Window):
    """Ends only its own window, once; gives writes their turn; keeps its threads available."""

    @assume
    def margin_leaves_time(self) -> bool:
        """Otherwise no transaction could ever start (L-B8)."""
        return self.read_only_window_margin < self.read_only_window_time
