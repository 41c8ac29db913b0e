"""Statements of a class that are no members."""

from lawful import Machine, Nat, transition


class Peer(Machine):
    sent: Nat = 0
    low, high = 0, 7

    for limit in range(3):
        high += limit

    @transition()
    def send(self) -> None:
        self.sent += 1

    resend = send
    high += 1
