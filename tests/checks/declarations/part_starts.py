"""Parts that begin where they are made."""

from __future__ import annotations

from lawful import (
    Machine,
    Nat,
    Scope,
    Sort,
    event,
    initial,
    invariant,
    require,
    total,
    transition,
)


class Node(Sort):
    pass


class Peer(Machine):
    owner: Node
    level: Nat = 0

    @initial
    def begin(self, owner: Node, level: Nat) -> None:
        require(level < 2, "too high")
        self.owner = owner
        self.level = level

    @transition()
    def up(self) -> None:
        require(self.level < 2, "is at the top")
        self.level += 1


class Hub(Machine):
    first: Peer = Peer()
    peers: dict[Node, Peer] = {}
    spares: dict[Node, Peer] = total(Peer())
    chief: Node

    @initial
    def start(self, chief: Node, level: Nat) -> None:
        self.chief = chief
        self.first.begin(chief, level)
        for node in Node:
            self.spares[node].begin(node, 0)

    @transition()
    def join(self, node: Node, level: Nat) -> None:
        require(node not in self.peers, "is here")
        self.peers[node] = Peer()
        peer = self.peers[node]
        peer.begin(node, level)
        peer.up()

    @invariant
    def each_its_own(self) -> bool:
        return all(peer.owner == node for node, peer in self.peers.items()) and all(
            self.spares[node].owner == node for node in Node
        )

    @invariant
    def led(self) -> bool:
        return self.first.owner == self.chief

    scope = Scope(Node=2, Nat=range(0, 4))
    deadlock_ok = True


class Door(Machine):
    """Its event gives a value, which type checkers miss in a body of `...`."""

    opened: Nat = 0
    shut: bool = False

    @event
    def push(self, strength: Nat) -> Nat:
        """How often it was opened."""
        raise NotImplementedError

    @transition(event="push")
    def open(self, strength: Nat) -> Nat:
        require(strength > 0, "is too weak")
        self.opened += 1
        return self.opened

    @transition(event="push")
    def rest(self, strength: Nat) -> Nat:
        require(strength == 0, "is strong")
        return self.opened
