"""Places that cannot be assigned."""

from collections.abc import Mapping

from lawful import Machine, Nat, Param, Record, Timer, total, transition


class Ack(Record):
    seqno: Nat


class Part(Machine):
    count: Nat = 0
    queue: list[Nat] = []


class Peer(Machine):
    limit: Param[Nat] = 3
    part: Part = Part()
    idle: Timer = Timer()
    last: Ack = Ack(0)
    sets: dict[Nat, set[Nat]] = {}
    flags: dict[bool, Nat] = total(0)
    known: Mapping[bool, Nat] = {False: 0, True: 1}

    @transition()
    def change(self, ack: Ack) -> None:
        self.limit = 4
        self.part = Part()
        self.part.count = 1
        self.part.queue.append(1)
        self.idle = Timer()
        self.last.seqno = 2
        self.known[True] = 2
        del self.flags[True]
        for each in self.sets.values():
            each |= {1}
