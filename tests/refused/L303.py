"""Bounds of the wrong kind."""

from lawful import Machine, Nat, Param, Scope, Sort, transition


class Node(Sort):
    pass


class Peer(Machine):
    sent: Nat = 0
    offset: int = 0
    waiting: list[Nat] = []
    limit: Param[Nat] = 1
    flag: Param[bool] = True
    owner: Node | None = None

    @transition()
    def send(self) -> None:
        self.sent += 1

    scope = Scope(
        Nat=range(-3, 0), offset=5, waiting=range(3), limit=(1, True), flag=False, Node=range(2)
    )
