"""Machines whose traces are played: with serial numbers, opaque values, ghosts, faults."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from lawful import (
    Ghost,
    Machine,
    Nat,
    Opaque,
    Param,
    Scope,
    Serial,
    Sort,
    Timer,
    before,
    constraint,
    eventually,
    initial,
    invariant,
    reachable,
    recoverable,
    refines,
    require,
    step_property,
    transition,
)

Seq = Annotated[int, Serial(bits=8)]
Flag = Annotated[bool, Opaque("Flag")]


class Color(Enum):
    """An opaque's Python type."""

    RED = 1
    BLUE = 2


class Wide(Machine):
    """A window of 6: more than half of the numbers that 3 bits have."""

    sent: Seq = 0
    acked: Seq = 0

    @transition()
    def send(self) -> Seq:
        require(self.sent - self.acked < 6, "the window is full")
        self.sent += 1
        return self.sent

    @transition()
    def ack(self, number: Seq) -> None:
        require(before(self.acked, number), "acknowledged")
        require(number == self.sent or before(number, self.sent), "not sent")
        self.acked = number

    @invariant
    def in_order(self) -> bool:
        return not before(self.sent, self.acked)

    @step_property
    def no_step_back(self, after: Wide) -> bool:
        return not before(after.sent, self.sent)

    scope = Scope(Serial=3)
    enough = Scope(Serial=4)


class Over(Machine):
    """From a number that the caller chooses on; wrong where the numbers begin again."""

    value: Seq = 0
    first: Param[Seq] = 0

    @initial
    def begin(self) -> None:
        self.value = self.first

    @transition()
    def on(self) -> None:
        self.value += 1

    @invariant
    def never_again(self) -> bool:
        return self.value != 0

    scope = Scope(Serial=3, first=(6,))


class Far(Machine):
    """Acknowledges one after the other, at last a number that 3 bits have not."""

    sent: Seq = 0
    count: Nat = 0

    @transition()
    def ack(self, number: Seq) -> None:
        require(number == self.sent + 1, "another one is next")
        self.sent = number
        self.count += 1

    @invariant
    def few(self) -> bool:
        return self.count < 9

    scope = Scope(Serial=3, Nat=range(0, 11))


class Flags(Machine):
    """Keeps the last three flags."""

    a: Flag | None = None
    b: Flag | None = None
    c: Flag | None = None

    @transition()
    def put(self, flag: Flag) -> None:
        self.a = self.b
        self.b = self.c
        self.c = flag

    @invariant
    def no_three(self) -> bool:
        full = self.a is not None and self.b is not None
        return not full or self.b in (self.a, self.c) or self.a == self.c

    @invariant
    def no_two(self) -> bool:
        return self.b is None or self.b == self.c

    scope = Scope(Flag=3)


class Round(Machine):
    """Goes round through all numbers, or stands."""

    value: Seq = 0
    up: bool = False

    @transition(fair="weak")
    def on(self) -> None:
        require(not self.up, "up")
        self.value += 1

    @transition()
    def stop(self) -> None:
        require(self.value == 7, "not there")
        self.up = True

    @eventually
    def comes_up(self) -> bool:
        return self.up

    @reachable
    def last(self) -> bool:
        return self.value + 1 == 0

    @recoverable
    def begins_again(self) -> bool:
        return self.value == 0

    scope = Scope(Serial=3)


class Seen(Machine):
    """What only a ghost knows."""

    value: Nat = 0
    left: Ghost[Nat] = 2

    @transition()
    def on(self) -> None:
        require(self.value < 4, "enough")
        self.value += 1
        self.left -= 1

    @invariant
    def not_twice(self) -> bool:
        return self.left > 0

    scope = Scope(Nat=range(0, 5))


class Node(Sort):
    """Somebody."""


class Single(Machine):
    """Counts by one."""

    value: Nat = 0

    @transition()
    def on(self) -> None:
        self.value += 1

    scope = Scope(Nat=range(0, 6))


class Breaks(Machine):
    """Each built-in property is violated somewhere."""

    at: Nat = 0
    idle: Timer = Timer()
    who: dict[Node, Nat] = {}

    @transition()
    def arm(self) -> None:
        self.idle.start(5.0)

    @transition(timer="idle")
    def expire(self) -> None:
        self.at -= 1

    @transition()
    def look(self, node: Node) -> Nat:
        return self.who[node]

    @transition(event="go")
    def up(self) -> None:
        assert self.at > 0, "it is at 0"

    @transition(event="go")
    def down(self) -> None: ...

    scope = Scope(Nat=range(0, 3), Node=1)


class Doubled(Machine):
    """Its steps are none of what it refines."""

    value: Nat = 0

    @transition()
    def on(self) -> None:
        self.value += 2

    @refines(Single)
    def one_by_one(self) -> Single:
        return Single.lawful.state(value=self.value)

    scope = Scope(Nat=range(0, 6))


class Limited(Machine):
    """Its constraint has no value in a state."""

    value: Nat = 0
    who: dict[Node, Nat] = {}

    @transition()
    def on(self, node: Node) -> None:
        self.value += 2
        self.who[node] = self.value

    @constraint
    def small(self) -> bool:
        return self.value == 0 or all(self.who[n] < 3 for n in Node)

    scope = Scope(Nat=range(0, 6), Node=2)
