from dataclasses import replace
from datetime import timedelta
from enum import StrEnum

from lawful import (
    Machine,
    Nat,
    Param,
    Record,
    Scope,
    State,
    Timer,
    invariant,
    require,
    terminal,
    total,
    transition,
)


class Job(StrEnum):
    LINT = "lint"
    TEST = "test"
    BUILD = "build"
    DEPLOY = "deploy"


class Status(State):
    PENDING = "pending"
    RUNNING = "running"
    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


class Run(State):
    ACTIVE = "active"
    GREEN = "green"
    RED = "red"


NEEDS: dict[Job, frozenset[Job]] = {
    Job.LINT: frozenset(),
    Job.TEST: frozenset(),
    Job.BUILD: frozenset({Job.LINT, Job.TEST}),
    Job.DEPLOY: frozenset({Job.BUILD}),
}
FLAKY = {Job.TEST}
BACKOFF = (timedelta(seconds=10), timedelta(seconds=30))
MAX_RETRIES = len(BACKOFF)
FINAL = (Status.PASSED, Status.FAILED, Status.SKIPPED)


class Attempt(Record):
    job: Job
    number: Nat
    message: str = ""


class Pipeline(Machine):
    run: Run = Run.ACTIVE
    status: dict[Job, Status] = total(Status.PENDING)
    retries: dict[Job, Nat] = total(0)
    backoff: dict[Job, Timer] = {}
    runners: Param[Nat] = 2

    def _runnable(self, job: Job) -> bool:
        return self.status[job] == Status.PENDING and all(
            self.status[n] == Status.PASSED for n in NEEDS[job]
        )

    def _running(self) -> int:
        return sum(1 for s in self.status.values() if s is Status.RUNNING)

    def _settle(self) -> None:
        if any(s == Status.FAILED for s in self.status.values()):
            self.run = Run.RED
        elif all(s in FINAL for s in self.status.values()):
            self.run = Run.GREEN

    @transition(source=Run.ACTIVE)
    def start(self, job: Job) -> Attempt:
        require(self._runnable(job), f"{job.value} has to wait")
        require(self._running() < self.runners, "all runners are busy")
        self.status[job] = Status.RUNNING
        attempt = Attempt(job=job, number=self.retries[job] + 1)
        if attempt.number > 1:
            attempt = replace(attempt, message=f"retry {attempt.number - 1} of {MAX_RETRIES}")
        return attempt

    @transition(source=Run.ACTIVE, target=(Run.ACTIVE, Run.GREEN, Run.RED))
    def finished(self, job: Job, ok: bool) -> tuple[Status, float]:
        require(self.status[job] == Status.RUNNING, "is not running")
        delay = 0.0
        if ok:
            self.status[job] = Status.PASSED
        elif job in FLAKY and self.retries[job] < MAX_RETRIES:
            delay = BACKOFF[self.retries[job]].total_seconds()
            self.retries[job] += 1
            self.status[job] = Status.PENDING
        else:
            self.status[job] = Status.FAILED
            for later in Job:
                if job in NEEDS[later] and self.status[later] == Status.PENDING:
                    self.status[later] = Status.SKIPPED
        self._settle()
        return self.status[job], delay

    @transition(source=Run.ACTIVE, target=Run.RED)
    def cancel(self) -> list[Job]:
        stopped = sorted(j for j, s in self.status.items() if s in (Status.PENDING, Status.RUNNING))
        self.status |= {j: Status.SKIPPED for j in stopped}
        return stopped

    @transition
    def next_jobs(self) -> list[Job]:
        return [j for j in Job if self._runnable(j)]

    @transition
    def describe(self) -> str:
        parts = [f"{job.value}={self.status[job].value}" for job in Job]
        return " ".join(parts)

    @terminal
    def over(self) -> bool:
        return self.run is not Run.ACTIVE

    @invariant
    def order_kept(self) -> bool:
        for job, needs in NEEDS.items():
            if self.status[job] in (Status.RUNNING, Status.PASSED) and not all(
                self.status[n] == Status.PASSED for n in needs
            ):
                return False
        return True

    @invariant
    def few_retries(self, job: Job) -> bool:
        return self.retries[job] <= (MAX_RETRIES if job in FLAKY else 0)

    @invariant
    def busy(self) -> bool:
        return not self._running() > self.runners

    scope = Scope(Nat=range(0, 4), runners=(1, 2))
