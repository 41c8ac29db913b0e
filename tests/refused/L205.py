"""Attributes that a value does not have."""

from lawful import Machine, Nat, Record, transition


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
