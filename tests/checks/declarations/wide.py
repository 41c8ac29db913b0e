"""Machines whose sets and maps are over many possible elements and hold few of them."""

from __future__ import annotations

from typing import Annotated

from lawful import (
    Machine,
    Nat,
    Record,
    Scope,
    Serial,
    before,
    invariant,
    reachable,
    require,
    step_property,
    transition,
)

Number = Annotated[int, Serial(bits=16)]


class Packet(Record):
    number: Number
    again: bool


class Window(Machine):
    """A link that loses packets: what was sent and is not acknowledged, by its number."""

    next: Number = 65534
    flying: set[Packet] = set()
    waiting: dict[Number, Nat] = {}
    got: set[Number] = set()

    @transition()
    def send(self) -> None:
        require(len(self.waiting) < 2, "the window is full")
        require(before(self.next, 1), "enough was sent")
        self.waiting[self.next] = 0
        self.flying.add(Packet(self.next, False))
        self.next += 1

    @transition()
    def resend(self, number: Number) -> None:
        require(number in self.waiting)
        self.waiting[number] += 1
        self.flying |= {Packet(number, True)}

    @transition()
    def lose(self, packet: Packet) -> None:
        require(packet in self.flying)
        self.flying.remove(packet)

    @transition()
    def receive(self, packet: Packet) -> None:
        require(packet in self.flying)
        self.flying = self.flying - {packet}
        self.got.add(packet.number)

    @transition()
    def ack(self, number: Number) -> None:
        require(number in self.waiting and number in self.got)
        self.waiting.pop(number)
        self.flying -= {p for p in self.flying if p.number == number}

    @transition()
    def forget(self) -> None:
        require(len(self.waiting) == 0 and len(self.got) > 0)
        self.got.clear()

    @invariant
    def flies_in_the_window(self) -> bool:
        return {p.number for p in self.flying} <= set(self.waiting)

    @invariant
    def new_ones_are_ahead(self) -> bool:
        return all(before(n, self.next) for n in self.waiting)

    @step_property
    def nothing_is_ungot(self, after: Window) -> bool:
        return len(after.got) == 0 or self.got <= after.got

    @invariant
    def few_retries(self) -> bool:
        return sum(self.waiting.values()) < 2

    @reachable
    def all_got(self) -> bool:
        return len(self.got & set(self.waiting)) == 2

    scope = Scope(Serial=16, Nat=range(0, 2))


class Crowd(Machine):
    """More elements than a state has room for at first, until it is a deadlock."""

    next: Number = 65530
    seen: set[Number] = set()
    last: dict[Number, bool] = {}

    @transition()
    def enter(self) -> None:
        require(len(self.seen) < 12 and before(self.next, 8))
        self.seen.add(self.next)
        self.last[self.next] = len(self.seen) > 3
        self.next += 1

    @transition()
    def leave(self) -> None:
        require(len(self.seen) > 6)
        self.seen.discard(self.next - 7)

    @invariant
    def not_so_many(self) -> bool:
        return len(self.last) < 14

    scope = Scope(Serial=16)
