"""Small machines for conformance tests: parts, sorts, starts, choices, and faults."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Interval

from lawful import (
    Expect,
    Machine,
    Nat,
    Scope,
    Sort,
    State,
    Timer,
    event,
    ignore,
    initial,
    invariant,
    require,
    total,
    transition,
)


class Desk(Sort):
    """Desks."""


DESKS = {Desk: ["left", "right"]}


class Day(State):
    IDLE = "idle"
    BUSY = "busy"


class Worker(Machine):
    """A part with a timer and an event that two transitions serve."""

    state: Day = Day.IDLE
    done: Nat = 0
    shift: Timer = Timer()

    @event
    def work(self, hours: Nat) -> None: ...

    @transition(source=Day.IDLE, target=Day.BUSY, event="work")
    def start(self, hours: Nat) -> None:
        require(hours > 0, "nothing to do")
        self.shift.start(8.0)
        self.done += hours

    @transition(source=Day.BUSY, event="work")
    def carry_on(self, hours: Nat) -> None:
        require(hours > 1, "too little")
        self.done += hours

    @transition(source=Day.BUSY, target=Day.IDLE, timer="shift")
    def go_home(self) -> None:
        self.done = 0


class Office(Machine):
    """A whole with one part, whose timer is a guard of the whole's event."""

    worker: Worker = Worker()
    hours: Nat = 0
    free: dict[Desk, bool] = total(True)
    dust: Timer = Timer()

    @transition()
    def work(self, desk: Desk, hours: Nat) -> Nat:
        require(self.free[desk], "taken")
        self.worker.work(hours)
        self.hours = max(self.hours, self.worker.done)
        self.free[desk] = not any(self.free[other] for other in Desk if other != desk)
        return self.hours

    @transition()
    def leave(self) -> None:
        self.worker.go_home()
        self.dust.start(1.0)

    @transition(timer="dust")
    def sweep(self) -> None:
        require(self.hours > 2, "clean enough")

    @invariant
    def all_is_counted(self) -> bool:
        return self.worker.done <= self.hours


class Seats(Machine):
    """Several starts, and maps over all of a small type."""

    day: Day
    taken: dict[Annotated[int, Interval(ge=1, le=3)], bool] = total(False)
    desk: Desk | None = None
    here: set[Desk] = set()

    @initial
    def empty(self) -> None:
        self.day = Day.IDLE

    @initial
    def reserved(self, seat: Annotated[int, Interval(ge=1, le=3)], desk: Desk) -> None:
        require(seat < 3, "never reserved")
        self.day = Day.BUSY
        self.taken[seat] = True
        self.desk = desk

    @transition()
    def sit(self, seat: Annotated[int, Interval(ge=1, le=3)], desk: Desk | None) -> bool:
        require(not self.taken[seat], "taken")
        self.taken[seat] = True
        self.desk = desk
        if desk is not None:
            self.here.add(desk)
        return all(other in self.here for other in Desk)

    @transition()
    def leave(self) -> frozenset[Desk]:
        require(self.desk is not None, "nobody")
        self.desk = None
        return frozenset(self.here)


class Coins(Machine):
    """A choice: the caller calls one transition."""

    heads_up: Nat = 0

    @event(choice=True)
    def toss(self) -> None: ...

    @transition(event="toss")
    def heads(self) -> None:
        self.heads_up += 1

    @transition(event="toss")
    def tails(self) -> None: ...


class Faults(Machine):
    """Every built-in property broken, as it expects; the runtime breaks them in the same way."""

    n: Nat = 3
    kept: dict[Nat, Nat] = {}

    @transition()
    def take(self, k: Nat) -> None:
        self.n -= k

    @transition()
    def look(self, k: Nat) -> Nat:
        return self.kept[k]

    @transition()
    def keep(self, k: Nat) -> None:
        assert k < 4
        self.kept[k] = self.n

    @event
    def both(self, k: Nat) -> None: ...

    @transition(event="both")
    def small(self, k: Nat) -> None:
        require(k < 3, "large")

    @transition(event="both")
    def large(self, k: Nat) -> None:
        require(10 // k > 1, "small")
        self.n = k

    never = ignore("both", when=lambda self, k: self.kept[k] == 0, because="kept as 0")

    @invariant
    def never_three(self) -> bool:
        return self.n != 3

    expects = Expect(
        bounds="violated",
        undefined="undefined",
        asserts="violated",
        ambiguous="violated",
        never_three="violated",
    )


class Liar(Machine):
    """Breaks its own invariant."""

    n: Nat = 0

    @transition()
    def more(self) -> None:
        self.n += 1

    @invariant
    def few(self) -> bool:
        return self.n < 1


class Below(Machine):
    """Leaves its own bounds."""

    n: Nat = 0

    @transition()
    def less(self) -> None:
        self.n -= 1

    scope = Scope(Nat=range(0, 3))
