"""Members that are declared twice."""

from lawful import Machine, Nat, transition


class Peer(Machine):
    sent: Nat = 0

    @transition()
    def send(self) -> None:
        self.sent += 1

    @transition()
    def send(self) -> None:
        self.sent += 2

    @transition()
    def sent(self) -> None: ...
