"""Results that would depend on the order of what has none."""

from lawful import Machine, Nat, require, transition


class Peer(Machine):
    waiting: set[Nat] = set()
    owners: dict[Nat, Nat] = {}
    queue: list[Nat] = []
    sent: Nat = 0

    @transition()
    def flush(self) -> None:
        for seqno in self.waiting:
            self.queue.append(seqno)

    @transition()
    def listed(self) -> None:
        self.queue = list(self.waiting)
        self.queue = [seqno + 1 for seqno in self.waiting]

    @transition()
    def last(self) -> None:
        for seqno in self.waiting:
            require(seqno > 0, "0 was never sent")
        self.sent = seqno

    @transition()
    def inverted(self) -> None:
        self.owners = {owner: seqno for seqno, owner in self.owners.items()}

    @transition()
    def counted(self) -> None:
        for seqno in self.waiting:
            self.sent += seqno
            self.owners[seqno] = self.sent
