"""Attributes that a value does not have."""

from lawful import Machine, Nat, Param, Record, assume, transition


class Ack(Record):
    seqno: Nat


class Close(Record):
    why: Nat


class Peer(Machine):
    sent: Nat = 0
    seen: set[Nat] = set()

    @transition()
    def receive(self, message: Ack | Close) -> None:
        self.sent = message.seqno
        self.snt = self.sent
        self.sent = self.seen.pop()
        self.seen.insert(0, 1)
        if isinstance(message, Ack):
            self.sent = message.seqnr
            message = message.replace(number=3)


class Hall(Machine):
    crowd: Nat = 0
    peer: Peer = Peer()
    seats: Param[Nat] = 3

    def few(self, most: Nat) -> bool:
        return self.crowd < most

    @assume
    def enough_seats(self) -> bool:
        return self.crowd < self.seats

    @assume
    def enough_chairs(self) -> bool:
        return self.peer.sent < self.seats

    @assume
    def room_for_more(self) -> bool:
        return self.few(self.seats)

    @transition()
    def enter(self, message: Ack | Close) -> None:
        self.crowd += 1
