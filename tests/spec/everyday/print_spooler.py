from enum import IntEnum
from typing import Final

from lawful import Machine, Nat, Record, Scope, Sort, State, invariant, require, transition


class Priority(IntEnum):
    LOW = 1
    NORMAL = 2
    HIGH = 3

    @property
    def label(self) -> str:
        return self.name.title()


class User(Sort):
    pass


class Job(Record):
    id: Nat
    owner: User
    priority: Priority
    pages: Nat


class Printer(State):
    IDLE = "idle"
    PRINTING = "printing"
    JAMMED = "jammed"


class Spooler(Machine):
    MAX_QUEUE: Final = 3

    status: Printer = Printer.IDLE
    queue: list[Job] = []
    current: Job | None = None
    printed: dict[User, int] = {}
    next_id: Nat = 1

    @transition
    def submit(self, owner: User, pages: Nat, priority: Priority = Priority.NORMAL) -> Nat:
        require(len(self.queue) < self.MAX_QUEUE, "queue is full")
        require(1 <= pages <= 2, "page count out of range")
        job_id = self.next_id
        self.next_id += 1
        job = Job(id=job_id, owner=owner, priority=priority, pages=pages)
        for i, other in enumerate(self.queue):
            if other.priority < job.priority:
                self.queue.insert(i, job)
                break
        else:
            self.queue.append(job)
        return job_id

    @transition(source=Printer.IDLE, target=Printer.PRINTING)
    def start(self) -> Job:
        require(len(self.queue) > 0, "nothing to print")
        self.current = self.queue.pop(0)
        return self.current

    @transition(source=Printer.PRINTING, target=Printer.IDLE)
    def finish(self) -> str:
        assert self.current is not None
        job, self.current = self.current, None
        self.printed[job.owner] = self.printed.get(job.owner, 0) + job.pages
        return f"job {job.id:>3} ({job.priority.label}) done, {len(self.queue)} left"

    @transition(source=Printer.PRINTING, target=Printer.JAMMED)
    def jam(self) -> None:
        pass

    @transition(source=Printer.JAMMED, target=(Printer.PRINTING, Printer.IDLE))
    def clear_jam(self, retry: bool) -> None:
        if not retry:
            self.current = None
        self.status = Printer.PRINTING if retry else Printer.IDLE

    @transition
    def cancel(self, job_id: Nat, by: User) -> bool:
        if (job := next((j for j in self.queue if j.id == job_id), None)) is None:
            return False
        if job.owner != by:
            return False
        self.queue.remove(job)
        return True

    @transition
    def purge(self, owner: User) -> list[Nat]:
        removed = [j.id for j in self.queue if j.owner == owner]
        self.queue = [j for j in self.queue if j.owner != owner]
        return removed

    @transition
    def bump(self, job_id: Nat) -> None:
        index = next((i for i, j in enumerate(self.queue) if j.id == job_id), -1)
        require(index >= 0, "no such job")
        job = self.queue[index]
        del self.queue[index]
        self.queue.insert(0, job.replace(priority=Priority.HIGH))
        self.queue.sort(key=lambda j: (-j.priority, j.id))

    @invariant
    def sorted_by_priority(self) -> bool:
        return all(
            a.priority >= b.priority for a, b in zip(self.queue, self.queue[1:], strict=False)
        )

    @invariant
    def unique_ids(self) -> bool:
        ids = [j.id for j in self.queue] + ([self.current.id] if self.current else [])
        return len(set(ids)) == len(ids)

    @invariant
    def printing_has_a_job(self) -> bool:
        return (self.current is not None) == (self.status in {Printer.PRINTING, Printer.JAMMED})

    @invariant
    def pages_counted(self) -> bool:
        return sum(self.printed.values()) >= 0

    def summary(self) -> str:
        return ", ".join(f"{j.id}:{j.pages}" for j in self.queue)

    @transition
    def report(self) -> tuple[str, Nat]:
        return self.summary(), sum(j.pages for j in self.queue)

    scope = Scope(User=1, Nat=range(0, 4), queue=2, printed=range(0, 4))
