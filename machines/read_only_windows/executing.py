"""Parallel read-only transactions: the main thread, and the task that it executes (L-B11).

Source: `read-only-transactions.md`, whose main thread executes one posted task after the other
[seed:117-137] (L12, L13), of which those that may modify wait for the read-write window (L7, L11).
Which task is the first one depends on the window therefore; and it is a task of the main thread
that ends a window [seed:134-136] (L13).

`MainFixed` takes a task from its queue and executes it. `MainPopping` executes it, and takes the
first from its queue afterwards, as a later implementation did: where the window has changed
meanwhile, that is another one.

Abstractions, confessed. Tasks have no priorities. Any task may change the window, and more than
once; and so may the timer while nothing is executed. Each task is posted once.
"""

from lawful import (
    Expect,
    Fairness,
    Ghost,
    Machine,
    Scope,
    Sort,
    State,
    Strong,
    Weak,
    invariant,
    leads_to,
    needed,
    reachable,
    require,
    transition,
)


class Job(Sort):
    """A task that is posted to the main thread."""


class Open(State):
    """The window that the node is in (L7)."""

    WRITE = "read-write window"
    READ = "read-only window"


class Main(Machine, abstract=True):
    """The main thread, its queue and the window."""

    state: Open = Open.WRITE
    queue: list[Job] = []
    modifying: set[Job] = set()
    posted: set[Job] = set()
    executes: Job | None = None
    done: Ghost[set[Job]] = set()
    twice: Ghost[bool] = False

    @transition()
    def post(self, job: Job, modifies: bool) -> None:
        """By any thread, also while a task is executed (L3, L5, L6)."""
        require(job not in self.posted, "once")
        self.posted.add(job)
        self.queue.append(job)
        if modifies:
            self.modifying.add(job)

    def first(self) -> Job | None:
        """What modifies is passed over in a read-only window (L7, L11)."""
        return next(
            (j for j in self.queue if self.state == Open.WRITE or j not in self.modifying), None
        )

    @transition()
    def execute(self) -> None:
        require(self.executes is None, "one after the other")
        job = needed(self.first(), "there is nothing to execute")
        self.executes = job
        self.queue.remove(job)

    @transition()
    def finish(self) -> None:
        job = needed(self.executes, "nothing is executed")
        self.twice = self.twice or job in self.done
        self.done.add(job)
        self.executes = None

    @transition(source=Open.WRITE, target=Open.READ)
    def begin(self) -> None:
        """The window changes: by the task that is executed, or by time (L9)."""

    @transition(source=Open.READ, target=Open.WRITE)
    def end(self) -> None:
        """The same (L10)."""

    @invariant
    def nothing_is_lost(self) -> bool:
        """Whatever was posted waits, is executed, or is done: it is not dropped (L11)."""
        return all(j in self.queue or j in self.done or self.executes == j for j in self.posted)

    @invariant
    def nothing_is_executed_twice(self) -> bool:
        return not self.twice

    @invariant
    def what_waits_was_posted_once(self) -> bool:
        return all(self.queue.count(j) == 1 and j in self.posted for j in self.queue)

    @invariant
    def what_is_done_does_not_wait(self) -> bool:
        return all(j in self.posted and j not in self.queue for j in self.done)

    @leads_to
    def executed_in_the_end(self, job: Job) -> tuple[bool, bool]:
        """Windows come and go, and nobody is held for ever (L11)."""
        return job in self.posted, job in self.done

    @reachable
    def the_window_changes_under_a_task(self) -> bool:
        """One that modifies has ended the window in which it might."""
        job = self.executes
        return job is not None and job in self.modifying and self.state == Open.READ

    @reachable
    def what_reads_overtakes_what_modifies(self) -> bool:
        """In a read-only window (L7, L-B9)."""
        return len(self.queue) > 0 and self.queue[0] in self.modifying and len(self.done) > 0

    fairness = Fairness(Strong("execute"), Weak("finish"), Weak("begin"), Weak("end"))
    scope = Scope(Job=2, queue=2)
    large = Scope(Job=3, queue=3)


class MainFixed(Main):
    """Takes a task from the queue first, and then executes it."""

    @invariant
    def what_is_executed_does_not_wait(self) -> bool:
        """It was posted, and is not done."""
        job = self.executes
        return job is None or (
            job not in self.queue and job in self.posted and job not in self.done
        )


class MainPopping(Main):
    """Executes a task, and then takes the first from the queue, which may be another (L-B11)."""

    @transition()
    def execute(self) -> None:
        require(self.executes is None, "one after the other")
        self.executes = needed(self.first(), "there is nothing to execute")

    @transition()
    def finish(self) -> None:
        super().finish()
        gone = self.first()
        if gone is not None:
            self.queue.remove(gone)

    expects = Expect(
        nothing_is_lost=("violated", 5),
        nothing_is_executed_twice=("violated", 7),
        what_is_done_does_not_wait=("violated", 4),
        executed_in_the_end=("violated", 10),
    )
