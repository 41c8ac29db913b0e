"""An executor with read-only windows, which embeds the machines `WindowFixed` and `Transaction`.

The machines decide: which window it is, who may start what, whose time is over, what is put back,
what a shutdown answers. This class holds one lock during each step, and takes the steps of the
window and of a transaction together. It keeps what the machines do not know: the order of the
queues, the threads, and counters. It tries a step of the window, and if the window refuses it,
again after the window's next step. A journal has no rows of these refusals.

    executor = WindowedExecutor(Config(read_only_transaction_num_threads=3), table)
    executor.submit(Kind.READ, script, answered)      # answered(answer) in another thread
    executor.shutdown()

Whatever else goes wrong in a step, such as a journal that cannot be written, breaks the executor:
nothing is executed any more, and all that waits is answered with an error.

One thread is the main thread, the others are the pool of readers. The main thread alone leaves and
enters the read-write window, between two tasks (L-B11); the timers of a read-only window are fired
by whoever comes first. Source: `read-only-transactions.md`, demands L7 to L21; `closing.py` for
who waits how.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count

from lawful import Refused
from lawful.runtime.timers import MILLISECONDS, SteadyClock

from ...services.threads import Event
from ..declaration import Phase, Place
from ..transaction import FINAL, Stage, Transaction
from .jobs import ERRORS, OUTCOMES, Answer, Job, Kind, Overloaded
from .scripts import Failed, Script, run
from .settings import Config, Options, Stats
from .table import GuardedTable, Overlap, Value


class _Cut(Exception):
    """The transaction that this thread executes has ended, or was put back."""


class WindowedExecutor:
    """Executes reads at once, writes in read-write windows, read-only transactions by a pool."""

    def __init__(self, config: Config, table: GuardedTable, options: Options | None = None) -> None:
        """Begins at once. Errors: as of `Config`."""
        self._config = config
        self._table = table
        self._options = options or Options()
        self._threads = self._options.threads
        self._clock = SteadyClock(self._options.clock, MILLISECONDS)
        self._window = config.window(self._clock)
        self._window.start()
        if self._options.journal is not None:
            self._options.journal.attach(self._window, "window", refused=False)
        self._lock = self._threads.lock()
        self._queue: deque[Job] = deque()
        self._gets: deque[Job] = deque()
        self._writes: deque[Job] = deque()
        self._executing = 0
        self._orders = count(1)
        self._counts: Counter[str] = Counter()
        self._sleepers: dict[int | None, Event] = {}  # By reader; None: the main thread.
        self._due: list[tuple[Callable[[Answer], object], Answer]] = []
        self._over = self._threads.event()
        self._broken = ""
        self._deadline = self._window.lawful.next_deadline()
        self._threads.start(partial(self._until_broken, self._main), "main")
        for thread in range(config.read_only_transaction_num_threads):
            run = partial(self._reader, thread)
            self._threads.start(partial(self._until_broken, run), f"reader {thread}")

    # What callers ask.

    def submit(self, kind: Kind, script: Script, answered: Callable[[Answer], object]) -> None:
        """Accept a request: `answered` is called once, in any thread, and should be short.

        Errors: Overloaded; of the journal, which breaks the executor.
        """
        with self._held():
            if self._broken:
                self._due.append((answered, Answer("abandoned", error=ERRORS[Stage.ABANDONED])))
                return
            queue = {Kind.GET: self._gets, Kind.READ: self._queue, Kind.WRITE: self._writes}[kind]
            if len(queue) >= self._config.most_waiting:
                self._counts["overloaded"] += 1
                raise Overloaded(f"{len(queue)} requests of this kind wait")
            limit = self._config.max_read_only_transaction_time
            if kind is Kind.WRITE:
                limit = self._config.max_write_time
            machine = Transaction(max_read_only_transaction_time=limit, clock=self._clock)
            job = Job(kind, script, answered, machine, next(self._orders))
            if self._options.journal is not None:
                name = f"{kind.value} {job.order}"
                job.unheard = self._options.journal.attach(machine, name, refused=False)
            self._counts[kind.value] += 1
            self._arrive(job, queue)
            self._wake()

    def _arrive(self, job: Job, queue: deque[Job]) -> None:
        if job.kind is Kind.READ:
            match self._window.arrive():
                case Place.QUEUE:
                    queue.append(job)
                case Place.MAIN_THREAD:
                    self._gets.append(job)
                case Place.NOWHERE:
                    job.machine.abandon()
                    self._answer(job)
        elif not self._window.lawful.may("read"):  # The node shuts down.
            job.machine.abandon()
            self._answer(job)
        else:
            queue.append(job)

    def call(self, kind: Kind, script: Script) -> Answer:
        """Submit a request, and wait for its answer. Errors: Overloaded."""
        got: list[Answer] = []
        event = self._threads.event()

        def answered(answer: Answer) -> None:
            got.append(answer)
            event.set()

        self.submit(kind, script, answered)
        event.wait()
        return got[0]

    def shutdown(self) -> None:
        """Answer all that waits with an error, and return when every thread has ended its slice.

        Again is no harm.
        """
        with self._held():
            assert self._broken or self._window.queued == len(self._queue)
            if not self._broken and self._did(self._window.shut_down):
                for queue in (self._queue, self._gets, self._writes):
                    for job in queue:
                        job.machine.abandon()
                        self._answer(job)
                    queue.clear()
                self._wake()
        self._over.wait()

    @property
    def broken(self) -> str:
        """What the table's guard has found, or what went wrong in a step; empty if all is well."""
        return self._table.broken or self._broken

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it has shut down or is broken, at most so many seconds; whether it is so."""
        return self._over.wait(timeout)

    def stats(self) -> Stats:
        """Counters and sizes as of now; also after `shutdown`."""
        with self._held():
            return Stats(
                window=self._window.state.value,
                queued=len(self._queue),
                executing=self._executing,
                held=len(self._gets) + len(self._writes),
                counts=dict(self._counts),
            )

    # The lock, and who waits without it.

    @contextmanager
    def _held(self) -> Generator[None, None, None]:
        """Hold the lock; then send the answers that are due."""
        self._lock.acquire()
        problem: Exception | None = None
        try:
            yield
        except (Overloaded, _Cut):
            raise
        except Exception as error:
            if not self._broken:
                problem = error
                self._break(error)
            raise
        finally:
            due, self._due = self._due, []
            self._lock.release()
            for answered, answer in due:
                try:
                    answered(answer)
                except Exception as error:
                    self._raised(error)
            if problem is not None:
                self._options.failed(problem)

    def _break(self, error: Exception) -> None:
        """The machines may not be as the queues are: end everything."""
        self._broken = f"{type(error).__name__}: {error}"
        for queue in (self._queue, self._gets, self._writes):
            for job in queue:
                self._fail(job)
            queue.clear()
        self._over.set()
        self._wake()

    def _fail(self, job: Job) -> None:
        """Answer a request of a broken executor."""
        if not job.ended:
            job.ended = True
            self._counts["failed"] += 1
            text = f"the node is broken: {self._broken}"
            self._due.append((job.answered, Answer("failed", error=text, tries=job.tries)))

    def _until_broken(self, run: Callable[[], None]) -> None:
        """Run a thread; after an error `broken` has it."""
        with suppress(Exception):
            run()

    @contextmanager
    def _failing(self, job: Job) -> Generator[None, None, None]:
        """Answer the request, should the executor break while it is executed."""
        try:
            yield
        except Exception:
            with self._held():
                self._fail(job)
            raise

    def _raised(self, error: BaseException) -> None:
        with self._held():
            self._counts["raised"] += 1
        self._options.failed(error)

    def _wake(self) -> None:
        sleepers, self._sleepers = self._sleepers, {}
        for event in sleepers.values():
            event.set()

    def _sleeper(self, thread: int | None) -> Event:
        """What a thread waits for that has nothing to do. The main thread wakes up by itself, again
        and again where its clock stands still: then it waits for the same as before."""
        event = self._sleepers.get(thread)
        if event is None:
            event = self._sleepers[thread] = self._threads.event()
        return event

    def _fire(self, between_tasks: bool = False) -> None:
        """Fire the timers that are due. Only the main thread, between two tasks, ends a read-write
        window."""
        now = self._clock.now()
        if self._deadline is None or now < self._deadline:
            return
        if self._window.state == Phase.WRITE and not between_tasks:
            return
        for fired in self._window.lawful.fire_due(now):
            self._counts[fired.event] += 1
        self._changed()

    def _changed(self) -> None:
        """The window has changed: everybody looks again."""
        self._deadline = self._window.lawful.next_deadline()
        self._wake()

    def _answer(self, job: Job, values: tuple[Value, ...] = (), error: str = "") -> None:
        """Answer a request whose machine has ended."""
        assert job.machine.state in FINAL
        job.ended = True
        outcome = "failed" if error else OUTCOMES[job.machine.state]
        text = error or ERRORS.get(job.machine.state, "")
        values = values if outcome == "answered" else ()
        self._counts[outcome] += 1
        self._due.append((job.answered, Answer(outcome, values, text, job.tries)))
        if job.unheard is not None:  # Else a journal would keep each request that ever came.
            job.unheard()

    # The main thread.

    def _main(self) -> None:
        while True:
            with self._held():
                job = self._next_task()
                if job is None and (self._broken or self._window.state == Phase.STOPPED):
                    break
                sleeper = None if job else self._sleeper(None)
                left = None if self._deadline is None else self._deadline - self._clock.now()
            if job is not None:
                with self._failing(job):
                    self._execute_on_main(job)
            elif sleeper is not None:
                sleeper.wait(None if left is None else max(left, 0.0) / 1_000)
        self._over.set()

    def _next_task(self) -> Job | None:
        """The next task of the main thread; before it, the window may change."""
        if self._broken:
            return None
        self._fire(between_tasks=True)
        if not self._writes and not self._window.caught_up:
            self._did(self._window.nothing_held)
        for step in (self._window.end, self._window.stop, self._window.begin_early):
            if self._did(step):
                self._counts[step.__name__] += 1
                self._changed()
                return self._next_task()
        first = self._gets[0].order if self._gets else None
        next_is_write = self._writes and (first is None or self._writes[0].order < first)
        if next_is_write and self._did(self._window.write):
            return self._begun(self._writes)
        if self._gets and self._did(self._window.read):
            return self._begun(self._gets)
        return None

    def _did(self, step: Callable[..., object], *args: object) -> bool:
        """Whether the window has taken the step; otherwise nothing has changed."""
        try:
            step(*args)
        except Refused:
            return False
        return True

    def _begun(self, queue: deque[Job]) -> Job:
        """Take the first of a queue. Should this break the executor, it is answered with those that
        wait."""
        queue[0].machine.take()
        job = queue.popleft()
        job.tries += 1
        return job

    def _execute_on_main(self, job: Job) -> None:
        writes = job.kind is Kind.WRITE
        values: tuple[Value, ...] = ()
        error = ""
        try:
            with self._table.writing() if writes else self._table.reading() as view:
                values = tuple(run(job.script, view, partial(self._work, self._look_on_main, job)))
                self._look_on_main(job)  # After this it is made, whatever happens.
                with self._held():
                    job.machine.finish()
        except _Cut:
            return
        except Exception as problem:
            error = self._problem(problem)
        with self._held():
            self._did(job.machine.finish)
            self._answer(job, values, error)

    def _look_on_main(self, job: Job) -> None:
        with self._held():
            job.machine.lawful.fire_due(self._clock.now())
            if self._window.state == Phase.STOPPED:
                self._did(job.machine.abandon)
            if job.machine.state in FINAL:
                self._answer(job)
                raise _Cut

    # The pool of readers.

    def _reader(self, thread: int) -> None:
        while True:
            with self._held():
                job = self._next_transaction(thread)
                if job is None and (self._broken or self._window.state == Phase.STOPPED):
                    return
                sleeper = None if job else self._sleeper(thread)
            if job is not None:
                with self._failing(job):
                    self._execute(thread, job)
            elif sleeper is not None:
                sleeper.wait()

    def _next_transaction(self, thread: int) -> Job | None:
        """The next transaction for this thread; without one it leaves the window, or waits."""
        if self._broken:
            return None
        self._fire()
        if self._did(self._window.drain):
            self._counts["drain"] += 1
            self._changed()
        if self._did(self._window.take, thread):
            job = self._begun(self._queue)
            self._executing += 1
            return job
        if self._did(self._window.leave, thread):
            self._changed()
        return None

    def _execute(self, thread: int, job: Job) -> None:
        values: tuple[Value, ...] = ()
        error, cut = "", False
        try:
            with self._table.reading() as view:
                values = tuple(run(job.script, view, partial(self._work, self._look, job)))
        except _Cut:
            cut = True
        except Exception as problem:
            error = self._problem(problem)
        with self._held():  # It reads no more.
            self._executing -= 1
            self._fire()
            job.machine.lawful.fire_due(self._clock.now())
            again = cut and job.machine.lawful.may("put_back")
            if again and self._did(self._window.put_back, thread):
                self._put_back(job)
            else:
                self._window.finish(thread)
                self._did(job.machine.abandon if cut else job.machine.finish)
                self._answer(job, values, error)
            self._wake()

    def _put_back(self, job: Job) -> None:
        job.machine.put_back()
        self._queue.appendleft(job)
        self._counts["put_back"] += 1

    def _look(self, job: Job) -> None:
        """Between two slices: is the transaction's time over, the window's, or the node's?"""
        with self._held():
            self._fire()
            job.machine.lawful.fire_due(self._clock.now())
            over = self._window.state in (Phase.OVER, Phase.STOPPING)
            if over or job.machine.state != Stage.RUNNING:
                raise _Cut

    # What every thread does.

    def _work(self, look: Callable[[Job], None], job: Job, milliseconds: int) -> None:
        """Let time pass, in slices."""
        left = milliseconds
        while left > 0:
            piece = min(left, self._config.slice_time)
            self._threads.sleep(piece / 1_000)
            left -= piece
            look(job)

    def _problem(self, problem: Exception) -> str:
        """The error of a transaction as its client sees it."""
        if isinstance(problem, Failed):
            return f"failed: {problem}"
        self._raised(problem)
        if isinstance(problem, Overlap):
            return f"the state is broken: {problem}"
        return f"{type(problem).__name__}: {problem}"
