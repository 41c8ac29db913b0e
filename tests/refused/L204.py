"""Calls that do not fit."""

from lawful import Machine, Nat, Record, can, invariant, needed, require, transition


class Ack(Record):
    seqno: Nat
    final: bool = False


class Part(Machine):
    count: Nat = 0

    def reset(self) -> None:
        self.count = 0

    @transition()
    def add(self, by: Nat) -> None:
        self.count += by
        if self.count > 9:
            self.reset()


class Peer(Machine):
    sent: Nat = 0
    part: Part = Part()

    @transition()
    def send(self, ack: Ack) -> None:
        require()
        self.part.add()
        self.part.add(by=1, at=2)
        self.part.reset()
        self.part.remove(1)
        self.other(1)
        print(ack)
        self.sent = len(1, 2) + Ack(1, True, 2).seqno
        self.sent = max(self.sent, self.sent, key=ack)

    @transition()
    def other(self, count: Nat) -> None: ...

    @invariant
    def may_add(self, by: Nat) -> bool:
        part = self.part
        return can(part.ad, by) and can(part.reset) and can(part.add) and can(by.add, 1)

    @invariant
    def nothing_else_is_said(self, by: Nat) -> bool:
        part = self.parts
        return can(part.add, by)
