"""Keys of a scope that nothing has."""

from lawful import Machine, Nat, Scope, transition


class Peer(Machine):
    sent: Nat = 0
    waiting: list[Nat] = []

    @transition()
    def send(self, count: Nat) -> None:
        self.sent += count

    scope = Scope({"send.cuont": range(3), "waiting": 2}, Nat=range(0, 4), wiating=2, NAT=3, Node=3)
