"""The protocol of `runtime.runner.Line`: callers, the one of them that holds the line, the line.

Each transition is one step of the code, taken under its lock; running an event is no step of the
line, so anything may happen meanwhile. The faulty variants are what other dispatchers do. It is
declared here, beside the tests that compare it with the code, and in no folder of the product:
nobody embeds it.
"""

from lawful import (
    Expect,
    Fairness,
    Machine,
    Nat,
    Param,
    Record,
    Scope,
    Sort,
    State,
    Weak,
    implies,
    infinitely_often,
    invariant,
    leads_to,
    reachable,
    require,
    total,
    transition,
)


class Caller(Sort):
    """A thread."""


class At(State):
    """Where a caller is."""

    OUTSIDE = "outside"
    WAITING = "waiting"
    HOLDING = "holding"
    RUNNING = "running"
    LEAVING = "leaving"
    POSTING = "posting"


class Job(Record):
    """An event in line, and whether its caller waits for its turn."""

    by: Caller
    waits: bool


class CallsOnly(Machine):
    """Callers run their own events, one at a time, in the order in which they came."""

    capacity: Param[Nat] = 3
    at: dict[Caller, At] = total(At.OUTSIDE)
    holder: Caller | None = None
    line: list[Job] = []
    runs: Job | None = None

    def full(self) -> bool:
        return len(self.line) >= self.capacity

    def enter(self, job: Job) -> bool:
        """Whether the line is held by its caller now."""
        self.line.append(job)
        if self.holder is None:
            self.holder = job.by
        return self.holder == job.by

    @transition(source=At.OUTSIDE, target=(At.HOLDING, At.WAITING), of="at[c]")
    def call(self, c: Caller) -> bool:
        require(not self.full(), "there is no room")
        holds = self.enter(Job(c, True))
        self.at[c] = At.HOLDING if holds else At.WAITING
        return holds

    @transition(source=At.HOLDING, target=At.RUNNING, of="at[c]")
    def begin(self, c: Caller) -> Job:
        """The holder runs its own event, and those whose callers do not wait."""
        require(len(self.line) > 0, "nothing is in line")
        require(self.line[0].by == c or not self.line[0].waits, "it is another's turn")
        job = self.line.pop(0)
        self.runs = job
        return job

    @transition(source=At.RUNNING, target=At.HOLDING, of="at[c]")
    def end(self, c: Caller) -> None:
        self.runs = None

    @transition(source=At.HOLDING, target=At.OUTSIDE, of="at[c]")
    def hand_over(self, c: Caller) -> Caller:
        """The next event is another caller's, who waits."""
        require(len(self.line) > 0, "nothing is in line")
        require(self.line[0].by != c and self.line[0].waits, "it is nobody else's turn")
        self.holder = self.line[0].by
        self.at[self.line[0].by] = At.HOLDING
        return self.line[0].by

    @transition(source=At.HOLDING, target=At.OUTSIDE, of="at[c]")
    def leave(self, c: Caller) -> None:
        """That the line is empty is seen in the step in which it is left."""
        require(len(self.line) == 0, "something is in line")
        self.holder = None

    @invariant
    def one_at_a_time(self, c: Caller, d: Caller) -> bool:
        return implies(self.at[c] == At.RUNNING and self.at[d] == At.RUNNING, c == d)

    @invariant
    def one_is_run_by_one(self) -> bool:
        busy = (At.RUNNING, At.POSTING)
        return (self.runs is not None) == any(self.at[c] in busy for c in Caller)

    @invariant
    def nothing_is_stranded(self) -> bool:
        return implies(len(self.line) > 0, self.holder is not None)

    @invariant
    def the_holder_knows(self, c: Caller) -> bool:
        return (self.holder == c) == (self.at[c] not in (At.OUTSIDE, At.WAITING))

    @invariant
    def who_waits_is_in_line_once(self, c: Caller) -> bool:
        return implies(self.at[c] == At.WAITING, self.line.count(Job(c, True)) == 1)

    @invariant
    def who_is_outside_waits_for_nothing(self, c: Caller) -> bool:
        return implies(self.at[c] == At.OUTSIDE, Job(c, True) not in self.line)

    @reachable
    def busy(self) -> bool:
        return len(self.line) == 2 and any(self.at[c] == At.RUNNING for c in Caller)

    @leads_to
    def calls_run(self, c: Caller) -> tuple[bool, bool]:
        return self.at[c] == At.WAITING, self.runs == Job(c, True) and self.at[c] == At.RUNNING

    @infinitely_often
    def calls_return(self, c: Caller) -> bool:
        return self.at[c] == At.OUTSIDE

    fairness = Fairness(Weak("begin", "end", "hand_over", "leave", each=("c",)))
    scope = Scope(Caller=3, line=3)


