"""Annotations that are missing."""

from lawful import Machine, Nat, transition


class Peer(Machine):
    sent: Nat = 0

    @transition()
    def send(self, count):
        self.sent += count

    @transition()
    def collect(self) -> Nat:
        seen = set()
        return len(seen)
