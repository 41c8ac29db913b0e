"""A queue of jobs that are tried again with growing pauses."""

from collections import deque

from lawful import Machine, Nat, Record, Scope, Sort, Timer, invariant, require, transition

DELAYS = (0.5, 1.0, 5.0)


class Job(Sort): ...


class Entry(Record):
    job: Job
    tries: Nat = 0


class RetryQueue(Machine):
    waiting: deque[Entry] = deque()
    running: Entry | None = None
    dead: set[Job] = set()
    pause: Timer = Timer()

    @transition
    def submit(self, job: Job) -> None:
        require(job not in self.dead, f"{job} is dead")
        require(all(e.job != job for e in self.waiting), "already queued")
        require(self.running is None or self.running.job != job, "already running")
        self.waiting.append(Entry(job))

    @transition
    def start(self) -> Job:
        require(self.running is None, "busy")
        require(len(self.waiting) > 0, "nothing to do")
        self.running = self.waiting.popleft()
        return self.running.job

    @transition
    def succeed(self) -> None:
        require(self.running is not None, "nothing runs")
        self.running = None

    @transition
    def fail(self) -> float:
        if self.running is None:
            raise ValueError("nothing runs")
        entry, self.running = self.running, None
        if entry.tries + 1 >= len(DELAYS):
            self.dead.add(entry.job)
            return 0.0
        self.waiting.append(Entry(entry.job, tries=entry.tries + 1))
        self.pause.start(DELAYS[entry.tries])
        return DELAYS[entry.tries]

    @transition(timer="pause")
    def resume(self) -> None: ...

    @invariant
    def dead_do_not_wait(self) -> bool:
        return not any(e.job in self.dead for e in self.waiting)

    scope = Scope(Job=2, tries=range(0, 3), waiting=2)
