"""Machines of which some properties are provable and some must never be called proved."""

from typing import Annotated

from annotated_types import MaxLen

from lawful import (
    Machine,
    Nat,
    Param,
    Record,
    Sort,
    State,
    Timer,
    assume,
    initial,
    invariant,
    require,
    step_property,
    total,
    transition,
)


class Step(State):
    ONE = "one"
    TWO = "two"


class Counter(Machine):
    """Invariants that hold, that hold but are not inductive, and that are false."""

    state: Step = Step.ONE
    n: Nat = 0
    even: int = 0

    @transition()
    def up(self) -> None:
        self.n += 1
        self.even += 2

    @invariant
    def even_is_even(self) -> bool:
        return self.even % 2 == 0

    @invariant
    def never_two(self) -> bool:
        return self.state == Step.ONE

    @invariant
    def small(self) -> bool:
        return self.n < 10

    @invariant
    def small_too(self) -> bool:
        """Kept by `up` only with the help of `small`, which is not kept."""
        return self.n < 11

    @invariant
    def starts_wrong(self) -> bool:
        return self.n > 0

    @step_property
    def grows(self, after: "Counter") -> bool:
        return after.n > self.n

    @step_property
    def shrinks(self, after: "Counter") -> bool:
        return after.n < self.n


class Dead(Machine):
    """Transitions that never happen: by their guard, by the invariants, by a wrong invariant."""

    state: Step = Step.ONE
    n: int = 0

    @transition()
    def up(self, by: Nat) -> None:
        require(by < 10, "too much")
        self.n += by

    @transition()
    def contradicts(self) -> None:
        require(self.n > 5 and self.n < 3, "never")
        self.n = -1

    @transition(source=Step.TWO)
    def excluded(self) -> None:
        self.n = -1

    @transition(target=Step.ONE)
    def barred(self) -> None:
        require(self.n > 20, "only a wrong invariant rules it out")

    @invariant
    def natural(self) -> bool:
        return self.n >= 0

    @invariant
    def always_one(self) -> bool:
        return self.state == Step.ONE

    @invariant
    def small(self) -> bool:
        """Holds at the start, and not for long."""
        return self.n < 20

    @step_property
    def grows(self, after: "Dead") -> bool:
        return after.n >= self.n


class Cubes(Machine):
    """A guard that is true somewhere, far from all that is looked at."""

    n: Nat = 0

    @transition()
    def hit(self, x: int, y: int, z: int) -> None:
        require(x * x * x + y * y * y + z * z * z == 33, "not the sum")
        self.n += 1


class Assumed(Machine):
    """An assumption about parameters, used; the limits are for all of them."""

    low: Param[int] = 0
    high: Param[int] = 3
    at: int = 0

    @assume
    def ordered(self) -> bool:
        return self.low < self.high

    @initial
    def begin(self, at: int) -> None:
        require(self.low <= at <= self.high, "outside")
        self.at = at

    @transition()
    def up(self, by: Nat) -> None:
        require(self.at + by <= self.high, "too far")
        self.at += by

    @invariant
    def inside(self) -> bool:
        return self.low <= self.at <= self.high


class Absurd(Assumed):
    """Nothing can be assumed of these parameters."""

    @assume
    def never(self) -> bool:
        return self.low > self.high

    @invariant
    def anything(self) -> bool:
        return self.at == 77


class Faults(Machine):
    """Each built-in property breaks in one transition."""

    n: Nat = 0
    names: dict[Nat, Nat] = {}

    @transition()
    def below(self) -> None:
        self.n -= 1

    @transition()
    def wrong(self, by: Nat) -> None:
        assert self.n < 3

    @transition()
    def missing(self, q: Nat) -> None:
        self.n = self.names[q]

    @transition()
    def divided(self, by: Nat) -> int:
        return self.n // by

    @transition()
    def output(self) -> Nat:
        return self.n - 1

    @transition()
    def fine(self, by: Nat) -> Nat:
        require(by != 0, "zero")
        return self.n // by

    @invariant
    def has_a_name(self) -> bool:
        """Has no value where there is no name: at the start, to begin with."""
        return self.names[self.n] >= 0


