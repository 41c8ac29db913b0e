"""Helpers that call one another in a circle."""

from lawful import Machine, Nat, transition


def gcd(a: Nat, b: Nat) -> Nat:
    return a if b == 0 else gcd(b, a % b)


class Peer(Machine):
    sent: Nat = 0

    def even(self, n: Nat) -> bool:
        return n == 0 or self.odd(n - 1)

    def odd(self, n: Nat) -> bool:
        return n != 0 and self.even(n - 1)

    @transition()
    def send(self) -> None:
        self.sent = gcd(self.sent, 3)
        if self.even(self.sent):
            self.sent = 1
