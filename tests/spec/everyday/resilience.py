"""Rate limiter, circuit breaker, retrying job queue."""

from typing import Final, Literal

from lawful import (
    Clock,
    Machine,
    Nat,
    Param,
    Record,
    Scope,
    Sort,
    State,
    Timer,
    invariant,
    needed,
    refuse,
    require,
    transition,
)


class ClientId(Sort): ...


class Bucket(Record):
    tokens: Nat
    updated_at: Nat = 0


class RateLimiter(Machine):
    CAPACITY: Final = 3
    REFILL_PER_TICK: Final[int] = 1

    clock: Clock = Clock(tick=1.0)
    buckets: dict[ClientId, Bucket] = {}
    rejected: Nat = 0

    def _refilled(self, bucket: Bucket) -> Bucket:
        elapsed = self.clock.now - bucket.updated_at
        tokens = min(self.CAPACITY, bucket.tokens + elapsed * self.REFILL_PER_TICK)
        return Bucket(tokens=tokens, updated_at=self.clock.now)

    @transition
    def acquire(self, client: ClientId, cost: Nat = 1) -> bool:
        bucket = self.buckets.get(client) or Bucket(tokens=self.CAPACITY, updated_at=self.clock.now)
        bucket = self._refilled(bucket)
        if bucket.tokens < cost:
            self.rejected = min(self.rejected + 1, 2)
            allowed = False
        else:
            bucket = bucket.replace(tokens=bucket.tokens - cost)
            allowed = True
        self.buckets[client] = bucket
        return allowed

    @transition
    def evict_idle(self) -> int:
        idle = [c for c, b in self.buckets.items() if self.clock.now - b.updated_at > 2]
        for c in idle:
            del self.buckets[c]
        return len(idle)

    @transition
    def retry_after(self, client: ClientId) -> int | None:
        if (bucket := self.buckets.get(client)) is None:
            return None
        missing = 1 - self._refilled(bucket).tokens
        return max(missing, 0) // self.REFILL_PER_TICK

    @invariant
    def never_above_capacity(self) -> bool:
        return all(0 <= b.tokens <= self.CAPACITY for b in self.buckets.values())

    scope = Scope(ClientId=1, clock=range(0, 4), Nat=range(0, 4))
    deadlock_ok = True


class Circuit(State):
    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"


class CircuitBreaker(Machine):
    """Classic circuit breaker with sliding window."""

    WINDOW = 3
    state: Circuit = Circuit.CLOSED
    results: list[bool] = []
    probes: Nat = 0
    cooldown: Timer = Timer()
    threshold: Param[Nat] = 2
    reset_after: Param[float] = 30.0

    @property
    def failures(self) -> int:
        return self.results.count(False)

    @property
    def failure_ratio_high(self) -> bool:
        return len(self.results) > 0 and self.failures * 2 >= len(self.results)

    def _record(self, ok: bool) -> None:
        self.results.append(ok)
        if len(self.results) > self.WINDOW:
            self.results.pop(0)

    def _trip(self) -> None:
        self.state = Circuit.OPEN
        self.results.clear()
        self.cooldown.start(self.reset_after)

    @transition(source=Circuit.CLOSED, target=[Circuit.CLOSED, Circuit.OPEN])
    def call(self, ok: bool) -> str:
        self._record(ok)
        if self.failures >= self.threshold and not ok:
            self._trip()
            return "tripped"
        return "ok" if ok else f"failed {self.failures}/{self.WINDOW}"

    @transition(source=Circuit.OPEN, target=Circuit.HALF_OPEN, timer="cooldown")
    def cool(self) -> None:
        self.probes = 0

    @transition(source=Circuit.HALF_OPEN, target=(Circuit.HALF_OPEN, Circuit.OPEN, Circuit.CLOSED))
    def probe(self, ok: bool) -> None:
        if not ok:
            self._trip()
            return
        self.probes += 1
        if self.probes == 2:
            self.state, self.probes = Circuit.CLOSED, 0

    @transition(source=Circuit.OPEN)
    def reject(self) -> None: ...

    @invariant
    def window_is_bounded(self) -> bool:
        return len(self.results) <= self.WINDOW

    @invariant
    def open_iff_cooling(self) -> bool:
        return (self.state is Circuit.OPEN) == self.cooldown.armed

    scope = Scope(Nat=range(0, 4), results=4)


class Job(Sort):
    """A job id."""


class JobState(State):
    QUEUED = "queued"
    RUNNING = "running"
    FAILED = "failed"
    DONE = "done"
    DEAD = "dead"


BACKOFF = (1.0, 5.0, 25.0)
MAX_ATTEMPTS = len(BACKOFF)


class JobInfo(Record):
    status: JobState = JobState.QUEUED
    attempts: Nat = 0
    priority: Literal[0, 1] = 0

    def with_attempt(self) -> "JobInfo":
        return self.replace(attempts=self.attempts + 1, status=JobState.RUNNING)


class JobQueue(Machine):
    CONCURRENCY = 1
    jobs: dict[Job, JobInfo] = {}
    queue: list[Job] = []
    dead: set[Job] = set()

    @transition
    def enqueue(self, job: Job, priority: Literal[0, 1] = 0) -> None:
        require(job not in self.jobs, "duplicate")
        self.jobs[job] = JobInfo(priority=priority)
        if priority > 0:
            self.queue.insert(0, job)
        else:
            self.queue.append(job)

    @transition
    def take(self) -> Job:
        running = [j for j, info in self.jobs.items() if info.status is JobState.RUNNING]
        require(len(running) < self.CONCURRENCY, "no free worker")
        require(self.queue, "nothing to do")
        job, *rest = self.queue
        self.queue = rest
        self.jobs[job] = self.jobs[job].with_attempt()
        return job

    @transition
    def succeed(self, job: Job) -> None:
        info = needed(self.jobs.get(job), "unknown job")
        require(info.status == JobState.RUNNING, "is not running")
        self.jobs[job] = info.replace(status=JobState.DONE)

    @transition
    def fail(self, job: Job) -> float | None:
        info = self.jobs.get(job)
        if info is None or info.status != JobState.RUNNING:
            refuse("not running")
        if info.attempts >= MAX_ATTEMPTS:
            self.jobs[job] = info.replace(status=JobState.DEAD)
            self.dead.add(job)
            return None
        self.jobs[job] = info.replace(status=JobState.FAILED)
        delay = BACKOFF[info.attempts - 1]
        return delay

    @transition
    def retry(self, job: Job) -> None:
        for other, info in self.jobs.items():
            if other == job and info.status == JobState.FAILED:
                break
        else:
            refuse("nothing to retry")
        self.jobs[job] = self.jobs[job].replace(status=JobState.QUEUED)
        self.queue.append(job)

    @transition
    def stats(self) -> dict[JobState, int]:
        return {s: sum(1 for i in self.jobs.values() if i.status == s) for s in JobState}

    @invariant
    def queue_has_no_duplicates(self) -> bool:
        return len(set(self.queue)) == len(self.queue)

    @invariant
    def queued_iff_in_queue(self) -> bool:
        return {j for j, i in self.jobs.items() if i.status == JobState.QUEUED} == set(self.queue)

    @invariant
    def at_most_one_running(self) -> bool:
        return sum(i.status == JobState.RUNNING for i in self.jobs.values()) <= self.CONCURRENCY

    @invariant
    def attempts_bounded(self) -> bool:
        return max((i.attempts for i in self.jobs.values()), default=0) <= MAX_ATTEMPTS

    scope = Scope(Job=2, queue=2, Nat=range(0, 5))
    deadlock_ok = True
