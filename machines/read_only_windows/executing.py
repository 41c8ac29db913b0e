"""Parallel read-only transactions: the main thread, and the task that it executes (L-B11).

Source: `read-only-transactions.md`: the main thread executes posted tasks one after the other
[seed:117-137] (L12, L13); tasks that may modify the state wait for the read-write window (L7, L11).
So the window decides which task is first; and a task of the main thread ends a window
[seed:134-136] (L13).

`MainFixed` removes a task from its queue and then executes it. `MainPopping` executes a task, and
then removes the first one from its queue, as a later implementation did: if the window has changed
meanwhile, that is another task.

Abstractions. Tasks have no priorities. Any task may change the window, more than once; so may the
timer while no task is executed. Each task is posted once.
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
    """Which window the node is in (L7)."""

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
        """Any thread may post, also while a task is executed (L3, L5, L6)."""
        require(job not in self.posted, "once")
        self.posted.add(job)
        self.queue.append(job)
        if modifies:
            self.modifying.add(job)

    def first(self) -> Job | None:
        """In a read-only window, tasks that modify the state are skipped (L7, L11)."""
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
        """The window changes: a task changes it, or its time is over (L9)."""

    @transition(source=Open.READ, target=Open.WRITE)
    def end(self) -> None:
        """Likewise (L10)."""

    @invariant
    def nothing_is_lost(self) -> bool:
        """A posted task waits, is executed, or is done: it is never dropped (L11)."""
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
        """Windows come and go, and no task is held for ever (L11)."""
        return job in self.posted, job in self.done

    @reachable
    def the_window_changes_under_a_task(self) -> bool:
        """A task that modifies the state has ended the window in which it may do so."""
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
    """Removes a task from the queue, and then executes it."""

    @invariant
    def what_is_executed_does_not_wait(self) -> bool:
        """It was posted, and is not done."""
        job = self.executes
        return job is None or (
            job not in self.queue and job in self.posted and job not in self.done
        )


class MainPopping(Main):
    """Executes a task, and then removes the first from the queue, perhaps another one (L-B11)."""

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
