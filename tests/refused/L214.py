"""Ghosts that decide what happens."""

from lawful import Ghost, Machine, Nat, require, transition


class Peer(Machine):
    sent: Nat = 0
    ever: Ghost[Nat] = 0
    seen: Ghost[set[Nat]] = set()

    def often(self) -> bool:
        return self.ever > 3

    @transition()
    def send(self) -> Nat:
        self.ever += 1
        self.seen.add(self.sent)
        require(self.ever < 5, "too often")
        if self.often():
            self.sent = 0
        twice = 2 * self.ever
        self.sent = twice
        return len(self.seen)
