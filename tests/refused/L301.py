"""Bounds that the scope does not give."""

from typing import Annotated

from lawful import Machine, Nat, Opaque, Param, Scope, Sort, transition


class Node(Sort):
    pass


Payload = Annotated[bytes, Opaque("Payload")]


class Peer(Machine):
    sent: Nat = 0
    offset: int = 0
    waiting: list[Payload] = []
    limit: Param[Nat]
    first: Param[Node]
    owner: Node | None = None

    @transition()
    def send(self, payload: Payload, delta: int) -> None:
        self.waiting.append(payload)

    scope = Scope(Nat=range(0, 4))
