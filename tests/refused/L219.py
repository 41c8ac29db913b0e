"""Names that mean two things."""

from lawful import Machine, Nat, invariant, transition


class Entry(Machine):
    sent: Nat = 0

    @transition()
    def send(self) -> None:
        self.sent += 1


class Peer(Entry):
    def sent(self) -> Nat:
        return 1

    @invariant
    def fine(self) -> bool:
        return True

    @transition(event="fine")
    def ack(self) -> None: ...