class Dispatcher(CallsOnly):
    """With events that are posted, inside events and elsewhere, and callers that give up.

    Whoever holds the line runs what was posted. So a call may not return while others post
    without end, as no thread is there for it; what was taken is run all the same.
    """

    @transition(
        source=(At.OUTSIDE, At.RUNNING), target=(At.OUTSIDE, At.RUNNING, At.HOLDING), of="at[c]"
    )
    def post(self, c: Caller) -> bool:
        require(not self.full(), "there is no room")
        holds = self.holder is None
        self.enter(Job(c, False))
        if holds:
            self.at[c] = At.HOLDING
        return holds

    @transition(source=At.WAITING, target=At.OUTSIDE, of="at[c]")
    def give_up(self, c: Caller) -> None:
        """An interrupted caller leaves its event in line."""
        self.line[self.line.index(Job(c, True))] = Job(c, False)

    @leads_to
    def calls_run(self, c: Caller) -> tuple[bool, bool]:
        """Or they are given up; then their events are like those that were posted."""
        return self.at[c] == At.WAITING, self.at[c] in (At.RUNNING, At.OUTSIDE)

    @leads_to
    def posts_run(self, c: Caller) -> tuple[bool, bool]:
        return Job(c, False) in self.line, self.runs == Job(c, False)

    @reachable
    def three_in_line(self) -> bool:
        return len(self.line) == 3

    expects = Expect(calls_return=("violated", 4))


class LooksThenLeaves(CallsOnly):
    """An empty line is seen in one step and left in the next: who comes between them waits."""

    @transition(source=At.HOLDING, target=At.LEAVING, of="at[c]")
    def leave(self, c: Caller) -> None:
        require(len(self.line) == 0, "something is in line")

    @transition(source=At.LEAVING, target=At.OUTSIDE, of="at[c]")
    def let_go(self, c: Caller) -> None:
        self.holder = None

    fairness = Fairness(Weak("begin", "end", "hand_over", "leave", "let_go", each=("c",)))
    expects = Expect(
        nothing_is_stranded=("violated", 6),
        calls_run=("violated", 6),
        calls_return=("violated", 6),
        who_is_outside_waits_for_nothing=("violated", 8),
        who_waits_is_in_line_once=("violated", 9),
    )


class WaitsInside(Dispatcher):
    """Who posts inside an event waits for room, which nobody else can make."""

    @transition(source=At.RUNNING, target=At.POSTING, of="at[c]")
    def want_to_post(self, c: Caller) -> None: ...

    @transition(source=At.OUTSIDE, target=(At.OUTSIDE, At.HOLDING), of="at[c]")
    def post(self, c: Caller) -> bool:
        require(not self.full(), "there is no room")
        holds = self.enter(Job(c, False))
        self.at[c] = At.HOLDING if holds else At.OUTSIDE
        return holds

    @transition(source=At.POSTING, target=At.RUNNING, of="at[c]")
    def post_inside(self, c: Caller) -> None:
        require(not self.full(), "there is no room")
        self.enter(Job(c, False))

    fairness = Fairness(Weak("begin", "end", "hand_over", "leave", "post_inside", each=("c",)))
    expects = Expect(
        deadlock=("violated", 6),
        calls_run=("violated", 6),
        posts_run=("violated", 6),
        calls_return=("violated", 5),
    )
