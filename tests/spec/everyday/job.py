"""A job with a deadline in wall-clock time."""

from datetime import datetime, timedelta
from uuid import UUID

from lawful import Machine, Nat, Scope, State, invariant, needed, require, transition

GRACE = timedelta(minutes=5)


class JobState(State):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    LATE = "late"


class DeadlineJob(Machine):
    state: JobState = JobState.QUEUED
    id: UUID | None = None
    deadline: datetime | None = None
    retries: Nat = 0

    @transition(source=JobState.QUEUED)
    def schedule(self, id: UUID, deadline: datetime) -> None:
        self.id = id
        self.deadline = deadline

    @transition(source=JobState.QUEUED, target=JobState.RUNNING)
    def start(self) -> UUID:
        require(self.deadline is not None, "no deadline")
        return needed(self.id, "not scheduled")

    @transition(source=JobState.RUNNING, target=(JobState.DONE, JobState.LATE))
    def finish(self, now: datetime) -> bool:
        if self.deadline is None:
            return False
        late = now > self.deadline + GRACE
        self.state = JobState.LATE if late else JobState.DONE
        return not late

    @invariant
    def running_is_scheduled(self) -> bool:
        return self.state is not JobState.RUNNING or self.deadline is not None

    deadlock_ok = True
    scope = Scope(Nat=range(0, 2), UUID=2, datetime=range(0, 3))
