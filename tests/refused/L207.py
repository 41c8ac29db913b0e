"""Values that may be None."""

from lawful import Machine, Nat, Record, refuse, transition


class Ack(Record):
    seqno: Nat


class Peer(Machine):
    last: Ack | None = None
    count: Nat | None = None
    sent: Nat = 0
    acks: dict[Nat, Ack | None] = {}

    @transition()
    def use(self, i: Nat, j: Nat) -> None:
        self.sent = self.last.seqno
        self.sent = self.count
        if self.acks[i] is not None:
            self.acks[j] = None
            self.sent = self.acks[i].seqno
        if self.last is None:
            refuse("nothing was received")
        self.sent = self.last.seqno
