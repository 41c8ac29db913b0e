"""Declarations that models are bound to."""

from __future__ import annotations

from lawful import (
    Machine,
    Nat,
    Param,
    State,
    Timer,
    event,
    ignore,
    initial,
    require,
    terminal,
    transition,
)


class Leaf(State):
    LOCKED = "locked"
    CLOSED = "closed"
    OPEN = "open"
    GONE = "gone"


class Door(Machine):
    state: Leaf = Leaf.LOCKED
    tries: Nat = 0
    code: Param[Nat] = 1234
    most: Param[Nat] = 3
    wait: Timer = Timer()

    @event
    def unlock(self, given: Nat) -> Nat:
        raise NotImplementedError

    @transition(event="unlock", source=Leaf.LOCKED, target=Leaf.CLOSED)
    def right(self, given: Nat) -> Nat:
        require(given == self.code, "another code")
        require(self.tries < self.most, "too many tries")
        self.tries = 0
        return self.tries

    @transition(event="unlock", source=Leaf.LOCKED)
    def wrong(self, given: Nat) -> Nat:
        require(given != self.code, "the code")
        require(self.tries < self.most, "too many tries")
        self.tries += 1
        return self.tries

    @transition(source=Leaf.CLOSED, target=Leaf.OPEN)
    def open(self) -> None:
        self.wait.start(10)

    @transition(source=Leaf.OPEN, target=Leaf.CLOSED)
    def close(self) -> None:
        self.wait.stop()

    @transition(source=Leaf.OPEN, target=Leaf.CLOSED, timer="wait")
    def fall(self) -> None: ...

    @transition(source=(Leaf.CLOSED, Leaf.OPEN), target=(Leaf.LOCKED, Leaf.GONE))
    def leave(self, locking: bool) -> None:
        self.state = Leaf.LOCKED if locking else Leaf.GONE

    @transition(source=Leaf.OPEN, target=Leaf.OPEN)
    def swing(self) -> None: ...

    shut = ignore("close", source=Leaf.CLOSED, because="it is closed")

    @terminal
    def gone(self) -> bool:
        return self.state == Leaf.GONE


class Twice(Machine):
    """Two transitions of an event that are both enabled."""

    state: Leaf = Leaf.CLOSED

    @event
    def go(self) -> None: ...

    @transition(event="go", source=Leaf.CLOSED, target=Leaf.OPEN)
    def one(self) -> None: ...

    @transition(event="go", source=Leaf.CLOSED, target=Leaf.GONE)
    def two(self) -> None: ...


class Chosen(Machine):
    """The same where the caller chooses."""

    state: Leaf = Leaf.CLOSED

    @event(choice=True)
    def go(self) -> None: ...

    @transition(event="go", source=Leaf.CLOSED, target=Leaf.OPEN)
    def one(self) -> None: ...

    @transition(event="go", source=Leaf.CLOSED, target=Leaf.GONE)
    def two(self) -> None: ...


class Patient(Machine):
    """Where its guard refuses, the event is ignored."""

    state: Leaf = Leaf.CLOSED
    ready: bool = False

    @transition()
    def prepare(self) -> None:
        self.ready = True

    @transition()
    def unprepare(self) -> None:
        self.ready = False

    @transition(source=Leaf.CLOSED, target=Leaf.OPEN)
    def go(self) -> None:
        require(self.ready, "not ready")

    later = ignore("go", otherwise=True, because="it waits")


class Begins(Machine):
    state: Leaf = Leaf.CLOSED

    @initial
    def begin(self) -> None:
        self.state = Leaf.OPEN

    @transition(source=Leaf.OPEN, target=Leaf.GONE)
    def go(self) -> None: ...


class Counts(Machine):
    """No control state."""

    count: Nat = 0

    @transition()
    def more(self) -> None:
        self.count += 1