class Listed(Machine):
    """A list without a bound has no encoding: what needs it is unknown, the rest is proved."""

    queue: list[Nat] = []
    n: Nat = 0
    seen: set[Nat] = set()

    @transition()
    def put(self, x: Nat) -> None:
        self.queue.append(x)

    @transition()
    def count(self) -> None:
        self.n += 1

    @transition()
    def size(self) -> None:
        self.n = len(self.seen - {0})

    @transition()
    def visit(self) -> None:
        for q in self.seen:
            self.n += q

    @invariant
    def natural(self) -> bool:
        return self.n >= 0

    @invariant
    def short(self) -> bool:
        return len(self.queue) < 3


class Channel(Machine):
    """A FIFO channel: what arrives is what was sent, one after the other."""

    channel: list[Nat] = []
    sent: Nat = 0
    received: Nat = 0

    @transition()
    def send(self) -> None:
        self.channel.append(self.sent)
        self.sent += 1

    @transition()
    def receive(self) -> None:
        require(len(self.channel) > 0, "nothing is under way")
        first = self.channel.pop(0)
        assert first == self.received
        self.received += 1

    @invariant
    def counted(self) -> bool:
        return self.received + len(self.channel) == self.sent

    @invariant
    def in_order(self) -> bool:
        return all(x == self.received + i for i, x in enumerate(self.channel))

    @invariant
    def short(self) -> bool:
        """False: nothing keeps a third one out."""
        return len(self.channel) < 3


class Places(Machine):
    """At most three at once, by a guard."""

    waiting: Annotated[list[Nat], MaxLen(3)] = []

    @transition()
    def come(self, n: Nat) -> None:
        require(len(self.waiting) < 3 and n not in self.waiting, "full, or there already")
        self.waiting.append(n)

    @transition()
    def go(self, n: Nat) -> None:
        require(n in self.waiting, "not there")
        self.waiting.remove(n)

    @invariant
    def once(self) -> bool:
        return all(self.waiting.count(n) == 1 for n in self.waiting)


class PlacesUnguarded(Places):
    """And one more."""

    @transition()
    def come(self, n: Nat) -> None:
        require(n not in self.waiting, "there already")
        self.waiting.append(n)


class Job(Record):
    number: Nat
    owner: "Worker"


class Worker(Sort):
    """Any number of them."""


class Owned(Machine):
    """Records, maps from sorts, timers in a map: for any number of workers."""

    jobs: dict[Worker, Job] = {}
    alarm: dict[Worker, Timer] = {}
    busy: dict[Worker, bool] = total(False)

    @transition()
    def give(self, w: Worker, n: Nat) -> None:
        require(w not in self.jobs, "has one")
        self.jobs[w] = Job(n, w)
        self.busy[w] = True
        self.alarm[w] = Timer()
        self.alarm[w].start(1.0)

    @transition(timer="alarm[w]")
    def late(self, w: Worker) -> Job:
        job = self.jobs[w]
        del self.jobs[w]
        self.busy[w] = False
        return job

    @transition()
    def swap(self, a: Worker, b: Worker) -> None:
        require(a in self.jobs and b in self.jobs, "one has none")
        self.jobs = {w: j.replace(number=j.number + 1) for w, j in self.jobs.items()}

    @invariant
    def owners(self) -> bool:
        return all(j.owner == w and self.busy[w] for w, j in self.jobs.items())

    @invariant
    def busy_have_jobs(self, w: Worker) -> bool:
        return self.busy[w] == (w in self.jobs)

    @invariant
    def watched(self) -> bool:
        return all(w in self.jobs for w in self.alarm if self.alarm[w].armed)


class Hard(Machine):
    """Beyond any solver, and found out in no time."""

    x: Nat = 1
    y: Nat = 1
    z: Nat = 1

    @transition()
    def choose(self, x: Nat, y: Nat, z: Nat) -> None:
        require(x > 0 and y > 0 and z > 0, "positive")
        self.x, self.y, self.z = x, y, z

    @invariant
    def fermat(self) -> bool:
        return self.x * self.x * self.x + self.y * self.y * self.y != self.z * self.z * self.z


class Unassumed(Machine):
    """An assumption without an encoding rules out what would break the start."""

    names: Param[tuple[Nat, ...]] = ()
    at: Param[Nat] = 3

    @assume
    def some(self) -> bool:
        return len(self.names[1:]) == 1 and self.at > 2

    n: Nat = 0

    @initial
    def begin(self) -> None:
        self.n = self.at

    @transition()
    def up(self) -> None:
        self.n += 1

    @invariant
    def high(self) -> bool:
        return self.n > 2

    @invariant
    def natural(self) -> bool:
        return self.n >= 0
