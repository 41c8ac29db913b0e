"""Parameters that no scope can enumerate."""

from lawful import Machine, Nat, Scope, transition


class Peer(Machine):
    sent: Nat = 0

    @transition()
    def wait(self, seconds: float) -> None:
        self.sent = 0

    scope = Scope(Nat=range(0, 4))
